from __future__ import annotations

from support.records import record
from vsr_hallucination.replay.memory import MemoryStore
from vsr_hallucination.replay.record import Record
from vsr_hallucination.replay.store import Query


def bare(record_id: str, created_at: float, **fields: object) -> Record:
    return record(record_id, created_at, outcomes=(), evidence=(), unread_evidence=(), **fields)


def test_the_ring_forgets_the_oldest() -> None:
    store = MemoryStore(max_records=3)
    store.put(tuple(record(f"r{n}", float(n)) for n in range(5)))
    assert [r.id for r in store.query(Query()).records] == ["r4", "r3", "r2"]


def test_the_ring_is_bounded_in_text_too() -> None:
    store = MemoryStore(max_records=100, max_chars=1000)
    store.put(tuple(bare(f"r{n}", float(n), response_body="x" * 400) for n in range(5)))
    assert [r.id for r in store.query(Query()).records] == ["r4", "r3"]
    store.put((bare("r4", 4.0), bare("r3", 3.0)))  # the same records without bodies make room again
    store.put(tuple(bare(f"s{n}", 9.0 + n, response_body="x" * 400) for n in range(2)))
    assert store.query(Query()).total == 4


def test_many_passages_are_not_taken_for_nothing() -> None:
    store = MemoryStore(max_records=100, max_chars=100_000)
    many = tuple((f"$.messages[{n}].content", "tool", "tool") for n in range(500))
    for n in range(10):
        store.put((record(f"r{n}", float(n), evidence=many),))
    assert store.query(Query()).total == 1
