"""The table of keys against the loader itself: every read is watched, and table and reads must agree both ways."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from vsr_hallucination.cli import main
from vsr_hallucination.config import report
from vsr_hallucination.config.cursor import Cursor, Fields
from vsr_hallucination.config.json_schema import json_schema
from vsr_hallucination.config.reference import UNSET, Block, Kind, reference

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "tests" / "configs").glob("*/*.yaml"))
TABLE = reference()
ENVIRONMENT = {"RULE_NAME": "r", "THRESHOLD": "0.55", "MODELS": "/m", "ADMIN_TOKEN": "t", "DETECTOR_KEY": "k"}
READERS: Mapping[str, Kind] = {
    "text": Kind.TEXT, "secret": Kind.TEXT, "prose": Kind.TEXT, "placed_texts": Kind.TEXTS, "texts": Kind.TEXTS,
    "flag": Kind.FLAG, "number": Kind.NUMBER, "integer": Kind.INTEGER, "duration": Kind.DURATION, "size": Kind.SIZE,
    "choice": Kind.CHOICE, "sub": Kind.BLOCK, "each": Kind.BLOCKS,
}  # fmt: skip


class Watched(dict[str, Cursor]):
    """A block's entries; whoever looks for a key is heard."""

    def __init__(self, entries: Mapping[str, Cursor], heard: set[str]) -> None:
        super().__init__(entries)
        self._heard = heard

    def get(self, key: str, default: Any = None) -> Any:
        self._heard.add(key)
        return super().get(key, default)

    def __contains__(self, key: object) -> bool:
        self._heard.add(str(key))
        return super().__contains__(key)


class Reads:
    """What the loader looked for, by block, over all files of tests/configs/."""

    def __init__(self) -> None:
        self.keys: defaultdict[str, set[str]] = defaultdict(set)
        self.known: defaultdict[str, set[tuple[frozenset[str], bool]]] = defaultdict(set)
        self.asked: defaultdict[tuple[str, str], set[tuple[Any, ...]]] = defaultdict(set)


def block_at(path: str) -> Block | None:
    return TABLE.at(tuple(re.sub(r"\[\d+\]", "", path).split(".")) if path else ())


@pytest.fixture(scope="module")
def reads() -> Iterator[Reads]:
    found = Reads()
    with pytest.MonkeyPatch.context() as patch:
        fields, made = Cursor.fields, Fields.__init__

        def watched_fields(self: Cursor, known: Collection[str] | None, *, owned: bool = False) -> Fields:
            block = block_at(self.path)
            if block is not None and known is not None:
                found.known[block.name].add((frozenset(known), owned))
            return fields(self, known, owned=owned)

        def watched_init(self: Fields, at: Cursor, entries: dict[str, Cursor]) -> None:
            block = block_at(at.path)
            made(self, at, entries if block is None else Watched(entries, found.keys[block.name]))

        patch.setattr(Cursor, "fields", watched_fields)
        patch.setattr(Fields, "__init__", watched_init)
        for name in READERS:
            patch.setattr(Fields, name, watching(name, getattr(Fields, name), found))
        for path in FILES:
            report(path, environment=ENVIRONMENT)
    yield found


def watching(name: str, reader: Any, found: Reads) -> Any:
    def watched(self: Fields, key: str, *arguments: Any, **more: Any) -> Any:
        block = block_at(self.at.path)
        if block is not None:
            words = tuple(tuple(each) if isinstance(each, Mapping) else each for each in arguments)
            found.asked[block.name, key].add((name, *words[:3]) if name not in ("sub", "each") else (name,))
        return reader(self, key, *arguments, **more)

    return watched


def test_every_key_the_loader_looks_for_is_in_the_table(reads: Reads) -> None:
    for name, keys in reads.keys.items():
        block = TABLE.blocks[name]
        listed = {key.name for key in block.keys}
        for known, _ in reads.known[name]:  # a reader shared by two blocks looks for keys that one of them refuses
            keys = keys & known
        free = any(key.kind is Kind.MAP for key in block.keys)
        misplaced = {"hallucination_mitigation", "modules", "model_catalog", "signals", "projections", "decisions",
                     "strategy"} if name in ("file", "global", "catalog") else set()  # fmt: skip
        assert free or keys - listed - misplaced - block.tolerated == set(), name


def test_every_row_of_the_table_is_looked_for(reads: Reads) -> None:
    for name, block in TABLE.blocks.items():
        rows = {key.name for key in block.keys if key.kind is not Kind.ANY and "Not used" not in key.line}
        assert rows - reads.keys[name] == set(), name


