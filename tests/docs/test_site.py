"""The site is built without a warning, and says of the code what the code does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from vsr_hallucination import enforcement
from vsr_hallucination.detection.types import Reason
from vsr_hallucination.observation import SignalError, State
from vsr_hallucination.telemetry import Telemetry

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def page(name: str) -> str:
    return (DOCS / name).read_text("utf-8")


@pytest.mark.timeout(180)
def test_it_builds_without_a_warning(tmp_path: Path) -> None:
    words = ["-m", "mkdocs", "build", "--strict", "--quiet", "-f", str(DOCS / "site/mkdocs.yml"), "-d", str(tmp_path)]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=150)
    assert done.returncode == 0, done.stdout + done.stderr
    for file in DOCS.rglob("*.md"):
        place = file.relative_to(DOCS).with_suffix("")
        built = tmp_path if place.name == "index" else tmp_path / place
        html = (built / "index.html").read_text("utf-8")
        assert "```" not in html, f"{place}: a block was not read as one"
        assert not re.search(r'(src|href)="(https?:)?//(?!github\.com|squidfunk)[^"]*\.(js|css)"', html)


def test_the_states_table_has_every_state_error_and_reason() -> None:
    table = page("concepts.md")
    for word in (*State, *SignalError, *Reason):
        assert f"`{word}`" in table, word


def test_troubleshooting_knows_every_reason() -> None:
    for word in Reason:
        assert f"`{word}`" in page("troubleshooting.md"), word


def test_every_header_is_described() -> None:
    names = [value for key, value in vars(enforcement).items() if key.endswith("_HEADER") and key != "MAX_HEADER"]
    assert len(names) == 8
    for name in (*names, *enforcement.CODES):
        assert name in page("headers.md"), name


def test_the_metrics_named_are_there() -> None:
    served = {metric.name for metric in Telemetry().registry.collect()}
    named = set(re.findall(r"`((?:vsr|llm)_[a-z_]+)`", page("operations.md") + page("troubleshooting.md")))
    assert len(named) > 8
    assert {name.removesuffix("_total") for name in named} <= {name.removesuffix("_total") for name in served}
