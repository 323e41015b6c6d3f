"""Whether a detector can read an answer; labels by name; numbers by precedence."""

from __future__ import annotations

import pytest

from vsr_hallucination.config.schema import DetectorSettings, FactCheckSettings
from vsr_hallucination.detection.labels import UnknownLabels, needs_ids, supported_ids
from vsr_hallucination.detection.language import evidence_unreadable, foreign_share, unreadable
from vsr_hallucination.detection.thresholds import Calibrated, fact_check_threshold, span_limits


@pytest.mark.parametrize(
    "text",
    [
        "K7仓库五月份发货了四百一十二箱，总成本为九千五百欧元。",
        "Depot K7 在五月份发货 412 箱，成本 9,500 EUR。",
        "Склад К7 отгрузил 412 ящиков в мае.",
        "المستودع K7 شحن 412 صندوقا",
    ],
)
def test_other_scripts_are_not_readable_whatever_numbers_and_names_they_hold(text: str) -> None:
    assert unreadable(text, [1], ["Latin"], None)


@pytest.mark.parametrize(
    "text",
    [
        "Estación Ñandú has code 77-KD-9.",
        "🧪🧪 Karadžić lab: 479",
        "Ｋ７ shipped ４１２",
        "412",
        "Depot К7 shipped 412 crates.",
    ],
)
def test_latin_text_is_readable(text: str) -> None:
    assert not unreadable(text, [1], ["Latin"], None)


LATIN = "Depot K7 shipped 412 crates in May, très bien. "


def test_a_long_readable_beginning_hides_no_foreign_end() -> None:
    foreign = "仓库经理张伟因盗窃被捕。" * 6000
    assert unreadable(LATIN * 1400 + foreign, [1], ["Latin"], None)
    assert unreadable(LATIN * 6000 + foreign, [1], ["Latin"], None)
    assert not unreadable(LATIN * 6000, [1], ["Latin"], None)
    assert unreadable("仓库 " * 30_000 + "x" * 70_000, [1], ["Latin"], None)


def test_all_of_the_evidence_is_counted() -> None:
    assert evidence_unreadable([LATIN * 1500, "仓库经理张伟因盗窃被捕。" * 20_000], ["Latin"])
    assert not evidence_unreadable([LATIN * 1500, "仓库经理张伟因盗窃被捕。" * 100], ["Latin"])
    assert not evidence_unreadable(["plain", ""], ["Latin"])


def test_letters_outside_and_inside_are_weighed() -> None:
    assert foreign_share("abcd склад", ["Latin"]) == pytest.approx(5 / 9)
    assert foreign_share("abcdabcd 仓", ["Latin"]) == pytest.approx(4 / 12)
    assert foreign_share("abcd 仓库", ["Han"]) == pytest.approx(4 / 6)
    assert foreign_share("é", ["Latin", "Cyrillic"]) == 0


def test_without_scripts_unknown_tokens_tell() -> None:
    assert unreadable("x", [7, 7, 1], [], 7)
    assert not unreadable("x", [7, 1, 1, 1], [], 7)
    assert not unreadable("x", [7, 7], [], None)


def test_an_unknown_script_is_an_error() -> None:
    with pytest.raises(ValueError, match="Klingonish"):
        foreign_share("é", ["Klingonish"])


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (((0, "supported"), (1, "unsupported")), (0,)),
        (((0, "HALLUCINATED"), (1, "SUPPORTED")), (1,)),
        (((0, "LABEL_0"), (1, "LABEL_1")), (0,)),
        (((0, "O"), (1, "contradiction"), (2, "baseless")), (0,)),
    ],
)
def test_detector_labels_by_name(labels: tuple[tuple[int, str], ...], expected: tuple[int, ...]) -> None:
    assert supported_ids(labels) == expected


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (((0, "needs_fact_check"), (1, "no_fact_check_needed")), (0,)),
        (((0, "NO_FACT_CHECK_NEEDED"), (1, "FACT_CHECK_NEEDED")), (1,)),
        (((0, "LABEL_0"), (1, "LABEL_1")), (1,)),
    ],
)
def test_gate_labels_by_name(labels: tuple[tuple[int, str], ...], expected: tuple[int, ...]) -> None:
    assert needs_ids(labels) == expected


def test_unknown_labels_are_errors() -> None:
    for read in (supported_ids, needs_ids):
        with pytest.raises(UnknownLabels):
            read(((0, "cat"), (1, "dog")))


def test_numbers_come_from_the_file_then_the_model_then_the_defaults() -> None:
    model = Calibrated.of((("min_span_confidence", 0.5), ("threshold", 0.7)))
    assert span_limits(DetectorSettings(threshold=0.9), model).threshold == 0.9
    assert span_limits(DetectorSettings(), model).threshold == 0.7
    assert (span_limits(DetectorSettings()).threshold, span_limits(DetectorSettings()).min_span_confidence) == (
        0.8,
        0.6,
    )
    assert span_limits(DetectorSettings(threshold=0.3)).min_span_confidence == 0.3
    assert fact_check_threshold(FactCheckSettings(), Calibrated()) == 0.6
    assert fact_check_threshold(FactCheckSettings(threshold=0.2), model) == 0.2
