"""Requests and responses as they come (tests/corpus): prompt, evidence, answers, and the rewritten body to the byte."""

import json
from pathlib import Path

import pytest

from vsr_hallucination.apis.registry import api_for_path

FILES = sorted((Path(__file__).parent.parent / "corpus").glob("*.json"))


@pytest.fixture(params=FILES, ids=lambda file: file.stem)
def case(request):
    found = json.loads(request.param.read_text(encoding="utf-8"))
    api = api_for_path(found["path"])
    assert api is not None and api.name == found["api"]
    return api, found, found["expect"]


def test_request(case):
    api, found, expect = case
    view = api.read_request(json.dumps(found["request"]).encode())
    assert (view.model, view.prompt, view.stream) == (expect["model"], expect["prompt"], expect["stream"])
    assert [
        {"path": p.path, "text": p.text, "role": p.role, "source_id": p.source_id, "trust": p.trust}
        for p in view.grounding.passages
    ] == [{key: p[key] for key in ("path", "text", "role", "source_id", "trust")} for p in expect["passages"]]
    assert [[one.path, one.kind] for one in view.grounding.unread] == expect["unread"]


def test_response(case):
    api, found, expect = case
    if "response" not in found:
        return
    view = api.read_response(found["response"].encode())
    assert (view.error, view.incomplete) == (expect["error"], expect["incomplete"])
    assert [
        {"index": a.index, "text": a.text, "parts": [[p.path, p.start, p.end] for p in a.parts]} for a in view.answers
    ] == expect["answers"]


def test_rewritten(case):
    api, found, expect = case
    if "notices" not in found:
        return
    body = found["response"].encode()
    notices = {int(index): notice for index, notice in found["notices"].items()}
    assert api.prepend(body, notices).decode() == expect["rewritten"]
    assert api.prepend(body, {}) == body
    before, after = api.read_response(body), api.read_response(api.prepend(body, notices))
    for old, new in zip(before.answers, after.answers, strict=True):
        assert new.text == notices.get(old.index, "") + old.text
