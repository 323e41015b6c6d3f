"""``filter.grounding``: what is evidence beyond tool results; ``filter.apis``: which path speaks which API."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vsr_hallucination.apis.served import API_NAMES
from vsr_hallucination.config.cursor import Cursor, Fields
from vsr_hallucination.config.evidence_schema import GroundingSettings
from vsr_hallucination.config.problems import words

_GROUNDING = words("max_passages tags tag_sources message_names fields header metadata")
_SOURCES = ("system", "user")
_APIS = {name: name for name in API_NAMES}

_TAG = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}\Z")
_HEADER = re.compile(r"[a-z0-9!#$%&'*+.^_`|~-]{1,128}\Z")
_METADATA = re.compile(r"[a-z0-9_.-]{1,128}\Z")
_SUFFIX = re.compile(r"(/[^/?#\s]+)+\Z")
_STEP = re.compile(r"""\.([A-Za-z_][A-Za-z0-9_-]*)|\[(0|[1-9][0-9]{0,8})\]|\['([^']{1,200})'\]|\["([^"]{1,200})"\]""")


def read_grounding(fields: Fields) -> GroundingSettings:
    inner, base = fields.sub("grounding", _GROUNDING, owned=True), GroundingSettings()
    tags = [tag.lower() for tag in _matching(inner, "tags", _TAG, "a tag's name", "write the bare name: context")]
    sources = tuple(dict.fromkeys(_sources(inner))) or base.tag_sources
    if "tag_sources" in inner and "tags" not in inner:
        inner.place("tag_sources").error("stands without `tags`", "name the tags to look for: tags: [context]")
    return GroundingSettings(
        max_passages=inner.integer("max_passages", base.max_passages, 1, 1_000_000),
        tags=tuple(dict.fromkeys(tags)),
        tag_sources=sources,
        message_names=tuple(dict.fromkeys(inner.texts("message_names"))),
        fields=tuple(dict.fromkeys(_fields(inner))),
        header=_header(inner),
        metadata=_metadata(inner),
    )


def read_apis(fields: Fields) -> tuple[tuple[str, str], ...]:
    """The path map, longest ending first, so that the order in the file does not matter."""
    inner = fields.sub("apis", None)
    found: list[tuple[str, str]] = []
    for suffix in inner.entries:
        if not _SUFFIX.match(suffix):
            inner.place(suffix).error(
                f"`{suffix[:60]}` is no end of a path", "write it with its slash in front: /chat/completions"
            )
            continue
        api = inner.choice(suffix, None, _APIS)
        if api is not None:
            found.append((suffix, api))
    return tuple(sorted(found, key=lambda entry: -len(entry[0])))


def _matching(fields: Fields, key: str, pattern: re.Pattern[str], what: str, remedy: str) -> Iterator[str]:
    for text, place in fields.placed_texts(key):
        if pattern.match(text):
            yield text
        else:
            place.error(f"`{text[:60]}` is not {what}", remedy)


def _sources(fields: Fields) -> Iterator[str]:
    for text, place in fields.placed_texts("tag_sources"):
        if text in _SOURCES:
            yield text
        else:
            place.error(f"`{text[:60]}` is no source", "write system, user or both")


def _fields(fields: Fields) -> Iterator[tuple[str | int, ...]]:
    for text, place in fields.placed_texts("fields"):
        path = _path(text)
        if path is None:
            place.error(
                f"`{text[:60]}` is no path of a request field", "write it as $.metadata.context or $.passages[0]"
            )
        else:
            yield path


def _path(text: str) -> tuple[str | int, ...] | None:
    """The steps of a JSON path of names and indices (a part of RFC 9535), None where it is none."""
    if not text.startswith("$") or len(text) > 1000:
        return None
    at, steps = 1, list[str | int]()
    while at < len(text):
        step = _STEP.match(text, at)
        if step is None:
            return None
        steps.append(int(step[2]) if step[2] is not None else step[1] or step[3] or step[4])
        at = step.end()
    return tuple(steps) or None


def _header(fields: Fields) -> str | None:
    text = fields.text("header", None)
    name = text.lower() if text is not None else None
    if name is None:
        return None
    place: Cursor = fields.place("header")
    if not _HEADER.match(name):
        place.error(f"`{name[:60]}` is no header's name", "write it as x-rag-context")
        return None
    if name.startswith("x-vsr-"):
        place.error(f"`{name[:60]}` is one of this filter's own headers", "choose a name outside of x-vsr-")
        return None
    return name


def _metadata(fields: Fields) -> str | None:
    name = fields.text("metadata", None)
    if name is None:
        return None
    if not _METADATA.match(name) or name.endswith("-bin"):
        fields.place("metadata").error(
            f"`{name[:60]}` is no key of textual gRPC metadata", "write it in lower case, not ending in -bin"
        )
        return None
    return name
