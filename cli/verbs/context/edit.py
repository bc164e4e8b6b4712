"""Changes to the text of a configuration file that keep its other text: comments, order, quotes, line ends.

Each change defines the resulting tree of values. `changed` parses the new text, and fails if its tree differs:
then the file must be edited by hand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from cli.sources.contexts.nodes import (
    MalformedText,
    MappingEntry,
    MappingNode,
    Plain,
    ScalarNode,
    TextSpan,
    parse_nodes,
    plain,
)

Fragment: TypeAlias = "str | list[Fragment] | dict[str, Fragment]"
"""A value to write: texts, lists and mappings of them."""

INDENT = "  "
LAST_PLANE_0 = 0xFFFF
_SAFE = re.compile(r"[A-Za-z0-9_./][\w./@+%-]*(?::[\w./@+%-]+)*(?:,[\w./@+%-]+(?::[\w./@+%-]+)*)*", re.ASCII)
_WORDS = frozenset({"null", "yes", "no", "on", "off"})
_LINE_END = re.compile(r"\r\n|\n|\r")


class CannotEdit(ValueError):
    """A change cannot keep the layout of the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Splice:
    """Text that replaces another."""

    begin: int
    end: int
    text: str


class Editor:
    """A text that can be changed. Every method returns the whole new text. :raises CannotEdit:"""

    def __init__(self, text: str) -> None:
        """Parse the text. :raises MalformedText: it is not a tree"""
        self.text = text
        root = parse_nodes(text)
        if root is not None and not isinstance(root, MappingNode):
            raise CannotEdit("it is not a mapping")
        self.root = root
        self.newline = found[0] if (found := _LINE_END.search(text)) else "\n"

    def use(self, name: str | None) -> str:
        """Make a context the current one; None unsets it."""
        expected = self._tree()
        if name is None:
            expected.pop("current", None)
            entry = self._top("current")
            return self._changed([] if entry is None else [self._without(self._root(), entry)], expected)
        expected["current"] = name
        return self._changed([self._current(name)], expected)

    def add(self, name: str, context: Mapping[str, Fragment], *, current: bool) -> str:
        """Add a context after the others."""
        expected = self._tree()
        contexts = expected.get("contexts") or {}
        if not isinstance(contexts, dict) or name in contexts:
            raise CannotEdit(f"{name} cannot be added")
        expected["contexts"] = {**contexts, name: _as_plain(context)}
        if current:
            expected["current"] = name
        top: dict[str, Fragment] = {"current": name} if current else {}
        whole: dict[str, Fragment] = {**top, "contexts": {name: dict(context)}}
        if self.root is None:
            splices = [self._block(len(self.text), whole, 0)]
        elif not self.root.entries:
            splices = [_replaced(self.root.span, _in_quotes(whole))]
        else:
            splices = [self._added(name, dict(context)), *([self._current(name)] if current else [])]
        return self._changed(splices, expected)

    def remove(self, name: str) -> str:
        """Remove a context and the comments in it; if it is the current one, unset the current context."""
        expected = self._tree()
        contexts = self._contexts()
        expected["contexts"] = {
            key: value for key, value in _mapping(expected["contexts"]).items() if key != name
        }
        if not expected["contexts"] and not contexts.flow:
            expected["contexts"] = None
        splices = [self._without(contexts, contexts.entries[name])]
        if expected.get("current") == name:
            del expected["current"]
            splices.append(self._without(self._root(), self._root().entries["current"]))
        return self._changed(splices, expected)

    def rename(self, name: str, new: str) -> str:
        """Rename a context."""
        expected = self._tree()
        contexts = self._contexts()
        expected["contexts"] = {
            new if key == name else key: value for key, value in _mapping(expected["contexts"]).items()
        }
        splices = [_renamed(contexts.entries[name].key, new)]
        if expected.get("current") == name:
            expected["current"] = new
            splices.append(self._current(new))
        return self._changed(splices, expected)

    def comments_in(self, name: str) -> int:
        """The number of comment lines in a context."""
        contexts = self._contexts()
        splice = self._without(contexts, contexts.entries[name])
        lines = _LINE_END.split(self.text[splice.begin : splice.end])
        return sum(line.lstrip().startswith("#") for line in lines)

    def _tree(self) -> dict[str, Plain]:
        return _mapping(plain(self.root)) if self.root is not None else {}

    def _root(self) -> MappingNode:
        if self.root is None:
            raise CannotEdit("it is empty")
        return self.root

    def _top(self, key: str) -> MappingEntry | None:
        return None if self.root is None else self.root.entries.get(key)

    def _contexts(self) -> MappingNode:
        entry = self._top("contexts")
        if entry is None or not isinstance(entry.value, MappingNode):
            raise CannotEdit("it has no contexts")
        return entry.value

    def _changed(self, splices: list[_Splice], expected: Mapping[str, Plain]) -> str:
        text = self.text
        for splice in sorted(splices, key=lambda each: each.begin, reverse=True):
            text = text[: splice.begin] + splice.text + text[splice.end :]
        try:
            root = parse_nodes(text)
        except MalformedText:
            root = None
        found = {} if root is None else plain(root)
        if found != expected:
            raise CannotEdit("the change would alter something else in it")
        return text

    def _current(self, name: str) -> _Splice:
        entry = self._top("current")
        if entry is not None:
            if not isinstance(entry.value, ScalarNode):
                raise CannotEdit("current is not a name")
            return _renamed(entry.value, name)
        root = self._root()
        if root.flow:
            begin = root.span.begin + 1
            return _Splice(begin=begin, end=begin, text=f'"current": {_in_quotes(name)}, ')
        begin = root.span.begin
        indent = " " * (root.span.column - 1)
        return _Splice(begin=begin, end=begin, text=f"current: {quoted(name)}{self.newline}{indent}")

    def _added(self, name: str, context: dict[str, Fragment]) -> _Splice:
        entry = self._top("contexts")
        root = self._root()
        if root.flow:
            if entry is None:
                return self._in_braces(root, {"contexts": {name: context}})
            if not isinstance(entry.value, MappingNode):
                return _replaced(entry.value.span, _in_quotes({name: context}))
        if entry is not None and isinstance(entry.value, MappingNode) and entry.value.flow:
            if entry.value.entries or root.flow:
                return self._in_braces(entry.value, {name: context})
            return self._below(entry, name, context)
        if entry is not None and isinstance(entry.value, MappingNode):
            first = next(iter(entry.value.entries.values()))
            return self._block(
                self._line_end(entry.value.span.end), {name: context}, first.key.span.column - 1
            )
        if entry is not None:
            return self._below(entry, name, context)
        return self._block(self._line_end(root.span.end), {"contexts": {name: context}}, root.span.column - 1)

    def _below(self, entry: MappingEntry, name: str, context: dict[str, Fragment]) -> _Splice:
        """Write the first context in place of `{}` or an empty value."""
        span = entry.value.span
        lines = _lines({name: context}, entry.key.span.column - 1 + len(INDENT))
        line_end = self._line_end(span.end)
        comment = self.text[span.end : line_end].strip()
        head = f" {comment}{self.newline}" if comment else self.newline
        return _Splice(
            begin=len(self.text[: span.begin].rstrip(" \t")),
            end=line_end,
            text=head + "".join(f"{line}{self.newline}" for line in lines),
        )

    def _block(self, position: int, fragment: dict[str, Fragment], column: int) -> _Splice:
        text = "".join(f"{line}{self.newline}" for line in _lines(fragment, column))
        # The last line of a file may have no end.
        is_inside = position > 0 and self.text[position - 1] not in "\r\n"
        return _Splice(begin=position, end=position, text=self.newline + text if is_inside else text)

    def _in_braces(self, fields: MappingNode, fragment: dict[str, Fragment]) -> _Splice:
        end = fields.span.end - 1
        inner = _in_quotes(fragment)[1:-1]
        if not fields.entries:
            return _Splice(begin=end, end=end, text=inner)
        last = list(fields.entries.values())[-1].value.span.end
        return _Splice(begin=last, end=last, text=f", {inner}")

    def _without(self, parent: MappingNode, entry: MappingEntry) -> _Splice:
        names = list(parent.entries)
        position = names.index(entry.name)
        if parent.flow:
            if position + 1 < len(names):
                return _Splice(
                    begin=entry.key.span.begin,
                    end=parent.entries[names[position + 1]].key.span.begin,
                    text="",
                )
            begin = parent.entries[names[position - 1]].value.span.end if position else entry.key.span.begin
            return _Splice(begin=begin, end=entry.value.span.end, text="")
        begin = entry.key.span.begin - (entry.key.span.column - 1)
        return _Splice(begin=begin, end=self._line_end(entry.value.span.end), text="")

    def _line_end(self, position: int) -> int:
        """The position after the line that contains or ends at a position."""
        if position > 0 and self.text[position - 1] in "\r\n":
            return position
        found = _LINE_END.search(self.text, position)
        return len(self.text) if found is None else found.end()


