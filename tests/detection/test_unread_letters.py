"""Letters the shipped detector has no token for: an answer of them was not read, and must not come out clean."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from vsr_hallucination.config.schema import DetectionSettings, DetectorSettings
from vsr_hallucination.detection.factory import make_checker
from vsr_hallucination.detection.types import Checker, CheckRequest, Grounding, Passage
from vsr_hallucination.observation import ChoiceFacts, judge

pytestmark = pytest.mark.asyncio(loop_scope="session")
EVIDENCE = "Depot K7 shipped 412 crates in May at a cost of 9,500 euros. The depot is in Antwerp."
TRUE = "Depot K7 shipped 412 crates in May at a cost of 9,500 euros. The depot is in Antwerp. "
CIRCLED = "Ⓣⓗⓔ ⓓⓔⓟⓞⓣ ⓦⓐⓢ ⓒⓛⓞⓢⓔⓓ ⓑⓨ ⓟⓞⓛⓘⓒⓔ."
SQUARED = "🅃🄷🄴 🄳🄴🄿🄾🅃 🅆🄰🅂 🄲🄻🄾🅂🄴🄳."
WIDE = "Ｔｈｅｄｅｐｏｔｗａｓｃｌｏｓｅｄｂｙｐｏｌｉｃｅ．"


@pytest.fixture(scope="module")
def checker() -> Iterator[Checker]:
    yield make_checker(DetectorSettings(), None, DetectionSettings(torch_threads=1))


@pytest.mark.parametrize("answer", [CIRCLED, SQUARED, WIDE, TRUE + CIRCLED], ids=["circled", "squared", "wide", "tail"])
async def test_d9_an_answer_without_tokens_is_never_clean(checker: Checker, answer: str) -> None:
    grounding = Grounding((Passage(EVIDENCE, "$.messages[2].content"),))
    result = await checker.check(CheckRequest("What did depot K7 ship?", grounding, answer, False, 30.0))
    assert judge(ChoiceFacts(0, answer, result), grounded=True).state != "not_detected"
