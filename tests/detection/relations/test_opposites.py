"""Which words are each other's opposite."""

from __future__ import annotations

import pytest

from vsr_hallucination.detection.relations import lexicon, opposites


@pytest.mark.parametrize(
    ("one", "two", "sort"),
    [("rose", "fell", "comparison"), ("grown", "shrank", "comparison"), ("before", "after", "order"),
     ("second", "fifth", "order"), ("all", "none", "negation"), ("certain", "uncertain", "negation"),
     ("able", "unable", "negation"), ("negative", "non-negative", "negation"), ("direct", "indirect", "negation"),
     ("come", "income", None), ("cover", "discover", None), ("less", "unless", None), ("til", "until", None),
     ("rose", "grew", None), ("first", "first", None), ("", "", None)],
)  # fmt: skip
def test_opposites_and_words_that_only_look_like_them(one: str, two: str, sort: str | None) -> None:
    assert opposites.opposed(one, two) == opposites.opposed(two, one) == sort


def test_what_overstates() -> None:
    assert lexicon.overstates("may", "must") and lexicon.overstates("must", "may") and lexicon.overstates("some", "all")
    assert not lexicon.overstates("all", "some") and not lexicon.overstates("may", "can")


def test_no_word_is_its_own_opposite_and_tables_are_case_folded() -> None:
    for words in (opposites.RISES, opposites.FALLS, lexicon.NEGATIONS, lexicon.POSSIBLE):
        assert all(word == word.casefold() and opposites.opposed(word, word) is None for word in words)
    assert not opposites.RISES & opposites.FALLS
