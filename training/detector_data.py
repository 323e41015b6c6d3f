"""The detector's training rows: grounded answers with faults put in, span sets, and generated tool results."""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from training import faults
from training.faults import Neighbour, split_sentences
from training.records import Text, as_read, make
from training.rows import Row, read
from vsr_hallucination.detection.encoding import EvidenceWords

Span = tuple[int, int]
_NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?!\w)")

OPENERS = (
    "Based on the given passages, ",
    "According to the passage, ",
    "Based on the provided information, ",
    "According to the context, ",
    "The passages state that ",
    "Sure! ",
    "Based on the passages provided: ",
    "Here is the answer based on the documents: ",
    "In short, ",
    "As described in the text, ",
    "To answer your question: ",
)
CLOSERS = (
    " I hope this helps!",
    " Let me know if you have any other questions.",
    " Overall, this is what the passages say.",
    " Please consult the source for more details.",
    " Is there anything else you would like to know?",
)
REFUSALS = (
    "Unable to answer based on given passages.", "The given passages do not contain this information.",
    "I'm sorry, but the provided text does not mention that.", "The passage does not say {x}.",
    "Based on the provided passages, I cannot determine the answer.",
    "There is not enough information in the context to answer.",
    "I don't know. The documents do not cover this.", "The passages do not provide details on this question.",
    "Hello! How can I help you today?", "You're welcome!",
    "Thanks for your question. Could you tell me more about what you need?",
    "I could not find this in the documents I was given, so I would rather not guess.",
)  # fmt: skip
HEADERS = ("", "", "passage {i}:", "Passage {i}: ", "[{i}] ", "Document {i}:\n", "Source {i}: ", "- ", "({i}) ")


@dataclass(frozen=True, slots=True)
class DetectorRow:
    """``spans``: unsupported parts of the answer; ``ignored``: parts with no trusted label. Code points."""

    context: str
    question: str
    answer: str
    spans: tuple[Span, ...]
    group: str
    ignored: tuple[Span, ...] = ()
    key: str = ""


def record_rows(rng: random.Random, count: int) -> list[DetectorRow]:
    """Generated tool results."""
    made = [make(rng) for _ in range(count)]
    return [DetectorRow(m.context, m.question, m.answer, m.spans, f"records {m.fault}", key=m.context) for m in made]


def span_rows(data: Path, rng: random.Random) -> list[DetectorRow]:
    """Human-marked spans of five sets, capped; questions varied, since "Summarize" is not all there is."""
    caps = {
        "bump": (858, 193),
        "defacto": (1000, 900),
        "summedits": (1100, 1000),
        "aggrefact_spans": (213, 366),
        "wice_span": (350, 0),
    }
    rows: list[DetectorRow] = []
    for name, (faulty, clean) in caps.items():
        source = read(data, name)
        for wanted, chosen in (
            (faulty, [r for r in source if r["labels"]]),
            (clean, [r for r in source if not r["labels"]]),
        ):
            for row in rng.sample(chosen, min(wanted, len(chosen))):
                spans = tuple(sorted((s["start"], s["end"]) for s in row["labels"]))
                rows.append(
                    DetectorRow(row["context"], row["question"], row["answer"], spans, name, key=row["context"])
                )
    for row in read(data, "wice_claim"):
        if row["label"] == "supported":
            rows.append(DetectorRow(row["context"], "", row["answer"], (), "wice_claim", key=row["context"]))
    return rows


def model_answer_rows(data: Path, rng: random.Random) -> list[DetectorRow]:
    """Answers of seven LLMs over passages (RefChecker): claims' labels carried over to the response's sentences."""
    grouped: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in read(data, "refchecker_dolly"):
        grouped[row["context"], row["meta"]["response"]].append(row)
    rows: list[DetectorRow] = []
    for (context, response), claims in grouped.items():
        evidence = EvidenceWords.from_texts([context, claims[0]["question"]])
        spans: list[Span] = []
        ignored: list[Span] = []
        position = 0
        for sentence, separator in split_sentences(response):
            end = position + len(sentence)
            own = EvidenceWords.from_texts([sentence])
            about = [c for c in claims if 1 - faults.content_novelty(c["answer"], own)[0] > 0.75]
            if about and all(c["label"] != "supported" for c in about):
                spans.append((position, end))
            elif (not about or any(c["label"] != "supported" for c in about)) and (
                # A sentence with no claim, or mixed ones: trust only that known words are fine.
                faults.content_novelty(sentence, evidence)[0] > 0.3
            ):
                ignored.append((position, end))
            position = end + len(separator)
        if len(ignored) < len(split_sentences(response)):
            rows.append(
                DetectorRow(
                    context, claims[0]["question"], response, tuple(spans), "model answers", tuple(ignored), context
                )
            )
    for row in read(data, "expertqa_claims"):
        if row["label"] == "supported" and rng.random() < 0.6:
            rows.append(DetectorRow(row["context"], row["question"], row["answer"], (), "expertqa", key=row["context"]))
    return rows


