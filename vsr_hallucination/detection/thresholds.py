"""Where each number comes from: the configuration file, else the model directory, else DESIGN §4's default."""

from __future__ import annotations

from dataclasses import dataclass

from vsr_hallucination.config.schema import DetectorSettings, FactCheckSettings
from vsr_hallucination.detection.spans import SpanLimits

DETECTOR_THRESHOLD = 0.8
MIN_SPAN_CONFIDENCE = 0.6
FACT_CHECK_THRESHOLD = 0.6


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Numbers of a model directory; None where it has none."""

    threshold: float | None = None
    min_span_confidence: float | None = None

    @classmethod
    def of(cls, thresholds: tuple[tuple[str, float], ...]) -> Calibrated:
        known = dict(thresholds)
        return cls(known.get("threshold"), known.get("min_span_confidence"))


def _first(*values: float | None) -> float:
    return next(value for value in values if value is not None)


def span_limits(settings: DetectorSettings, model: Calibrated = Calibrated()) -> SpanLimits:
    """The detector's numbers by precedence. A span can never begin above the threshold it must reach, so a file's
    ``threshold`` below ``min_span_confidence`` from elsewhere lowers that one too."""
    threshold = _first(settings.threshold, model.threshold, DETECTOR_THRESHOLD)
    confidence = _first(settings.min_span_confidence, model.min_span_confidence, MIN_SPAN_CONFIDENCE)
    if settings.min_span_confidence is None:
        confidence = min(confidence, threshold)
    return SpanLimits(threshold, confidence, settings.min_span_length)


def fact_check_threshold(settings: FactCheckSettings, model: Calibrated = Calibrated()) -> float:
    """The classifier's threshold by precedence."""
    return _first(settings.threshold, model.threshold, FACT_CHECK_THRESHOLD)
