"""The tour's own judgement: an expectation that is not met is said, and only then."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from vsr_hallucination.demo.script import GROUNDED, INVENTED, Step, steps
from vsr_hallucination.demo.shown import step_text
from vsr_hallucination.demo.tour import Seen, compare

REPLAY = ("x-vsr-replay-id", "0190")


def step(model: str) -> Step:
    return next(step for step in steps() if step.model == model)


def outcome(verdict: str, **metadata: Any) -> dict[str, Any]:
    return {
        "target_ref": "hallucination:ungrounded_claims",
        "verdict": verdict,
        "score": 0.97,
        "metadata": metadata,
    }


GOOD = Seen(200, (REPLAY,), GROUNDED, outcome("not_detected", span_count=0), (), "completed")
FOUND = Seen(
    200,
    (("x-vsr-response-warnings", "hallucination"), REPLAY),
    INVENTED,
    outcome("detected", span_count=1, action="header"),
    ((17, 20),),
    "completed",
)


def test_what_was_expected_raises_no_complaint() -> None:
    assert compare(step("grounded"), GOOD) == ()
    assert compare(step("invented"), FOUND) == ()


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (replace(FOUND, status=500), "status: expected 200, got 500"),
        (replace(FOUND, headers=(REPLAY,)), "x-vsr-response-warnings: expected hallucination, got nothing"),
        (replace(FOUND, headers=FOUND.headers[:1]), "x-vsr-replay-id: missing"),
        (replace(FOUND, outcome=outcome("not_detected", action="header")), "verdict: expected detected"),
        (replace(FOUND, outcome=outcome("detected", action="none")), "action: expected header, got none"),
        (replace(FOUND, outcome=None), "verdict: expected detected, got nothing"),
        (replace(FOUND, spans=((18, 20),)), "'479' is not marked as unsupported"),
        (replace(FOUND, text=GROUNDED), "did not get the upstream's answer whole"),
        (replace(FOUND, lifecycle="in_progress"), "lifecycle: expected completed"),
    ],
)
def test_each_difference_is_said(seen: Seen, words: str) -> None:
    assert any(words in complaint for complaint in compare(step("invented"), seen)), compare(
        step("invented"), seen
    )


def test_a_withheld_answer_that_leaks_is_said() -> None:
    blocked = outcome("detected", action="block")
    leak = Seen(403, FOUND.headers, f"blocked: {INVENTED}", blocked, ((17, 20),), "completed")
    assert compare(step("block"), leak) == ("the withheld answer reached the client",)


def test_a_body_warning_must_stand_in_front() -> None:
    seen = replace(FOUND, headers=(REPLAY,), outcome=outcome("detected", action="body"))
    assert compare(step("body"), replace(seen, text="> ⚠️ Warning\n\n" + INVENTED)) == ()
    assert any("does not begin with" in words for words in compare(step("body"), seen))


def test_spans_move_with_a_warning_in_front() -> None:
    seen = replace(FOUND, text="> Warning\n\n" + INVENTED)
    assert "Depot K7 shipped [479] crates" in step_text(1, step("body"), seen, color=False)


def test_a_complaint_is_shown() -> None:
    text = step_text(
        1, step("invented"), replace(FOUND, complaints=("status: expected 200, got 500",)), color=False
    )
    assert "WRONG" in text
    assert "as expected" not in text


def test_models_are_unique() -> None:
    assert len({step.model for step in steps()}) == len(steps())
