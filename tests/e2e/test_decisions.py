"""Two recipes and their decisions through Envoy, each action once, for each source that a decision can come from."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from support import envoy as envoys
from support import upstream as up
from support.driving import GOOD, WRONG, chat_request, chat_response
from support.stack import Stack, running_stack
from vsr_hallucination.config import loads
from vsr_hallucination.config.schema import Config
from vsr_hallucination.envoy_config import EXT_PROC, bootstrap

pytestmark = pytest.mark.asyncio(loop_scope="session")  # grpc.aio's poller does not outlive a closed loop well

CONFIG = """
version: v0.3
routing:
  signals:
    hallucination: [{name: grounded}]
    keywords: [{name: audit_words, keywords: [audit]}]
  decisions:
    - name: audited
      priority: 2
      rules: {type: keyword, name: audit_words}
      plugins: [{type: hallucination, configuration: {enabled: true, hallucination_action: block}}]
    - name: usual
      plugins: [{type: hallucination, configuration: {enabled: true}}]
recipes:
  - name: press
    signals:
      hallucination: [{name: grounded}, {name: second_look}]
      keywords: [{name: draft_words, keywords: [draft]}]
    projections:
      scores: [{name: freedom, inputs: [{type: keyword, name: draft_words, weight: 1}]}]
      mappings: [{name: free, source: freedom, outputs: [{name: unread, gte: 1}]}]
    decisions:
      - name: drafts
        priority: 2
        rules: {type: projection, name: unread}
        plugins: [{type: hallucination, configuration: {enabled: true, hallucination_action: none}}]
      - name: published
        plugins: [{type: hallucination, configuration: {enabled: true, hallucination_action: body}}]
entrypoints: [{model_names: [acme/press], recipe: press}]
filter: {detection: {deadline: 2s}}
"""


@dataclass(frozen=True)
class Case:
    """What is asked for and what must come: the model and the words that our own rules go by, the action taken."""

    recipe: str
    decision: str
    model: str
    words: str
    action: str


CASES = (
    Case("default", "audited", "m", "For the audit: how many crates?", "block"),
    Case("default", "usual", "m", "How many crates?", "header"),
    Case("press", "published", "acme/press", "How many crates, for the audit?", "body"),
    Case("press", "drafts", "acme/press", "For a draft: how many crates?", "none"),
)


def config_of(source: str) -> Config:
    loaded = loads(CONFIG.replace("filter: {", f"filter: {{decision_source: {source}, "))
    assert loaded.warnings == ()
    return loaded.config


def body(case: Case) -> bytes:
    asked: dict[str, Any] = json.loads(chat_request())
    asked["model"], asked["messages"][0]["content"] = case.model, case.words
    return json.dumps(asked).encode()


async def check(stack: Stack, case: Case, headers: dict[str, str] | None = None) -> None:
    """Asks, and holds client, record and access log to the case."""
    await stack.fresh()
    logged = len(await stack.envoy.access_log(0))
    async with httpx.AsyncClient() as client:
        url = f"{stack.envoy.url}/v1/chat/completions"
        answer = await client.post(
            url, content=body(case), headers={"content-type": "application/json"} | (headers or {})
        )
    (record,) = await stack.final()
    assert (record.recipe, record.decision) == (case.recipe, case.decision)
    rules = [outcome.target_ref for outcome in record.outcomes]
    assert len(rules) == (2 if case.recipe == "press" else 1)
    assert [(outcome.verdict, outcome.action) for outcome in record.outcomes] == [("detected", case.action)] * len(
        rules
    )

    assert answer.status_code == (403 if case.action == "block" else 200)
    warned = answer.headers.get("x-vsr-response-warnings")
    assert (warned == "hallucination") is (case.action in ("header", "block"))
    said = answer.json()["choices"][0]["message"]["content"] if case.action != "block" else ""
    assert said.endswith(WRONG) is (case.action != "block") and (said == WRONG) is (case.action in ("header", "none"))
    if case.action != "block":
        selected = (answer.headers["x-vsr-selected-recipe"], answer.headers["x-vsr-selected-decision"])
        assert selected == (case.recipe, case.decision)
    assert len(answer.headers.get_list("x-vsr-selected-decision")) <= 1
    line = (await stack.envoy.access_log(logged + 1))[-1]
    assert (line["recipe"], line["decision"], line["verdict"]) == (case.recipe, case.decision, "detected")


async def test_decisions_by_our_own_rules(tmp_path: Path) -> None:
    async with running_stack(config_of("rules"), tmp_path) as stack:
        stack.upstream.answer = up.plain(chat_response(WRONG))
        for case in CASES:
            await check(stack, case)
        forged = {"x-vsr-recipe": "press", "x-vsr-decision": "drafts", "x-vsr-selected-decision": "drafts"}
        await check(stack, CASES[0], forged)
        stack.upstream.answer = up.plain(chat_response(GOOD))
        await stack.fresh()
        async with httpx.AsyncClient() as client:
            answer = await client.post(f"{stack.envoy.url}/v1/chat/completions", content=body(CASES[0]))
        assert answer.status_code == 200 and answer.content == chat_response(GOOD)


def routed(config: Config) -> str:
    """The generated bootstrap with a route for each case beside the generated one, chosen by a header."""
    made = bootstrap(config)
    manager = made["static_resources"]["listeners"][0]["filter_chains"][0]["filters"][0]["typed_config"]
    routes = manager["route_config"]["virtual_hosts"][0]["routes"]
    (chat,) = [route for route in routes if route["name"] == "v1_chat_completions"]
    for case in CASES:
        route = json.loads(json.dumps(chat))
        route["name"] = case.decision
        route["match"]["headers"] = [{"name": "x-team", "string_match": {"exact": case.decision}}]
        route["typed_per_filter_config"][EXT_PROC]["overrides"]["grpc_initial_metadata"] = [
            {"key": "x-vsr-recipe", "value": case.recipe},
            {"key": "x-vsr-decision", "value": case.decision},
        ]
        routes.insert(0, route)
    return yaml.safe_dump(made, sort_keys=False)


async def test_decisions_by_the_route(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(envoys, "bootstrap_yaml", routed)
    async with running_stack(config_of("route"), tmp_path) as stack:
        stack.upstream.answer = up.plain(chat_response(WRONG))
        for case in CASES:  # the words that our own rules would go by say something else
            other = Case(case.recipe, case.decision, "acme/press", "For the audit and a draft: how many?", case.action)
            forged = {"x-team": case.decision, "x-vsr-recipe": "default", "x-vsr-decision": "usual"}
            await check(stack, other, forged)


async def test_decisions_by_a_router_upstream(tmp_path: Path) -> None:
    async with running_stack(config_of("upstream"), tmp_path) as stack:
        for case in CASES:
            chosen = (
                *up.JSON,
                ("x-vsr-selected-recipe", case.recipe),
                ("X-VSR-Selected-Decision", case.decision),
                ("x-vsr-response-warnings", "jailbreak"),
            )
            stack.upstream.answer = up.plain(chat_response(WRONG), headers=chosen)
            other = Case(case.recipe, case.decision, "acme/press", "For the audit and a draft: how many?", case.action)
            await check(stack, other, {"x-vsr-selected-decision": "usual"})
