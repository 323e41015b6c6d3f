"""Whole runs against a scripted server: cases E1, E3, E5 and what a run asks."""

from __future__ import annotations

import time

import pytest

from support.eval_runs import Run
from support.model_server import (
    IDK,
    Answer,
    Asked,
    error,
    in_turn,
    limited,
    rubbish,
    running_models,
    says,
    stall,
)
from vsr_hallucination.evaluation.ratelimit import SlidingWindow

E1 = [
    (name, f"What about {name}?", "yes", 0)
    for name in "right1 right2 wrong1 wrong2 idk1 idk2 limited slow".split()
]


def e1(asked: Asked) -> Answer:
    for word, answer in (
        ("right", says("yes")), ("wrong", says("no")), ("idk", says("I don’t know.")), ("limited", limited("0.01s")),
        ("slow", stall()),
    ):  # fmt: skip
        if word in asked.question:
            return answer
    raise AssertionError(asked.question)


def test_e1_infrastructure_is_not_knowledge(run_eval: Run) -> None:
    with running_models(e1) as server:
        ran = run_eval(server.url, E1, "--max-retries", "1", "--timeout", "0.5")
    (at,) = ran.metrics["thresholds"]
    assert at["coverage"] == 4 / 6
    assert at["accuracy_conditioned_on_answering"] == 2 / 4
    assert at["hallucination_rate_among_answers"] == 2 / 4
    assert at["avg_expected_score"] == 0
    assert (at["n"], at["answered"], at["abstentions"], at["unavailable"]) == (8, 4, 2, 2)
    assert at["unavailable_by_kind"] == {"rate_limited": 1, "timeout": 1}
    assert at["bounds"]["accuracy_conditioned_on_answering"] == [2 / 6, 4 / 6]
    assert at["bounds"]["coverage"] == [4 / 8, 6 / 8]
    assert ran.code == 3
    assert "INCOMPLETE" in ran.stderr and "INCOMPLETE" in ran.report
    assert "Accuracy without them 50.0%" in ran.report and "33.3% to 66.7%" in ran.report
    assert "`limited`" in ran.report and "`slow`" in ran.report
    assert not ran.metrics["complete"]
    lost = [row for row in ran.rows if row["state"] == "unavailable"]
    assert {(row["id"], row["kind"], row["abstained"], row["correct"], row["score"]) for row in lost} == {
        ("limited", "rate_limited", "", "", ""),
        ("slow", "timeout", "", "", ""),
    }


def test_a_quota_that_comes_back_is_waited_for(run_eval: Run) -> None:
    rows = [("a", "A?", "yes", 0), ("b", "B?", "yes", 0)]
    script = in_turn(rubbish(), limited("0.05s"), error(503, headers=[("retry-after", "0")]), says("Yes."))
    with running_models(script) as server:
        ran = run_eval(server.url, rows, "--max-retries", "3")
        assert len(server.asked) == 8
    assert ran.code == 0
    assert [(row["correct"], row["attempts"]) for row in ran.rows] == [("1", "4"), ("1", "4")]


def test_each_item_is_asked_once_at_each_threshold(run_eval: Run) -> None:
    rows = [(f"i{n}", f"Question {n}?", "yes", n % 2) for n in range(20)]
    with running_models(lambda asked: says("yes") if (asked.t or 0) < 0.7 else IDK) as server:
        ran = run_eval(
            server.url, rows, "--async", "--concurrency", "6", "--progress", "--thinking-budget", "0", "--temperature",
            "0.0", "--seed", "7", "--rpm-limit", "6000", thresholds=("0.9", "0.5", "0.75", "0.5"),
        )  # fmt: skip
        assert sorted(server.questions()) == sorted((row[1], t) for row in rows for t in (0.5, 0.75, 0.9))
        assert server.most_at_once <= 6
    assert ran.code == 0
    assert "60/60" in ran.stderr
    assert [t["coverage"] for t in ran.metrics["thresholds"]] == [1.0, 0.0, 0.0]
    assert [t["avg_expected_score"] for t in ran.metrics["thresholds"]] == [0.0, 0.0, 0.0]
    assert ran.behavior["coverage_monotonicity_violations"] == 0
    assert [row["id"] for row in ran.rows[:4]] == ["i0", "i0", "i0", "i1"]
    assert list(ran.rows[0])[:9] == "id t question gold unknown_ok pred abstained correct score".split()
    unanswerable = [row for row in ran.rows if row["unknown_ok"] == "1"]
    assert {(row["t"], row["correct"]) for row in unanswerable} == {("0.5", "0"), ("0.75", "1"), ("0.9", "1")}


def test_an_answer_in_any_words_of_idk_counts_the_same_everywhere(run_eval: Run) -> None:
    rows = [("a", "A?", "yes", 0), ("b", "B?", "", 1), ("c", "C?", "unknown", 0)]
    with running_models(
        lambda asked: says("Unknown." if asked.question == "C?" else "I don't know.")
    ) as server:
        ran = run_eval(server.url, rows)
    assert [(r["state"], r["abstained"], r["correct"]) for r in ran.rows] == [
        ("abstained", "1", "0"),
        ("abstained", "1", "1"),
        ("right", "0", "1"),
    ]


JUDGE_SAYS = {
    "good": says("YES"),
    "bad": says("NO"),
    "odd": says("Hmm."),
    "down": error(500, headers=[("retry-after", "0")]),
}


