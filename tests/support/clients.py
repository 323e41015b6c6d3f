"""What real clients ask, what the upstream answers in each API, and a relay that keeps what came over the wire."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from support import upstream as up
from support.driving import EVIDENCE, QUESTION, WRONG, policy
from support.scripted import RuntimeOf
from support.stack import Stack, running_stack
from vsr_hallucination.config.schema import Action, EnvoySettings, FilterSettings

PATHS = ("/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/messages")
SETTINGS = FilterSettings(envoy=EnvoySettings(paths=PATHS))
ACTIONS = (Action.HEADER, Action.BODY, Action.BLOCK)
PIECES = ("Depot K7 shipped 4", "79 crates", " in May at a cost of 9,500 euros.")
assert "".join(PIECES) == WRONG

CALL = {"id": "call_a1", "type": "function", "function": {"name": "depot_stats", "arguments": '{"depot":"K7"}'}}
CHAT: list[Any] = [
    {"role": "user", "content": QUESTION},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_a1", "content": EVIDENCE},
]
RESPONSES: list[Any] = [
    {"role": "user", "content": QUESTION},
    {"type": "function_call", "call_id": "call_a1", "name": "depot_stats", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "call_a1", "output": EVIDENCE},
]
MESSAGES: list[Any] = [
    {"role": "user", "content": QUESTION},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "depot_stats", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": EVIDENCE}]},
]
USAGE = {"prompt_tokens": 9, "completion_tokens": 7, "total_tokens": 16}


def chat(message: dict[str, Any], finish: str = "stop") -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish, "logprobs": None}
    return _json(id="c1", object="chat.completion", created=1, model="m", choices=[choice], usage=USAGE)


def completion() -> bytes:
    choice = {"index": 0, "text": WRONG, "finish_reason": "stop", "logprobs": None}
    return _json(id="c1", object="text_completion", created=1, model="m", choices=[choice], usage=USAGE)


def _response(output: list[Any], status: str) -> dict[str, Any]:
    return {
        "id": "r1", "object": "response", "created_at": 1, "model": "m", "status": status, "output": output,
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None, "incomplete_details": None,
        "instructions": None, "metadata": {}, "temperature": 1.0, "top_p": 1.0,
    }  # fmt: skip


def _item(*texts: str, status: str = "completed") -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []} for text in texts]
    return {"type": "message", "id": "m1", "role": "assistant", "status": status, "content": content}


def response() -> bytes:
    return _json(**_response([_item(WRONG)], "completed"))


def message() -> bytes:
    usage = {"input_tokens": 9, "output_tokens": 7}
    content = [{"type": "text", "text": WRONG, "citations": None}]
    return _json(
        id="msg_1", type="message", role="assistant", model="m", content=content, stop_reason="end_turn",
        stop_sequence=None, usage=usage,
    )  # fmt: skip


def chat_events() -> list[bytes]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}, *({"content": p} for p in PIECES), {}]
    events = [
        {"index": 0, "delta": delta, "finish_reason": None if delta else "stop", "logprobs": None} for delta in deltas
    ]
    base = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return [*(_event(base | {"choices": [choice]}) for choice in events), b"data: [DONE]\n\n"]


def completion_events() -> list[bytes]:
    base = {"id": "c1", "object": "text_completion", "created": 1, "model": "m"}
    last = len(PIECES) - 1
    choices = [
        {"index": 0, "text": piece, "finish_reason": "stop" if n == last else None, "logprobs": None}
        for n, piece in enumerate(PIECES)
    ]
    return [*(_event(base | {"choices": [choice]}) for choice in choices), b"data: [DONE]\n\n"]


def response_events() -> list[bytes]:
    where = {"item_id": "m1", "output_index": 0, "content_index": 0}
    part = {"type": "output_text", "text": "", "annotations": []}
    whole = part | {"text": WRONG}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": _response([], "in_progress")},
        {"type": "response.output_item.added", "output_index": 0, "item": _item(status="in_progress")},
        {"type": "response.content_part.added", **where, "part": part},
        *({"type": "response.output_text.delta", **where, "delta": piece, "logprobs": []} for piece in PIECES),
        {"type": "response.output_text.done", **where, "text": WRONG, "logprobs": []},
        {"type": "response.content_part.done", **where, "part": whole},
        {"type": "response.output_item.done", "output_index": 0, "item": _item(WRONG)},
        {"type": "response.completed", "response": _response([_item(WRONG)], "completed")},
    ]
    return [_event(event | {"sequence_number": n}, event["type"]) for n, event in enumerate(events)]


def message_events() -> list[bytes]:
    begun = json.loads(message()) | {"content": [], "stop_reason": None}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
            for piece in PIECES
        ),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 7},
        },
        {"type": "message_stop"},
    ]
    return [_event(event, event["type"]) for event in events]


def _json(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def _event(value: dict[str, Any], name: str | None = None) -> bytes:
    return (f"event: {name}\n" if name else "").encode() + f"data: {json.dumps(value)}\n\n".encode()


@dataclass
class Relay:
    """Stands between client and Envoy and keeps what came down, byte for byte."""

    target: int
    port: int = 0
    latest: bytearray = field(default_factory=bytearray)  # of the connection that got something last
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def body(self) -> bytes:
        """The body of the last response, its transfer coding taken off."""
        head, _, rest = bytes(self.latest).rpartition(b"HTTP/1.1 ")[2].partition(b"\r\n\r\n")
        if b"transfer-encoding: chunked" not in head.lower():
            return rest
        body = b""
        while rest:
            size, _, rest = rest.partition(b"\r\n")
            length = int(size, 16)
            if not length:
                return body
            body, rest = body + rest[:length], rest[length + 2 :]
        raise AssertionError("the chunked body has no end")

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upper_reader, upper_writer = await asyncio.open_connection("127.0.0.1", self.target)
        task = asyncio.current_task()
        assert task is not None
        self.tasks.add(task)
        try:
            up_copy = asyncio.ensure_future(_copy(reader, upper_writer))
            await self._down(upper_reader, writer)
            up_copy.cancel()
        except OSError:
            pass
        finally:
            self.tasks.discard(task)
            upper_writer.close()
            writer.close()


    async def _down(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        kept = bytearray()
        while data := await reader.read(65536):
            kept += data
            self.latest = kept
            writer.write(data)
            await writer.drain()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.write_eof()


@dataclass
class Setup:
    """A stack that serves all four APIs, and the relay in front of it."""

    stack: Stack
    relay: Relay

    @property
    def base_url(self) -> str:
        return f"{self.relay.url}/v1"

    def use(self, action: Action, answer: up.Answer) -> None:
        """Puts a policy in force, as a reload does, and says what the upstream answers next."""
        current = self.stack.slot.current
        config = replace(policy(action, action, filter_settings=SETTINGS, details=True))
        gate, checker = current.gate("default"), current.checker("default")
        self.stack.slot.swap(RuntimeOf(config, gate, checker))  # type: ignore[arg-type]
        self.stack.upstream.answer = answer

    async def verdict(self) -> tuple[str, str | None, str | None]:
        """(verdict, action, enforcement) of the one exchange that was; forgets it."""
        (record,) = await self.stack.final()
        (outcome,) = record.outcomes
        self.stack.clear()
        return outcome.verdict, outcome.action, outcome.enforcement


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[Setup]:
    async with running_stack(policy(filter_settings=SETTINGS), folder) as stack:
        relay = Relay(stack.envoy.port)
        server = await asyncio.start_server(relay.serve, "127.0.0.1", 0)
        relay.port = server.sockets[0].getsockname()[1]
        try:
            yield Setup(stack, relay)
        finally:
            server.close()
            for task in tuple(relay.tasks):
                task.cancel()
