"""Generated passages about people, firms and rules, with answers that say the same in other words, or say it wrong.

Every fact has several wordings for the passage and others for the answer, so that a right answer is a paraphrase; and
for each kind of fault a statement that uses (almost) only words of the passage: roles swapped, a comparison, an order
or a negation turned round, a condition dropped, another's statement. What differs is marked.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from training.domains import CAUSES, CITIES, COMPANIES, MONTHS, TITLES
from training.values import WORDS, person, wrong_number

# In answers, what stands between « and » is what the fault is.
OPEN, CLOSE = "«", "»"
Slots = dict[str, str]


@dataclass(frozen=True, slots=True)
class Family:
    """``told``: wordings of the passage; ``said``: of a right answer; ``wrong``: (kind of fault, wording)."""

    told: tuple[str, ...]
    said: tuple[str, ...]
    wrong: tuple[tuple[str, str], ...]
    ask: tuple[str, ...]
    draw: Callable[[random.Random], Slots]


@dataclass(frozen=True, slots=True)
class Statement:
    """One fact drawn: its sentence in the passage, what a right or a wrong answer says, and the question."""

    told: str
    said: str
    wrong: tuple[tuple[str, str], ...]
    ask: str


def _two(rng: random.Random, pool: tuple[str, ...], count: int = 2) -> list[str]:
    return rng.sample(list(pool), count)


def _firms(rng: random.Random) -> Slots:
    a, b = _two(rng, COMPANIES)
    year, amount = rng.randint(1990, 2024), rng.randint(2, 900)
    other = rng.choice([y for y in range(1990, 2025) if y != year])
    return {"a": a, "b": b, "y": str(year), "m": str(amount), "y2": str(other),
            "m2": str(int(wrong_number(rng, amount)))}  # fmt: skip


def _people(rng: random.Random) -> Slots:
    a, b = person(rng), person(rng)
    while b == a:
        b = person(rng)
    return {"a": a, "b": b, "s1": a.split()[1], "t": f"the {rng.choice(TITLES)} {rng.choice(_THINGS)}",
            "v1": rng.choice(_VIEWS[:12]), "v2": rng.choice(_VIEWS[12:]), "j": rng.choice(_JOBS),
            "y": str(rng.randint(1920, 2023)), "o": rng.choice(_OBJECTS)}  # fmt: skip


_THINGS = ("bridge", "tower", "library", "museum", "engine", "theatre", "stadium", "canal", "ferry", "observatory")
_JOBS = ("mayor", "director", "engineer", "biologist", "historian", "inspector", "treasurer", "coach")
_OBJECTS = ("a letter", "the keys", "a silver cup", "the archive", "two horses", "a house", "her shares",
"the manuscript",
            "a small boat", "the medal")  # fmt: skip
_VIEWS = (
    "the harbour should be widened", "the tax would hurt small shops", "the river was safe to swim in",
    "the school needed a second gym", "the merger came too late", "the road was badly built",
    "the drought would last another year", "trams were cheaper than buses", "the vaccine worked well in children",
    "the budget was too small", "the old town should be closed to cars", "the forest was recovering",
    "the harbour should stay as it was", "the tax would pay for itself", "the river carried too much lead",
    "the gym was not worth its price", "the merger had saved jobs", "the road met every standard",
    "rain would return in spring", "buses served more people", "the trial was too short to judge",
    "the budget was generous", "cars were the lesser problem", "half of the trees were dying",
)  # fmt: skip
_ADJECTIVES = (
    ("taller", "shorter"), ("older", "younger"), ("heavier", "lighter"), ("faster", "slower"), ("larger", "smaller"),
    ("longer", "shorter"), ("cheaper", "more expensive"), ("warmer", "colder"), ("deeper", "shallower"),
    ("busier", "quieter"), ("stronger", "weaker"), ("louder", "quieter"),
)  # fmt: skip
_SUPERLATIVES = (("largest", "smallest"), ("oldest", "newest"), ("fastest", "slowest"), ("highest", "lowest"),
                 ("cheapest", "most expensive"), ("busiest", "quietest"))  # fmt: skip
_MEASURES = (("output", "rose", "fell"), ("the price", "went up", "went down"), ("membership", "grew", "shrank"),
             ("the error rate", "increased", "decreased"), ("revenue", "climbed", "dropped"),
             ("traffic", "rose", "fell"))  # fmt: skip
_EVENTS = ("the roof was repaired", "the new pump was installed", "the staff were trained", "the licence was granted",
           "the old wing was pulled down", "the board resigned", "the first patient was treated",
           "the cables were laid", "the contract was signed", "the museum opened", "the dam was inspected",
           "the school moved", "the price was raised", "the survey ended")  # fmt: skip
_ACTS = (
    ("return an order", "returned"), ("cancel the contract", "cancelled"), ("use the pool", "used"),
    ("borrow a laptop", "borrowed"), ("park overnight", "parked"), ("work from home", "worked"),
    ("bring a guest", "brought"), ("change the booking", "changed"), ("claim travel costs", "claimed"),
    ("enter the laboratory", "entered"), ("request a refund", "requested"), ("store food in the cellar", "stored"),
)  # fmt: skip
_WHO = ("Members", "Employees", "Visitors", "Customers", "Students", "Tenants", "Subscribers", "Residents", "Guests")
_CONDITIONS = (
    "they have paid the annual fee", "a supervisor agrees in writing", "the item is unopened", "they are over 18",
    "notice is given three days ahead", "they hold a valid pass", "the weather allows it", "the form has been signed",
    "they have been with the firm for a year", "no other booking exists", "they live in the district",
    "the meter has been read",
)  # fmt: skip
_SUBJECTS = ("The drug", "The cream", "The new diet", "The vaccine", "The exercise", "The supplement", "Cold weather",
             "The coating", "The software update", "The fertiliser")  # fmt: skip
_EFFECTS = ("cause headaches", "lower blood pressure", "lead to rust", "improve sleep", "shorten battery life",
            "reduce yields", "raise the heart rate", "help older patients", "damage the seals",
            "prevent infections")  # fmt: skip
_PASSES = ("The day pass", "The basic plan", "The warranty", "The tour", "The ticket", "The insurance", "The rent",
           "The licence")  # fmt: skip
_EXTRAS = ("breakfast", "the boat trip", "heating", "water damage", "phone support", "parking", "the museum",
           "spare parts", "cleaning", "the return journey", "lost luggage", "updates", "theft",
           "the sauna")  # fmt: skip
_PLACES = ("mill", "harbour", "station", "hospital", "market", "quarry", "brewery", "airport", "reservoir", "vineyard")
_COUNTED = ("visitors", "orders", "beds", "seats", "boats", "trees", "members", "letters", "workers", "flats", "buses",
            "samples", "complaints", "parcels", "wells", "pupils", "licences", "machines")  # fmt: skip
# (as told, the same, something else, kind)
_SAME = (
    ("90 minutes", "an hour and a half", "two hours", "duration"), ("24 months", "two years", "three years",
    "duration"),
    ("48 hours", "two days", "four days", "duration"), ("60 minutes", "one hour", "half an hour", "duration"),
    ("14 days", "two weeks", "three weeks", "duration"), ("10 years", "a decade", "two decades", "duration"),
    ("100 years", "a century", "half a century", "duration"), ("6 months", "half a year", "a whole year", "duration"),
    ("three months", "a quarter", "five months", "duration"), ("a fortnight", "14 days", "24 days", "duration"),
    ("50 percent", "half", "a third", "percentage"), ("25%", "a quarter", "a fifth", "percentage"),
    ("75%", "three quarters", "two thirds", "percentage"), ("10 percent", "a tenth", "a twentieth", "percentage"),
    ("20%", "one in five", "one in three", "percentage"), ("100 percent", "all", "most", "percentage"),
    ("a third", "about 33 percent", "about 43 percent", "percentage"), ("200%", "double", "triple", "percentage"),
    ("1,500,000", "1.5 million", "15 million", "number"), ("12", "a dozen", "two dozen", "number"),
    ("2,000", "two thousand", "three thousand", "number"), ("3.2 million", "3,200,000", "2,300,000", "number"),
    ("1,000 metres", "one kilometre", "ten kilometres", "unit"), ("2.5 kg", "2,500 grams", "250 grams", "unit"),
    ("2 tonnes", "2,000 kilograms", "200 kilograms", "unit"), ("0.5 litres", "500 ml", "50 ml", "unit"),
    ("30 cm", "300 millimetres", "3 metres", "unit"), ("1.2 km", "1,200 metres", "120 metres", "unit"),
    ("2021-03-05", "5 March 2021", "5 May 2021", "date"), ("1998-11-20", "November 20, 1998", "November 2, 1998",
    "date"),
    ("12/24/2019", "24 December 2019", "24 October 2019", "date"), ("the 1890s", "the late 19th century",
    "the late 18th century", "date"), ("3 July 1954", "July 1954", "June 1954", "date"),
    ("2016-08-31", "the end of August 2016", "the end of August 2018", "date"),
)  # fmt: skip
_UNITS = (("kilometres", "miles", 3, 900), ("metres", "feet", 3, 900), ("kilograms", "pounds", 2, 900),
          ("litres", "gallons", 5, 900), ("hectares", "acres", 3, 900), ("degrees Celsius", "degrees Fahrenheit",
          3, 90),
          ("million euros", "billion euros", 2, 90), ("tonnes", "kilograms", 2, 900), ("dollars", "euros", 20, 9000),
          ("megabytes", "gigabytes", 2, 900), ("percent", "percentage points", 2, 90))  # fmt: skip
_SPANS = (("weeks", "months", 2, 11), ("days", "weeks", 2, 25), ("months", "years", 2, 30), ("hours", "days", 2, 36),
          ("minutes", "hours", 5, 50), ("years", "decades", 2, 40))  # fmt: skip
_TASKS = ("The repair", "The trial", "The crossing", "The course", "The siege", "Delivery", "The renovation",
          "The interview", "The guarantee", "The expedition", "The audit", "Recovery")  # fmt: skip


def _compare(rng: random.Random) -> Slots:
    more, less = rng.choice(_ADJECTIVES)
    if rng.random() < 0.5:
        more, less = less, more
    a, b = _two(rng, CITIES)
    thing = rng.choice(_PLACES)
    top, bottom = rng.choice(_SUPERLATIVES)
    if rng.random() < 0.5:
        top, bottom = bottom, top
    return {"a": f"the {thing} in {a}", "b": f"the one in {b}", "b2": f"the {thing} in {b}", "more": more, "less": less,
            "top": top, "bottom": bottom, "things": thing + "s" if thing[-1] != "y" else thing[:-1] + "ies", "c": a,
            "d": b}  # fmt: skip


def _trend(rng: random.Random) -> Slots:
    what, up, down = rng.choice(_MEASURES)
    if rng.random() < 0.5:
        up, down = down, up
    n = rng.randint(2, 60)
    a, b = sorted(rng.sample(range(3, 90), 2))
    return {"w": what, "W": what[0].upper() + what[1:], "up": up, "down": down, "n": str(n), "c": rng.choice(COMPANIES),
            "y": str(rng.randint(2001, 2024)), "n2": str(int(wrong_number(rng, n))), "lo": str(a), "hi": str(b),
            "hi2": str(int(wrong_number(rng, b)))}  # fmt: skip


def _order(rng: random.Random) -> Slots:
    a, b, c = _two(rng, _EVENTS, 3)
    return {"a": a, "b": b, "c": c, "A": a[0].upper() + a[1:], "B": b[0].upper() + b[1:], "p": rng.choice(CITIES)}


def _rule(rng: random.Random) -> Slots:
    act, _ = rng.choice(_ACTS)
    a, b = _two(rng, _CONDITIONS)
    n = rng.randint(3, 60)
    return {"w": rng.choice(_WHO), "act": act, "cond": a, "other": b, "n": str(n), "n2": str(int(wrong_number(rng, n)))}


def _may(rng: random.Random) -> Slots:
    return {"s": rng.choice(_SUBJECTS), "e": rng.choice(_EFFECTS), "w": rng.choice(_WHO), "act": rng.choice(_ACTS)[0]}


def _includes(rng: random.Random) -> Slots:
    a, b, c = _two(rng, _EXTRAS, 3)
    return {"p": rng.choice(_PASSES), "a": a, "b": b, "c": c, "t": rng.choice(CITIES)}


def _moves(rng: random.Random) -> Slots:
    a, b, c = _two(rng, CITIES, 3)
    return {"a": a, "b": b, "c": c, "f": rng.choice(COMPANIES), "y": str(rng.randint(1950, 2024)), "n": person(rng)}


def _unit(rng: random.Random) -> Slots:
    good, bad, low, high = rng.choice(_UNITS)
    n = rng.randint(low, high)
    return {"n": f"{n:,}", "u": good, "v": bad, "p": f"the {rng.choice(_PLACES)} in {rng.choice(CITIES)}",
            "n2": f"{int(wrong_number(rng, n)):,}"}  # fmt: skip


def _span(rng: random.Random) -> Slots:
    good, bad, low, high = rng.choice(_SPANS)
    n = rng.randint(low, high)
    return {"n": str(n), "u": good, "v": bad, "t": rng.choice(_TASKS), "n2": str(int(wrong_number(rng, n))),
            "c": rng.choice(CITIES)}  # fmt: skip


def _equal(rng: random.Random) -> Slots:
    told, same, wrong, kind = rng.choice(_SAME)
    other = rng.choice([w for _, _, w, k in _SAME if k == kind])
    return {"n": told, "m": same, "x": rng.choice((wrong, other)) if other != same else wrong, "t": rng.choice(_TASKS),
            "p": f"the {rng.choice(_PLACES)} in {rng.choice(CITIES)}", "c": rng.choice(CITIES)}  # fmt: skip


def _equal_of(kind: str) -> Callable[[random.Random], Slots]:
    def drawn(rng: random.Random) -> Slots:
        while True:
            slots = _equal(rng)
            if any(row[0] == slots["n"] and row[3] == kind for row in _SAME) and slots["x"] != slots["m"]:
                return slots

    return drawn


def _round(rng: random.Random) -> Slots:
    n = rng.randint(1010, 99_000)
    step = 10 ** (len(str(n)) - 2)
    near = round(n / step) * step
    far = near + rng.choice((-1, 1)) * step * rng.choice((5, 8, 12, 20))
    a, b = rng.randint(2, 60), rng.randint(2, 60)
    return {"n": f"{n:,}", "m": f"{near:,}", "x": f"{abs(far) or near * 3:,}", "p": rng.choice(COMPANIES),
            "o": rng.choice(_COUNTED), "a": str(a), "b": str(b), "s": str(a + b), "s2": str(a + b + rng.choice((-9, -3,
            -1, 1, 2, 7, 10, 20)))}  # fmt: skip


def _staff(rng: random.Random) -> Slots:
    a, b, c = person(rng), person(rng), person(rng)
    return {"a": a, "b": b, "x": c, "j": rng.choice(_JOBS), "f": rng.choice(COMPANIES),
    "y": str(rng.randint(1960, 2024)),
            "y2": str(rng.randint(1960, 2024)), "k": rng.choice(_COUNTED), "g": rng.choice(COMPANIES),
            "c": rng.choice(CITIES)}  # fmt: skip


def _worded(rng: random.Random) -> Slots:
    n = rng.randint(3, 19)
    other = rng.choice([i for i in range(2, 21) if i != n])
    return {"n": rng.choice((str(n), WORDS[n])), "m": rng.choice((WORDS[n], WORDS[n], str(n))), "x": WORDS[other],
            "o": rng.choice(_COUNTED), "p": f"the {rng.choice(_PLACES)} in {rng.choice(CITIES)}"}  # fmt: skip


def _cause(rng: random.Random) -> Slots:
    a, b = (cause.replace("{m}", rng.choice(MONTHS)) for cause in _two(rng, CAUSES))
    return {"a": a, "b": b, "c": rng.choice(CITIES), "A": a[0].upper() + a[1:], "B": b[0].upper() + b[1:]}


def _same_family(kind: str) -> Family:
    return Family(
        ("For {p}, the report gives {n}.", "{n}: that is what the report says about {p}.", "The entry for {p} is {n}."),
        ("It is {m}.", "The report says {m}.", "For {p}, it is {m}.", "{m}, according to the report."),
        ((kind, "It is «{x}»."), (kind, "The report says «{x}»."), (kind, "For {p}, it is «{x}»."),
         (kind, "«{x}», according to the report.")),
        ("What does the report say about {p}?", "What is given for {p}?"),
        _equal_of(kind),
    )  # fmt: skip


FAMILIES: tuple[Family, ...] = (
    *(_same_family(kind) for kind in ("duration", "percentage", "number", "unit", "date")),
    Family(
        ("{p} counted {n} {o} last year.", "Last year there were {n} {o} at {p}.", "{n} {o}: so many did {p} have."),
        ("{p} had about {m} {o}.", "There were roughly {m} {o}.", "Some {m} {o} were counted.", "{p} had {n} {o}."),
        (("number", "{p} had about «{x}» {o}."), ("number", "There were roughly «{x}» {o}."),
         ("number", "«Some {x}» {o} were counted.")),
        ("How many {o} did {p} have?", "Tell me about the {o} of {p}."),
        _round,
    ),
    Family(
        ("{p} has {a} {o} in the north and {b} in the south.", "In the north {p} has {a} {o}, in the south {b}."),
        ("Together that is {s} {o}.", "{p} has {s} {o} in all.", "There are {a} {o} in the north.",
         "In the south there are {b}, in the north {a}."),
        (("number", "Together that is «{s2}» {o}."), ("number", "{p} has «{s2}» {o} in all."),
         ("elsewhere", "There are «{b}» {o} in the north."), ("elsewhere",
         "In the south there are «{a}», in the north «{b}».")),
        ("How many {o} does {p} have?", "Where are the {o} of {p}?"),
        _round,
    ),
    Family(
        ("{a} became {j} of {f} in {y}, {b} of {g} in {y2}.", "In {y} {f} chose {a} as {j}; {g} took {b} in {y2}.",
         "Since {y} the {j} of {f} is {a}. At {g} it has been {b} since {y2}."),
        ("{a} is the {j} of {f}.", "The {j} of {g} is {b}.", "{f} has had {a} as {j} since {y}.",
         "{b} became {j} of {g} in {y2}."),
        (("name", "«{x}» is the {j} of {f}."), ("name", "The {j} of {g} is «{x}»."), ("elsewhere",
         "«{b}» is the {j} of "
         "{f}."), ("elsewhere", "The {j} of {g} is «{a}»."), ("place", "{a} is the {j} of {f} in «{c}»."),
         ("name", "{f} has had «{x}» as {j} since {y}.")),
        ("Who is the {j} of {f}?", "Who leads {f} and {g}?"),
        _staff,
    ),
    Family(
        ("{p} has {n} {o}.", "There are {n} {o} at {p}.", "{n} {o} belong to {p}."),
        ("{p} has {m} {o}.", "There are {m} {o}.", "We find {m} {o} at {p}."),
        (("number words", "{p} has «{x}» {o}."), ("number words", "There are «{x}» {o}."),
         ("number words", "We find «{x}» {o} at {p}.")),
        ("How many {o} are there at {p}?", "What is at {p}?"),
        _worded,
    ),
    Family(
        ("{a} acquired {b} in {y} for {m} million euros.", "In {y}, {b} was bought by {a} for {m} million euros.",
         "{b} has belonged to {a} since {y}, when it was taken over for {m} million euros."),
        ("{a} bought {b} in {y}.", "{b} was acquired by {a}.", "{a} paid {m} million euros for {b}.",
         "{a} took over {b} in {y}, at a price of {m} million euros."),
        (("roles", "«{b} bought {a}» in {y}."), ("roles", "«{a} was acquired by {b}»."),
         ("roles", "{m} million euros was what «{b} paid for {a}»."), ("date", "{a} bought {b} in «{y2}»."),
         ("currency", "{a} paid «{m2} million euros» for {b}."), ("unit", "{a} paid «{m} billion euros» for {b}.")),
        ("Who bought {b}?", "What happened between {a} and {b}?", "Tell me about the takeover."),
        _firms,
    ),
    Family(
        ("{a} defeated {b} in the final of {y}.", "In the final of {y}, {b} lost to {a}.",
         "{a} won the {y} final against {b}."),
        ("{a} won against {b} in {y}.", "{b} was beaten by {a}.", "The final was won by {a}.",
         "{a} came out ahead of {b} in the final of {y}."),
        (("roles", "«{b} won against {a}» in {y}."), ("roles", "«{a} was beaten by {b}»."),
         ("roles", "The final was won by «{b}»."), ("date", "{a} won against {b} in «{y2}».")),
        ("Who won the final?", "How did {a} do against {b}?"),
        _firms,
    ),
    Family(
        ("{a} argued that {v1}, while {b} held that {v2}.", "According to {a}, {v1}; {b} replied that {v2}.",
         "{a}, the {j}, said that {v1}. {b} disagreed: {v2}."),
        ("{a} said that {v1}.", "In the view of {b}, {v2}.", "{b} thought that {v2}.",
         "{a} and {b} disagreed: {a} claimed that {v1}."),
        (("attribution", "«{b} said that {v1}»."), ("attribution", "In the view of «{a}, {v2}»."),
         ("attribution", "«{a} thought that {v2}»."), ("attribution", "According to «{b}, {v1}».")),
        ("What did {a} say?", "What was the debate about?", "What did {a} and {b} think?"),
        _people,
    ),
    Family(
        ("{t} was designed by {a} in {y}; {b} only paid for it.", "{a} designed {t} in {y}, with money from {b}.",
         "The plans of {t} are by {a} ({y}). {b} financed the work."),
        ("{a} designed {t}.", "{t} is the work of {a}, paid for by {b}.", "The money for {t} came from {b}.",
         "{b} financed {t}, which {a} had designed."),
        (("attribution", "«{b} designed» {t}."), ("attribution", "{t} is the work of «{b}»."),
         ("roles", "The money for {t} came from «{a}»."), ("roles", "«{a} financed {t}, which {b} had designed».")),
        ("Who designed {t}?", "Who built {t}, and who paid?"),
        _people,
    ),
    Family(
        ("{a} gave {o} to {b} in {y}.", "In {y} {b} was given {o} by {a}.", "{b} received {o} from {a} in {y}."),
        ("{b} got {o} from {a}.", "It was {a} who gave {o} to {b}.", "{a} handed {o} over to {b} in {y}."),
        (("roles", "«{a} got {o} from {b}»."), ("roles", "It was «{b} who gave {o} to {a}»."),
         ("roles", "«{b} handed {o} over to {a}» in {y}.")),
        ("What happened to {o}?", "What did {a} do in {y}?"),
        _people,
    ),
    Family(
        ("{a} is {more} than {b}.", "Compared with {b2}, {a} is {more}.", "{b2} is {less} than {a}."),
        ("{a} is {more} than {b2}.", "Of the two, {a} is {more}.", "{b2} is {less} than the one in {c}."),
        (("comparison", "{a} is «{less}» than {b2}."), ("comparison", "Of the two, {a} is «{less}»."),
         ("comparison", "{b2} is «{more}» than the one in {c}.")),
        ("How do {a} and {b} compare?", "Which of the two is {more}?"),
        _compare,
    ),
    Family(
        ("The {top} of the {things} is in {c}, the {bottom} in {d}.", "{c} has the {top} of the {things}; {d} has the "
         "{bottom}."),
        ("The {top} of them is in {c}.", "{d} has the {bottom} of the {things}.", "In {c} you find the {top} one."),
        (("comparison", "The {top} of them is in «{d}»."), ("comparison", "{d} has the «{top}» of the {things}."),
         ("comparison", "In {c} you find the «{bottom}» one.")),
        ("Where is the {top} of the {things}?", "Tell me about the {things}."),
        _compare,
    ),
    Family(
        ("At {c}, {w} {up} by {n} percent in {y}.", "{W} at {c} {up} by {n}% in {y}."),
        ("{W} {up} by {n} % in {y}.", "In {y}, {w} at {c} {up} by {n} percent.", "At {c}, {w} {up}."),
        (("comparison", "{W} «{down}» by {n} % in {y}."), ("comparison", "At {c}, {w} «{down}» in {y}."),
         ("percentage", "In {y}, {w} at {c} {up} by «{n2} percent»."), ("negation", "At {c}, {w} «did not change».")),
        ("How did {w} develop at {c}?", "What happened at {c} in {y}?"),
        _trend,
    ),
    Family(
        ("At {c}, {w} is expected to be between {lo} and {hi} in {y}.",
        "For {y}, {c} plans with {lo} to {hi} for {w}."),
        ("{c} expects {lo}–{hi} in {y}.", "The range for {y} is {lo} to {hi}.", "It should be from {lo} to {hi}."),
        (("range", "{c} expects {lo}–«{hi2}» in {y}."), ("range", "The range for {y} is «{lo} to {hi2}»."),
         ("range", "It should be «above {hi}» in {y}.")),
        ("What does {c} expect for {y}?", "What is the range?"),
        _trend,
    ),
    Family(
        ("In {p}, {a} before {b}; {c} last of all.", "{A} in {p}. Only then, {b}, and at the end {c}.",
         "In {p}, {b} after {a}, and {c} at the very end."),
        ("First {a}, then {b}.", "{A} before {b}.", "{B} after {a}.", "{A} first, and in the end {c}."),
        (("order", "First «{b}, then {a}»."), ("order", "{A} «after» {b}."), ("order", "{B} «before» {a}."),
         ("order", "First {c}, «and in the end {a}».")),
        ("In what order did things happen in {p}?", "What came first?"),
        _order,
    ),
    Family(
        ("{w} may {act} only if {cond}.", "{w} are allowed to {act}, provided that {cond}.",
         "Unless {cond}, {w} cannot {act}."),
        ("{w} can {act} if {cond}.", "As long as {cond}, {w} may {act}.",
         "{w} are allowed to {act}, but only when {cond}."),
        (("condition", "«{w} can {act}» at any time."), ("condition", "{w} may {act} «without any condition»."),
         ("condition", "{w} are «always allowed to {act}»."), ("negation", "{w} «cannot {act}» if {cond}."),
         ("condition", "{w} can {act} «if {other}».")),
        ("May I {act}?", "Who can {act}?", "What are the rules for those who want to {act}?"),
        _rule,
    ),
    Family(
        ("{w} must {act} within {n} days unless {cond}.", "Within {n} days {w} have to {act}, except where {cond}."),
        ("{w} have {n} days to {act}, unless {cond}.", "Except where {cond}, {w} must {act} within {n} days."),
        (("condition", "{w} must {act} within {n} days «in every case»."),
         ("modality", "{w} «may, but need not, {act}» within {n} days."), ("duration",
         "{w} have «{n2} days» to {act}."),
         ("unit", "{w} must {act} within «{n} weeks»."), ("condition", "«Everyone must {act}» within {n} days.")),
        ("How long do {w} have?", "Do I have to {act}?"),
        _rule,
    ),
    Family(
        ("{s} may {e} in some cases.", "In some cases, {s} can {e}.", "It is possible that {s} will {e}."),
        ("{s} can {e}.", "{s} might {e}, at least sometimes.", "There is a chance that {s} will {e}."),
        (("modality", "{s} «will always {e}»."), ("modality", "{s} «is certain to {e}»."),
         ("negation", "{s} «cannot {e}»."), ("negation", "{s} «does not {e}»."),
         ("modality", "«In every case», {s} will {e}.")),
        ("What does {s} do?", "Does {s} {e}?"),
        _may,
    ),
    Family(
        ("{p} in {t} includes {a} and {b}, but not {c}.", "{a} and {b} are covered by {p} in {t}; {c} is not.",
         "{p} in {t} does not cover {c}. It does cover {a} and {b}."),
        ("{p} covers {a}.", "{c} is not included.", "{p} includes {a} as well as {b}.", "You pay extra for {c}."),
        (("negation", "{p} covers «{c}»."), ("negation", "{a} is «not included»."),
         ("negation", "{p} includes {a} «as well as {c}»."), ("negation", "{p} «does not include {b}».")),
        ("What does {p} cover?", "Is {c} included?", "Is {a} included?"),
        _includes,
    ),
    Family(
        ("{f} moved from {a} to {b} in {y}.", "In {y}, {f} left {a} for {b}.", "Since {y}, {f} has been in {b}; before "
         "that it was in {a}."),
        ("{f} went from {a} to {b}.", "{f} is in {b} now.", "Until {y}, {f} was in {a}.",
        "{b} became the seat of {f}."),
        (("roles", "{f} went «from {b} to {a}»."), ("place", "{f} is in «{c}» now."),
         ("roles", "Until {y}, {f} was in «{b}»."), ("order", "{f} is in «{a}» now."),
         ("place", "{f} went from {a} to «{c}».")),
        ("Where is {f}?", "What happened to {f}?"),
        _moves,
    ),
    Family(
        ("The area of {p} is given as {n} {u}.", "Records for {p} show {n} {u}.", "{n} {u} were measured at {p}."),
        ("It is {n} {u}.", "At {p}, {n} {u} were recorded.", "The figure for {p} is {n} {u}."),
        (("unit", "It is {n} «{v}»."), ("unit", "At {p}, {n} «{v}» were recorded."),
         ("number", "The figure for {p} is «{n2}» {u}."), ("unit", "The figure for {p} is {n} «{v}».")),
        ("What is known about {p}?", "What was measured at {p}?"),
        _unit,
    ),
    Family(
        ("{t} in {c} took {n} {u}.", "{t} in {c} went on for {n} {u}.", "It was {n} {u} before {t} in {c} was over."),
        ("{t} lasted {n} {u}.", "It took {n} {u}.", "After {n} {u}, {t} was over."),
        (("duration", "{t} lasted «{n2} {u}»."), ("duration", "It took «{n} {v}»."),
         ("unit", "{t} lasted {n} «{v}»."), ("duration", "After «{n2} {u}», {t} was over.")),
        ("How long did {t} take?", "What do we know about {t} in {c}?"),
        _span,
    ),
    Family(
        ("In {c}, {a} led to {b}.", "{B} in {c} was the result of {a}.", "{A} brought about {b} in {c}."),
        ("{B} was caused by {a}.", "{A} was the cause of {b}.", "The reason for {b} was {a}."),
        (("roles", "«{A} was caused by {b}»."), ("roles", "«{B} was the cause of {a}»."),
         ("roles", "The reason for «{a} was {b}».")),
        ("What happened in {c}?", "What was the cause?"),
        _cause,
    ),
)  # fmt: skip
KINDS = tuple(sorted({kind for family in FAMILIES for kind, _ in family.wrong}))


def _lowered(text: str) -> str:
    """A slot that begins with an article or a subject, inside a sentence: no capital."""
    for lead in ("The ", "Members", "Employees", "Visitors", "Customers", "Students", "Tenants", "Subscribers",
                 "Residents", "Guests", "Cold ", "Delivery", "Recovery"):  # fmt: skip
        if text.startswith(lead):
            return text[0].lower() + text[1:]
    return text


def fill(pattern: str, slots: Slots) -> str:
    """The pattern with its slots; capital only where the sentence begins."""
    result = pattern
    for name, value in slots.items():
        while (at := result.find("{" + name + "}")) >= 0:
            before = result[:at].rstrip(OPEN + " ")
            begins = not before or before[-1] in ".?!"
            shown = value[0].upper() + value[1:] if begins else _lowered(value) if name.islower() else value
            if not begins and before[-1] in ";:,":
                shown = _lowered(value)
            result = result[:at] + shown + result[at + len(name) + 2 :]
    return result


def statement(rng: random.Random, kind: str = "") -> Statement:
    """One fact; where ``kind`` is given, of a family that knows that fault, with its wrong wordings only."""
    family = rng.choice([f for f in FAMILIES if not kind or any(k == kind for k, _ in f.wrong)])
    slots = family.draw(rng)
    wrong = tuple((k, fill(text, slots)) for k, text in family.wrong if not kind or k == kind)
    return Statement(
        fill(rng.choice(family.told), slots), fill(rng.choice(family.said), slots), wrong,
        fill(rng.choice(family.ask), slots),
    )  # fmt: skip
