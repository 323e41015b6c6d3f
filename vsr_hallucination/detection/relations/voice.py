"""Who fills which role of a verb's frame in a sentence: subject, object, "by", and what a preposition marks.

No parser: a subject is what stands between the last break and the verb, an object what stands up to the next small
word. Enough for the plain sentences of answers, and where a role is not found nothing is said of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from vsr_hallucination.detection.encoding import FUNCTION_WORDS
from vsr_hallucination.detection.relations import lexicon
from vsr_hallucination.detection.relations.parts import is_name
from vsr_hallucination.detection.relations.reading import Text, Token, gap
from vsr_hallucination.detection.relations.verbs import BESIDE, ENDS, GENERIC, HAVING, ONCE_HAD, Frame, by_form

_BE = lexicon.BE | {"got", "gets"}
_BREAKS = frozenset("although and as because before but if or since than that though when whereas while".split())
_RELATIVE = lexicon.RELATIVES | {"what"}
_CLAUSES = _BREAKS | _RELATIVE  # what opens a clause
_DETERMINERS = lexicon.DETERMINERS | {"of"}
_CLAUSAL = frozenset("are had has have is to was were".split())
_MARKS = frozenset(",;:()—–[]|")
_ASIDE = frozenset(";:()")
_STOPS = _ASIDE | {"."}
_PAST = ("ed", "ght", "lt", "ote", "rew", "won", "ave", "ought")
_AFTER = frozenset("currently now nowadays since today".split())
_LONGEST = 6  # content words of a party
_WIDEST = 24  # words of a party, small ones too
_MOST_VERBS = 8  # read in a text; of five thousand sentences of prose one has more
_MOST = 6  # frames of a text; prose has four at most
_REACH = 24  # words after a verb in which a preposition still belongs to it
_EMPTY: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Slot:
    """What fills a role: its words' keys and place."""

    keys: frozenset[str]
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Filled:
    """A frame found in a sentence, its verb at word ``at``; ``roles`` without those that nothing or a pronoun fills."""

    group: str
    at: int
    roles: dict[str, Slot]


@lru_cache(maxsize=1)
def _forms() -> dict[str, tuple[Frame, ...]]:
    return by_form()


def frames_of(source: Text) -> list[Filled]:
    """The first frames of ``verbs`` that the text holds with a role filled."""
    text, tokens = source.text, source.tokens
    found: list[Filled] = []
    verbs = [
        at for at, token in enumerate(tokens)
        if (at == 0 or not token.capital) and (token.folded in _forms() or token.folded in _BE)
    ]  # fmt: skip
    for at in verbs[:_MOST_VERBS]:
        token = tokens[at]
        if token.folded in _BE and at + 1 < len(tokens):
            roles = _stay(text, tokens, at)
            if roles:
                found.append(Filled("move", at, roles))
        if _denied(tokens, at):
            continue
        for frame in _forms().get(token.folded, ()):
            roles = _roles(text, tokens, at, frame)
            if roles:
                found.append(Filled(frame.group, at, roles))
        if len(found) >= _MOST:
            break
    return found


def _denied(tokens: Sequence[Token], at: int) -> bool:
    """Whether the verb at ``at`` is denied: "A did not lose to B" says who lost of nobody."""
    before = at - 1
    while before >= max(0, at - 3) and (tokens[before].folded in BESIDE or lexicon.negates(tokens[before].folded)):
        if lexicon.negates(tokens[before].folded):
            return True
        before -= 1
    return False


def passive(tokens: Sequence[Token], at: int) -> bool:
    """Whether the verb at ``at`` is passive: after a form of "be" with nothing but adverbs between, or before "by"."""
    before = at - 1
    while before >= max(0, at - 3) and (tokens[before].folded in BESIDE or tokens[before].folded.endswith("ly")):
        if tokens[before].folded in _BE:
            return not tokens[at].folded.endswith("ing")
        before -= 1
    participle = tokens[at].folded.endswith(("ed", "en", "wn", "t"))
    return participle and at + 1 < len(tokens) and tokens[at + 1].folded == "by"


