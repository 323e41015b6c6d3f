"""YAML text → a tree of nodes that know their place. Nothing is interpreted yet: scalars keep their text.

Built from libyaml's events rather than PyYAML's constructors, so that no tag can construct anything, a
repeated key is an error naming both places, and aliases are bounded: a file may share nodes, but what it
unfolds to is counted. Reference: YAML 1.2.2; merge keys (``<<``) as in YAML 1.1: router configs use them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import yaml

from vsr_hallucination.config.problems import Problem, Severity

MAX_BYTES = 4 << 20
MAX_DEPTH = 64
MAX_NODES = 200_000  # as unfolded: an alias counts for all it stands for

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_STANDARD = "tag:yaml.org,2002:"
_SCALAR_TAGS = frozenset(_STANDARD + name for name in ("str", "int", "float", "bool", "null"))
_COLLECTION_TAGS = frozenset(_STANDARD + name for name in ("map", "seq"))


class Mark(NamedTuple):
    """Line and column, counted from 1."""

    line: int
    column: int


class Scalar(NamedTuple):
    """A scalar as written. ``plain``: without quotes. ``tag``: ``str``, ``int`` … where one is given."""

    text: str
    plain: bool
    tag: str | None
    mark: Mark


class Sequence(NamedTuple):
    """A list."""

    items: tuple[Node, ...]
    mark: Mark


class Mapping(NamedTuple):
    """A mapping; each entry has the place of its key and its value."""

    entries: dict[str, tuple[Mark, Node]]
    mark: Mark


Node = Scalar | Sequence | Mapping


class YamlError(Exception):
    """The text is not one YAML document that can be read. Holds all problems found so far."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


def parse(text: str, source: str) -> tuple[Node, tuple[Problem, ...]]:
    """The root, and errors that leave it readable (repeated keys). Raises YamlError for all others."""
    builder = _Builder(source)
    if len(text) > MAX_BYTES:
        raise builder.fatal(Mark(1, 1), f"the file is longer than {MAX_BYTES >> 20} MiB", "split or shorten it")
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.feed(event)
    except yaml.MarkedYAMLError as error:
        raise builder.syntax(error) from error
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        mark = Mark(before.count("\n") + 1, len(before) - before.rfind("\n"))
        raise builder.fatal(
            mark, "a character that YAML does not allow", 'remove it, or write it as an escape: "\\u0007"'
        ) from error
    except UnicodeEncodeError as error:
        raise builder.fatal(Mark(1, 1), "the text holds half of a surrogate pair", "save it as UTF-8") from error
    if builder.root is None:
        raise builder.fatal(
            Mark(1, 1),
            "the file is empty",
            "declare a rule: routing: {signals: {hallucination: [{name: ungrounded_claims}]}}",
        )
    return builder.root, tuple(builder.problems)


@dataclass(slots=True)
class _Frame:
    """A collection that is not yet closed."""

    mark: Mark
    mapping: bool
    anchor: str | None
    items: list[Node] = field(default_factory=list)
    entries: dict[str, tuple[Mark, Node]] = field(default_factory=dict)
    merges: list[Mapping] = field(default_factory=list)
    key: tuple[str, Mark] | None = None
    merge_next: bool = False
    size: int = 1


