"""Units of measure beside numbers: which one stands there, and when two amounts in different units are the same.

The table is closed and small: units people mix up in answers. Factors follow the SI brochure (BIPM, 9th edition) and
NIST Handbook 44; a month is a twelfth of a mean year. Reading a unit looks at a few words behind a number (or the
currency before it), so it is bounded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

PERCENT = "%"


@dataclass(frozen=True, slots=True)
class Unit:
    """``system``: units of one system convert exactly into each other, of two only roughly ("" = never)."""

    dimension: str
    system: str = ""
    factor: Decimal = Decimal(1)


_TABLE = """
time s: millisecond .001 ms milliseconds|second 1 seconds sec secs sekunde sekunden seconde secondes segundo segundos|
 minute 60 minutes min mins minuten minuto minutos|hour 3600 hours hr hrs h stunde stunden heure heures hora horas|
 day 86400 days tag tage tagen jour jours día días|night 86400 nights|
 week 604800 weeks woche wochen semaine semaines semana semanas|fortnight 1209600 fortnights
time y: month 2629800 months monat monate monaten mois mes meses|year 31557600 years yr yrs jahr jahre jahren année
 années año años|decade 315576000 decades|century 3155760000 centuries|millennium 31557600000 millennia
length m: millimetre .001 mm millimeter millimeters millimetres|centimetre .01 cm centimeter centimeters centimetres|
 metre 1 m meter meters metres metern mètre mètres metro metros|
 kilometre 1000 km kms kilometer kilometers kilometres kilometern kilomètre kilomètres kilómetro kilómetros
length i: inch .0254 inches|foot .3048 feet ft|yard .9144 yards yd yds|mile 1609.344 miles mi mph
area m: square-metre 1 m² m2 sqm|square-kilometre 1000000 km² km2|hectare 10000 hectares ha
area i: acre 4046.856 acres|square-mile 2589988 sqmi mi²|square-foot .09290304 sqft ft²|square-inch .00064516 in²|
 square-yard .8361274
volume m: millilitre .001 ml milliliter milliliters millilitres|centilitre .01 cl|
 litre 1 l L liter liters litres litern|cubic-metre 1000 m³ m3
volume i: gallon 3.785 gallons|pint .473 pints|cubic-foot 28.317 ft³
mass m: milligram .001 mg milligrams|gram 1 g grams gramme grammes gramm|
 kilogram 1000 kg kgs kilo kilos kilograms kilogramme kilogrammes kilogramm|
 tonne 1000000 tonnes ton tons tonnen t
mass i: pound 453.592 pounds lb lbs|ounce 28.3495 ounces oz
data b: byte 1 bytes|kilobyte 1000 kB KB kilobytes|megabyte 1000000 MB megabytes|gigabyte 1000000000 GB gigabytes|
 terabyte 1000000000000 TB terabytes|petabyte 1000000000000000 PB petabytes
power w: watt 1 watts W|kilowatt 1000 kilowatts kW|megawatt 1000000 megawatts MW|gigawatt 1000000000 gigawatts GW
energy w: kilowatt-hour 1 kWh|megawatt-hour 1000 MWh|gigawatt-hour 1000000 GWh|terawatt-hour 1000000000 TWh
frequency h: hertz 1 Hz|kilohertz 1000 kHz|megahertz 1000000 MHz|gigahertz 1000000000 GHz
temperature c: celsius 1 °C centigrade
temperature f: fahrenheit 1 °F
temperature k: kelvin 1 kelvins
money -: dollar 1 dollars USD $ US$ A$ C$|euro 1 euros EUR €|sterling 1 GBP £|yen 1 JPY ¥|franc 1 francs CHF|
 rupee 1 rupees INR ₹|yuan 1 CNY RMB renminbi|cent 1 cents
