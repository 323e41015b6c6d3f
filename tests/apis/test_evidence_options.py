"""Evidence that counts only where the operator says so: tagged sections, named messages, fields, header, metadata."""

import json

import pytest

from vsr_hallucination.apis.base import EvidenceOptions, Supplied
from vsr_hallucination.apis.openai_completions import OpenAICompletions
from vsr_hallucination.apis.registry import api_for_path

CONTEXT = "Rules. <context>K7: 412 crates</context>"
SYSTEM = EvidenceOptions(tags=("context",))
BOTH = EvidenceOptions(tags=("context",), tag_sources=("system", "user"))
STUFFED = {
    "/v1/chat/completions": {
        "messages": [
            {"role": "system", "content": CONTEXT},
            {"role": "developer", "content": [{"type": "text", "text": CONTEXT}]},
            {"role": "assistant", "content": CONTEXT},
            {"role": "user", "content": CONTEXT + " How many?"},
        ]
    },
    "/v1/responses": {
        "instructions": CONTEXT,
        "input": [
            {"role": "developer", "content": CONTEXT},
            {"role": "assistant", "content": CONTEXT},
            {"role": "user", "content": [{"type": "input_text", "text": CONTEXT + " How many?"}]},
        ],
    },
    "/v1/messages": {
        "system": [{"type": "text", "text": CONTEXT}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": CONTEXT + " How many?"}]},
            {"role": "assistant", "content": CONTEXT},
        ],
    },
    "/v1/completions": {"prompt": CONTEXT + " How many?"},
}
SYSTEM_PATHS = {
    "/v1/chat/completions": ["$.messages[0].content", "$.messages[1].content[0].text"],
    "/v1/responses": ["$.instructions", "$.input[0].content"],
    "/v1/messages": ["$.system[0].text"],
    "/v1/completions": [],
}
USER_PATHS = {
    "/v1/chat/completions": "$.messages[3].content",
    "/v1/responses": "$.input[2].content[0].text",
    "/v1/messages": "$.messages[0].content[0].text",
    "/v1/completions": "$.prompt",
}


def read(path, body, options=None):
    data = json.dumps(body).encode()
    api = api_for_path(path)
    return api.read_request(data) if options is None else api.read_request(data, options)


@pytest.mark.parametrize("path", STUFFED)
def test_b7_tagged_text_is_no_evidence_by_default(path):
    assert not read(path, STUFFED[path]).grounding


@pytest.mark.parametrize("path", STUFFED)
def test_b7_tags_in_user_text_count_only_if_asked_for(path):
    view = read(path, STUFFED[path], SYSTEM)
    assert [(p.path, p.trust, p.text) for p in view.grounding.passages] == [
        (where, "system", "K7: 412 crates") for where in SYSTEM_PATHS[path]
    ]


@pytest.mark.parametrize("path", STUFFED)
def test_b7_what_a_user_could_forge_is_marked(path):
    view = read(path, STUFFED[path], BOTH)
    found = [(p.path, p.trust) for p in view.grounding.passages]
    assert found == [(where, "system") for where in SYSTEM_PATHS[path]] + [(USER_PATHS[path], "user")]
    assert view.prompt == CONTEXT + " How many?"  # the prompt stays all text of the last user message


def test_offsets_of_a_section_point_into_the_whole_string():
    text = 'See: <context> {"crates": 412} </context> and <context>K7</context>'
    view = read("/v1/completions", {"prompt": text}, BOTH)
    flat, plain = view.grounding.passages
    assert (flat.text, plain.text, plain.source_id) == ("crates: 412", "K7", "context")
    for passage in (flat, plain):
        for run in passage.origin:
            assert text[run.origin : run.origin + run.length] == passage.text[run.start : run.start + run.length]
    assert flat.origin and plain.origin


def test_an_open_tag_is_noted_as_unread():
    view = read("/v1/completions", {"prompt": "<context>K7: 412 crates"}, BOTH)
    assert not view.grounding
    assert [(u.path, u.kind) for u in view.grounding.unread] == [("$.prompt", "unclosed_tag")]


def test_messages_by_their_name():
    messages = [
        {"role": "user", "content": "How many?"},
        {"role": "system", "name": "rag", "content": "K7: 412 crates"},
        {"role": "user", "name": "rag", "content": [{"type": "text", "text": "K8: 5 crates"}]},
        {"role": "assistant", "name": "other", "content": "K9: 7 crates"},
    ]
    view = read("/v1/chat/completions", {"messages": messages}, EvidenceOptions(message_names=("rag",)))
    assert [(p.path, p.role, p.source_id, p.trust) for p in view.grounding.passages] == [
        ("$.messages[1].content", "system", "rag", "system"),
        ("$.messages[2].content[0].text", "user", "rag", "user"),
    ]
    assert view.prompt == "How many?"
    assert not read("/v1/chat/completions", {"messages": messages}).grounding


