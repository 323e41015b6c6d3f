"""Every file of tests/configs/ is one matter: ``x.yaml``, and beside it ``x.txt`` with what must be said of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from vsr_hallucination.config import report

FOLDER = Path(__file__).parents[1] / "configs"
FILES = sorted(FOLDER.glob("*/*.yaml"))
ENVIRONMENT = {
    "RULE_NAME": "from_environment",
    "THRESHOLD": "0.55",
    "MODELS": "/models",
    "ADMIN_TOKEN": "t0ken",
    "DB_PASSWORD": "p@ss/word",
    "DETECTOR_KEY": "k3y",
    "EMPTY": "",
}


def said(path: Path) -> tuple[list[str], int]:
    found = report(path, environment=ENVIRONMENT)
    problems, code = found.problems, found.code
    return [f"{p.severity}: {p}".replace(str(path), path.name) for p in problems], code


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_file_is_answered_as_written_beside_it(path: Path) -> None:
    expected = path.with_suffix(".txt")
    lines = expected.read_text(encoding="utf-8").splitlines() if expected.exists() else []
    refused = path.parent.name == "invalid" or path.name.startswith("refused_")
    assert said(path) == (lines, 2 if refused else 0)


def test_the_folders_hold_what_they_say() -> None:
    folders = ("valid", "warning", "invalid", "router")
    kinds = {kind: [path for path in FILES if path.parent.name == kind] for kind in folders}
    assert sum(map(len, kinds.values())) == len(FILES) >= 60
    assert not [path for path in kinds["valid"] if path.with_suffix(".txt").exists()]
    assert all(path.with_suffix(".txt").exists() for kind in ("warning", "invalid") for path in kinds[kind])
    assert not [text for text in FOLDER.glob("*/*.txt") if not text.with_suffix(".yaml").exists()]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_no_message_holds_a_secret(path: Path) -> None:
    text = "\n".join(said(path)[0])
    assert not [secret for secret in ("t0ken", "p@ss", "k3y", "secret@", ":secret") if secret in text]
