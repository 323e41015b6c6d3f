"""The replay records over HTTP."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from support.admin import admin, stored
from support.records import ANSWER, outcome, record
from vsr_hallucination.replay.sql import SqlStore
from vsr_hallucination.replay.writer import ReplayWriter, WriterSettings


def strict(text: str) -> object:
    def refuse(name: str) -> None:
        raise ValueError(name)

    return json.loads(text, parse_constant=refuse)


async def test_a_list_pages_through_everything() -> None:
    async with stored(*(record(f"r{n:02}", float(n)) for n in range(45))) as reader, admin(reader) as client:
        first = (await client.get("/v1/router_replay")).json()
        assert {k: v for k, v in first.items() if k != "data"} == {
            "object": "router_replay.list",
            "count": 20,
            "total": 45,
            "limit": 20,
            "offset": 0,
            "has_more": True,
            "next_offset": 20,
        }
        seen, offset = [], 0
        while offset is not None:
            page = (await client.get("/v1/router_replay", params={"offset": offset})).json()
            seen += [r["id"] for r in page["data"]]
            offset = page["next_offset"]
        assert seen == [f"r{n:02}" for n in reversed(range(45))]
        beyond = (await client.get("/v1/router_replay/?offset=999")).json()
        assert (beyond["count"], beyond["has_more"], beyond["next_offset"], beyond["data"]) == (
            0,
            False,
            None,
            [],
        )


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"verdict": "detected"}, ["a"]),
        ({"verdict": "unavailable", "recipe": "legal"}, ["b"]),
        ({"decision": "strict"}, ["b"]),
        ({"search": "REQ-A"}, ["a"]),
        ({"since": "1970-01-01T00:33:20Z"}, ["b"]),
        ({"since": "2000"}, ["b"]),
        ({"since": "1970-01-01"}, ["b", "a"]),
        ({"limit": "1"}, ["b"]),
    ],
)
async def test_filters(params: dict[str, str], expected: list[str]) -> None:
    other = record("b", 2000.0, decision="strict", recipe="legal", outcomes=(outcome("unavailable"),))
    async with stored(record("a", 1000.0), other) as reader, admin(reader) as client:
        answer = await client.get("/v1/router_replay", params=params)
        assert [r["id"] for r in answer.json()["data"]] == expected


BAD = (
    ("limit=0", "limit"),
    ("limit=101", "limit"),
    ("limit=-1", "limit"),
    ("limit=ten", "limit"),
    ("limit=%D9%A1", "limit"),
    ("limit=5&limit=6", "limit"),
    ("offset=-1", "offset"),
    ("offset=99999999999999999999", "offset"),
    ("verdict=clean", "verdict"),
    ("verdict=", "verdict"),
    ("since=yesterday", "since"),
    ("since=nan", "since"),
    ("since=1e300", "since"),
    ("showDetails=maybe", "showDetails"),
    ("search=" + "x" * 300, "search"),
    ("decision=", "decision"),
    ("verdcit=detected", "verdcit"),
)


async def test_bad_parameters_are_named() -> None:
    async with stored() as reader, admin(reader) as client:
        for query, names in BAD:
            answer = await client.get(f"/v1/router_replay?{query}")
            error = answer.json()["error"]
            assert (answer.status_code, error["param"], error["code"]) == (400, names, "invalid_parameter"), (
                query
            )
            assert error["type"] == "invalid_request_error" and error["message"]


async def test_details_come_when_asked_and_always_by_id() -> None:
    full = record(request_body="{}", response_body=ANSWER)
    async with stored(full) as reader, admin(reader) as client:
        brief = (await client.get("/v1/router_replay")).json()["data"][0]
        assert "response_body" not in brief and "spans" not in brief["outcomes"][0]
        detailed = (await client.get("/v1/router_replay?showDetails=true")).json()["data"][0]
        single = (await client.get("/v1/router_replay/r1")).json()
        assert detailed == single and single["response_body"] == ANSWER
        span = single["outcomes"][0]["spans"][0]
        assert ANSWER[span["start"] : span["end"]] == span["text"] == "479"


async def test_a_page_too_large_says_what_to_do() -> None:
    large = [record(f"r{n}", response_body="x" * (3 << 20)) for n in range(3)]
    async with stored(*large) as reader, admin(reader) as client:
        answer = await client.get("/v1/router_replay?showDetails=true")
        assert answer.status_code == 413 and "smaller limit" in answer.json()["error"]["message"]
        assert (await client.get("/v1/router_replay?showDetails=true&limit=2")).status_code == 200
        assert (await client.get("/v1/router_replay/r0")).status_code == 200


async def test_d13_not_applicable_shows_the_gates_score() -> None:
    spared = outcome("not_applicable", action=None, gate_score=0.12, score=None)
    async with stored(record(outcomes=(spared,))) as reader, admin(reader) as client:
        row = (await client.get("/v1/router_replay?verdict=not_applicable")).json()["data"][0]["outcomes"][0]
        assert row["metadata"]["gate_score"] == 0.12 and row["score"] is None


async def test_a12_the_replay_api_holds_no_nan() -> None:
    broken = outcome(
        score=float("nan"), unsupported_score=float("-inf"), detector_thresholds=(("t", float("nan")),)
    )
    hostile = record(outcomes=(broken,), model="m\ud800\x00", response_body="\udfff")
    async with stored(hostile) as reader, admin(reader) as client:
        for path in ("/v1/router_replay", "/v1/router_replay?showDetails=1", "/v1/router_replay/r1"):
            answer = await client.get(path)
            assert answer.status_code == 200 and strict(answer.text)


async def test_d4_spans_are_code_points_in_the_api() -> None:
    text = "🧪🧪 Karadžić lab: 479 vials"
    span = replace(outcome().spans[0], start=17, end=20)
    async with (
        stored(record(outcomes=(outcome(spans=(span,)),), response_body=text)) as reader,
        admin(reader) as client,
    ):
        body = (await client.get("/v1/router_replay/r1")).json()
        found = body["outcomes"][0]["spans"][0]
        assert body["response_body"][found["start"] : found["end"]] == "479"


async def test_an_unknown_id_is_a_json_404(tmp_path: Path) -> None:
    async with stored(store=SqlStore(f"sqlite:///{tmp_path}/r.db")) as reader, admin(reader) as client:
        for replay_id in ("nobody", "%00", "%F0%9F", "..%2f..%2fhealth", "a" * 3000):
            answer = await client.get(f"/v1/router_replay/{replay_id}")
            assert answer.status_code == 404, replay_id
            assert answer.json()["error"]["code"] in ("replay_not_found", "not_found")


async def test_a_store_that_is_down_is_a_503_without_its_secrets() -> None:
    writer = ReplayWriter(SqlStore("postgresql://u:hunter2@127.0.0.1:1/x"), WriterSettings())
    async with admin(writer) as client:
        for path in ("/v1/router_replay", "/v1/router_replay/r1"):
            answer = await client.get(path)
            assert answer.status_code == 503 and answer.json()["error"]["code"] == "replay_unavailable"
            assert "hunter2" not in answer.text and "127.0.0.1" not in answer.text
        assert (await client.get("/health")).status_code == 200
    await writer.aclose(0.1)


async def test_replay_switched_off_says_so() -> None:
    async with admin(None) as client:
        answer = await client.get("/v1/router_replay")
        assert answer.status_code == 404 and answer.json()["error"]["code"] == "replay_disabled"


async def test_a_bug_is_a_json_500_and_quotes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        async def get(self, record_id: str) -> None:
            raise RuntimeError("a prompt")

        async def query(self, query: object) -> None:
            raise RuntimeError("a prompt")

    async with admin(Broken()) as client:  # type: ignore[arg-type]
        answer = await client.get("/v1/router_replay")
        assert answer.status_code == 500 and "a prompt" not in answer.text
        assert answer.json()["error"]["code"] == "internal_error"
        assert answer.headers["x-content-type-options"] == "nosniff"
