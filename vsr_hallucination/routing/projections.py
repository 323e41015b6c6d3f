"""Projections: partitions thin out the signals, scores add them up, mappings name ranges of a score. Pure.

Semantics: Semantic Router's documentation of ``routing.projections``. Confidence of an output: the logistic function
of ``slope`` times the distance between the score and the nearest edge of its band: 0.5 on the edge, 1 far inside.
"""

from __future__ import annotations

import math
from collections.abc import Mapping as Map
from collections.abc import Sequence

from vsr_hallucination.config.projection_schema import (
    Band,
    Mapping,
    MappingMethod,
    Partition,
    Projections,
    Score,
    ScoreInput,
    ValueSource,
)

Signal = tuple[str, str]
PROJECTION = "projection"


def project(projections: Projections, signals: Map[Signal, float]) -> Map[Signal, float]:
    """``signals`` as the partitions leave them, and the outputs of the mappings as ``("projection", name)``."""
    if not projections.partitions and not projections.steps:
        return signals
    found = dict(signals)
    for partition in projections.partitions:
        _settle(partition, found)
    scores: dict[str, float] = {}
    for step in projections.steps:
        if isinstance(step, Score):
            scores[step.name] = sum(item.weight * _value(item, found, scores) for item in step.inputs)
        else:
            found |= {(PROJECTION, name): sure for name, sure in _emitted(step, scores[step.source])}
    return found


def _settle(partition: Partition, found: dict[Signal, float]) -> None:
    """Leaves one member matching: the surest, the first named among equals."""
    contenders = [(partition.family, name) for name in partition.members if (partition.family, name) in found]
    if not contenders:
        if partition.default is not None:
            found[partition.family, partition.default] = 0.0  # it matches, and nothing speaks for it
        return
    winner = max(contenders, key=lambda signal: found[signal])
    if len(contenders) > 1 and partition.temperature is not None:
        best = found[winner]
        shares = [math.exp((found[signal] - best) / partition.temperature) for signal in contenders]
        found[winner] = 1.0 / sum(shares)
    for signal in contenders:
        if signal != winner:
            del found[signal]


def _value(item: ScoreInput, found: Map[Signal, float], scores: Map[str, float]) -> float:
    if item.source is ValueSource.SCORE:
        return scores[item.name]
    confidence = found.get((item.type, item.name))
    if item.source is ValueSource.CONFIDENCE:
        return confidence or 0.0
    return item.miss if confidence is None else item.match


def _emitted(mapping: Mapping, score: float) -> Sequence[tuple[str, float]]:
    """(output, confidence) of the bands that the mapping emits for ``score``."""
    bands = [band for band in mapping.bands if band.holds(score)]
    if mapping.method is MappingMethod.THRESHOLD_BANDS:
        bands = bands[:1]
    elif mapping.method is MappingMethod.TOP_K:
        bands = sorted(bands, key=lambda band: abs(score - band.centre))[: mapping.top_k or None]
    return [(band.name, _confidence(band, score, mapping.slope)) for band in bands]


def _confidence(band: Band, score: float, slope: float) -> float:
    distance = min((abs(score - bound) for bound in band.bounds), default=1.0)
    return 1.0 / (1.0 + math.exp(-slope * distance))
