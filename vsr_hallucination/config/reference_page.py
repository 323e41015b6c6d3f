"""The reference page of the configuration, from the table of keys: one section a block, one row a key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from vsr_hallucination.config import values
from vsr_hallucination.config.reference import UNSET, Block, Key, Kind, Reference

_HEAD = """\
# Configuration reference

Which keys does the file take, and what holds where it says nothing? The file has the shape of Semantic Router's
canonical configuration (v0.3) with one block more, `filter`; one file can serve both. Every value may hold
`${NAME}` or `${NAME:-default}`, which the environment fills in; `$$` is a dollar sign.

`vsr-hallucination validate FILE` says what is wrong with a file. `vsr-hallucination schema` prints this page's content
as JSON Schema; an editor that speaks YAML completes and checks with it:

```yaml
# yaml-language-server: $schema=vsr-hallucination.schema.json
```

A duration is a number with a unit, `ms`, `s`, `m`, `h` or `d`, or several (`1m30s`); a number alone means seconds.
A size is a number with `B`, `KiB`, `MiB`, `GiB` (powers of 1024; also `Ki`, `Mi`, `Gi`) or `kB`, `MB`, `GB` (powers of
1000); a number alone means bytes. `16M` is refused, since programs differ on what it means. A space may stand before
a unit.

Unknown keys are errors in the blocks marked *ours* and warnings elsewhere. Keys of the router's that are not listed
are accepted and not read. This page is made by `vsr-hallucination schema --markdown`.
"""


def reference_page(table: Reference) -> str:
    """The page as Markdown."""
    return "\n".join([_HEAD, *(line for path, block in table.walk() for line in _section(table, path, block))])


def _section(table: Reference, path: str, block: Block) -> Iterator[str]:
    yield f"## `{path}`" if path else "## The file"
    yield ""
    yield f"{block.line}{' *Ours.*' if block.owned else ''}"
    yield ""
    yield "| key | type | default | range | |"
    yield "|---|---|---|---|---|"
    paths = {below.name: place for place, below in table.walk()}
    for key in block.keys:
        kind = f"[{key.kind.value}](#{_anchor(paths[key.block])})" if key.block else key.kind.value
        cells = (f"`{key.name}`", kind, _default(block, key), _range(key), key.line)
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
    yield ""


def _anchor(path: str) -> str:
    """As mkdocs makes it of a heading: word characters and hyphens are kept."""
    return "".join(char for char in path.lower() if char.isalnum() or char in "_-")


def _default(block: Block, key: Key) -> str:
    if key.required:
        return "required"
    default = block.default(key)
    if default is UNSET or default is None or key.block or key.kind is Kind.ANY:
        return ""
    return f"`{_shown(key, default)}`" if _shown(key, default) else ""


def _shown(key: Key, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    if key.kind is Kind.DURATION:
        return values.seconds(value)
    if key.kind is Kind.SIZE:
        return values.bytes(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _range(key: Key) -> str:
    if key.words:
        return ", ".join(f"`{word}`" for word in key.words)
    if key.low is None or key.high is None:
        return key.unit
    if key.kind is Kind.DURATION:
        return f"{values.seconds(key.low)} to {values.seconds(key.high)}"
    if key.kind is Kind.SIZE:
        return f"{values.bytes(int(key.low))} to {values.bytes(int(key.high))}"
    bounds = f"{_bound(key.low)} to {_bound(key.high)}"
    return f"{bounds} {key.unit}" if key.unit and key.unit != "probability" else bounds


def _bound(value: float) -> str:
    return f"{int(value)}" if float(value).is_integer() else f"{value:g}"
