"""Paths to APIs."""

import pytest

from vsr_hallucination.apis.registry import api_for_path
from vsr_hallucination.apis.served import API_NAMES, API_PATHS

NAMES = {
    "/v1/chat/completions": "openai_chat",
    "/v1/chat/completions/": "openai_chat",
    "/openai/deployments/x/chat/completions?api-version=2024-10-21": "openai_chat",
    "/gateway/team/v1/chat/completions#x": "openai_chat",
    "/v1/chat/completions;a=1": "openai_chat",
    "/v1;x/chat;y=2/completions%3Ba%3bb/?q;r": "openai_chat",
    "/v1/completions": "openai_completions",
    "/v1/messages": "anthropic_messages",
    "/anthropic/v1/messages?beta=true": "anthropic_messages",
    "/v1/responses": "openai_responses",
    "/openai/responses?api-version=preview": "openai_responses",
    "https://host/v1/chat/completions": "openai_chat",
}


@pytest.mark.parametrize("path", NAMES)
def test_known_paths(path):
    api = api_for_path(path)
    assert api is not None and api.name == NAMES[path]


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/v1/models",
        "/v1/chat/completions/abc",
        "/v1/chat/completions;a/abc",
        "/x;/v1/messages/y",
        "/v1/threads/t/messages",
        "/v1/messages/count_tokens",
        "/v1/responses/r/cancel",
        "/x?a=/v1/chat/completions",
        "*",
    ],
)
def test_other_paths(path):
    assert api_for_path(path) is None


def test_the_operators_map_goes_before_our_own():
    named = (("/team/v1/messages", "openai_chat"), ("/ask", "openai_responses"))
    names = {"/a/ask": "openai_responses", "/team/v1/messages": "openai_chat", "/v1/messages": "anthropic_messages"}
    assert {path: api_for_path(path, named).name for path in names} == names


def test_every_api_can_be_named():
    assert tuple(api_for_path("/x", (("/x", name),)).name for name in API_NAMES) == API_NAMES


def test_every_api_serves_its_own_path():
    assert tuple(api_for_path(path).name for path in API_PATHS) == API_NAMES
