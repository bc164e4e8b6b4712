"""Bytes of records as text: what they are, and their lines for people."""

import json
import re
from codecs import getincrementaldecoder
from dataclasses import dataclass
from enum import Enum


class ShownAs(Enum):
    """How bytes are shown: `auto` is JSON, else text, else hex."""

    AUTO = "auto"
    TEXT = "text"
    JSON = "json"
    HEX = "hex"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownBytes:
    """The lines of some bytes, and what they are: `JSON`, `text`, `hex`."""

    kind: str
    lines: tuple[str, ...]


_PREFIX = 5  # A zero byte and the number of a schema
_HEX_COLUMNS = 16
_BLANKS = "\t\n\r"
_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+')


def shown_bytes(data: bytes, form: ShownAs, *, is_cut: bool = False) -> ShownBytes:
    """`data` in a form. What is not valid in the requested form is shown as text, and what is no text as hex; only
    `text` shows any bytes, those that are not UTF-8 as \\xNN. `is_cut`: more bytes follow, and may end a character."""
    text = utf8(data, is_cut=is_cut)
    if form is ShownAs.TEXT:
        return ShownBytes(kind="text", lines=_lines(_any_text(data)))
    if form is not ShownAs.HEX and text is not None:
        if not is_cut and (indented := indented_json(text, any_value=form is ShownAs.JSON)):
            return ShownBytes(kind="JSON", lines=indented)
        if form is ShownAs.JSON or all(letter.isprintable() or letter in _BLANKS for letter in text):
            kind = "text, not JSON" if form is ShownAs.JSON and not is_cut else "text"
            return ShownBytes(kind=kind, lines=_lines(text))
    kind = "hex"
    if form is not ShownAs.HEX and data[:1] == b"\0" and len(data) >= _PREFIX:
        kind = f"hex, with schema id {int.from_bytes(data[1:_PREFIX])} if a Schema Registry's client wrote it"
    return ShownBytes(kind=kind, lines=_hex_lines(data))


def in_line(data: bytes, form: ShownAs) -> str:
    """`data`, which may be cut off, as one text; in hex if it is no text."""
    text = None if form is ShownAs.HEX else utf8(data, is_cut=True)
    if text is not None:
        return text
    return _any_text(data) if form is ShownAs.TEXT else data.hex(" ")


def _any_text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")


def utf8(data: bytes, *, is_cut: bool = False) -> str | None:
    """The text of bytes in UTF-8, without an unfinished character at a cut; None if they are no UTF-8."""
    try:
        return getincrementaldecoder("utf-8")().decode(data, final=not is_cut)
    except UnicodeDecodeError:
        return None


def indented_json(text: str, *, any_value: bool = True) -> tuple[str, ...] | None:
    """The lines of a JSON text, its numbers, escapes and keys as they are; None if it is no JSON, or neither an object
    nor an array unless it may be `any_value`."""
    if not any_value and not text.lstrip().startswith(("{", "[")):
        return None
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return None
    lines, line, depth, before = list[str](), "", 0, ""
    for word in _WORD.findall(text):
        opened, closes = before in ("[", "{"), word in ("]", "}")
        depth -= closes
        if (opened or closes or before == ",") and not (opened and closes):
            lines.append(line)
            line = "  " * depth
        line += f"{word} " if word == ":" else word
        depth += word in ("[", "{")
        before = word
    return (*lines, line)


def _lines(text: str) -> tuple[str, ...]:
    return tuple(text.removesuffix("\n").replace("\r\n", "\n").split("\n"))


def _hex_lines(data: bytes) -> tuple[str, ...]:
    rows = (data[start : start + _HEX_COLUMNS] for start in range(0, len(data), _HEX_COLUMNS))
    return tuple(
        f"{number * _HEX_COLUMNS:06x}  {row.hex(' '):47}  "
        + "".join(chr(octet) if 0x20 <= octet < 0x7F else "." for octet in row)
        for number, row in enumerate(rows)
    )
