"""The OpenAI-compatible provider; its half of case E5."""

from __future__ import annotations

import asyncio
import json

import pytest

from support.model_server import (
    Answer,
    Asked,
    ModelServer,
    error,
    in_turn,
    limited,
    rubbish,
    running_models,
    says,
    stall,
)
from support.upstream import cut, plain
from vsr_hallucination.evaluation.providers.base import (
    Ask,
    ProviderSetupError,
    Reply,
    Unavailable,
    without_reasoning,
)
from vsr_hallucination.evaluation.providers.openai import OpenAIProvider, OpenAISettings, checked_url
from vsr_hallucination.evaluation.ratelimit import SlidingWindow, Turn
from vsr_hallucination.evaluation.retry import Retries, ask_with_retries
from vsr_hallucination.evaluation.scoring import Kind


async def ask(server: ModelServer, *, timeout: float = 10.0, key: str | None = None) -> Reply:
    provider = OpenAIProvider(OpenAISettings("m", server.url, key, timeout=timeout))
    try:
        return await provider.complete(Ask("q", max_tokens=128))
    finally:
        await provider.aclose()


async def reply_to(answer: Answer) -> Reply:
    with running_models(in_turn(answer)) as server:
        return await ask(server)


async def failure_of(answer: Answer, *, timeout: float = 10.0) -> Unavailable:
    with running_models(in_turn(answer)) as server, pytest.raises(Unavailable) as caught:
        await ask(server, timeout=timeout)
    return caught.value


async def test_what_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-secret")
    with running_models(in_turn(says("Paris"))) as server:
        assert (await ask(server, key="SOME_KEY")).text == "Paris"
        (asked,) = server.asked
    assert asked.request.path == "/v1/chat/completions"
    assert asked.request.header("authorization") == "Bearer sk-secret"
    assert asked.body == {
        "model": "m",
        "messages": [{"role": "user", "content": "q"}],
        "max_tokens": 128,
        "temperature": 0.0,
        "seed": 1234,
    }


async def test_no_key_no_header(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with running_models(in_turn(says("x"))) as server:
        await ask(server, key="OPENAI_API_KEY")
        assert server.asked[0].request.header("authorization") is None


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (says(None, finish="length", reasoning_content="… so 42"), Kind.TRUNCATED),
        (says("<think>so maybe 42, no, 41", finish="length"), Kind.TRUNCATED),
        (says("<think>so maybe 42", finish="stop"), Kind.TRUNCATED),
        (says("<|channel|>analysis<|message|>480?", finish="stop"), Kind.TRUNCATED),
        (says("", finish="stop"), Kind.EMPTY),
        (says(None, finish="stop"), Kind.EMPTY),
        (says("  \n", finish="stop"), Kind.EMPTY),
        (says(None, finish="content_filter"), Kind.BLOCKED),
        (says(None, refusal="I can't help with that."), Kind.BLOCKED),
        (error(400, {"error": {"code": "content_filter", "message": "x"}}), Kind.BLOCKED),
    ],
)
async def test_e5_an_answer_that_never_came(answer: Answer, kind: Kind) -> None:
    failure = await failure_of(answer)
    assert failure.kind is kind
    assert not failure.retry


async def test_e5_text_that_the_limit_cut_is_marked() -> None:
    assert await reply_to(says("so maybe 42, no, 41", finish="length")) == Reply(
        "so maybe 42, no, 41", cut=True
    )


async def test_reasoning_and_parts_are_told_from_the_answer() -> None:
    assert (await reply_to(says("<think>42? no</think>\n\n41"))).text == "41"
    assert (await reply_to(says("42? no</think>41"))).text == "41"
    parts = [{"type": "thinking", "text": "no"}, {"type": "text", "text": "4"}, {"type": "text", "text": "1"}]
    assert (await reply_to(says(parts))).text == "41"  # type: ignore[arg-type]
    channels = (
        "<|channel|>analysis<|message|>480?<|end|><|start|>assistant<|channel|>final<|message|>479<|return|>"
    )
    assert without_reasoning(channels) == "479"
    assert without_reasoning("Put `<think>` first.") == "Put `<think>` first."


@pytest.mark.parametrize(
    ("answer", "kind", "retry", "setup"),
    [
        (limited("3s"), Kind.RATE_LIMITED, True, False),
        (error(429, {"error": {"code": "insufficient_quota"}}), Kind.RATE_LIMITED, False, False),
        (error(500), Kind.SERVER_ERROR, True, False),
        (error(503, "busy"), Kind.SERVER_ERROR, True, False),
        (error(408), Kind.SERVER_ERROR, True, False),
        (error(200, {"error": {"message": "queue full"}}), Kind.SERVER_ERROR, True, False),
        (error(200, {"error": {"code": 429}}), Kind.RATE_LIMITED, True, False),
        (error(200, {"error": "queue full"}), Kind.SERVER_ERROR, True, False),
        (error(400), Kind.REFUSED, False, False),
        (error(401), Kind.REFUSED, False, True),
        (error(404), Kind.REFUSED, False, True),
        (rubbish(), Kind.UNREADABLE, True, False),
        (rubbish(b""), Kind.UNREADABLE, True, False),
        (rubbish(b"[" * 200_000), Kind.UNREADABLE, True, False),
        (plain(b'{"choices": []}'), Kind.UNREADABLE, True, False),
        (plain(b'{"choices": [7]}'), Kind.UNREADABLE, True, False),
        (plain(b'{"choices": [{"message": "text"}]}'), Kind.UNREADABLE, True, False),
        (cut(b'{"choices": []}', 5), Kind.CONNECTION, True, False),
    ],
)
async def test_failures_have_their_kind(answer: Answer, kind: Kind, retry: bool, setup: bool) -> None:
    failure = await failure_of(answer)
    assert (failure.kind, failure.retry, failure.setup) == (kind, retry, setup)


