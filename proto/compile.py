"""Compiles proto/ into the package: ``python proto/compile.py [FOLDER]`` (``make proto``). Needs grpcio-tools."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = "vsr_hallucination/wire/ext_proc.proto"
# The generated stubs use bare Mapping, which mypy --strict turns down.
STUB_HEADER = '# mypy: disable-error-code="type-arg"\n'


def compile_to(folder: Path) -> tuple[Path, Path]:
    """Writes ``ext_proc_pb2.py`` and its stub below ``folder``; returns both paths. Raises RuntimeError on errors."""
    import grpc_tools
    from grpc_tools import protoc

    well_known = Path(grpc_tools.__file__).parent / "_proto"  # google/protobuf/struct.proto and its kin
    includes = [f"-I{ROOT / 'proto'}", f"-I{well_known}"]
    status = protoc.main(["protoc", *includes, f"--python_out={folder}", f"--pyi_out={folder}", SOURCE])
    if status != 0:
        raise RuntimeError(f"protoc could not compile proto/{SOURCE}: see its message above")
    module = folder / "vsr_hallucination/wire/ext_proc_pb2.py"
    stub = module.with_suffix(".pyi")
    stub.write_text(STUB_HEADER + stub.read_text("utf-8"), "utf-8")
    return module, stub


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    for path in compile_to(target):
        print(path.relative_to(target))
