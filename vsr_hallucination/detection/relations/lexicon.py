"""Closed classes of English words: negations, modals, quantifiers, words of time, phrases that do a word's work."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from vsr_hallucination.detection.encoding import MONTHS

NEGATIONS = frozenset("cannot hardly neither never no nobody none nor not nothing nowhere without ~nolonger "
                      "~notyet".split())
AUXILIARIES = frozenset(
    "am are be been being can could did do does doing had has have having is may might must shall should was were will "
    "would".split()
)
BE = frozenset("am are be been being is was were".split())
DETERMINERS = frozenset(
    "a an another any each every her his its my no our that the their this those your".split()
)  # what opens a name of a thing: the word behind is no verb
RELATIVES = frozenset("that which who whom whose".split())
CONTRASTS = frozenset("although but though whereas while".split())  # open a clause that is set against another
HALVING = frozenset("and but whereas while".split())  # between two things said side by side
INDEFINITE = frozenset("a an any anyone anything either ever one some the".split())  # what a negation more leaves
# A negation that denies nothing: "not only A but B".
NOT_DENYING = frozenset("alone always exactly fully just least merely mention necessarily only quite simply".split())

# Words that deny without a negation, or set one thing over another.
HALF_DENYING = frozenset(
    "avoid avoided avoids barely decline declined declines deny denied denies fail failed failing fails false instead "
    "lack lacked lacking lacks otherwise prevent prevented prevents rather refuse refused refuses refusing reject "
    "rejected rejects remain remained remains stop stopped stops too unable unlike untrue yet".split()
)

# Words that deny what they stand with, where the other text has a plain negation: "dropped support", "is missing".
UNDOING = frozenset(
    "absence absent ban banned bans barred bars block blocked blocks cancel canceled cancelled cease ceased "
    "ceases disabled discontinue discontinued discontinues drop dropped drops end ended ends exempt exempted "
    "exempts expire expired expires fewer forbid forbidden forbids free halt halted halts illegal impossible less "
    "miss missed misses missing nobody off outlawed prohibit prohibited prohibits remove removed "
    "removes suspend suspended suspends terminate terminated terminates unavailable void voids waive waived "
    "waives zero".split()
)

# Words that keep a claim to a part of what it names, or give it to somebody.
PARTIAL = frozenset(
    "another completely entirely every everyone few half many most only other others part partially partly several "
    "some wholly".split()
)
CLAIMING = frozenset(
    "allege alleged allegedly alleges argue argued argues assume assumed believe believed believes claim claimed "
    "claims critics expect expected hope hoped myth planned rumored rumoured say says supposed supposedly think thinks "
    "thought".split()
)
PRESENT = frozenset("am are can do does don't doesn't has have is isn't aren't".split())
PAST = frozenset("could did didn't had was were wasn't weren't".split())

# Words that set the bounds within which something holds.
BOUNDING = frozenset(
    "above after before below except exclude excluded excludes excluding once outside over since under until when "
    "while within ~atleast ~atmost ~latest ~notuntil ~usedto".split()
)
TIME_BOUNDS = frozenset("after before since until".split())  # "after 2019" is another time than "in 2019"

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
SUGGESTS = frozenset(
    "hint hinted hints imply implied implies indicate indicated indicates suggest suggested suggests".split()
)
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

# How a statement is given to somebody. What merely reports that somebody knew or showed something is left out.
SAYING = frozenset(
    "acknowledged add added adds admit admits admitted announce announced announces argue argued argues assert "
    "asserted asserts believe believed believes claim claimed claims complained concede conceded concedes "
    "conclude concluded concludes contend contended contends countered declare declared declares denied denies "
    "deny estimate estimated estimates explain explained explains feel feels felt held hold holds insist insisted "
    "insists maintain maintained maintains note noted notes objected observed predict predicted predicts propose "
    "proposed proposes replied replies reply report reported reports responded retorted said say saying says "
    "state stated states suggest suggested suggests suspect suspected think thinks thought warn warned warns "
    "writes wrote".split()
)
# Verbs after which a clause of its own follows a colon: "B disagreed: the river was safe".
ANSWERING = frozenset(
    "agreed agrees answered countered disagreed disagrees objected replied responded retorted".split()
)
VIEWS = frozenset(
    "account belief eyes judgement judgment opinion view words".split()
)  # in the view of
# Verbs and nouns that mark the neighbouring name as author, speaker or leader.
CREDITING = SAYING | frozenset(
    "according built by composed created creates designed developed directed discovered founded invented led painted "
    "published written".split()
)
# Relations that are the same from both ends: an exchange changes nothing.
TITLES = frozenset(
    "agency archbishop bishop board captain chairman chief church city coach colonel commission company congress "
    "council country court democrat doctor dr duke emperor father general government governor he house judge king lady "
    "lord manager mayor minister miss mother mr mrs ms officer parliament party pope premier president prime prince "
    "princess prof professor queen republican senate senator she sir sister state states team united university "
    "west east north south western eastern northern southern".split()
)
DATES = frozenset(MONTHS) | frozenset("monday tuesday wednesday thursday friday saturday sunday".split())

SYMMETRIC = frozenset(
    "adjacent adjoin adjoins against agree agreed allied along alongside and battled between border bordered "
    "bordering borders both co-founded co-wrote collaborated compared connected connects coupled distance divorced "
    "equal equals faced faces fight fights fought friend friends included including joined like link linked links "
    "married marry meet meets merged met near neighbor neighbors neighbour neighbours next or partner partnered "
    "partners plus resembles rival rivals same separated similar so such tied together v versus vs with".split()
)

# What an answer says of its source, which the source does not say itself.
OF_SOURCE = frozenset(
    "according answer article based context document documents evidence following given here information mentioned "
    "passage passages provided question report reports says source sources state states stated text".split()
)

# Several words that do the work of one; a name in the right column that is no word of its own stands for itself.
PHRASES: Mapping[tuple[str, ...], str] = MappingProxyType({tuple(words.split()): one for words, one in {
    "a number of": "several", "a few": "some", "a majority of": "most", "the majority of": "most",
    "are able to": "can", "as late as": "~late",
    "as long as": "if", "as soon as": "when", "as well as": "and", "at all times": "always", "at first": "initially",
    "at last": "finally", "at least": "~atleast", "at most": "~atmost", "at the end": "finally",
    "at the latest": "~latest", "at no time": "never", "any longer": "~anymore", "any more": "~anymore",
    "anything but": "not",
    "everybody but": "except", "everyone but": "except", "everything but": "except",
    "no one but": "only", "nobody but": "only", "none but": "only", "nothing but": "only",
    "at the very end": "finally", "at times": "sometimes", "by no means": "not",
    "can not": "cannot", "do not have to": "neednt", "do not need to": "neednt", "does not have to": "neednt",
    "don't have to": "neednt", "don't need to": "neednt", "doesn't have to": "neednt", "doesn't need to": "neednt",
    "not any longer": "~nolonger", "not any more": "~nolonger", "not anymore": "~nolonger",
    "does not need to": "neednt", "go down": "falls", "goes down": "falls", "go up": "rises", "goes up": "rises",
    "going down": "falls", "going up": "rises", "gone down": "falls", "gone up": "rises", "had to": "must",
    "has to": "must", "have to": "must", "in all cases": "always", "in any case": "always", "in every case": "always",
    "in no case": "never", "in some cases": "sometimes", "in the end": "finally", "is able to": "can",
    "last of all": "finally", "least expensive": "cheapest", "less expensive": "cheaper", "less than": "under",
    "fewer than": "under", "more expensive": "dearer", "more or less": "about", "more than": "over",
    "most expensive": "dearest", "more so": "rather", "most of": "most",
    "need not": "neednt", "need to": "must", "needs to": "must",
    "no doubt": "certainly", "no fewer than": "~atleast", "no later than": "~latest", "no less than": "~atleast",
    "no longer": "~nolonger", "no matter": "~nomatter", "no more than": "~atmost", "not least": "~notleast",
    "not necessarily": "sometimes", "not only": "~notonly", "not less than": "~atleast", "not more than": "~atmost",
    "not until": "~notuntil", "not yet": "~notyet", "of course": "~ofcourse", "only then": "then", "prior to": "before",
    "subsequent to": "after", "the day after": "after", "to begin with": "initially", "went down": "falls",
    "used to": "~usedto", "went up": "rises", "whether or not": "~whether", "will not be able to": "cannot",
    "with certainty": "certainly", "with or without": "~whether",
    "with the exception of": "except", "without a doubt": "certainly", "without doubt": "certainly",
    "without exception": "always", "years after": "after", "years before": "before",
}.items()})  # fmt: skip
LONGEST_PHRASE = max(map(len, PHRASES))
PHRASE_OPENINGS = frozenset(words[0] for words in PHRASES)


def negates(word: str) -> bool:
    """Whether a word, case folded with straight apostrophes, is a negation."""
    return word in NEGATIONS or word.endswith("n't")


def overstates(told: str, said: str) -> bool:
    """Whether ``said`` claims more, or other, than ``told`` of how sure, how often or how much."""
    return any(told in weak and said in strong for weak, strong in OVERSTATED)