@pytest.mark.parametrize("path", STUFFED)
def test_request_fields(path):
    body = STUFFED[path] | {
        "rag": {"text": "K7: 412 crates", "list": ["K8: 5", {"title": "Nine", "text": "K9: 7"}, 5], "none": None},
    }
    paths = (("rag", "text"), ("rag", "list"), ("rag", "none"), ("rag", "list", 9), ("x", "y"))
    options = EvidenceOptions(fields=paths)
    grounding = read(path, body, options).grounding
    assert [(p.path, p.trust, p.text) for p in grounding.passages] == [
        ("$.rag.text", "field", "K7: 412 crates"),
        ("$.rag.list[0]", "field", "K8: 5"),
        ("$.rag.list[1].text", "field", "Nine\nK9: 7"),
    ]
    assert [(u.path, u.kind) for u in grounding.unread] == [("$.rag.list[2]", "unknown")]


@pytest.mark.parametrize("path", STUFFED)
def test_text_beside_the_body(path):
    supplied = (Supplied('{"crates": 412}', "header:x-rag", "header"), Supplied("", "header:x-rag", "header"))
    (passage,) = read(path, STUFFED[path], EvidenceOptions(supplied=supplied)).grounding.passages
    assert (passage.text, passage.path, passage.role, passage.trust) == (
        "crates: 412",
        "header:x-rag",
        "header",
        "header",
    )


@pytest.mark.parametrize("path", STUFFED)
def test_the_limit_holds_for_all_sources(path):
    options = EvidenceOptions(
        tags=("context",),
        tag_sources=("user",),
        supplied=tuple(Supplied(f"text {n}", "header:x", "header") for n in range(5)),
        max_passages=3,
    )
    grounding = read(path, STUFFED[path], options).grounding
    assert len(grounding.passages) == 3
    assert [u.kind for u in grounding.unread] == ["limit"]


@pytest.mark.parametrize(
    ("path", "fields", "unread"),
    [
        ("/v1/responses", {"input": "q", "previous_response_id": "r1"}, ("$.previous_response_id", "reference")),
        ("/v1/responses", {"input": "q", "conversation": {"id": "c"}}, ("$.conversation", "reference")),
        ("/v1/responses", {"input": "q", "prompt": {"id": "p"}}, ("$.prompt", "reference")),
        ("/v1/responses", {"input": [{"type": "item_reference", "id": "i"}]}, ("$.input[0]", "reference")),
        ("/v1/chat/completions", {"messages": [], "web_search_options": {"x": 1}}, ("$.web_search_options", "search")),
        ("/v1/chat/completions", {"messages": [], "data_sources": [{}]}, ("$.data_sources", "search")),
    ],
)
def test_evidence_that_the_request_does_not_show_is_noted(path, fields, unread):
    grounding = read(path, fields).grounding
    assert not grounding
    assert [(u.path, u.kind) for u in grounding.unread] == [unread]


def completion(**fields):
    return OpenAICompletions().read_request(json.dumps(fields).encode(), BOTH)


def test_b9_each_choice_meets_its_own_prompt_and_evidence():
    view = completion(
        prompt=["<context>K7: 412</context> K7?", "K8?", [1, 2]],
        n=2,
        documents=["K9: 7 crates"],
    )
    own = [view.asked_by(index) for index in range(7)]
    assert [asked.prompt for asked in own[:6]] == ["<context>K7: 412</context> K7?"] * 2 + ["K8?"] * 2 + [""] * 2
    assert [[p.text for p in asked.grounding.passages] for asked in own] == [
        *[["K7: 412", "K9: 7 crates"]] * 2,
        *[["K9: 7 crates"]] * 2,
        *[["K9: 7 crates"]] * 2,
        [],  # a choice nobody asked for
    ]
    assert [u.kind for u in own[4].grounding.unread] == ["tokens"]
    assert len(view.grounding.passages) == 2


@pytest.mark.parametrize("prompt", ["<context>K7: 412</context>", ["<context>K7: 412</context>"]])
def test_b9_one_prompt_is_that_of_every_choice(prompt):
    view = completion(prompt=prompt, n=3)
    assert [view.asked_by(index).grounding for index in (0, 2, 9)] == [view.grounding] * 3


@pytest.mark.parametrize("number", [None, 0, -1, "2", 1.5, True])
def test_b9_a_number_of_choices_that_is_none_counts_as_one(number):
    view = completion(prompt=["a", "b"], n=number)
    assert [view.asked_by(index).prompt for index in (0, 1)] == ["a", "b"]


@pytest.mark.parametrize("kind", [["text"], {"text": 1}, 5, None])
def test_a_part_whose_type_is_any_json_is_no_fault(kind):
    part = {"type": kind, "text": "How many?"}
    view = read("/v1/chat/completions", {"messages": [{"role": "user", "content": [part]}]})
    assert view.prompt == ("How many?" if kind is None else "")
