"""Requests and responses as they come (tests/corpus): prompt, evidence, answers, and the rewritten body to the byte."""

import json
from pathlib import Path

import pytest

from vsr_hallucination.apis.registry import api_for_path

CASES = {
    file.stem: json.loads(file.read_text(encoding="utf-8"))
    for file in sorted((Path(__file__).parent.parent / "corpus").glob("*.json"))
}


def api_of(case):
    api = api_for_path(case["path"])
    assert api is not None and api.name == case["api"]
    return api


@pytest.mark.parametrize("name", CASES)
def test_request(name):
    case, expect = CASES[name], CASES[name]["expect"]
    view = api_of(case).read_request(json.dumps(case["request"]).encode())
    assert (view.model, view.prompt, view.stream) == (expect["model"], expect["prompt"], expect["stream"])
    assert [
        {"path": p.path, "text": p.text, "role": p.role, "source_id": p.source_id, "trust": p.trust}
        for p in view.grounding.passages
    ] == [{key: p[key] for key in ("path", "text", "role", "source_id", "trust")} for p in expect["passages"]]
    assert [[one.path, one.kind] for one in view.grounding.unread] == expect["unread"]


@pytest.mark.parametrize("name", [name for name in CASES if "response" in CASES[name]])
def test_response(name):
    case, expect = CASES[name], CASES[name]["expect"]
    view = api_of(case).read_response(case["response"].encode())
    assert (view.error, view.incomplete) == (expect["error"], expect["incomplete"])
    assert [
        {"index": a.index, "text": a.text, "parts": [[p.path, p.start, p.end] for p in a.parts]} for a in view.answers
    ] == expect["answers"]


@pytest.mark.parametrize("name", [name for name in CASES if "notices" in CASES[name]])
def test_rewritten(name):
    case = CASES[name]
    api, body = api_of(case), case["response"].encode()
    notices = {int(index): notice for index, notice in case["notices"].items()}
    assert api.prepend(body, notices).decode() == case["expect"]["rewritten"]
    assert api.prepend(body, {}) == body
    before, after = api.read_response(body), api.read_response(api.prepend(body, notices))
    for old, new in zip(before.answers, after.answers, strict=True):
        assert new.text == notices.get(old.index, "") + old.text


@pytest.mark.parametrize("size", [1, 5, 1 << 16])
@pytest.mark.parametrize("name", [name for name in CASES if "events" in CASES[name]])
def test_events(name, size):
    case, expect = CASES[name], CASES[name]["expect"]
    stream = api_of(case).assembler(10_000)
    data = case["events"].encode()
    for at in range(0, len(data), size):
        stream.feed(data[at : at + size])
    stream.end()
    view = stream.view()
    assert (stream.terminal, view.error, view.incomplete) == (expect["terminal"], expect["error"], expect["incomplete"])
    assert not stream.unreadable and not stream.too_large
    assert [
        {"index": a.index, "text": a.text, "parts": [[p.path, p.start, p.end] for p in a.parts]} for a in view.answers
    ] == expect["answers"]
