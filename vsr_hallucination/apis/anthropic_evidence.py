"""Evidence in Anthropic content blocks: tool results, documents, search results."""

from __future__ import annotations

from vsr_hallucination.apis.evidence import EvidenceBuilder, is_text
from vsr_hallucination.apis.jsontext import Path

Json = dict[object, object]


def result_block(evidence: EvidenceBuilder, block: Json, path: Path) -> bool:
    """A result of a tool of the client, of an MCP server or of the provider. False where the block is none."""
    kind = block.get("type")
    if not isinstance(kind, str) or not kind.endswith("tool_result"):
        return False
    source = block.get("tool_use_id")
    source_id = source if isinstance(source, str) else None
    content = block.get("content")
    inside: Path = (*path, "content")
    if block.get("is_error") is True:
        evidence.unread(path, "error")
    elif isinstance(content, str):
        evidence.text(content, inside, role="tool", source_id=source_id)
    elif isinstance(content, list):
        for at, part in enumerate(content):
            _part(evidence, part, (*inside, at), source_id)
    elif isinstance(content, dict):  # what the provider's own tools give
        _provided(evidence, content, inside, source_id)
    elif content is not None:
        evidence.unread(inside, "unknown")
    return True


def supplied_block(evidence: EvidenceBuilder, block: Json, path: Path) -> None:
    """A document or search result that the client put beside its question."""
    if block.get("type") == "document":
        _document(evidence, block, path, role="document", source_id=None, trust="document")
    elif block.get("type") == "search_result":
        _search_result(evidence, block, path, role="document", source_id=None, trust="document")


def _part(evidence: EvidenceBuilder, part: object, path: Path, source_id: str | None) -> None:
    kind = part.get("type") if isinstance(part, dict) else None
    if isinstance(part, dict) and kind == "document":
        _document(evidence, part, path, role="tool", source_id=source_id, trust="tool")
    elif isinstance(part, dict) and kind == "search_result":
        _search_result(evidence, part, path, role="tool", source_id=source_id, trust="tool")
    elif isinstance(part, dict) and "encrypted_content" in part:
        evidence.unread(path, "encrypted")
    else:
        evidence.part(part, path, role="tool", source_id=source_id)


def _provided(evidence: EvidenceBuilder, content: Json, path: Path, source_id: str | None) -> None:
    """Code execution's output, a fetched page, a viewed file; an error otherwise."""
    kind = content.get("type")
    if isinstance(kind, str) and kind.endswith("_error"):
        evidence.unread(path, "error")
        return
    inner = content.get("content")
    if isinstance(inner, dict) and inner.get("type") == "document":
        _document(evidence, inner, (*path, "content"), role="tool", source_id=source_id, trust="tool")
        return
    found = False
    for key in ("stdout", "content"):
        text = content.get(key)
        if isinstance(text, str):
            found = True
            evidence.text(text, (*path, key), role="tool", source_id=source_id)
    if not found:
        evidence.unread(path, "encrypted" if "encrypted_content" in content else "unknown")


def _document(
    evidence: EvidenceBuilder, block: Json, path: Path, *, role: str, source_id: str | None, trust: str
) -> None:
    source = block.get("source")
    lead = _title(block)
    kind = source.get("type") if isinstance(source, dict) else None
    if isinstance(source, dict) and kind == "text" and isinstance(source.get("data"), str):
        inside: Path = (*path, "source", "data")
        evidence.text(source["data"], inside, role=role, source_id=source_id, trust=trust, lead=lead)
    elif isinstance(source, dict) and kind == "content":
        content = source.get("content")
        evidence.content(content, (*path, "source", "content"), role=role, source_id=source_id, trust=trust)
    else:
        evidence.unread(path, "file")


def _search_result(
    evidence: EvidenceBuilder, block: Json, path: Path, *, role: str, source_id: str | None, trust: str
) -> None:
    content = block.get("content")
    first = content[0] if isinstance(content, list) and len(content) == 1 else None
    if isinstance(first, dict) and isinstance(first.get("text"), str):
        inside: Path = (*path, "content", 0, "text")
        evidence.text(first["text"], inside, role=role, source_id=source_id, trust=trust, lead=_title(block))
    else:
        evidence.content(content, (*path, "content"), role=role, source_id=source_id, trust=trust)


def _title(block: Json) -> str:
    title = block.get("title")
    return title if isinstance(title, str) and is_text(title) else ""
