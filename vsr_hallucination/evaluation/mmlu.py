"""MMLU (Hendrycks et al., ICLR 2021) as items: from its published CSV files on disk, or through ``datasets``.

The published layout is ``{test,val,dev}/{subject}_{split}.csv`` without header: question, A, B, C, D, letter.
"""

from __future__ import annotations

import csv
import importlib
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vsr_hallucination.evaluation.items import DataError
from vsr_hallucination.evaluation.scoring import Item

HUB_NAME = "cais/mmlu"
LETTERS = "ABCD"
_SPLITS = {"validation": "val", "train": "auxiliary_train"}
_HUB_SPLITS = {"val": "validation"}
_NOT_SUBJECTS = frozenset(("all", "auxiliary_train"))
_SUBJECT = re.compile(r"[a-z0-9_]+")


@dataclass(frozen=True, slots=True)
class Question:
    """One question with its four options. ``number``: its place in its subject's file; ``right``: 0 to 3."""

    subject: str
    number: int
    text: str
    options: tuple[str, ...]
    right: int


def items(
    questions: Sequence[Question],
    split: str,
    *,
    limit: int | None = None,
    idk_frac: float = 0.0,
    seed: int = 1234,
) -> tuple[Item, ...]:
    """``limit`` questions drawn by ``seed`` (all without it), of which the share ``idk_frac`` lose their right option
    to a copy of another one: nothing left is right, and only IDK is. The same arguments give the same items."""
    dice = random.Random(seed)
    drawn = list(questions)
    if limit is not None and limit < len(drawn):
        drawn = dice.sample(drawn, limit)
    order = dice.sample(range(len(drawn)), len(drawn))
    wanted = round(idk_frac * len(drawn))
    changed: dict[int, Question] = {}
    for place in order:
        if len(changed) == wanted:
            break
        without = _without_answer(drawn[place], dice)
        if without is not None:
            changed[place] = without
    return tuple(_item(row, changed.get(row), question, split) for row, question in enumerate(drawn))


def _without_answer(question: Question, dice: random.Random) -> Question | None:
    """None for the rare question all of whose options say the same."""
    answer = question.options[question.right].strip()
    distractors = [option for option in question.options if option.strip() != answer]
    if not distractors:
        return None
    instead = dice.choice(distractors)
    options = tuple(instead if option.strip() == answer else option for option in question.options)
    return Question(question.subject, question.number, question.text, options, question.right)


def _item(row: int, changed: Question | None, question: Question, split: str) -> Item:
    shown = changed or question
    lines = [shown.text.strip(), ""]
    lines += [f"{letter}. {option}" for letter, option in zip(LETTERS, shown.options, strict=True)]
    lines += ["", "Answer with the letter of the right option."]
    name = f"{question.subject}-{split}-{question.number}"
    gold = "" if changed else LETTERS[question.right]
    category = f"{question.subject}|unanswerable" if changed else question.subject
    return Item(row, name, "\n".join(lines), gold, changed is not None, category)


def from_folder(folder: Path, split: str, subjects: Sequence[str]) -> tuple[Question, ...]:
    """Reads the published layout, ``folder`` being what holds ``test/`` (or ``data/test/``). Raises DataError."""
    split = _SPLITS.get(split, split)
    places = [folder / split, folder / "data" / split, folder]
    place = next((p for p in places if any(p.glob(f"*_{split}.csv"))), None)
    if place is None:
        raise DataError(
            f"{folder} holds no {split}/<subject>_{split}.csv: unpack the published data.tar of MMLU there, or choose "
            "another --split (test, val, dev)"
        )
    files = {path.name.removesuffix(f"_{split}.csv"): path for path in sorted(place.glob(f"*_{split}.csv"))}
    chosen = _chosen(files, subjects, str(place))
    return tuple(question for subject in chosen for question in _file(files[subject], subject))


def _file(path: Path, subject: str) -> Iterator[Question]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            for number, row in enumerate(line for line in reader if line):
                letter = row[5].strip().upper() if len(row) == 6 else ""
                if letter not in LETTERS or not letter:
                    raise DataError(
                        f"{path}:{reader.line_num}: not six columns (question, A, B, C, D, letter) with a letter A to D"
                    )
                yield Question(subject, number, row[0], tuple(row[1:5]), LETTERS.index(letter))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: {error}") from error


def from_hub(split: str, subjects: Sequence[str], name: str = HUB_NAME) -> tuple[Question, ...]:
    """Through ``datasets``: its ``all`` configuration, or where there is none each subject's. Raises DataError."""
    try:
        datasets: Any = importlib.import_module("datasets")
    except ImportError as error:
        raise DataError(
            "MMLU from a hub needs the package datasets: pip install 'vsr-hallucination[eval]', or give --data-dir "
            "with the published CSV files"
        ) from error
    split = _HUB_SPLITS.get(split, split)
    try:
        try:
            return _of_rows(datasets.load_dataset(name, "all", split=split), subjects, name)
        except (ValueError, FileNotFoundError):
            known = {c: c for c in datasets.get_dataset_config_names(name) if c not in _NOT_SUBJECTS}
            found: list[Question] = []
            for subject in _chosen(known, subjects, name):
                rows = datasets.load_dataset(name, subject, split=split)
                found += _of_rows(rows, [subject], name, subject)
            return tuple(found)
    except DataError:
        raise
    except Exception as error:  # the hub client's own kinds, of which there are many
        reason = " ".join(str(error).split())[:200]
        raise DataError(
            f"{name}, split {split}: {type(error).__name__}: {reason}: without a hub, give --data-dir with the "
            "published CSV files"
        ) from error


def _of_rows(
    rows: Iterable[Mapping[str, Any]], subjects: Sequence[str], name: str, subject: str | None = None
) -> tuple[Question, ...]:
    grouped: dict[str, list[Question]] = {}
    for row in rows:
        own = subject or str(row.get("subject") or "")
        if not own:
            raise ValueError("no subject column")
        options = tuple(str(option) for option in row["choices"])
        right = row["answer"]
        right = LETTERS.index(right) if isinstance(right, str) and right else int(right)
        if len(options) != len(LETTERS) or not 0 <= right < len(LETTERS):
            raise DataError(f"{name}: a question of {own} has not four options and a right one of them")
        found = grouped.setdefault(own, [])
        found.append(Question(own, len(found), str(row["question"]), options, right))
    return tuple(q for key in _chosen(grouped, subjects, name) for q in grouped[key])


def _chosen(known: Mapping[str, object], subjects: Sequence[str], where: str) -> list[str]:
    wanted = [re.sub(r"[ -]+", "_", s.strip().lower()) for s in subjects]
    if "all" in wanted or not wanted:
        return sorted(known)
    lacking = [s for s in wanted if s not in known or not _SUBJECT.fullmatch(s)]
    if lacking:
        some = ", ".join(sorted(known)[:8])
        raise DataError(
            f"{where} has no subject {', '.join(lacking)}; it has {len(known)}, such as {some}, or 'all'"
        )
    return sorted(set(wanted))
