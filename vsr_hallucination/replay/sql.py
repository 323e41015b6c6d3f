"""The durable store: SQLite by file, or PostgreSQL, through SQLAlchemy Core.

Outcomes have their own table, so an operator may also ask by SQL which rules found what. Several filters may share
one PostgreSQL database; SQLite serves the processes of one machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, Connection, make_url

from vsr_hallucination.replay.record import Outcome, Record, clean_text
from vsr_hallucination.replay.sql_rows import (
    RECORD_COLUMNS,
    SCHEMA_VERSION,
    outcome_from_row,
    outcome_row,
    record_from_row,
    record_row,
    tables,
)
from vsr_hallucination.replay.store import (
    Page,
    PageTooLarge,
    Query,
    RecordRejected,
    StoreConfigError,
    StoreUnavailable,
    search_needle,
)

_TIMEOUT = 10  # seconds a statement, a lock or a dead connection may hold the caller
_CHUNK = 1000  # records deleted in one transaction, so that pruning never locks others out for long
_CREATE_LOCK = (
    0x76737268  # advisory lock: two filters that start together create the schema one after the other
)


class SqlStore:
    """Records in a SQL database. Nothing is connected to before the first call, which also creates the schema."""

    def __init__(self, url: str) -> None:
        parsed = _checked(url)
        self._where = parsed.render_as_string(hide_password=True)
        self._metadata, self._version, self._records, self._outcomes = tables()
        self._engine = _engine(parsed)
        self._ready = False
        self._file = parsed.database if parsed.drivername.startswith("sqlite") else None
        self._postgres = self._engine.dialect.name == "postgresql"

    def put(self, records: tuple[Record, ...]) -> None:
        latest = {record.id: record for record in (r.storable() for r in records)}
        rows = [record_row(record) for record in latest.values()]
        outcome_rows = [
            outcome_row(record.id, position, outcome)
            for record in latest.values()
            for position, outcome in enumerate(record.outcomes)
        ]
        if not rows:
            return
        insert = (postgresql.insert if self._postgres else sqlite.insert)(self._records)
        changes = {
            column.name: insert.excluded[column.name]
            for column in self._records.columns
            if column.name != "id"
        }
        with self._transaction() as connection:
            connection.execute(insert.on_conflict_do_update(index_elements=["id"], set_=changes), rows)
            connection.execute(sa.delete(self._outcomes).where(self._outcomes.c.record_id.in_(list(latest))))
            if outcome_rows:
                connection.execute(sa.insert(self._outcomes), outcome_rows)

    def get(self, record_id: str) -> Record | None:
        with self._transaction() as connection:
            rows = self._read(
                connection, sa.select(self._records).where(self._records.c.id == clean_text(record_id)), True
            )
        return rows[0] if rows else None

    def query(self, query: Query) -> Page:
        where = self._where_clause(query)
        columns = self._records.c
        page = (
            sa.select(columns.id, columns.detail_chars)
            .where(*where)
            .order_by(columns.created_at.desc(), columns.id.desc())
            .limit(query.limit)
            .offset(query.offset)
        )
        with self._transaction() as connection:
            total = connection.execute(
                sa.select(sa.func.count()).select_from(self._records).where(*where)
            ).scalar_one()
            rows = connection.execute(page).all()
            if query.details and sum(row.detail_chars for row in rows) > query.max_chars:
                raise PageTooLarge("the details of this page are too large for one answer")
            select = sa.select(self._records) if query.details else sa.select(*self._summary_columns())
            ids = [row.id for row in rows]
            records = self._read(connection, select.where(columns.id.in_(ids)), query.details) if ids else []
        by_id = {record.id: record for record in records}
        return Page(tuple(by_id[record_id] for record_id in ids if record_id in by_id), total)

    def prune(self, *, max_records: int, max_age: float | None, now: float) -> int:
        columns = self._records.c
        removed = 0
        if max_age is not None:
            removed += self._prune(sa.select(columns.id).where(columns.created_at < now - max_age))
        newest_first = sa.select(columns.id).order_by(columns.created_at.desc(), columns.id.desc())
        return removed + self._prune(newest_first.offset(max_records))

    def close(self) -> None:
        self._engine.dispose()

    def _prune(self, candidates: sa.Select[Any]) -> int:
        removed = 0
        while True:
            with self._transaction() as connection:
                ids = connection.execute(candidates.limit(_CHUNK)).scalars().all()
                if ids:
                    connection.execute(sa.delete(self._records).where(self._records.c.id.in_(ids)))
            removed += len(ids)
            if len(ids) < _CHUNK:
                return removed

    def _summary_columns(self) -> list[sa.Column[Any]]:
        return [self._records.c[name] for name in (*RECORD_COLUMNS, "lifecycle")]

    def _where_clause(self, query: Query) -> list[sa.ColumnElement[bool]]:
        columns, clauses = self._records.c, []
        if query.decision is not None:
            clauses.append(columns.decision == clean_text(query.decision))
        if query.recipe is not None:
            clauses.append(columns.recipe == clean_text(query.recipe))
        if query.since is not None:
            clauses.append(columns.created_at >= query.since)
        if query.search is not None:
            clauses.append(columns.search.contains(search_needle(query.search), autoescape=True))
        if query.verdict is not None:
            rows = self._outcomes.c
            clauses.append(columns.id.in_(sa.select(rows.record_id).where(rows.verdict == query.verdict)))
        return clauses

    def _read(self, connection: Connection, select: sa.Select[Any], details: bool) -> list[Record]:
        rows = connection.execute(select).mappings().all()
        wanted = [c for c in self._outcomes.columns if details or c.name != "spans"]
        outcomes = sa.select(*wanted).where(self._outcomes.c.record_id.in_([row["id"] for row in rows]))
        by_record: dict[str, list[Outcome]] = {}
        for row in (
            connection.execute(outcomes.order_by(self._outcomes.c.position)).mappings() if rows else ()
        ):
            by_record.setdefault(row["record_id"], []).append(outcome_from_row(row))
        return [record_from_row(row, by_record.get(row["id"], [])) for row in rows]

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        try:
            self._follow_file()
            if not self._ready:
                self._create()
                self._ready = True
            with self._engine.begin() as connection:
                yield connection
        except (sa.exc.DataError, sa.exc.IntegrityError) as error:
            raise RecordRejected(f"{self._where} refused the data: {_cause(error)}") from error
        except sa.exc.SQLAlchemyError as error:
            self._ready = False  # the database may have been replaced: look at the schema again next time
            raise StoreUnavailable(f"{self._where}: {_cause(error)}") from error
        except (OverflowError, UnicodeError, ValueError, TypeError) as error:
            raise RecordRejected(f"the data cannot be stored: {type(error).__name__}") from error

    def _follow_file(self) -> None:
        """Lets go of a SQLite file that was removed: what is written to it, nobody finds again.

        One that was replaced is left alone: SQLite would replay the old file's log into it."""
        if self._ready and self._file is not None and not os.path.exists(self._file):
            self._engine.dispose()
            self._ready = False

    def _create(self) -> None:
        with self._engine.begin() as connection:
            if self._postgres:
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_CREATE_LOCK)))
            else:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            self._metadata.create_all(connection, checkfirst=True)
            found = connection.execute(sa.select(self._version.c.version)).scalars().all()
            if not found:
                connection.execute(sa.insert(self._version), {"version": SCHEMA_VERSION})
            elif found != [SCHEMA_VERSION]:
                raise StoreUnavailable(
                    f"{self._where}: tables vsr_replay_* are of version {found[0]}, this build writes version "
                    f"{SCHEMA_VERSION}; use another database, or move the old tables away"
                )


