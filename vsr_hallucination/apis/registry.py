"""Which client API a request path belongs to."""

from __future__ import annotations

import re
from functools import lru_cache

from vsr_hallucination.apis.anthropic_messages import AnthropicMessages
from vsr_hallucination.apis.base import Api
from vsr_hallucination.apis.openai_chat import OpenAIChat
from vsr_hallucination.apis.openai_completions import OpenAICompletions
from vsr_hallucination.apis.openai_responses import OpenAIResponses

# By the end of the path, so that prefixes (/v1, /openai/deployments/x, a gateway's own) need no setting. First fits.
_APIS: tuple[tuple[str, Api], ...] = (
    ("/chat/completions", OpenAIChat()),
    ("/completions", OpenAICompletions()),
    ("/responses", OpenAIResponses()),
    ("/v1/messages", AnthropicMessages()),
)


_PARAMETERS = re.compile("(?:;|%3[Bb])[^/]*")
_BY_NAME = {api.name: api for _, api in _APIS}


@lru_cache(1024)  # clients use few paths, and every exchange asks
def api_for_path(path: str, named: tuple[tuple[str, str], ...] = ()) -> Api | None:
    """The API that serves ``:path`` (its query and its segments' parameters are ignored), None where none of ours does.

    ``named``: (end of a path, name of an API) as the operator maps them; they go before our own, first fits.
    """
    path = _PARAMETERS.sub("", path.partition("?")[0].partition("#")[0]).rstrip("/")
    for suffix, name in named:
        if path.endswith(suffix):
            return _BY_NAME[name]
    return next((api for suffix, api in _APIS if path.endswith(suffix)), None)
