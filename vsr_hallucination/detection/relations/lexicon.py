"""Closed classes of English words that turn a relation: opposites, modals, quantifiers, negations, phrases.

Opposites stand in rows of two sides, every word of one against every word of the other; a word may stand in several
rows. Inflected forms are spelt out, so that a look-up is one dictionary access. Rows in alphabetical order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal

Sort = Literal["comparison", "negation", "order"]
Row = tuple[str, str]

# Trends of a quantity: what one line calls a rise another calls growth.
RISES = frozenset(
    "appreciated climb climbed climbing climbs expand expanded expanding expands gained gains grew grow growing grown "
    "grows increase increased increases increasing jumped jumps rise risen rises rising rose soared soars surged "
    "surges swelled widened".split()
)
FALLS = frozenset(
    "contracted contracts decline declined declines declining decrease decreased decreases decreasing depreciated "
    "diminish diminished diminishes dip dipped dips drop dropped dropping drops dwindled fall fallen falling falls "
    "fell plummeted plunged reduced reduces sank shrank shrink shrinking shrinks shrunk sinks slumped tumbled".split()
)
STAYS = frozenset("constant flat same stable steady unaltered unchanged".split())

_COMPARISONS: tuple[Row, ...] = (
    ("above over", "below beneath under underneath"),
    ("advantage advantages", "disadvantage disadvantages"),
    ("ahead", "behind"),
    ("ascend ascended ascending ascends", "descend descended descending descends"),
    ("better", "worse"),
    ("best", "worst"),
    ("big bigger", "little small smaller tiny"),
    ("biggest largest", "smallest"),
    ("bigger greater larger", "lesser smaller"),
    ("brighter", "darker dimmer"),
    ("broad wide", "narrow"),
    ("broader wider", "narrower"),
    ("broadest widest", "narrowest"),
    ("busier", "quieter"),
    ("busiest", "quietest"),
    ("cheaper", "costlier dearer pricier"),
    ("cheapest", "costliest dearest priciest"),
    ("closer nearer", "farther further"),
    ("closest nearest", "farthest furthest"),
    ("cold cool", "hot warm"),
    ("colder cooler", "hotter warmer"),
    ("coldest coolest", "hottest warmest"),
    ("deep", "shallow"),
    ("deeper", "shallower"),
    ("deepest", "shallowest"),
    ("drier", "wetter"),
    ("easier", "harder"),
    ("easiest", "hardest"),
    ("exceed exceeded exceeds", "undercut"),
    ("faster quicker", "slower"),
    ("fastest quickest", "slowest"),
    ("fewer less", "more"),
    ("fewest least", "most"),
    ("fewer smaller", "greater larger"),
    ("gain gained gains", "lose loses lost"),
    ("happier", "sadder"),
    ("heavier", "lighter"),
    ("heaviest", "lightest"),
    ("high", "low"),
    ("higher", "lower"),
    ("highest", "lowest"),
    ("huge large", "little small tiny"),
    ("inferior", "superior"),
    ("largest greatest", "least smallest"),
    ("long lengthy", "brief short"),
    ("longer taller", "shorter"),
    ("longest tallest", "shortest"),
    ("louder", "quieter softer"),
    ("loudest", "quietest"),
    ("major", "minor"),
    ("majority", "minority"),
    ("maximal maximum", "minimal minimum"),
    ("newer younger", "older"),
    ("newest youngest", "oldest eldest"),
    ("poorer", "richer wealthier"),
    ("poorest", "richest wealthiest"),
    ("safer", "riskier"),
    ("stronger", "weaker"),
    ("strongest", "weakest"),
    ("strong", "weak"),
    ("thicker", "thinner"),
    ("up upward upwards", "down downward downwards"),
    ("win wins winning won", "lose loses losing lost"),
    (" ".join(sorted(RISES)), " ".join(sorted(FALLS))),
)  # fmt: skip
_ORDERS: tuple[Row, ...] = (
    ("after following", "before until"),
    ("afterward afterwards later subsequently then thereafter", "beforehand earlier previously"),
    ("ancient old", "modern new recent"),
    ("began begin begins beginning begun start started starting starts",
     "ceased ceases end ended ending ends finish finished finishes stop stopped stops"),
    ("beginning start", "conclusion end ending"),
    ("birth born", "death died"),
    ("closed closes", "opened opens"),
    ("current currently now present presently", "former formerly previous previously"),
    ("earlier", "later"),
    ("earliest oldest", "latest newest"),
    ("early", "late"),
    ("final last ultimate", "first initial opening"),
    ("finally lastly ultimately", "first firstly initially originally"),
    ("followed follows succeeded succeeds", "preceded precedes"),
    ("following next subsequent", "preceding previous prior"),
    ("predecessor predecessors", "successor successors"),
    ("since", "until till"),
)  # fmt: skip
_OPPOSED: tuple[Row, ...] = (
    ("accept accepted accepts approve approved approves", "reject rejected rejects refuse refused refuses"),
    ("agree agreed agrees", "disagree disagreed disagrees refused"),
    ("alive", "dead"),
    ("all both each every everyone everything everywhere", "neither no nobody none nothing nowhere"),
    ("allow allowed allows permit permits permitted",
     "ban banned bans disallow disallowed forbid forbidden forbids prohibit prohibited prohibits"),
    ("always", "never"),
    ("any some", "no none"),
    ("black", "white"),
    ("clockwise", "counterclockwise anticlockwise"),
    ("confirm confirmed confirms", "denied denies deny refute refuted refutes"),
    ("connected", "disconnected"),
    ("contain contained contains include included includes including", "exclude excluded excludes excluding lack lacks"),
    ("correct right true", "false incorrect untrue wrong"),
    ("cold", "hot"),
    ("dangerous unsafe", "harmless safe"),
    ("day", "night"),
    ("disabled", "enabled"),
    ("dry", "wet"),
    ("east", "west"), ("eastern", "western"), ("easternmost", "westernmost"), ("eastward", "westward"),
    ("easy simple", "difficult hard"),
    ("empty", "full"),
    ("everybody everyone somebody someone", "nobody none"),
    ("export exported exports", "import imported imports"),
    ("external outer outside", "inner inside internal"),
    ("fail failed failing fails", "succeed succeeded succeeds"),
    ("failure failures unsuccessful", "success successes successful"),
    ("female females", "male males"),
    ("guilty", "innocent"),
    ("ill sick", "healthy"),
    ("include", "omit"),
    ("indoor indoors", "outdoor outdoors"),
    ("left", "right"),
    ("legal lawful", "illegal unlawful"),
    ("mandatory obligatory required compulsory", "optional voluntary"),
    ("married", "unmarried"),
    ("negative", "positive"),
    ("north", "south"), ("northeast", "southwest"), ("northeastern", "southwestern"), ("northern", "southern"),
    ("northernmost", "southernmost"), ("northward", "southward"), ("northwest", "southeast"),
    ("northwestern", "southeastern"),
    ("oppose opposed opposes", "support supported supports"),
    ("possible", "impossible"),
    ("presence present", "absence absent"),
    ("private", "public"),
    ("rural", "urban"),
    ("with", "without"),
    ("within", "outside"),
)  # fmt: skip
# "in-" and "dis-" also begin words that are no opposites (income, discover): these are.
_PREFIXED = frozenset(
    "abled able accurate active adequate appropriate authorized available avoidable aware balanced believable broken "
    "certain changed clear comfortable common complete compatible connected considerable conscious consistent "
    "constitutional controlled correct credible decided defined dependent different direct direction divided eligible "
    "employed equal even expected fair familiar favorable finished fit fortunate friendly frequent happy healthy "
    "helpful important inhabited intended interested intentional kind known legal licensed like likely limited logical "
    "mature moral necessary official opened organized paid paired perfect personal pleasant popular possible precise "
    "proven published qualified rational real realistic regular related relevant reliable reasonable replaceable "
    "responsible reversible safe satisfied secure seen significant similar solved stable successful sufficient "
    "suitable sure tolerant treated true used usual valid visible wanted willing written".split()
)
_PREFIXES = ("un", "in", "im", "il", "ir", "dis", "non")

NEGATIONS = frozenset("cannot hardly neither never no nobody none nor not nothing nowhere without".split())
AUXILIARIES = frozenset(
    "am are be been being can could did do does doing had has have having is may might must shall should was were will "
    "would".split()
)
INDEFINITE = frozenset("a an any anyone anything either ever one some the".split())  # what a negation more leaves
# A negation that denies nothing: "not only A but B".
NOT_DENYING = frozenset("alone always exactly fully just least merely mention necessarily only quite simply".split())

# Words that deny without a negation, or set one thing over another.
HALF_DENYING = frozenset(
    "avoid avoided avoids barely decline declined declines deny denied denies fail failed failing fails false instead "
    "lack lacked lacking lacks otherwise prevent prevented prevents rather refuse refused refuses refusing reject "
    "rejected rejects remain remained remains stop stopped stops too unable untrue yet".split()
)

# Where something was, and where it is.
NOW = frozenset("currently now nowadays presently still today".split())
ONCE = frozenset("before earlier formerly once originally previously until".split())
LEAVING = frozenset("abandoned abandoning leaves leaving left quit quits quitting vacated".split())
MOVING = frozenset(
    "came changed emigrated go goes gone migrated move moved moves moving relocated relocates shifted switched "
    "transferred transfers went".split()
)

# Strength of what is said, by classes: a word of a weak class made one of a strong class overstates.
POSSIBLE = frozenset(
    "can conceivably could may maybe might occasionally perhaps possible possibly potentially sometimes".split()
)
NEEDED = frozenset("must mandatory obligatory required compulsory".split())
ALWAYS = frozenset("always invariably unfailingly".split())
CERTAIN = frozenset("assuredly certain certainly definitely definitively surely undoubtedly".split())
FREE = frozenset("can may might neednt optional optionally voluntary".split())
ADVISED = frozenset("advisable ought recommended should".split())
OFTEN = frozenset(
    "commonly frequently generally mostly normally occasionally often rarely seldom sometimes typically usually".split()
)
SELDOM = frozenset("rarely seldom".split())
LIKELY = frozenset("likely maybe perhaps possibly possible potentially presumably probable probably".split())
PARTLY = frozenset("chiefly generally largely mainly mostly predominantly primarily".split())
SOME = frozenset("certain few many most multiple several some".split())
ALL = frozenset("all each every everyone everybody".split())
NONE = frozenset("no nobody none neither".split())
ABOUT = frozenset("about almost approximately around circa nearly roughly".split())
EXACTLY = frozenset("exactly precisely".split())
SUGGESTS = frozenset("hint hinted hints imply implied implies indicate indicated indicates suggest suggested suggests".split())
PROVES = frozenset("confirm confirmed confirms establish established establishes prove proved proven proves".split())
# (weak, strong): the weak put for the strong, or the strong for the weak where the second is the claim of more.
OVERSTATED: tuple[tuple[frozenset[str], frozenset[str]], ...] = (
    (POSSIBLE, NEEDED | ALWAYS | CERTAIN),
    (OFTEN, ALWAYS),
    (OFTEN - SELDOM, frozenset({"never"})),
    (SELDOM, frozenset({"often", "frequently", "usually"})),
    (frozenset({"often", "frequently", "usually"}), SELDOM),
    (LIKELY, CERTAIN),
    (PARTLY, frozenset({"exclusively", "only", "solely"})),
    (SOME, ALL | NONE),
    (ABOUT, EXACTLY),
    (frozenset({"almost", "nearly"}), frozenset({"over"})),
    (NEEDED, FREE),
    (frozenset({"over"}), frozenset({"almost", "nearly"})),
    (ADVISED, frozenset({"must", "neednt"})),
    (SUGGESTS, PROVES),
)

# Words of the same predicate, by what they are compared as.
SAME: Mapping[str, str] = MappingProxyType({word: "=" + words.split()[0] for words in (
    "allowed able allow allows permitted permits permit entitled authorised authorized",
    "caused cause causes causing brought led leads lead",
    "change altered alter alters changed changes changing",
    "include comprise comprised comprises contain contained contains cover covered covers covering included includes "
    "including",
    "located situated",
) for word in words.split()})  # fmt: skip
CONDITIONS = frozenset("if provided providing when whenever".split())
EXCEPTIONS = frozenset("except excepting unless until".split())
PRONOUNS = frozenset("he it she that these they this those".split())
HEDGES = frozenset("case cases chance chances possibility risk".split())

ORDINALS = {word: n for n, word in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split(), 1)}

# Several words that do the work of one; a name in the right column that is no word of its own stands for itself.
PHRASES: Mapping[tuple[str, ...], str] = MappingProxyType({tuple(words.split()): one for words, one in {
    "a number of": "several", "a few": "some", "a majority of": "most", "are able to": "can", "as late as": "~late",
    "as long as": "if", "as soon as": "when", "as well as": "and", "at all times": "always", "at first": "initially",
    "at last": "finally", "at least": "~atleast", "at most": "~atmost", "at the end": "finally",
    "at the latest": "~latest", "at the very end": "finally", "at times": "sometimes", "by no means": "not",
    "can not": "cannot", "do not have to": "neednt", "do not need to": "neednt", "does not have to": "neednt",
    "does not need to": "neednt", "go down": "falls", "goes down": "falls", "go up": "rises", "goes up": "rises",
    "going down": "falls", "going up": "rises", "gone down": "falls", "gone up": "rises", "had to": "must",
    "has to": "must", "have to": "must", "in all cases": "always", "in any case": "always", "in every case": "always",
    "in no case": "never", "in some cases": "sometimes", "in the end": "finally", "is able to": "can",
    "last of all": "finally", "least expensive": "cheapest", "less expensive": "cheaper", "less than": "under",
    "fewer than": "under", "more expensive": "dearer", "more or less": "about", "more than": "over",
    "most expensive": "dearest", "most of": "most", "need not": "neednt", "need to": "must", "needs to": "must",
    "no doubt": "certainly", "no fewer than": "~atleast", "no later than": "~latest", "no less than": "~atleast",
    "no longer": "~nolonger", "no matter": "~nomatter", "no more than": "~atmost", "not least": "~notleast",
    "not necessarily": "sometimes", "not only": "~notonly", "not less than": "~atleast", "not more than": "~atmost",
    "not until": "~notuntil", "of course": "~ofcourse", "only then": "then", "prior to": "before",
    "subsequent to": "after", "the day after": "after", "to begin with": "initially", "went down": "falls",
    "went up": "rises", "whether or not": "~whether", "will not be able to": "cannot", "with certainty": "certainly",
    "with the exception of": "except", "without a doubt": "certainly", "without doubt": "certainly",
    "without exception": "always", "years after": "after", "years before": "before",
}.items()})  # fmt: skip
LONGEST_PHRASE = max(map(len, PHRASES))


def _table(rows: Iterable[tuple[Sort, Row]]) -> dict[str, dict[str, Sort]]:
    found: dict[str, dict[str, Sort]] = {}
    for sort, (one, two) in rows:
        for a in one.split():
            for b in two.split():
                found.setdefault(a, {}).setdefault(b, sort)
                found.setdefault(b, {}).setdefault(a, sort)
    return found


_OPPOSITES: Mapping[str, Mapping[str, Sort]] = MappingProxyType(
    _table(
        [*(("comparison", row) for row in _COMPARISONS), *(("order", row) for row in _ORDERS),
         *(("negation", row) for row in _OPPOSED)]
    )
)  # fmt: skip


def opposed(one: str, two: str) -> Sort | None:
    """What turns when ``two`` stands for ``one``, both case folded; None where they are no opposites."""
    sort = _OPPOSITES.get(one, {}).get(two)
    if sort is not None:
        return sort
    if one in ORDINALS and two in ORDINALS and one != two:
        return "order"
    return "negation" if _prefixed(one, two) or _prefixed(two, one) else None


def opposites_of(word: str) -> Mapping[str, Sort]:
    """All opposites of a word; empty where it has none."""
    return _OPPOSITES.get(word, {})


def comparative(word: str) -> bool:
    """Whether a word that has an opposite compares two."""
    ends = word.endswith("er") and word not in {"over", "under", "rather"}
    return (ends or word in {"better", "fewer", "less", "more", "worse"}) and word in _OPPOSITES


def negates(word: str) -> bool:
    """Whether a word, case folded with straight apostrophes, is a negation."""
    return word in NEGATIONS or word.endswith("n't")


def overstates(told: str, said: str) -> bool:
    """Whether ``said`` claims more, or other, than ``told`` of how sure, how often or how much."""
    return any(told in weak and said in strong for weak, strong in OVERSTATED)


def _prefixed(plain: str, longer: str) -> bool:
    """Whether ``longer`` is ``plain`` with a denying prefix."""
    for prefix in _PREFIXES:
        if longer == prefix + plain or longer == f"{prefix}-{plain}":
            stem = plain.removesuffix("ly")
            return prefix == "non" or stem in _PREFIXED or plain in _PREFIXED
    return False
