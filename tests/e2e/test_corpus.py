"""The corpus through a real Envoy: what the client gets, what was held against which evidence, what the record says."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from support import clients, http1
from support import upstream as up
from support.driving import policy
from support.stack import Stack, running_stack
from vsr_hallucination.apis.registry import api_for_path
from vsr_hallucination.config.schema import Action
from vsr_hallucination.detection.types import CheckRequest, CheckResult, Coverage, Detection, DetectorIdentity, Span
from vsr_hallucination.replay.record import Lifecycle, Record

pytestmark = pytest.mark.asyncio(loop_scope="session")
CASES: dict[str, dict[str, Any]] = {
    file.stem: json.loads(file.read_text("utf-8"))
    for file in sorted((Path(__file__).parents[1] / "corpus").glob("*.json"))
}
WHOLE = {
    "openai_chat": clients.chat({"content": clients.WRONG}),
    "openai_completions": clients.completion(),
    "openai_responses": clients.response(),
    "anthropic_messages": clients.message(),
}


async def marks_all(request: CheckRequest) -> CheckResult:
    """The detector of these tests: the whole answer is unsupported, so that every answer with evidence is warned of."""
    span = Span(0, len(request.answer), request.answer, 0.9)
    return CheckResult(DetectorIdentity("all", "test"), Detection((span,), (), 0.9, 0.1, Coverage(1.0, 1.0)))


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    config = policy(Action.BODY, Action.NONE, filter_settings=clients.SETTINGS)
    async with running_stack(config, tmp_path_factory.mktemp("envoy"), check=marks_all) as running:
        yield running


async def exchanged(stack: Stack, case: dict[str, Any], answer: up.Answer) -> tuple[http1.Response, Record]:
    await stack.fresh()
    stack.upstream.answer = answer
    response = await http1.send(stack.envoy.port, json.dumps(case["request"]).encode(), path=case["path"])
    (record,) = await stack.final()
    expect = case["expect"]
    assert record.evidence == tuple((p["path"], p["role"], p["trust"]) for p in expect["passages"])
    assert record.unread_evidence == tuple((path, kind) for path, kind in expect["unread"])
    assert (record.api, record.model, response.status) == (case["api"], expect["model"], 200)
    return response, record


@pytest.mark.parametrize("name", [name for name in CASES if "events" not in CASES[name]])
async def test_a_body(stack: Stack, name: str) -> None:
    case = CASES[name]
    body = case["response"].encode() if "response" in case else WHOLE[case["api"]]
    response, record = await exchanged(stack, case, up.plain(body))
    api = api_for_path(case["path"])
    assert api is not None
    before, after = api.read_response(body), api.read_response(response.body)
    if before.error:
        assert response.body == body
        assert record.lifecycle is Lifecycle.FAILED and not record.outcomes
        return
    notices = {
        old.index: new.text.removesuffix(old.text)
        for old, new in zip(before.answers, after.answers, strict=True)
        if old.text
    }
    assert response.body == api.prepend(body, notices), "nothing but the notices may change"
    told = any(answer.text for answer in before.answers) and bool(record.evidence)
    assert any(notices.values()) is told
    (outcome,) = record.outcomes
    assert outcome.verdict == ("detected" if told else "unavailable")


@pytest.mark.parametrize("name", [name for name in CASES if "events" in CASES[name]])
async def test_a_stream(stack: Stack, name: str) -> None:
    case, expect = CASES[name], CASES[name]["expect"]
    data = case["events"].encode()
    response, record = await exchanged(stack, case, up.sse([data[:40], data[40:41], data[41:]]))
    assert response.body == data
    if not expect["terminal"]:
        assert not record.outcomes
        return
    (outcome,) = record.outcomes
    assert outcome.verdict == ("detected" if record.evidence else "unavailable")
    assert (outcome.action, outcome.enforcement) == (None, "not_enforced_streaming")
    assert {span.choice for span in outcome.spans} == (
        {answer["index"] for answer in expect["answers"]} if record.evidence else set()
    )
