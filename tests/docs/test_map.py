"""What README, site and `make help` name is there, and what is there is named."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
PROSE = "\n".join(path.read_text("utf-8") for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))))
TRAINING = (ROOT / "training" / "README.md").read_text("utf-8")
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
PLACES = README.split("## Where things are")[1].split("```")[1]


def commands(folder: str) -> set[str]:
    """The files of a folder that are run as they are."""
    files = (ROOT / folder).glob("*.py")
    return {path.stem for path in files if 'if __name__ == "__main__"' in path.read_text("utf-8")}


def test_make_help_tells_every_target() -> None:
    targets = set(re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)[1].split())
    command = ["make", "--no-print-directory", "help"]  # as it is under `make test`, too
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=30).stdout
    assert {line.split()[1] for line in shown.splitlines()} == targets


def test_the_readme_lists_every_room_and_nothing_else() -> None:
    rooms = {path.parent.name for path in (ROOT / "vsr_hallucination").glob("*/*") if path.suffix in (".py", ".yaml")}
    top = {"vsr_hallucination", "proto", "envoy", "training", "tests", "docs"}
    assert set(re.findall(r"([a-z_]+)/", PLACES)) == rooms | top
    assert all((ROOT / folder).is_dir() for folder in top)
    modules = re.findall(r"([a-z_]+)\.py", PLACES)
    assert len(modules) > 5 and [name for name in modules if not (ROOT / f"vsr_hallucination/{name}.py").exists()] == []


def test_every_command_of_training_is_described_and_those_described_exist() -> None:
    named = set(re.findall(r"python -m training\.([a-z_]+)", PROSE + TRAINING + MAKEFILE))
    assert named == commands("training") - {"records"}  # prints a sample, for whoever changes it


def test_every_soak_command_is_described_and_those_described_exist() -> None:
    assert set(re.findall(r"tests/soak/([a-z_]+)\.py", README + MAKEFILE)) == commands("tests/soak")
