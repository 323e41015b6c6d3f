"""Request-stage signals: keywords in the prompt, what the fact-check classifier said of it, projections. Pure.

A signal is a pair (family, name), ``("keyword", "billing")``; a mapping holds the confidence of those that match.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

from vsr_hallucination.config.schema import KeywordRule, Recipe
from vsr_hallucination.detection.types import GateResult
from vsr_hallucination.routing.projections import project

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
_WORD = rf"[^\W{_UNSPACED}]"
_STARTS_AS_WORD = re.compile(_WORD)
_ENDS_AS_WORD = re.compile(rf"{_WORD}\Z")


def evaluate_keywords(recipe: Recipe, prompt: str) -> Mapping[str, float]:
    """The recipe's keyword rules that match ``prompt``, each with confidence 1.0: a word is there or it is not.

    Keywords are literal text. Case is folded unless ``case_sensitive``; canonically equal spellings are one, and so
    are all runs of white space. Where a keyword begins or ends with a letter or digit of a spaced script, it matches
    whole words only (unless the rule says otherwise); in Chinese, Japanese, Thai and the like, anywhere. OR: one
    keyword at least, AND: all, NOR: none.
    """
    folded: dict[bool, str] = {}
    for rule in recipe.keywords:
        if rule.case_sensitive not in folded:
            folded[rule.case_sensitive] = _fold(prompt, rule.case_sensitive)
    return {rule.name: 1.0 for rule in recipe.keywords if _matches(rule, folded[rule.case_sensitive])}


def request_signals(recipe: Recipe, prompt: str, gate: GateResult | None) -> Mapping[Signal, float]:
    """All signals of the request stage and what the recipe projects from them, ready for ``select``.

    ``gate`` None: the classifier was not asked.
    """
    keywords = {(KEYWORD, name): confidence for name, confidence in evaluate_keywords(recipe, prompt).items()}
    return project(recipe.projections, keywords if gate is None else {**keywords, **fact_check_signals(gate)})


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


def _matches(rule: KeywordRule, text: str) -> bool:
    found = (_pattern(word, rule.case_sensitive, rule.whole_words).search(text) is not None for word in rule.keywords)
    if rule.operator == "AND":
        return all(found)
    return any(found) if rule.operator == "OR" else not any(found)


def _fold(text: str, case_sensitive: bool) -> str:
    text = text if text.isascii() else unicodedata.normalize("NFC", text)
    return " ".join((text if case_sensitive else text.casefold()).split())


@lru_cache(maxsize=4096)
def _pattern(word: str, case_sensitive: bool, whole_words: bool) -> re.Pattern[str]:
    """The keyword first, then what stands around it: a pattern that begins with literals is searched fast."""
    folded = _fold(word, case_sensitive)
    literal = re.escape(folded)
    before = f"(?<!{_WORD}{literal})" if whole_words and _STARTS_AS_WORD.match(folded) else ""
    after = f"(?!{_WORD})" if whole_words and _ENDS_AS_WORD.search(folded) else ""
    return re.compile(literal + before + after)
