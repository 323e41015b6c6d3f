"""Rows that people (or a set's makers) labelled: marked spans, judged claims, judged sentences of model answers."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Collection
from pathlib import Path

from training import edits, faults
from training.detector_rows import DetectorRow, Span
from training.faults import split_sentences
from training.records import as_read
from training.rows import Row, read
from vsr_hallucination.detection.encoding import EvidenceWords

# Sets in which only the whole answer has a label: rows used at most (supported, unsupported).
CLAIMS = {
    "begin": (700, 700), "q2_dialogue": (400, 400), "dialfact_small": (99, 200), "factcheck_gpt_nli": (642, 642),
    "fm2": (700, 700), "summac_bench": (367, 592), "halueval_summarization": (800, 800),
}  # fmt: skip
_GOOD = ("supported", "entailment")
_CONTEXT_CHARS = 4000


def claim_rows(data: Path, rng: random.Random, name: str) -> list[DetectorRow]:
    """All rows of one of ``CLAIMS``, each claim over each evidence once, shuffled."""
    rows: dict[tuple[str, str], DetectorRow] = {}
    for row in read(data, name):
        context, answer = row["context"][:_CONTEXT_CHARS].strip(), row["answer"].strip()
        if context and answer:
            spans = () if row["label"] in _GOOD else ((0, len(answer)),)
            rows[context, answer] = DetectorRow(
                context, row["question"], answer, spans, name, key=row["context"], whole=True
            )
    result = list(rows.values())
    rng.shuffle(result)
    return result


def inference_rows(data: Path, rng: random.Random, count: int) -> list[DetectorRow]:
    """Pairs of the two large inference sets as evidence and claim: few words, so many of them cost little."""
    rows = [r for name in ("nli_mnli_dev", "nli_snli_dev") for r in read(data, name) if len(r["answer"]) > 20]
    rows = [r for r in rows if r.get("label") in ("entailment", "neutral", "contradiction") and r["context"].strip()]
    made = []
    for row in rng.sample(rows, min(len(rows), 2 * count)):
        good = row["label"] == "entailment"
        # A neutral one often is no claim about the evidence at all.
        if row["label"] == "neutral" and rng.random() < 0.5:
            continue
        spans = () if good else ((0, len(row["answer"].strip())),)
        made.append(
            DetectorRow(row["context"], "", row["answer"].strip(), spans, "inference", key=row["context"], whole=True)
        )
    return made[:count]


def expertqa_rows(data: Path, rng: random.Random, without: Collection[str] = ()) -> list[DetectorRow]:
    """Sentences of LLM answers judged one by one: alone over their evidence, and put together over all of it.

    ``without``: digests of sentences to leave out.
    """
    grouped: dict[tuple[str, str], list[Row]] = defaultdict(list)
    rows: list[DetectorRow] = []
    for row in read(data, "expertqa_claims"):
        answer = row["answer"].strip()
        spans = () if row["label"] in _GOOD else ((0, len(answer)),)
        alone = DetectorRow(row["context"], row["question"], answer, spans, "expertqa", key=row["question"], whole=True)
        if alone.digest() in without:
            continue
        if rng.random() < 0.5:
            rows.append(alone)
        if len(row["context"]) <= 2500:
            grouped[row["question"], row["meta"]["system"]].append(row)
    for (question, _), claims in sorted(grouped.items()):
        while claims:
            part, claims = claims[: rng.randint(2, 5)], claims[5:]
            rows.append(_together(question, part))
    return rows


def _together(question: str, part: list[Row]) -> DetectorRow:
    context = "\n\n".join(dict.fromkeys(row["context"] for row in part))
    if len(context) > _CONTEXT_CHARS:
        part = part[:2]
        context = "\n\n".join(dict.fromkeys(row["context"] for row in part))
    answer, spans = "", []
    for row in part:
        start = len(answer)
        answer += row["answer"].strip()
        if row["label"] not in _GOOD:
            spans.append((start, len(answer)))
        answer += " "
    return DetectorRow(context, question, answer.rstrip(), tuple(spans), "expertqa answers", key=question)


def span_rows(data: Path, rng: random.Random) -> list[DetectorRow]:
    """Human-marked spans of five sets, capped; questions varied, since "Summarize" is not all there is."""
    caps = {
        "bump": (600, 193),
        "defacto": (900, 900),
        "summedits": (1000, 1000),
        "aggrefact_spans": (213, 366),
        "wice_span": (226, 0),
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


def model_answer_rows(data: Path) -> list[DetectorRow]:
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
    return rows


def table_rows(data: Path, rng: random.Random, count: int) -> list[DetectorRow]:
    """Infobox tables: sentences that follow from them, the same with a figure changed, and sentences that do not."""
    rows: list[DetectorRow] = []
    for row in rng.sample(read(data, "infotabs"), count):
        table = json.loads(row["context"])
        title = table.get("title", ["it"])[0]
        raw = rng.random() < 0.25
        text = row["context"] if raw else as_read({k: v[0] if len(v) == 1 else v for k, v in table.items()})
        question = rng.choice((f"Tell me about {title}.", f"What do we know about {title}?"))
        answer = row["answer"].strip()
        evidence = EvidenceWords.from_texts([text, question])
        if row["label"] != "entailment":
            spans: tuple[Span, ...] = ((0, len(answer)),)
            rows.append(DetectorRow(text, question, answer, spans, "tables claim", key=row["context"], whole=True))
            continue
        changed = edits.edit(rng, "number", answer, evidence, text, ()) if rng.random() < 0.2 else None
        if changed is None:
            rows.append(DetectorRow(text, question, answer, (), "tables clean", key=row["context"]))
        else:
            spans = tuple(changed.spans)
            rows.append(DetectorRow(text, question, changed.text(), spans, "tables number", key=row["context"]))
    return rows
