"""Sorts of facts in generated passages: how one is told, what a right answer says, and how an answer gets it wrong.

A wrong answer is never wrong by its words: each names the passage of which the very same answer is true, so that every
wording is right as often as it is wrong.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from training import prose_slots as slots
from training.prose_slots import Slots

Wordings = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """An answer that is wrong about the family's passage; between « and » stands what is wrong.

    It is right about another passage: the family's own with slots exchanged (``swap``: "a/b c/d"), or one of ``told``.
    """

    kind: str
    wording: str
    swap: str = ""
    told: Wordings = ()

    def exchanged(self, drawn: Slots) -> Slots:
        """The slots of the passage that the answer is right about."""
        result = dict(drawn)
        for pair in self.swap.split():
            one, two = pair.split("/")
            result[one], result[two] = drawn[two], drawn[one]
        return result


@dataclass(frozen=True, slots=True)
class Family:
    """``told``: wordings of the passage; ``said``: of a right answer; ``ask``: of the question."""

    told: Wordings
    said: Wordings
    wrong: tuple[Fault, ...]
    ask: Wordings
    draw: Callable[[random.Random], Slots]


def _same_family(kind: str) -> Family:
    return Family(
        ("For {p}, the report gives {n}.", "{n}: that is what the report says about {p}.", "The entry for {p} is {n}."),
        ("It is {m}.", "The report says {m}.", "For {p}, it is {m}.", "{m}, according to the report."),
        (Fault(kind, "It is «{x}».", "n/k m/x"), Fault(kind, "The report says «{x}».", "n/k m/x"),
         Fault(kind, "For {p}, it is «{x}».", "n/k m/x"), Fault(kind, "«{x}», according to the report.", "n/k m/x")),
        ("What does the report say about {p}?", "What is given for {p}?"),
        slots.equal_of(kind),
    )  # fmt: skip


# Passages that differ in what always, sometimes or never holds: what is right about one is wrong about the others.
_IF = ("{w} may {act} only if {cond}.", "{w} are allowed to {act}, provided that {cond}.",
       "Unless {cond}, {w} cannot {act}.")  # fmt: skip
_FREE = ("{w} are free to {act} whenever they like; nothing is asked of them.",
         "No rule keeps {w} from it: they may {act}, and no condition applies.",
         "There is no restriction on when or how {w} may {act}.")  # fmt: skip
_BARRED = ("{w} may not {act}, even if {cond}.", "Even where {cond}, {w} are forbidden to {act}.")
_UNLESS = ("{w} must {act} within {n} {u} unless {cond}.",
           "Within {n} {u} {w} have to {act}, except where {cond}.")  # fmt: skip
_STRICT = ("{w} must {act} within {n} {u}; nothing excuses them.",
           "Whatever the reason, {w} have to {act} within {n} {u}.")  # fmt: skip
_FREELY = ("{w} may {act} within {n} {u} if they like; nobody has to.",
           "For {n} {u} {w} are free to {act}, but it is up to them.")  # fmt: skip
_EVERYONE = ("All people, {w} or not, have to {act} within {n} {u}.",
             "Nobody is excepted: within {n} {u} all have to {act}, {w} like the rest.")  # fmt: skip
_SOMETIMES = ("{s} may {e} in some cases.", "In some cases, {s} can {e}.", "It is possible that {s} will {e}.")
_ALWAYS = ("Wherever it was tried, {s} was found to {e}, and no exception is known.",
           "Without any exception, {s} will {e}.", "It is beyond doubt that {s} will {e} each time.")  # fmt: skip
_NEVER = ("There is no way in which {s} could {e}.", "It is impossible for {s} to {e}.",
          "In no case was {s} found to {e}.")  # fmt: skip
_TREND = ("At {c}, {w} {up} by {n} percent in {y}.", "{W} at {c} {up} by {n}% in {y}.")
_FLAT = ("At {c}, {w} was the same at the end of {y} as at its beginning.", "{W} at {c} stayed level in {y}.")
_BETWEEN = ("At {c}, {w} is expected to be between {lo} and {hi} in {y}.",
            "For {y}, {c} plans with {lo} to {hi} for {w}.")  # fmt: skip
_BEYOND = ("At {c}, {w} is expected to exceed {hi} in {y}.", "For {y}, {c} plans with more than {hi} for {w}.")

FAMILIES: tuple[Family, ...] = (
    *(_same_family(kind) for kind in ("duration", "percentage", "number", "unit", "date")),
    Family(
        ("{p} counted {n} {o} last year.", "Last year there were {n} {o} at {p}.", "{n} {o}: so many did {p} have."),
        ("{p} had about {m} {o}.", "There were roughly {m} {o}.", "Some {m} {o} were counted.", "{p} had {n} {o}."),
        (Fault("number", "{p} had about «{x}» {o}.", "n/k m/x"),
         Fault("number", "There were roughly «{x}» {o}.", "n/k m/x"),
         Fault("number", "«Some {x}» {o} were counted.", "n/k m/x"),
         Fault("number", "{p} had «{k}» {o}.", "n/k m/x")),
        ("How many {o} did {p} have?", "Tell me about the {o} of {p}."),
        slots.rounded,
    ),
    Family(
        ("{p} has {a} {o} in the north and {b} in the south.", "In the north {p} has {a} {o}, in the south {b}."),
        ("Together that is {s} {o}.", "{p} has {s} {o} in all.", "There are {a} {o} in the north.",
         "In the south there are {b}, in the north {a}."),
        (Fault("number", "Together that is «{s2}» {o}.", "a/a2 s/s2"),
         Fault("number", "{p} has «{s2}» {o} in all.", "a/a2 s/s2"),
         Fault("elsewhere", "There are «{b}» {o} in the north.", "a/b"),
         Fault("elsewhere", "In the south there are «{a}», in the north «{b}».", "a/b")),
        ("How many {o} does {p} have?", "Where are the {o} of {p}?"),
        slots.rounded,
    ),
    Family(
        ("{a} became {j} of {f} in {y}, {b} of {g} in {y2}.", "In {y} {f} chose {a} as {j}; {g} took {b} in {y2}.",
         "Since {y} the {j} of {f} is {a}. At {g} it has been {b} since {y2}."),
        ("{a} is the {j} of {f}.", "The {j} of {g} is {b}.", "{f} has had {a} as {j} since {y}.",
         "{b} became {j} of {g} in {y2}."),
        (Fault("name", "«{x}» is the {j} of {f}.", "a/x"), Fault("name", "The {j} of {g} is «{x}».", "b/x"),
         Fault("elsewhere", "«{b}» is the {j} of {f}.", "a/b"), Fault("elsewhere", "The {j} of {g} is «{a}».", "a/b"),
         Fault("place", "{a} is the {j} of {f} in «{c}».", told=(
             "{a} became {j} of {f} in {c} in {y}, {b} of {g} in {y2}.",
             "In {y} {f} chose {a} as {j} in {c}; {g} took {b} in {y2}.")),
         Fault("name", "{f} has had «{x}» as {j} since {y}.", "a/x"),
         Fault("elsewhere", "«{a}» became {j} of {g} in {y2}.", "a/b")),
        ("Who is the {j} of {f}?", "Who leads {f} and {g}?"),
        slots.staff,
    ),
    Family(
        ("{a} became {j} of {f} in {c} in {y}; the offices in {d} are led by {b}.",
         "The {j} of {f} in {c} is {a}, that of {f} in {d} is {b}."),
        ("{a} is the {j} of {f} in {c}.", "In {d}, the {j} of {f} is {b}."),
        (Fault("place", "{a} is the {j} of {f} in «{d}».", "c/d"), Fault("name", "In {d}, the {j} of {f} is «{x}».",
         "b/x"), Fault("place", "In «{c}», the {j} of {f} is {b}.", "c/d")),
        ("Who is the {j} of {f} in {c}?", "Where does {a} work?"),
        slots.staff,
    ),
    Family(
        ("{p} has {n} {o}.", "There are {n} {o} at {p}.", "{n} {o} belong to {p}."),
        ("{p} has {m} {o}.", "There are {m} {o}.", "We find {m} {o} at {p}."),
        (Fault("number words", "{p} has «{x}» {o}.", "n/k m/x"),
         Fault("number words", "There are «{x}» {o}.", "n/k m/x"),
         Fault("number words", "We find «{x}» {o} at {p}.", "n/k m/x")),
        ("How many {o} are there at {p}?", "What is at {p}?"),
        slots.worded,
    ),
    Family(
        ("{a} acquired {b} in {y} for {m} {u} euros.", "In {y}, {b} was bought by {a} for {m} {u} euros.",
         "{b} has belonged to {a} since {y}, when it was taken over for {m} {u} euros."),
        ("{a} bought {b} in {y}.", "{b} was acquired by {a}.", "{a} paid {m} {u} euros for {b}.",
         "{a} took over {b} in {y}, at a price of {m} {u} euros."),
        (Fault("roles", "«{b} bought {a}» in {y}.", "a/b"), Fault("roles", "«{a} was acquired by {b}».", "a/b"),
         Fault("roles", "{m} {u} euros was what «{b} paid for {a}».", "a/b"),
         Fault("date", "{a} bought {b} in «{y2}».", "y/y2"),
         Fault("currency", "{a} paid «{m2} {u} euros» for {b}.", "m/m2"),
         Fault("currency", "{a} took over {b} in {y}, at a price of «{m2} {u} euros».", "m/m2"),
         Fault("unit", "{a} paid «{m} {v} euros» for {b}.", "u/v")),
        ("Who bought {b}?", "What happened between {a} and {b}?", "Tell me about the takeover."),
        slots.firms,
    ),
    Family(
        ("{a} defeated {b} in the final of {y}.", "In the final of {y}, {b} lost to {a}.",
         "{a} won the {y} final against {b}."),
        ("{a} won against {b} in {y}.", "{b} was beaten by {a}.", "The final was won by {a}.",
         "{a} came out ahead of {b} in the final of {y}."),
        (Fault("roles", "«{b} won against {a}» in {y}.", "a/b"), Fault("roles", "«{a} was beaten by {b}».", "a/b"),
         Fault("roles", "The final was won by «{b}».", "a/b"),
         Fault("roles", "«{b} came out ahead of {a}» in the final of {y}.", "a/b"),
         Fault("date", "{a} won against {b} in «{y2}».", "y/y2")),
        ("Who won the final?", "How did {a} do against {b}?"),
        slots.firms,
    ),
    Family(
        ("{a} argued that {v1}, while {b} held that {v2}.", "According to {a}, {v1}; {b} replied that {v2}.",
         "{a}, the {j}, said that {v1}. {b} disagreed: {v2}."),
        ("{a} said that {v1}.", "In the view of {b}, {v2}.", "{b} thought that {v2}.",
         "{a} and {b} disagreed: {a} claimed that {v1}."),
        (Fault("attribution", "«{b} said that {v1}».", "a/b"),
         Fault("attribution", "In the view of «{a}, {v2}».", "a/b"),
         Fault("attribution", "«{a} thought that {v2}».", "a/b"),
         Fault("attribution", "According to «{b}, {v1}».", "a/b")),
        ("What did {a} say?", "What was the debate about?", "What did {a} and {b} think?"),
        slots.people,
    ),
    Family(
        ("{t} was designed by {a} in {y}; {b} only paid for it.", "{a} designed {t} in {y}, with money from {b}.",
         "The plans of {t} are by {a} ({y}). {b} financed the work."),
        ("{a} designed {t}.", "{t} is the work of {a}, paid for by {b}.", "The money for {t} came from {b}.",
         "{b} financed {t}, which {a} had designed."),
        (Fault("attribution", "«{b} designed» {t}.", "a/b"), Fault("attribution", "{t} is the work of «{b}».", "a/b"),
         Fault("roles", "The money for {t} came from «{a}».", "a/b"),
         Fault("roles", "«{a} financed {t}, which {b} had designed».", "a/b")),
        ("Who designed {t}?", "Who built {t}, and who paid?"),
        slots.people,
    ),
    Family(
        ("{a} gave {o} to {b} in {y}.", "In {y} {b} was given {o} by {a}.", "{b} received {o} from {a} in {y}."),
        ("{b} got {o} from {a}.", "It was {a} who gave {o} to {b}.", "{a} handed {o} over to {b} in {y}."),
        (Fault("roles", "«{a} got {o} from {b}».", "a/b"), Fault("roles", "It was «{b} who gave {o} to {a}».", "a/b"),
         Fault("roles", "«{b} handed {o} over to {a}» in {y}.", "a/b")),
        ("What happened to {o}?", "What did {a} do in {y}?"),
        slots.people,
    ),
    Family(
        ("{a} is {more} than {b}.", "Compared with {b2}, {a} is {more}.", "{b2} is {less} than {a}."),
        ("{a} is {more} than {b2}.", "Of the two, {a} is {more}.", "{b2} is {less} than the one in {c}."),
        (Fault("comparison", "{a} is «{less}» than {b2}.", "more/less"),
         Fault("comparison", "Of the two, {a} is «{less}».", "more/less"),
         Fault("comparison", "{b2} is «{more}» than the one in {c}.", "more/less")),
        ("How do {a} and {b} compare?", "Which of the two is {more}?"),
        slots.compare,
    ),
    Family(
        ("The {top} of the {things} is in {c}, the {bottom} in {d}.", "{c} has the {top} of the {things}; {d} has the "
         "{bottom}."),
        ("The {top} of them is in {c}.", "{d} has the {bottom} of the {things}.", "In {c} you find the {top} one."),
        (Fault("comparison", "The {top} of them is in «{d}».", "top/bottom"),
         Fault("comparison", "{d} has the «{top}» of the {things}.", "top/bottom"),
         Fault("comparison", "In {c} you find the «{bottom}» one.", "top/bottom")),
        ("Where is the {top} of the {things}?", "Tell me about the {things}."),
        slots.compare,
    ),
    Family(
        _TREND,
        ("{W} {up} by {n} % in {y}.", "In {y}, {w} at {c} {up} by {n} percent.", "At {c}, {w} {up}."),
        (Fault("comparison", "{W} «{down}» by {n} % in {y}.", "up/down"),
         Fault("comparison", "At {c}, {w} «{down}» in {y}.", "up/down"),
         Fault("percentage", "In {y}, {w} at {c} {up} by «{n2} percent».", "n/n2"),
         Fault("negation", "At {c}, {w} «did not change».", told=_FLAT)),
        ("How did {w} develop at {c}?", "What happened at {c} in {y}?"),
        slots.trend,
    ),
    Family(
        _FLAT,
        ("At {c}, {w} did not change.", "In {y}, {w} at {c} did not change."),
        (Fault("comparison", "{W} «{up} by {n} %» in {y}.", told=_TREND),
         Fault("negation", "At {c}, {w} «{up}» in {y}.", told=_TREND)),
        ("How did {w} develop at {c}?", "What happened at {c} in {y}?"),
        slots.trend,
    ),
    Family(
        _BETWEEN,
        ("{c} expects {lo}–{hi} in {y}.", "The range for {y} is {lo} to {hi}.", "It should be from {lo} to {hi}."),
        (Fault("range", "{c} expects {lo}–«{hi2}» in {y}.", "hi/hi2"),
         Fault("range", "The range for {y} is «{lo} to {hi2}».", "hi/hi2"),
         Fault("range", "It should be «above {hi}» in {y}.", told=_BEYOND)),
        ("What does {c} expect for {y}?", "What is the range?"),
        slots.trend,
    ),
    Family(
        _BEYOND,
        ("It should be above {hi} in {y}.", "{c} expects more than {hi}."),
        (Fault("range", "It should be «from {lo} to {hi}».", told=_BETWEEN),
         Fault("range", "{c} expects more than «{hi2}».", "hi/hi2")),
        ("What does {c} expect for {y}?", "How much is it likely to be?"),
        slots.trend,
    ),
    Family(
        ("In {p}, {a} before {b}; {c} last of all.", "{A} in {p}. Only then, {b}, and at the end {c}.",
         "In {p}, {b} after {a}, and {c} at the very end."),
        ("First {a}, then {b}.", "{A} before {b}.", "{B} after {a}.", "{A} first, and in the end {c}."),
        (Fault("order", "First «{b}, then {a}».", "a/b A/B"), Fault("order", "{A} «after» {b}.", "a/b A/B"),
         Fault("order", "{B} «before» {a}.", "a/b A/B"),
         Fault("order", "First {c}, «and in the end {a}».", "a/c A/C")),
        ("In what order did things happen in {p}?", "What came first?"),
        slots.order,
    ),
    Family(
        _IF,
        ("{w} can {act} if {cond}.", "As long as {cond}, {w} may {act}.",
         "{w} are allowed to {act}, but only when {cond}."),
        (Fault("condition", "«{w} can {act}» at any time.", told=_FREE),
         Fault("condition", "{w} may {act} «without any condition».", told=_FREE),
         Fault("condition", "{w} are «always allowed to {act}».", told=_FREE),
         Fault("negation", "{w} «cannot {act}» if {cond}.", told=_BARRED),
         Fault("condition", "{w} can {act} «if {other}».", "cond/other"),
         Fault("condition", "As long as «{other}», {w} may {act}.", "cond/other")),
        ("May I {act}?", "Who can {act}?", "What are the rules for those who want to {act}?"),
        slots.rule,
    ),
    Family(
        _FREE,
        ("{w} can {act} at any time.", "{w} may {act} without any condition.", "{w} are always allowed to {act}."),
        (Fault("condition", "{w} are allowed to {act}, but «only when {cond}».", told=_IF),
         Fault("condition", "{w} can {act} «only if {cond}».", told=_IF),
         Fault("negation", "{w} «cannot {act}», even if {cond}.", told=_BARRED)),
        ("May I {act}?", "Who can {act}?", "What are the rules for those who want to {act}?"),
        slots.rule,
    ),
    Family(
        _BARRED,
        ("{w} cannot {act}, even if {cond}.", "{w} are not allowed to {act}."),
        (Fault("negation", "{w} «can {act}» if {cond}.", told=_IF),
         Fault("negation", "As long as {cond}, {w} «may {act}».", told=_IF),
         Fault("negation", "{w} are «always allowed to {act}».", told=_FREE)),
        ("May I {act}?", "Who can {act}?", "What are the rules for those who want to {act}?"),
        slots.rule,
    ),
    Family(
        _UNLESS,
        ("{w} have {n} {u} to {act}, unless {cond}.", "Except where {cond}, {w} must {act} within {n} {u}."),
        (Fault("condition", "{w} must {act} within {n} {u} «in every case».", told=_STRICT),
         Fault("modality", "{w} «may, but need not, {act}» within {n} {u}.", told=_FREELY),
         Fault("duration", "{w} have «{n2} {u}» to {act}.", "n/n2"),
         Fault("unit", "{w} must {act} within «{n} {v}».", "u/v"),
         Fault("condition", "«Everyone must {act}» within {n} {u}.", told=_EVERYONE),
         Fault("condition", "Except where «{other}», {w} must {act} within {n} {u}.", "cond/other")),
        ("How long do {w} have?", "Do I have to {act}?"),
        slots.rule,
    ),
    Family(
        _STRICT,
        ("{w} must {act} within {n} {u} in every case.", "{w} always have to {act} within {n} {u}."),
        (Fault("condition", "{w} have {n} {u} to {act}, «unless {cond}».", told=_UNLESS),
         Fault("modality", "{w} «may, but need not, {act}» within {n} {u}.", told=_FREELY),
         Fault("duration", "{w} must {act} within «{n2} {u}» in every case.", "n/n2"),
         Fault("unit", "{w} always have to {act} within «{n} {v}».", "u/v")),
        ("How long do {w} have?", "Do I have to {act}?"),
        slots.rule,
    ),
    Family(
        _FREELY,
        ("{w} may, but need not, {act} within {n} {u}.", "{w} have {n} {u} to {act}."),
        (Fault("modality", "{w} «must {act}» within {n} {u}.", told=_STRICT),
         Fault("duration", "{w} may, but need not, {act} within «{n2} {u}».", "n/n2")),
        ("How long do {w} have?", "Do I have to {act}?"),
        slots.rule,
    ),
    Family(
        _SOMETIMES,
        ("{s} can {e}.", "{s} might {e}, at least sometimes.", "There is a chance that {s} will {e}."),
        (Fault("modality", "{s} «will always {e}».", told=_ALWAYS),
         Fault("modality", "{s} «is certain to {e}».", told=_ALWAYS),
         Fault("negation", "{s} «cannot {e}».", told=_NEVER), Fault("negation", "{s} «does not {e}».", told=_NEVER),
         Fault("modality", "«In every case», {s} will {e}.", told=_ALWAYS)),
        ("What does {s} do?", "Does {s} {e}?"),
        slots.may,
    ),
    Family(
        _ALWAYS,
        ("{s} will always {e}.", "{s} is certain to {e}.", "In every case, {s} will {e}."),
        (Fault("modality", "{s} will {e} «only in some cases».", told=_SOMETIMES),
         Fault("modality", "«Sometimes, but not always», {s} will {e}.", told=_SOMETIMES),
         Fault("negation", "{s} «cannot {e}».", told=_NEVER), Fault("negation", "{s} «does not {e}».", told=_NEVER)),
        ("What does {s} do?", "Does {s} {e}?"),
        slots.may,
    ),
    Family(
        _NEVER,
        ("{s} cannot {e}.", "{s} does not {e}.", "{s} will never {e}."),
        (Fault("negation", "{s} «can {e}».", told=_SOMETIMES),
         Fault("modality", "{s} «might {e}, at least sometimes».", told=_SOMETIMES),
         Fault("modality", "There is «a chance» that {s} will {e}.", told=_SOMETIMES),
         Fault("negation", "{s} «is certain to {e}».", told=_ALWAYS)),
        ("What does {s} do?", "Does {s} {e}?"),
        slots.may,
    ),
    Family(
        ("{p} in {t} includes {a} and {b}, but not {c}.", "{a} and {b} are covered by {p} in {t}; {c} is not.",
         "{p} in {t} does not cover {c}. It does cover {a} and {b}."),
        ("{p} covers {a}.", "{c} is not included.", "{p} includes {a} as well as {b}.", "You pay extra for {c}."),
        (Fault("negation", "{p} covers «{c}».", "a/c"), Fault("negation", "{a} is «not included».", "a/c"),
         Fault("negation", "{p} includes {a} «as well as {c}».", "b/c"),
         Fault("negation", "{p} «does not include {b}».", "b/c"),
         Fault("negation", "You pay «extra» for {a}.", "a/c")),
        ("What does {p} cover?", "Is {c} included?", "Is {a} included?"),
        slots.includes,
    ),
    Family(
        ("{f} moved from {a} to {b} in {y}.", "In {y}, {f} left {a} for {b}.", "Since {y}, {f} has been in {b}; before "
         "that it was in {a}."),
        ("{f} went from {a} to {b}.", "{f} is in {b} now.", "Until {y}, {f} was in {a}.",
         "{b} became the seat of {f}."),
        (Fault("roles", "{f} went «from {b} to {a}».", "a/b"), Fault("place", "{f} is in «{c}» now.", "b/c"),
         Fault("roles", "Until {y}, {f} was in «{b}».", "a/b"), Fault("order", "{f} is in «{a}» now.", "a/b"),
         Fault("place", "{f} went from {a} to «{c}».", "b/c"),
         Fault("place", "«{c}» became the seat of {f}.", "b/c")),
        ("Where is {f}?", "What happened to {f}?"),
        slots.moves,
    ),
    Family(
        ("The area of {p} is given as {n} {u}.", "Records for {p} show {n} {u}.", "{n} {u} were measured at {p}."),
        ("It is {n} {u}.", "At {p}, {n} {u} were recorded.", "The figure for {p} is {n} {u}."),
        (Fault("unit", "It is {n} «{v}».", "u/v"), Fault("unit", "At {p}, {n} «{v}» were recorded.", "u/v"),
         Fault("number", "The figure for {p} is «{n2}» {u}.", "n/n2"),
         Fault("unit", "The figure for {p} is {n} «{v}».", "u/v")),
        ("What is known about {p}?", "What was measured at {p}?"),
        slots.unit,
    ),
    Family(
        ("{t} in {c} took {n} {u}.", "{t} in {c} went on for {n} {u}.", "It was {n} {u} before {t} in {c} was over."),
        ("{t} lasted {n} {u}.", "It took {n} {u}.", "After {n} {u}, {t} was over."),
        (Fault("duration", "{t} lasted «{n2} {u}».", "n/n2"), Fault("duration", "It took «{n} {v}».", "u/v"),
         Fault("unit", "{t} lasted {n} «{v}».", "u/v"), Fault("duration", "After «{n2} {u}», {t} was over.", "n/n2")),
        ("How long did {t} take?", "What do we know about {t} in {c}?"),
        slots.span,
    ),
    Family(
        ("In {c}, {a} led to {b}.", "{B} in {c} was the result of {a}.", "{A} brought about {b} in {c}."),
        ("{B} was caused by {a}.", "{A} was the cause of {b}.", "The reason for {b} was {a}."),
        (Fault("roles", "«{A} was caused by {b}».", "a/b A/B"),
         Fault("roles", "«{B} was the cause of {a}».", "a/b A/B"),
         Fault("roles", "The reason for «{a} was {b}».", "a/b A/B")),
        ("What happened in {c}?", "What was the cause?"),
        slots.cause,
    ),
)  # fmt: skip
KINDS = tuple(sorted({fault.kind for family in FAMILIES for fault in family.wrong}))
