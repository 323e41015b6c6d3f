"""Where replay records go: ``filter.replay`` over Semantic Router's ``router_replay`` settings."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import quote

from vsr_hallucination.config.cursor import Cursor, Fields
from vsr_hallucination.config.problems import words
from vsr_hallucination.config.schema import ReplaySettings

_OURS = frozenset({"enabled", "url", "max_records", "max_age", "store_bodies", "queue"})
_UPSTREAM = words(
    """
    enabled store_backend ttl_seconds async_writes max_records capture_request_body
    capture_response_body max_body_bytes redis postgres milvus qdrant sqlite
    """
)
_POSTGRES = words(
    """
    host port database user password ssl_mode table_name max_open_conns max_idle_conns conn_max_lifetime
    """
)
_YEARS = 10 * 365 * 86400.0
_UNLIMITED = ("unlimited", "none", "never")
_SQL = re.compile(r"(sqlite(\+pysqlite)?|postgres(ql)?|postgresql\+psycopg)://")
_SQLITE_MEMORY = re.compile(r"sqlite(\+pysqlite)?://(/?|/:memory:)(\?.*)?\Z")


def read_replay(services: Fields, stores: Fields, ours: Cursor | None) -> ReplaySettings:
    """``filter.replay`` wins key by key; ``global.services`` (else ``global.stores``) fills the rest."""
    upstream = services.get("router_replay") or stores.get("router_replay")
    settings = ReplaySettings()
    own = ours.fields(_OURS, owned=True) if ours is not None else None
    if upstream is not None:
        settings = _upstream(upstream.fields(_UPSTREAM), settings, own_url=own is not None and "url" in own)
    if own is None:
        return settings
    return replace(
        settings,
        enabled=own.flag("enabled", settings.enabled),
        url=_url(own, settings.url),
        max_records=own.integer("max_records", settings.max_records, 1, 1_000_000_000),
        max_age=_age(own, settings.max_age),
        store_bodies=own.flag("store_bodies", settings.store_bodies),
        queue=own.integer("queue", settings.queue, 1, 1_000_000),
    )


def _upstream(fields: Fields, base: ReplaySettings, *, own_url: bool) -> ReplaySettings:
    """What of the router's own settings has a counterpart here: memory and postgres stores, count and age."""
    ttl = fields.number("ttl_seconds", None, 0, _YEARS)
    settings = replace(
        base,
        enabled=fields.flag("enabled", base.enabled),
        max_records=fields.integer("max_records", base.max_records, 1, 1_000_000_000),
        max_age=base.max_age if ttl is None else (ttl or None),  # upstream: 0 keeps records for ever
    )
    backend = fields.text("store_backend", "memory").lower()
    if own_url or not settings.enabled or backend == "memory":
        return settings
    if backend == "postgres" and "postgres" not in fields:
        fields.place("store_backend").warn(
            "is postgres, and the file names no database (the router fills in its own): records stay in memory",
            "set filter.replay.url, or add `postgres` with host, user and database",
        )
        return settings
    if backend == "postgres":
        return replace(settings, url=_postgres(fields))
    fields.place("store_backend").warn(
        f"`{backend[:40]}` stores are not written by this filter: its records stay in memory",
        "set filter.replay.url to a postgresql:// or sqlite:// URL",
    )
    return settings


def _postgres(fields: Fields) -> str | None:
    block = fields.sub("postgres", _POSTGRES)
    host, database = block.text("host", "127.0.0.1"), block.text("database", None)
    user, password = block.secret("user"), block.secret("password")
    port = block.integer("port", 5432, 1, 65535)
    mode = block.text("ssl_mode", None)
    if database is None:
        block.place("database").error("is missing", "name the database, or set filter.replay.url")
        return None
    who = quote(user, safe="") if user else ""
    who += f":{quote(password, safe='')}" if user and password else ""
    query = f"?sslmode={quote(mode, safe='')}" if mode else ""
    host = f"[{host}]" if ":" in host else host
    return f"postgresql+psycopg://{who}{'@' if who else ''}{host}:{port}/{quote(database, safe='')}{query}"


def _url(fields: Fields, default: str | None) -> str | None:
    """A SQLAlchemy URL; never echoed, since it may hold a password. ``memory`` stands for the memory ring."""
    text = fields.secret("url")
    if text is None:
        return default
    if text == "memory":
        return None
    if _SQLITE_MEMORY.match(text):
        fields.place("url").error("is a SQLite URL without a file", "write sqlite:////path/file.db, or memory")
    elif not _SQL.match(text):
        fields.place("url").error(
            "is no URL of a store this filter writes",
            "write sqlite:////path/file.db, postgresql://user@host:5432/database, or memory",
        )
    return text


def _age(fields: Fields, default: float | None) -> float | None:
    place = fields.get("max_age")
    if place is not None and getattr(place.node, "text", "").lower() in _UNLIMITED:
        return None
    return fields.duration("max_age", default, 1.0, _YEARS)
