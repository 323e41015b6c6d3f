"""``routing.projections``, read only to see what a decision reads through them.

A decision is selected before the model has answered. One that reads a ``hallucination`` rule, at whatever
remove, would read a signal that cannot exist yet: it is refused, with every link of the chain in the message.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from vsr_hallucination.config.cursor import Cursor, Fields
from vsr_hallucination.config.problems import words
from vsr_hallucination.config.rules import read_name
from vsr_hallucination.config.signals import FACT_CHECK_NAMES, Signals, repeated

_PROJECTIONS = frozenset({"partitions", "scores", "mappings"})
_PARTITION = frozenset({"name", "description", "semantics", "temperature", "members", "default"})
_SCORE = frozenset({"name", "description", "method", "inputs"})
_INPUT = words(
    """
    type name weight value_source match miss kb metric label on_unknown
    """
)
_MAPPING = frozenset({"name", "description", "source", "method", "calibration", "outputs"})
_OUTPUT = frozenset({"name", "description", "lt", "lte", "gt", "gte"})


@dataclass(frozen=True, slots=True)
class Input:
    """What a score reads: a signal, or another projection (``type: projection``)."""

    type: str
    name: str
    at: Cursor


@dataclass(slots=True)
class Projections:
    """Names are folded for look-up, as the router folds them; values keep the names as written."""

    scores: dict[str, tuple[str, tuple[Input, ...]]] = field(default_factory=dict)
    mappings: dict[str, tuple[str, str, Cursor]] = field(default_factory=dict)  # name, source, its place
    outputs: dict[str, str] = field(default_factory=dict)  # output → its mapping
    partitions: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)  # name, members

    def knows(self, name: str) -> bool:
        key = fold(name)
        return key in self.outputs or key in self.mappings or key in self.scores or key in self.partitions


_MOST_CYCLES = 20  # told; the others mostly share their links


def fold(name: str) -> str:
    return name.strip().casefold()


def read_projections(fields: Fields) -> Projections:
    """The ``projections`` block of a routing block."""
    block = fields.sub("projections", _PROJECTIONS)
    found = Projections()
    seen: dict[str, Cursor] = {}
    for entry in block.each("partitions"):
        inner = entry.fields(_PARTITION)
        name = read_name(inner, "a partition")
        if name is not None and not repeated(fold(name), inner.place("name"), seen, "projection"):
            found.partitions[fold(name)] = (name, inner.texts("members"))
    seen = {}
    for entry in block.each("scores"):
        inner = entry.fields(_SCORE)
        name = read_name(inner, "a score")
        inputs = tuple(i for i in (_input(at) for at in inner.each("inputs")) if i is not None)
        if name is not None and not repeated(fold(name), inner.place("name"), seen, "score"):
            found.scores[fold(name)] = (name, inputs)
    seen, outputs = {}, dict[str, Cursor]()
    for entry in block.each("mappings"):
        inner = entry.fields(_MAPPING)
        name, source = read_name(inner, "a mapping"), inner.text("source", None)
        if source is None and "source" not in inner:
            inner.place("source").error("is missing", "name the score that the mapping bands")
        for output in inner.each("outputs"):
            band = output.fields(_OUTPUT)
            label = read_name(band, "an output")
            if (
                label is not None
                and name is not None
                and not repeated(fold(label), band.place("name"), outputs, "output")
            ):
                found.outputs[fold(label)] = fold(name)
        if name is not None and source is not None and not repeated(fold(name), inner.place("name"), seen, "mapping"):
            found.mappings[fold(name)] = (name, source, inner.place("source"))
    return found


def _input(at: Cursor) -> Input | None:
    fields = at.fields(_INPUT)
    kind = fields.text("type", None)
    if kind is None:
        if "type" not in fields:
            fields.place("type").error("is missing", "an input needs `type` and `name`")
        return None
    kind = fold(kind)
    name = fields.text("name", None)
    if name is None:
        if kind != "kb_metric" and "name" not in fields:
            fields.place("name").error("is missing", "an input needs `type` and `name`")
        return None
    return Input(kind, name.strip(), at)


def check_references(found: Projections, signals: Signals) -> None:
    """Undefined sources and inputs, and scores that read themselves."""
    for name, source, at in found.mappings.values():
        if fold(source) not in found.scores and fold(source) not in found.partitions:
            at.error(
                f"mapping `{name}` bands the score `{source[:60]}`, which is not declared",
                "declare it under projections.scores, or correct the name",
            )
    for name, inputs in found.scores.values():
        for item in inputs:
            known = {
                "keyword": item.name in signals.keyword_names,
                "fact_check": item.name in FACT_CHECK_NAMES,
                "projection": found.knows(item.name),
            }.get(item.type, True)
            if not known:
                item.at.error(
                    f"score `{name}` reads `{item.type}:{item.name[:60]}`, which is not declared",
                    "declare it, or correct the name",
                )
    _check_cycles(found)


def _check_cycles(found: Projections) -> None:
    """Each cycle once, told from the first score on it."""
    state: dict[str, int] = {}  # 1: on the walk, 2: done
    told = 0
    for start in found.scores:
        walk: list[tuple[str, list[str]]] = []
        if start not in state:
            state[start] = 1
            walk.append((start, _next_scores(found, start)))
        while walk:
            key, rest = walk[-1]
            if not rest:
                state[key] = 2
                walk.pop()
                continue
            step = rest.pop()
            if state.get(step) == 1:
                told += 1
                if told > _MOST_CYCLES:
                    return
                keys = [k for k, _ in walk]
                loop = [*keys[keys.index(step) :], step]
                inputs = found.scores[key][1]
                at = next((i.at for i in inputs if step in _scores_of(found, i)), inputs[0].at)
                chain = " → ".join(f"score `{found.scores[k][0]}`" for k in loop)
                at.error(f"the scores read each other in a circle: {chain}", "remove one of the inputs")
            elif step not in state:
                state[step] = 1
                walk.append((step, _next_scores(found, step)))


def _next_scores(found: Projections, key: str) -> list[str]:
    return [score for item in found.scores[key][1] for score in _scores_of(found, item)]


def _scores_of(found: Projections, item: Input) -> list[str]:
    """The scores that an input reads: by a score's own name, a mapping's, or a mapping's output."""
    if item.type != "projection":
        return []
    name = fold(item.name)
    mapping = found.mappings.get(found.outputs.get(name, name))
    names = [name] if mapping is None else [name, fold(mapping[1])]
    return list(dict.fromkeys(score for score in names if score in found.scores))


