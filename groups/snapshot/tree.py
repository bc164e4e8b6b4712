"""A YAML or JSON file as a tree of plain values, and where in the file each of them stands.

Every scalar stays the text that it was (JSON numbers stay numbers): the schema, not the look of a word,
decides what is a number, so a topic called `on` or `0123` keeps its name. Only a plain `null`, `~` or
nothing at all is None. Lines are found by a second pass, and only when there is something to complain of.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from groups.errors import GroupsError

MAX_DEPTH = 32
"""No snapshot is half as deep; deeper files are hostile."""

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
# The wheels of PyYAML bring libyaml; a build without it reads the same files, slower.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class SnapshotError(GroupsError):
    """A file that is no snapshot: says which file, which line and which field."""

    def __init__(self, file: Path, line: int | None, field: str, message: str) -> None:
        self.file, self.line, self.field, self.message = file, line, field, message
        place = f"{file}:{line}" if line else str(file)
        super().__init__(f"{place}: {field + ': ' if field else ''}{message}")


def load_tree(file: Path, text: str) -> Any:
    """Parse; a syntax error, a repeated key or a file that is too deep is a SnapshotError."""
    if text.lstrip()[:1] == "{":
        try:
            tree = json.loads(text, object_pairs_hook=_unique_pairs)
            _refuse_half_characters(text, tree)
            return tree
        except (ValueError, RecursionError):
            pass  # flow-style YAML begins the same way; its parser also says where the error stands
    try:
        return _Events(file, text).document()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
        line = mark.line + 1 if mark else None
        raise SnapshotError(file, line, "", f"not YAML or JSON: {problem}") from None


def line_of(text: str, path: Sequence[str | int]) -> int | None:
    """The line, from 1, on which the value at a path stands; its nearest parent's where it is missing."""
    try:
        node = yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError:
        return None
    line = None
    for step in [*path, None]:
        if node is None:
            break
        line = node.start_mark.line + 1
        if isinstance(node, yaml.MappingNode):
            found = [(key, value) for key, value in node.value if key.value == str(step)]
            if not found:
                break
            line, node = found[0][0].start_mark.line + 1, found[0][1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
        else:
            break
    return line


def _unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("repeated key")
    return result


def _refuse_half_characters(text: str, tree: Any) -> None:
    """JSON's escapes can write half of a surrogate pair: no text, and nothing could print it."""
    if "\\ud" in text.lower():
        json.dumps(tree, ensure_ascii=False).encode()


class _Events:
    """Builds the tree from the parser's events."""

    def __init__(self, file: Path, text: str) -> None:
        self.file = file
        self.parser = _Loader(text)
        self.anchors: dict[str, Any] = {}

    def document(self) -> Any:
        event = self._next()
        while isinstance(event, yaml.StreamStartEvent | yaml.DocumentStartEvent):
            event = self._next()
        if isinstance(event, yaml.StreamEndEvent):
            return None
        tree = self._value(event, 0)
        self._next()
        extra = self._next()
        if not isinstance(extra, yaml.StreamEndEvent):
            raise self._error(extra, "a second YAML document; one is wanted")
        return tree

    def _next(self) -> Any:
        return self.parser.get_event()

    def _error(self, event: Any, message: str) -> SnapshotError:
        return SnapshotError(self.file, event.start_mark.line + 1, "", message)

    def _value(self, event: Any, depth: int) -> Any:
        kind = type(event)
        if kind is yaml.ScalarEvent:
            value = None if event.implicit[0] and event.value in _NULLS and not event.style else event.value
        elif kind is yaml.AliasEvent:
            if event.anchor not in self.anchors:
                raise self._error(event, f"the alias *{event.anchor} has no anchor")
            return self.anchors[event.anchor]
        elif depth >= MAX_DEPTH:
            raise self._error(event, f"nested more than {MAX_DEPTH} levels deep")
        elif kind is yaml.SequenceStartEvent:
            value = self._sequence(depth)
        else:
            value = self._mapping(depth)
        if event.anchor:
            self.anchors[event.anchor] = value
        return value

    def _sequence(self, depth: int) -> list[Any]:
        values: list[Any] = []
        get_event, scalar = self.parser.get_event, yaml.ScalarEvent
        while not isinstance(event := get_event(), yaml.SequenceEndEvent):
            if type(event) is scalar and event.value not in _NULLS and not event.anchor:
                values.append(event.value)
            else:
                values.append(self._value(event, depth + 1))
        return values

    def _mapping(self, depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        while not isinstance(key := self._next(), yaml.MappingEndEvent):
            if type(key) is not yaml.ScalarEvent:
                raise self._error(key, "a key that is not a plain word")
            if key.value in values:
                raise self._error(key, f"the key {key.value!r} stands here twice")
            values[key.value] = self._value(self._next(), depth + 1)
        return values
