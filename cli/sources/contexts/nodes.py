"""A YAML or JSON text as a tree in which every value has its position.

Scalars stay text: `on` and `0123` are names like any other; only a plain `null`, `~` or an empty value is None.
Anchors, aliases, tags and second documents are refused: no configuration needs them, and the value of an alias is
not visible where the alias is used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, TypeAlias

import yaml

MAX_DEPTH = 8
"""Maximum depth: no configuration is half as deep, and deeper files are hostile."""

MAX_VALUES = 40_000
"""Maximum number of values: a thousand contexts with every setting have fewer."""

MAX_SHOWN = 60

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
# The wheels of PyYAML bring libyaml; a build without it reads the same files, slower.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class MalformedText(ValueError):
    """The text is not a tree; `line` and `column` are 1-based. The message never quotes a value."""

    def __init__(self, line: int, column: int, message: str) -> None:
        super().__init__(message)
        self.line, self.column = line, column


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSpan:
    """The position of a value: line and column are 1-based; begin and end are indices into the text."""

    line: int
    column: int
    begin: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarNode:
    """A scalar; None for null. The text may be a secret: repr hides it."""

    span: TextSpan
    text: str | None
    plain: bool

    def __repr__(self) -> str:
        return f"Scalar(line={self.span.line}, column={self.span.column})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """A list. The span of one in block style ends with its last item."""

    span: TextSpan
    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingEntry:
    """A key and its value."""

    key: ScalarNode
    name: str
    value: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingNode:
    """A mapping. The span of one in block style ends with its last value."""

    span: TextSpan
    entries: dict[str, MappingEntry]
    flow: bool
    """Whether the mapping is written in braces."""


Node: TypeAlias = ScalarNode | Items | MappingNode
Plain: TypeAlias = "str | list[Plain] | dict[str, Plain] | None"


def parse_nodes(text: str) -> Node | None:
    """The tree of a text; None if it has only comments. :raises MalformedText:"""
    strange = _UNPRINTABLE.search(text)
    if strange is not None:
        line = text.count("\n", 0, strange.start()) + 1
        column = strange.start() - text.rfind("\n", 0, strange.start())
        raise MalformedText(
            line, column, f"the character U+{ord(strange[0]):04X} is not allowed in a text file"
        )
    try:
        return _Events(text).document()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = str(getattr(error, "problem", None) or "it cannot be parsed")
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        is_tab = mark is not None and text[mark.index : mark.index + 1] == "\t"
        hint = "; indent with spaces, not with tabs" if is_tab else ""
        raise MalformedText(line, column, f"not YAML: {problem}{hint}") from None


def plain(node: Node | None) -> Plain:
    """The values without their positions."""
    if isinstance(node, MappingNode):
        return {name: plain(entry.value) for name, entry in node.entries.items()}
    if isinstance(node, Items):
        return [plain(each) for each in node.nodes]
    return None if node is None else node.text


class _Events:
    """Builds the tree from the parser's events, so that a deep file fails early instead of overflowing the stack."""

    def __init__(self, text: str) -> None:
        self.parser = _Loader(text)
        self.seen = 0

    def document(self) -> Node | None:
        event = self._next()
        while isinstance(event, yaml.StreamStartEvent | yaml.DocumentStartEvent):
            event = self._next()
        if isinstance(event, yaml.StreamEndEvent):
            return None
        tree = self._node(event, 0)
        self._next()
        extra = self._next()
        if not isinstance(extra, yaml.StreamEndEvent):
            raise _malformed(extra, "a second YAML document; only one is allowed")
        is_empty = isinstance(tree, ScalarNode) and tree.text is None
        return None if is_empty else tree

    def _next(self) -> Any:
        return self.parser.get_event()

    def _node(self, event: Any, depth: int) -> Node:
        self.seen += 1
        if self.seen > MAX_VALUES:
            raise _malformed(event, f"more than {MAX_VALUES} values, too many for a configuration file")
        if isinstance(event, yaml.AliasEvent) or event.anchor:
            raise _malformed(
                event, "anchors and aliases (& and *) are not supported here; write the value out"
            )
        if event.tag not in (None, "!"):
            raise _malformed(event, "tags (!) are not supported here; write the plain value")
        if isinstance(event, yaml.ScalarEvent):
            is_plain = not event.style or event.style == ":"
            text = None if is_plain and event.value in _NULLS else event.value
            return ScalarNode(span=_span(event, _end(event)), text=text, plain=is_plain)
        if depth >= MAX_DEPTH:
            raise _malformed(event, f"nested more than {MAX_DEPTH} levels deep")
        return (
            self._items(event, depth)
            if isinstance(event, yaml.SequenceStartEvent)
            else self._fields(event, depth)
        )

    def _items(self, start: Any, depth: int) -> Items:
        nodes: list[Node] = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            nodes.append(self._node(event, depth + 1))
        end = nodes[-1].span.end if nodes and not start.flow_style else _end(event)
        return Items(span=_span(start, end), nodes=tuple(nodes))

    def _fields(self, start: Any, depth: int) -> MappingNode:
        entries: dict[str, MappingEntry] = {}
        end = _end(start)
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            key = self._node(event, MAX_DEPTH) if isinstance(event, yaml.ScalarEvent) else None
            if not isinstance(key, ScalarNode):
                raise _malformed(event, "a key that is not a plain word")
            name = event.value
            if name in entries:
                first = entries[name].key.span.line
                raise _malformed(event, f"the key {clipped(name)!r} is used twice; line {first} has it first")
            entries[name] = MappingEntry(key=key, name=name, value=self._node(self._next(), depth + 1))
            end = entries[name].value.span.end
        if start.flow_style:
            end = _end(event)
        return MappingNode(span=_span(start, end), entries=entries, flow=bool(start.flow_style))


def clipped(text: str, length: int = MAX_SHOWN) -> str:
    """Text for a message, shortened if it is long."""
    return text if len(text) <= length else f"{text[:length]}…"


def _span(event: Any, end: int) -> TextSpan:
    mark = event.start_mark
    return TextSpan(line=mark.line + 1, column=mark.column + 1, begin=mark.index, end=end)


def _end(event: Any) -> int:
    return int(event.end_mark.index)


def _malformed(event: Any, message: str) -> MalformedText:
    return MalformedText(event.start_mark.line + 1, event.start_mark.column + 1, message)
