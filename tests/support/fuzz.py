"""Settings for property tests: enough examples to matter, and no clock, since the machine may be busy."""

from hypothesis import HealthCheck, settings

FUZZ = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
