"""``routing.projections`` as written: partitions, scores, mappings, each with the places that checks speak of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vsr_hallucination.config.cursor import Cursor, Fields
from vsr_hallucination.config.problems import words
from vsr_hallucination.config.projection_schema import SLOPE, Band, MappingMethod, ValueSource
from vsr_hallucination.config.rules import read_name
from vsr_hallucination.config.signals import repeated

PROJECTIONS = frozenset({"partitions", "scores", "mappings"})
PARTITION = frozenset({"name", "description", "semantics", "temperature", "members", "default"})
SCORE = frozenset({"name", "description", "method", "inputs"})
INPUT = words(
    """
    type name weight value_source match miss kb metric label on_unknown
    """
)
MAPPING = frozenset({"name", "description", "source", "method", "calibration", "outputs", "top_k"})
OUTPUT = frozenset({"name", "description", "lt", "lte", "gt", "gte"})
CALIBRATION = frozenset({"method", "slope"})
WEIGHTED_SUM = "weighted_sum"
SOFTMAX = "softmax_exclusive"
SEMANTICS: Mapping[str, str] = {word: word for word in ("exclusive", SOFTMAX)}
SOURCES: Mapping[str, ValueSource] = {source.value: source for source in (ValueSource.BINARY, ValueSource.CONFIDENCE)}
METHODS: Mapping[str, MappingMethod] = {method.value: method for method in MappingMethod}
MOST = 1_000_000_000.0  # weights and bounds: far beyond what anyone means, and sums of them stay finite


@dataclass(frozen=True, slots=True)
class Input:
    """What a score reads: a signal, or another projection (``type: projection``). ``source`` None: not read here."""

    type: str
    name: str
    at: Cursor
    weight: float
    source: ValueSource | None
    match: float
    miss: float


@dataclass(frozen=True, slots=True)
class ScoreDraft:
    name: str
    inputs: tuple[Input, ...]
    method: str


@dataclass(frozen=True, slots=True)
class MappingDraft:
    """``method`` None: a word that this filter does not know."""

    name: str
    source: str
    at: Cursor  # of the source
    method: MappingMethod | None
    bands: tuple[Band, ...]
    slope: float
    top_k: int


@dataclass(frozen=True, slots=True)
class PartitionDraft:
    name: str
    members: tuple[str, ...]
    default: str | None
    temperature: float | None
    at: Cursor


@dataclass(slots=True)
class Projections:
    """Names are folded for look-up, as the router folds them; values keep the names as written."""

    scores: dict[str, ScoreDraft] = field(default_factory=dict)
    mappings: dict[str, MappingDraft] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)  # output → its mapping
    spelt: dict[str, str] = field(default_factory=dict)  # output → as written
    partitions: dict[str, PartitionDraft] = field(default_factory=dict)

    def knows(self, name: str) -> bool:
        key = fold(name)
        return key in self.outputs or key in self.mappings or key in self.scores or key in self.partitions


def fold(name: str) -> str:
    return name.strip().casefold()


def read_projections(fields: Fields) -> Projections:
    """The ``projections`` block of a routing block."""
    block = fields.sub("projections", PROJECTIONS)
    found = Projections()
    seen: dict[str, Cursor] = {}
    for entry in block.each("partitions"):
        _partition(entry, found, seen)
    seen = {}
    for entry in block.each("scores"):
        inner = entry.fields(SCORE)
        name = read_name(inner, "a score")
        inputs = tuple(i for i in (_input(at) for at in inner.each("inputs")) if i is not None)
        method = inner.text("method", WEIGHTED_SUM)
        if name is not None and not repeated(fold(name), inner.place("name"), seen, "score"):
            found.scores[fold(name)] = ScoreDraft(name, inputs, method)
    seen, outputs = {}, dict[str, Cursor]()
    for entry in block.each("mappings"):
        _mapping(entry, found, seen, outputs)
    return found


def _partition(entry: Cursor, found: Projections, seen: dict[str, Cursor]) -> None:
    inner = entry.fields(PARTITION)
    name = read_name(inner, "a partition")
    semantics = inner.choice("semantics", "exclusive", SEMANTICS)
    temperature = inner.number("temperature", 1.0, 0, 1000)
    members, default = inner.texts("members"), inner.text("default", None)
    if name is not None and not repeated(fold(name), inner.place("name"), seen, "projection"):
        softmax = (temperature or 1.0) if semantics == SOFTMAX else None
        found.partitions[fold(name)] = PartitionDraft(name, members, default, softmax, inner.place("default"))


def _input(at: Cursor) -> Input | None:
    fields = at.fields(INPUT)
    kind = fields.text("type", None)
    if kind is None:
        if "type" not in fields:
            fields.place("type").error("is missing", "an input needs `type` and `name`")
        return None
    kind = fold(kind)
    weight = fields.number("weight", None, -MOST, MOST)
    if "weight" not in fields:
        fields.place("weight").warn("is missing: the input adds nothing", "give it a weight, or remove the input")
    source = SOURCES.get(fold(fields.text("value_source", ValueSource.BINARY.value)))
    match, miss = fields.number("match", 1.0, -MOST, MOST), fields.number("miss", 0.0, -MOST, MOST)
    name = fields.text("name", None)
    if name is None:
        if kind == "kb_metric":
            return Input(kind, "", at, weight or 0.0, source, match, miss)
        if "name" not in fields:
            fields.place("name").error("is missing", "an input needs `type` and `name`")
        return None
    return Input(kind, name.strip(), at, weight or 0.0, source, match, miss)


def _mapping(entry: Cursor, found: Projections, seen: dict[str, Cursor], outputs: dict[str, Cursor]) -> None:
    inner = entry.fields(MAPPING)
    name, source = read_name(inner, "a mapping"), inner.text("source", None)
    if source is None and "source" not in inner:
        inner.place("source").error("is missing", "name the score that the mapping bands")
    method = METHODS.get(inner.text("method", MappingMethod.THRESHOLD_BANDS.value))
    slope = inner.sub("calibration", CALIBRATION).number("slope", SLOPE, 0, 1_000_000)
    top_k = inner.integer("top_k", 0, 0, 1000)
    bands: list[Band] = []
    for output in inner.each("outputs"):
        band, at = _band(output)
        if band is None or name is None or repeated(fold(band.name), at, outputs, "output"):
            continue
        found.outputs[fold(band.name)] = fold(name)
        found.spelt[fold(band.name)] = band.name
        bands.append(band)
    if name is not None and source is not None and not repeated(fold(name), inner.place("name"), seen, "mapping"):
        at = inner.place("source")
        found.mappings[fold(name)] = MappingDraft(name, source, at, method, tuple(bands), slope or SLOPE, top_k)


def _band(at: Cursor) -> tuple[Band | None, Cursor]:
    """The output, and the place of its name."""
    fields = at.fields(OUTPUT)
    name = read_name(fields, "an output")
    gt, gte, lt, lte = (fields.number(key, None, -MOST, MOST) for key in ("gt", "gte", "lt", "lte"))
    if name is None:
        return None, at
    band = Band(name, gt, gte, lt, lte)
    low, high = max(_given(gt, gte), default=None), min(_given(lt, lte), default=None)
    if low is not None and high is not None and not (low < high or (low == high and band.holds(low))):
        at.warn(f"no score lies in its band, which begins at {low:g} and ends at {high:g}", "correct the bounds")
    return band, fields.place("name")


def _given(*bounds: float | None) -> list[float]:
    return [bound for bound in bounds if bound is not None]
