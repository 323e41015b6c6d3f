"""All rules over an answer: which language they read, what they share, and how long they take at most."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

import pytest

from vsr_hallucination.detection.pointer import EvidenceIndex, Unit
from vsr_hallucination.detection.relations import flags
from vsr_hallucination.detection.relations.check import check_relations
from vsr_hallucination.detection.relations.lexicon import SAYING
from vsr_hallucination.detection.relations.reading import Lines, Token, Turned, whole
from vsr_hallucination.detection.relations.verbs import by_form
from vsr_hallucination.detection.sentence_features import sentence_spans
from vsr_hallucination.detection.types import Grounding, Passage


def indexed(evidence: str) -> EvidenceIndex:
    return EvidenceIndex.build(Grounding((Passage(evidence, "$"),)))


def found(evidence: str, answer: str, question: str = "") -> tuple[Turned, ...]:
    return check_relations(answer, question, indexed(evidence))


@pytest.mark.parametrize(
    ("evidence", "answer"),
    [
        ("El billete no incluye el desayuno en el hotel.", "El billete incluye el desayuno en el hotel."),
        ("Der Preis stieg nach dem Krieg in der Stadt.", "Der Preis stieg vor dem Krieg in der Stadt."),
        ("De toren is niet open op zondag in de stad.", "De toren is open op zondag in de stad."),
        ("Anna Berg verkaufte das Haus an Karl Voss.", "Karl Voss verkaufte das Haus an Anna Berg."),
        ("Le prix est 40 au nord et 11 au sud.", "Le prix est 11 au nord et 40 au sud."),
    ],
)
def test_other_languages_are_not_read(evidence: str, answer: str) -> None:
    assert found(evidence, answer) == ()


@pytest.mark.parametrize(
    ("evidence", "answer", "kind"),
    [
        ("Orion Labs acquired Nordwind in 2007 for 490 euros.", "Orion Labs was acquired by Nordwind.", "roles"),
        ("Prices rose sharply.", "Prices fell sharply.", "comparison"),
        ("Guests have tickets.", "Guests don't have tickets.", "negation"),
    ],
)
def test_few_small_words_show_english(evidence: str, answer: str, kind: str) -> None:
    assert [turned.kind for turned in found(evidence, answer)] == [kind]


def test_one_finding_a_sentence_in_text_order() -> None:
    evidence = "The lift at the gate is in service. The price of copper rose in spring. The gate opens at nine."
    answer = "The lift at the gate is not in service. The gate opens at nine. The price of copper fell in spring."
    assert [answer[turned.start : turned.end] for turned in found(evidence, answer)] == ["not", "fell"]


def test_a_line_too_long_for_one_is_read_as_a_sentence() -> None:
    sentence = "The fee of 3.5 euros covers " + "towels and lockers and " * 14 + "soap."
    passage = f"First. {sentence} Last."
    index = indexed(passage)
    assert len(index.units) > 3  # the sentence is cut in two
    lines = Lines(index)
    for unit in index.units[1:-1]:
        assert whole(lines.at(unit)).text.strip() == sentence
    assert whole(lines.at(index.units[0])).text.strip() == "First."


def test_lines_are_looked_up_once_for_all_who_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[frozenset[str]] = []
    real = EvidenceIndex.nearest

    def counted(self: EvidenceIndex, terms: Sequence[str], *rest: object) -> list[Unit]:
        looked.append(frozenset(terms))
        return real(self, terms, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(EvidenceIndex, "nearest", counted)
    index = indexed("The lift at the gate is in service. The gate opens at nine.")
    for _ in range(3):
        check_relations("The lift is in service. The gate opens at ten.", "When does the gate open?", index)
    assert len(looked) == 2


def hostile(kind: str, draw: random.Random) -> str:
    names = "Anna Bert Cora Dirk Emil Fritz Hana Ivan Jana Karl Lena Mara Nils Olga Paul".split()
    words = {
        "verbs": names * 4 + sorted(by_form()) + ["the", "of", "which"] * 40,
        "speakers": names + sorted(SAYING)[:20] + ["said", "that", "the", "according to", "of"] * 3,
        "numbers": ["3", "4", "17", "1999", "in", "the", "and", "was"],
        "negations": ["not", "the", "is", "never", "open", "gate,", "unless", "if", "always", "before"],
        "names": [*names, "and", "of", "the", "from"],
        "two": ["not", "the"],
    }[kind]
    return " ".join(draw.choice(words) for _ in range(100)) + ". "


@pytest.mark.parametrize("kind", ["verbs", "speakers", "numbers", "negations", "names", "two"])
def test_a_sentence_made_to_take_long_does_not(kind: str) -> None:
    draw = random.Random(7)
    answer = "".join(hostile(kind, draw) for _ in range(12))
    index = indexed("".join(hostile(kind, draw) for _ in range(12)) + answer)
    started = time.thread_time()
    check_relations(answer, "Who sold what to whom?", index)
    # Four times what it takes: without its bounds "verbs" takes ten times as long.
    assert time.thread_time() - started < 0.06 * len(sentence_spans(answer))


def test_sentences_beyond_the_bound_are_not_read() -> None:
    answer = "The gate is open at nine. " * 400 + "The lift at the gate is not in service."
    assert found("The lift at the gate is in service. The gate is open at nine.", answer) == ()
    assert found("The lift at the gate is in service. The gate is open at nine.", answer[26:]) != ()


def counted(monkeypatch: pytest.MonkeyPatch, evidence: str, answer: str) -> int:
    """How many words' lines are looked up for an answer."""
    looked: list[object] = []
    real = EvidenceIndex.nearest

    def nearest(self: EvidenceIndex, terms: Sequence[str], *rest: object) -> list[Unit]:
        looked.append(terms)
        return real(self, terms, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(EvidenceIndex, "nearest", nearest)
    assert found(evidence, answer) == ()
    return len(looked)


_PARTIES = ("Carl Dean", "Lena Otto", "Anna Weber", "Maria Silva")
_ALL_TOGETHER = f"Tom Reed and {' and '.join(_PARTIES)} opposed also another search service\n" * 100


def test_a_sentence_of_many_copied_deeds_looks_few_lines_up(monkeypatch: pytest.MonkeyPatch) -> None:
    told = "; ".join(f"{name} opposed the search service of doom" for name in _PARTIES * 2)
    said = "; ".join(["Tom Reed opposed the search service of doom"] * 8) + "."
    assert counted(monkeypatch, f"{told}\n" * 6 + _ALL_TOGETHER, said) < 40


def test_a_sentence_that_may_be_spliced_in_many_ways_looks_few_lines_up(monkeypatch: pytest.MonkeyPatch) -> None:
    plans = "billing mail index print lunch garden door".split()
    begun = "; ".join([*(f"Tom Reed opposed the {plan} plan" for plan in plans), "doom is a doom"])
    ended = "; ".join(f"{name} opposed the search service of doom" for name in _PARTIES * 2)
    said = "; ".join(["Tom Reed opposed the search service of doom"] * 8) + "."
    assert counted(monkeypatch, f"{begun}\n{ended}\n" * 3 + _ALL_TOGETHER, said) < 40


_ACTIVE = "All accounts that we looked at turned out " + "active and " * 100 + "fine. "


@pytest.mark.parametrize(
    "evidence",
    [
        "".join(f"items[{n}].active: true\nitems[{n}].name: x{n}\n" for n in range(1900)),
        "".join(f"a{chr(97 + n // 26 % 26)}{chr(97 + n % 26)}_active: true\n" for n in range(3900)),
    ],
    ids=["of many records", "of one last word"],
)
def test_a_sentence_is_held_against_few_fields(evidence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real, held = flags._stands, 0

    def stands(tokens: tuple[Token, ...], words: tuple[str, ...]) -> tuple[int, int] | None:
        nonlocal held
        held += 1
        return real(tokens, words)

    monkeypatch.setattr(flags, "_stands", stands)
    check_relations(_ACTIVE, "", indexed(evidence))
    assert held <= 32, "before: as often as the sentence's words times the fields, 190,000 and more"


class Searched(str):
    """A text that counts how often it is searched whole."""

    __slots__ = ("times",)
    times: int

    def __contains__(self, part: object) -> bool:
        self.times += 1
        return super().__contains__(part)  # type: ignore[arg-type]


def test_names_are_not_sought_through_the_whole_evidence_each(monkeypatch: pytest.MonkeyPatch) -> None:
    text = Searched("the fee does not cover the towels and the lockers but not lessons\n" * 300)
    text.times = 0
    asked: list[str] = []
    real = EvidenceIndex.knows
    monkeypatch.setattr(EvidenceIndex, "knows", lambda self, term: asked.append(term) or real(self, term))
    answer = ("the fee covers " + " and the ".join(["Peru Kenya"] * 30) + " in the towels. ") * 60
    check_relations(answer, "", EvidenceIndex.build(Grounding((Passage(text, "$"),))))
    assert text.times <= 4, "before: once for each of 1,800 names"
    assert len(asked) < 60 * 200, "before: ninety countries for each name, 160,000 look-ups"


def test_a_field_that_records_tell_differently_hides_no_other() -> None:
    records = "items[0].phone_verified: true\nitems[1].phone_verified: false\naccount.email_verified: true\n"
    assert [turned.kind for turned in found(records, "The email is not verified.")] == ["negation"]
    assert found(records, "The phone is not verified.") == ()
