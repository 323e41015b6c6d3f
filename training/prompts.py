"""Prompts for the fact-check classifier: selected rows, and generated ones for what they lack."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from pathlib import Path

from training.domains import CITIES, DOMAINS, MONTHS
from training.records import free_fact
from training.rows import read
from training.sequence import Pair
from training.values import entity, person

NEEDS, NOT_NEEDED = 0, 1
LABELS = ("needs_fact_check", "no_fact_check_needed")

# Rows taken per source: templated sets would otherwise decide what a question looks like.
CAPS = {
    "survivi/HaluEval-2.0 questions": 2200,
    "clinc/oos-eval (CLINC150) commands": 1700,
    "clinc/oos-eval (CLINC150) factual intents": 700,
    "clinc/oos-eval (CLINC150) small talk": 1000,
    "BYU-PCCL chitchat-dataset (PyPI 0.9.0)": 1600,
    "HotpotQA questions (in HaluEval qa)": 900,
    "chaitanyamalaviya/ExpertQA": 1600,
    "dolly open_qa": 2200,
    "dolly closed_qa": 900,
}

THINGS = (
    "the Eiffel Tower|Mount Kenya|the Golden Gate Bridge|the Louvre|Big Ben|the Pantheon|Machu Picchu|the Colosseum|"
    "the Suez Canal|Lake Victoria|the Danube|Mont Blanc|the Sydney Opera House|the Kremlin|Stonehenge|the Taj Mahal|"
    "the Brooklyn Bridge|the Hoover Dam|Versailles|Angkor Wat"
).split("|")
SUBSTANCES = (
    "ethanol|mercury|nitrogen|iron|gold|ammonia|methane|copper|lead|oxygen|acetone|tungsten|helium|sulfur".split("|")
)
EVENTS = (
    "World War I|the French Revolution|the Cold War|the moon landing|the Great Depression|the Boer War|Chernobyl|"
    "the Battle of Waterloo|the first Olympic Games|the fall of the Berlin Wall|the Black Death"
).split("|")
INVENTIONS = (
    "telephone|steam engine|light bulb|printing press|airplane|zipper|penicillin|dynamite|radio|barometer|"
    "World Wide Web|microscope|bicycle|transistor"
).split("|")
FACTUAL = (
    "How tall is {thing}?",
    "how tall is {thing}",
    "When was {thing} built?",
    "Who built {thing}?",
    "Where is {thing}?",
    "How old is {thing}?",
    "What is the boiling point of {substance}?",
    "boiling point of {substance}",
    "What is the melting point of {substance}?",
    "population of {city}",
    "What is the population of {city}?",
    "How many people live in {city}?",
    "When did {event} end?",
    "When did {event} start?",
    "What caused {event}?",
    "Who invented the {invention}?",
    "When was the {invention} invented?",
    "What is the capital of {city}?",
    "How far is {city} from {city2}?",
    "What time zone is {city} in?",
    "Who is {person}?",
    "When was {person} born?",
    "What is the chemical symbol for {substance}?",
    "How heavy is {substance}?",
    "Is {city} larger than {city2}?",
    "tell me about {event}",
    "Explain {event} to me.",
    "What are the side effects of ibuprofen?",
    "Is it true that {substance} is toxic?",
    "What does the law say about overtime in {city}?",
    "Who won the match in {city}?",
    "What did {person} discover?",
    "Which country does {city} belong to?",
    "Give me three facts about {thing}.",
    "Summarise the history of {city}.",
    "List the rulers during {event}.",
    "Compare {city} and {city2} by population.",
)
TOOL_DATA = (
    "{ask}?",
    "{ask}?",
    "{ask}?",
    "{ask} in {month}?",
    "{ask} last week?",
    "Can you tell me: {ask_lower}?",
    "Please check the system: {ask_lower}?",
    "{ask}, and {ask2_lower}?",
    "Look up {e} and tell me {field}.",
    "What does the report say about {e}?",
    "Show me the {field} of {e}.",
    "Give me the {field} for {e} in {month}.",
    "Use the tool to find the {field} of {e}.",
    "Summarise the data we have on {e}.",
    "What's the {field} for {e}?",
    "According to the documents, what is the {field} of {e}?",
    "Based on the context, {ask_lower}?",
    "Answer from the passages: {ask_lower}?",
    "I need the {field} of {e} for my report.",
)
TOPICS = (
    "autumn|my cat|the sea|a lonely robot|friendship|coffee|a lost umbrella|the moon|growing up|rain|my grandmother|"
    "a brave mouse|a dragon who is afraid of fire|football|Mondays|a birthday|space travel|an old lighthouse"
).split("|")
CODE = (
    "this regex: ^[a-z+$|my SQL query|the following Python function|this bash script|the off-by-one error in my loop|"
    "this TypeScript type|the failing unit test below|my CSS grid|this JSON|the indentation of this YAML"
).split("|")
CREATIVE = (
    "Write a poem about {topic}.",
    "write me a haiku about {topic}",
    "Write a short story about {topic}.",
    "Compose a song about {topic}",
    "Tell me a joke about {topic}.",
    "Make up a riddle about {topic}",
    "Fix {code}",
    "Please fix {code}.",
    "Can you refactor {code}?",
    "Debug {code} for me",
    "Explain why {code} does not compile",
    "Write a regex that matches {what}",
    "Write a Python function that {does}.",
    "Write a unit test for a function that {does}",
    "Thanks!",
    "thank you so much",
    "ok great, thanks for your help",
    "Good morning!",
    "hello there",
    "bye",
    "How are you today?",
    "you are awesome",
    "nice",
    "Yes, please.",
    "no, that's all",
    "Sounds good, let's go with the first one.",
    "Rewrite this more politely: send me the file now",
    "Make this paragraph shorter.",
    "Rephrase the sentence above.",
    "Translate 'good night' into {language}.",
    "Translate the text below into {language}",
    "Correct the grammar of my email.",
    "Brainstorm names for a {shop}.",
    "Suggest a slogan for a {shop}",
    "Draft a birthday message for {person}.",
    "Write an invitation to a party in {city}.",
    "Write a cover letter for a job at a {shop}",
    "Act as a pirate and greet me.",
    "Set a timer for ten minutes",
    "remind me to call {person} tomorrow",
    "Play some music",
    "Turn off the lights",
    "Pretend you are {topic} and talk to me",
    "Continue the story.",
    "Roll a die",
    "Pick a random number",
    "Repeat after me: hello",
    "Format this as a table",
    "Convert this list to JSON",
    "Turn the notes into bullet points",
    "What do you think about {topic}?",
    "Do you like {topic}?",
    "What's your name?",
    "Write an acrostic for {topic}",
    "Imagine a world without {topic} and describe it.",
)
WHAT = "email addresses|dates|hex colours|phone numbers|IPv4 addresses|words in capitals".split("|")
DOES = (
    "reverses a string|sorts a list of dicts|parses a CSV|counts vowels|checks for palindromes|flattens a list".split(
        "|"
    )
)
LANGUAGES = "French|Spanish|German|Italian|Polish|Japanese".split("|")
SHOPS = "bakery|bike shop|flower shop|tech startup|cat café|bookstore|band|podcast".split("|")


# What the asker owns and a tool would look up: as much a matter of fact as any encyclopedia question.
MINE = (
    "my account balance|my last order|my next appointment|the status of my refund|my flight|my remaining vacation days|"
    "my data usage|my last invoice|my delivery|my subscription|my calendar for tomorrow|my credit card bill|my claim|"
    "my exam results|my booking|our open tickets|our sales this week|the stock of item 12|the meeting notes"
).split("|")
ASK_MINE = (
    "check {mine}", "Check {mine} please.", "Show me {mine}.", "Look up {mine}", "Tell me about {mine}.",
    "pull up {mine}", "What do we know about {mine}?", "Can you find {mine}?", "Give me an update on {mine}",
    "Track {mine}", "What is {mine}?", "Summarise {mine}.", "I want to know {mine}", "get {mine}",
    "what's the latest on {mine}?",
)  # fmt: skip
# CLINC files questions about the user's own data under commands; here they are tool data, so they are left out.
_DATA_COMMAND = re.compile(
    r"\b(what|what's|whats|how|when|where|which|who|check|show|find|track|list|tell me|look up|is my|are my|do i|"
    r"did i|have i|am i|was my|status|balance|bill|orders?|transactions?)\b"
)


def generated(rng: random.Random, count: int) -> list[Pair]:
    """Short factual questions, questions on tool data, creative and conversational prompts."""
    pairs: list[Pair] = []
    for i in range(count):
        slots = {
            "thing": rng.choice(THINGS),
            "substance": rng.choice(SUBSTANCES),
            "city": rng.choice(CITIES),
            "city2": rng.choice(CITIES),
            "event": rng.choice(EVENTS),
            "invention": rng.choice(INVENTIONS),
            "person": person(rng),
            "month": rng.choice(MONTHS),
            "topic": rng.choice(TOPICS),
            "code": rng.choice(CODE),
            "what": rng.choice(WHAT),
            "does": rng.choice(DOES),
            "language": rng.choice(LANGUAGES),
            "shop": rng.choice(SHOPS),
        }
        way = i % 3
        if way == 0:
            text, label, group = rng.choice(FACTUAL).format(**slots), NEEDS, "generated factual"
        elif way == 1 and rng.random() < 0.3:
            text = rng.choice(ASK_MINE).format(mine=rng.choice(MINE))
            label, group = NEEDS, "generated own data"
        elif way == 1:
            domain = rng.choice(DOMAINS)
            facts = rng.sample(domain.facts, 2) if rng.random() < 0.7 else [free_fact(rng), rng.choice(domain.facts)]
            name = entity(rng, rng.choice(domain.entities))
            asks = [fact.ask.replace("{e}", name) for fact in facts]
            asks = [ask[0].upper() + ask[1:] for ask in asks]
            lowered = [ask[0].lower() + ask[1:] for ask in asks]
            text = rng.choice(TOOL_DATA).format(
                ask=asks[0],
                ask_lower=lowered[0],
                ask2_lower=lowered[1],
                e=name,
                field=facts[0].keys[0].replace("_", " "),
                **slots,
            )
            label, group = NEEDS, "generated tool data"
        else:
            text, label, group = rng.choice(CREATIVE).format(**slots), NOT_NEEDED, "generated creative"
        if rng.random() < 0.25:
            text = text.lower()
        if rng.random() < 0.15:
            text = text.rstrip("?.!")
        pairs.append(Pair(text, "", label, group))
    return pairs


def load(data: Path, rng: random.Random, generated_count: int = 4500) -> list[Pair]:
    """All pairs: English rows that are not noisy, capped by source, and the generated ones."""
    by_source: dict[str, list[Pair]] = defaultdict(list)
    for name in ("prompts", "prompt_dolly"):
        for row in read(data, name):
            if row["lang"] != "en" or row["meta"].get("noisy") or not row["question"].strip():
                continue
            if row["source"].endswith("commands") and _DATA_COMMAND.search(row["question"].lower()):
                continue
            source = row["source"] if name == "prompts" else f"dolly {row['meta']['category']}"
            label = NEEDS if row["label"] == "needs_fact_check" else NOT_NEEDED
            by_source[source].append(Pair(row["question"].strip(), "", label, source))
    pairs: list[Pair] = []
    for source, rows in sorted(by_source.items()):
        pairs += rng.sample(rows, min(len(rows), CAPS.get(source, len(rows))))
    pairs += generated(rng, generated_count)
    unique = list({pair.first.lower(): pair for pair in pairs}.values())
    rng.shuffle(unique)
    return unique