def _roles(text: str, tokens: Sequence[Token], at: int, frame: Frame) -> dict[str, Slot]:
    last = at + 1
    if not (frame.noun or frame.free) and at > 0 and tokens[at - 1].folded in _DETERMINERS:
        return {}  # "the award"
    if frame.noun:
        if not any(token.folded in _BE for token in tokens[max(0, at - 3) : at]):
            return _reasoned(text, tokens, at, frame) if "reason" in frame.forms or "cause" in frame.forms else {}
    elif not _completed(tokens, at, frame):
        return {}
    if frame.after and [t.folded for t in tokens[at + 1 : at + 1 + len(frame.after)]] == list(frame.after):
        last = at + 1 + len(frame.after) * (not any(mark == frame.after[0] for mark, _ in frame.marked))
    turned = not frame.noun and passive(tokens, at)
    if tokens[at].folded in HAVING and (not turned or any(t.folded in ONCE_HAD for t in tokens[max(0, at - 3) : at])):
        return {}  # who owned it may have sold it since
    verb = at
    while frame.noun and verb > 0 and tokens[verb].folded not in _BE:
        verb -= 1
    subject, antecedent = subject_of(text, tokens, verb)
    obj = _chunk(text, tokens, last)
    roles: dict[str, Slot | None] = {}
    if frame.free:
        return _free(text, tokens, at, frame)
    if turned:
        given = frame.group == "give" and not _marked(text, tokens, last, "to") and obj is not None
        roles[frame.object] = subject
        if given:
            roles = {"receiver": subject, frame.object: obj}
        roles[frame.subject] = _marked(text, tokens, last, "by")
    else:
        roles[frame.subject] = subject
        if frame.object:
            roles[frame.object] = antecedent or obj
            bare = last >= len(tokens) or tokens[last].folded in ENDS or not _MARKS.isdisjoint(gap(text, tokens, last))
            if roles[frame.object] is None and bare and tokens[at].folded.endswith(("ed", "en", "wn")):
                return {}  # "sounds presented via speakers"
            if frame.group == "give" and frame.subject == "giver" and not _marked(text, tokens, last, "to"):
                del roles[frame.object]  # "gave her a book", "presented him with a prize"
    for preposition, role in frame.marked:
        slot = _marked(text, tokens, at + 1, preposition)
        if slot is not None:
            roles[role] = slot
    return {role: slot for role, slot in roles.items() if role and slot is not None and slot.keys}


def _reasoned(text: str, tokens: Sequence[Token], at: int, frame: Frame) -> dict[str, Slot]:
    """"The reason for X was Y": what the noun is of stands before "was", what it is after it."""
    if at + 1 >= len(tokens) or tokens[at + 1].folded not in ("for", "of", "behind"):
        return {}
    effect = _chunk(text, tokens, at + 2)
    if effect is None:
        return {}
    verb = effect.last
    while verb < min(len(tokens), effect.last + 4) and tokens[verb].folded not in _BE:
        verb += 1
    if verb >= len(tokens) or tokens[verb].folded not in _BE:
        return {}
    cause = _chunk(text, tokens, verb + 1)
    return {"effect": effect, "cause": cause} if cause is not None else {}


def _stay(text: str, tokens: Sequence[Token], at: int) -> dict[str, Slot]:
    """"Until 1990, A was in B": where somebody was before a move or is since."""
    place = at + 1
    while place < len(tokens) and tokens[place].folded in ("based", "located", "now", "situated"):
        place += 1
    if place >= len(tokens) or tokens[place].folded not in ("at", "in"):
        return {}
    first, last = at, at + 1
    while first > 0 and _STOPS.isdisjoint(gap(text, tokens, first)):
        first -= 1
    while last < len(tokens) and _STOPS.isdisjoint(gap(text, tokens, last)):
        last += 1
    words = {token.folded for token in tokens[first:last]}
    before, after = bool(words & lexicon.ONCE), bool(words & _AFTER)
    where = _chunk(text, tokens, place + 1)
    if before == after or where is None:
        return {}
    who, _ = subject_of(text, tokens, at)
    return {"source" if before else "goal": where} | ({"mover": who} if who is not None else {})


def _completed(tokens: Sequence[Token], at: int, frame: Frame) -> bool:
    if not frame.after:
        return True
    near = [token.folded for token in tokens[at + 1 : at + 9]]
    return near[:1] == [frame.after[0]] or (bool(frame.object or frame.marked) and frame.after[0] in near)