def test_e3_a_failing_judge_is_kept_apart(run_eval: Run) -> None:
    rows = [(name, f"{name}?", "gold", 0) for name in ("good", "bad", "odd", "down", "idk")]

    def script(asked: Asked) -> Answer:
        if asked.t is None:
            assert asked.body["model"] == "judge-model"
            return JUDGE_SAYS[next(name for name in JUDGE_SAYS if f'"{name}?"' in asked.prompt)]
        return says("I don't know") if asked.question == "idk?" else says("some answer")

    with running_models(script) as server:
        ran = run_eval(
            server.url, rows, "--judge", "llm", "--judge-model", "judge-model", "--max-retries", "1"
        )
        judged = [asked for asked in server.asked if asked.t is None]
    (at,) = ran.metrics["thresholds"]
    assert (at["answered"], at["graded"], at["abstentions"], at["judge_failed"]) == (4, 2, 1, 2)
    assert at["judge_failed_ids"] == ["odd", "down"]
    assert at["accuracy_conditioned_on_answering"] == 0.5
    assert at["coverage"] == 4 / 5
    assert at["avg_expected_score"] == 0.0
    assert ran.code == 3
    assert "`odd`, `down`" in ran.report
    assert len(judged) == 1 + 1 + 2 + 2
    assert not any("idk" in asked.prompt for asked in judged)


E5_SAYS = {
    "think": says(None, finish="length", reasoning_content="… so 42"),
    "cut": says("so maybe 42, no, 41", finish="length"),
    "filter": says("", finish="content_filter"),
    "empty": says(""),
    "fine": says("42"),
}


def test_e5_what_never_came_is_graded_by_nobody(run_eval: Run) -> None:
    rows = [(name, f"{name}?", "42", 0) for name in E5_SAYS]
    with running_models(lambda asked: E5_SAYS[asked.question[:-1]]) as server:
        ran = run_eval(server.url, rows)
        assert len(server.asked) == 5
    (at,) = ran.metrics["thresholds"]
    assert at["unavailable_by_kind"] == {"truncated": 2, "blocked": 1, "empty": 1}
    assert (at["coverage"], at["accuracy_conditioned_on_answering"], at["abstentions"]) == (1.0, 1.0, 0)
    assert "raise `--max-tokens`" in ran.report
    assert ran.code == 3


@pytest.mark.parametrize(
    ("status", "says_"), [(401, "refused the key (HTTP 401)"), (404, "knows no such model")]
)
def test_a_run_that_cannot_work_ends_at_once(run_eval: Run, status: int, says_: str) -> None:
    rows = [(f"i{n}", f"Q{n}?", "x", 0) for n in range(50)]
    with running_models(in_turn(error(status))) as server:
        ran = run_eval(server.url, rows, "--concurrency", "2")
        assert len(server.asked) <= 3
    assert ran.code == 2
    assert says_ in ran.stderr


def test_what_is_wrong_on_the_command_line(run_eval: Run) -> None:
    row = [("a", "A?", "x", 0)]
    for t in ("1.0", "0", "-0.5", "nan"):
        ran = run_eval("http://127.0.0.1:9/v1", row, thresholds=(t,))
        assert ran.code == 2 and "between 0 and 1" in ran.stderr, t
    assert "no http(s) URL" in run_eval("nowhere", row).stderr


def test_the_limit_on_requests_holds_for_retries_and_judges(
    run_eval: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SlidingWindow.__init__.__kwdefaults__, "window", 1.0)
    left = recorded_departures(monkeypatch)
    rows = [(f"i{n}", f"Q{n}?", "x", 0) for n in range(8)]
    busy = error(503, headers=[("retry-after", "0")])
    script = in_turn(busy, says("x"))
    with running_models(lambda asked: says("YES") if asked.t is None else script(asked)) as server:
        ran = run_eval(server.url, rows, "--judge", "llm", "--rpm-limit", "8")
        assert len(server.asked) == len(left) == 24
    assert ran.code == 0
    assert all(sum(start <= at < start + 1.0 for at in left) <= 8 for start in left)


def recorded_departures(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """When each request was let go: what a loaded test machine does to arrivals is not the limiter's."""
    left: list[float] = []
    acquire = SlidingWindow.acquire

    async def recorded(self: SlidingWindow) -> float:
        departed = await acquire(self)
        left.append(departed)
        return departed

    monkeypatch.setattr(SlidingWindow, "acquire", recorded)
    return left


def test_a_run_of_300_items_keeps_its_limits(
    run_eval: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The small sister of the soak run (tests/soak): 900 requests, 64 at once, at most 150 in half a second."""
    window, limit = 0.5, 150
    monkeypatch.setitem(SlidingWindow.__init__.__kwdefaults__, "window", window)
    left = recorded_departures(monkeypatch)
    rows = [(f"i{n}", f"Q{n}?", "x", 0) for n in range(300)]
    with running_models(lambda asked: says("x")) as server:
        begun = time.monotonic()
        ran = run_eval(
            server.url, rows, "--concurrency", "64", "--rpm-limit", str(limit), thresholds=("0.5", "0.75", "0.9")
        )
        took = time.monotonic() - begun
        assert len(server.asked) == 900
        assert server.most_at_once <= 64
    assert ran.code == 0 and len(ran.rows) == 900
    assert all(sum(start <= at < start + window for at in left[n : n + 400]) <= limit for n, start in enumerate(left))
    assert took >= (900 / limit - 1) * window  # how much longer is a matter of the machine: the soak run is strict
