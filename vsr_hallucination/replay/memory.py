"""The default store: a ring in memory, bounded in records and in text. Gone when the process ends."""

from __future__ import annotations

import threading

from vsr_hallucination.replay.record import Record
from vsr_hallucination.replay.store import (
    Page,
    PageTooLarge,
    Query,
    detail_chars,
    search_needle,
    search_text,
    without_details,
)


class MemoryStore:
    """Keeps the newest ``max_records``, and of those no more than ``max_chars`` code points of details."""

    def __init__(self, max_records: int = 10_000, max_chars: int = 64 << 20) -> None:
        self._max_records = max(1, max_records)
        self._max_chars = max_chars
        self._records: dict[str, Record] = {}  # in the order of first arrival
        self._chars = 0
        self._lock = threading.Lock()

    def put(self, records: tuple[Record, ...]) -> None:
        with self._lock:
            for record in records:
                stored = record.storable()
                previous = self._records.get(stored.id)
                self._chars += detail_chars(stored) - (detail_chars(previous) if previous is not None else 0)
                self._records[stored.id] = stored
            while len(self._records) > self._max_records or (
                self._chars > self._max_chars and len(self._records) > 1
            ):
                self._drop(next(iter(self._records)))

    def get(self, record_id: str) -> Record | None:
        with self._lock:
            return self._records.get(record_id)

    def query(self, query: Query) -> Page:
        with self._lock:
            records = list(self._records.values())
        found = [record for record in records if _fits(record, query)]
        found.sort(key=lambda record: (record.created_at, record.id), reverse=True)
        page = found[query.offset : query.offset + query.limit]
        if query.details:
            if sum(detail_chars(record) for record in page) > query.max_chars:
                raise PageTooLarge("the details of this page are too large for one answer")
        else:
            page = [without_details(record) for record in page]
        return Page(tuple(page), len(found))

    def prune(self, *, max_records: int, max_age: float | None, now: float) -> int:
        with self._lock:
            oldest_first = sorted(self._records.values(), key=lambda record: (record.created_at, record.id))
            gone = [r.id for r in oldest_first if max_age is not None and r.created_at < now - max_age]
            gone += [r.id for r in oldest_first[len(gone) : max(len(gone), len(oldest_first) - max_records)]]
            for record_id in gone:
                self._drop(record_id)
            return len(gone)

    def close(self) -> None:
        """Nothing to close; the records stay readable until the process ends."""

    def _drop(self, record_id: str) -> None:
        self._chars -= detail_chars(self._records.pop(record_id))


def _fits(record: Record, query: Query) -> bool:
    return (
        (query.decision is None or record.decision == query.decision)
        and (query.recipe is None or record.recipe == query.recipe)
        and (query.since is None or record.created_at >= query.since)
        and (query.verdict is None or any(outcome.verdict == query.verdict for outcome in record.outcomes))
        and (query.search is None or search_needle(query.search) in search_text(record))
    )