def table_rows(data: Path, rng: random.Random, count: int) -> list[DetectorRow]:
    """Infobox tables: entailed sentences, and the same with a number changed."""
    rows: list[DetectorRow] = []
    for row in rng.sample([r for r in read(data, "infotabs") if r["label"] == "entailment"], count):
        table = json.loads(row["context"])
        text = (
            row["context"]
            if rng.random() < 0.25
            else as_read({k: v[0] if len(v) == 1 else v for k, v in table.items()})
        )
        question = rng.choice(
            (
                f"Tell me about {table.get('title', ['it'])[0]}.",
                f"What do we know about {table.get('title', ['it'])[0]}?",
            )
        )
        evidence = EvidenceWords.from_texts([text, question])
        changed = faults.change_value(rng, row["answer"], evidence) if rng.random() < 0.6 else None
        if changed is None:
            rows.append(DetectorRow(text, question, row["answer"], (), "tables", key=row["context"]))
        else:
            rows.append(DetectorRow(text, question, changed.text(), tuple(changed.spans), "tables", key=row["context"]))
    return rows


class Passages:
    """Grounded answers over passages, with their nearest neighbours as the store of foreign content."""

    def __init__(self, data: Path, rng: random.Random) -> None:
        self.rows = [r for r in read(data, "dolly_grounded") if len(r["answer"]) > 15 and len(r["context"]) > 80]
        for row in read(data, "qa_xquad_en_zh"):
            if row["lang"] == "en":
                self.rows.append({**row, "answer": self._sentence_answer(rng, row)})
        right = [r for r in read(data, "halueval_summarization") if r["label"] == "supported"]
        self.rows += [{**r, "context": r["context"][:4000]} for r in rng.sample(right, 900)]
        self.neighbours = self._nearest()

    @staticmethod
    def _sentence_answer(rng: random.Random, row: Row) -> str:
        start = row["meta"]["answer_start"]
        holding = next(
            (
                s
                for s, _ in split_sentences(row["context"])
                if row["answer"] in s and abs(row["context"].find(s) + s.find(row["answer"]) - start) < 3
            ),
            "",
        )
        way = rng.random()
        if holding and way < 0.5:
            return holding
        answer: str = row["answer"]
        return rng.choice(
            (
                f"The answer is {answer}.",
                f"{answer[0].upper()}{answer[1:]}.",
                f"It is {answer}.",
                f"According to the passage, it is {answer}.",
                answer,
            )
        )

    def _nearest(self) -> list[list[int]]:
        import numpy as np
        from sklearn.feature_extraction.text import TfidfVectorizer

        texts = [f"{r['question']} {r['question']} {r['context'][:600]}" for r in self.rows]
        matrix = TfidfVectorizer(stop_words="english", max_features=40_000, sublinear_tf=True).fit_transform(texts)
        result: list[list[int]] = []
        for start in range(0, matrix.shape[0], 512):
            scores = (matrix[start : start + 512] @ matrix.T).toarray()
            for offset, row in enumerate(scores):
                best = np.argsort(-row)[:14]
                own = self.rows[start + offset]["context"]
                result.append([int(i) for i in best if self.rows[int(i)]["context"][:200] != own[:200]][:9])
        return result

    def neighbours_of(self, index: int) -> list[Neighbour]:
        result = []
        for i in self.neighbours[index]:
            row = self.rows[i]
            sentences = tuple(s for s, _ in split_sentences(row["answer"])) + tuple(
                s for s, _ in split_sentences(row["context"])[:8]
            )
            result.append(Neighbour(sentences, faults.names_of(row["context"][:1500])))
        return result

    def make(self, rng: random.Random, index: int, faulty: bool) -> DetectorRow | None:
        """One row from one passage: the answer, reformatted or extractive, clean or with one or two faults."""
        row = self.rows[index]
        context, question, answer = row["context"].strip(), row["question"].strip(), row["answer"].strip()
        if rng.random() < 0.15:
            parts = split_sentences(context)
            first = rng.randrange(len(parts))
            answer = " ".join(s for s, _ in parts[first : first + rng.randint(1, 4)])
        if rng.random() < 0.5:
            answer = faults.reformat_values(rng, answer)
        sentences = split_sentences(answer)
        if len(sentences) > 2 and rng.random() < 0.25:
            del sentences[rng.randrange(len(sentences))]
        neighbours = self.neighbours_of(index)
        texts = [self._text(s) for s, _ in sentences]
        separators = [sep or " " for _, sep in sentences]
        evidence = EvidenceWords.from_texts([context, question])
        masked = [self._untrusted(s, evidence) for s, _ in sentences]
        kinds: list[str] = []
        if faulty:
            for _ in range(1 if rng.random() < 0.8 else 2):
                context, kind = self._spoil(rng, context, question, texts, separators, masked, neighbours, not kinds)
                if kind:
                    kinds.append(kind)
            if not kinds:
                return None
        final, ignored = self._join(rng, texts, separators, masked)
        if not final.text().strip() or len(ignored) == len(texts):
            return None
        group = f"passages {'+'.join(sorted(set(kinds))) or 'clean'}"
        shaped = self._shape_context(rng, context, index)
        return DetectorRow(
            shaped, question, final.text(), tuple(sorted(final.spans)), group, tuple(ignored), row["context"][:200]
        )

    @staticmethod
    def _text(sentence: str) -> Text:
        text = Text()
        text.add(sentence)
        return text

    @staticmethod
    def _untrusted(sentence: str, evidence: EvidenceWords) -> bool:
        # "Presumed grounded": a sentence mostly of words the passage lacks is not trusted to be clean.
        share, count = faults.content_novelty(sentence, evidence)
        return count >= 3 and share > 0.6

    def _spoil(
        self,
        rng: random.Random,
        context: str,
        question: str,
        texts: list[Text],
        separators: list[str],
        masked: list[bool],
        neighbours: list[Neighbour],
        may_withhold: bool,
    ) -> tuple[str, str]:
        evidence = EvidenceWords.from_texts([context, question])
        kinds = (
            ["foreign"] * 5
            + ["withheld"] * 5
            + ["value"] * 5
            + ["name"] * 3
            + ["phrase"] * 4
            + ["flip"] * 2
            + ["known"] * 2
        )
        rng.shuffle(kinds)
        for kind in list(dict.fromkeys(kinds))[:5]:
            if kind == "withheld" and may_withhold:
                found = faults.withhold(rng, context, [(t.text(), "") for t in texts])
                if found is not None:
                    context, at = found
                    texts[at] = self._marked(texts[at].text())
                    masked[at] = False
                    return context, kind
            elif kind == "foreign":
                own = faults.names_of(context[:800])
                sentence = faults.foreign_sentence(rng, evidence, neighbours, own)
                if sentence is not None:
                    at = rng.randint(0, len(texts))
                    texts.insert(at, self._marked(sentence))
                    separators.insert(at, separators[at - 1] if at else " ")
                    masked.insert(at, False)
                    if len(texts) > 2 and rng.random() < 0.5:
                        victim = rng.choice([i for i in range(len(texts)) if i != at])
                        del texts[victim], separators[victim], masked[victim]
                    return context, kind
            else:
                order = [i for i in range(len(texts)) if not texts[i].spans]
                rng.shuffle(order)
                for at in order[:4]:
                    changed = self._edit(rng, kind, texts[at].text(), evidence, context, neighbours)
                    if changed is not None:
                        texts[at] = changed
                        return context, kind
        return context, ""

    @staticmethod
    def _marked(sentence: str) -> Text:
        text = Text()
        text.add(sentence, bad=True)
        return text

    @staticmethod
    def _edit(
        rng: random.Random, kind: str, sentence: str, evidence: EvidenceWords, context: str, neighbours: list[Neighbour]
    ) -> Text | None:
        if kind == "value":
            return faults.change_value(rng, sentence, evidence)
        if kind == "name":
            return faults.change_name(rng, sentence, evidence, [n for x in neighbours for n in x.names])
        if kind == "phrase":
            return faults.add_phrase(rng, sentence, evidence, neighbours)
        if kind == "flip":
            return faults.flip(rng, sentence)
        numbers = [m.group() for m in _NUMBER.finditer(context)]
        return faults.swap_known(rng, sentence, faults.names_of(context), numbers)

    @staticmethod
    def _join(
        rng: random.Random, texts: list[Text], separators: list[str], masked: list[bool]
    ) -> tuple[Text, list[Span]]:
        final = Text()
        ignored: list[Span] = []
        opener = rng.choice(OPENERS) if rng.random() < 0.3 else ""
        final.add(opener)
        bullets = rng.choice(("- ", "* ", "{i}. ", "• ")) if len(texts) > 1 and rng.random() < 0.15 else ""
        if bullets and opener:
            final.add("\n")
        for i, text in enumerate(texts):
            if bullets:
                final.add(bullets.replace("{i}", str(i + 1)))
            start = final.length
            final.extend(text)
            if masked[i] and not text.spans:
                ignored.append((start, final.length))
            if i + 1 < len(texts):
                final.add("\n" if bullets else separators[i])
        if rng.random() < 0.12:
            final.add(rng.choice(CLOSERS))
        return final, ignored

    def _shape_context(self, rng: random.Random, context: str, index: int) -> str:
        """Cuts the passage into several, adds unrelated ones, numbers them: as retrieval delivers them."""
        parts = split_sentences(context)
        passages = [context]
        if len(parts) > 5 and rng.random() < 0.5:
            cut = rng.randint(2, len(parts) - 2)
            passages = ["".join(s + (sep or " ") for s, sep in part).strip() for part in (parts[:cut], parts[cut:])]
        for _ in range(rng.choice((0, 0, 1, 2))):
            other = self.rows[rng.randrange(len(self.rows))]["context"]
            passages.insert(rng.randint(0, len(passages)), other[: rng.randint(150, 600)])
        header = rng.choice(HEADERS)
        return "\n\n".join(header.replace("{i}", str(i)) + p for i, p in enumerate(passages, 1))

    def refusal(self, rng: random.Random) -> DetectorRow:
        """An answer that claims nothing, over a passage of another question."""
        row, other = rng.choice(self.rows), rng.choice(self.rows)
        answer = rng.choice(REFUSALS).replace("{x}", "what was asked")
        return DetectorRow(row["context"], other["question"], answer, (), "refusal", key=row["context"][:200])