def chain_to_rule(found: Projections, signals: Signals, output: str) -> list[str] | None:
    """The shortest chain from a projection to a hallucination rule, link by link; None if there is none.

    Breadth first with a visited set, so that cycles end and depth costs no stack.
    """
    rules = {rule.name for rule in signals.hallucination}
    start = ("projection", fold(output))
    came_from: dict[tuple[str, str], tuple[tuple[str, str], str]] = {}
    queue = deque([start])
    seen = {start}
    while queue:
        node = queue.popleft()
        for link, kind, name in _steps(found, rules, *node):
            step = (kind, name)
            if kind == "hallucination":
                chain = [link]
                while node != start:
                    node, before = came_from[node]
                    chain.append(before)
                return [f"projection `{output}`", *reversed(chain)]
            if step not in seen:
                seen.add(step)
                came_from[step] = (node, link)
                queue.append(step)
    return None


def _steps(found: Projections, rules: set[str], kind: str, name: str) -> list[tuple[str, str, str]]:
    """What one node reads: (words, kind, folded name)."""
    steps: list[tuple[str, str, str]] = []
    if kind == "projection":
        mapping = found.outputs.get(name, name)
        if mapping in found.mappings:
            steps.append((f"mapping `{found.mappings[mapping][0]}`", "mapping", mapping))
        kind = "name"  # a projection may also be named by its score or partition
    if kind == "mapping":
        kind, name = "name", fold(found.mappings[name][1])
    if kind == "name":
        if name in found.scores:
            steps.append((f"score `{found.scores[name][0]}`", "score", name))
        if name in found.partitions:
            label, members = found.partitions[name]
            steps += [
                (f"partition `{label}` → `hallucination:{member}`", "hallucination", member)
                for member in members
                if member in rules
            ]
    if kind == "score":
        for item in found.scores[name][1]:
            if item.type == "hallucination":
                steps.append((f"`hallucination:{item.name}`", "hallucination", item.name))
            elif item.type == "projection":
                label = f"projection `{item.name}`"
                steps += [
                    (f"{label} → {link}" if kind_ == "mapping" else link, kind_, key)
                    for link, kind_, key in _steps(found, rules, "projection", fold(item.name))
                ]
    return steps
