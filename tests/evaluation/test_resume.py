"""Case E6: killed, interrupted and finished runs, resumed; nothing is asked twice, nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from support.eval_runs import Run
from support.model_server import Answer, Asked, csv_of, error, in_turn, limited, running_models, says, stall
from vsr_hallucination.evaluation.runlog import RunLog, RunLogError
from vsr_hallucination.evaluation.scoring import Item, Outcome, State

ROWS = [("same", "Question 0?", "x", 0), ("same", "Question 1?", "x", 0)]
ROWS += [(f"i{n}", f"Question {n}?", "x", 0) for n in range(2, 60)]
THREE = ("0.5", "0.75", "0.9")


def started(data: Path, out: Path, url: str, *more: str) -> subprocess.Popen[str]:
    words = [
        "eval",
        "model",
        "--data",
        str(data),
        "--base-url",
        url,
        "--model",
        "m",
        "--out",
        str(out),
        "--thresholds",
    ]
    return subprocess.Popen(
        [sys.executable, "-m", "vsr_hallucination", *words, *THREE, *more],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def stalls_after(count: int) -> tuple[Callable[[Asked], Answer], threading.Event]:
    """Answers ``count`` requests, then stalls until the event is set."""
    seen: list[Asked] = []
    opened = threading.Event()

    def script(asked: Asked) -> Answer:
        seen.append(asked)
        return says("x") if len(seen) <= count or opened.is_set() else stall()

    return script, opened


def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_e6_killed_after_25_and_resumed(tmp_path: Path, run_eval: Run) -> None:
    script, opened = stalls_after(25)
    (tmp_path / "data.csv").write_text(csv_of(ROWS), "utf-8")
    with running_models(script) as server:
        process = started(tmp_path / "data.csv", tmp_path / "out", server.url, "--concurrency", "1")
        until(lambda: len(server.asked) == 26)
        process.kill()
        process.wait()
        log = tmp_path / "out" / "run.jsonl"
        assert len(log.read_bytes().splitlines()) == 1 + 25
        with log.open("ab") as file:  # as if the kill had cut a line in half
            file.write(b'{"row": 8, "t": 0.75, "id": "i8", "sta')
        opened.set()
        ran = run_eval(server.url, ROWS, "--resume", thresholds=THREE)
        asked = Counter(server.questions())
    assert ran.code == 0
    assert len(ran.rows) == len({(row["row"], row["t"]) for row in ran.rows}) == 180
    assert len(asked) == 180
    # Only the question that had no answer yet when the process died was asked again.
    assert [key for key, count in asked.items() if count > 1] == [("Question 8?", 0.75)]
    assert ran.metrics["complete"]
    assert "told apart by the column row" in ran.stderr
    assert [row["id"] for row in ran.rows if row["row"] in ("0", "1")] == ["same"] * 6


def test_e6_interrupted_while_it_waits_to_retry(tmp_path: Path, run_eval: Run) -> None:
    script = in_turn(limited("50s"))
    (tmp_path / "data.csv").write_text(csv_of(ROWS[:3]), "utf-8")

    def first_only(asked: Asked) -> Answer:
        return says("x") if asked.question == "Question 0?" else script(asked)

    with running_models(first_only) as server:
        process = started(tmp_path / "data.csv", tmp_path / "out", server.url, "--concurrency", "2")
        until(lambda: len(server.asked) >= 5)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
        assert process.returncode == 130
        assert "PARTIAL: 3 of 9" in said and "--resume" in said
        partial = json.loads((tmp_path / "out" / "metrics.json").read_text("utf-8"))
        assert (partial["complete"], partial["partial"], partial["settled"], partial["total"]) == (
            False,
            True,
            3,
            9,
        )
        assert "PARTIAL" in (tmp_path / "out" / "report.md").read_text("utf-8")
        server.script = in_turn(says("x"))
        before = len(server.asked)
        ran = run_eval(server.url, ROWS[:3], "--resume", thresholds=THREE)
        assert len(server.asked) - before == 6
    assert ran.code == 0 and ran.metrics["complete"]


def test_e6_a_finished_run_needs_no_call(run_eval: Run) -> None:
    with running_models(in_turn(says("x"))) as server:
        first = run_eval(server.url, ROWS[:5])
        asked = len(server.asked)
        again = run_eval(server.url, ROWS[:5], "--resume")
        assert len(server.asked) == asked == 5
    assert (first.code, again.code) == (0, 0)
    assert first.rows == again.rows


@pytest.mark.parametrize(
    ("more", "named"),
    [
        (("--model", "n"), 'model was "m", is now "n"'),
        (("--seed", "5"), "seed was 1234, is now 5"),
        (("--thresholds", "0.5", "0.9"), "thresholds was [0.5], is now [0.5, 0.9]"),
        (("--judge", "llm"), 'judge was "exact", is now "llm"'),
        (("--max-tokens", "64"), "max_tokens was 128, is now 64"),
    ],
)
def test_e6_changed_settings_are_refused_by_name(run_eval: Run, more: tuple[str, ...], named: str) -> None:
    with running_models(in_turn(says("x"))) as server:
        run_eval(server.url, ROWS[:2])
        ran = run_eval(server.url, ROWS[:2], "--resume", *more)
        assert len(server.asked) == 2
    assert ran.code == 2
    assert named in ran.stderr


def test_e6_changed_questions_or_prompt_are_refused(run_eval: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with running_models(in_turn(says("x"))) as server:
        run_eval(server.url, ROWS[:2])
        assert "data was" in run_eval(server.url, ROWS[1:3], "--resume").stderr
        monkeypatch.setattr("vsr_hallucination.evaluation.prompts.JUDGE_SYSTEM", "other words")
        assert "prompt was" in run_eval(server.url, ROWS[:2], "--resume").stderr


def test_an_earlier_run_is_not_written_over_unasked(run_eval: Run) -> None:
    with running_models(in_turn(says("x"))) as server:
        run_eval(server.url, ROWS[:2])
        refused = run_eval(server.url, ROWS[:2])
        assert refused.code == 2 and "--resume" in refused.stderr and "--overwrite" in refused.stderr
        assert run_eval(server.url, ROWS[:3], "--overwrite").code == 0
        assert len(server.asked) == 5


def test_what_failed_on_the_way_is_asked_again_only_on_request(run_eval: Run) -> None:
    down = error(500, headers=[("retry-after", "0")])
    with running_models(lambda asked: down if asked.question == "Question 2?" else says("x")) as server:
        first = run_eval(server.url, ROWS[:4], "--max-retries", "0")
        server.script = in_turn(says("x"))
        still = run_eval(server.url, ROWS[:4], "--max-retries", "0", "--resume")
        asked = len(server.asked)
        mended = run_eval(server.url, ROWS[:4], "--resume", "--retry-unavailable")
        assert (asked, len(server.asked)) == (4, 5)
    assert (first.code, still.code, mended.code) == (3, 3, 0)
    assert len(mended.rows) == 4


def test_an_answer_waits_for_its_judge_and_is_not_asked_for_again(run_eval: Run) -> None:
    down = error(500, headers=[("retry-after", "0")])
    with running_models(lambda asked: down if asked.t is None else says("y")) as server:
        first = run_eval(server.url, ROWS[:2], "--judge", "llm", "--max-retries", "0")
        server.script = lambda asked: says("YES" if asked.t is None else "z")
        mended = run_eval(
            server.url, ROWS[:2], "--judge", "llm", "--max-retries", "0", "--resume", "--retry-unavailable"
        )
        assert sum(asked.t is not None for asked in server.asked) == 2
    assert (first.code, mended.code) == (3, 0)
    assert [(row["pred"], row["state"]) for row in mended.rows] == [("y", "right"), ("y", "right")]


ITEMS = (Item(0, "a", "q", "g", False), Item(1, "b", "q", "g", False))


def test_a_log_that_is_broken_in_the_middle_says_where(tmp_path: Path) -> None:
    log = RunLog(tmp_path, ITEMS, (0.5,))
    log.open({"model": "m"}, resume=False, overwrite=False)
    log.put(Outcome(0, 0, State.RIGHT, "\ud800 odd"))
    log.close()
    with (tmp_path / "run.jsonl").open("ab") as file:
        file.write(b"what?\n")
    with pytest.raises(RunLogError, match=r"run\.jsonl:3: not a line"):
        RunLog(tmp_path, ITEMS, (0.5,)).open({"model": "m"}, resume=True, overwrite=False)


def test_two_processes_never_write_one_log(tmp_path: Path) -> None:
    log = RunLog(tmp_path, ITEMS, (0.5,))
    log.open({"model": "m"}, resume=False, overwrite=False)
    with pytest.raises(RunLogError, match="another run"):
        RunLog(tmp_path, ITEMS, (0.5,)).open({"model": "m"}, resume=True, overwrite=False)
    log.close()


def test_a_log_holds_no_more_in_memory_than_an_offset_an_outcome(tmp_path: Path) -> None:
    import tracemalloc

    items = tuple(Item(n, str(n), "q", "g", False) for n in range(5000))
    log = RunLog(tmp_path, items, (0.5,))
    log.open({}, resume=False, overwrite=False)
    tracemalloc.start()
    try:
        for n in range(5000):
            log.put(Outcome(n, 0, State.RIGHT, "x" * 200))
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 100_000
    assert sum(1 for _ in log.outcomes()) == 5000
    log.close()
    assert os.path.getsize(log.path) > 1_000_000
