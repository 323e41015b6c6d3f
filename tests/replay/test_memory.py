from __future__ import annotations

from support.records import record
from vsr_hallucination.replay.memory import MemoryStore
from vsr_hallucination.replay.store import Query


def test_the_ring_forgets_the_oldest() -> None:
    store = MemoryStore(max_records=3)
    store.put(tuple(record(f"r{n}", float(n)) for n in range(5)))
    assert [r.id for r in store.query(Query()).records] == ["r4", "r3", "r2"]


def test_the_ring_is_bounded_in_text_too() -> None:
    store = MemoryStore(max_records=100, max_chars=1000)
    store.put(tuple(record(f"r{n}", float(n), response_body="x" * 400) for n in range(5)))
    assert [r.id for r in store.query(Query()).records] == ["r4", "r3"]
    store.put((record("r4", 4.0), record("r3", 3.0)))  # the same records without bodies make room again
    store.put(tuple(record(f"s{n}", 9.0 + n, response_body="x" * 400) for n in range(2)))
    assert store.query(Query()).total == 4
