"""Tool results and retrieved documents → passages: one rule for all client APIs.

What is no evidence, and why:

- nothing at all, ``null``, ``""``, ``[]``, white space, JSON without a value in it, and the placeholders that agents
  put in their place (``(no output)``): an empty passage would count as grounding and make every claim unsupported.
  ``No results found.`` is a finding and stays evidence;
- an error result (marked by the API, an MCP ``isError``, JSON that says nothing but ``error``, or a text that is an
  HTTP error and nothing else): noted as unread. Another error told as plain text cannot be told from a finding and
  stays evidence;
- images, audio, files, encrypted pages: noted as unread, they lower the grounding's coverage;
- what user, system or developer messages say, and the list of ``tools``. ``EvidenceOptions`` can say otherwise of
  tagged sections, named messages, request fields, and texts beside the body; each passage keeps whose word it is in
  ``trust``: ``tool``, ``document``, ``system``, ``user``, ``field``, ``header`` or ``metadata``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from vsr_hallucination.apis.base import TOOLS_ONLY, EvidenceOptions
from vsr_hallucination.apis.flatten import Flattened, flatten, looks_like_json
from vsr_hallucination.apis.httperror import only_http_error
from vsr_hallucination.apis.jsontext import Path, path_text
from vsr_hallucination.apis.tagged import pattern_of, sections
from vsr_hallucination.detection.types import Grounding, OffsetRun, Passage, UnreadEvidence

# Code points of JSON per request that are made readable, about half a second each million. What is beyond stays the
# text it is; this is more than a detector reads anyway.
MAX_FLATTENED = 2_000_000

# Names in what is no evidence: of each message so much of its beginning, piece by piece, about so many words in all.
_HEARD_TEXT, _HEARD_PIECE, _HEARD = 65_536, 4096, 2000
_NAME = re.compile(r"[^\W\d_a-z][^\W\d_]{2,40}")

_PLACEHOLDERS = frozenset(
    ("no output", "no content", "empty", "empty result", "empty response", "null", "none", "nil", "undefined")
)
_TEXT_TYPES = frozenset(("text", "input_text", "output_text"))
_KINDS = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "audio": "audio",
    "input_audio": "audio",
    "file": "file",
    "input_file": "file",
    "document": "file",
}
_BODY_KEYS = ("text", "content", "contents", "page_content", "snippet", "body", "data")


def part_text(part: object) -> str | None:
    """The text of one content part (``{"type": "text", "text": …}``; a type may be missing), None where it has none."""
    if not isinstance(part, dict):
        return None
    kind, text = part.get("type"), part.get("text")
    named = kind is None or (isinstance(kind, str) and kind in _TEXT_TYPES)  # an upstream may send any JSON here
    return text if isinstance(text, str) and named else None


def is_text(value: object) -> bool:
    """Whether a string says anything: no white space alone, no placeholder."""
    if not isinstance(value, str):
        return False
    bare = value.strip().strip("()[]<>.\"'").strip()
    return bool(bare) and (len(bare) > 20 or bare.casefold() not in _PLACEHOLDERS)


def value_at(value: object, path: Path) -> object:
    """What stands at ``path``; None where nothing does."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
            value = value[step]
        else:
            return None
    return value


def _place(path: Path | str) -> str:
    return path if isinstance(path, str) else path_text(path)


