"""The rules that hold for any bytes given to a client API: shared by the soak run and its own short test."""

from __future__ import annotations

import random
from dataclasses import dataclass

from vsr_hallucination.apis.base import Api, EvidenceOptions, RequestUnreadable, ResponseUnreadable, without_echo
from vsr_hallucination.apis.registry import api_for_path

PATHS = ("/v1/chat/completions", "/v1/completions", "/v1/messages", "/v1/responses")
OPTIONS = EvidenceOptions(
    tags=("context",),
    tag_sources=("system", "user"),
    message_names=("rag",),
    fields=(("documents",), ("metadata", "context")),
    max_passages=50,
)
NOTICE = "N\n"


def _known(path: str) -> Api:
    api = api_for_path(path)
    assert api is not None
    return api


APIS: dict[str, Api] = {_known(path).name: _known(path) for path in PATHS}


@dataclass
class Counted:
    """How far inputs got: a run in which all were refused would say nothing."""

    requests: int = 0
    answers: int = 0
    rewritten: int = 0
    streams: int = 0

    def __str__(self) -> str:
        return (
            f"{self.requests} read as requests, {self.answers} as answers, {self.rewritten} rewritten, "
            f"{self.streams} whole streams"
        )


def hold(name: str, body: bytes, source: random.Random, counted: Counted) -> None:
    """Raises ``AssertionError``, or whatever leaves the API, where a rule is broken."""
    api = APIS[name]
    request = None
    try:
        request = api.read_request(body, OPTIONS)
    except RequestUnreadable as error:
        assert len(str(error)) < 100
    else:
        counted.requests += 1
        for passage in request.grounding.passages:
            assert passage.text.strip()
            for run in passage.origin:
                assert run.start >= 0 and run.start + run.length <= len(passage.text) and run.origin >= 0
    _body(api, body, counted)
    data = b"data: " + body + b"\n\n" + (b"data: [DONE]\n\n" if source.random() < 0.5 else b"")
    stream = api.assembler(10_000)
    at = 0
    while at < len(data):
        size = source.choice((1, 7, 64, 4096)) if len(data) < 4096 else 4096
        stream.feed(data[at : at + size])
        at += size
    stream.end()
    view = stream.view()
    counted.streams += stream.terminal and not stream.failed and bool(view.answers)
    if request is not None:
        assert len(without_echo(view, request).answers) == len(view.answers)
        for answer in view.answers:
            request.asked_by(answer.index)


def _body(api: Api, body: bytes, counted: Counted) -> None:
    try:
        view = api.read_response(body)
    except ResponseUnreadable as error:
        assert len(str(error)) < 100
        return
    counted.answers += bool(view.answers)
    for answer in view.answers:
        assert "".join(answer.text[part.start : part.end] for part in answer.parts) == answer.text
    if view.error:
        return
    notices = {answer.index: NOTICE for answer in view.answers}
    changed = api.prepend(body, notices, view)
    assert changed == api.prepend(body, notices)
    counted.rewritten += changed != body
    for old, new in zip(view.answers, api.read_response(changed).answers, strict=True):
        assert new.text == (NOTICE + old.text if old.text else "")
