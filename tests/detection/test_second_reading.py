"""The second reading: a sentence beside its nearest lines; what is not read speaks neither way, what fails is said."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from support import tiny_models
from support.tiny_models import copy_model, encoder
from vsr_hallucination.config.schema import DetectionSettings, DetectorSettings
from vsr_hallucination.detection.batching import Batcher, Floats, Row
from vsr_hallucination.detection.checker import Prepared, Work
from vsr_hallucination.detection.deadline import Deadline, DetectionError
from vsr_hallucination.detection.embedded import ModelDirectoryError, ModelMetadata, read_metadata
from vsr_hallucination.detection.factory import check_once
from vsr_hallucination.detection.labels import nli_ids
from vsr_hallucination.detection.near import MAX_CHARS, few, near_units, premise_of, veiled
from vsr_hallucination.detection.pointer import EvidenceIndex
from vsr_hallucination.detection.second_reading import MAX_READ, SecondReading
from vsr_hallucination.detection.sentence_features import FEATURES
from vsr_hallucination.detection.sentence_score import Line, SentenceModel
from vsr_hallucination.detection.spans import SpanLimits
from vsr_hallucination.detection.token_classification import TokenClassification
from vsr_hallucination.detection.types import CheckRequest, DetectorIdentity, Grounding, Passage, Reason

ENCODER = encoder(128)
LABELS = ((0, "contradiction"), (1, "neutral"), (2, "entailment"))
LEDGER = "Elm Court was founded in May.\nIt has 12 rooms.\nDepot North shipped crates to the lab.\nRail was not open."
Model = Callable[[Sequence[Row]], Sequence[Floats]]


def prepared(answer: str, *passages: str, question: str = "") -> Prepared:
    texts = passages or (LEDGER,)
    index = EvidenceIndex.build(Grounding(tuple(Passage(text, f"$[{n}]") for n, text in enumerate(texts))))
    return Prepared(answer, question, index)


def premise(answer: str, *passages: str, question: str = "") -> str:
    made = prepared(answer, *passages, question=question)
    terms = made.index.terms(answer)
    return premise_of(
        made.index, near_units(made.index, terms, made.index.terms(question)), question, few(terms)
    )  # fmt: skip


def doubts_the_lab(rows: Sequence[Row]) -> Sequence[Floats]:
    """By hand: a pair that speaks of the lab is a contradiction, any other is entailed."""
    (lab,) = ENCODER.tokens("lab").ids
    return [
        np.array([0.9, 0.08, 0.02] if lab in row.ids[row.types == 1].tolist() else [0.02, 0.08, 0.9], dtype=np.float32)
        for row in rows
    ]


def second(model: Model = doubts_the_lab) -> SecondReading:
    batcher = Batcher(model, name="second_reading", queue_limit=8, batch_tokens=4096)
    return SecondReading(ENCODER, batcher, nli_ids(LABELS), len(LABELS))


def read(answer: str, *passages: str, model: Model = doubts_the_lab) -> np.ndarray:
    reader = second(model)

    async def run() -> np.ndarray:
        deadline = Deadline.after(10)
        return await reader.run(reader.ask(prepared(answer, *passages), deadline), deadline)

    try:
        return asyncio.run(run())
    finally:
        reader.close()


def test_a_premise_is_the_lines_that_share_the_sentence_s_words_in_text_order() -> None:
    assert premise("Depot North shipped 40 crates to Elm Court, which was founded in May, by rail.") == (
        "Elm Court was founded in May.; Depot North shipped crates to the lab.; Rail was not open."
    )


def test_a_short_sentence_brings_its_question_and_lines_the_question_asks_for() -> None:
    found = premise("12.", question="How many rooms does Elm Court have?")
    assert found == "How many rooms does Elm Court have?; Elm Court was founded in May.; It has 12 rooms."
    long = "Depot North shipped crates to the lab of Elm Court by rail from nine until ten over many days of the month"
    assert "How many" not in premise(long, question="How many rooms does Elm Court have?")


def test_a_row_of_a_table_is_read_under_the_table_s_header() -> None:
    table = "depot,crates,vials\n" + "".join(f"town{n},{n}7,{n}3\n" for n in range(40))
    assert premise("Town12 shipped 127 crates.", table).startswith("depot,crates,vials; town12,127,123")


def test_a_premise_is_bounded_however_much_evidence_there_is() -> None:
    lines = [f"Depot number {n} shipped crates to the lab by rail in May of that year." for n in range(3000)]
    found = premise("The depot shipped crates to the lab by rail in May.", "\n".join(lines))
    assert 100 < len(found) <= MAX_CHARS + 200


@pytest.mark.parametrize(
    ("evidence", "sentence", "shown"),
    [
        ("In 1954, Delta Foods left Linz for Recife.", "Delta Foods went from Recife to Linz.",
         ("In 1954, α left γ for β.", "α went from β to γ.")),
        ("Ada Byron paid for it; Jon Reed drew the plans. Byron never saw it.", "It was drawn by Ada Byron.",
         ("α paid for it; Jon Reed drew the plans. α never saw it.", "It was drawn by α.")),
        ("The mill was built by the council.", "The mill was built by the council.",
         ("The mill was built by the council.", "The mill was built by the council.")),
        ("A may tree grows since May.", "It was in May.", ("A may tree grows since May.", "It was in May.")),
        ("The angle α of Orion Labs is 30.", "Orion Labs has 30.", ("The angle α of β is 30.", "β has 30.")),
        ("", "Orion Labs has 30.", ("", "Orion Labs has 30.")),
    ],
)  # fmt: skip
def test_shared_names_are_signs_in_the_sentence_s_order(evidence: str, sentence: str, shown: tuple[str, str]) -> None:
    assert veiled(evidence, sentence) == shown


def test_more_names_than_signs_stay_names() -> None:
    names = [f"Depot{chr(97 + n)} North" for n in range(12)]
    premise, sentence = veiled(", ".join(names), " and ".join(names))
    assert sentence == " and ".join([*"αβγδεζηθ", *names[8:]])
    assert premise == ", ".join([*"αβγδεζηθ", *names[8:]])


def test_every_sentence_is_asked_about_by_itself() -> None:
    found = read("Elm Court has 12 rooms. Depot North shipped nine vials to the lab. Boats fish.")
    assert found.shape == (3, 3)
    assert found[0].argmax() == 0
    assert found[1].argmax() == 2
    assert found[2].tolist() == [0, 1, 0]  # no line shares a word with it: nothing there entails or contradicts it


def test_labels_follow_the_model_s_own_numbers() -> None:
    assert nli_ids(((2, "CONTRADICTION"), (0, "ENTAILMENT"), (1, "NEUTRAL"))) == {
        2: "contradiction", 0: "entailment", 1: "neutral"
    }  # fmt: skip


def test_beyond_the_most_sentences_nothing_is_said() -> None:
    found = read("Elm Court has 12 rooms. " * (MAX_READ + 5))
    assert len(found) >= MAX_READ + 5
    assert np.isfinite(found[:MAX_READ]).all()
    assert np.isnan(found[MAX_READ:]).all()


def test_what_was_not_read_speaks_neither_way() -> None:
    line = Line((0, 1), np.array([1.0, 2.0]), np.array([1.0, 1.0]), np.array([1.0, 5.0]), 0.5)
    assert line.logits(np.array([[3.0, math.nan]])).tolist() == [2.5]
    assert line.logits(np.array([[3.0, 2.0]])).tolist() == [2.5]


def judged_by(features: dict[str, float], bias: float) -> SentenceModel:
    names = list(features)
    return SentenceModel.from_json({
        "features": names, "mean": [0.0] * len(names), "scale": [1.0] * len(names),
        "weights": list(features.values()), "bias": bias,
    })  # fmt: skip


def backend(model: Model) -> TokenClassification:
    return TokenClassification(
        identity=DetectorIdentity("tiny", "token_classification", "0" * 64),
        metadata=ModelMetadata("detector", max_length=128),
        encoder=ENCODER,
        batcher=Batcher(copy_model, name="detector", queue_limit=8, batch_tokens=4096),
        supported=[0],
        labels=2,
        limits=SpanLimits(0.5, 0.5, 2),
        max_windows=8,
        sentence=judged_by({"near_turned": 3.0}, -1.0),
        second=second(model),
    )


def spans(model: Model, answer: str) -> list[str]:
    made = backend(model)

    async def run() -> list[str]:
        try:
            with ThreadPoolExecutor(1) as pool:
                found = await made.detect(Work(prepared(answer), Deadline.after(5), pool))
            return [span.text for span in found.marked.spans]
        finally:
            await made.aclose()

    return asyncio.run(run())


def test_the_sentence_model_hears_the_second_reading() -> None:
    # Every word of the sentence stands in the evidence, so the first reading has nothing against it.
    assert spans(doubts_the_lab, "Elm Court has 12 rooms. The lab shipped crates to depot North.") == [
        "The lab shipped crates to depot North"
    ]


@pytest.mark.parametrize("output", [[math.nan, 0.5, 0.5], [2.0, 0.0, 0.0], [0.5, 0.5]])
def test_a_second_reading_that_is_no_probability_is_a_failed_check(output: list[float]) -> None:
    def broken(rows: Sequence[Row]) -> Sequence[Floats]:
        return [np.array(output, dtype=np.float32) for _ in rows]

    with pytest.raises(DetectionError) as failed:
        spans(broken, "The lab shipped crates.")
    assert failed.value.reason is Reason.DETECTOR_FAILED


def test_a_second_reading_that_raises_is_a_failed_check() -> None:
    def dead(rows: Sequence[Row]) -> Sequence[Floats]:
        raise RuntimeError("no memory")

    with pytest.raises(DetectionError) as failed:
        spans(dead, "The lab shipped crates.")
    assert failed.value.reason is Reason.DETECTOR_FAILED


def test_a_directory_asks_for_it_by_name_and_never_by_path(tmp_path: Path) -> None:
    asking = tiny_models.novelty_detector(tmp_path / "asking", second_reading="embedded")
    assert read_metadata(asking, "detector").second_reading
    with pytest.raises(ModelDirectoryError, match="second_reading"):
        read_metadata(tiny_models.novelty_detector(tmp_path / "path", second_reading="../../other"), "detector")


def test_a_detector_that_asks_for_it_runs_with_the_shipped_explainer(tmp_path: Path) -> None:
    directory = tiny_models.novelty_detector(
        tmp_path / "asking",
        second_reading="embedded",
        sentence={"features": ["near_turned"], "mean": [0.0], "scale": [1.0], "weights": [3.0], "bias": -1.0},
    )
    request = CheckRequest(
        answer="The depot did not open in May. The museum opened on 4 June 1990.",
        grounding=Grounding((Passage("The museum opened on 4 June 1990. The depot opened in May.", "$"),)),
        question="",
        deadline=60,
    )
    found = check_once(request, DetectorSettings(model=str(directory)), None, DetectionSettings(value_check=False))
    assert found.failure is None and found.detection is not None
    assert [span.text for span in found.detection.spans] == ["The depot did not open in May"]


def test_the_columns_of_the_second_reading_are_known_to_the_sentence_model() -> None:
    assert [name for name in FEATURES if name.startswith("near_")] == ["near_turned", "near_denied"]
