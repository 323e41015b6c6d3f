"""Tool results and retrieved documents → passages: one rule for all client APIs.

What is no evidence, and why:

- nothing at all, ``null``, ``""``, ``[]``, white space, JSON without a value in it, and the placeholders that agents
  put in their place (``(no output)``): an empty passage would count as grounding and make every claim unsupported.
  ``No results found.`` is a finding and stays evidence;
- an error result (marked by the API, an MCP ``isError``, or JSON that says nothing but ``error``): noted as unread.
  An error told as plain text cannot be told from a finding and stays evidence;
- images, audio, files, encrypted pages: noted as unread, they lower the grounding's coverage;
- what user, system or developer messages say, and the list of ``tools``.
"""

from __future__ import annotations

from vsr_hallucination.apis.flatten import Flattened, flatten, looks_like_json
from vsr_hallucination.apis.jsontext import Path, path_text
from vsr_hallucination.detection.types import Grounding, OffsetRun, Passage, UnreadEvidence

MAX_PASSAGES = 2048  # evidence in more pieces than this is noted as unread, once
# Code points of JSON per request that are made readable, about half a second each million. What is beyond stays the
# text it is; this is more than a detector reads anyway.
MAX_FLATTENED = 2_000_000

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
    return text if isinstance(text, str) and (kind is None or kind in _TEXT_TYPES) else None


def is_text(value: object) -> bool:
    """Whether a string says anything: no white space alone, no placeholder."""
    if not isinstance(value, str):
        return False
    bare = value.strip().strip("()[]<>.\"'").strip()
    return bool(bare) and (len(bare) > 20 or bare.casefold() not in _PLACEHOLDERS)


class EvidenceBuilder:
    """Collects the evidence of one request, in the order it is given."""

    def __init__(self, max_passages: int = MAX_PASSAGES) -> None:
        self._max = max_passages
        self._flattened = 0
        self._passages: list[Passage] = []
        self._unread: list[UnreadEvidence] = []
        self._full = False

    def grounding(self) -> Grounding:
        return Grounding(tuple(self._passages), tuple(self._unread))

    def unread(self, path: Path, kind: str) -> None:
        if len(self._unread) < self._max:
            self._unread.append(UnreadEvidence(path_text(path), kind))

    def text(
        self, text: str, path: Path, *, role: str, source_id: str | None, trust: str = "tool", lead: str = ""
    ) -> None:
        """One string of evidence. ``lead`` (a title) goes in front of it in the passage and maps to nothing."""
        if not is_text(text):
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
        if lead:
            runs = origin or (OffsetRun(0, 0, len(shown)),)
            shift = len(lead) + 1
            origin = tuple(OffsetRun(run.start + shift, run.origin, run.length) for run in runs)
            shown = f"{lead}\n{shown}"
        self._passages.append(Passage(shown, path_text(path), role, source_id, trust, origin))

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

    def documents(self, documents: object, path: Path) -> None:
        """Retrieved documents beside the messages, as vLLM and Cohere take them: strings, or objects with a text."""
        if documents is None:
            return
        if not isinstance(documents, list):
            self.unread(path, "unknown")
            return
        for at, document in enumerate(documents):
            self._document(document, (*path, at), None, "")

    def _document(self, document: object, path: Path, source_id: str | None, title: str) -> None:
        if isinstance(document, str):
            self.text(document, path, role="document", source_id=source_id, trust="document", lead=title)
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
                self._document(body, (*path, key), source_id, title)
                return
            if body is not None:
                self.content(body, (*path, key), role="document", source_id=source_id, trust="document")
                return
        self.unread(path, "unknown")
