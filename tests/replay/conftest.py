from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from support.postgres import PostgresServer, postgres_server
from vsr_hallucination.replay.memory import MemoryStore
from vsr_hallucination.replay.sql import SqlStore
from vsr_hallucination.replay.store import Store


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    with postgres_server() as server:
        yield server


def fresh_database(server: PostgresServer, name: str) -> str:
    engine = sa.create_engine(
        server.url().replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT"
    )
    with engine.connect() as connection:
        connection.execute(sa.text(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'))
        connection.execute(sa.text(f'CREATE DATABASE "{name}"'))
    engine.dispose()
    return server.url(name)


@pytest.fixture
def postgres_url(postgres: PostgresServer) -> str:
    return fresh_database(postgres, "replay")


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
