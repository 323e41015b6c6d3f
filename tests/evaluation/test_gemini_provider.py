"""The Gemini provider with Google's own client; its half of case E5."""

from __future__ import annotations

from typing import Any

import pytest

from support.model_server import (
    Answer,
    ModelServer,
    error,
    gemini,
    gemini_says,
    in_turn,
    limited,
    rubbish,
    running_models,
    stall,
)
from vsr_hallucination.evaluation.providers.base import Ask, ProviderSetupError, Unavailable
from vsr_hallucination.evaluation.providers.gemini import GeminiProvider, GeminiSettings, uses_vertex
from vsr_hallucination.evaluation.scoring import Kind

NAMES = (
    "GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE",
    "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION",
)  # fmt: skip


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GOOGLE_API_KEY", "test-key")


def provider(server: ModelServer, timeout: float = 10.0) -> GeminiProvider:
    return GeminiProvider(GeminiSettings("gemini-2.5-flash", timeout=timeout, base_url=server.root))


async def failures_of(*answers: Answer, timeout: float = 10.0) -> list[Unavailable]:
    """What each answer is taken for. One client for all: it takes its time to be made."""
    found = []
    with running_models(in_turn(*answers)) as server:
        asked = provider(server, timeout)
        for _ in answers:
            with pytest.raises(Unavailable) as caught:
                await asked.complete(Ask("q"))
            found.append(caught.value)
        await asked.aclose()
        assert len(server.asked) == len(answers), "the client of the SDK must not retry on its own"
    return found


async def test_what_is_sent_and_read() -> None:
    parts = [{"text": "so…", "thought": True}, {"text": "Par"}, {"text": "is"}]
    reply = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}
    with running_models(in_turn(gemini(reply))) as server:
        asked = provider(server)
        assert (await asked.complete(Ask("q", "be strict", 128))).text == "Paris"
        await asked.aclose()
        (request,) = server.asked
    assert request.request.path.endswith("/models/gemini-2.5-flash:generateContent")
    assert request.request.header("x-goog-api-key") == "test-key"
    settings = request.body["generationConfig"]
    assert list(settings.pop("thinkingConfig").values()) == [0]
    assert settings == {"temperature": 0.0, "seed": 1234, "maxOutputTokens": 128}
    assert request.body["systemInstruction"]["parts"][0]["text"] == "be strict"


def candidate(**fields: Any) -> Answer:
    return gemini({"candidates": [fields]})


CUT = {
    "candidates": [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}],
    "usageMetadata": {"thoughtsTokenCount": 2999},
}


async def test_e5_an_answer_that_never_came() -> None:
    cases = (
        (gemini(CUT), Kind.TRUNCATED),
        (gemini({"promptFeedback": {"blockReason": "SAFETY"}}), Kind.BLOCKED),
        (candidate(finishReason="SAFETY"), Kind.BLOCKED),
        (candidate(finishReason="RECITATION", content={"parts": [{"text": "lyrics"}]}), Kind.BLOCKED),
        (candidate(finishReason="STOP"), Kind.EMPTY),
        (candidate(finishReason="STOP", content={"role": "model", "parts": []}), Kind.EMPTY),
        (gemini({}), Kind.EMPTY),
    )
    failures = await failures_of(*(answer for answer, _ in cases))
    assert [failure.kind for failure in failures] == [kind for _, kind in cases]
    assert not any(failure.retry for failure in failures)


async def test_e5_text_that_the_limit_cut_is_marked() -> None:
    with running_models(in_turn(gemini_says("so maybe 42", "MAX_TOKENS"))) as server:
        asked = provider(server)
        assert (await asked.complete(Ask("q"))).cut
        await asked.aclose()


async def test_failures_have_their_kind() -> None:
    cases = (
        (limited("3.5s"), Kind.RATE_LIMITED, True),
        (error(503), Kind.SERVER_ERROR, True),
        (error(400), Kind.REFUSED, False),
        (error(403), Kind.REFUSED, False),
        (rubbish(), Kind.UNREADABLE, True),
        (stall(), Kind.TIMEOUT, True),
    )
    failures = await failures_of(*(answer for answer, _, _ in cases), timeout=2.0)
    assert [(failure.kind, failure.retry) for failure in failures] == [
        (kind, retry) for _, kind, retry in cases
    ]
    assert failures[0].retry_after == 3.5


async def test_a_model_that_takes_no_thinking_budget() -> None:
    refusal = error(400, {"error": {"code": 400, "message": "Thinking is not supported by this model"}})
    with running_models(in_turn(refusal, gemini_says("x"))) as server:
        asked = provider(server)
        assert (await asked.complete(Ask("q"))).text == "x"
        assert asked.notes
        await asked.aclose()
        assert "thinkingConfig" not in server.asked[-1].body["generationConfig"]


VERTEX = {
    "GOOGLE_GENAI_USE_VERTEXAI": "true",
    "GOOGLE_CLOUD_PROJECT": "p",
    "GOOGLE_CLOUD_LOCATION": "us-central1",
}


def test_which_backend_the_environment_asks_for() -> None:
    assert not uses_vertex({"GOOGLE_API_KEY": "k"})
    assert not uses_vertex({"GEMINI_API_KEY": "k", "GOOGLE_CLOUD_PROJECT": "p"})
    assert not uses_vertex({"GEMINI_API_KEY": "k", "GOOGLE_API_KEY": "k"})
    assert uses_vertex(VERTEX)


@pytest.mark.parametrize(
    ("env", "remedy"),
    [
        ({}, "export GOOGLE_API_KEY"),
        ({**VERTEX, "GOOGLE_API_KEY": "k"}, "unset GOOGLE_API_KEY to use Vertex AI"),
        ({**VERTEX, "GEMINI_API_KEY": "k"}, "unset GEMINI_API_KEY"),
        ({**VERTEX, "GOOGLE_CLOUD_LOCATION": ""}, "needs GOOGLE_CLOUD_LOCATION"),
        ({"GOOGLE_GENAI_USE_VERTEXAI": "1"}, "GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION"),
        ({"GEMINI_API_KEY": "k", "GOOGLE_API_KEY": "other"}, "unset one of them"),
        ({**VERTEX, "GOOGLE_GENAI_USE_ENTERPRISE": "false"}, "unset the first"),
    ],
)
def test_conflicting_settings_are_refused_with_the_remedy(env: dict[str, str], remedy: str) -> None:
    with pytest.raises(ProviderSetupError, match=remedy):
        uses_vertex(env)
