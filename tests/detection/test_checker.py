"""A check from request to result, through real small models and through models that misbehave."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.tiny_models import copy_model, encoder, random_classifier
from vsr_hallucination.config.schema import DetectionSettings, DetectorSettings, ExplainerSettings, FactCheckSettings
from vsr_hallucination.detection.batching import Batcher, Floats, Hooks, Row
from vsr_hallucination.detection.checker import DetectorChecker, Prepared
from vsr_hallucination.detection.deadline import Deadline
from vsr_hallucination.detection.embedded import ModelMetadata
from vsr_hallucination.detection.factory import ModelError, check_once, make_checker, make_gate
from vsr_hallucination.detection.spans import SpanLimits
from vsr_hallucination.detection.text_threads import LARGE
from vsr_hallucination.detection.token_classification import TokenClassification
from vsr_hallucination.detection.types import (
    CheckRequest,
    DetectorIdentity,
    Grounding,
    NliLabel,
    Passage,
    Reason,
)

RECORD = "depot: K7\nmonth: May\ncrates: 412\ncost_eur: 9500"
QUESTION = "How many crates did depot K7 ship in May, and at what cost?"
GOOD = "Depot K7 shipped 412 crates in May at a cost of 9,500 euros."
BAD = "Depot K7 shipped 479 crates in May at a cost of 9,500 euros."
GROUNDING = Grounding((Passage(RECORD, "$.messages[2].content"),))


def request(answer: str = BAD, **options: Any) -> CheckRequest:
    return CheckRequest(
        **({"question": QUESTION, "grounding": GROUNDING, "answer": answer, "deadline": 20.0} | options)
    )


def said(answer: str = BAD, **options: Any) -> CheckRequest:
    """The same over a sentence: the model by hand compares tokens, and a record has other ones than an answer."""
    return request(answer, **({"grounding": Grounding((Passage(GOOD, "$.b"),))} | options))


@asynccontextmanager
async def by_hand(
    model: Callable[[Sequence[Row]], Sequence[Floats]] = copy_model, **settings: Any
) -> AsyncIterator[DetectorChecker]:
    options = DetectionSettings(**({"value_check": False} | settings))
    batcher = Batcher(model, name="detector", queue_limit=options.queue, batch_tokens=options.batch_tokens)
    backend = TokenClassification(
        identity=DetectorIdentity("hand", "token_classification"),
        metadata=ModelMetadata("detector", scripts=("Latin",)),
        encoder=encoder(96),
        batcher=batcher,
        supported=[0],
        labels=2,
        limits=SpanLimits(0.8, 0.6, 2),
        max_windows=options.max_windows,
    )
    made = DetectorChecker(backend, options)
    try:
        yield made
    finally:
        await made.aclose()


@asynccontextmanager
async def from_directory(directory: Path, explainer: Path | None = None, **settings: Any) -> AsyncIterator[Any]:
    explained = ExplainerSettings(model=str(explainer)) if explainer else None
    made = make_checker(DetectorSettings(model=str(directory)), explained, DetectionSettings(**settings))
    try:
        yield made
    finally:
        await made.aclose()


@pytest.mark.parametrize("value_check", [True, False])
async def test_the_shared_example_through_a_real_directory(detector_dir: Path, value_check: bool) -> None:
    async with from_directory(detector_dir, value_check=value_check) as made:
        await made.probe()
        good, bad = await made.check(request(GOOD)), await made.check(request(BAD))
    assert good.failure is None
    assert not good.detection.spans
    assert 0.9 < good.detection.clean_confidence < 1
    assert (good.detection.coverage.answer, good.detection.coverage.grounding) == (1.0, 1.0)
    (span,) = bad.detection.spans
    assert (span.start, span.end, span.text) == (17, 20, "479")
    assert (span.evidence.path, span.evidence.text) == ("$.messages[2].content", "crates: 412")
    assert RECORD[span.evidence.start : span.evidence.end] == "crates: 412"
    assert span.tier == ("value_check" if value_check else "model")


async def test_identity_says_which_weights_and_numbers_judged(detector_dir: Path) -> None:
    async with from_directory(detector_dir) as made:
        assert len(made.identity.weights_sha256) == 64
        assert made.identity.backend == "token_classification"
        assert made.identity.thresholds["threshold"] == 0.8


@pytest.mark.parametrize("form", ["４７９", "4\u200b79", "4\u00ad79", "٤٧٩"])
async def test_d9_the_span_covers_the_original_characters(detector_dir: Path, form: str) -> None:
    answer = f"Depot К7 shipped {form} crates."
    async with from_directory(detector_dir) as made:
        result = await made.check(request(answer))
    assert form in [s.text for s in result.detection.spans]
    assert all(answer[s.start : s.end] == s.text for s in result.detection.spans)


async def test_d4_offsets_are_code_points(detector_dir: Path) -> None:
    answer = "🧪🧪 Karadžić lab: 479 vials"
    grounding = Grounding((Passage("Karadžić lab: 412 vials 🧪", "$"),))
    async with from_directory(detector_dir) as made:
        result = await made.check(request(answer, question="", grounding=grounding))
    assert (17, 20, "479") in [(s.start, s.end, s.text) for s in result.detection.spans]


async def test_an_answer_in_a_script_the_detector_does_not_read_is_never_clean(detector_dir: Path) -> None:
    async with from_directory(detector_dir) as made:
        right = await made.check(request("K7仓库五月份发货412箱，成本9500欧元。"))
        wrong = await made.check(request("K7仓库五月份发货479箱，成本9500欧元。"))
    assert right.detection is None
    assert right.failure.reason is Reason.UNSUPPORTED_LANGUAGE
    assert [s.text for s in wrong.detection.spans] == ["479"]


async def test_evidence_in_such_a_script_neither(detector_dir: Path) -> None:
    grounding = Grounding((Passage("仓库五月份发货四百一十二箱，成本为九千五百欧元。", "$"),))
    async with from_directory(detector_dir) as made:
        result = await made.check(request("The depot shipped many crates.", grounding=grounding))
    assert result.failure.reason is Reason.UNSUPPORTED_LANGUAGE


async def test_explanations_are_asked_for_by_the_rule(detector_dir: Path, explainer_dir: Path) -> None:
    async with from_directory(detector_dir, explainer_dir) as made:
        await made.probe()
        plain, explained = await made.check(request()), await made.check(request(explain=True))
    assert plain.detection.spans[0].nli_label is None
    assert plain.detection.spans[0].explanation is None
    assert explained.detection.spans[0].nli_label in set(NliLabel)
    assert explained.detection.spans[0].severity is not None


async def test_an_empty_answer_holds_no_text() -> None:
    async with by_hand() as made:
        assert (await made.check(request(" \n"))).failure.reason is Reason.NO_TEXT  # type: ignore[union-attr]


def crash(rows: Sequence[Row]) -> Sequence[Floats]:
    raise MemoryError("boom")


def nan(rows: Sequence[Row]) -> Sequence[Floats]:
    return [np.full((len(r.ids), 2), np.nan, dtype=np.float32) for r in rows]


def beyond(rows: Sequence[Row]) -> Sequence[Floats]:
    return [np.full((len(r.ids), 2), 1.5, dtype=np.float32) for r in rows]


def misshapen(rows: Sequence[Row]) -> Sequence[Floats]:
    return [np.zeros((len(r.ids) - 1, 2), dtype=np.float32) for r in rows]


@pytest.mark.parametrize("model", [crash, nan, beyond, misshapen])
async def test_a_model_that_gives_nonsense_has_failed(model: Callable[[Sequence[Row]], Sequence[Floats]]) -> None:
    async with by_hand(model) as made:
        result = await made.check(request(GOOD))
        assert result.detection is None
        assert result.failure is not None
        assert result.failure.reason is Reason.DETECTOR_FAILED
        with pytest.raises(Exception, match=r"detector|hand"):
            await made.probe()


async def test_what_the_value_check_found_outranks_a_failed_model() -> None:
    async with by_hand(nan, value_check=True) as made:
        result = await made.check(request(BAD))
    assert result.detection is not None
    assert [s.text for s in result.detection.spans] == ["479"]
    assert result.failure is not None


async def test_a_hung_model_is_a_timeout_and_the_loop_stays_free() -> None:
    stuck = threading.Event()

    def hang(rows: Sequence[Row]) -> Sequence[Floats]:
        stuck.wait(20)
        return copy_model(rows)

    async with by_hand(hang) as made:
        started = time.monotonic()
        results = await asyncio.gather(*(made.check(request(GOOD, deadline=0.3)) for _ in range(5)))
        assert time.monotonic() - started < 5
        assert {r.failure.reason for r in results if r.failure} == {Reason.TIMEOUT}
        stuck.set()
        assert (await made.check(request(GOOD))).failure is None


async def test_more_checks_than_the_queue_holds_are_refused_at_once() -> None:
    go = threading.Event()

    def wait(rows: Sequence[Row]) -> Sequence[Floats]:
        go.wait(10)
        return copy_model(rows)

    dropped: list[str] = []
    async with by_hand(wait, queue=2) as made:
        made._hooks = Hooks(dropped=lambda name, why: dropped.append(why))
        running = [asyncio.create_task(made.check(request(GOOD))) for _ in range(2)]
        await asyncio.sleep(0)
        refused = await made.check(request(GOOD))
        assert refused.failure is not None
        assert refused.failure.reason is Reason.OVERLOADED
        assert dropped == ["overloaded"]
        go.set()
        assert all(result.failure is None for result in await asyncio.gather(*running))


async def test_a_departed_caller_is_let_go() -> None:
    go = threading.Event()

    def wait(rows: Sequence[Row]) -> Sequence[Floats]:
        go.wait(10)
        return copy_model(rows)

    async with by_hand(wait, queue=1) as made:
        task = asyncio.create_task(made.check(request(GOOD)))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go.set()
        assert (await made.check(request(GOOD))).failure is None


async def test_large_texts_hold_up_only_their_like(monkeypatch: pytest.MonkeyPatch) -> None:
    read_by: dict[int, str] = {}
    real = DetectorChecker._prepare

    def noted(self: DetectorChecker, asked: CheckRequest, deadline: Deadline) -> Prepared:
        read_by[len(asked.grounding.passages[0].text)] = threading.current_thread().name
        return real(self, asked, deadline)

    monkeypatch.setattr(DetectorChecker, "_prepare", noted)
    async with by_hand() as made:
        for size in (1000, LARGE // 2, 2 * LARGE):
            grounding = Grounding((Passage("crates " * (size // 7), "$"),))
            assert (await made.check(request(GOOD, grounding=grounding))).detection is not None
    names = [read_by[size] for size in sorted(read_by)]
    assert [name.rpartition("_")[0] for name in names] == ["detection-text", "detection-text", "detection-bulk"]


async def test_one_thread_reads_texts_for_each_model_call_at_once() -> None:
    seen: set[str] = set()

    def model(rows: Sequence[Row]) -> Sequence[Floats]:
        seen.update(thread.name for thread in threading.enumerate() if thread.name.startswith("detection-text"))
        return copy_model(rows)

    async with by_hand(model) as made:
        await asyncio.gather(*(made.check(request(GOOD)) for _ in range(8)))
        assert len(made._threads.of(0)._threads) == DetectionSettings().threads == len(seen)


async def test_long_texts_do_not_block_the_event_loop() -> None:
    evidence = "".join(f"The town of number {n} had {n % 97} boats and fish over the year.\n" for n in range(16_000))
    grounding = Grounding((Passage(evidence, "$.a"), Passage(GOOD, "$.b")))
    gaps: list[float] = []

    async def tick() -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.005)
            gaps.append(time.monotonic() - before - 0.005)

    async with by_hand(value_check=True, max_windows=32) as made:
        ticking = asyncio.create_task(tick())
        result = await made.check(request(GOOD, grounding=grounding, deadline=100.0))
        ticking.cancel()
    assert result.failure is None
    assert result.detection is not None
    assert not result.detection.spans
    assert 0 < result.detection.coverage.grounding < 0.5
    # Generous for a busy machine: one C call over the whole text would show as a single gap of its length.
    assert sorted(gaps)[int(len(gaps) * 0.98)] < 0.25


async def test_a_deadline_too_short_for_the_texts_is_a_timeout() -> None:
    grounding = Grounding((Passage("the town of boats " * 400_000, "$"),))
    async with by_hand() as made:
        started = time.monotonic()
        result = await made.check(request(GOOD, grounding=grounding, deadline=0.2))
        assert result.failure is not None
        assert result.failure.reason is Reason.TIMEOUT
        assert time.monotonic() - started < 4


async def test_an_answer_over_the_budget_keeps_its_partial_detection() -> None:
    async with by_hand(max_windows=4) as made:
        result = await made.check(said(BAD + " " + " ".join([GOOD] * 100)))
    assert result.failure is not None
    assert result.failure.reason is Reason.ANSWER_NOT_READ
    assert result.detection is not None
    assert [s.text for s in result.detection.spans] == ["479"]
    assert 0 < result.detection.coverage.answer < 1


async def test_lone_surrogates_and_odd_text_raise_nothing() -> None:
    grounding = Grounding((Passage("crates \ud800 412 \x00 {[", "$"),))
    async with by_hand(value_check=True) as made:
        for answer in ["crates \udfff 412", "\x00\x01", "\u202e\u200b", "🇩🇪" * 50, "}" * 500, "a\u0301" * 300]:
            result = await made.check(request(answer, question="\ud83d?", grounding=grounding))
            assert result.detection is not None or result.failure is not None
            json.dumps([s.text for s in result.detection.spans] if result.detection else []).encode()


def test_one_checker_serves_several_event_loops() -> None:
    found: list[Any] = []

    async def main() -> None:
        async with by_hand() as made:

            def other() -> None:
                found.append(asyncio.run(made.check(said())))

            thread = threading.Thread(target=other)
            thread.start()
            found.append(await made.check(said()))
            await asyncio.to_thread(thread.join, 20)

    asyncio.run(main())
    assert [[s.text for s in result.detection.spans] for result in found] == [["479"], ["479"]]


def test_check_once_needs_no_loop(detector_dir: Path) -> None:
    result = check_once(request(), DetectorSettings(model=str(detector_dir)), None, DetectionSettings())
    assert result.detection is not None
    assert [s.text for s in result.detection.spans] == ["479"]


def test_models_that_cannot_be_provisioned_say_where_what_and_what_to_do(tmp_path: Path, detector_dir: Path) -> None:
    settings = DetectionSettings()
    with pytest.raises(ModelError, match=r"nowhere: no such directory; .*mount"):
        make_checker(DetectorSettings(model=str(tmp_path / "nowhere")), None, settings)
    with pytest.raises(ModelError, match=r"config\.json"):
        make_checker(DetectorSettings(model=str(tmp_path)), None, settings)
    with pytest.raises(ModelError, match="configured as 'fact_check'"):
        make_gate(FactCheckSettings(model=str(detector_dir)), settings)
    strange = random_classifier(tmp_path / "strange", ["cat", "dog"], "fact_check")
    with pytest.raises(ModelError, match="cat"):
        make_gate(FactCheckSettings(model=str(strange)), settings)
    (strange / "model.safetensors").write_bytes(b"cut")
    with pytest.raises(ModelError, match="does not load"):
        make_gate(FactCheckSettings(model=str(strange)), settings)
