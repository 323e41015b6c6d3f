"""Generated tool results and answers about them, right, wrong and embroidered, with exact labels."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import Any

from training.domains import (
    CAUSES,
    CITIES,
    COMPANIES,
    DOMAINS,
    FIRST,
    INVENTED,
    INVENTED_CLAUSES,
    KEY_NOUNS,
    KEY_QUALIFIERS,
    LAST,
    MONTHS,
    QUALITIES,
    Domain,
    Fact,
)
from training.values import draw, entity, person, write, wrong
from vsr_hallucination.apis.flatten import flatten as read_json

OPENERS = (
    "Sure! ",
    "Of course. ",
    "Here is what I found: ",
    "According to the record, ",
    "Based on the data, ",
    "From the tool result: ",
    "Thanks for asking! ",
    "I looked it up: ",
    "As requested: ",
    "The lookup shows that ",
    "I checked the system. ",
    "Good news: ",
    "Certainly! ",
    "Hi! ",
)
CLOSERS = (
    " Let me know if you need anything else.",
    " I hope this helps!",
    " Would you like more details?",
    " Anything else?",
    " Happy to help with more.",
    " Tell me if you want the full record.",
    " Feel free to ask about other entries.",
)
REFUSALS = (
    "The record does not say {x}.",
    "I could not find any information about {x} in the result.",
    "Unfortunately, {x} is not included in the data.",
    "There is no entry on {x}.",
    "I don't know {x}, as the data does not mention it.",
    "I'm sorry, but the result contains nothing about {x}.",
)
UNKNOWNS = (
    "who approved it",
    "why that changed",
    "last year's figure",
    "the names of the staff",
    "the exact location",
    "what happens next",
    "the forecast",
    "how this compares with others",
    "who is responsible",
    "the reason for this",
)


@dataclass(frozen=True, slots=True)
class Made:
    """One generated row. Spans are code-point offsets into ``answer``, half-open; none = clean."""

    context: str
    question: str
    answer: str
    spans: tuple[tuple[int, int], ...]
    fault: str


@dataclass(slots=True)
class Text:
    """Builds an answer while keeping the spans of what is wrong in it."""

    parts: list[str] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)
    length: int = 0

    def add(self, text: str, bad: bool = False) -> None:
        if bad and text.strip():
            lead = len(text) - len(text.lstrip())
            self.spans.append((self.length + lead, self.length + len(text.rstrip())))
        self.parts.append(text)
        self.length += len(text)

    def extend(self, other: Text) -> None:
        self.spans += [(a + self.length, b + self.length) for a, b in other.spans]
        self.parts += other.parts
        self.length += other.length

    def text(self) -> str:
        return "".join(self.parts)


@dataclass(frozen=True, slots=True)
class Item:
    """One fact of a record: its key, its true value, and what an answer says (``said``; bad = not true)."""

    fact: Fact
    key: str
    value: Any
    said: Any
    bad: bool


def style_key(rng: random.Random, key: str, style: str) -> str:
    words = key.split("_")
    if style == "camel":
        return words[0] + "".join(w.title() for w in words[1:])
    if style == "title":
        return " ".join(w.capitalize() for w in words)
    if style == "kebab":
        return "-".join(words)
    return key


def flatten(value: Any, prefix: str = "", index_style: str = "[]") -> list[str]:
    """JSON as one ``path: value`` per leaf, in document order."""
    if isinstance(value, dict):
        return [x for k, v in value.items() for x in flatten(v, f"{prefix}.{k}" if prefix else str(k), index_style)]
    if isinstance(value, list):
        lines = []
        for i, v in enumerate(value):
            name = f"{prefix}[{i}]" if index_style == "[]" else f"{prefix}.{i}" if prefix else str(i)
            lines += flatten(v, name, index_style)
        return lines
    shown = "true" if value is True else "false" if value is False else "null" if value is None else str(value)
    return [f"{prefix}: {shown}"]


def as_read(value: Any) -> str:
    """JSON as the run time hands it to the models."""
    source = json.dumps(value, ensure_ascii=False)
    flat = read_json(source)
    return flat.text if flat is not None and flat.text else source


def serialise(rng: random.Random, value: Any) -> str:
    """Evidence text: mostly flattened JSON as at run time, else other flat forms, raw JSON, CSV, tables."""
    way = rng.random()
    if way < 0.55:
        return as_read(value)
    if way < 0.65:
        return "\n".join(flatten(value, "", rng.choice(("[]", "."))))
    if way < 0.8:
        return json.dumps(value, ensure_ascii=False, indent=rng.choice((None, None, 2)))
    rows = value if isinstance(value, list) else [value]
    if not all(isinstance(r, dict) and not any(isinstance(v, (dict, list)) for v in r.values()) for r in rows):
        return "\n".join(flatten(value))
    heads = list(rows[0])
    if way < 0.88:
        return "\n".join(rng.choice((", ", "; ")).join(f"{k}={v}" for k, v in r.items()) for r in rows)
    if way < 0.94:
        lines = [" | ".join(heads)] + [" | ".join(str(r.get(h, "")) for h in heads) for r in rows]
        return "\n".join(f"| {line} |" for line in lines)
    return "\n".join([",".join(heads)] + [",".join(str(r.get(h, "")) for h in heads) for r in rows])


def free_fact(rng: random.Random) -> Fact:
    """A fact with a key of no domain: any qualifier, any noun."""
    noun, qualifier = rng.choice(KEY_NOUNS), rng.choice(KEY_QUALIFIERS)
    key = rng.choice((f"{qualifier}_{noun}", f"{noun}_{qualifier}", noun, f"num_{noun}", f"{noun}_count"))
    name = f"{qualifier} {noun}" if qualifier in key else noun
    clauses = (
        f"{{e}} has {{v}} {name}",
        f"the number of {name} is {{v}}",
        f"{{e}} counted {{v}} {name}",
        f"there were {{v}} {name}",
        f"the data shows {{v}} {name} for {{e}}",
        f"{{e}} reported {{v}} {name}",
    )
    return Fact(
        (key,), "int 2 90000", clauses, (f"with {{v}} {name}", f"and {{v}} {name}"), f"How many {name} does {{e}} have"
    )


def invented(rng: random.Random, noun: str, clause: bool = False) -> str:
    """A sentence (or clause) of plausible content that no record holds."""
    month = rng.choice(MONTHS)
    slots = {
        "n": noun,
        "y": rng.randint(1890, 2024),
        "y2": rng.randint(2026, 2039),
        "p": person(rng),
        "p2": person(rng),
        "q": rng.randint(2, 60),
        "per": rng.choice(("month", "quarter", "week", "year", "season")),
        "cause": rng.choice(CAUSES).replace("{m}", month),
        "c": rng.choice(CITIES),
        "c2": rng.choice(CITIES),
        "i": f"{round(10 ** rng.uniform(1.1, 4)):,}",
        "co": rng.choice(COMPANIES),
        "m": month,
        "d": f"{rng.randint(1, 28)} {month}",
        "quality": rng.choice(QUALITIES),
        "small": rng.randint(2, 9),
        "small2": rng.randint(0, 9),
    }
    return rng.choice(INVENTED_CLAUSES if clause else INVENTED).format(**slots)


def _clause(rng: random.Random, item: Item, name: str, lead: bool, mark: str = "") -> Text:
    pattern = rng.choice(item.fact.clauses)
    if lead:
        pattern = pattern[0].upper() + pattern[1:] if not pattern.startswith("{") else pattern
    return _fill(rng, pattern, item, name, lead, mark)


def _fill(rng: random.Random, pattern: str, item: Item, name: str, lead: bool, mark: str) -> Text:
    text = Text()
    shown = write(rng, item.fact.kind, item.said)
    before, _, after = pattern.partition("{v}")
    capital = lead and before.startswith("{e}")
    before, after = before.replace("{e}", name), after.replace("{e}", name)
    if capital:
        before = before[0].upper() + before[1:]
    if lead and not before:
        shown = shown[0].upper() + shown[1:]
    text.add(before + mark)
    text.add(shown, item.bad)
    text.add(mark + after)
    return text


def _sentences(rng: random.Random, items: list[Item], name: str, period: str) -> list[Text]:
    result: list[Text] = []
    queue = list(items)
    mark = rng.choice(("", "", "", "", "**", "**", "*", "`"))
    first = True
    while queue:
        item = queue.pop(0)
        called = name if first or rng.random() < 0.5 else rng.choice(("it", "It", name))
        text = _clause(rng, item, called, True, mark)
        if first and period and rng.random() < 0.75:
            text.add(f" {period}")
        while queue and queue[0].fact.tails and rng.random() < 0.6:
            tail = queue.pop(0)
            text.add(rng.choice((" ", ", ")))
            text.extend(_fill(rng, rng.choice(tail.fact.tails), tail, name, False, mark))
        if queue and rng.random() < 0.2:
            joined = queue.pop(0)
            text.add(rng.choice((", and ", " and ", "; ", ", while ")))
            text.extend(_clause(rng, joined, rng.choice((name, "it")), False, mark))
        text.add(".")
        result.append(text)
        first = False
    return result


def _words(key: str) -> str:
    return key.replace("_", " ").replace("-", " ")


def _bullets(rng: random.Random, items: list[Item], name: str, record_keys: dict[str, str]) -> Text:
    text = Text()
    text.add(
        rng.choice((f"{name}:", f"Here are the figures for {name}:", f"**{name}**", f"Summary for {name}:")) + "\n"
    )
    bullet, bold = rng.choice(("- ", "* ", "• ", "1. ")), rng.choice(("", "**"))
    for number, item in enumerate(items, 1):
        text.add(f"{number}. " if bullet == "1. " else bullet)
        label = _words(item.key)
        text.add(f"{bold}{label[0].upper() + label[1:]}{bold}: ")
        text.add(write(rng, item.fact.kind, item.said, words=False), item.bad)
        text.add("\n" if number < len(items) else "")
    return text


def _table(rng: random.Random, items: list[Item], name: str) -> Text:
    text = Text()
    text.add(f"| {rng.choice(('Field', 'Item', 'Key', name))} | {rng.choice(('Value', 'Result'))} |\n|---|---|\n")
    for item in items:
        text.add(f"| {_words(item.key)} | ")
        text.add(write(rng, item.fact.kind, item.said, words=False), item.bad)
        text.add(" |\n")
    return text


def _json_answer(rng: random.Random, items: list[Item]) -> Text:
    text = Text()
    text.add(rng.choice(("```json\n{", "{")))
    fenced = text.parts[0].startswith("`")
    for number, item in enumerate(items):
        text.add((", " if number else "") + f'"{item.key}": ')
        shown = json.dumps(item.said, ensure_ascii=False)
        text.add('"' if shown.startswith('"') else "")
        text.add(shown.strip('"'), item.bad)
        text.add('"' if shown.startswith('"') else "")
    text.add("}\n```" if fenced else "}")
    return text


def _record(
    rng: random.Random,
    domain: Domain,
    name: str,
    facts: list[tuple[Fact, str]],
    style: str,
    period: tuple[str, Any] | None,
) -> dict[str, Any]:
    entity_key = style_key(rng, domain.entity_keys[0] if style == "fixed" else rng.choice(domain.entity_keys), style)
    record: dict[str, Any] = {entity_key: name}
    if period is not None:
        record[period[0]] = period[1]
    for fact, key in facts:
        record[key] = draw(rng, fact.kind)
    return record


def make(rng: random.Random, fault: str | None = None) -> Made:
    """One row. ``fault``: clean, value, swap, invented, refusal; drawn if not given."""
    if fault is None:
        fault = rng.choices(("clean", "value", "swap", "invented", "refusal"), (46, 20, 18, 14, 4))[0]
    domain = rng.choice(DOMAINS)
    style = rng.choice(("snake", "snake", "camel", "title", "kebab"))
    chosen = rng.sample(domain.facts, rng.randint(1, len(domain.facts)))
    facts = [(f, style_key(rng, rng.choice(f.keys), style)) for f in chosen]
    for _ in range(rng.choice((0, 0, 1, 1, 2, 3))):
        extra = free_fact(rng)
        facts.append((extra, style_key(rng, extra.keys[0], style)))
    facts = list({key: (fact, key) for fact, key in facts}.values())
    rng.shuffle(facts)
    period, said_period = _period(rng)
    many = rng.random() < 0.35 or fault == "swap"
    names = [entity(rng, rng.choice(domain.entities)) for _ in range(rng.randint(2, 4) if many else 1)]
    entity_key = style_key(rng, rng.choice(domain.entity_keys), style)
    records = []
    for name in names:
        record: dict[str, Any] = {entity_key: _bare(rng, name)}
        if period is not None:
            record[period[0]] = period[1]
        record |= {key: draw(rng, fact.kind) for fact, key in facts}
        records.append(record)
    target = rng.randrange(len(records))
    name, record = names[target], records[target]
    told = rng.sample(facts, min(len(facts), rng.choice((1, 1, 2, 2, 3, 4))))
    items = [Item(f, k, record[k], record[k], False) for f, k in told]
    known = {str(v) for r in records for v in r.values()}
    if fault in ("value", "swap"):
        items = _spoil(rng, items, records, target, known, fault)
    if fault == "value" and period is not None and rng.random() < 0.2:
        items = [Item(i.fact, i.key, i.value, i.value, False) for i in items]
        said_period = _other_period(rng, said_period)
        body = _body(rng, items, name, said_period, record)
        at = body.text().find(said_period)
        if at >= 0:
            body.spans.append((at + said_period.index(" ") + 1, at + len(said_period)))
    else:
        body = _body(rng, items, name, said_period, record)
    note = ""
    if fault == "invented" or (fault in ("clean", "value") and rng.random() < 0.3):
        inline = body.text().endswith(".") and rng.random() < 0.4
        sentence = invented(rng, domain.noun, inline)
        body, note = _embroider(rng, body, sentence, fault == "invented")
    if fault == "refusal":
        refusal = rng.choice(REFUSALS).format(x=rng.choice(UNKNOWNS))
        text = Text()
        if rng.random() < 0.5:
            text.extend(body)
            text.add(" ")
        text.add(refusal)
        body = text
    final = Text()
    if rng.random() < 0.3:
        final.add(rng.choice(OPENERS))
    final.extend(body)
    if rng.random() < 0.2:
        final.add(rng.choice(CLOSERS))
    payload: Any = records if many else record
    if note:
        (record if rng.random() < 0.8 or many else payload)[
            rng.choice(("note", "remarks", "info", "about", "text"))
        ] = note
    payload = _wrap(rng, payload)
    asked = [i.fact.ask.replace("{e}", name) for i in items[:2]]
    joined = asked[0] + (", and " + asked[1][0].lower() + asked[1][1:] if len(asked) > 1 and rng.random() < 0.6 else "")
    question = rng.choice(
        (
            f"{joined}?",
            f"{joined}?",
            f"{joined}?",
            f"Tell me about {name}.",
            f"What do we know about {name}?",
            f"Give me the data for {name}.",
        )
    )
    question = question[0].upper() + question[1:]
    answer = final.text().rstrip("\n")
    spans = tuple(sorted(final.spans))
    return Made(serialise(rng, payload), question, answer, spans, fault if spans else "clean")


def _bare(rng: random.Random, name: str) -> str:
    """The entity as a record holds it: sometimes without its article."""
    for lead in ("the ", "your "):
        if name.startswith(lead) and rng.random() < 0.7:
            return name[len(lead) :]
    return name


def _period(rng: random.Random) -> tuple[tuple[str, Any] | None, str]:
    way = rng.random()
    if way < 0.3:
        month = rng.choice(MONTHS)
        return ("month", month), f"in {month}"
    if way < 0.4:
        quarter = rng.randint(1, 4)
        return ("quarter", f"Q{quarter}"), f"in Q{quarter}"
    if way < 0.5:
        year = rng.randint(2012, 2026)
        return ("year", year), f"in {year}"
    if way < 0.6:
        week = rng.randint(1, 52)
        return ("week", week), f"in week {week}"
    if way < 0.7:
        date = draw(rng, "date")
        return ("date", date), f"on {write(rng, 'date', date)}"
    return None, ""


def _other_period(rng: random.Random, said: str) -> str:
    while True:
        period, other = _period(rng)
        if period is not None and other != said:
            return other


def _spoil(
    rng: random.Random, items: list[Item], records: list[dict[str, Any]], target: int, known: set[str], fault: str
) -> list[Item]:
    count = 1 if rng.random() < 0.85 else min(2, len(items))
    bad = set(rng.sample(range(len(items)), count))
    result = []
    for i, item in enumerate(items):
        if i not in bad:
            result.append(item)
            continue
        others = [r[item.key] for j, r in enumerate(records) if j != target and r[item.key] != item.value]
        if fault == "swap" and others:
            said = rng.choice(others)
        else:
            said = next(
                (w for w in (wrong(rng, item.fact.kind, item.value) for _ in range(20)) if str(w) not in known), None
            )
            if said is None:
                result.append(item)
                continue
        result.append(Item(item.fact, item.key, item.value, said, True))
    return result


def _body(rng: random.Random, items: list[Item], name: str, period: str, record: dict[str, Any]) -> Text:
    way = rng.random()
    if way < 0.7:
        text = Text()
        for i, sentence in enumerate(_sentences(rng, items, name, period)):
            text.add(" " if i else "")
            text.extend(sentence)
        return text
    if way < 0.85:
        return _bullets(rng, items, name, {})
    if way < 0.94:
        return _table(rng, items, name)
    return _json_answer(rng, items)


def _embroider(rng: random.Random, body: Text, sentence: str, bad: bool) -> tuple[Text, str]:
    """Adds a sentence: unsupported, or supported by a note that says it (so its style gives nothing away)."""
    text = Text()
    if sentence[0] in ", ":
        last = body.parts.pop()
        body.length -= len(last)
        text.extend(body)
        text.add(last[:-1])
        text.add(sentence, bad)
        text.add(".")
        return text, "" if bad else sentence.strip(", ")
    if rng.random() < 0.2:
        text.add(sentence, bad)
        text.add(" ")
        text.extend(body)
    else:
        text.extend(body)
        text.add("\n\n" if body.text().endswith(("|\n", "}")) else " " if rng.random() < 0.85 else "\n")
        text.add(sentence, bad)
    return text, "" if bad else sentence


def _wrap(rng: random.Random, payload: Any) -> Any:
    way = rng.random()
    if way < 0.75:
        return payload
    extra: dict[str, Any] = {"status": "ok"} if rng.random() < 0.5 else {"count": len(payload)}
    key = rng.choice(("data", "result", "results", "items", "response", "rows"))
    return {**extra, key: payload} if rng.random() < 0.7 else {key: payload}


if __name__ == "__main__":
    generator = random.Random(3)
    for _ in range(12):
        made = make(generator)
        print("-----", made.fault, [made.answer[a:b] for a, b in made.spans])
        print(made.context, "\nQ:", made.question, "\nA:", made.answer)
    assert FIRST and LAST
