"""What generated passages are about: the pools of names, events, rules and figures, and how a fact is drawn from them.

What a right and a wrong answer say comes from one pool, and either of two values may be the true one: a value, a unit
or a name that only wrong answers hold would give them away.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from training.domains import CAUSES, CITIES, COMPANIES, FIRST, LAST, MONTHS, TITLES
from training.values import WORDS, person, wrong_number

Slots = dict[str, str]


def _two(rng: random.Random, pool: tuple[str, ...], count: int = 2) -> list[str]:
    return rng.sample(list(pool), count)


def _figures(rng: random.Random, low: int, high: int) -> list[int]:
    """Two figures, one of them the other misread: which of the two is true is left to chance."""
    value = other = rng.randint(low, high)
    while other == value or other < 2:
        other = int(wrong_number(rng, value))
    return rng.sample([value, other], 2)


def firms(rng: random.Random) -> Slots:
    a, b = _two(rng, COMPANIES)
    (year, year2), (amount, amount2) = rng.sample(range(1990, 2025), 2), _figures(rng, 2, 900)
    u, v = rng.sample(("million", "billion"), 2)
    return {"a": a, "b": b, "y": str(year), "m": str(amount), "y2": str(year2), "m2": str(amount2), "u": u, "v": v}


def people(rng: random.Random) -> Slots:
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
# Kind, then two values easily taken for each other: each as a passage tells it, and the same as an answer says it.
# No two of a kind mean the same.
_SAME: tuple[tuple[str, tuple[str, str], tuple[str, str]], ...] = (
    ("duration", ("90 minutes", "an hour and a half"), ("120 minutes", "two hours")),
    ("duration", ("24 months", "two years"), ("36 months", "three years")),
    ("duration", ("48 hours", "two days"), ("96 hours", "four days")),
    ("duration", ("60 minutes", "one hour"), ("30 minutes", "half an hour")),
    ("duration", ("a fortnight", "14 days"), ("21 days", "three weeks")),
    ("duration", ("10 years", "a decade"), ("20 years", "two decades")),
    ("duration", ("100 years", "a century"), ("50 years", "half a century")),
    ("duration", ("6 months", "half a year"), ("12 months", "a whole year")),
    ("duration", ("three months", "a quarter of a year"), ("four months", "a third of a year")),
    ("percentage", ("50 percent", "half"), ("60 percent", "three fifths")),
    ("percentage", ("25%", "a quarter"), ("20%", "a fifth")),
    ("percentage", ("75%", "three quarters"), ("67%", "two thirds")),
    ("percentage", ("10 percent", "a tenth"), ("5 percent", "a twentieth")),
    ("percentage", ("30%", "three in ten"), ("33%", "one in three")),
    ("percentage", ("100 percent", "all"), ("0 percent", "none")),
    ("percentage", ("two sevenths", "about 29 percent"), ("three sevenths", "about 43 percent")),
    ("percentage", ("200%", "double"), ("300%", "triple")),
    ("number", ("1,500,000", "1.5 million"), ("15,000,000", "15 million")),
    ("number", ("12", "a dozen"), ("24", "two dozen")),
    ("number", ("2,000", "two thousand"), ("3,000", "three thousand")),
    ("number", ("3.2 million", "3,200,000"), ("2.3 million", "2,300,000")),
    ("unit", ("1,000 metres", "one kilometre"), ("10,000 metres", "ten kilometres")),
    ("unit", ("2.5 kg", "2,500 grams"), ("0.25 kg", "250 grams")),
    ("unit", ("2 tonnes", "2,000 kilograms"), ("0.2 tonnes", "200 kilograms")),
    ("unit", ("0.5 litres", "500 ml"), ("0.05 litres", "50 ml")),
    ("unit", ("30 cm", "300 millimetres"), ("300 cm", "3 metres")),
    ("unit", ("1.2 km", "1,200 metres"), ("0.12 km", "120 metres")),
    ("date", ("2021-03-05", "5 March 2021"), ("2021-05-05", "5 May 2021")),
    ("date", ("1998-11-20", "November 20, 1998"), ("1998-11-02", "November 2, 1998")),
    ("date", ("12/24/2019", "24 December 2019"), ("10/24/2019", "24 October 2019")),
    ("date", ("the 1890s", "the late 19th century"), ("the 1790s", "the late 18th century")),
    ("date", ("3 July 1954", "July 1954"), ("3 June 1954", "June 1954")),
    ("date", ("2016-08-31", "the end of August 2016"), ("2018-08-31", "the end of August 2018")),
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


def compare(rng: random.Random) -> Slots:
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


def trend(rng: random.Random) -> Slots:
    what, up, down = rng.choice(_MEASURES)
    if rng.random() < 0.5:
        up, down = down, up
    n, n2 = _figures(rng, 2, 60)
    low = rng.randint(3, 90)
    high, high2 = rng.sample(range(low + 1, 2 * low + 20), 2)
    return {"w": what, "W": what[0].upper() + what[1:], "up": up, "down": down, "n": str(n), "c": rng.choice(COMPANIES),
            "y": str(rng.randint(2001, 2024)), "n2": str(n2), "lo": str(low), "hi": str(high),
            "hi2": str(high2)}  # fmt: skip


def order(rng: random.Random) -> Slots:
    a, b, c = _two(rng, _EVENTS, 3)
    return {"a": a, "b": b, "c": c, "A": a[0].upper() + a[1:], "B": b[0].upper() + b[1:], "C": c[0].upper() + c[1:],
            "p": rng.choice(CITIES)}  # fmt: skip


def rule(rng: random.Random) -> Slots:
    act, _ = rng.choice(_ACTS)
    a, b = _two(rng, _CONDITIONS)
    n, n2 = _figures(rng, 3, 60)
    u, v = rng.sample(("days", "weeks"), 2)
    return {"w": rng.choice(_WHO), "act": act, "cond": a, "other": b, "n": str(n), "n2": str(n2), "u": u, "v": v}


def may(rng: random.Random) -> Slots:
    return {"s": rng.choice(_SUBJECTS), "e": rng.choice(_EFFECTS), "w": rng.choice(_WHO), "act": rng.choice(_ACTS)[0]}


def includes(rng: random.Random) -> Slots:
    a, b, c = _two(rng, _EXTRAS, 3)
    return {"p": rng.choice(_PASSES), "a": a, "b": b, "c": c, "t": rng.choice(CITIES)}


def moves(rng: random.Random) -> Slots:
    a, b, c = _two(rng, CITIES, 3)
    return {"a": a, "b": b, "c": c, "f": rng.choice(COMPANIES), "y": str(rng.randint(1950, 2024)), "n": person(rng)}


def unit(rng: random.Random) -> Slots:
    one, two, low, high = rng.choice(_UNITS)
    u, v = rng.sample((one, two), 2)
    n, n2 = _figures(rng, low, high)
    return {"n": f"{n:,}", "u": u, "v": v, "p": f"the {rng.choice(_PLACES)} in {rng.choice(CITIES)}",
            "n2": f"{n2:,}"}  # fmt: skip


def span(rng: random.Random) -> Slots:
    one, two, low, high = rng.choice(_SPANS)
    u, v = rng.sample((one, two), 2)
    n, n2 = _figures(rng, low, high)
    return {"n": str(n), "u": u, "v": v, "t": rng.choice(_TASKS), "n2": str(n2), "c": rng.choice(CITIES)}


def equal_of(kind: str) -> Callable[[random.Random], Slots]:
    """Draws of one value written two ways (``n``, ``m``), and of another (``k``, ``x``)."""
    entries = [(told, same) for name, *pair in _SAME if name == kind for told, same in pair]

    def drawn(rng: random.Random) -> Slots:
        at = rng.randrange(len(entries))
        # The neighbour in the table is the likeliest slip.
        other = at ^ 1 if rng.random() < 0.5 else rng.choice([i for i in range(len(entries)) if i != at])
        (n, m), (k, x) = entries[at], entries[other]
        return {"n": n, "m": m, "k": k, "x": x, "p": f"the {rng.choice(_PLACES)} in {rng.choice(CITIES)}"}

    return drawn


def rounded(rng: random.Random) -> Slots:
    n = rng.randint(1010, 99_000)
    step: int = 10 ** (len(str(n)) - 2)
    near = round(n / step) * step
    off = rng.choice((-1, 1)) * step * rng.choice((5, 8, 12, 20))
    off = off if near + off > step else -off
    (n, near), (k, far) = rng.sample(((n, near), (n + off, near + off)), 2)
    a, b = rng.sample(range(2, 61), 2)
    a2 = rng.choice([i for i in (a - 9, a - 3, a - 1, a + 1, a + 2, a + 7, a + 10, a + 20) if i > 1])
    a, a2 = rng.sample((a, a2), 2)
    return {"n": f"{n:,}", "m": f"{near:,}", "k": f"{k:,}", "x": f"{far:,}", "p": rng.choice(COMPANIES),
            "o": rng.choice(_COUNTED), "a": str(a), "b": str(b), "s": str(a + b), "a2": str(a2),
            "s2": str(a2 + b)}  # fmt: skip


def staff(rng: random.Random) -> Slots:
    a, b, c = (f"{first} {last}" for first, last in zip(rng.sample(FIRST, 3), rng.sample(LAST, 3), strict=True))
    (f, g), (c1, c2) = _two(rng, COMPANIES), _two(rng, CITIES)
    return {"a": a, "b": b, "x": c, "j": rng.choice(_JOBS), "f": f,
            "y": str(rng.randint(1960, 2024)),
            "y2": str(rng.randint(1960, 2024)), "g": g,
            "c": c1, "d": c2}  # fmt: skip


def worded(rng: random.Random) -> Slots:
    n, x = rng.sample(range(2, 21), 2)
    told, said = rng.random() < 0.5, rng.random() < 0.67
    return {"n": WORDS[n] if told else str(n), "k": WORDS[x] if told else str(x), "m": WORDS[n] if said else str(n),
            "x": WORDS[x] if said else str(x), "o": rng.choice(_COUNTED),
            "p": f"the {rng.choice(_PLACES)} in {rng.choice(CITIES)}"}  # fmt: skip


def cause(rng: random.Random) -> Slots:
    a, b = (cause.replace("{m}", rng.choice(MONTHS)) for cause in _two(rng, CAUSES))
    return {"a": a, "b": b, "c": rng.choice(CITIES), "A": a[0].upper() + a[1:], "B": b[0].upper() + b[1:]}
