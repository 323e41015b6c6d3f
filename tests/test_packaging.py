"""What is shipped: the wheel's content, pinned versions, and a README that holds."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from vsr_hallucination.config import loads

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    target = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=110)
    with zipfile.ZipFile(next(target.glob("*.whl"))) as file:
        return set(file.namelist())


@pytest.mark.parametrize(
    "path",
    [
        "vsr_hallucination/py.typed",
        "vsr_hallucination/examples/demo.yaml",
        "vsr_hallucination/examples/minimal.yaml",
        "vsr_hallucination/proto/ext_proc.proto",
        *(
            f"vsr_hallucination/detection/models/{kind}/{file}"
            for kind in ("detector", "fact_check", "explainer")
            for file in ("config.json", "model.int8.safetensors", "tokenizer.json", "vsr.json", "README.md")
        ),
    ],
)
def test_the_wheel_carries(wheel: set[str], path: str) -> None:
    assert path in wheel


def test_the_wheel_claims_no_package_but_ours(wheel: set[str]) -> None:
    """Above all not ``envoy``, which the Envoy wheel and others claim."""
    tops = {name.split("/")[0] for name in wheel}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"vsr_hallucination"}


def test_every_dependency_is_pinned_to_what_was_tested() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = {canonical(line.split("==")[0]) for line in lines if line and not line.startswith("#")}
    extras = [
        each
        for name, group in PROJECT["optional-dependencies"].items()
        if name != "lettucedetect"
        for each in group
    ]
    wanted = {canonical(re.split(r"[\[<>=;! ]", each)[0]) for each in (*PROJECT["dependencies"], *extras)}
    assert wanted <= pinned, wanted - pinned


def test_every_dependency_says_why() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    listed = re.findall(r'^  "[a-zA-Z][^"]*[<>=][^"]*",.*$', text, flags=re.MULTILINE)
    assert len(listed) >= len(PROJECT["dependencies"])
    assert [line for line in listed if "#" not in line] == []


def test_the_readme_s_configuration_is_valid() -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert blocks
    for block in blocks:
        assert loads(block).warnings == ()


def test_make_without_a_target_helps() -> None:
    shown = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=30).stdout
    for target in ("install", "run", "test", "lint", "typecheck", "bench", "proto", "container-test"):
        assert f"make {target}" in shown
