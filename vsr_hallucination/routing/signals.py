"""Request-stage signals: keywords in the prompt, and what the fact-check classifier said of it. Pure.

A signal is a pair (family, name), ``("keyword", "billing")``; a mapping holds the confidence of those that match.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from vsr_hallucination.config.schema import KeywordRule, Recipe
from vsr_hallucination.detection.types import GateResult

Signal = tuple[str, str]

KEYWORD = "keyword"
FACT_CHECK = "fact_check"
NEEDS_FACT_CHECK = "needs_fact_check"
NO_FACT_CHECK_NEEDED = "no_fact_check_needed"

# Scripts written without spaces between words: a boundary beside such a character means nothing.
_UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Myanmar, Khmer
    "\u2e80-\u303f\u3040-\u30ff\u3100-\u312f\u31a0-\u31ff"  # CJK radicals, kana, bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"  # ideographs, half-width kana
    "\U00020000-\U0003ffff"  # ideographs beyond the BMP
)
_SPACED_WORD = re.compile(rf"[^\W{_UNSPACED}]")
_NOT_AFTER = rf"(?<![^\W{_UNSPACED}])"
_NOT_BEFORE = rf"(?![^\W{_UNSPACED}])"


def evaluate_keywords(recipe: Recipe, prompt: str) -> Mapping[str, float]:
    """The recipe's keyword rules that match ``prompt``, each with confidence 1.0: a word is there or it is not.

    Keywords are literal text; runs of white space in them match any white space. Where a keyword begins or ends
    with a letter or digit of a spaced script, it matches whole words only; in Chinese, Japanese, Thai and the
    like, anywhere. OR: one keyword at least, AND: all, NOR: none.
    """
    return {rule.name: 1.0 for rule in recipe.keywords if _matches(rule, prompt)}


def request_signals(recipe: Recipe, prompt: str, gate: GateResult | None) -> Mapping[Signal, float]:
    """All signals of the request stage, ready for ``select``. ``gate`` None: the classifier was not asked."""
    keywords = {(KEYWORD, name): confidence for name, confidence in evaluate_keywords(recipe, prompt).items()}
    return keywords if gate is None else {**keywords, **fact_check_signals(gate)}


def fact_check_signals(gate: GateResult) -> Mapping[Signal, float]:
    """Which of the two fact_check signals matches, with the classifier's confidence in it.

    ``score`` is P(needs fact check); a gate that did not run by choice (``filter.fact_check: always``) has none
    and counts as sure. On failure neither matches: what was not classified is neither.
    """
    if gate.failure is not None:
        return {}
    score = 1.0 if gate.score is None else min(1.0, max(0.0, gate.score))
    if gate.needs_fact_check:
        return {(FACT_CHECK, NEEDS_FACT_CHECK): score}
    return {(FACT_CHECK, NO_FACT_CHECK_NEEDED): 1.0 if gate.score is None else 1.0 - score}


def _matches(rule: KeywordRule, prompt: str) -> bool:
    if rule.operator == "AND":
        return all(_pattern((word,), rule.case_sensitive).search(prompt) for word in rule.keywords)
    found = _pattern(rule.keywords, rule.case_sensitive).search(prompt) is not None
    return not found if rule.operator == "NOR" else found


@lru_cache(maxsize=4096)
def _pattern(words: tuple[str, ...], case_sensitive: bool) -> re.Pattern[str]:
    """One alternation over all words: the prompt is read once a rule, without backtracking across words."""
    flags = re.UNICODE if case_sensitive else re.UNICODE | re.IGNORECASE
    return re.compile("|".join(map(_literal, words)), flags)


def _literal(word: str) -> str:
    text = r"\s+".join(re.escape(part) for part in word.split())
    stripped = word.strip()
    before = _NOT_AFTER if _SPACED_WORD.match(stripped[:1]) else ""
    after = _NOT_BEFORE if _SPACED_WORD.match(stripped[-1:]) else ""
    return f"{before}{text}{after}"
