"""Grounded answers over passages, with faults put in, and their evidence shaped as retrieval delivers it."""

from __future__ import annotations

import random
from pathlib import Path

from training import edits, faults
from training.detector_rows import CLOSERS, HEADERS, OPENERS, REFUSALS, DetectorRow, Span
from training.faults import Neighbour, split_sentences
from training.records import Text
from training.rows import Row, read
from vsr_hallucination.detection.encoding import EvidenceWords

# How often each kind of fault is tried. Content added from elsewhere is what models do most; what few answers offer a
# place for is tried more often.
KINDS = {
    "foreign": 14, "withheld": 14, "phrase": 9, "number": 1, "number words": 6, "percentage": 12, "currency": 12,
    "range": 10, "date": 3, "duration": 10, "unit": 6, "name": 2, "place": 4, "negation": 5, "modality": 9,
    "comparison": 9, "order": 9, "roles": 3, "attribution": 10, "condition": 12, "elsewhere": 2,
}  # fmt: skip


def _drawn(rng: random.Random) -> list[str]:
    """A few kinds of faults to try, in order, the likelier ones first more often."""
    names = list(KINDS)
    return list(dict.fromkeys(rng.choices(names, [KINDS[name] for name in names], k=8)))


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

    def make(self, rng: random.Random, index: int, faulty: bool, kind: str = "") -> DetectorRow | None:
        """One row from one passage: the answer, reformatted or extractive, clean or with one or two faults.

        ``kind``: of the fault; drawn if not given. None where the answer offers no place for it.
        """
        row = self.rows[index]
        context, question, answer = row["context"].strip(), row["question"].strip(), row["answer"].strip()
        # A sentence of the passage is sure to be grounded, so that what turns its meaning is sure to be wrong.
        if rng.random() < (0.6 if kind else 0.25):
            parts = split_sentences(context)
            first = rng.randrange(len(parts))
            # Negations are put into wrong answers: right ones that quote a negated sentence weigh against that.
            negated = [i for i, (sentence, _) in enumerate(parts) if faults.NEGATED.search(sentence)]
            if negated and not faulty and rng.random() < 0.35:
                first = rng.choice(negated)
            answer = " ".join(s for s, _ in parts[first : first + rng.randint(1, 4)])
        if rng.random() < 0.5:
            answer = faults.reformat_values(rng, answer)
        sentences = split_sentences(answer)
        if len(sentences) > 2 and rng.random() < 0.25:
            del sentences[rng.randrange(len(sentences))]
        sentences = sentences[:8]
        neighbours = self.neighbours_of(index)
        texts = [self._text(s) for s, _ in sentences]
        separators = [sep or " " for _, sep in sentences]
        evidence = EvidenceWords.from_texts([context, question])
        masked = [self._untrusted(s, evidence) for s, _ in sentences]
        kinds: list[str] = []
        if faulty:
            for _ in range(1 if kind or rng.random() < 0.85 else 2):
                tried = [kind] if kind else _drawn(rng)
                context, done = self._spoil(
                    rng, context, question, texts, separators, masked, neighbours, tried, not kinds
                )
                if done:
                    kinds.append(done)
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
        kinds: list[str],
        may_withhold: bool,
    ) -> tuple[str, str]:
        """(evidence left, kind of the fault put in; empty if the answer offers no place for any of ``kinds``)."""
        evidence = EvidenceWords.from_texts([context, question])
        pool = [n for x in neighbours for n in x.names]
        for kind in kinds:
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
                    self._insert(rng, sentence, texts, separators, masked)
                    return context, kind
            elif kind != "withheld":
                order = [i for i in range(len(texts)) if not texts[i].spans]
                rng.shuffle(order)
                for at in order[:5]:
                    sentence = texts[at].text()
                    changed = (
                        faults.add_phrase(rng, sentence, evidence, neighbours)
                        if kind == "phrase"
                        else edits.edit(rng, kind, sentence, evidence, context, pool)
                    )
                    if changed is not None:
                        texts[at] = changed
                        return context, kind
        return context, ""

    def _insert(
        self, rng: random.Random, sentence: str, texts: list[Text], separators: list[str], masked: list[bool]
    ) -> None:
        """Puts a foreign sentence in; mostly in the place of one of the answer's own, so that it is no longer."""
        at = rng.randint(0, len(texts))
        texts.insert(at, self._marked(sentence))
        separators.insert(at, separators[at - 1] if at else " ")
        masked.insert(at, False)
        if len(texts) > 2 and rng.random() < 0.75:
            victim = rng.choice([i for i in range(len(texts)) if i != at])
            del texts[victim], separators[victim], masked[victim]

    @staticmethod
    def _marked(sentence: str) -> Text:
        text = Text()
        text.add(sentence, bad=True)
        return text

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
