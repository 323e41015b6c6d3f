"""Fields that are true or false, and names that no evidence has."""

from __future__ import annotations

import json

import pytest

from vsr_hallucination.apis.evidence import EvidenceBuilder
from vsr_hallucination.apis.openai_chat import OpenAIChat
from vsr_hallucination.cli.evidence import grounding_of
from vsr_hallucination.detection.pointer import EvidenceIndex
from vsr_hallucination.detection.relations.check import check_relations

ACCOUNT = json.dumps({"balance": 1520, "blocked": False, "account": {"emailVerified": True, "in_stock": False}})
TWO = json.dumps([{"name": "north", "open": True}, {"name": "south", "open": False}])
TELESCOPE = "The Orion telescope was built in Chile by a consortium of seven countries."


def said(evidence: str, answer: str, question: str = "") -> list[tuple[str, str]]:
    name = "e.json" if evidence[0] in "[{" else "e.txt"
    index = EvidenceIndex.build(grounding_of([(name, evidence)]))
    return [(found.kind, found.said) for found in check_relations(answer, question, index)]


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        ("Your balance is 1520, but the account is blocked.", "is blocked"),
        ("The account is currently blocked.", "is currently blocked"),
        ("Your email is not verified.", "is not verified"),
        ("The email isn't verified yet.", "isn't verified"),
        ("The item is in stock.", "is in stock"),
    ],
)
def test_a_field_said_the_other_way_round(answer: str, wrong: str) -> None:
    assert said(ACCOUNT, answer) == [("negation", wrong)]


@pytest.mark.parametrize(
    ("evidence", "answer"),
    [
        (ACCOUNT, "The account is not blocked."),
        (ACCOUNT, "Your email is verified."),
        (ACCOUNT, "The item is not in stock."),
        (ACCOUNT, "If the account is blocked, call us."),
        (ACCOUNT, "Whether the account is blocked does not matter."),
        (ACCOUNT, "Is the account blocked?"),
        (TWO, "The north gate is open."),
        (TWO, "The south gate is not open."),
    ],
)
def test_a_field_said_as_it_stands(evidence: str, answer: str) -> None:
    assert said(evidence, answer) == []


@pytest.mark.parametrize(
    ("evidence", "answer", "name"),
    [
        (TELESCOPE, "The Orion telescope stands in Hawaii.", "Hawaii"),
        (TELESCOPE, "It was built in Norway by seven countries.", "Norway"),
        (TELESCOPE, "It was built in Chile and named by Vera Lindqvist.", "Vera Lindqvist"),
        ('{"from": "FRA", "to": "LIS"}', "The flight to LIS goes to Madrid.", "Madrid"),
    ],
)
def test_a_name_that_no_evidence_has(evidence: str, answer: str, name: str) -> None:
    assert said(evidence, answer) == [("named", name)]


@pytest.mark.parametrize(
    ("evidence", "answer", "question"),
    [
        (TELESCOPE, "The Orion telescope stands in Chile.", ""),
        (TELESCOPE, "The telescope in Hawaii is not mentioned.", ""),
        (TELESCOPE, "The telescope was not built in Hawaii.", "Was the Orion telescope built in Hawaii?"),
        (TELESCOPE, "It was built by seven countries, some of them European.", ""),
        ("The German team won in Oslo.", "The team from Germany won in Oslo.", ""),
        ("De Niro plays the driver.", "The driver is played by Robert De Niro.", ""),
        ("The WHO advises rest.", "Rest is advised by the World Health Organization.", ""),
        ('{"from": "FRA", "to": "LIS"}', "The flight goes from Frankfurt to Lisbon.", "Where does the flight go?"),
        ("The meeting is at noon.", "The meeting is at noon. Happy to help!", ""),
        ("The river floods the town.", "The river floods the town in Africa.", ""),
    ],
)
def test_a_name_that_may_be_said(evidence: str, answer: str, question: str) -> None:
    assert said(evidence, answer, question) == []


def test_a_name_that_the_conversation_has_is_not_invented() -> None:
    body = {
        "messages": [
            {"role": "system", "content": "You are Ava, who answers for Contoso."},
            {"role": "user", "content": [{"type": "text", "text": "I stay at the Meridian."}]},
            {"role": "tool", "tool_call_id": "1", "content": TELESCOPE},
            {"role": "user", "content": "Where was it built?"},
        ]
    }
    view = OpenAIChat().read_request(json.dumps(body).encode())
    assert {"ava", "contoso", "meridian"} <= view.grounding.heard
    assert [passage.text for passage in view.grounding.passages] == [TELESCOPE]
    index = EvidenceIndex.build(view.grounding)

    def names(answer: str) -> list[str]:
        return [found.said for found in check_relations(answer, view.prompt, index)]

    assert names("It was built in Chile, says your Contoso guide at the Meridian.") == []
    assert names("It was built in Chile, says your Fabrikam guide.") == ["Fabrikam"]


def test_what_is_heard_is_bounded() -> None:
    builder = EvidenceBuilder()
    names = (f"Name{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}x" for n in range(50_000))
    builder.prompted(" ".join(names), ("p",), role="user")
    builder.prompted("word " * 50_000 + "Hidden", ("p",), role="user")
    heard = builder.grounding().heard
    assert 0 < len(heard) < 4000 and "hidden" not in heard
