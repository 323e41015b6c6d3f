"""The committed protobuf code is what proto/ compiles to."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_committed_code_is_current(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("proto_compile", ROOT / "proto" / "compile.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for fresh in module.compile_to(tmp_path):
        committed = ROOT / fresh.relative_to(tmp_path)
        assert committed.read_text("utf-8") == fresh.read_text("utf-8"), f"{committed.name} is stale: make proto"


def test_own_package_cannot_collide_with_envoys() -> None:
    from vsr_hallucination.wire import ext_proc_pb2 as pb

    assert pb.DESCRIPTOR.package == "vsr_hallucination.wire"
