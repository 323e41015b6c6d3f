"""Evidence in the shapes that clients send, from request to verdict: cases of group B that cross rooms."""

from __future__ import annotations

import json
from typing import Any

from support.driving import GOOD, QUESTION, WRONG, Drive, chat_response, find_479, policy
from vsr_hallucination.config.schema import Action
from vsr_hallucination.wire.messages import Continue, HeaderMap, RequestBody, RequestHeaders

PARTS = [{"type": "text", "text": "K7 May: 412 crates"}, {"type": "text", "text": "cost 9500 EUR"}]
IMAGE = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}


def ask(drive: Drive, path: str, body: dict[str, Any]) -> None:
    pairs = [(":method", "POST"), (":path", path), ("content-type", "application/json")]
    drive.feed(RequestHeaders(HeaderMap(pairs)), RequestBody(json.dumps(body).encode()))


def verdict(drive: Drive) -> tuple[str, str | None]:
    (row,) = drive.record.outcomes
    return row.verdict, row.error


def paths(drive: Drive) -> list[str]:
    return [path for path, _, _ in drive.record.evidence]


def test_b1_a_tools_result_in_parts() -> None:
    call = {"id": "call_a1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_a1", "content": PARTS},
    ]
    for text, state in ((GOOD, "not_detected"), (WRONG, "detected")):
        drive = Drive()
        ask(drive, "/v1/chat/completions", {"messages": messages})
        drive.respond(chat_response(text))
        assert verdict(drive) == (state, None)
        assert paths(drive) == ["$.messages[2].content[0].text", "$.messages[2].content[1].text"]


def test_b1_a_functions_output_as_an_array_with_an_image() -> None:
    output = [{"type": "input_text", "text": "K7 May: 412 crates, 9500 EUR"}, IMAGE]
    items = [{"role": "user", "content": QUESTION}, {"type": "function_call_output", "call_id": "c1", "output": output}]
    for text, state in ((GOOD, "not_detected"), (WRONG, "detected")):
        drive = Drive()
        ask(drive, "/v1/responses", {"input": items})
        content = [{"type": "output_text", "text": text, "annotations": []}]
        drive.respond(json.dumps({"output": [{"type": "message", "content": content}]}).encode())
        assert verdict(drive) == (state, None)
        assert paths(drive) == ["$.input[1].output[0].text"]
        assert drive.record.unread_evidence == (("$.input[1].output[1]", "image"),)


FETCHED = [
    {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
    {
        "type": "web_search_tool_result",
        "tool_use_id": "s1",
        "content": [
            {"type": "web_search_result", "title": "K7", "url": "https://example.org/k7", "encrypted_content": "Zg"}
        ],
    },
]
CITED = {"type": "text", "text": "79 crates", "citations": [{"type": "web_search_result_location", "cited_text": "x"}]}
BLOCKS = [{"type": "text", "text": "K7 shipped 4"}, CITED, {"type": "text", "text": "."}]


def anthropic(drive: Drive, *, fact: bool) -> Continue:
    user: list[dict[str, Any]] = [{"type": "text", "text": QUESTION}]
    if fact:
        user.append({"type": "tool_result", "tool_use_id": "t", "content": "K7 May: 412 crates"})
    messages = [
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": FETCHED},
        {"role": "user", "content": user},
    ]
    ask(drive, "/v1/messages", {"messages": messages})
    body = {"id": "m", "type": "message", "role": "assistant", "content": BLOCKS, "stop_reason": "end_turn"}
    reply = drive.respond(json.dumps(body).encode())
    assert isinstance(reply, Continue)
    return reply


def test_b8_an_answer_cut_by_citations_is_read_as_one() -> None:
    seen: list[str] = []

    def look(request: Any) -> Any:
        seen.append(request.answer)
        return find_479(request)

    drive = Drive(policy(Action.BODY), detect=look)
    reply = anthropic(drive, fact=True)
    assert seen == ["K7 shipped 479 crates."]
    (span,) = drive.record.outcomes[0].spans
    assert (span.start, span.end) == (11, 14)  # in the first block and in the second
    assert paths(drive) == ["$.messages[2].content[1].content"]
    assert drive.record.unread_evidence == (("$.messages[1].content[1].content[0]", "encrypted"),)
    assert reply.body is not None
    added, *rest = json.loads(reply.body)["content"]
    assert added["type"] == "text" and rest == BLOCKS


def test_b8_an_encrypted_page_alone_is_no_evidence() -> None:
    drive = Drive()
    anthropic(drive, fact=False)
    assert verdict(drive) == ("unavailable", "hallucination_context_unavailable")
    assert drive.record.evidence == ()
