"""``routing.signals``: the families read here are ``hallucination``, ``fact_check`` and ``keywords``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from vsr_hallucination.config import yamltext
from vsr_hallucination.config.cursor import Cursor, Fields
from vsr_hallucination.config.problems import words
from vsr_hallucination.config.rules import read_name
from vsr_hallucination.config.schema import HallucinationRule, KeywordRule

NEEDS_FACT_CHECK = "needs_fact_check"
NO_FACT_CHECK_NEEDED = "no_fact_check_needed"
FACT_CHECK_NAMES = (NEEDS_FACT_CHECK, NO_FACT_CHECK_NEEDED)
RESERVED_RULE = "plugin"  # names the outcome of the compatibility path

FAMILY_KEYS = words(
    """
    keywords embeddings domains fact_check user_feedbacks reasks preferences language context structure
    complexity modality role_bindings jailbreak safety hallucination pii kb conversation events metadata
    input_modality classifiers actions action agentic_facts decision decisions topic_continuity random
    session session_metrics taxonomy event_context event_context_rules signal_groups
    """
)
_RULE = frozenset({"name", "use_nli", "description"})
_KEYWORD = words(
    """
    name description operator keywords case_sensitive method fuzzy_match fuzzy_threshold bm25_threshold
    ngram_threshold ngram_arity
    """
)
_OPERATORS: Mapping[str, str] = {operator: operator for operator in ("OR", "AND", "NOR")}
_PLAIN_METHODS = ("", "regex", "exact", "keyword")
_REGEX = "regex"  # the router's word for keywords that are regular expressions, matched anywhere
_PATTERN = re.compile(r"[\\*+?()|\[\]{}^$]")  # a dot alone stands for itself often enough
# A rule's name stands in comma- and `=`-separated response headers.
_HEADER_SAFE = re.compile(r"[!-~]{1,128}\Z")
_SEPARATORS = frozenset(',;="')


@dataclass(frozen=True, slots=True)
class Signals:
    """The request-stage signals and the response-stage rules of one recipe."""

    hallucination: tuple[HallucinationRule, ...] = ()
    hallucination_at: Cursor | None = None  # the first rule's place
    keywords: tuple[KeywordRule, ...] = ()
    keyword_names: frozenset[str] = frozenset()
    patterns: frozenset[str] = frozenset()  # keyword rules over regular expressions, which are not evaluated here
    approximate: tuple[tuple[Cursor, str], ...] = ()  # rules that ask for a method of the router's own
    fact_check: frozenset[str] = frozenset()
    elsewhere: frozenset[str] = frozenset()  # names of domains and embeddings, which the router partitions


def read_signals(fields: Fields) -> Signals:
    """The ``signals`` block of a routing block."""
    block = fields.sub("signals", FAMILY_KEYS)
    keywords, patterns, approximate = _keywords(block)
    names = frozenset(rule.name for rule in keywords) | patterns
    elsewhere = frozenset(name for family in ("domains", "embeddings") for name in _names(block, family))
    rules = _hallucination(block)
    at = next(block.each("hallucination"), None) if rules else None
    return Signals(rules, at, keywords, names, patterns, approximate, _fact_check(block), elsewhere)


def _names(block: Fields, family: str) -> Iterator[str]:
    """The names in a family that is not read here; what is wrong with it is the router's to say."""
    found = block.get(family)
    for item in found.node.items if found is not None and isinstance(found.node, yamltext.Sequence) else ():
        name = item.entries.get("name") if isinstance(item, yamltext.Mapping) else None
        if name is not None and isinstance(name[1], yamltext.Scalar):
            yield name[1].text


def _hallucination(block: Fields) -> tuple[HallucinationRule, ...]:
    rules: list[HallucinationRule] = []
    seen: dict[str, Cursor] = {}
    for entry in block.each("hallucination"):
        fields = entry.fields(_RULE, owned=True)
        name = read_name(fields, "a hallucination rule")
        use_nli = fields.flag("use_nli", False)
        if name is None or repeated(name, fields.place("name"), seen, "hallucination rule"):
            continue
        if name == RESERVED_RULE:
            fields.place("name").error(
                f"`{RESERVED_RULE}` is reserved: it names the outcome of a plugin without rules",
                "choose another name",
            )
        elif not _HEADER_SAFE.match(name) or _SEPARATORS & set(name):
            fields.place("name").error(
                "travels in response headers and holds a character that does not survive there",
                'use up to 128 ASCII letters, digits and signs, without spaces and , ; = "',
            )
        rules.append(HallucinationRule(name, use_nli, fields.prose("description")))
    return tuple(rules)


def _fact_check(block: Fields) -> frozenset[str]:
    seen: dict[str, Cursor] = {}
    for entry in block.each("fact_check"):
        fields = entry.fields({"name", "description"})
        name = read_name(fields, "a fact_check signal")
        if name is None or repeated(name, fields.place("name"), seen, "fact_check signal"):
            continue
        if name not in FACT_CHECK_NAMES:
            fields.place("name").error(
                f"`{name[:60]}` is no fact_check signal", f"use {NEEDS_FACT_CHECK} or {NO_FACT_CHECK_NEEDED}"
            )
    return frozenset(seen)


def _keywords(
    block: Fields,
) -> tuple[tuple[KeywordRule, ...], frozenset[str], tuple[tuple[Cursor, str], ...]]:
    """The rules that are evaluated, the names of those over regular expressions, and who asks for other matching."""
    rules: list[KeywordRule] = []
    patterns: set[str] = set()
    approximate: list[tuple[Cursor, str]] = []
    seen: dict[str, Cursor] = {}
    for entry in block.each("keywords"):
        fields = entry.fields(_KEYWORD)
        name = read_name(fields, "a keyword rule")
        words = fields.texts("keywords")
        operator = fields.choice("operator", "OR", _OPERATORS, any_case=True)
        case_sensitive = fields.flag("case_sensitive", False)
        if not words and ("keywords" not in fields or fields.place("keywords").is_list):
            fields.place("keywords").error("is empty or missing", "list at least one keyword")
        method = fields.text("method", "").lower()
        if method not in _PLAIN_METHODS or fields.flag("fuzzy_match", False):
            at = fields.place("method" if "method" in fields else "fuzzy_match")
            approximate.append((at, method or "fuzzy"))
        if name is None or repeated(name, fields.place("name"), seen, "keyword rule"):
            continue
        if method == _REGEX and any(_PATTERN.search(word) for word in words):
            patterns.add(name)
        else:
            rules.append(KeywordRule(name, words, operator, case_sensitive, whole_words=method != _REGEX))
    return tuple(rules), frozenset(patterns), tuple(approximate)


def repeated(name: str, at: Cursor, seen: dict[str, Cursor], what: str) -> bool:
    """True, and an error naming both places, where an entry of that name came before; else remembers it."""
    first = seen.setdefault(name, at)
    if first is at:
        return False
    line, column = first.mark
    article = "an" if what[0] in "aeiou" else "a"
    where = f"stands at {line}:{column} already"
    at.error(f"{article} {what} named `{name[:60]}` {where}", "rename or remove one of the two")
    return True
