"""YAML text → nodes: places, repeated keys, aliases, merge keys, bounds."""

from __future__ import annotations

import pytest

from vsr_hallucination.config.yamltext import MAX_BYTES, MAX_DEPTH, Mapping, Scalar, Sequence, YamlError, parse


def node(text: str) -> Mapping:
    root, problems = parse(text, "f")
    assert not problems and isinstance(root, Mapping)
    return root


def test_every_node_knows_line_and_column() -> None:
    root = node("a: 1\nb:\n  - ü: [x, y]\n")
    mark, value = root.entries["b"]
    assert mark == (2, 1) and value.mark == (3, 3)
    assert isinstance(value, Sequence) and isinstance(value.items[0], Mapping)
    _, inner = value.items[0].entries["ü"]
    assert isinstance(inner, Sequence) and inner.items[1].mark == (3, 12)


def test_scalars_keep_their_text_and_say_whether_they_were_quoted() -> None:
    found = {key: value for key, (_, value) in node("a: 010\nb: '010'\nc: !!int 7\nd: |\n  x\n").entries.items()}
    assert [(s.text, s.plain, s.tag) for s in found.values() if isinstance(s, Scalar)] == [
        ("010", True, None),
        ("010", False, None),
        ("7", True, "int"),
        ("x\n", False, None),
    ]


def test_repeated_keys_are_errors_that_leave_the_rest_readable() -> None:
    root, problems = parse("a:\n  - {x: 1}\n  - {x: 1, x: 2, x: 3}\n", "f")
    assert [(p.line, p.column, p.path) for p in problems] == [(3, 12, "a[1].x"), (3, 18, "a[1].x")]
    assert "3:6" in problems[0].message and isinstance(root, Mapping)


def test_repeated_keys_are_found_across_quoting() -> None:
    _, problems = parse("a: 1\n'a': 2\n", "f")
    assert len(problems) == 1


def test_merge_keys_give_way_to_explicit_ones_and_earlier_sources_win() -> None:
    root = node("p: &p {a: 1, b: 1}\nq: &q {b: 2, c: 2}\nr: {<<: [*p, *q], a: 9}\n")
    _, merged = root.entries["r"]
    assert isinstance(merged, Mapping)
    values = {key: value.text for key, (_, value) in merged.entries.items() if isinstance(value, Scalar)}
    assert values == {"a": "9", "b": "1", "c": "2"}


def test_a_quoted_merge_sign_is_a_key() -> None:
    assert set(node("'<<': x").entries) == {"<<"}


def test_inline_merge_is_taken() -> None:
    _, inner = node("r: {<<: {a: 1}, b: 2}").entries["r"]
    assert isinstance(inner, Mapping) and set(inner.entries) == {"a", "b"}


def test_aliases_share_and_are_counted_as_unfolded() -> None:
    laughs = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 30))
    with pytest.raises(YamlError, match="aliases unfold"):
        parse(laughs, "f")


def test_merged_laughs_are_bounded_too() -> None:
    text = "a: &a {k: [" + "x, " * 1000 + "]}\n" + "".join(f"b{i}: {{<<: *a}}\n" for i in range(300))
    with pytest.raises(YamlError, match="aliases unfold"):
        parse(text, "f")


def test_depth_is_bounded() -> None:
    node("a: " + "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1))
    for text in ("a: " + "[" * MAX_DEPTH + "]" * MAX_DEPTH, "[" * 100_000, "{a: " * 100_000, "- " * 5000 + "x"):
        with pytest.raises(YamlError, match=r"nested deeper|not readable"):
            parse(text, "f")


def test_length_is_bounded() -> None:
    with pytest.raises(YamlError, match="4 MiB"):
        parse("a: " + "x" * MAX_BYTES, "f")


@pytest.mark.parametrize(
    ("text", "place"),
    [("a: \x07", "f:1:4"), ("a: 1\nb: \x00", "f:2:4"), ("a: '\ud800'", "f:1:1")],
)
def test_characters_that_yaml_forbids_are_told(text: str, place: str) -> None:
    with pytest.raises(YamlError) as caught:
        parse(text, "f")
    assert str(caught.value).startswith(place)


@pytest.mark.parametrize("text", ["? [a]\n: 1", "? {a: 1}\n: 1", "&a [x]: 1", "a: &a [x]\n? *a\n: 1"])
def test_keys_must_be_words(text: str) -> None:
    with pytest.raises(YamlError, match="where a key belongs"):
        parse(text, "f")


@pytest.mark.parametrize("text", ["a: !custom x", "a: !!python/name:os.system x", "a: !!set {x}", "a: !!binary eA=="])
def test_tags_construct_nothing(text: str) -> None:
    with pytest.raises(YamlError, match="is not supported"):
        parse(text, "f")
