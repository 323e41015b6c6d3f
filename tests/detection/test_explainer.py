"""The explainer: contradiction anywhere wins, a cut premise entails nothing, failing changes no state (case D11)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations

import numpy as np
import pytest

from support.tiny_models import encoder
from vsr_hallucination.detection.batching import Batcher, Floats, Row
from vsr_hallucination.detection.checker import Prepared, Work
from vsr_hallucination.detection.deadline import Deadline
from vsr_hallucination.detection.explainer import Explainer, ExplainerLimits, sentence_of
from vsr_hallucination.detection.labels import UnknownLabels, nli_ids
from vsr_hallucination.detection.language import Reader
from vsr_hallucination.detection.pointer import EvidenceIndex
from vsr_hallucination.detection.types import Coverage, Detection, Grounding, NliLabel, Passage, Severity, Span

ENCODER = encoder(80)
LABELS = ((0, "contradiction"), (1, "neutral"), (2, "entailment"))
TOPIC = "Depot K7 ships crates to many towns in May."
FACT = "In May depot K7 shipped 412 crates."
ANSWER = "Depot K7 shipped 479 crates in May."


def ids(text: str) -> list[int]:
    return list(ENCODER.tokens(text).ids)


def holds(row: list[int], part: list[int]) -> bool:
    return any(row[n : n + len(part)] == part for n in range(len(row) - len(part) + 1))


def nli(rows: Sequence[Row]) -> Sequence[Floats]:
    """By hand: "412" in the premise contradicts, "crates" without a number entails, all else is neutral."""
    out = []
    for row in rows:
        premise = row.ids[row.types == 0].tolist()
        if holds(premise, ids("412")):
            out.append([0.8, 0.1, 0.1])
        elif holds(premise, ids("crates")):
            out.append([0.01, 0.03, 0.96])
        else:
            out.append([0.1, 0.8, 0.1])
    return [np.array(scores, dtype=np.float32) for scores in out]


def explained(
    passages: Sequence[str],
    spans: Sequence[Span],
    *,
    answer: str = ANSWER,
    model: Callable[[Sequence[Row]], Sequence[Floats]] = nli,
    limits: ExplainerLimits = ExplainerLimits(),  # noqa: B008
    labels: tuple[tuple[int, str], ...] = LABELS,
    seconds: float = 10,
    reader: Reader | None = None,
) -> Detection:
    grounding = Grounding(tuple(Passage(text, f"$[{n}]") for n, text in enumerate(passages)))
    prepared = Prepared(answer, "", EvidenceIndex.build(grounding))
    batcher = Batcher(model, name="explainer", queue_limit=8, batch_tokens=4096)
    made = Explainer(
        encoder=ENCODER, batcher=batcher, labels=nli_ids(labels), classes=3, limits=limits, reader=reader
    )
    with ThreadPoolExecutor(1) as pool:
        work = Work(prepared, Deadline.after(seconds), pool)
        try:
            return asyncio.run(made.explain(work, Detection(tuple(spans), (), 0.9, 0.1, Coverage(1, 1))))
        finally:
            batcher.close()


def span(text: str = "479 crates", answer: str = ANSWER, tier: str = "model") -> Span:
    at = answer.index(text)
    return Span(at, at + len(text), text, 0.9, tier=tier)


@pytest.mark.parametrize("order", list(permutations([TOPIC, FACT])))
def test_d11_contradiction_anywhere_beats_entailment_in_any_order(order: tuple[str, ...]) -> None:
    (found,) = explained(order, [span()]).spans
    assert found.nli_label is NliLabel.CONTRADICTION
    assert found.nli_confidence == pytest.approx(0.8)
    assert found.explanation is not None
    assert found.explanation.startswith("The evidence says otherwise")


def test_d11_a_contradiction_at_the_end_of_a_long_premise_is_read() -> None:
    (found,) = explained([TOPIC + " town" * 3000 + " " + FACT], [span()]).spans
    assert found.nli_label is NliLabel.CONTRADICTION


def test_d11_a_truncated_premise_never_entails() -> None:
    limits = ExplainerLimits(max_windows=2)
    detection = explained([TOPIC + " town" * 3000 + " " + FACT], [span()], limits=limits)
    assert len(detection.spans) == 1
    assert detection.spans[0].nli_label is not NliLabel.ENTAILMENT


def test_d11_labels_come_from_the_models_own_map() -> None:
    turned = ((0, "ENTAILMENT"), (1, "neutral"), (2, "Contradiction"))
    (found,) = explained([TOPIC], [span()], labels=turned).spans
    assert found.nli_label is NliLabel.CONTRADICTION
    with pytest.raises(UnknownLabels):
        nli_ids(((0, "LABEL_0"), (1, "LABEL_1"), (2, "LABEL_2")))


def test_what_it_cannot_read_gets_no_label_and_drops_no_span() -> None:
    german = "Das Lager hat im Mai 412 Kisten verschickt und dafür 9.500 Euro bezahlt."
    for answer, evidence in ((german, TOPIC), (ANSWER, german)):
        whole = Span(0, len(answer), answer, 0.9)
        (kept,) = explained([evidence], [whole], answer=answer, reader=Reader.of(["Latin"], ["en"])).spans
        assert kept.explainer_failed and kept.nli_label is None


def test_a_span_whose_sentence_everything_read_entails_becomes_a_candidate() -> None:
    detection = explained([TOPIC, "town"], [span()])
    assert not detection.spans
    (dropped,) = detection.candidates
    assert (dropped.why, dropped.nli_label) == ("nli_entailed", NliLabel.ENTAILMENT)


@pytest.mark.parametrize(
    "limits", [ExplainerLimits(filtering=False), ExplainerLimits(entailment=0.99), ExplainerLimits(max_windows=1)]
)
def test_filtering_needs_its_switch_its_threshold_and_all_passages(limits: ExplainerLimits) -> None:
    detection = explained([TOPIC, "town"], [span()], limits=limits)
    assert len(detection.spans) == 1


def test_an_exact_value_is_not_argued_away() -> None:
    detection = explained([TOPIC], [span("479", tier="value_check")])
    assert [s.text for s in detection.spans] == ["479"]


def test_nothing_in_the_evidence_is_neutral_and_of_medium_severity() -> None:
    (found,) = explained(["town"], [span()]).spans
    assert (found.nli_label, found.severity) == (NliLabel.NEUTRAL, Severity.MEDIUM)


def test_severity_follows_label_and_certainty() -> None:
    (sure,) = explained([FACT], [span()], limits=ExplainerLimits(threshold=0.7)).spans
    (less,) = explained([FACT], [span()], limits=ExplainerLimits(threshold=0.9)).spans
    assert (sure.severity, less.severity) == (Severity.HIGH, Severity.MEDIUM)


def crash(rows: Sequence[Row]) -> Sequence[Floats]:
    raise RuntimeError("boom")


def nan(rows: Sequence[Row]) -> Sequence[Floats]:
    return [np.full(3, np.nan, dtype=np.float32) for _ in rows]


def misshapen(rows: Sequence[Row]) -> Sequence[Floats]:
    return [np.ones(2, dtype=np.float32) / 2 for _ in rows]


@pytest.mark.parametrize("model", [crash, nan, misshapen])
def test_failing_changes_no_state(model: Callable[[Sequence[Row]], Sequence[Floats]]) -> None:
    (found,) = explained([TOPIC], [span()], model=model).spans
    assert found.explainer_failed
    assert found.nli_label is None


def test_no_time_left_is_a_failed_explanation() -> None:
    (found,) = explained([TOPIC], [span()], seconds=0).spans
    assert found.explainer_failed


def test_the_hypothesis_is_the_spans_sentence() -> None:
    answer = "First one.  Depot K7 shipped 479 crates. Last one."
    start, end = sentence_of(answer, span("479", answer))
    assert answer[start:end] == "Depot K7 shipped 479 crates."