def subject_of(text: str, tokens: Sequence[Token], at: int) -> tuple[Slot | None, Slot | None]:
    """(subject, what a relative "which" before that subject refers to) of the verb at ``at``."""
    end = at
    while end > 0 and (tokens[end - 1].folded in BESIDE or tokens[end - 1].folded.endswith("ly")):
        if not _MARKS.isdisjoint(gap(text, tokens, end)):
            break
        end -= 1
    relative = end > 0 and tokens[end - 1].folded in _RELATIVE
    if relative:
        end -= 1
        return _back(text, tokens, end, skip_mark=True), None
    slot = _back(text, tokens, end)
    if slot is not None and slot.first > 0 and tokens[slot.first - 1].folded in _RELATIVE:
        return slot, _back(text, tokens, slot.first - 1, skip_mark=True)
    if slot is not None and slot.first > 0 and "," in gap(text, tokens, slot.first) and not _named(tokens, slot):
        # An apposition: "A, the mayor, said".
        head = _back(text, tokens, slot.first, skip_mark=True)
        if head is not None and _named(tokens, head) and "," in gap(text, tokens, at):
            return head, None
    return slot, None


def _named(tokens: Sequence[Token], slot: Slot) -> bool:
    return any(is_name(token) for token in tokens[slot.first : slot.last])


def _back(text: str, tokens: Sequence[Token], end: int, skip_mark: bool = False) -> Slot | None:
    first = end
    while first > 0:
        if not _MARKS.isdisjoint(gap(text, tokens, first)) and not (skip_mark and first == end):
            break
        word = tokens[first - 1]
        if skip_mark and first < end and word.folded in _forms() and word.folded.endswith(_PAST):
            break  # an antecedent is the object of its own verb
        if word.folded in _CLAUSES and not _within_name(tokens, first - 1):
            break
        first -= 1
        if end - first > _WIDEST:
            return None
    return _slot(tokens, first, end)


def _chunk(text: str, tokens: Sequence[Token], first: int) -> Slot | None:
    last = first
    while last < len(tokens):
        marked = not _MARKS.isdisjoint(gap(text, tokens, last))
        if last > first and (marked or (tokens[last].folded in ENDS and not _within_name(tokens, last))):
            break
        if last == first and (marked or tokens[last].folded in ENDS):
            return None
        last += 1
        if last - first > _WIDEST:
            return None
    return _slot(tokens, first, last)


def _marked(text: str, tokens: Sequence[Token], first: int, preposition: str) -> Slot | None:
    """What follows ``preposition`` ("ahead_of": both words) in the clause that begins at ``first``."""
    wanted = preposition.split("_")
    for at in range(first, min(len(tokens), first + _REACH)):
        if at > first and not _ASIDE.isdisjoint(gap(text, tokens, at)):
            return None
        if tokens[at].folded in _RELATIVE or (tokens[at].folded in _BE and at > first):
            return None
        if [token.folded for token in tokens[at : at + len(wanted)]] == wanted:
            if preposition == "to" and not _nominal(tokens, at + 1):
                continue
            return _chunk(text, tokens, at + len(wanted))
    return None


def _nominal(tokens: Sequence[Token], at: int) -> bool:
    """Whether what follows "to" can be told from a verb."""
    return at < len(tokens) and (tokens[at].folded in _DETERMINERS or tokens[at].capital or at + 1 == len(tokens)
                                 or tokens[at].folded.endswith("s") or tokens[at + 1].folded not in _DETERMINERS)


def _free(text: str, tokens: Sequence[Token], at: int, frame: Frame) -> dict[str, Slot]:
    """A noun with its prepositions, over a form of "be" or "come" too ("The plans of T are by A")."""
    roles: dict[str, Slot] = {}
    for preposition, role in frame.marked:
        for n in range(at + 1, min(len(tokens), at + 12)):
            if not _MARKS.isdisjoint(gap(text, tokens, n)):
                break
            if tokens[n].folded == preposition:
                slot = _chunk(text, tokens, n + 1)
                if slot is not None:
                    roles[role] = slot
                break
    return roles


def _within_name(tokens: Sequence[Token], at: int) -> bool:
    """Whether a small word joins two parts of a name ("Procter and Gamble" is not told from two names: no)."""
    return tokens[at].capital and tokens[at].folded not in FUNCTION_WORDS


def _slot(tokens: Sequence[Token], first: int, last: int) -> Slot | None:
    if any(token.folded in _CLAUSAL for token in tokens[first + 1 : last]):
        return None
    keys = frozenset(
        token.key
        for token in tokens[first:last]
        if token.folded not in FUNCTION_WORDS and token.folded not in GENERIC and not token.key[:1].isdecimal()
    )
    return Slot(keys, first, last) if 0 < len(keys) <= _LONGEST else None
