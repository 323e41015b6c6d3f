"""What projections read, followed link by link: undefined names, circles, and chains to a hallucination rule.

A decision is selected before the model has answered. One that reads a ``hallucination`` rule, at whatever
remove, would read a signal that cannot exist yet: it is refused, with every link of the chain in the message.
"""

from __future__ import annotations

from collections import deque

from vsr_hallucination.config.projections import Input, Projections, fold
from vsr_hallucination.config.signals import FACT_CHECK_NAMES, Signals

_MOST_CYCLES = 20  # told; the others mostly share their links


def check_references(found: Projections, signals: Signals) -> None:
    """Undefined sources and inputs, and scores that read themselves."""
    for mapping in found.mappings.values():
        source = fold(mapping.source)
        if source not in found.scores and source not in found.partitions:
            mapping.at.error(
                f"mapping `{mapping.name}` bands the score `{mapping.source[:60]}`, which is not declared",
                "declare it under projections.scores, or correct the name",
            )
    for score in found.scores.values():
        for item in score.inputs:
            known = {
                "keyword": item.name in signals.keyword_names,
                "fact_check": item.name in FACT_CHECK_NAMES,
                "projection": found.knows(item.name),
            }.get(item.type, True)
            if not known:
                item.at.error(
                    f"score `{score.name}` reads `{item.type}:{item.name[:60]}`, which is not declared",
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
                inputs = found.scores[key].inputs
                at = next((i.at for i in inputs if step in scores_of(found, i)), inputs[0].at)
                chain = " → ".join(f"score `{found.scores[k].name}`" for k in loop)
                at.error(f"the scores read each other in a circle: {chain}", "remove one of the inputs")
            elif step not in state:
                state[step] = 1
                walk.append((step, _next_scores(found, step)))


def _next_scores(found: Projections, key: str) -> list[str]:
    return [score for item in found.scores[key].inputs for score in scores_of(found, item)]


def scores_of(found: Projections, item: Input) -> list[str]:
    """The scores that an input reads: by a score's own name, a mapping's, or a mapping's output."""
    if item.type != "projection":
        return []
    name = fold(item.name)
    mapping = found.mappings.get(found.outputs.get(name, name))
    names = [name] if mapping is None else [name, fold(mapping.source)]
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
            steps.append((f"mapping `{found.mappings[mapping].name}`", "mapping", mapping))
        kind = "name"  # a projection may also be named by its score or partition
    if kind == "mapping":
        kind, name = "name", fold(found.mappings[name].source)
    if kind == "name":
        if name in found.scores:
            steps.append((f"score `{found.scores[name].name}`", "score", name))
        if name in found.partitions:
            label, members = found.partitions[name].name, found.partitions[name].members
            steps += [
                (f"partition `{label}` → `hallucination:{member}`", "hallucination", member)
                for member in members
                if member in rules
            ]
    if kind == "score":
        for item in found.scores[name].inputs:
            if item.type == "hallucination":
                steps.append((f"`hallucination:{item.name}`", "hallucination", item.name))
            elif item.type == "projection":
                label = f"projection `{item.name}`"
                steps += [
                    (f"{label} → {link}" if kind_ == "mapping" else link, kind_, key)
                    for link, kind_, key in _steps(found, rules, "projection", fold(item.name))
                ]
    return steps
