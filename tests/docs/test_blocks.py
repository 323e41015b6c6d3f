"""Every code block of the documentation: loaded, validated, parsed or run. A block of any other kind is an error."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from vsr_hallucination.cli.parser import make_parser
from vsr_hallucination.config.loading import loads
from vsr_hallucination.replay.record import Record

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
FENCE = re.compile(r"^( *)```([^\n]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
PATHS = {"/health", "/ready", "/metrics", "/v1/router_replay", "/v1/chat/completions"}
QUICK = ("validate", "envoy-config", "schema")  # commands that are run; the others are parsed
SECRETS = {"VSR_ADMIN_TOKEN": "t", "DETECTOR_KEY": "k"}


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    kind: str
    title: str | None
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(DOCS)}:{self.line}"


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    found = []
    for hit in FENCE.finditer(text):
        kind, _, rest = hit[2].partition(" ")
        title = re.fullmatch(r'title="([^"]+)"', rest)
        assert not rest or title, f"{page.name}: {hit[2]!r}"
        line = text.count("\n", 0, hit.start()) + 1
        found.append(Block(page, line, kind, title[1] if title else None, hit[3]))
    return found


BLOCKS = [block for page in PAGES for block in blocks_of(page)]


def of(kind: str) -> Any:
    return pytest.mark.parametrize("block", [b for b in BLOCKS if b.kind == kind], ids=str)


def test_every_block_is_of_a_kind_that_is_checked() -> None:
    assert {str(b): b.kind for b in BLOCKS if b.kind not in ("yaml", "json", "sh", "text")} == {}
    assert [str(b) for b in BLOCKS if b.kind == "text" and b.title is None] == []  # text is a file of an example
    fences = sum(page.read_text("utf-8").count("```") for page in PAGES)
    assert fences == 2 * len(BLOCKS), "a fence is not closed, or not seen by this test"


@of("yaml")
def test_yaml(block: Block) -> None:
    value = yaml.safe_load(block.text)
    if value is None:
        assert block.text.startswith("# yaml-language-server: $schema="), "a block that says nothing"
    elif "apiVersion" in value:
        assert value == GATEWAY_SETTINGS, "no schema is known for this manifest"
    else:
        loads(block.text, str(block), SECRETS)  # raises ConfigError with every fault


# Envoy Gateway's own start-up configuration (gateway.envoyproxy.io/v1alpha1, extensionApis.enableEnvoyPatchPolicy).
GATEWAY_SETTINGS = {
    "apiVersion": "gateway.envoyproxy.io/v1alpha1",
    "kind": "EnvoyGateway",
    "gateway": {"controllerName": "gateway.envoyproxy.io/gatewayclass-controller"},
    "provider": {"type": "Kubernetes"},
    "extensionApis": {"enableEnvoyPatchPolicy": True},
}


@of("json")
def test_json(block: Block) -> None:
    value = json.loads(block.text)
    if value.get("object") == "router_replay.list":
        assert value["count"] == len(value["data"])
        for row in value["data"]:
            assert _within(row, Record.from_json(row).to_json())
    if "labels" in value:
        (span,) = value["labels"]
        assert value["answer"][span["start"] : span["end"]] == "479"


def _within(shown: Any, whole: Any) -> bool:
    """Whether everything that is shown is in ``whole``, with the same value."""
    if isinstance(shown, dict):
        return all(key in whole and _within(value, whole[key]) for key, value in shown.items())
    if isinstance(shown, list):
        return len(shown) == len(whole) and all(map(_within, shown, whole))
    return bool(shown == whole)


@of("sh")
def test_sh(block: Block, tmp_path: Path) -> None:
    for other in blocks_of(block.page):
        if other.title is not None:
            (tmp_path / other.title).write_text(other.text, "utf-8")
    for line in block.text.replace("\\\n", " ").splitlines():
        words = shlex.split(line.partition(" > ")[0].split(" # ")[0])
        CHECKS[words[0]](words[1:], tmp_path)


def _cli(words: list[str], folder: Path) -> None:
    try:
        make_parser().parse_args(words)
    except SystemExit as end:  # --help and --version end the parser well
        assert end.code == 0, words
    if words[0] in QUICK:
        command = [sys.executable, "-m", "vsr_hallucination", *words]
        for name in [word for word in words if word == "config.yaml" and not (folder / word).exists()]:
            (folder / name).write_text((ROOT / "vsr_hallucination/examples/demo.yaml").read_text())
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert "warning" not in done.stderr, "an example that one is told to mend"


def _make(words: list[str], _: Path) -> None:
    assert set(words) <= TARGETS


def _files(words: list[str], _: Path) -> None:
    """``kubectl`` and ``docker``: what they are given to read is there."""
    named = [after for word, after in pairwise(words) if word in ("-f", "-k")]
    assert all((ROOT / name).exists() for name in named)
    assert named or words[0] in ("create", "-n")


def _curl(words: list[str], folder: Path) -> None:
    (url,) = [word for word in words if word.startswith("http")]
    path = "/" + url.partition("://")[2].partition("/")[2].partition("?")[0]
    assert path in PATHS or path.startswith("/v1/router_replay/")
    assert all((folder / word[1:]).is_file() for word in words if word.startswith("@"))


def _envoy(words: list[str], _: Path) -> None:
    assert words == ["-c", "envoy.yaml"]


def _unknown(words: list[str], _: Path) -> None:
    raise AssertionError("a command that this test does not know")


CHECKS: defaultdict[str, Any] = defaultdict(lambda: _unknown)
CHECKS |= {
    "vsr-hallucination": _cli,
    "make": _make,
    "kubectl": _files,
    "docker": _files,
    "curl": _curl,
    "envoy": _envoy,
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_begins_with_the_operator_s_question(page: Path) -> None:
    title, _, first = page.read_text("utf-8").split("\n", 3)[:3]
    assert title.startswith("# ")
    paragraph = page.read_text("utf-8").split("\n\n")[1]
    assert "?" in paragraph, f"{page.name} begins with: {first}"
