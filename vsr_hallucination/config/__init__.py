"""The configuration: schema, loading, cross-checks. Immutable objects come out."""

from vsr_hallucination.config.loading import Loaded, load, loads, report
from vsr_hallucination.config.problems import ConfigError, Problem, Severity
from vsr_hallucination.config.schema import Config

__all__ = ["Config", "ConfigError", "Loaded", "Problem", "Severity", "load", "loads", "report"]
