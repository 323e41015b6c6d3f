"""A scripted model for ``eval model --demo``: it answers the toy questions as a model of some confidence would, behind
the same API and client as a real one, without a key or a network."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib import resources

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from vsr_hallucination.evaluation.items import read_csv
from vsr_hallucination.evaluation.scoring import Item

MODEL = "scripted-model"
BASE_URL = "http://scripted.invalid/v1"  # served in this process; no name is looked up

# What the model would say, and how sure it is of it: a miscount, a fact it knows, a call it makes up.
_SAYS: Mapping[str, tuple[str, float]] = {
    "Tennessee": ("3", 0.7),
    "closest to the Sun": ("Mercury", 0.98),
    "enable_turbo_mode": ("A bool that says whether turbo mode was on before.", 0.6),
}
_TERMS = re.compile(r"more than ([\d.]+) confident")


def toy_items() -> tuple[Item, ...]:
    """The three questions that ship: a counting one, a common fact, an API that does not exist."""
    text = resources.files("vsr_hallucination.evaluation").joinpath("data/toy.csv").read_text("utf-8")
    return read_csv(text, "toy.csv")


def transport() -> httpx.ASGITransport:
    """What carries requests to the scripted model."""
    return httpx.ASGITransport(app=Starlette(routes=[Route("/v1/chat/completions", _chat, methods=["POST"])]))


async def _chat(request: Request) -> JSONResponse:
    body = json.loads(await request.body())
    message = {"role": "assistant", "content": _say(str(body["messages"][-1]["content"]))}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return JSONResponse({"object": "chat.completion", "model": MODEL, "choices": [choice]})


def _say(prompt: str) -> str:
    terms = _TERMS.search(prompt)
    asked = float(terms.group(1)) if terms else 0.0
    for cue, (answer, confidence) in _SAYS.items():
        if cue in prompt:
            return answer if confidence > asked else "IDK"
    return "IDK"