class EvidenceBuilder:
    """Collects the evidence of one request, in the order it is given."""

    def __init__(self, options: EvidenceOptions = TOOLS_ONLY) -> None:
        self._options = options
        self._max = options.max_passages
        self._tags = pattern_of(options.tags)
        self._flattened = 0
        self._passages: list[Passage] = []
        self._unread: list[UnreadEvidence] = []
        self._full = False
        self._heard: set[str] = set()

    def mark(self) -> tuple[int, int]:
        """Where the evidence stands now: passages and unread ones so far, for ``grounding``."""
        return len(self._passages), len(self._unread)

    def grounding(self, since: tuple[int, int] = (0, 0)) -> Grounding:
        """The evidence since a mark; all of it without one."""
        passages, unread = tuple(self._passages[since[0] :]), tuple(self._unread[since[1] :])
        return Grounding(passages, unread, frozenset(self._heard))

    def unread(self, path: Path | str, kind: str) -> None:
        if len(self._unread) < self._max:
            self._unread.append(UnreadEvidence(_place(path), kind))

    def text(
        self,
        text: str,
        path: Path | str,
        *,
        role: str,
        source_id: str | None,
        trust: str = "tool",
        lead: str = "",
        at: int = 0,
    ) -> None:
        """One string of evidence, which stands at ``at`` in the string at ``path``.

        ``lead`` (a title) goes in front of it in the passage and maps to nothing. A ``path`` in words is no JSON path.
        """
        if not is_text(text):
            return
        if trust == "tool" and not looks_like_json(text) and only_http_error(text):
            self.unread(path, "error")
            return
        flat = self._flatten(text)
        shown, origin = (text, ()) if flat is None else (flat.text, flat.origin)
        for kind in flat.unread if flat is not None else ():
            self.unread(path, kind)
        if not is_text(shown):
            return
        if len(self._passages) >= self._max:
            if not self._full:
                self._full = True
                self.unread(path, "limit")
            return
        if lead or at:
            runs = origin or (OffsetRun(0, 0, len(shown)),)
            shift = len(lead) + 1 if lead else 0
            origin = tuple(OffsetRun(run.start + shift, run.origin + at, run.length) for run in runs)
            shown = f"{lead}\n{shown}" if lead else shown
        self._passages.append(Passage(shown, _place(path), role, source_id, trust, origin))

    def _flatten(self, text: str) -> Flattened | None:
        if not looks_like_json(text) or self._flattened + len(text) > MAX_FLATTENED:
            return None
        self._flattened += len(text)  # also where it turns out to be none: that costs as much
        return flatten(text)

    def content(self, content: object, path: Path, *, role: str, source_id: str | None, trust: str = "tool") -> None:
        """A message's content: a string, or a list of parts of which each text is a passage of its own."""
        if isinstance(content, str):
            self.text(content, path, role=role, source_id=source_id, trust=trust)
        elif isinstance(content, list):
            for at, part in enumerate(content):
                self.part(part, (*path, at), role=role, source_id=source_id, trust=trust)
        elif content is not None:
            self.unread(path, "unknown")

    def part(self, part: object, path: Path, *, role: str, source_id: str | None, trust: str = "tool") -> None:
        text = part_text(part)
        if isinstance(part, str):
            self.text(part, path, role=role, source_id=source_id, trust=trust)
        elif text is not None:
            self.text(text, (*path, "text"), role=role, source_id=source_id, trust=trust)
        else:
            kind = part.get("type") if isinstance(part, dict) else None
            self.unread(path, _KINDS.get(kind, "unknown") if isinstance(kind, str) else "unknown")

    def prompted(self, content: object, path: Path, *, role: str) -> None:
        """What a system, developer or user message says: evidence only in tagged sections, if the operator said so."""
        source = "user" if role == "user" else "system"
        tagged = self._tags is not None and source in self._options.tag_sources
        if isinstance(content, str):
            self._said(content, path, role, source, tagged)
        elif isinstance(content, list):
            for at, part in enumerate(content):
                text = part_text(part)
                if isinstance(part, str):
                    self._said(part, (*path, at), role, source, tagged)
                elif text is not None:
                    self._said(text, (*path, at, "text"), role, source, tagged)

    def _said(self, text: str, path: Path, role: str, source: str, tagged: bool) -> None:
        for low in range(0, min(len(text), _HEARD_TEXT), _HEARD_PIECE):
            if len(self._heard) >= _HEARD:
                break
            self._heard.update(name.casefold() for name in _NAME.findall(text, low, low + _HEARD_PIECE))
        if tagged:
            self._sections(text, path, role, source)

    def _sections(self, text: str, path: Path, role: str, trust: str) -> None:
        assert self._tags is not None  # only called where there are tags
        found, left_open = sections(text, self._tags)
        for one in found:
            inner = text[one.start : one.end]
            self.text(inner, path, role=role, source_id=one.tag, trust=trust, at=one.start)
        if left_open:
            self.unread(path, "unclosed_tag")

    def named(self, message: Mapping[object, object], path: Path, *, role: str) -> bool:
        """A message whose ``name`` marks it as evidence. False where it is none."""
        name = message.get("name")
        if not isinstance(name, str) or name not in self._options.message_names:
            return False
        trust = "system" if role in ("system", "developer") else "user"  # a client writes assistant turns as well
        self.content(message.get("content"), (*path, "content"), role=role, source_id=name, trust=trust)
        return True

    def beside(self, request: object) -> None:
        """The request fields that the operator named, then what came beside the body."""
        for path in self._options.fields:
            self._field(value_at(request, path), path)
        for one in self._options.supplied:
            self.text(one.text, one.path, role=one.trust, source_id=None, trust=one.trust)

    def _field(self, value: object, path: Path) -> None:
        if isinstance(value, list):
            for at, one in enumerate(value):
                self._document(one, (*path, at), None, "", "field")
        elif value is not None:
            self._document(value, path, None, "", "field")

    def documents(self, documents: object, path: Path) -> None:
        """Retrieved documents beside the messages, as vLLM and Cohere take them: strings, or objects with a text."""
        if documents is None:
            return
        if not isinstance(documents, list):
            self.unread(path, "unknown")
            return
        for at, document in enumerate(documents):
            self._document(document, (*path, at), None, "", "document")

    def _document(self, document: object, path: Path, source_id: str | None, title: str, trust: str) -> None:
        if isinstance(document, str):
            self.text(document, path, role="document", source_id=source_id, trust=trust, lead=title)
            return
        if not isinstance(document, dict):
            self.unread(path, "unknown")
            return
        for key in ("id", "doc_id"):
            if source_id is None and isinstance(document.get(key), str | int):
                source_id = str(document[key])
        if is_text(document.get("title")):
            title = document["title"]
        for key in _BODY_KEYS:
            body = document.get(key)
            if isinstance(body, str) or (key == "data" and isinstance(body, dict) and "data" not in body):
                self._document(body, (*path, key), source_id, title, trust)
                return
            if body is not None:
                self.content(body, (*path, key), role="document", source_id=source_id, trust=trust)
                return
        self.unread(path, "unknown")
