"""Every store keeps the same promises: memory, SQLite by file and a real PostgreSQL server."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from support.records import outcome, record
from vsr_hallucination.replay.record import Lifecycle, Record
from vsr_hallucination.replay.store import PageTooLarge, Query, Store


def ids(store: Store, **filters: object) -> list[str]:
    return [r.id for r in store.query(Query(**filters)).records]  # type: ignore[arg-type]


def test_a_record_comes_back_whole(store: Store) -> None:
    original = record(request_body='{"a":1}', response_body="Estación 🧪", streaming=True)
    store.put((original,))
    assert store.get("r1") == original
    assert store.get("nobody") is None


def test_a_later_record_replaces_the_earlier_and_its_outcomes(store: Store) -> None:
    store.put((record(lifecycle=Lifecycle.IN_PROGRESS, outcomes=(), completed_at=None),))
    two = (outcome(), outcome("unavailable", target_ref="hallucination:second", reason="timeout", score=None))
    store.put((record(outcomes=two),))
    store.put((record(outcomes=two[:1]),))
    found = store.get("r1")
    assert found is not None and found.lifecycle is Lifecycle.COMPLETED
    assert [o.target_ref for o in found.outcomes] == ["hallucination:ungrounded_claims"]
    assert store.query(Query()).total == 1
    assert ids(store, verdict="unavailable") == []


def test_the_last_of_one_id_in_a_batch_wins(store: Store) -> None:
    store.put((record(lifecycle=Lifecycle.IN_PROGRESS, outcomes=()), record()))
    assert store.get("r1") == record()


def test_pages_are_newest_first_and_count_all(store: Store) -> None:
    store.put(tuple(record(f"r{n}", created_at=1000.0 + n // 2) for n in range(7)))  # pairs of equal times
    everything = ids(store, limit=100)
    assert everything == ["r6", "r5", "r4", "r3", "r2", "r1", "r0"]
    page = store.query(Query(limit=3, offset=2))
    assert ([r.id for r in page.records], page.total) == (everything[2:5], 7)
    assert store.query(Query(limit=3, offset=50)).records == ()


def test_filters_hold_together(store: Store) -> None:
    store.put(
        (
            record("a", 1.0, decision="strict", recipe="default"),
            record("b", 2.0, decision="strict", recipe="legal", outcomes=(outcome("not_detected"),)),
            record(
                "c",
                3.0,
                decision=None,
                recipe="legal",
                outcomes=(outcome("not_detected"), outcome("unavailable")),
            ),
            record("d", 4.0, decision=None, recipe="legal", outcomes=()),
        )
    )
    assert ids(store, decision="strict") == ["b", "a"]
    assert ids(store, recipe="legal") == ["d", "c", "b"]
    assert ids(store, verdict="not_detected") == ["c", "b"]
    assert ids(store, verdict="not_detected", decision="strict") == ["b"]
    assert ids(store, since=3.0) == ["d", "c"]
    assert store.query(Query(verdict="unavailable", limit=1)).total == 1


def test_search_is_a_plain_substring_whatever_the_case(store: Store) -> None:
    store.put(
        (
            record(
                "a1",
                model="Qwen/Qwen3-8B",
                request_id="X-77",
                outcomes=(outcome(target_ref="hallucination:Zahl"),),
            ),
            record("b2", model="100%_sure", request_id=None),
            record("c3", model="ÉCOLE", request_id=None),
        )
    )
    assert ids(store, search="qwen3") == ["a1"]
    assert ids(store, search="x-77") == ["a1"]
    assert ids(store, search="zahl") == ["a1"]
    assert ids(store, search="0%_s") == ["b2"]
    assert ids(store, search="%") == ["b2"]
    assert ids(store, search="q_en3") == []
    assert ids(store, search="école") == ["c3"]
    assert ids(store, search="' OR 1=1 --") == []
    assert ids(store, search="\x00") == []


def test_a_page_without_details_reads_no_spans_evidence_or_bodies(store: Store) -> None:
    store.put((record(request_body="question", response_body="answer"),))
    brief = store.query(Query()).records[0]
    assert brief.outcomes[0].spans == () and brief.outcomes[0].score == 0.97
    assert brief.request_body is None and brief.response_body is None and brief.evidence == ()
    full = store.query(Query(details=True)).records[0]
    assert full == record(request_body="question", response_body="answer")


def test_a_page_of_details_is_bounded(store: Store) -> None:
    store.put(tuple(record(f"r{n}", response_body="x" * 600) for n in range(3)))
    with pytest.raises(PageTooLarge):
        store.query(Query(details=True, max_chars=1800))
    assert len(store.query(Query(details=True, max_chars=20_000)).records) == 3
    assert len(store.query(Query(max_chars=0)).records) == 3


def test_what_a_client_sends_cannot_break_a_store(store: Store) -> None:
    hostile = record(
        model="m\x00\ud800" + "x" * 100_000,
        path="/\x00" + "p" * 100_000,
        decision="d" * 100_000,
        recipe="r" * 100_000,
        request_id="'; DROP TABLE vsr_replay_records; --",
        response_body="\ud83d\x00",
        outcomes=(
            outcome(score=math.nan, unsupported_score=math.inf, target_ref="hallucination:" + "n" * 100_000),
        ),
    )
    store.put((hostile, record("r2")))
    found = store.get("r1")
    assert found is not None and found.response_body == "\ufffd\ufffd" and found.outcomes[0].score is None
    assert store.query(Query()).total == 2
    assert store.get("no\x00\ud800") is None
    assert ids(store, decision="\x00", recipe="\ud800", search="\ud800") == []


def test_retention_drops_the_old_then_the_many(store: Store) -> None:
    store.put(tuple(record(f"r{n}", created_at=100.0 + n) for n in range(10)))
    assert store.prune(max_records=100, max_age=50.0, now=155.0) == 5
    assert ids(store) == ["r9", "r8", "r7", "r6", "r5"]
    assert store.prune(max_records=2, max_age=50.0, now=155.0) == 3
    assert ids(store) == ["r9", "r8"]
    assert ids(store, verdict="detected") == ["r9", "r8"]
    assert store.prune(max_records=2, max_age=None, now=1e12) == 0


def test_retention_takes_more_than_one_chunk(store: Store) -> None:
    plain = record(outcomes=(), evidence=(), unread_evidence=())
    store.put(tuple(replace(plain, id=f"r{n}", created_at=float(n)) for n in range(2300)))
    assert store.prune(max_records=100, max_age=None, now=0.0) == 2200
    assert store.query(Query()).total == 100


def test_in_progress_records_are_listed_without_outcomes(store: Store) -> None:
    begun = Record(id="r1", created_at=5.0, recipe="default")
    store.put((begun,))
    assert store.query(Query()).records == (begun,)
