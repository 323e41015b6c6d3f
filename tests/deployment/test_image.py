"""The Dockerfile, as far as it can be checked without a container engine: its words, and what it copies suffices."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from support.deployment import FOLDER, ROOT

Instruction = tuple[str, str]


def stages() -> list[list[Instruction]]:
    """The instructions of each stage: (word, rest)."""
    text = re.sub(r"\\\n\s*", "", (FOLDER / "Dockerfile").read_text())
    found: list[list[Instruction]] = []
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        word, _, rest = line.partition(" ")
        if word == "FROM":
            found.append([])
        found[-1].append((word, rest))
    return found


def rests(stage: list[Instruction], word: str) -> list[str]:
    return [rest for each, rest in stage if each == word]


def copied() -> list[tuple[list[str], str]]:
    return [(words[:-1], words[-1]) for words in (rest.split() for rest in rests(stages()[0], "COPY"))]


def test_two_stages_of_one_python() -> None:
    build, final = stages()
    images = [rests(stage, "FROM")[0].split()[0] for stage in (build, final)]
    assert len(set(images)) == 1, "a virtual environment only works under the Python that made it"
    pinned_for = re.search(r"Python (3\.\d+)", (ROOT / "constraints.txt").read_text())
    assert pinned_for is not None and images[0] == f"python:{pinned_for[1]}-slim"


def test_no_instruction_needs_a_shell() -> None:
    for stage in stages():
        for word, rest in stage:
            if word in ("RUN", "CMD", "ENTRYPOINT"):
                assert all(isinstance(each, str) for each in json.loads(rest)), f"{word} is not in exec form"
    (health,) = rests(stages()[1], "HEALTHCHECK")
    command = json.loads(health[health.index("CMD ") + 4 :])
    compile(command[2], "healthcheck", "exec")
    assert "/ready" in command[2]


def test_the_container_is_not_root() -> None:
    (user,) = rests(stages()[1], "USER")
    uid, _, gid = user.partition(":")
    assert int(uid) > 0 and int(gid) > 0


def test_entry_point_and_command_are_the_cli_s() -> None:
    (entry,), (command,) = rests(stages()[1], "ENTRYPOINT"), rests(stages()[1], "CMD")
    words = [*json.loads(entry), *json.loads(command)]
    assert Path(words[0]).name == "vsr-hallucination"
    from vsr_hallucination.cli.parser import make_parser

    assert make_parser().parse_args(words[1:]).config == "/etc/vsr/config.yaml"


def test_the_ignore_file_lets_through_what_is_copied() -> None:
    lines = (FOLDER / "Dockerfile.dockerignore").read_text().split()
    let = {line.removeprefix("!") for line in lines if line.startswith("!")}
    assert lines[0] == "*" and let == {source for sources, _ in copied() for source in sources}


@pytest.mark.timeout(180)
def test_what_is_copied_is_enough_for_a_wheel_with_the_models(tmp_path: Path) -> None:
    for sources, target in copied():
        for source in sources:
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, tmp_path / target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / source, tmp_path / target)
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "out")]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True, timeout=150)
    (wheel,) = (tmp_path / "out").glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for model in ("detector", "fact_check", "explainer"):
        assert f"vsr_hallucination/detection/models/{model}/model.int8.safetensors" in names
