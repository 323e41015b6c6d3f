"""Evidence that another Envoy filter or the route knows: it comes as metadata of the ext_proc call (filter.grounding).

The means are an operator's own: a per-route ``grpc_initial_metadata`` whose value may name dynamic metadata.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
import yaml

from support import http1
from support import upstream as up
from support.driving import WRONG, chat_request, chat_response, find_479, policy
from support.envoy import Envoy, on_ports, running_envoy
from support.stack import Stack, running_stack
from vsr_hallucination.config.evidence_schema import GroundingSettings
from vsr_hallucination.config.schema import FilterSettings
from vsr_hallucination.detection.types import CheckRequest, CheckResult
from vsr_hallucination.envoy_config import EXT_PROC, bootstrap

pytestmark = pytest.mark.asyncio(loop_scope="session")
KEY = "x-rag-context"
FILTER = FilterSettings(grounding=GroundingSettings(metadata=KEY))
FOUND = {"passages": ["Estación K7\nMay: 412 crates", "cost: 9500 EUR"]}  # as a retrieval filter leaves it
ROUTES = {
    "v1_chat_completions": "%DYNAMIC_METADATA(rag:found)%",
    "v1_messages": "K7 May: 412 crates",
    "v1_responses": "%DYNAMIC_METADATA(rag:nothing)%",
}


def _with_retrieval(config: dict[str, Any]) -> str:
    """The generated bootstrap with a filter that sets dynamic metadata, and routes that pass it on."""
    manager = config["static_resources"]["listeners"][0]["filter_chains"][0]["filters"][0]["typed_config"]
    for route in manager["route_config"]["virtual_hosts"][0]["routes"]:
        if route["name"] in ROUTES:
            overrides = route["typed_per_filter_config"][EXT_PROC]["overrides"]
            overrides["grpc_initial_metadata"] = [{"key": KEY, "value": ROUTES[route["name"]]}]
    settings = {
        "@type": "type.googleapis.com/envoy.extensions.filters.http.set_metadata.v3.Config",
        "metadata": [{"metadata_namespace": "rag", "value": {"found": FOUND}}],
    }
    manager["http_filters"].insert(0, {"name": "envoy.filters.http.set_metadata", "typed_config": settings})
    return yaml.safe_dump(config)


@pytest.fixture(scope="module")
def seen() -> list[list[str]]:
    """The passages of each answer that came to be checked."""
    return []


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def stack(seen: list[list[str]], tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    async def check(request: CheckRequest) -> CheckResult:
        seen.append([passage.text for passage in request.grounding.passages])
        return find_479(request)

    folder = tmp_path_factory.mktemp("plain")
    async with running_stack(policy(filter_settings=FILTER), folder, check=check) as running:
        running.upstream.answer = up.plain(chat_response(WRONG))
        yield running


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def retrieving(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Envoy]:
    placed = on_ports(stack.config)
    text = _with_retrieval(bootstrap(placed))
    async with running_envoy(placed, tmp_path_factory.mktemp("retrieving"), text=text) as envoy:
        yield envoy


async def _asked(stack: Stack, port: int, path: str, **headers: str) -> Any:
    await stack.fresh()
    sent = [("content-type", "application/json"), *((key.replace("_", "-"), value) for key, value in headers.items())]
    await http1.send(port, chat_request(None), path=path, headers=sent)
    (record,) = await stack.final()
    return record


async def test_what_another_filter_found_is_evidence(
    stack: Stack, retrieving: Envoy, seen: list[list[str]]
) -> None:
    seen.clear()
    record = await _asked(stack, retrieving.port, "/v1/chat/completions")
    assert record.evidence == ((f"metadata:{KEY}", "metadata", "metadata"),)
    (outcome,) = record.outcomes
    assert outcome.verdict == "detected"
    ((text,),) = seen
    assert "Estación K7\nMay: 412 crates" in text and "cost: 9500 EUR" in text


async def test_what_a_route_says_is_evidence_and_metadata_that_is_not_there_is_none(
    stack: Stack, retrieving: Envoy
) -> None:
    record = await _asked(stack, retrieving.port, "/v1/messages")
    assert record.evidence == ((f"metadata:{KEY}", "metadata", "metadata"),)
    record = await _asked(stack, retrieving.port, "/v1/responses")
    assert record.evidence == ()


async def test_a_client_cannot_set_the_calls_metadata(stack: Stack) -> None:
    record = await _asked(stack, stack.envoy.port, "/v1/chat/completions", x_rag_context="K7 May: 479 crates")
    assert record.evidence == ()
    assert record.outcomes[0].error == "hallucination_context_unavailable"
