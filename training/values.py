"""Values of generated records: drawing them, writing them the way people do, and getting them wrong."""

from __future__ import annotations

import random
from typing import Any

from training.domains import CITIES, COMPANIES, FIRST, LAST, MONTHS, TITLES

CURRENCY = {"EUR": ("euros", "€"), "USD": ("dollars", "$"), "GBP": ("pounds", "£")}
UNITS = {
    "°C": ("°C", "degrees", "degrees Celsius"),
    "km/h": ("km/h", "kilometres per hour"),
    "GB": ("GB", "gigabytes"),
    "tonnes": ("tonnes", "t"),
    "hectares": ("hectares", "ha"),
    "mm": ("mm", "millimetres"),
    "km": ("km", "kilometres"),
    "litres": ("litres", "l", "L"),
    "kg": ("kg", "kilograms"),
    "km²": ("km²", "square kilometres"),
    "mg": ("mg",),
    "m³/s": ("m³/s", "cubic metres per second"),
}
WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
).split()


def _magnitude(rng: random.Random, low: float, high: float) -> float:
    """Log-uniform: small numbers are as common as large ones."""
    low = max(low, 0.5)
    return float(low * (high / low) ** rng.random())


def entity(rng: random.Random, pattern: str) -> str:
    """Fills ``#`` (number), ``@`` (place), backtick (title), ``~`` (person) in an entity pattern."""
    text = pattern
    while "#" in text:
        text = text.replace("#", str(rng.randint(1, 10 ** rng.choice((1, 2, 3, 4)))), 1)
    text = text.replace("@", rng.choice(CITIES)).replace("`", rng.choice(TITLES))
    return text.replace("~", person(rng))


def person(rng: random.Random) -> str:
    return f"{rng.choice(FIRST)} {rng.choice(LAST)}"


def draw(rng: random.Random, kind: str) -> Any:
    """A JSON value of a kind (the second field of a ``Fact``)."""
    name, _, rest = kind.partition(" ")
    if name == "int":
        low, high = map(int, rest.split())
        value = round(_magnitude(rng, low, high))
        return value if value < 100 or rng.random() < 0.7 else round(value, -len(str(value)) + 2)
    if name in ("money", "unit", "dur"):
        _, low_text, high_text = rest.split()
        value = round(_magnitude(rng, float(low_text), float(high_text)))
        if name == "money" and value > 100 and rng.random() < 0.4:
            return round(value, -len(str(value)) + 2)
        if name == "money" and value < 5000 and rng.random() < 0.35:
            return round(value + rng.randint(1, 99) / 100, 2)
        if name == "unit" and float(low_text) < 0:
            return rng.randint(int(low_text), int(high_text))
        return max(value, 2)
    if name == "pct":
        low, high = map(int, rest.split())
        return rng.randint(low, high) if rng.random() < 0.6 else round(rng.uniform(low, high), 1)
    if name == "float":
        low, high = map(int, rest.split())
        return round(_magnitude(rng, low, high), 1)
    if name == "date":
        return f"{rng.randint(2015, 2026)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"
    if name == "year":
        return rng.randint(1890, 2025)
    if name == "time":
        return f"{rng.randint(6, 22)}:{rng.choice(('00', '15', '30', '45'))}"
    if name == "word":
        return rng.choice(rest.split(";"))
    if name == "city":
        return rng.choice(CITIES)
    if name == "person":
        return person(rng)
    if name == "company":
        return rng.choice(COMPANIES)
    if name == "version":
        return f"{rng.randint(0, 14)}.{rng.randint(0, 30)}" + (f".{rng.randint(0, 9)}" if rng.random() < 0.6 else "")
    return f"{rng.choice('ABCDEFGHK')}{rng.randint(1, 89)}"


def number(rng: random.Random, value: float, words: bool = True) -> str:
    """A number as people write it: grouped or not, small ones sometimes in words."""
    if isinstance(value, int):
        if words and 0 <= value <= 20 and rng.random() < 0.35:
            return WORDS[value]
        return f"{value:,}" if abs(value) >= 1000 and rng.random() < 0.7 else str(value)
    if value == int(value) and rng.random() < 0.5:
        return f"{int(value):,}"
    return f"{value:,}" if rng.random() < 0.7 else str(value)


def write(rng: random.Random, kind: str, value: Any, words: bool = True) -> str:
    """``value`` as text in an answer."""
    name, _, rest = kind.partition(" ")
    if name in ("int", "float"):
        return number(rng, value, words and name == "int")
    if name == "money":
        code = rest.split()[0]
        word, sign = CURRENCY[code]
        plain = number(rng, value, False)
        return rng.choice(
            (
                f"{plain} {word}",
                f"{plain} {word}",
                f"{sign}{plain}",
                f"{plain} {code}",
                f"{code} {plain}",
                f"{plain} {sign}" if code == "EUR" else f"{sign}{plain}",
            )
        )
    if name == "unit":
        unit = rest.split()[0]
        return f"{number(rng, value, False)} {rng.choice(UNITS[unit])}"
    if name == "dur":
        unit = rest.split()[0]
        return f"{number(rng, value)} {'minutes' if unit == 'min' else unit}"
    if name == "pct":
        return number(rng, value, False) + rng.choice(("%", "%", " %", " percent"))
    if name == "date":
        year, month, day = value.split("-")
        named = MONTHS[int(month) - 1]
        return rng.choice(
            (value, f"{named} {int(day)}, {year}", f"{int(day)} {named} {year}", f"{named} {int(day)}, {year}")
        )
    return str(value)


def wrong_number(rng: random.Random, value: float) -> float:
    """Another number of the same look: a digit changed, two swapped, off by some, ten times, half."""
    text = str(abs(value))
    digits = [i for i, c in enumerate(text) if c.isdigit()]
    for _ in range(40):
        characters = list(text)
        way = rng.random()
        if way < 0.5:
            for i in rng.sample(digits, min(len(digits), rng.choice((1, 1, 2)))):
                characters[i] = rng.choice("0123456789" if i else "123456789")
        elif way < 0.65 and len(digits) > 1:
            i = rng.randrange(len(digits) - 1)
            a, b = digits[i], digits[i + 1]
            characters[a], characters[b] = characters[b], characters[a]
        else:
            factor = rng.choice((10.0, 0.1, 2.0, 0.5, 1 + rng.uniform(0.03, 0.9), 1 - rng.uniform(0.03, 0.7)))
            changed = abs(value) * factor
            characters = list(str(round(changed) if isinstance(value, int) else round(changed, 1)))
        new_text = "".join(characters)
        if new_text.startswith("0") and not new_text.startswith("0."):
            continue
        new = float(new_text) if "." in new_text else int(new_text)
        if new != abs(value) and new > 0:
            return -new if value < 0 and rng.random() < 0.7 else new
    return value + rng.randint(2, 9)


def wrong(rng: random.Random, kind: str, value: Any) -> Any:
    """A different value of the same kind, near enough to be believed."""
    name = kind.split(" ")[0]
    if isinstance(value, (int, float)):
        return wrong_number(rng, value)
    if name == "date":
        year, month, day = value.split("-")
        way = rng.randrange(3)
        if way == 0:
            return f"{int(year) + rng.choice((-3, -2, -1, 1, 2, 3))}-{month}-{day}"
        if way == 1:
            return f"{year}-{(int(month) + rng.randint(0, 10)) % 12 + 1:02d}-{day}"
        return f"{year}-{month}-{(int(day) + rng.randint(1, 26)) % 28 + 1:02d}"
    for _ in range(20):
        other = draw(rng, kind)
        if other != value:
            return other
    return f"{value}-2"
