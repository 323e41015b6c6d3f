"""The client APIs that are served: one row each, the only place that names them. Light: the configuration reads it too.

A new API is a module beside this one, with a class that fulfils ``base.Api``, and its row here: ``filter.apis``, the
paths Envoy sends here, the schema and the reference page follow.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Served(NamedTuple):
    """``name``: as ``filter.apis`` and records have it, and its module's; ``kind``: the class there.

    ``path``: where its own servers have it. ``ending``: of all paths that speak it, so that prefixes (/v1,
    /openai/deployments/x, a gateway's own) need no setting.
    """

    name: str
    kind: str
    path: str
    ending: str


# The first row whose ending fits holds.
SERVED: Final[tuple[Served, ...]] = (
    Served("openai_chat", "OpenAIChat", "/v1/chat/completions", "/chat/completions"),
    Served("openai_completions", "OpenAICompletions", "/v1/completions", "/completions"),
    Served("openai_responses", "OpenAIResponses", "/v1/responses", "/responses"),
    Served("anthropic_messages", "AnthropicMessages", "/v1/messages", "/v1/messages"),
)
API_NAMES: Final = tuple(each.name for each in SERVED)
API_PATHS: Final = tuple(each.path for each in SERVED)
