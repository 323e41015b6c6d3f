"""Gemini by google-genai (an optional package): the Gemini API or Vertex AI, chosen by the environment alone.

``GOOGLE_API_KEY`` (or ``GEMINI_API_KEY``): the Gemini API. ``GOOGLE_GENAI_USE_VERTEXAI=true`` with
``GOOGLE_CLOUD_PROJECT`` and ``GOOGLE_CLOUD_LOCATION``: Vertex AI, with Google's application default credentials.
"""

from __future__ import annotations

import asyncio
import importlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from vsr_hallucination.evaluation.providers.base import (
    Ask,
    ProviderSetupError,
    Reply,
    Unavailable,
    without_reasoning,
)
from vsr_hallucination.evaluation.retry import retry_after
from vsr_hallucination.evaluation.scoring import Kind

_TRUE = frozenset(("1", "true", "yes"))
_BLOCKED = frozenset(
    "SAFETY RECITATION BLOCKLIST PROHIBITED_CONTENT SPII LANGUAGE IMAGE_SAFETY MODEL_ARMOR".split()
)
_KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY")


@dataclass(frozen=True, slots=True)
class GeminiSettings:
    """``thinking_budget``: tokens the model may think, 0 switches it off. ``base_url``: other than Google's."""

    model: str
    thinking_budget: int = 0
    temperature: float = 0.0
    seed: int = 1234
    timeout: float = 60.0
    connections: int = 8
    base_url: str | None = None


def uses_vertex(env: Mapping[str, str]) -> bool:
    """Which of the two the environment asks for. Raises ProviderSetupError where it contradicts itself."""
    vertex = env.get("GOOGLE_GENAI_USE_VERTEXAI", "").strip().lower() in _TRUE
    enterprise = env.get("GOOGLE_GENAI_USE_ENTERPRISE")
    if enterprise is not None and (enterprise.strip().lower() in _TRUE) != vertex:
        raise ProviderSetupError(
            "GOOGLE_GENAI_USE_ENTERPRISE and GOOGLE_GENAI_USE_VERTEXAI say different things: unset the first"
        )
    keys = [name for name in _KEYS if env.get(name, "").strip()]
    if vertex and keys:
        raise ProviderSetupError(
            f"GOOGLE_GENAI_USE_VERTEXAI asks for Vertex AI, but {' and '.join(keys)} is set for the Gemini API: "
            f"unset {' '.join(keys)} to use Vertex AI, or unset GOOGLE_GENAI_USE_VERTEXAI to use the key"
        )
    if vertex:
        lacking = [n for n in ("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION") if not env.get(n, "").strip()]
        if lacking:
            raise ProviderSetupError(
                f"Vertex AI needs {' and '.join(lacking)}: for example "
                "export GOOGLE_CLOUD_PROJECT=my-project GOOGLE_CLOUD_LOCATION=us-central1"
            )
    elif not keys:
        raise ProviderSetupError(
            "no key for Gemini: export GOOGLE_API_KEY=… (or GEMINI_API_KEY); for Vertex AI export "
            "GOOGLE_GENAI_USE_VERTEXAI=true, GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION"
        )
    elif len({env[name].strip() for name in keys}) > 1:
        raise ProviderSetupError("GOOGLE_API_KEY and GEMINI_API_KEY hold different keys: unset one of them")
    return vertex