def quoted(text: str) -> str:
    """A word as YAML: unquoted if it is unambiguous."""
    if _SAFE.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return _in_quotes(text)


def _in_quotes(value: Fragment) -> str:
    """JSON, which is YAML too; characters that separate lines only in YAML are escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return "".join(
        each if each.isprintable() or ord(each) > LAST_PLANE_0 else f"\\u{ord(each):04x}" for each in text
    )


def _lines(fragment: Mapping[str, Fragment], column: int) -> list[str]:
    lines: list[str] = []
    for key, value in fragment.items():
        head = f"{' ' * column}{quoted(key)}:"
        if isinstance(value, str):
            lines.append(f"{head} {quoted(value)}")
        elif isinstance(value, list):
            lines.append(head)
            lines += [f"{' ' * column}{INDENT}- {quoted(str(each))}" for each in value]
        elif not value:
            lines.append(f"{head} {{}}")
        elif set(value) in ({"env"}, {"file"}, {"command"}) and all(
            isinstance(each, str) for each in value.values()
        ):
            inner = ", ".join(f"{name}: {_in_quotes(each)}" for name, each in value.items())
            lines.append(f"{head} {{{inner}}}")
        else:
            lines += [head, *_lines(value, column + len(INDENT))]
    return lines


def _as_plain(fragment: Mapping[str, Fragment]) -> dict[str, Plain]:
    return _mapping(json.loads(json.dumps(fragment)))


def _mapping(tree: Plain) -> dict[str, Plain]:
    if not isinstance(tree, dict):
        raise CannotEdit("it is not a mapping where one is expected")
    return dict(tree)


def _renamed(word: ScalarNode, name: str) -> _Splice:
    """Replace a name by another; the new name is quoted if the old one was."""
    if word.text is None:
        return _replaced(word.span, f" {quoted(name)}")
    return _replaced(word.span, quoted(name) if word.plain else _in_quotes(name))


def _replaced(span: TextSpan, text: str) -> _Splice:
    return _Splice(begin=span.begin, end=span.end, text=text)
