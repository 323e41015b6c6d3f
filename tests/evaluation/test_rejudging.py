"""Recorded observations under another threshold, and ``eval replay`` against a real admin service."""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from dataclasses import replace

import pytest

from support.admin import WITH_TOKEN, admin, stored
from support.records import CANDIDATE, SPAN, outcome, record
from vsr_hallucination.cli import main
from vsr_hallucination.cli.rejudging import moment
from vsr_hallucination.evaluation.rejudging import Rejudged, rejudge, tally
from vsr_hallucination.replay.record import Outcome, Record

LIMITS = (("min_span_confidence", 0.6), ("min_span_length", 2.0), ("threshold", 0.8))


def judged(*spans: object, verdict: str = "not_detected", score: float = 0.0, **fields: object) -> Outcome:
    values = {"spans": spans, "unsupported_score": score, "detector_thresholds": LIMITS, **fields}
    return outcome(verdict, **values)


def candidate(confidence: float, why: str = "threshold") -> object:
    return replace(CANDIDATE, confidence=confidence, why=why)


SURE, NO, PERHAPS = Rejudged(True, True), Rejudged(False, False), Rejudged(False, True)


@pytest.mark.parametrize(
    ("found", "threshold", "wanted"),
    [
        (judged(replace(SPAN, confidence=0.9), verdict="detected"), 0.8, SURE),
        (judged(replace(SPAN, confidence=0.9), verdict="detected"), 0.9, SURE),
        (judged(replace(SPAN, confidence=0.9), verdict="detected"), 0.95, NO),
        (judged(candidate(0.7)), 0.8, NO),
        (judged(candidate(0.7)), 0.7, PERHAPS),  # it may have too few words
        (judged(candidate(0.7), detector_thresholds=(("min_span_length", 1.0), ("threshold", 0.8))), 0.7, SURE),
        (judged(candidate(0.9, "min_span_length")), 0.5, NO),
        (judged(candidate(0.9, "nli_entailed")), 0.5, NO),
        (judged(score=0.55), 0.5, PERHAPS),  # nothing below min_span_confidence was recorded
        (judged(score=0.45), 0.5, NO),
        (judged(score=0.55), 0.6, NO),
        (judged(), 0.1, NO),
    ],
)
def test_one_outcome(found: Outcome, threshold: float, wanted: Rejudged) -> None:
    assert rejudge(found, threshold) == wanted


def some_records() -> list[Record]:
    outcomes = [
        judged(replace(SPAN, confidence=0.85), verdict="detected"),
        judged(replace(SPAN, confidence=0.99), verdict="detected"),
        judged(candidate(0.7)),
        judged(),
        outcome("unavailable", spans=(), detector_thresholds=()),
    ]
    now = time.time()
    return [record(f"r{n}", now - 10 * n, outcomes=(one,)) for n, one in enumerate(outcomes)]


def test_counts_and_changes() -> None:
    ((key, found),) = tally(some_records(), (0.7, 0.8, 0.9)).items()
    assert key == ("default", "ungrounded_claims")
    value = found.to_json()
    assert (value["judged"], value["flagged"], value["rate"]) == (4, 2, 0.5)
    assert value["not_judged"] == {"unavailable": 1}
    assert value["recorded_thresholds"] == {"0.8": 4}
    assert [at["flagged"] for at in value["at"]] == [[2, 3], [2, 2], [1, 1]]
    assert [at["change"] for at in value["at"]] == [[0.0, 0.25], [0.0, 0.0], [-0.25, -0.25]]
    assert value["at"][2]["no_longer_flagged"] == ["r0"]
    assert tally(some_records(), (0.5,), rule="other") == {}
    assert tally(some_records(), (0.5,), recipe="other") == {}


def test_nothing_recorded_is_undefined() -> None:
    only = [record(outcomes=(outcome("unavailable", spans=()),))]
    ((_, found),) = tally(only, (0.5,)).items()
    value = found.to_json()
    assert (value["rate"], value["at"][0]["rate"], value["at"][0]["change"]) == (None, None, None)


async def test_from_a_running_filter(capsys: pytest.CaptureFixture[str]) -> None:
    old = record("old", time.time() - 7200, outcomes=(judged(verdict="detected"),))
    many = [record(f"m{n}", time.time() - 60, outcomes=(judged(),)) for n in range(250)]
    async with stored(*some_records(), *many, old) as writer, admin(writer) as client:
        url = str(client.base_url)
        words = ["eval", "replay", "--url", url, "--since", "1h", "--thresholds", "0.7", "0.9"]
        assert await asyncio.to_thread(main, [*words, "--json"]) == 0
        (rule,) = json.loads(capsys.readouterr().out)["rules"]
        assert (rule["rule"], rule["judged"], rule["flagged"]) == ("ungrounded_claims", 254, 2)
        assert [at["flagged"] for at in rule["at"]] == [[2, 3], [1, 1]]
        assert await asyncio.to_thread(main, words) == 0
        shown = capsys.readouterr().out
        assert "2 of 254 judged answers were flagged, at threshold 0.8 (254)" in shown
        assert "2 to 3" in shown and "1 unavailable" in shown
        assert await asyncio.to_thread(main, [*words, "--rule", "none"]) == 0
        assert "no recorded outcome" in capsys.readouterr().out
        assert await asyncio.to_thread(main, [*words, "--limit", "5", "--json"]) == 0


async def test_the_admin_token(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    settings = replace(WITH_TOKEN, token="plain-token")
    words = ["eval", "replay", "--thresholds", "0.5", "--token-env", "MY_TOKEN", "--url"]
    async with stored(*some_records()) as writer, admin(writer, settings=settings) as client:
        url = str(client.base_url)
        monkeypatch.delenv("MY_TOKEN", raising=False)
        assert await asyncio.to_thread(main, [*words, url]) == 2
        assert "--token-env" in capsys.readouterr().err
        monkeypatch.setenv("MY_TOKEN", "plain-token")
        assert await asyncio.to_thread(main, [*words, url]) == 0


def test_nobody_there(capsys: pytest.CaptureFixture[str]) -> None:
    for url in ("http://127.0.0.1:9", "nonsense"):
        assert main(["eval", "replay", "--url", url]) == 2
        assert "--url is the filter's admin address" in capsys.readouterr().err


async def test_a_filter_that_keeps_no_records(capsys: pytest.CaptureFixture[str]) -> None:
    async with admin(None) as client:
        assert await asyncio.to_thread(main, ["eval", "replay", "--url", str(client.base_url)]) == 2
    assert "replay is switched off" in capsys.readouterr().err


def test_moments() -> None:
    assert moment("24h") == pytest.approx(time.time() - 86400, abs=5)
    assert moment("2026-01-31T12:00:00Z") == 1769860800
    assert moment("2026-01-31") == 1769817600
    assert moment("1769860800") == 1769860800
    for wrong in ("", "soon", "nan", "1e30", "-"):
        with pytest.raises(argparse.ArgumentTypeError):
            moment(wrong)