class GeminiProvider:
    """Retries are ours, not the SDK's, so that RetryInfo is honoured and every request is counted."""

    def __init__(self, settings: GeminiSettings) -> None:
        vertex = uses_vertex(os.environ)
        try:
            genai: Any = importlib.import_module("google.genai")
            self._types: Any = importlib.import_module("google.genai.types")
            self._errors: Any = importlib.import_module("google.genai.errors")
        except ImportError as error:
            raise ProviderSetupError(
                f"the gemini provider needs the package google-genai ({error.name} is missing): "
                "pip install 'vsr-hallucination[eval]'"
            ) from error
        self._settings = settings
        self._thinks = True
        self._notes: tuple[str, ...] = ()
        self._http = httpx.AsyncClient(
            timeout=settings.timeout,
            follow_redirects=False,
            limits=httpx.Limits(max_connections=max(1, settings.connections)),
        )
        options = self._types.HttpOptions(
            base_url=settings.base_url,
            timeout=int(settings.timeout * 1000),
            retry_options=self._types.HttpRetryOptions(attempts=1),
            httpx_async_client=self._http,
        )
        try:
            self._client: Any = genai.Client(vertexai=vertex, http_options=options)
        except Exception as error:  # the SDK's and google-auth's own kinds, with their own words
            raise ProviderSetupError(f"google-genai: {' '.join(str(error).split())[:300]}") from error

    @property
    def notes(self) -> tuple[str, ...]:
        return self._notes

    async def complete(self, ask: Ask) -> Reply:
        while True:
            try:
                async with asyncio.timeout(self._settings.timeout):
                    response = await self._client.aio.models.generate_content(
                        model=self._settings.model, contents=ask.prompt, config=self._config(ask)
                    )
            except (TimeoutError, httpx.TimeoutException):
                raise Unavailable(
                    Kind.TIMEOUT, f"no answer within {self._settings.timeout:g} s (--timeout)"
                ) from None
            except self._errors.APIError as error:
                if self._learns(error):
                    continue
                raise _failure(error) from None
            except httpx.HTTPError as error:
                raise Unavailable(Kind.CONNECTION, type(error).__name__) from None
            except Exception as error:  # the SDK's parsing of whatever came
                if type(error).__module__.startswith("google.auth"):
                    raise Unavailable(
                        Kind.REFUSED, f"google-auth {type(error).__name__}", setup=True
                    ) from None
                raise Unavailable(Kind.UNREADABLE, type(error).__name__) from None
            return _read(response)

    async def aclose(self) -> None:
        await self._http.aclose()

    def _config(self, ask: Ask) -> Any:
        thinking = self._types.ThinkingConfig(thinking_budget=self._settings.thinking_budget)
        return self._types.GenerateContentConfig(
            temperature=self._settings.temperature,
            seed=self._settings.seed,
            max_output_tokens=ask.max_tokens,
            system_instruction=ask.system or None,
            thinking_config=thinking if self._thinks else None,
        )

    def _learns(self, error: Any) -> bool:
        """Models that cannot be told how much to think answer 400: it is not sent to them again."""
        if error.code == 400 and self._thinks and "thinking" in str(error.message or "").lower():
            self._thinks = False
            self._notes = ("the model takes no thinking budget: it was not sent",)
            return True
        return False


def _read(response: Any) -> Reply:
    candidates = response.candidates or []
    if not candidates:
        feedback = response.prompt_feedback
        reason = _word(feedback.block_reason) if feedback is not None else ""
        if reason:
            raise Unavailable(Kind.BLOCKED, f"blockReason {reason}")
        raise Unavailable(Kind.EMPTY, "no candidate")
    first = candidates[0]
    finish = _word(first.finish_reason)
    parts = (first.content.parts if first.content is not None else None) or []
    said = "".join(part.text for part in parts if part.text and not part.thought)
    text = without_reasoning(said)
    if finish in _BLOCKED:
        raise Unavailable(Kind.BLOCKED, f"finishReason {finish}")
    cut = finish == "MAX_TOKENS"
    if text is None or (cut and not text):
        raise Unavailable(Kind.TRUNCATED, "the token limit was used up before an answer")
    if not text:
        raise Unavailable(Kind.EMPTY, f"no text (finishReason {finish or 'missing'})")
    return Reply(text, cut)


def _word(value: Any) -> str:
    return str(getattr(value, "value", value) or "").upper()


def _failure(error: Any) -> Unavailable:
    code = error.code if isinstance(error.code, int) else 0
    detail = f"HTTP {code} {str(error.status or '')[:60]}".strip()
    headers = getattr(error.response, "headers", None) or {}
    wait = retry_after({str(k).lower(): str(v) for k, v in headers.items()}, error.details)
    if code == 429:
        return Unavailable(Kind.RATE_LIMITED, detail, retry_after=wait)
    if code >= 500 or code in (408, 409, 425):
        return Unavailable(Kind.SERVER_ERROR, detail, retry_after=wait)
    if code in (401, 403, 404) or (code == 400 and "API_KEY_INVALID" in str(error.details)):
        return Unavailable(Kind.REFUSED, detail, setup=True)
    return Unavailable(Kind.REFUSED, detail)