def test_the_table_knows_the_blocks_as_the_loader_does(reads: Reads) -> None:
    for name, found in reads.known.items():
        block = TABLE.blocks[name]
        mine = {key.name for key in block.keys} | block.tolerated
        for known, owned in found:
            if name in ("file", "global", "catalog", "recipe", "tree"):  # with keys that are told to stand elsewhere
                assert mine >= known or known >= mine, name
            else:
                assert mine == known, name
            assert owned is block.owned or name == "plugin", name  # one of ours, if it is the hallucination plugin


def test_kinds_ranges_and_words_are_what_the_loader_asks_for(reads: Reads) -> None:
    checked = 0
    for (name, wanted), calls in reads.asked.items():
        key = next((key for key in TABLE.blocks[name].keys if key.name == wanted), None)
        for reader, *arguments in calls if key is not None else ():
            assert key is not None
            kind = READERS[reader]
            if key.kind in (Kind.ANY, Kind.MAP, Kind.TEXT_OR_BLOCK):
                continue
            assert key.kind is kind or {key.kind, kind} <= {Kind.CHOICE, Kind.WORD, Kind.TEXT} or kind is Kind.BLOCK, (
                f"{name}.{wanted}: {key.kind}, read as {kind}"
            )
            if kind in (Kind.NUMBER, Kind.INTEGER, Kind.DURATION, Kind.SIZE):
                assert (key.low, key.high) == tuple(arguments[1:3]), f"{name}.{wanted}"
                checked += 1
            if kind is Kind.CHOICE:
                assert set(key.words) == set(arguments[1]), f"{name}.{wanted}"
                checked += 1
    assert checked > 40


def test_defaults_are_inside_their_ranges_and_derived() -> None:
    derived = 0
    for block in TABLE.blocks.values():
        for key in block.keys:
            default = block.default(key)
            assert key.line.endswith("."), f"{block.name}.{key.name}"
            if default is UNSET or default is None:
                continue
            derived += key.default is UNSET
            if key.low is not None and key.high is not None:
                assert key.low <= default <= key.high, f"{block.name}.{key.name}"
            if key.words and key.kind not in (Kind.TEXTS, Kind.MAP):
                assert default in key.words, f"{block.name}.{key.name}"
    assert derived > 50


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    schema = json_schema(TABLE)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(json.loads(json.dumps(schema)))


@pytest.mark.parametrize(
    "path",
    [p for p in FILES if p.parent.name in ("valid", "router") and not p.name.startswith("refused_")],
    ids=lambda path: path.stem,
)
def test_the_schema_accepts_what_the_loader_accepts(path: Path, validator: Draft202012Validator) -> None:
    assert report(path, environment=ENVIRONMENT | {"EMPTY": "", "DB_PASSWORD": "x"}).code == 0
    text = path.read_text("utf-8")
    problems = [f"{list(e.absolute_path)}: {e.message[:200]}" for e in validator.iter_errors(yaml.safe_load(text))]
    assert problems == []


@pytest.mark.parametrize(
    "text",
    [
        "filter: {sever: {}}",
        "filter: {failure_mode: shut}",
        "filter: {detection: {deadline: soon}}",
        "filter: {detection: {queue: 0}}",
        "filter: {limits: {check: 16 megabytes}}",
        "routing: {signals: {hallucination: [{nam: a}]}}",
        "routing: {signals: {hallucination: [{use_nli: true}]}}",
        "routing: {signals: {hallucination: {name: a}}}",
        "routing: {decisions: [{name: d, plugins: [{type: hallucination, configuration: {use_nli: maybe}}]}]}",
        "routing: {decisions: [{name: d, rules: {operator: XOR, conditions: []}}]}",
        "global: {model_catalog: {modules: {hallucination_mitigation: {detector: {threshold: 1.5}}}}}",
        "recipes: [{name: r, hallucination_mitigation: {detector: {backend: onnx}}}]",
        "entrypoints: [{model_names: [m]}]",
        "routing: {decisions: [{name: d, plugins: [{type: hallucination, config: {enabled: true}}]}]}",
    ],
)
def test_the_schema_refuses_what_the_loader_refuses(text: str, validator: Draft202012Validator, tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(text)
    assert report(file).code == 2
    assert list(validator.iter_errors(yaml.safe_load(text)))


def test_other_plugins_may_hold_what_they_like(validator: Draft202012Validator) -> None:
    text = "routing: {decisions: [{name: d, plugins: [{type: memory, configuration: {enabled: 7, anything: [x]}}]}]}"
    assert not list(validator.iter_errors(yaml.safe_load(text)))


def test_the_command_prints_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == json_schema(TABLE)


def test_the_reference_page_is_current(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "--markdown"]) == 0
    page = (ROOT / "docs" / "reference" / "configuration.md").read_text("utf-8")
    assert page == capsys.readouterr().out, "make it again: vsr-hallucination schema --markdown > docs/reference/…"
