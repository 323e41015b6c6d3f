"""What a replay store must do. Stores are synchronous and thread-safe; ``writer`` keeps them off the event loop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from vsr_hallucination.replay.record import Record, clean_text


class StoreError(Exception):
    """A store could not do what was asked. Messages hold no record content and no password."""


class StoreUnavailable(StoreError):
    """The store is down, locked or slow: the same call may work later."""


class RecordRejected(StoreError):
    """The store works, but will never take one of these records: trying again is no use."""


class PageTooLarge(StoreError):
    """The records of a page hold more text than one answer may carry: ask for a smaller page."""


class StoreConfigError(ValueError):
    """The store's URL cannot be used. The message says what to write instead."""


@dataclass(frozen=True, slots=True)
class Query:
    """A page of records, newest first. All given filters must hold; ``search`` is a case-insensitive substring of

    the record's id, request id, model, path, decision or recipe, or of a rule's ``target_ref``. ``since`` is UNIX
    seconds (inclusive). Without ``details`` spans, evidence and bodies are not read.
    """

    limit: int = 20
    offset: int = 0
    decision: str | None = None
    recipe: str | None = None
    verdict: str | None = None
    search: str | None = None
    since: float | None = None
    details: bool = False
    max_chars: int = 8 << 20  # of details on one page, else PageTooLarge


@dataclass(frozen=True, slots=True)
class Page:
    """Some of the records a query fits, and how many it fits in all."""

    records: tuple[Record, ...]
    total: int


class Store(Protocol):
    """Holds records by id. Every call may raise ``StoreUnavailable``."""

    def put(self, records: tuple[Record, ...]) -> None:
        """Insert, or replace whole by id; all or none. ``RecordRejected`` where one of them can never be stored."""

    def get(self, record_id: str) -> Record | None: ...

    def query(self, query: Query) -> Page:
        """``PageTooLarge`` where details exceed ``query.max_chars``."""

    def prune(self, *, max_records: int, max_age: float | None, now: float) -> int:
        """Drop what is older than ``max_age`` seconds, then the oldest beyond ``max_records``; how many went."""

    def close(self) -> None: ...


def search_text(record: Record) -> str:
    """What ``Query.search`` looks through, in lower case."""
    names = (record.id, record.request_id, record.model, record.path, record.decision, record.recipe)
    return "\n".join([*filter(None, names), *(o.target_ref for o in record.outcomes)]).lower()


def search_needle(search: str) -> str:
    """The form of ``search`` that is looked for in ``search_text``."""
    return clean_text(search).lower()


def detail_chars(record: Record) -> int:
    """Code points that a record's details cost in memory or on a page, near enough: bodies by their length, and a

    fixed price a span and a passage, so that a request of thousands of passages is not taken for a small one.
    """
    spans = sum(len(outcome.spans) for outcome in record.outcomes)
    return record.body_chars + 256 * spans + 128 * (len(record.evidence) + len(record.unread_evidence))


def without_details(record: Record) -> Record:
    """The record as a list shows it: no spans, evidence or bodies."""
    outcomes = tuple(replace(outcome, spans=()) for outcome in record.outcomes)
    return replace(
        record, outcomes=outcomes, evidence=(), unread_evidence=(), request_body=None, response_body=None
    )