class _Builder:
    def __init__(self, source: str) -> None:
        self.source = source
        self.root: Node | None = None
        self.problems: list[Problem] = []
        self._open: list[_Frame] = []
        self._anchors: dict[str, tuple[Node, int] | None] = {}  # None: still open
        self._documents = 0

    def fatal(self, mark: Mark, message: str, remedy: str) -> YamlError:
        self._report(mark, message, remedy)
        return YamlError(tuple(self.problems))

    def syntax(self, error: yaml.MarkedYAMLError) -> YamlError:
        at = error.problem_mark or error.context_mark
        mark = Mark(at.line + 1, at.column + 1) if at is not None else Mark(1, 1)
        what = error.problem or error.context or "this is not YAML"
        return self.fatal(mark, f"not readable as YAML ({what})", _remedy(what))

    def feed(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._start(event, mapping=isinstance(event, yaml.MappingStartEvent))
        elif isinstance(event, yaml.CollectionEndEvent):
            self._end()
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise self._second(_mark(event))

    def _second(self, mark: Mark) -> YamlError:
        if isinstance(self.root, Mapping) and {"apiVersion", "kind"} <= self.root.entries.keys():
            return self.fatal(
                mark,
                "a second document begins here: the file holds Kubernetes objects",
                "give the router's configuration file (version, routing, global), not the objects that deploy it",
            )
        return self.fatal(mark, "a second document begins here", "keep one document in the file")

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        mark = _mark(event)
        if event.tag is not None and event.tag != "!" and event.tag not in _SCALAR_TAGS:
            raise self.fatal(mark, f"the tag {event.tag[:60]} is not supported", "write the plain value")
        tag = "str" if event.tag == "!" else event.tag.removeprefix(_STANDARD) if event.tag else None
        node = Scalar(event.value, event.style is None or event.style == "", tag, mark)
        if event.anchor is not None:
            self._anchors[event.anchor] = (node, 1)
        self._add(node, 1)

    def _start(self, event: yaml.CollectionStartEvent, *, mapping: bool) -> None:
        mark, tag, anchor = _mark(event), event.tag, event.anchor
        if tag is not None and tag not in _COLLECTION_TAGS:
            raise self.fatal(mark, f"the tag {tag[:60]} is not supported", "remove it")
        if len(self._open) >= MAX_DEPTH:
            raise self.fatal(mark, f"nested deeper than {MAX_DEPTH} levels", "flatten it")
        if self._open and self._open[-1].mapping and self._open[-1].key is None and not self._open[-1].merge_next:
            raise self.fatal(mark, "a list or mapping stands where a key belongs", "write the key as one word")
        if anchor is not None:
            self._anchors[anchor] = None
        self._open.append(_Frame(mark, mapping, anchor))

    def _end(self) -> None:
        frame = self._open.pop()
        node: Node
        if frame.mapping:
            for merged in frame.merges:
                for key, entry in merged.entries.items():
                    frame.entries.setdefault(key, entry)
            node = Mapping(frame.entries, frame.mark)
        else:
            node = Sequence(tuple(frame.items), frame.mark)
        if frame.anchor is not None:
            self._anchors[frame.anchor] = (node, frame.size)
        self._add(node, frame.size)

    def _alias(self, event: yaml.AliasEvent) -> None:
        mark, name = _mark(event), event.anchor or ""
        if name not in self._anchors:
            raise self.fatal(mark, f"the alias *{name[:60]} has no anchor before it", f"define &{name[:60]} first")
        target = self._anchors[name]
        if target is None:
            raise self.fatal(mark, f"the alias *{name[:60]} stands inside its own anchor", "remove the loop")
        node, size = target
        if isinstance(node, Scalar):
            node = node._replace(mark=mark)  # a fault in a shared scalar is told where it is used
        self._add(node, size, mark)

    def _add(self, node: Node, size: int, at: Mark | None = None) -> None:
        if not self._open:
            self.root = node
            return
        frame = self._open[-1]
        frame.size += size
        if frame.size > MAX_NODES:
            raise self.fatal(
                at or node.mark,
                f"aliases unfold to more than {MAX_NODES} values",
                "use fewer aliases of aliases",
            )
        if not frame.mapping:
            frame.items.append(node)
        elif frame.merge_next:
            frame.merge_next = False
            self._merge(frame, node, at or node.mark)
        elif frame.key is None:
            self._key(frame, node, at or node.mark)
        else:
            name, mark = frame.key
            frame.key = None
            self._entry(frame, name, mark, node)

    def _key(self, frame: _Frame, node: Node, mark: Mark) -> None:
        if not isinstance(node, Scalar):
            raise self.fatal(mark, "a list or mapping stands where a key belongs", "write the key as one word")
        if node.plain and node.text == "<<":
            frame.merge_next = True
        else:
            frame.key = (node.text, mark)

    def _entry(self, frame: _Frame, name: str, mark: Mark, node: Node) -> None:
        first = frame.entries.get(name)
        if first is None:
            frame.entries[name] = (mark, node)
            return
        line, column = first[0]
        self._report(
            mark,
            f"the key `{name[:60]}` is repeated: it stands at {line}:{column} already",
            "keep one of the two",
            path=self._path(name),
        )

    def _path(self, name: str) -> str:
        path = ""
        for frame in self._open[:-1]:
            step = f"[{len(frame.items)}]" if not frame.mapping else f".{frame.key[0][:60]}" if frame.key else ".<<"
            path += step
        return f"{path}.{name[:60]}".removeprefix(".")

    def _merge(self, frame: _Frame, node: Node, mark: Mark) -> None:
        sources = node.items if isinstance(node, Sequence) else (node,)
        for source in sources:
            if not isinstance(source, Mapping):
                raise self.fatal(mark, "`<<` merges mappings only", "give it *alias or a list of aliases")
            frame.merges.append(source)

    def _report(self, mark: Mark, message: str, remedy: str, path: str = "") -> None:
        self.problems.append(Problem(Severity.ERROR, self.source, mark.line, mark.column, path, message, remedy))


def _mark(event: yaml.Event) -> Mark:
    start = event.start_mark
    return Mark(1, 1) if start is None else Mark(start.line + 1, start.column + 1)


def _remedy(what: str) -> str:
    if "tab" in what or "\\t" in what or "cannot start any token" in what:
        return "indent with spaces, and quote a value that begins with a special character"
    if "mapping values are not allowed" in what:
        return "quote a value that holds `: `, or check the indentation"
    if "did not find expected" in what or "expected <block end>" in what:
        return "check the indentation, and that brackets and quotes are closed"
    return "check the indentation, quotes and brackets before this place"
