"""A scripted OpenAI-compatible server: what a model would say, without a model. Loopback, demo and benchmark only."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

PATH = "/v1/chat/completions"


def make_app(answers: Mapping[str, str], *, chunk_pause: float = 0.02) -> Starlette:
    """Answers ``model`` with its text from ``answers``, or with the request's ``metadata.answer`` where that is given.

    Streams come in pieces of a word, ``chunk_pause`` seconds apart. Errors have OpenAI's shape.
    """
    numbers = itertools.count(1)

    async def chat(request: Request) -> Response:
        try:
            body = json.loads(await request.body())
        except ValueError:
            return _error(400, "the request is not JSON")
        if not isinstance(body, dict):
            return _error(400, "the request is not a JSON object")
        model = body.get("model")
        metadata = body.get("metadata")
        text = metadata.get("answer") if isinstance(metadata, dict) else None
        if not isinstance(text, str):
            text = answers.get(model) if isinstance(model, str) else None
        if text is None:
            known = ", ".join(answers)
            return _error(
                404, f"scripted upstream: model is one of {known}, or metadata.answer holds the answer"
            )
        base = {"id": f"chatcmpl-demo-{next(numbers)}", "created": int(time.time()), "model": str(model)}
        if body.get("stream") is True:
            return StreamingResponse(_events(base, text, chunk_pause), media_type="text/event-stream")
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return JSONResponse({**base, "object": "chat.completion", "choices": [choice], "usage": _usage(text)})

    async def models(_: Request) -> Response:
        return JSONResponse({"object": "list", "data": [{"id": name, "object": "model"} for name in answers]})

    return Starlette(routes=[Route(PATH, chat, methods=["POST"]), Route("/v1/models", models)])


async def _events(base: Mapping[str, Any], text: str, pause: float) -> AsyncIterator[bytes]:
    def event(delta: Mapping[str, str], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        data = json.dumps(
            {**base, "object": "chat.completion.chunk", "choices": [choice]}, ensure_ascii=False
        )
        return f"data: {data}\n\n".encode()

    yield event({"role": "assistant", "content": ""})
    for piece in re.findall(r"\s*\S+|\s+$", text):
        await asyncio.sleep(pause)
        yield event({"content": piece})
    yield event({}, "stop")
    yield b"data: [DONE]\n\n"


def _usage(text: str) -> dict[str, int]:
    words = len(text.split())
    return {"prompt_tokens": 0, "completion_tokens": words, "total_tokens": words}


def _error(status: int, message: str) -> JSONResponse:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    return JSONResponse({"error": error}, status_code=status)
