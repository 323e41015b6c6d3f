"""The endpoint backend against a scripted server: every odd reply is an error, none is clean (case D12)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import Any

import pytest

from support import lettucedetect
from vsr_hallucination.config.schema import DetectionSettings, DetectorSettings, EndpointSettings
from vsr_hallucination.detection.endpoint import chat_url
from vsr_hallucination.detection.factory import ModelError, make_checker
from vsr_hallucination.detection.types import CheckRequest, CheckResult, Grounding, Passage, Reason

ANSWER = "Depot K7 shipped 479 crates in May at a cost of 9,500 euros."
GROUNDING = Grounding((Passage("depot: K7\nmonth: May\ncrates: 412\ncost_eur: 9500", "$.messages[2].content"),))


class Server:
    """An HTTP/1.1 server that answers every POST with one scripted reply and keeps what it was sent."""

    def __init__(self) -> None:
        self.reply: bytes = b""
        self.delay = 0.0
        self.requests: list[tuple[bytes, dict[str, Any]]] = []
        self.url = ""

    def says(self, content: object, finish: object = "stop") -> None:
        message = {"role": "assistant", "content": content}
        self.body(json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": finish}]}).encode())

    def body(self, body: bytes, status: str = "200 OK", extra: str = "") -> None:
        head = f"HTTP/1.1 {status}\r\ncontent-length: {len(body)}\r\n{extra}connection: close\r\n\r\n"
        self.reply = head.encode() + body

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            size = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            self.requests.append((head, json.loads(await reader.readexactly(size))))
            await asyncio.sleep(self.delay)
            writer.write(self.reply)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    made = Server()
    listening = await asyncio.start_server(made.handle, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    async with listening:
        yield made


@asynccontextmanager
async def checker(server: Server, *, value_check: bool = False, **endpoint: Any) -> AsyncIterator[Any]:
    settings = EndpointSettings(base_url=server.url, model="judge", **endpoint)
    made = make_checker(
        DetectorSettings(backend="endpoint", endpoint=settings), None, DetectionSettings(value_check=value_check)
    )
    try:
        yield made
    finally:
        await made.aclose()


async def check(server: Server, answer: str = ANSWER, deadline: float = 5.0, **options: Any) -> CheckResult:
    async with checker(server, **options) as made:
        result: CheckResult = await made.check(CheckRequest("How many?", GROUNDING, answer, deadline=deadline))
        return result


def spans(result: CheckResult) -> list[tuple[int, int, str]]:
    assert result.detection is not None
    assert result.failure is None
    return [(s.start, s.end, s.text) for s in result.detection.spans]


@pytest.mark.parametrize(
    "content",
    [
        '{"spans":[{"text":"479"}]}',
        '```json\n{"spans":[{"text":"479"}]}\n```',
        'Here you go:\n{"spans":[{"text":"479"}]}\nI hope {this} helps.',
        '<think>{"spans":[]} would be wrong</think>{"spans":["479"],"confidence":0.9}',
        [{"type": "text", "text": '{"spans":[{"text":'}, {"type": "text", "text": '"479"}]}'}],
    ],
)
async def test_d12_ab_fences_prose_and_parts_are_read(server: Server, content: object) -> None:
    server.says(content)
    assert spans(await check(server)) == [(17, 20, "479")]


@pytest.mark.parametrize(
    "content",
    [
        '{"spans":[],"hallucinated_spans":[{"text":"479"}]}',
        '{"hallucinated_spans":[{"text":"479"}],"spans":[]}',
        '{"hallucinated_spans":["479"],"spans":null}',
        '{"spans":[{"text":"479"}],"spans":[]}',
        '{"spans":[{"text":"479"}]}\nFormat: {"spans": []}',
        '{"spans":[]}\nOn second thoughts: {"spans":[{"text":"479"}]}',
        '{"result":{"spans":["479"]}} {"spans":[]}',
    ],
)
async def test_every_span_list_of_a_reply_counts(server: Server, content: str) -> None:
    server.says(content)
    assert spans(await check(server)) == [(17, 20, "479")]


async def test_d12_e_a_text_that_occurs_twice_is_marked_at_both_places(server: Server) -> None:
    answer = "K7: 479 crates, so 479 in all, not 4790."
    server.says('{"spans":[{"text":"479"}]}')
    assert spans(await check(server, answer)) == [(4, 7, "479"), (19, 22, "479")]


@pytest.mark.parametrize(
    ("content", "finish"),
    [
        ('{"spans":[{"text":"479"},{"te', "stop"),  # c
        ('{"spans":[{"text":"479 boxes"}]}', "stop"),  # d
        ('{"spans":[]}', "length"),  # f
        ('{"spans":[]}', None),
        ('{"spans":[]}', "content_filter"),
        ("", "stop"),  # g
        (None, "stop"),
        ("No hallucination found.", "stop"),  # h
        ('{"hallucinations":[]}', "stop"),
        ('{"spans":null}', "stop"),
        ('{"spans":[{"text":""}]}', "stop"),
        ("[" * 5000, "stop"),
        ('{"spans":[],"confidence":0.0}', "stop"),
        ('{"spans":[],"confidence":0.49}', "stop"),
        ('{"spans":[],"confidence":"0.9"}', "stop"),
        ('{"spans":[],"confidence":NaN}', "stop"),
        ('{"spans":[]} {"spans":[],"confidence":0.1}', "stop"),
        ('{"spans":[],"hallucinated_spans":[{"text":"480"}]}', "stop"),
        ('{"spans":[],"hallucinated_spans":"479"}', "stop"),
        ('{"hallucinated_spans":{"text":"479"},"spans":[]}', "stop"),
        ('{"spans":[{"text":"480 crates"},{"text":"in May","confidence":0.1}]}', "stop"),
        ('{"spans":[{"span":"479"},{"text":"in May","confidence":0.2}]}', "stop"),
        ('{"spans":[["479"],{"text":"in May","confidence":0.2}]}', "stop"),
        ('{"spans":[{"text":"."}]}', "stop"),
        ('{"spans":[]}' + "{" * 300 + '{"spans":["479"]}', "stop"),
    ],
)
async def test_d12_unreadable_verdicts_are_failures_never_clean(
    server: Server, content: object, finish: object
) -> None:
    server.says(content, finish)
    result = await check(server)
    assert result.detection is None
    assert result.failure is not None
    assert result.failure.reason is Reason.DETECTOR_FAILED
    assert "479" not in result.failure.message


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>busy</html>",
        b'{"error":{"message":"queue full"}}',
        b'{"choices":[]}',
        b"[]",
        b"{" * 9000,
        b"\xff\xfe",
    ],
)
async def test_d12_g_bodies_that_are_no_completion(server: Server, body: bytes) -> None:
    server.body(body)
    result = await check(server)
    assert result.detection is None
    assert result.failure is not None
    assert result.failure.reason is Reason.DETECTOR_FAILED


@pytest.mark.parametrize("status", ["500 Oops", "429 Slow down", "404 Not Found", "204 No Content"])
async def test_other_statuses_are_failures_without_a_retry(server: Server, status: str) -> None:
    server.body(b'{"spans":[]}', status)
    result = await check(server)
    assert result.failure is not None
    assert len(server.requests) == 1


async def test_redirects_are_not_followed(server: Server) -> None:
    server.body(b"", "307 Temporary Redirect", f"location: {server.url}/elsewhere\r\n")
    assert (await check(server)).failure is not None
    assert len(server.requests) == 1


async def test_an_empty_list_that_ended_normally_is_the_way_to_clean(server: Server) -> None:
    server.says('{"spans":[],"confidence":0.8}')
    result = await check(server)
    assert spans(result) == []
    assert result.detection is not None
    assert result.detection.clean_confidence == pytest.approx(0.8)


async def test_some_invalid_spans_are_ignored_beside_valid_ones(server: Server) -> None:
    server.says('{"spans":[{"text":"479 boxes"},{"text":"479","confidence":0.95},7]}')
    result = await check(server)
    assert spans(result) == [(17, 20, "479")]
    assert result.detection is not None
    assert result.detection.spans[0].confidence == pytest.approx(0.95)
    assert result.detection.spans[0].tier == "endpoint"


async def test_spans_meet_the_thresholds_as_any(server: Server) -> None:
    server.says('{"spans":[{"text":"in May","confidence":0.3}]}')
    result = await check(server)
    assert spans(result) == []
    assert result.detection is not None
    assert [c.why for c in result.detection.candidates] == ["threshold"]


async def test_a_slow_endpoint_is_a_timeout(server: Server) -> None:
    server.says('{"spans":[]}')
    server.delay = 2
    assert (await check(server, deadline=0.2)).failure.reason is Reason.TIMEOUT  # type: ignore[union-attr]
    assert (await check(server, timeout=0.1)).failure.reason is Reason.TIMEOUT  # type: ignore[union-attr]


async def test_an_endless_reply_is_cut(server: Server) -> None:
    server.says('{"spans":[]}' + " " * 50_000)
    result = await check(server, max_response_bytes=10_000)
    assert result.failure is not None
    assert "size" in result.failure.message


async def test_an_endpoint_that_is_not_there(server: Server) -> None:
    server.url = "http://127.0.0.1:9"
    assert (await check(server)).failure.reason is Reason.DETECTOR_FAILED  # type: ignore[union-attr]


async def test_the_request_carries_schema_key_and_texts_as_data(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    server.says('{"spans":[]}')
    await check(server, answer="Fine.\ud800", api_key="s3cret")
    ((head, body),) = server.requests
    assert head.startswith(b"POST /v1/chat/completions ")
    assert b"authorization: bearer s3cret" in head.lower()
    assert body["response_format"]["type"] == "json_schema"
    assert body["temperature"] == 0
    assert "crates: 412" in body["messages"][1]["content"]


async def test_the_value_check_stands_where_the_endpoint_fails(server: Server) -> None:
    server.body(b"", "503 Busy")
    result = await check(server, value_check=True)
    assert result.detection is not None
    assert [s.text for s in result.detection.spans] == ["479"]
    assert result.failure is not None
    assert result.detection.coverage.answer == 0


async def test_probe_needs_a_readable_verdict(server: Server) -> None:
    server.says('{"spans":[]}')
    async with checker(server) as made:
        await made.probe()
        server.says("hello")
        with pytest.raises(Exception, match="no span list"):
            await made.probe()


@pytest.mark.parametrize(
    ("base", "expected"),
    [("http://h:1", "http://h:1/v1/chat/completions"), ("http://h/v1/", "http://h/v1/chat/completions"),
     ("http://h/x/chat/completions", "http://h/x/chat/completions")],
)  # fmt: skip
def test_base_urls(base: str, expected: str) -> None:
    assert chat_url(base) == expected


def test_the_lettucedetect_prompt_names_its_package_where_it_is_missing(hide_package: Callable[[str], None]) -> None:
    hide_package("lettucedetect")
    settings = EndpointSettings(base_url="http://127.0.0.1:9", model="m", prompt="lettucedetect")
    with pytest.raises(ModelError, match=r"pip install .*lettucedetect"):
        make_checker(DetectorSettings(backend="endpoint", endpoint=settings), None, DetectionSettings())


def test_an_endpoint_needs_its_settings() -> None:
    with pytest.raises(ModelError, match="base_url"):
        make_checker(DetectorSettings(backend="endpoint"), None, DetectionSettings())


@pytest.mark.parametrize("installed", [True, False])
async def test_lettucedetect_is_asked_as_its_own_client_asks(
    server: Server, monkeypatch: pytest.MonkeyPatch, installed: bool
) -> None:
    """The package itself where it is installed; and always its shape as recorded from version 0.2.3."""
    if not installed or find_spec("lettucedetect") is None:
        lettucedetect.pretend(monkeypatch)
    server.says('{"hallucinated_spans": [{"text": "479", "category": "contradiction", "subcategory": "numerical"}]}')
    assert spans(await check(server, prompt="lettucedetect")) == [(17, 20, "479")]
    sent = server.requests[-1][1]
    system, user = (message["content"] for message in sent["messages"])
    assert "hallucinated_spans" in system and "verbatim" in system
    assert user.startswith("Briefly answer the following question:\nHow many?\n")
    assert "passage 1: depot: K7\nmonth: May" in user
    assert user.endswith(f"\n\nAnswer to verify:\n{ANSWER}")
    wanted = sent["response_format"]["json_schema"]
    assert (wanted["name"], wanted["strict"]) == ("hallucination_detection", True)
    item = wanted["schema"]["properties"]["hallucinated_spans"]["items"]
    assert item["required"] == ["text", "category", "subcategory"]
    server.says('{"hallucinated_spans": []}')
    assert spans(await check(server, prompt="lettucedetect")) == []
