"""The client most people use, through a real Envoy, the filter and its embedded models."""

from __future__ import annotations

from typing import Any

import openai
import pytest

from vsr_hallucination.demo.script import EVIDENCE, GROUNDED, INVENTED, QUESTION

pytestmark = pytest.mark.timeout(300)  # the first test waits for the models to load

MESSAGES: list[Any] = [
    {"role": "user", "content": QUESTION},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "call_a1", "type": "function", "function": {"name": "depot_stats", "arguments": "{}"}}
        ],
    },
    {"role": "tool", "tool_call_id": "call_a1", "content": EVIDENCE},
]


def messages(prefix: str) -> list[Any]:
    return [{"role": "user", "content": prefix + QUESTION}, *MESSAGES[1:]]


@pytest.fixture
def client(demo: Any) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{demo.envoy}/v1", api_key="none", max_retries=0)


@pytest.fixture
def aclient(demo: Any) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=f"{demo.envoy}/v1", api_key="none", max_retries=0)


def outcome(demo: Any, headers: Any) -> dict[str, Any]:
    record = demo.record(headers["x-vsr-replay-id"])
    assert record["lifecycle"] == "completed"
    found: dict[str, Any] = record["outcomes"][0]
    return found


def test_sync_grounded_answer(demo: Any, client: openai.OpenAI) -> None:
    raw = client.chat.completions.with_raw_response.create(
        model="m", messages=MESSAGES, metadata={"answer": GROUNDED}
    )
    assert raw.parse().choices[0].message.content == GROUNDED
    assert "x-vsr-response-warnings" not in raw.headers
    assert outcome(demo, raw.headers)["verdict"] == "not_detected"


def test_sync_invented_number(demo: Any, client: openai.OpenAI) -> None:
    raw = client.chat.completions.with_raw_response.create(
        model="m", messages=MESSAGES, metadata={"answer": INVENTED}, extra_headers={"x-vsr-debug": "true"}
    )
    assert raw.parse().choices[0].message.content == INVENTED
    assert raw.headers["x-vsr-response-warnings"] == "hallucination"
    assert raw.headers["x-vsr-matched-hallucination"] == "ungrounded_claims"
    found = outcome(demo, raw.headers)
    assert (found["source"], found["target_ref"]) == ("router", "hallucination:ungrounded_claims")
    assert found["metadata"]["action"] == "header"
    assert any(span["start"] <= 17 and span["end"] >= 20 for span in found["spans"])


async def test_async(demo: Any, aclient: openai.AsyncOpenAI) -> None:
    raw = await aclient.chat.completions.with_raw_response.create(
        model="m", messages=MESSAGES, metadata={"answer": INVENTED}
    )
    assert raw.parse().choices[0].message.content == INVENTED
    assert raw.headers["x-vsr-response-warnings"] == "hallucination"
    await aclient.close()


def test_body_warning_is_part_of_the_parsed_answer(demo: Any, client: openai.OpenAI) -> None:
    raw = client.chat.completions.with_raw_response.create(
        model="m", messages=messages("For the newsletter: "), metadata={"answer": INVENTED}
    )
    text = raw.parse().choices[0].message.content or ""
    assert text.startswith("> ")
    assert text.endswith(INVENTED)
    assert "479" in text.split("\n\n")[0]  # the details name the span
    assert outcome(demo, raw.headers)["metadata"]["action"] == "body"


def test_block_is_an_error_the_client_understands(client: openai.OpenAI) -> None:
    with pytest.raises(openai.PermissionDeniedError) as caught:
        client.chat.completions.create(
            model="m", messages=messages("For the audit: "), metadata={"answer": INVENTED}
        )
    assert INVENTED not in str(caught.value)
    assert caught.value.code


def test_stream_comes_untouched_and_is_recorded(demo: Any, client: openai.OpenAI) -> None:
    with client.chat.completions.with_streaming_response.create(
        model="m", messages=MESSAGES, stream=True, metadata={"answer": INVENTED}
    ) as raw:
        chunks = list(raw.parse())
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == INVENTED
    assert "x-vsr-response-warnings" not in raw.headers
    found = outcome(demo, raw.headers)
    assert found["verdict"] == "detected"
    assert found["metadata"]["enforcement"] == "not_enforced_streaming"
    assert "action" not in found["metadata"]


async def test_async_stream(aclient: openai.AsyncOpenAI) -> None:
    stream = await aclient.chat.completions.create(
        model="m", messages=MESSAGES, stream=True, metadata={"answer": GROUNDED}
    )
    pieces = [chunk.choices[0].delta.content or "" async for chunk in stream]
    assert "".join(pieces) == GROUNDED
    await aclient.close()


def test_a_client_that_leaves_mid_stream_harms_nobody(demo: Any, client: openai.OpenAI) -> None:
    stream = client.chat.completions.create(
        model="m", messages=MESSAGES, stream=True, metadata={"answer": INVENTED}
    )
    next(iter(stream))
    stream.close()
    test_sync_grounded_answer(demo, client)


def test_an_upstream_error_reaches_the_client_as_it_is(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="scripted upstream"):
        client.chat.completions.create(model="no-such-script", messages=MESSAGES)


def test_other_routes_cost_nothing(client: openai.OpenAI) -> None:
    raw = client.models.with_raw_response.list()
    assert "grounded" in {model.id for model in raw.parse().data}
    assert not [name for name in raw.headers if name.startswith("x-vsr-")]


def test_a_client_cannot_forge_our_headers(demo: Any, client: openai.OpenAI) -> None:
    forged = {"x-vsr-selected-recipe": "none", "x-vsr-skip": "true", "x-vsr-replay-id": "mine"}
    raw = client.chat.completions.with_raw_response.create(
        model="m", messages=MESSAGES, metadata={"answer": INVENTED}, extra_headers=forged
    )
    assert raw.headers["x-vsr-response-warnings"] == "hallucination"
    assert raw.headers["x-vsr-selected-recipe"] == "default"
    assert raw.headers["x-vsr-replay-id"] != "mine"