def _checked(url: str) -> URL:
    try:
        parsed = make_url(url)
    except sa.exc.ArgumentError:
        raise StoreConfigError(
            "the replay URL cannot be read; write sqlite:////path/to/file.db or postgresql://user@host:5432/database"
        ) from None
    if parsed.drivername in ("postgresql", "postgres", "postgresql+psycopg"):
        return parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername not in ("sqlite", "sqlite+pysqlite"):
        raise StoreConfigError(
            f"the replay store knows sqlite and postgresql, not {parsed.drivername}; "
            "write sqlite:////path/to/file.db or postgresql://user@host:5432/database"
        )
    if parsed.database in (None, "", ":memory:") or str(parsed.database).startswith("file:"):
        raise StoreConfigError(
            "the SQLite URL names no file; write sqlite:////path/to/file.db, or leave the URL out to keep records in "
            "memory"
        )
    return parsed


def _engine(url: URL) -> sa.Engine:
    if url.drivername == "postgresql+psycopg":
        arguments: dict[str, Any] = {
            "connect_timeout": 5,
            "tcp_user_timeout": _TIMEOUT * 1000,  # a server that vanished must not hold a thread for minutes
            "options": f"-c statement_timeout={_TIMEOUT * 1000} -c lock_timeout={_TIMEOUT * 1000}",
            "application_name": "vsr-hallucination",
        }
        try:
            return _create_engine(url, arguments)
        except ImportError as error:
            raise StoreConfigError(
                "PostgreSQL needs the psycopg driver; install vsr-hallucination[postgres]"
            ) from error
    engine = _create_engine(url, {"timeout": _TIMEOUT, "check_same_thread": False})
    sa.event.listen(engine, "connect", _sqlite_pragmas)
    return engine


def _create_engine(url: URL, arguments: dict[str, Any]) -> sa.Engine:
    return sa.create_engine(
        url,
        connect_args=arguments,
        hide_parameters=True,  # error messages never quote bodies
        pool_pre_ping=True,
        pool_size=4,
        max_overflow=2,
        pool_timeout=_TIMEOUT,
    )


def _sqlite_pragmas(connection: Any, _: object) -> None:
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _cause(error: Exception) -> str:
    """The driver's own first line: the rest may quote the statement."""
    first = str(getattr(error, "orig", None) or error).strip().split("\n", 1)[0]
    return f"{type(error).__name__}: {first[:200]}"
