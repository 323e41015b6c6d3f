"""Where records go: ours over the router's settings."""

from __future__ import annotations

from pathlib import Path

from vsr_hallucination.config import load
from vsr_hallucination.config.schema import ReplaySettings

FOLDER = Path(__file__).parents[1] / "configs"


def replay(name: str, **environment: str) -> ReplaySettings:
    return load(FOLDER / f"{name}.yaml", environment).config.replay


def test_records_stay_in_memory_by_default() -> None:
    assert replay("warning/rule_only") == ReplaySettings()


def test_our_block() -> None:
    assert replay("valid/replay_unlimited") == ReplaySettings(
        url="sqlite:////var/lib/vsr/replay.db", max_age=None, store_bodies=True, queue=50
    )


def test_the_routers_postgres_becomes_a_url_with_everything_quoted() -> None:
    assert replay("valid/replay_router_postgres", DB_PASSWORD="p@ss/w:rd") == ReplaySettings(
        url="postgresql+psycopg://router:p%40ss%2Fw%3Ard@db:6543/vsr?sslmode=require", max_age=None
    )


def test_our_block_wins_key_by_key() -> None:
    assert replay("valid/replay_ours_wins") == ReplaySettings(enabled=True, max_age=3600.0)


def test_our_url_replaces_a_store_we_do_not_write() -> None:
    assert replay("valid/replay_ours_instead_of_redis") == ReplaySettings(url="postgresql://vsr@db/vsr", max_age=60.0)


def test_a_store_we_do_not_write_leaves_records_in_memory_with_a_word_about_it() -> None:
    assert replay("warning/replay_redis").url is None
