from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest
import sqlalchemy as sa

from support.postgres import PASSWORD
from support.records import record
from vsr_hallucination.replay.sql import SqlStore
from vsr_hallucination.replay.store import Query, RecordRejected, StoreConfigError, StoreUnavailable


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("mysql://u:secret@h/db", "sqlite and postgresql"),
        ("not a url", "cannot be read"),
        ("sqlite://", "names no file"),
        ("sqlite:///:memory:", "names no file"),
    ],
)
def test_a_url_we_cannot_use_says_what_to_write(url: str, says: str) -> None:
    with pytest.raises(StoreConfigError, match=says) as caught:
        SqlStore(url)
    assert "sqlite:////path/to/file.db" in str(caught.value) and "secret" not in str(caught.value)


def test_records_survive_the_process(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/replay.db"
    first = SqlStore(url)
    first.put((record(),))
    first.close()
    assert SqlStore(url).get("r1") == record()


@pytest.mark.parametrize("how", ["removed", "removed with its log", "moved"])
def test_a_file_taken_away_is_begun_anew(how: str, tmp_path: Path) -> None:
    file, url = tmp_path / "replay.db", f"sqlite:///{tmp_path}/replay.db"
    store = SqlStore(url)
    store.put((record(),))
    if how == "moved":
        file.rename(tmp_path / "replay.old")
    else:
        file.unlink()
        if "log" in how:
            for beside in tmp_path.glob("replay.db-*"):
                beside.unlink()
    store.put((record("r2"),))
    store.put((record("r3"),))
    found = SqlStore(url)
    assert {r.id for r in found.query(Query()).records} == {"r2", "r3"}
    assert store.get("r3") is not None and store.get("r1") is None


def test_outcomes_are_rows_one_can_ask_by_sql(tmp_path: Path) -> None:
    store = SqlStore(f"sqlite:///{tmp_path}/replay.db")
    store.put((record(), record("r2")))
    with sqlite3.connect(tmp_path / "replay.db") as connection:
        rows = connection.execute(
            "SELECT verdict, count(*) FROM vsr_replay_outcomes GROUP BY verdict"
        ).fetchall()
    assert rows == [("detected", 2)]


def test_retention_takes_the_outcomes_along(tmp_path: Path) -> None:
    store = SqlStore(f"sqlite:///{tmp_path}/replay.db")
    store.put((record("r1", 1.0), record("r2", 2.0)))
    store.prune(max_records=1, max_age=None, now=3.0)
    with sqlite3.connect(tmp_path / "replay.db") as connection:
        assert connection.execute("SELECT record_id FROM vsr_replay_outcomes").fetchall() == [("r2",)]


def test_the_queries_use_the_indexes(tmp_path: Path) -> None:
    SqlStore(f"sqlite:///{tmp_path}/replay.db").put((record(),))
    with sqlite3.connect(tmp_path / "replay.db") as connection:

        def plan(sql: str) -> str:
            return " ".join(str(row) for row in connection.execute("EXPLAIN QUERY PLAN " + sql))

        newest = "SELECT id FROM vsr_replay_records {} ORDER BY created_at DESC, id DESC LIMIT 20"
        assert "vsr_replay_records_created" in plan(newest.format(""))
        assert "vsr_replay_records_decision" in plan(newest.format("WHERE decision = 'x'"))
        assert "vsr_replay_records_recipe" in plan(newest.format("WHERE recipe = 'x' AND created_at > 1"))
        assert "vsr_replay_outcomes_verdict" in plan(
            "SELECT record_id FROM vsr_replay_outcomes WHERE verdict = 'x'"
        )


def test_a_file_that_cannot_be_opened_is_unavailable_and_recovers(tmp_path: Path) -> None:
    folder = tmp_path / "later"
    store = SqlStore(f"sqlite:///{folder}/replay.db")
    with pytest.raises(StoreUnavailable, match="unable to open"):
        store.put((record(),))
    folder.mkdir()
    store.put((record(),))
    assert store.get("r1") == record()


def test_tables_of_another_version_are_left_alone(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/replay.db"
    SqlStore(url).put((record(),))
    with sqlite3.connect(tmp_path / "replay.db") as connection:
        connection.execute("UPDATE vsr_replay_schema SET version = 99")
    with pytest.raises(StoreUnavailable, match="version 99"):
        SqlStore(url).get("r1")


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_many_stores_create_the_schema_at_once(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    sqlite_url = f"sqlite:///{tmp_path}/replay.db"
    url = sqlite_url if kind == "sqlite" else request.getfixturevalue("postgres_url")
    stores = [SqlStore(url) for _ in range(3)]
    failures: list[Exception] = []

    def put(store: SqlStore, name: str) -> None:
        try:
            store.put((record(name),))
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=put, args=(store, f"r{n}")) for n, store in enumerate(stores)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert stores[0].query(Query()).total == 3
    for store in stores:
        store.close()


def test_a_refused_record_is_told_apart_from_a_store_that_is_down(postgres_url: str) -> None:
    store = SqlStore(postgres_url)
    with pytest.raises(RecordRejected) as caught:
        store.put((record(status=10**30, response_body="what the model said"),))
    for error in (caught.value, caught.value.__cause__):
        assert "what the model said" not in str(error) and PASSWORD not in str(error)
    assert store.query(Query()).total == 0
    store.close()


def test_no_password_in_the_error_of_a_server_that_is_gone() -> None:
    store = SqlStore("postgresql://replay:not-for-logs@127.0.0.1:1/replay")
    with pytest.raises(StoreUnavailable) as caught:
        store.get("r1")
    text = f"{caught.value!s} {caught.value!r}"
    assert "not-for-logs" not in text and "127.0.0.1:1" in text


def test_postgres_keeps_verdicts_queryable(postgres_url: str) -> None:
    store = SqlStore(postgres_url)
    store.put((record(),))
    engine = sa.create_engine(postgres_url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.connect() as connection:
        rows = connection.execute(sa.text("SELECT target_ref, verdict FROM vsr_replay_outcomes")).all()
    assert [tuple(row) for row in rows] == [("hallucination:ungrounded_claims", "detected")]
    engine.dispose()
    store.close()
