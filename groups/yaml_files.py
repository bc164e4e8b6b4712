"""YAML and JSON files as trees of original texts (`on`, `0123`), positions of values in a file, and readable YAML."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Self

import yaml

from groups.trees import INT64, Between, GroupsError, Malformed, Trees, dotted
from wire.files import MEBIBYTE, read_bounded

_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./+=-]*")
_SURROGATE = re.compile(r"\\[uU][dD]")
_RESERVED = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
_BLOCK_DEPTH = 6  # the number of levels that may have one line per entry
_LONGEST_PLAIN_KEY = 1000  # YAML wants the colon within 1024 characters, or `? ` before the key
MAX_DEPTH = 32  # no snapshot is half as deep; a deeper file is malicious
_LONGEST_WORD = 24
MAX_BYTES = 8 * MEBIBYTE  # no file that people write is larger
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
# PyYAML's wheels contain libyaml; a build without it reads the same files more slowly.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class TreeError(GroupsError):
    """An invalid file: names the file, the line and the field; lines and (for editors) columns count from 1."""

    def __init__(
        self, file: Path, line: int | None, field: str, message: str, *, column: int | None = None
    ) -> None:
        self.file, self.line, self.column, self.field, self.message = file, line, column, field, message
        self.place = f"{file}:{line}" if line else str(file)
        super().__init__(f"{self.place}: {field + ': ' if field else ''}{message}")

    @classmethod
    def at(cls, file: Path, text: str, error: Malformed) -> Self:
        """The error for a value of the file that `groups.trees` refused."""
        line, column = position_of(text, error.path) or (None, None)
        return cls(file, line, dotted(error.path), error.message, column=column)


def read_text(file: Path, opened: BinaryIO | None = None, most: int = MAX_BYTES) -> str:
    """The text of a file, or `opened`, of at most `most` bytes; TreeError if unreadable, larger, or not UTF-8."""
    try:
        return read_bounded(file if opened is None else opened, most).decode("utf-8-sig")
    except OSError as error:
        raise TreeError(file, None, "", f"cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise TreeError(file, None, "", f"not a text file in UTF-8 (byte {error.start})") from None


_READERS = {
    "plan": "`kohort gate` and `kohort rehearse` read it",
    "recording": "`kohort watch --replay` reads it",
    "scenario": "`kohort simulate` reads it",
    "snapshot": "--snapshot reads it",
}


def check_kind(tree: object, kind: str) -> None:
    """Refuse a file of another kind. Raises Malformed: names that kind and the command or option that reads it."""
    actual = _kind_of(tree)
    if actual not in (None, kind):
        raise Malformed(f"this is a {actual}, not a {kind}: {_READERS[actual]}")


def _kind_of(tree: object) -> str | None:
    if not isinstance(tree, dict) or "kohort" not in tree:
        return None
    if "command" in tree:
        return {"plan": "plan", "watch": "recording"}.get(str(tree["command"]))
    if "members" in tree:
        return "scenario"
    return "snapshot" if "cluster" in tree else None


def check_format(tree: object, newest: int, kind: str) -> None:
    """Check that a tree is a file of this `kind` with `kohort: N`, N at most `newest`. Raises Malformed: if not."""
    check_kind(tree, kind)
    if not isinstance(tree, dict) or "kohort" not in tree:
        raise Malformed(f"missing: this is not a {kind}; one starts with `kohort: {newest}`", "kohort")
    check_newest(tree, newest)


def check_newest(tree: Mapping[str, object], newest: int) -> None:
    """Check that the format of a file is known. Raises Malformed: it is newer, or not a number."""
    try:
        version = Trees().read(Annotated[int, Between(1, INT64)], tree["kohort"])
    except Malformed as error:
        raise error.below("kohort") from None
    if version > newest:
        message = f"format {version} is newer than this Kohort reads ({newest}); upgrade Kohort"
        raise Malformed(message, "kohort")


def load_tree(file: Path, text: str) -> Any:
    """Parse a file of one document. TreeError for a syntax error, a repeated key or a file that is nested too deep."""
    (tree,) = _load(file, text, one=True)
    return tree


def load_trees(file: Path, text: str) -> list[Any]:
    """Parse a file of one or more documents; an empty one is None. TreeError as `load_tree`."""
    return _load(file, text, one=False)


def _load(file: Path, text: str, *, one: bool) -> list[object]:
    if text.lstrip()[:1] == "{":
        try:
            tree = json.loads(text, object_pairs_hook=_unique_pairs)
            if _SURROGATE.search(text):
                json.dumps(tree, ensure_ascii=False).encode()
            return [tree]
        except (ValueError, RecursionError):
            pass  # flow-style YAML starts the same way; its parser also reports the place of the error
    try:
        return list(_Events(file, text).documents(one=one))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        raise TreeError(file, line, "", f"not YAML or JSON: {problem}", column=column) from None


def position_of(text: str, path: Sequence[str | int]) -> tuple[int, int] | None:
    """Line and column, from 1, of the value at a path; if it is missing, of its nearest parent."""
    node = _composed(text)
    mark = None
    for step in [*path, None]:
        if node is None:
            break
        mark = node.start_mark
        if isinstance(node, yaml.MappingNode):
            entries = [(key, value) for key, value in node.value if key.value == str(step)]
            if not entries:
                break
            mark, node = entries[0][0].start_mark, entries[0][1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
        else:
            break
    return None if mark is None else (mark.line + 1, mark.column + 1)


@lru_cache(maxsize=1)
def _composed(text: str) -> Any:
    """The file with the positions of its values, cached for all its errors; None if it is not YAML."""
    try:
        return yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError:
        return None


def line_of(text: str, path: Sequence[str | int]) -> int | None:
    position = position_of(text, path)
    return None if position is None else position[0]


def _unique_pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("repeated key")
    return result


class _Events:
    def __init__(self, file: Path, text: str) -> None:
        self.file = file
        self.parser = _Loader(text)
        self.anchors: dict[str, object] = {}
        self.words: dict[str, str] = {}
        """The keys and short values of the file, each stored once: a large file repeats a few."""

    def documents(self, *, one: bool) -> Iterator[object]:
        self._next()
        event = self._next()
        if isinstance(event, yaml.StreamEndEvent):
            yield None
        while not isinstance(event, yaml.StreamEndEvent):
            self.anchors.clear()
            yield self._value(self._next(), 0)
            self._next()
            event = self._next()
            if one and not isinstance(event, yaml.StreamEndEvent):
                raise self._error(event, "a second YAML document; only one is allowed")

    def _next(self) -> object:
        return self.parser.get_event()

    def _error(self, event: Any, message: str) -> TreeError:
        mark = event.start_mark
        return TreeError(self.file, mark.line + 1, "", message, column=mark.column + 1)

    def _value(self, event: Any, depth: int) -> object:
        kind = type(event)
        value: object
        if kind is yaml.ScalarEvent:
            is_null = event.implicit[0] and event.value in _NULLS and not event.style
            value = None if is_null else self._word(event)
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

    def _sequence(self, depth: int) -> list[object]:
        values: list[object] = []
        get_event, scalar = self.parser.get_event, yaml.ScalarEvent
        while not isinstance(event := get_event(), yaml.SequenceEndEvent):
            if type(event) is scalar and event.value not in _NULLS and not event.anchor:
                values.append(self._word(event))
            else:
                values.append(self._value(event, depth + 1))
        return values

    def _mapping(self, depth: int) -> dict[str, object]:
        values: dict[str, object] = {}
        while not isinstance(key := self._next(), yaml.MappingEndEvent):
            if type(key) is not yaml.ScalarEvent:
                raise self._error(key, "a key that is not a plain word")
            if key.value in values:
                raise self._error(key, f"the key {key.value!r} is listed twice")
            values[self._word(key)] = self._value(self._next(), depth + 1)
        return values

    def _word(self, scalar: Any) -> str:
        text: str = scalar.value
        return self.words.setdefault(text, text) if len(text) <= _LONGEST_WORD else text


def yaml_lines(tree: Mapping[str, object] | Iterable[tuple[str, object]], *, depth: int = 0) -> Iterator[str]:
    """The lines of a YAML document that any YAML 1.1 or 1.2 reader reads as the same values. Fields may be given one by
    one, also those at a `depth` below a key, and entries as a sequence that is computed when it is read."""
    return _lines(tree.items() if isinstance(tree, Mapping) else tree, depth)


def _lines(fields: Iterable[tuple[object, object]], depth: int) -> Iterator[str]:
    indent = "  " * depth
    for key, item in fields:
        if item and depth < _BLOCK_DEPTH and isinstance(item, dict) and _wants_block(item):
            yield f"{_key(key, indent)}:\n"
            yield from _lines(item.items(), depth + 1)
        elif item and isinstance(item, Sequence) and isinstance(item[0], dict):
            yield f"{_key(key, indent)}:\n"
            for entry in item:
                lines = "".join(_lines(entry.items(), depth + 2))
                yield f"{indent}  - {lines.lstrip()}"
        else:
            yield f"{_key(key, indent)}: {_flow(item)}\n"


def _key(key: object, indent: str) -> str:
    text = _flow(key)
    return f"{indent}{text}" if len(text) <= _LONGEST_PLAIN_KEY else f"{indent}? {text}\n{indent}"


def _flow_key(key: object) -> str:
    text = _flow(key)
    return text if len(text) <= _LONGEST_PLAIN_KEY else f"? {text} "


def _wants_block(value: Mapping[object, object]) -> bool:
    """Whether a mapping is written with one line per entry; small mappings of scalars stay on one line, unless they are
    texts by number: lines of offsets."""
    key, first = next(iter(value.items()))
    is_lines = isinstance(key, int) and isinstance(first, str)
    return is_lines or len(value) > 8 or any(isinstance(item, dict | list) for item in value.values())


def _flow(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flow_key(key)}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, str):
        return _scalar(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


@lru_cache(maxsize=4096)
def _scalar(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _RESERVED:
        return text
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    code = ord(character)
    if character in '"\\':
        return "\\" + character
    if 0x20 <= code < 0x7F or 0xA0 <= code < 0xD800 or 0xE000 <= code < 0xFEFF:
        return "\\u2028" if code == 0x2028 else "\\u2029" if code == 0x2029 else character
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