def load(data: Path, rng: random.Random, scale: float = 1.0) -> list[DetectorRow]:
    """All rows, shuffled. ``scale`` shrinks every part alike (quick runs)."""
    rows = record_rows(rng, int(5200 * scale)) + table_rows(data, rng, int(900 * scale))
    real = span_rows(data, rng) + model_answer_rows(data, rng)
    rows += rng.sample(real, int(len(real) * scale))
    passages = Passages(data, rng)
    order = list(range(len(passages.rows)))
    rng.shuffle(order)
    for index in order[: int(len(order) * scale)]:
        for faulty in (False, True) if rng.random() < 0.5 else (rng.random() < 0.4,):
            row = passages.make(rng, index, faulty)
            if row is not None:
                rows.append(row)
    rows += [passages.refusal(rng) for _ in range(int(250 * scale))]
    rng.shuffle(rows)
    return [replace(r, spans=_merged(r.spans)) for r in rows if r.answer.strip() and r.context.strip()]


def _merged(spans: tuple[Span, ...]) -> tuple[Span, ...]:
    result: list[Span] = []
    for start, end in sorted(spans):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        elif end > start:
            result.append((start, end))
    return tuple(result)


def describe(rows: list[DetectorRow]) -> dict[str, Any]:
    """Counts by group, and mean answer length of clean and faulty rows (the length artefact to watch)."""
    groups: dict[str, int] = defaultdict(int)
    for row in rows:
        groups[row.group] += 1
    clean = [len(r.answer) for r in rows if not r.spans]
    faulty = [len(r.answer) for r in rows if r.spans]
    return {
        "rows": len(rows),
        "clean": len(clean),
        "faulty": len(faulty),
        "mean length clean": sum(clean) // max(1, len(clean)),
        "mean length faulty": sum(faulty) // max(1, len(faulty)),
        "groups": dict(sorted(groups.items())),
    }
