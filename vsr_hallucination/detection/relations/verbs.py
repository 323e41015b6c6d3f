"""Verbs that name one relation from either end, and who stands where with them: bought and sold, won and lost to.

A frame says which role its subject and object have and which each preposition marks; frames of one group share their
roles, so that two sentences of a group can be compared however they are built ("A sold B to C", "C bought B from A").
The roles follow the frames of FrameNet (Baker, Fillmore & Lowe 1998) in small.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Frame:
    """``after``: words that must follow the verb (within three others where it has an object); ``marked``:
    (preposition, role). ``noun``: the forms are nouns between a form of "be" and a preposition ("was the cause of");
    ``free``: nouns that only their prepositions say more of ("with money from B")."""

    group: str
    forms: tuple[str, ...]
    subject: str
    object: str = ""
    marked: tuple[tuple[str, str], ...] = ()
    after: tuple[str, ...] = ()
    noun: bool = False
    free: bool = False


def _frame(group: str, forms: str, subject: str, obj: str = "", marked: str = "", after: str = "",
           noun: bool = False, free: bool = False) -> Frame:  # fmt: skip
    pairs = [pair.split(":") for pair in marked.split()]
    roles = tuple((word, role) for word, role in pairs)
    return Frame(group, tuple(forms.split()), subject, obj, roles, tuple(after.split()), noun, free)


FRAMES: tuple[Frame, ...] = (
    # ownership
    _frame("trade", "acquire acquires acquired acquiring buy buys bought buying purchase purchases purchased "
           "purchasing absorb absorbs absorbed swallowed", "buyer", "thing", "from:seller"),
    _frame("trade", "take takes took taken taking", "buyer", "thing", "from:seller", "over"),
    _frame("trade", "belong belongs belonged", "thing", "", "to:buyer", "to"),
    _frame("trade", "own owns owned possess possesses possessed", "buyer", "thing"),
    _frame("trade", "pay pays paid", "buyer", "", "for:thing", "for"),
    _frame("trade", "sell sells sold selling", "seller", "thing", "to:buyer"),
    # gifts
    _frame("give", "bequeath bequeathed donate donated donates gave give given gives giving grant granted grants hand "
           "handed hands lend lends lent offer offered offers present presented presents sell send sends sent award "
           "awarded awards", "giver", "gift", "to:receiver"),
    _frame("give", "accept accepted accepts borrow borrowed borrows get gets got gotten inherit inherited inherits "
           "obtain obtained obtains receive received receives", "receiver", "gift", "from:giver"),
    # contests
    _frame("win", "beat beaten beats conquer conquered conquers crush crushed defeat defeated defeats eliminate "
           "eliminated outplayed overcame overcome rout routed thrash thrashed trounce trounced vanquish vanquished",
           "winner", "loser", "in:contest"),
    _frame("win", "win wins won winning prevail prevailed prevails triumph triumphed triumphs", "winner", "contest",
           "against:loser over:loser"),
    _frame("win", "come comes came", "winner", "", "ahead of:loser".replace(" ", "_"), "ahead of"),
    _frame("win", "lose loses lost losing succumb succumbed", "loser", "contest", "to:winner against:winner"),
    # causes
    _frame("cause", "cause caused causes causing produce produced produces trigger triggered triggers prompt prompted "
           "prompts spark sparked sparks provoke provoked provokes", "cause", "effect"),
    _frame("cause", "bring brings brought bringing", "cause", "effect", "", "about"),
    _frame("cause", "lead leads led leading", "cause", "", "to:effect", "to"),
    _frame("cause", "result results resulted resulting", "cause", "", "in:effect", "in"),
    _frame("cause", "result results resulted resulting stem stems stemmed arise arises arose arisen", "effect", "",
           "from:cause", "from"),
    _frame("cause", "consequence effect outcome product result upshot", "effect", "", "of:cause", "of", noun=True),
    _frame("cause", "due", "effect", "", "to:cause", "to", noun=True),
    _frame("cause", "cause source origin", "cause", "", "of:effect", "of", noun=True),
    _frame("cause", "reason", "cause", "", "for:effect", "for", noun=True),
    # moves
    _frame("move", "go goes went gone going move moved moves moving relocate relocated relocates migrate migrated "
           "shifted switched switch transfer transferred travel traveled travelled travels fly flew", "mover", "",
           "from:source to:goal"),
    _frame("move", "leave leaves left", "mover", "source", "for:goal", "for"),
    # works and who paid for them
    _frame("make", "authored build built builds compose composed composes construct constructed create created "
           "creates design designed designs develop developed develops direct directed directs draw drawn drew found "
           "founded founds invent invented invents paint painted paints sculpt sculpted write writes written wrote",
           "maker", "work"),
    _frame("make", "work creation invention masterpiece", "work", "", "of:maker", "of", noun=True),
    _frame("make", "bankroll bankrolled commission commissioned finance financed finances fund funded funds sponsor "
           "sponsored sponsors subsidised subsidized", "funder", "work"),
    _frame("make", "pay pays paid", "funder", "", "for:work", "for"),
    _frame("make", "drawings plans", "", "", "of:work for:work by:maker", free=True),
    _frame("make", "cash funding funds money", "", "", "for:work from:funder", free=True),
    # teaching, work, kin, office
    _frame("teach", "teach teaches taught tutor tutored mentor mentored", "teacher", "pupil"),
    _frame("teach", "learn learned learns learnt study studied", "pupil", "", "from:teacher under:teacher"),
    _frame("teach", "pupil student disciple protege", "pupil", "", "of:teacher", "of", noun=True),
    _frame("teach", "teacher tutor mentor", "teacher", "", "of:pupil", "of", noun=True),
    _frame("employ", "employ employed employs hire hired hires", "employer", "worker"),
    _frame("kin", "father mother parent", "parent", "", "of:child", "of", noun=True),
    _frame("kin", "son daughter child", "child", "", "of:parent", "of", noun=True),
    _frame("office", "replace replaced replaces succeed succeeded succeeds supersede superseded supplant supplanted",
           "next", "former"),
    _frame("office", "successor", "next", "", "of:former to:former", "", noun=True),
    _frame("office", "predecessor", "former", "", "of:next", "of", noun=True),
    _frame("harm", "arrest arrested assassinate assassinated attack attacked attacks invade invaded invades kill "
           "killed kills murder murdered shot stabbed", "harming", "harmed"),
    _frame("lead", "influence influenced influences inspire inspired inspires", "model", "follower"),
    _frame("judge", "accuse accused accuses sue sued sues", "accuser", "accused"),
    _frame("choose", "appoint appointed appoints nominate nominated", "chooser", "chosen"),
)  # fmt: skip

# Between a subject and its verb.
BESIDE = frozenset(
    "also am are be been being can could did do does ever first had has have is just later may might never not now "
    "only soon then to was were will would".split()
)
# What a party that is an object ends before.
ENDS = frozenset(
    "about after against although among and are as at be because before but by came comes during for from had has "
    "have if in into is on only or over since so than that then though through to toward towards under until was "
    "were when where which while who whom with".split()
)
# Nouns that tell no party from another.
GENERIC = frozenset("building club company effort firm group job one project side team thing whole work".split())
# Verbs of having that are past, and what beside a passive makes it past: who owned it may have sold it since.
HAVING = frozenset({"owned", "possessed"})
ONCE_HAD = frozenset("been formerly once previously was were".split())


def by_form() -> dict[str, tuple[Frame, ...]]:
    """Frames by each form of their verbs."""
    found: dict[str, list[Frame]] = {}
    for frame in FRAMES:
        for form in frame.forms:
            found.setdefault(form, []).append(frame)
    return {form: tuple(frames) for form, frames in found.items()}
