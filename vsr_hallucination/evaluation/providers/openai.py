"""Any server that speaks OpenAI's chat completions: api.openai.com, vLLM, a gateway, our own filter."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from vsr_hallucination.evaluation.providers.base import (
    Ask,
    ProviderSetupError,
    Reply,
    Unavailable,
    without_reasoning,
)
from vsr_hallucination.evaluation.ratelimit import Turn
from vsr_hallucination.evaluation.retry import retry_after
from vsr_hallucination.evaluation.scoring import Kind

PUBLIC_URL = "https://api.openai.com/v1"
_LARGEST = 4 << 20  # bytes of a response that are read; replies are capped to some hundred tokens
_CUT = frozenset(("length", "max_tokens", "model_length", "model_context_window_exceeded"))
_FILTERED = frozenset(("content_filter", "safety", "recitation", "blocked"))
_RETRY_STATUS = frozenset((408, 409, 425, 429))


@dataclass(frozen=True, slots=True)
class OpenAISettings:
    """``base_url`` ends before ``/chat/completions``. ``key_variable``: the environment variable with the key."""

    model: str
    base_url: str
    key_variable: str | None = "OPENAI_API_KEY"
    temperature: float = 0.0
    seed: int = 1234
    timeout: float = 60.0
    connections: int = 8


def checked_url(url: str) -> str:
    """``url`` without a trailing slash. Raises ProviderSetupError with the remedy."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if parts.scheme not in {"http", "https"} or not host:
        raise ProviderSetupError(
            f"base URL {url!r} is no http(s) URL: give one like http://127.0.0.1:8000/v1"
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ProviderSetupError(
            "the base URL carries a user, password, query or fragment: leave it out, and put the key into the "
            "environment (OPENAI_API_KEY, or the variable that --api-key-env names)"
        )
    return url.rstrip("/").removesuffix("/chat/completions")


class OpenAIProvider:
    """Asks over one pool of connections. Settings that a server refuses are left out from then on, and noted."""

    def __init__(
        self, settings: OpenAISettings, *, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self._settings = settings
        self._url = checked_url(settings.base_url) + "/chat/completions"
        self._left_out: dict[str, str] = {}
        headers = {"content-type": "application/json", "accept": "application/json"}
        key = os.environ.get(settings.key_variable, "").strip() if settings.key_variable else ""
        if key:
            if not key.isascii() or not key.isprintable():
                raise ProviderSetupError(f"{settings.key_variable} holds characters that no header can carry")
            headers["authorization"] = f"Bearer {key}"
        self._client = httpx.AsyncClient(
            headers=headers,
            timeout=settings.timeout,
            limits=httpx.Limits(max_connections=max(1, settings.connections)),
            transport=transport,
            # No TLS, no certificates: loading them takes longer than the first answer. Redirects are not followed.
            verify=self._url.startswith("https:"),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(self._left_out.values())

    async def complete(self, ask: Ask) -> Reply:
        while True:
            payload = self._payload(ask)
            try:
                async with asyncio.timeout(self._settings.timeout):
                    status, headers, data = await self._post(payload, ask.turn)
            except (TimeoutError, httpx.TimeoutException):
                raise Unavailable(
                    Kind.TIMEOUT, f"no answer within {self._settings.timeout:g} s (--timeout)"
                ) from None
            except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
                raise Unavailable(Kind.CONNECTION, type(error).__name__) from None
            body = _parsed(data)
            if status == 400 and self._learns(body, payload):
                if ask.turn is not None:
                    await ask.turn.again()
                continue
            return _read(status, headers, body)

    async def aclose(self) -> None:
        await self._client.aclose()

    def _payload(self, ask: Ask) -> dict[str, Any]:
        messages = [{"role": "system", "content": ask.system}] if ask.system else []
        messages.append({"role": "user", "content": ask.prompt})
        payload: dict[str, Any] = {
            "model": self._settings.model,
            "messages": messages,
            "max_tokens": ask.max_tokens,
            "temperature": self._settings.temperature,
            "seed": self._settings.seed,
        }
        if "max_tokens" in self._left_out:
            payload["max_completion_tokens"] = payload["max_tokens"]
        return {key: value for key, value in payload.items() if key not in self._left_out}

    async def _post(self, payload: dict[str, Any], turn: Turn | None) -> tuple[int, httpx.Headers, bytes]:
        async def trace(event: str, _: object) -> None:
            if turn is not None and event.endswith("send_request_body.complete"):
                turn.sent()

        # A question may hold what UTF-8 cannot: JSON's own escapes carry it.
        content = json.dumps(payload, ensure_ascii=True).encode()
        async with self._client.stream("POST", self._url, content=content, extensions={"trace": trace}) as response:
            data = bytearray()
            async for piece in response.aiter_bytes():
                data += piece
                if len(data) > _LARGEST:
                    raise Unavailable(
                        Kind.UNREADABLE, f"the response is larger than {_LARGEST >> 20} MiB", retry=False
                    )
            return response.status_code, response.headers, bytes(data)

    def _learns(self, body: object, sent: Mapping[str, Any]) -> bool:
        """Whether a 400 names a setting that can be left out (reasoning models take no temperature or max_tokens).

        It was ``sent``: another request may have learned that it is refused while this one was under way.
        """
        error = body.get("error") if isinstance(body, dict) else None
        if not isinstance(error, dict):
            return False
        message = str(error.get("message", ""))
        for name in ("max_tokens", "temperature", "seed"):
            named = error.get("param") == name or f"'{name}'" in message
            if named and name in sent:
                instead = ", max_completion_tokens is sent instead" if name == "max_tokens" else ""
                self._left_out[name] = f"the server refused {name}: it was not sent{instead}"
                return True
        return False


def _parsed(data: bytes) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _read(status: int, headers: httpx.Headers, body: object) -> Reply:
    error = _error(body)
    if status != 200 or error is not None:
        raise _failure(status, headers, body, error or {})
    choices = body.get("choices") if isinstance(body, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise Unavailable(Kind.UNREADABLE, "the response is no chat completion with a choice")
    finish = str(choice.get("finish_reason") or "").lower()
    text = without_reasoning(_text(message.get("content")))
    cut = finish in _CUT
    if finish in _FILTERED or (not text and message.get("refusal")):
        raise Unavailable(Kind.BLOCKED, f"finish_reason {finish}" if finish in _FILTERED else "a refusal")
    if text is None or (cut and not text):
        raise Unavailable(Kind.TRUNCATED, "the token limit was used up before an answer")
    if not text:
        raise Unavailable(Kind.EMPTY, "an answer without text")
    return Reply(text, cut, headers.get("x-vsr-response-warnings", "")[:200])


def _text(content: object) -> str:
    """A message's text: a string, or the text parts of a list; thinking parts are no answer."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") != "thinking"]
    return "".join(text for text in texts if isinstance(text, str))


def _error(body: object) -> dict[str, Any] | None:
    """The error object of a response, in any status; Gemini's compatible endpoint puts it into a list."""
    if isinstance(body, list) and body:
        body = body[0]
    error = body.get("error") if isinstance(body, dict) else None
    if isinstance(error, dict):
        return error
    return {"message": error} if error else None


def _failure(status: int, headers: httpx.Headers, body: object, error: dict[str, Any]) -> Unavailable:
    code = error.get("code")
    if status == 200 and isinstance(code, int) and 400 <= code < 600:
        status = code
    word = str(code or error.get("status") or error.get("type") or "")[:60]
    detail = f"HTTP {status}" + (f" {word}" if word and word != str(status) else "")
    wait = retry_after(headers, body)
    if status == 429:
        final = code == "insufficient_quota"
        return Unavailable(Kind.RATE_LIMITED, detail, retry_after=wait, retry=not final)
    if status in (401, 403, 404):
        return Unavailable(Kind.REFUSED, detail, setup=True)
    if status in _RETRY_STATUS or status >= 500 or status == 200:
        return Unavailable(Kind.SERVER_ERROR, detail, retry_after=wait)
    if code == "content_filter":
        return Unavailable(Kind.BLOCKED, detail)
    return Unavailable(Kind.REFUSED, detail)
