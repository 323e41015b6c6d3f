from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from support.postgres import PostgresServer, postgres_server
from vsr_hallucination.replay.memory import MemoryStore
from vsr_hallucination.replay.sql import SqlStore
from vsr_hallucination.replay.store import Store


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    with postgres_server() as server:
        yield server


@pytest.fixture
def postgres_url(postgres: PostgresServer) -> str:
    """A database without tables of ours."""
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS vsr_replay_outcomes, vsr_replay_records, vsr_replay_schema")
    return postgres.url()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "memory":
        made: Store = MemoryStore()
    elif request.param == "sqlite":
        made = SqlStore(f"sqlite:///{tmp_path}/replay.db")
    else:
        made = SqlStore(request.getfixturevalue("postgres_url"))
    yield made
    made.close()
