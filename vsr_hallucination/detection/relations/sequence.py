"""What came first: events of a sentence in another order than a line's, and where something is that has moved.

Both texts are cut at connectives of time into events; what comes before what follows from the connectives between
them, so that "A before B" is "B after A" and "first A, then B" (Allen's relations before and after only).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from vsr_hallucination.detection.relations import lexicon
from vsr_hallucination.detection.relations.assertions import Found
from vsr_hallucination.detection.relations.clauses import denies, named
from vsr_hallucination.detection.relations.phrases import Reading

_LONGEST = 60  # words
_MOST = 8  # events
_THEN = frozenset("afterward afterwards later next subsequently then thereafter".split())
_FIRST = frozenset("first firstly initially".split())
_LAST = frozenset("finally last lastly".split())
_MARKING = _THEN | _FIRST | _LAST | {"followed", "preceded"}
_WITHIN = lexicon.DETERMINERS | {"at", "for", "of", "whose"}  # before "last" or "first" as a plain adjective
_POINTING = frozenset("that this which".split())
_OPENING = frozenset("and but after before".split())
_BREAKS = frozenset(",;.:\n—")
_PLACING = frozenset("at in near".split())
_FEWEST = 2  # words an event is known by
_FOLLOWS = 0.75  # share of an event's words that the line's must have


@dataclass(slots=True)
class _Event:
    first: int
    end: int = 0
    marks: set[str] = field(default_factory=set)


def misordered(said: Reading, lines: Sequence[Reading]) -> Found | None:
    """Two events of the sentence that come the other way round in a line, and in none as the sentence has them."""
    ours, order = _events(said)
    if not order:
        return None
    found: Found | None = None
    for n, told in enumerate(lines):
        theirs, known = _events(told)
        for one, two in order:
            a, b = _same(said, ours[one], told, theirs), _same(said, ours[two], told, theirs)
            if a is None or b is None or a == b:
                continue
            if (a, b) in known:
                return None
            if (b, a) in known and found is None:
                late = max(ours[one], ours[two], key=lambda event: event.first)
                found = Found("order", n, late.first, late.end, told.text)
    return found


def _events(reading: Reading) -> tuple[list[_Event], set[tuple[int, int]]]:
    """The events of a text and which comes before which; nothing for a long text or one that denies."""
    words = reading.words
    if len(words) > _LONGEST or any(denies(reading, n) for n in range(len(words))):
        return [], set()
    events: list[_Event] = []
    marks: set[str] = set()
    opened: int | None = None
    for n, word in enumerate(words):
        broken = n > 0 and _broken(reading, n)
        mark = _mark(reading, n)
        if (broken or mark in {"before", "after", "then", "followed", "preceded"}) and opened is not None:
            events[-1].end = n
            opened = None
        if opened is None:
            if mark:
                marks.add(mark)
            if word.content and not mark:
                start = n
                while start > 0 and not _broken(reading, start):
                    if events and start <= events[-1].end:
                        break
                    start -= 1
                events.append(_Event(start, n + 1, marks))
                marks, opened = set(), n
        elif mark:
            events[-1].marks.add(mark)
    if opened is not None:
        events[-1].end = len(words)
    if len(events) > _MOST:
        return [], set()
    return events, _order(events)


def _mark(reading: Reading, n: int) -> str:
    words = reading.words
    form = words[n].form
    before = words[n - 1].form if n else ""
    after = words[n + 1].form if n + 1 < len(words) else ""
    if form in {"before", "after"}:
        # "after which B", "after that B": B comes later
        return "then" if form == "after" and after in _POINTING else "" if after in {"", *_POINTING} else form
    if form in {"followed", "preceded"}:
        return form if after == "by" else ""
    opens = not before or before in _OPENING or _broken(reading, n)
    closes = not after or _broken(reading, n + 1)
    if not (opens or closes or form in {"finally", "then"}) or before in _WITHIN:
        return ""
    return "then" if form in _THEN else "first" if form in _FIRST else "last" if form in _LAST else ""


def _broken(reading: Reading, n: int) -> bool:
    """Whether a mark stands before word ``n``."""
    return any(mark in _BREAKS for mark in reading.between(reading.words[n - 1], reading.words[n]))


def _order(events: Sequence[_Event]) -> set[tuple[int, int]]:
    order: set[tuple[int, int]] = set()
    for n, event in enumerate(events):
        if n and event.marks & {"before", "then", "followed"}:
            order.add((n - 1, n))
        if n and event.marks & {"after", "preceded"}:
            order.add((n, n - 1))
        if n == 0 and len(events) > 1 and event.marks & {"before", "after"}:
            order.add((1, 0) if "before" in event.marks else (0, 1))
        if "last" in event.marks:
            order.update((m, n) for m in range(len(events)) if m != n)
        if "first" in event.marks:
            order.update((n, m) for m in range(len(events)) if m != n)
    for middle in range(len(events)):
        order |= {(a, d) for a, b in order for c, d in order if b == c == middle}
    return set() if any((b, a) in order for a, b in order) else order


def _same(said: Reading, event: _Event, told: Reading, events: Sequence[_Event]) -> int | None:
    """The one event of the line that is the sentence's."""
    names = named([w for w in said.words[event.first : event.end] if w.form not in _MARKING])
    shares = [len(names & named(told.words[e.first : e.end])) / len(names) if names else 0.0 for e in events]
    best = max(shares, default=0.0)
    if len(names) < _FEWEST or best < _FOLLOWS or sum(share > best / 2 for share in shares) != 1:
        return None
    return shares.index(best)


def moved_back(said: Reading, lines: Sequence[Reading]) -> Found | None:
    """Something that is said to be now where, by a line, it was before it moved."""
    words = said.words
    now = [n for n, word in enumerate(words) if word.form in lexicon.NOW]
    if len(words) > _LONGEST or not now or any(denies(said, n) for n in range(len(words))):
        return None
    places = [n for n, w in enumerate(words) if w.capital and w.content and n and words[n - 1].form in _PLACING]
    if len(places) != 1:
        return None
    place, names = words[places[0]].key, named([w for w in words if w.form not in lexicon.NOW])
    subject = names - {place}
    found: Found | None = None
    for n, told in enumerate(lines):
        at = [m for m, w in enumerate(told.words) if w.key == place and w.capital]
        if not at or not subject <= named(told.words):
            continue
        if len(at) != 1 or not _left(told, at[0]):
            return None
        found = found or Found("order", n, places[0], places[0] + 1, told.text)
    return found


def _left(told: Reading, at: int) -> bool:
    """Whether a place of the line is one that was left for another."""
    words = told.words
    before = words[at - 1].form if at else ""
    if before in lexicon.LEAVING or (before == "from" and any(w.form in lexicon.MOVING for w in words)):
        return any(w.form in {"to", "for"} and n > 0 for n, w in enumerate(words) if n > at)
    start = next((n + 1 for n in range(at - 1, -1, -1) if ";" in told.between(words[n], words[n + 1])
                  or "." in told.between(words[n], words[n + 1])), 0)  # fmt: skip
    return start > 0 and any(w.form in lexicon.ONCE for w in words[start:at])
