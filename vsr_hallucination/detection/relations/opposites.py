"""Words of opposite meaning, by what turns when one stands for the other.

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
    ("few", "many"),
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
    ("upper", "lower"),
    ("up upward upwards", "down downward downwards"),
    ("~atleast", "~atmost"),
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
    ("add added adding adds introduce introduced introduces introducing",
     "delete deleted deletes drop dropped dropping drops remove removed removes removing"),
    ("agree agreed agrees", "disagree disagreed disagrees refused"),
    ("alive", "dead"),
    ("all both each every everyone everything everywhere", "neither no nobody none nothing nowhere"),
    ("allow allowed allows permit permits permitted",
     "ban banned bans disallow disallowed forbid forbidden forbids prohibit prohibited prohibits"),
    ("always", "never"),
    ("any some", "no none"),
    ("black", "white"),
    ("closed shut", "open"),
    ("clockwise", "counterclockwise anticlockwise"),
    ("confirm confirmed confirms", "denied denies deny refute refuted refutes"),
    ("connected", "disconnected"),
    ("contain contained contains include included includes including",
     "exclude excluded excludes excluding lack lacks"),
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
    ("fail failed failing fails", "pass passed passes passing succeed succeeded succeeds"),
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
    ("same identical", "different"),
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

# Opposites that are converses: A is before B as B is after A.
DIRECTED = frozenset(
    "above after ahead afterwards before behind below beneath earlier exported exports follow followed following "
    "follows imported imports later lose loses losing lost over precede preceded precedes predecessor successor under "
    "underneath win wins winning won".split()
)
ORDINALS = frozenset("first second third fourth fifth sixth seventh eighth ninth tenth".split())


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


def _prefixed(plain: str, longer: str) -> bool:
    """Whether ``longer`` is ``plain`` with a denying prefix."""
    for prefix in _PREFIXES:
        if longer == prefix + plain or longer == f"{prefix}-{plain}":
            stem = plain.removesuffix("ly")
            return prefix == "non" or stem in _PREFIXED or plain in _PREFIXED
    return False
