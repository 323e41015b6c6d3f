"""No text, however odd, raises anything but ConfigError; reading stays quick."""

from __future__ import annotations

import time
from pathlib import Path

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from vsr_hallucination.config import ConfigError, Loaded, loads

FOLDER = Path(__file__).parents[1] / "configs"
SAMPLES = [path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*/*.yaml"))]
KEYS = """routing signals hallucination fact_check keywords projections scores mappings outputs inputs decisions rules
operator conditions type name plugins configuration enabled recipes entrypoints global model_catalog modules system
hallucination_mitigation detector endpoint threshold filter admin listen token envoy paths replay url limits check
detection deadline services router_replay postgres source members partitions""".split()
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=12), st.sampled_from([*KEYS, "${X}", "NOT"])
)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)),
    max_leaves=30,
)


def read(text: str) -> Loaded | ConfigError:
    try:
        return loads(text, "f", {"X": "x"})
    except ConfigError as error:
        assert error.errors
        return error


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    read(text)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(SAMPLES), st.integers(0, 4000), st.integers(0, 6), st.text(max_size=4))
def test_any_edit_of_a_sample(sample: str, at: int, cut: int, put: str) -> None:
    read(sample[:at] + put + sample[at + cut :])


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), TREES, max_size=6))
def test_any_tree_of_known_keys(tree: dict[str, object]) -> None:
    read(yaml.safe_dump(tree, allow_unicode=True))


def test_unknown_keys_without_end_are_told_quickly() -> None:
    start = time.thread_time()
    found = read("filter:\n" + "".join(f"  unknown_key_{number}: 1\n" for number in range(20_000)))
    assert isinstance(found, ConfigError) and len(found.errors) == 20_000
    assert time.thread_time() - start < 10
