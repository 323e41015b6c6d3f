"""Scalars by YAML 1.2's core schema; ``${VAR}`` expansion; durations and sizes. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from vsr_hallucination.config.yamltext import Scalar

Value = str | int | float | bool | None

_WORDS: Mapping[str, bool | None] = {
    "true": True, "True": True, "TRUE": True,
    "false": False, "False": False, "FALSE": False,
    "null": None, "Null": None, "NULL": None, "~": None, "": None,
}  # fmt: skip
_NULLS = frozenset(word for word, value in _WORDS.items() if value is None)
_INTEGER = re.compile(r"[-+]?[0-9]+\Z")
_BASED = re.compile(r"0o[0-7]+\Z|0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_INFINITE = re.compile(r"[-+]?\.(inf|Inf|INF)\Z|\.(nan|NaN|NAN)\Z")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+\Z")
_UNDERSCORED = re.compile(r"[-+]?[0-9][0-9_]*(\.[0-9_]+)?\Z")
# Truth values of YAML 1.1 that are plain words in 1.2.
OLD_TRUTHS: Mapping[str, str] = {
    "yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false",
}  # fmt: skip
_MAX_DIGITS = 40

_VARIABLE = re.compile(r"\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\$\{")

_DURATION_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(ms|s|m|h|d)")
_DURATION = re.compile(rf"{_DURATION_PART.pattern}(?: ?{_DURATION_PART.pattern})*\Z")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(B|KiB|MiB|GiB|Ki|Mi|Gi|kB|KB|MB|GB)\Z")
_BYTES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30,
          "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9}  # fmt: skip
_TWO_SIZES = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([kmg])b?\Z", re.IGNORECASE)


class Expansion(NamedTuple):
    """Text after expansion. ``fault``: why it could not be expanded. ``touched``: a variable was put in."""

    text: str
    touched: bool = False
    fault: tuple[str, str] | None = None  # message, remedy


def expand(text: str, environment: Mapping[str, str]) -> Expansion:
    """``${VAR}``, ``${VAR:-default}`` (also where VAR is empty, as in a shell) and ``$$``. ``$5`` stays."""
    if "$" not in text:
        return Expansion(text)
    fault: tuple[str, str] | None = None
    touched = False

    def put(match: re.Match[str]) -> str:
        nonlocal fault, touched
        if match.group() == "$$":
            return "$"
        name, default = match.group(1), match.group(2)
        if name is None:
            fault = fault or (
                "`${` begins a variable that is not named and closed",
                "write ${NAME} or ${NAME:-default}, or $${ for a literal ${",
            )
            return ""
        touched = True
        value = environment.get(name)
        if value is None and default is None:
            fault = fault or (
                f"the environment variable {name} is not set",
                f"set it, or give a default: ${{{name}:-…}}",
            )
            return ""
        return value or default or ""

    return Expansion(_VARIABLE.sub(put, text), touched, fault)


def resolve(scalar: Scalar, text: str, touched: bool) -> Value:
    """The scalar's value by the core schema. Quoted scalars are text, unless a variable was put into them."""
    if scalar.tag == "str" or (not scalar.plain and not touched and scalar.tag is None):
        return text
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > _MAX_DIGITS:
        return text
    if _INTEGER.match(text):
        return int(text)
    if _BASED.match(text):
        return int(text[2:], 8 if text[1] == "o" else 16)
    if _FLOAT.match(text):
        return float(text)
    if _INFINITE.match(text):
        return float(text.lower().replace(".", ""))
    return text


def is_null(scalar: Scalar) -> bool:
    """True for ``~``, ``null`` and nothing at all, as written: before any expansion."""
    return scalar.tag == "null" or (scalar.plain and scalar.tag is None and scalar.text in _NULLS)


def number_trap(text: str) -> tuple[str, str] | None:
    """Message and remedy where YAML versions read this number differently; None where they agree."""
    if _LEADING_ZERO.match(text):
        digits = text.lstrip("+-").lstrip("0") or "0"
        eight = f" (the number {int(digits, 8)})" if not set(digits) & {"8", "9"} else ""
        return (
            f"`{text[:40]}` begins with 0: YAML 1.1 reads it as octal{eight}, YAML 1.2 as decimal",
            f"write {digits}, or 0o{digits} if octal is meant",
        )
    if "_" in text and _UNDERSCORED.match(text):
        return f"`{text[:40]}` is text in YAML 1.2", f"write {text.replace('_', '')[:40]}"
    return None


def duration(value: str | int | float) -> float | None:
    """Seconds of ``8s``, ``500 ms``, ``1m30s``, ``2h``, ``30d`` or a number (seconds); None for others."""
    if isinstance(value, str):
        if len(value) > _MAX_DIGITS or not _DURATION.match(value):
            return None
        return sum(float(number) * _SECONDS[unit] for number, unit in _DURATION_PART.findall(value))
    return None if isinstance(value, bool) else float(value)


def size(value: str | int | float) -> int | None:
    """Bytes of ``16MiB``, ``64Ki``, ``10 MB`` or a whole number (bytes); None if it is neither."""
    if isinstance(value, str):
        match = _SIZE.match(value) if len(value) <= _MAX_DIGITS else None
        return int(float(match.group(1)) * _BYTES[match.group(2)]) if match else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def size_trap(text: str) -> tuple[str, str] | None:
    """Message and remedy for ``16M``: 2^20 bytes each to a JVM or nginx, 10^6 to Kubernetes; None for other texts."""
    match = _TWO_SIZES.match(text) if len(text) <= _MAX_DIGITS and size(text) is None else None
    if match is None:
        return None
    number, unit = match.group(1), match.group(2).upper()
    return (
        f"`{text}` has two readings",
        f"write {number}{unit}iB (powers of 1024) or {number}{unit}B (powers of 1000)",
    )
