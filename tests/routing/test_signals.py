"""Keywords and the fact-check classifier's word, as signals."""

from __future__ import annotations

import time

import pytest

from vsr_hallucination.config.schema import KeywordRule, Recipe
from vsr_hallucination.detection.types import CheckFailure, GateResult, Reason
from vsr_hallucination.routing.signals import evaluate_keywords, fact_check_signals, request_signals


def matches(keywords: str | tuple[str, ...], prompt: str, operator: str = "OR", case_sensitive: bool = False) -> bool:
    words = (keywords,) if isinstance(keywords, str) else keywords
    recipe = Recipe(keywords=(KeywordRule("k", words, operator, case_sensitive),))
    found = evaluate_keywords(recipe, prompt)
    assert found in ({}, {"k": 1.0})
    return bool(found)


@pytest.mark.parametrize(
    ("keyword", "prompt", "found"),
    [
        ("audit", "The audit is due.", True),
        ("audit", "auditory", False),
        ("audit", "preaudit audited audit", True),
        ("audit", "", False),
        ("aa", "aaa aa", True),
        ("911", "call 911!", True),
        ("911", "19110", False),
        ("a_b", "a_b_c", False),
        ("credit card", "my CREDIT\n\tcard", True),
        ("credit card", "creditcard", False),
        ("C++", "learn c++ now", True),
        ("C++", "objc++", False),
        (".net", "the .NET way", True),
        (".*", "anything", False),
        (".*", "a .* pattern", True),
        ("(x", "f(x)", True),
        ("[a-z]", "b", False),
        ("a|b", "b", False),
        ("\\d", "7", False),
        ("Straße", "die STRASSE", True),
        ("ÉCOLE", "l'école", True),
        ("cafe\u0301", "caf\u00e9", True),
        ("деньги", "Деньги!", True),
        ("деньг", "деньги", False),
    ],
)
def test_words_are_literal_and_whole(keyword: str, prompt: str, found: bool) -> None:
    assert matches(keyword, prompt) is found


@pytest.mark.parametrize(
    ("keyword", "prompt", "found"),
    [
        ("审计", "请为审计准备材料", True),
        ("审计", "请准备材料", False),
        ("監査", "内部監査について", True),
        ("テスト", "ストレステスト中", True),
        ("json", "请用JSON输出", True),
        ("json", "请用JSONL输出", False),
        ("ไทย", "ภาษาไทยง่าย", True),
        ("GB报表", "12GB报表", False),
        ("GB报表", "按GB报表", True),
    ],
)
def test_unspaced_scripts_match_anywhere(keyword: str, prompt: str, found: bool) -> None:
    assert matches(keyword, prompt) is found


def test_case() -> None:
    assert matches("US", "the US market", case_sensitive=True)
    assert not matches("US", "tell us more", case_sensitive=True)
    assert matches("US", "tell us more")


@pytest.mark.parametrize(
    ("operator", "prompt", "found"),
    [
        ("OR", "one", True), ("OR", "none", False),
        ("AND", "two and one", True), ("AND", "one", False),
        ("NOR", "none", True), ("NOR", "one", False), ("NOR", "", True),
    ],
)  # fmt: skip
def test_operators(operator: str, prompt: str, found: bool) -> None:
    assert matches(("one", "two"), prompt, operator) is found


def test_rules_of_both_cases_are_each_judged_by_their_own() -> None:
    rules = (KeywordRule("exact", ("AI",), case_sensitive=True), KeywordRule("any", ("ai",)))
    assert evaluate_keywords(Recipe(keywords=rules), "ai") == {"any": 1.0}
    assert evaluate_keywords(Recipe(keywords=rules), "AI") == {"exact": 1.0, "any": 1.0}


def test_long_prompts_made_to_hurt_are_read_quickly() -> None:
    rules = tuple(KeywordRule(f"k{i}", ("a", "aa b", f"word{i}")) for i in range(20))
    for prompt in ("a" * 300_000, "aa " * 100_000, "word " * 60_000, "wordword" * 40_000):
        start = time.thread_time()  # of this thread: what else the machine does is no matter here
        evaluate_keywords(Recipe(keywords=rules), prompt)
        assert time.thread_time() - start < 2.0


def test_plain_text_of_the_method_regex_is_found_anywhere() -> None:
    rules = (KeywordRule("words", ("cause",)), KeywordRule("anywhere", ("cause",), whole_words=False))
    assert evaluate_keywords(Recipe(keywords=rules), "the CAUSES of it") == {"anywhere": 1.0}
    assert evaluate_keywords(Recipe(keywords=rules), "the cause") == {"words": 1.0, "anywhere": 1.0}


def test_the_gates_word() -> None:
    assert fact_check_signals(GateResult(True, 0.75)) == {("fact_check", "needs_fact_check"): 0.75}
    assert fact_check_signals(GateResult(False, 0.25)) == {("fact_check", "no_fact_check_needed"): 0.75}
    assert fact_check_signals(GateResult(True, None)) == {("fact_check", "needs_fact_check"): 1.0}
    assert fact_check_signals(GateResult(False, None)) == {("fact_check", "no_fact_check_needed"): 1.0}


@pytest.mark.parametrize("reason", [Reason.FACT_CHECK_FAILED, Reason.NOT_PROVISIONED])
def test_a_failed_gate_says_neither(reason: Reason) -> None:
    assert fact_check_signals(GateResult(True, 0.9, CheckFailure(reason))) == {}


def test_request_signals_are_both() -> None:
    recipe = Recipe(keywords=(KeywordRule("k", ("x",)),))
    assert request_signals(recipe, "x", GateResult(True, 0.5)) == {
        ("keyword", "k"): 1.0,
        ("fact_check", "needs_fact_check"): 0.5,
    }
    assert request_signals(recipe, "x", None) == {("keyword", "k"): 1.0}
