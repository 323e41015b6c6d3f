"""One function knows what "I don't know" looks like."""

from __future__ import annotations

import pytest

from vsr_hallucination.evaluation.abstention import folded, is_abstention

DOCUMENTED = (
    "idk", "i dont know", "i don't know", "i do not know", "unknown", "cannot answer", "cant answer", "can't answer",
    "not sure",
)  # fmt: skip
CLOTHES = (
    "{}",
    "{}.",
    " {}! ",
    '"{}"',
    "“{}”",
    "**{}**",
    "`{}`",
    "({})",
    "Answer: {}",
    "The answer is: {}",
    "{}\n",
)


@pytest.mark.parametrize("phrase", DOCUMENTED)
@pytest.mark.parametrize("clothes", CLOTHES)
def test_documented_phrases_in_all_clothes(phrase: str, clothes: str) -> None:
    assert is_abstention(clothes.format(phrase))
    assert is_abstention(clothes.format(phrase.upper()))
    assert is_abstention(clothes.format(phrase.replace("'", "’")))


@pytest.mark.parametrize(
    "text",
    [
        "不知道",
        "我不知道",
        "无法回答",
        "不确定",
        "我不知道。",
        "「不确定」",
        "答案：不知道",
        "抱歉，我不知道。",
        "無法回答",
        "未知",
    ],
)
def test_chinese_forms(text: str) -> None:
    assert is_abstention(text)


@pytest.mark.parametrize(
    "text", ["ＩＤＫ", "I\u200b don't\u00a0know", "I don‘t know", "I donʼt know", "\ufeffIDK"]
)
def test_unicode_forms(text: str) -> None:
    assert is_abstention(text)


@pytest.mark.parametrize(
    "text",
    [
        "Sorry, I don't know.",
        "I don't know. The library has no such method.",
        "The library has no such method.\n\nIDK",
        "IDK - the question names no year",
        "I don't know who built the bridge.",
        "I’m not sure which year it was.",
        "I cannot answer this question without more information.",
        "I am unable to determine the return value.",
        "I do not have enough information to answer.",
        "我不知道是谁写的。",
    ],
)
def test_an_abstention_with_its_reason(text: str) -> None:
    assert is_abstention(text)


@pytest.mark.parametrize(
    "text",
    ["", "   ", "42", "I don't know. Maybe 42.", "I don't know, but 42", "IDK Rally", "The Unknown", "No", "不知道火星",
     "I don't know. It is probably Paris.", "不知道。也许是巴黎。", "I'm not sure, it could be Paris",
     "I think it is Paris",
     "I don't know for certain, but probably 42", "I know", "我不知道，但可能是巴黎", "unknown soldier"],
)  # fmt: skip
def test_answers_and_nothing_are_no_abstentions(text: str) -> None:
    assert not is_abstention(text)


def test_unknown_as_the_gold_answer_is_an_answer() -> None:
    assert not is_abstention("Unknown.", gold="unknown")
    assert not is_abstention("The answer is unknown", gold="Unknown")
    assert is_abstention("IDK", gold="unknown")
    assert is_abstention("unknown", gold="1912")


def test_folding_is_bounded_and_never_fails() -> None:
    assert folded("\ud800 “X”") == "\ud800 x"
    assert not is_abstention("x" * 3_000_000)
    assert not is_abstention("\n" * 100_000 + "42")