async def test_the_servers_delay_is_read() -> None:
    assert (await failure_of(limited("3.5s"))).retry_after == 3.5
    assert (await failure_of(error(503, headers=[("retry-after", "9")]))).retry_after == 9


async def test_a_stalled_server_is_a_timeout() -> None:
    assert (await failure_of(stall(), timeout=0.3)).kind is Kind.TIMEOUT


async def test_nobody_there() -> None:
    provider = OpenAIProvider(OpenAISettings("m", "http://127.0.0.1:9/v1", None))
    with pytest.raises(Unavailable) as caught:
        await provider.complete(Ask("q"))
    await provider.aclose()
    assert caught.value.kind is Kind.CONNECTION


async def test_an_endless_response_is_not_read_to_its_end() -> None:
    failure = await failure_of(plain(b" " * (5 << 20)))
    assert (failure.kind, failure.retry) == (Kind.UNREADABLE, False)


async def test_settings_that_a_server_refuses_are_left_out_and_noted() -> None:
    def refusal(name: str) -> Answer:
        return error(400, {"error": {"message": f"Unsupported parameter: '{name}'", "param": name}})

    with running_models(in_turn(refusal("max_tokens"), refusal("temperature"), says("x"))) as server:
        provider = OpenAIProvider(OpenAISettings("o", server.url, None))
        assert (await provider.complete(Ask("q"))).text == "x"
        await provider.aclose()
        last = server.asked[-1].body
    assert "max_tokens" not in last and "temperature" not in last
    assert last["max_completion_tokens"] == 128
    assert len(provider.notes) == 2 and "max_tokens" in provider.notes[0]


async def test_settings_refused_to_many_at_once_cost_no_answer_and_no_request_beyond_the_limit() -> None:
    def script(asked: Asked) -> Answer:
        refused = next((name for name in ("max_tokens", "seed") if name in asked.body), None)
        return says("x") if refused is None else error(400, {"error": {"message": "no", "param": refused}})

    with running_models(script) as server:
        provider = OpenAIProvider(OpenAISettings("o", server.url, None, connections=8))
        window = SlidingWindow(12, window=2.0, longest_way=0.5)
        asks = (ask_with_retries(provider, Ask(f"q{n}"), window, Retries(0)) for n in range(8))
        replies = await asyncio.gather(*asks)
        await provider.aclose()
        arrivals = sorted(asked.at for asked in server.asked)
    assert [reply.text for reply, _ in replies] == ["x"] * 8
    assert len(arrivals) > 12
    assert all(sum(start <= at < start + 1.4 for at in arrivals) <= 12 for start in arrivals)


async def test_the_turn_counts_from_when_the_request_is_on_the_wire() -> None:
    sent: list[bool] = []

    class Noted(Turn):
        def sent(self) -> None:
            sent.append(True)

    with running_models(lambda _: says("x")) as server:
        provider = OpenAIProvider(OpenAISettings("o", server.url, None))
        turn = Noted(SlidingWindow(None), 0.0, lambda: 0.0)
        await provider.complete(Ask("q", turn=turn))
        await provider.aclose()
    assert sent == [True]


async def test_the_filters_warning_is_kept() -> None:
    body = json.dumps({"choices": [{"finish_reason": "stop", "message": {"content": "x"}}]}).encode()
    answer = plain(body, headers=[("x-vsr-response-warnings", "hallucination")])
    assert (await reply_to(answer)).warnings == "hallucination"


@pytest.mark.parametrize(
    "url",
    ["", "localhost:8000/v1", "ftp://x/v1", "http://", "http://u:p@x/v1", "http://x/v1?k=1", "http://[x/v1"],
)
def test_urls_that_cannot_be_asked(url: str) -> None:
    with pytest.raises(ProviderSetupError):
        checked_url(url)
    assert checked_url("http://x:8000/v1/") == "http://x:8000/v1"
    assert checked_url("http://x/v1/chat/completions") == "http://x/v1"


def test_a_key_that_is_no_header(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-…")
    with pytest.raises(ProviderSetupError, match="OPENAI_API_KEY"):
        OpenAIProvider(OpenAISettings("m", "http://x/v1"))