percent -: % 1 ‰ percent pct percentage Prozent prozent percents
"""


def _read_table() -> tuple[dict[str, Unit], dict[str, str]]:
    units: dict[str, Unit] = {}
    names: dict[str, str] = {}
    for head, body in re.findall(r"^(\w+ .): ((?:.|\n )+)", _TABLE, re.MULTILINE):
        dimension, system = head.split(" ")
        for entry in body.split("|"):
            name, factor, *forms = entry.split()
            units[name] = Unit(dimension, "" if system == "-" else system, Decimal(factor))
            names |= dict.fromkeys((name, *forms), name)
    return units, names


UNITS, _NAMES = _read_table()
# Words that are one unit or another: "5 pounds", "20 degrees", "5 in" is too often no inch.
_SEVERAL = {
    "pound": ("pound", "sterling"), "pounds": ("pound", "sterling"), "quid": ("sterling",),
    "degree": ("celsius", "fahrenheit", "kelvin"), "degrees": ("celsius", "fahrenheit", "kelvin"),
    "°": ("celsius", "fahrenheit", "kelvin"), "C": ("celsius",), "F": ("fahrenheit",),
}  # fmt: skip
_BETWEEN = frozenset(
    "working business calendar full whole consecutive straight metric long short us u.s american additional further "
    "more extra solid short fluid troy nautical statute canadian australian singapore united states hong kong imperial "
    "british academic school trading".split()
)
# After these a number stands for itself: "rose to 40 in May".
_FUNCTION = frozenset(
    "a an the in on at of to for from by with and or but if as is are was were be has have had not no which who that "
    "than then when while during since until before after per each between against over under about so because where "
    "it they he she we you its their his her our your this these those all both also last next ago later earlier "
    "already now today only und oder im am von zu bis mit et ou de y o en".split()
)
_WORD = r"[^\W\d_]{1,24}[²³23]?"
_BEHIND = re.compile(
    rf"[ \u00a0]?-?(?P<sign>[%‰$€£¥]|°[ ]?(?:[CF]\b)?)|[ \u00a0]?-?[ ]?(?P<a>{_WORD})(?!\w)"
    rf"(?:[ \u00a0-](?P<b>{_WORD})(?!\w)(?:[ \u00a0-](?P<c>{_WORD})(?!\w))?)?"
)
_BEFORE = re.compile(
    r"(?:(?P<sign>(?:US|A|C|NZ|HK)?\$|[€£¥₹])|\b(?P<code>USD|EUR|GBP|JPY|CHF|INR|CNY|RMB|Rs\.?))[ \u00a0]?-?$"
)
_SQUARE = {"square": "square", "sq": "square", "cubic": "cubic"}


@dataclass(frozen=True, slots=True)
class Reading:
    """What stands beside a number. ``units``: what it may be in. ``end``: where the unit ends.

    ``counts``: a noun stands there that is no unit known here. With no units and no noun the number is bare.
    """

    units: tuple[str, ...] = ()
    end: int = 0
    counts: bool = False


def unit_at(text: str, start: int, end: int) -> Reading:
    """The unit of the number ``text[start:end]`` (``end``: behind its magnitude)."""
    before = _BEFORE.search(text[max(0, start - 8) : start])
    if before is not None and before.group("sign") == "$" and text[end : end + 1] == "$":
        before, end = None, end + 1  # "$5$ km": mathematics
    if before is not None:
        return Reading(_named(before.group("sign") or before.group("code")), end)
    match = _BEHIND.match(text, end)
    if match is None:
        return Reading(end=end)
    if (sign := match.group("sign")) is not None:
        return Reading(_named(sign.replace(" ", "")), match.end("sign"))
    words = [(match.group(g), match.end(g)) for g in ("a", "b", "c") if match.group(g)]
    if words[0][0].lower() in _FUNCTION and words[0][0] not in _NAMES:
        return Reading(end=end)
    for n, (word, stop) in enumerate(words):
        shape = _SQUARE.get(word.lower())
        if shape is not None and n + 1 < len(words):
            squared = tuple(u for u in (f"{shape}-{name}" for name in _named(words[n + 1][0])) if u in UNITS)
            if squared:
                return Reading(squared, words[n + 1][1])
        # A unit two words on is one only if it cannot be anything else.
        found = _named(word) if n == 0 or len(word) > 2 else ()
        if found and (n == 0 or all(w.lower() in _BETWEEN or w.isalpha() for w, _ in words[:n])):
            if word.lower() in {"degrees", "degree"} and n + 1 < len(words) and _named(words[n + 1][0]):
                return Reading(_named(words[n + 1][0]), words[n + 1][1])
            return Reading(found, stop, n > 0 and words[0][0].lower() not in _BETWEEN)
        if word.lower() in _FUNCTION:
            break
    return Reading(end=end, counts=words[0][0].lower() not in _BETWEEN)


def _named(word: str) -> tuple[str, ...]:
    several = _SEVERAL.get(word) or _SEVERAL.get(word.lower() if len(word) > 1 else word)
    if several is not None:
        return several
    name = _NAMES.get(word) or (_NAMES.get(word.lower()) if len(word) > 2 else None)
    return (name,) if name is not None else ()


def unit_named(word: str) -> tuple[str, ...]:
    """The units a word may name; empty where it names none."""
    return _named(word)


def dimensions(units: tuple[str, ...]) -> frozenset[str]:
    return frozenset(UNITS[unit].dimension for unit in units)


def base(number: Decimal, unit: str) -> Decimal:
    """``number`` in the base unit of its dimension (degrees stay as they are)."""
    return number * UNITS[unit].factor


_WORST = {"time": Decimal("0.09"), "data": Decimal("0.08")}  # 12 weeks are 3 months; 1024 or 1000
_ROUGH = Decimal("0.05")
_EXACT = Decimal("0.02")
_NEARLY = Decimal("0.12")


def equal(
    number: Decimal, unit: str, other: Decimal, other_unit: str, *, step: Decimal, approximate: bool = False
) -> bool:
    """Whether ``number`` ``unit`` says what ``other`` ``other_unit`` does. ``step``: the last place that is said.

    Exact or rounded to the step within a system ("3 hours" for 180 minutes), roughly between two ("8 km", 5 miles).
    """
    one, two = UNITS[unit], UNITS[other_unit]
    if one.dimension != two.dimension or not one.system or not two.system or unit == other_unit:
        return False
    if one.dimension == "temperature":
        return _same_degrees(number, one.system, other, two.system, step)
    mine, theirs = base(number, unit), base(other, other_unit)
    gap, half = abs(mine - theirs), step * one.factor / 2
    if approximate:
        return gap <= theirs * _NEARLY
    if one.system == two.system:
        worst = theirs * (_WORST["data"] if one.dimension == "data" else _EXACT)
        return gap <= (worst if one.dimension == "data" else min(half, worst))
    rough = theirs * (_WORST["time"] if one.dimension == "time" else _ROUGH)
    return gap <= min(max(half, theirs * Decimal("0.015")), rough) or (one.dimension == "time" and gap <= rough)


def _same_degrees(number: Decimal, system: str, other: Decimal, other_system: str, step: Decimal) -> bool:
    def kelvin(value: Decimal, of: str) -> Decimal:
        if of == "k":
            return value
        return value + Decimal("273.15") if of == "c" else (value + Decimal("459.67")) / Decimal("1.8")

    degree = Decimal(1) if system != "f" else 1 / Decimal("1.8")
    gap = abs(kelvin(number, system) - kelvin(other, other_system))
    return gap <= max(step * degree / 2, Decimal("0.6"))
