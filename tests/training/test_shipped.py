"""The shipped directories: complete, small, and right on examples that no training row resembles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
import torch

from training.base import load_tokenizer
from training.loop import predict
from training.prompts import LABELS as PROMPT_LABELS
from training.sequence import Pair, encode
from vsr_hallucination.config.schema import DetectionSettings, DetectorSettings
from vsr_hallucination.detection.embedded import Kind, embedded_dir, load_model, read_metadata, weight_files
from vsr_hallucination.detection.factory import make_checker
from vsr_hallucination.detection.types import CheckRequest, Grounding, Passage

KINDS: tuple[Kind, ...] = get_args(Kind)
EVERYDAY = Path(__file__).parents[2] / "training" / "everyday.jsonl"


@pytest.mark.parametrize("kind", KINDS)
def test_directory_is_complete_and_readable_by_everyone(kind: Kind) -> None:
    directory = embedded_dir(kind)
    names = {path.name for path in directory.iterdir()}
    assert {"README.md", "config.json", "tokenizer.json", "vsr.json", "model.int8.safetensors"} <= names
    metadata = read_metadata(directory, kind)
    assert metadata.labels and metadata.scripts == ("Latin",) and metadata.thresholds
    assert all(path.stat().st_mode & 0o004 for path in directory.iterdir())


def test_all_weights_together_stay_under_75_megabytes() -> None:
    assert sum(path.stat().st_size for kind in KINDS for path in weight_files(embedded_dir(kind))) < 75_000_000


# In domains, keys and wordings that the generator does not have: (evidence, question, right answer, part, wrong part).
EXAMPLES = (
    ("ferry: MS Alba\nday: Monday\ncars: 138\nfare_total_gbp: 4210", "How many cars crossed with MS Alba on Monday?",
     "On Monday, MS Alba took 138 cars across and collected £4,210 in fares.", "138", "183"),
    ("bakery: Nord\nloaves_baked: 960\nleftover: 44\nflour_kg: 710", "How did the Nord bakery do?",
     "The Nord bakery baked 960 loaves, 44 of which were left over, and used 710 kg of flour.", "44", "64"),
    ("track: Night Drive\nartist: Lena Moor\nplays: 88214\nduration: 3:41",
     "Who made Night Drive and how often was it played?",
     "Night Drive by **Lena Moor** has been played **88,214** times.", "88,214", "82,814"),
    ("telescope: T2\nexposures: 75\nseeing_arcsec: 0.8\nnight: 2025-02-11", "What did T2 do that night?",
     "- Exposures: 75\n- Seeing: 0.8 arcsec\n- Night: 11 February 2025", "75", "57"),
)  # fmt: skip


async def test_the_detector_passes_the_acceptance_examples() -> None:
    checker = make_checker(DetectorSettings(), None, DetectionSettings(torch_threads=1))

    async def spans(evidence: str, question: str, answer: str) -> list[str]:
        grounding = Grounding((Passage(evidence, "$.context"),))
        result = await checker.check(CheckRequest(question, grounding, answer, deadline=60))
        assert result.failure is None and result.detection is not None
        return [span.text for span in result.detection.spans]

    for evidence, question, right, part, wrong in EXAMPLES:
        assert await spans(evidence, question, right) == [], right
        assert wrong in await spans(evidence, question, right.replace(part, wrong, 1)), wrong
    await checker.aclose()


@pytest.fixture(scope="module")
def gate() -> Any:
    directory = embedded_dir("fact_check")
    model, metadata = load_model(directory, "fact_check"), read_metadata(directory, "fact_check")
    tokenizer = load_tokenizer(directory)

    def needs(prompt: str) -> bool:
        [logits] = predict(model, [encode(tokenizer, Pair(prompt, "", 0, ""), 64)])
        score = float(torch.softmax(logits / metadata.temperature, -1)[PROMPT_LABELS.index("needs_fact_check")])
        return score >= metadata.threshold("threshold", 0.6)

    return needs


@pytest.mark.parametrize("prompt", [
    "How tall is Mount Kesh?", "When did the Orla war end?", "What is the boiling point of xenol?",
    "Population of Vantaa district?", "Who built the Tarn bridge?", "How many crates did depot K7 ship in May?",
])  # fmt: skip
def test_d13_short_factual_questions_need_a_check(gate: Any, prompt: str) -> None:
    assert gate(prompt)


@pytest.mark.parametrize("prompt", ["Write a poem about Mount Kesh", "thanks!", "fix my regex"])
def test_d13_poems_thanks_and_code_do_not(gate: Any, prompt: str) -> None:
    assert not gate(prompt)


async def test_of_everyday_answers_hardly_a_right_one_is_flagged_and_what_was_found_stays_found() -> None:
    rows = [json.loads(line) for line in EVERYDAY.read_text("utf-8").splitlines()]
    checker = make_checker(DetectorSettings(), None, DetectionSettings(torch_threads=1))
    flagged = {"supported": 0, "unsupported": 0}
    for row in rows:
        grounding = Grounding((Passage(row["context"], "$.context"),))
        result = await checker.check(CheckRequest(row["question"], grounding, row["answer"], deadline=60))
        assert result.detection is not None
        flagged[row["label"]] += bool(result.detection.spans)
    await checker.aclose()
    assert len(rows) == 96
    assert flagged["supported"] <= 1 and flagged["unsupported"] >= 20
