"""The benchmark of large bodies: its bodies are real answers of their size, its figures those of what it says."""

from __future__ import annotations

import json
import sys

import pytest

from vsr_hallucination.apis.registry import api_for_path
from vsr_hallucination.bench.bodies import (
    CORPUS,
    anthropic_body,
    bodies,
    chat_body,
    corpus_bodies,
    cost,
    read_and_rewrite,
)
from vsr_hallucination.bench.measures import Size

BUILDERS = {"/v1/chat/completions": chat_body, "/v1/messages": anthropic_body}


@pytest.mark.parametrize("path", BUILDERS)
def test_a_body_is_of_its_size_and_is_rewritten(path: str) -> None:
    body, api = BUILDERS[path](50_000), api_for_path(path)
    assert api is not None
    assert 50_000 <= len(body) < 60_000 and json.loads(body)
    (old,), (new,) = api.read_response(body).answers, api.read_response(read_and_rewrite(api, body)).answers
    assert new.text.endswith(old.text) and len(new.text) > len(old.text) > 10_000


def test_the_corpus_gives_bodies_of_every_api() -> None:
    made = list(corpus_bodies(CORPUS, 20_000))
    assert {api.name for _, api, _ in made} == {
        "openai_chat", "openai_completions", "openai_responses", "anthropic_messages",
    }  # fmt: skip
    assert all(20_000 < len(body) < 45_000 for _, _, body in made)
    assert all(any(answer.text for answer in api.read_response(body).answers) for _, api, body in made)


async def test_the_parts_of_the_cost() -> None:
    api = api_for_path("/v1/chat/completions")
    assert api is not None
    found = await cost(api, chat_body(200_000), 3)
    assert 0 < found.parser < found.work
    assert found.held > 0


async def test_the_rows() -> None:
    rows = await bodies({}, Size(rounds=1))
    assert len({row.name for row in rows}) == 3
    assert rows[-1].facts["shapes"] > 10
    for row in rows:
        base = max(row.facts["json_loads_ms"], 1000 * sys.getswitchinterval())
        assert row.value == pytest.approx(row.facts["held_ms"] / base)
        assert row.limit == 2.0 and row.at_most
