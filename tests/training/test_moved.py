"""Evidence that is moved: where the passage comes to stand, and that a verdict does not follow it."""

from __future__ import annotations

import asyncio
import random

from training.moved import PLACES, detected, moved
from vsr_hallucination.config.schema import DetectionSettings, DetectorSettings
from vsr_hallucination.detection.factory import make_checker

OWN = "The gate of the northern depot opens at nine. It was built in 1931 by the Alba company, which ran the ferry."
OTHERS = [
    f"Field {n} near the river is sown with rye in autumn. Its owner keeps {n + 20} sheep and sells wool in town. "
    "The road to it is closed after heavy rain, so that carts go round by the mill."
    for n in range(40)
]
ROW = {"id": "gate", "question": "When does the gate open?", "context": OWN, "answer": "The gate opens at nine."}


def test_the_passage_stands_where_it_should() -> None:
    found = dict(moved(ROW, OTHERS, random.Random(1)))
    assert tuple(found) == PLACES
    share = {place: text.index(OWN) / len(text) for place, text in found.items()}
    assert share["start"] == 0 and share["end"] > 0.9
    assert abs(share["middle"] - 0.5) < 0.1 and abs(share["far"] - 0.5) < 0.1
    assert len(found["far"]) > 100_000
    assert all(text.count(OWN) == 1 for text in found.values())


def test_the_embedded_detectors_verdict_stays_wherever_its_support_stands() -> None:
    async def run() -> list[tuple[str, bool, bool]]:
        checker = make_checker(DetectorSettings(), None, DetectionSettings(torch_threads=1, max_windows=4))
        try:
            out = []
            for place, text in moved(ROW, OTHERS, random.Random(1), among=2500, far=20_000):
                right = await detected(checker, ROW, text)
                wrong = await detected(checker, ROW | {"answer": "The gate opens at seventeen minutes past two."}, text)
                out.append((place, right, wrong))
            return out
        finally:
            await checker.aclose()

    found = asyncio.run(run())
    assert [(place, right) for place, right, _ in found] == [(place, False) for place in PLACES]
    # The minimum over windows may lose the fault among 20,000 characters: `training.moved` says how often it does.
    assert all(wrong for place, _, wrong in found if place != "far")
