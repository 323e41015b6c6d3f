"""What ``make run`` shows."""

from __future__ import annotations

from typing import Any

import pytest

from vsr_hallucination.demo.script import steps

pytestmark = pytest.mark.timeout(300)  # the first test waits for the models to load


def test_every_step_of_the_tour_shows_what_it_should(demo: Any) -> None:
    assert f"all {len(steps())} steps showed what they should" in demo.tour, demo.tour


def test_the_tour_marks_the_invented_number(demo: Any) -> None:
    assert "Depot K7 shipped [479] crates" in demo.tour


def test_the_tour_prints_the_curl_line(demo: Any) -> None:
    assert f"curl -i {demo.envoy}/v1/chat/completions" in demo.tour
