"""Bytes of records as text: what they are, and their lines for people."""

import json
import re
from base64 import b64encode
from codecs import getincrementaldecoder
from enum import Enum
from functools import cached_property


class ShownAs(Enum):
    """How bytes are shown: `auto` is JSON, else text, else hex."""

    AUTO = "auto"
    TEXT = "text"
    JSON = "json"
    HEX = "hex"


_PREFIX = 5  # A zero byte and the number of a schema
_HEX_COLUMNS = 16
_BLANKS = "\t\n\r"
_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+')


class ShownBytes:
    """The first bytes of a key, a value or a header, in a form. What is not valid in the requested form is shown as
    text, and what is no text in hex; only `text` shows any bytes, those that are not UTF-8 as \\xNN."""

    def __init__(
        self, data: bytes, form: ShownAs, *, limit: int | None = None, size: int | None = None
    ) -> None:
        """`size`: of the whole, if `data` is cut off already."""
        self.data, self.form = data[:limit], form
        self.size = len(data) if size is None else size

    @property
    def is_cut(self) -> bool:
        return len(self.data) < self.size

    @cached_property
    def utf8(self) -> str | None:
        """The text, without an unfinished character at a cut; None if it is no UTF-8."""
        try:
            return getincrementaldecoder("utf-8")().decode(self.data, final=not self.is_cut)
        except UnicodeDecodeError:
            return None

    @cached_property
    def kind_and_lines(self) -> tuple[str, tuple[str, ...]]:
        """What is shown, `JSON`, `text` or `hex`, and its lines."""
        text, form = self.utf8, self.form
        if form is ShownAs.TEXT:
            return "text", _lines(self._any_text)
        if form is not ShownAs.HEX and text is not None:
            if not self.is_cut and (indented := indented_json(text, any_value=form is ShownAs.JSON)):
                return "JSON", indented
            if form is ShownAs.JSON or all(letter.isprintable() or letter in _BLANKS for letter in text):
                return ("text, not JSON" if form is ShownAs.JSON and not self.is_cut else "text"), _lines(
                    text
                )
        kind = "hex"
        if form is not ShownAs.HEX and self.data[:1] == b"\0" and len(self.data) >= _PREFIX:
            schema = int.from_bytes(self.data[1:_PREFIX])
            kind = f"hex, with schema id {schema} if a Schema Registry's client wrote it"
        return kind, _hex_lines(self.data)

    @property
    def in_line(self) -> str:
        """A single text; in hex if it is no text."""
        if self.form is ShownAs.HEX or (self.utf8 is None and self.form is not ShownAs.TEXT):
            return self.data.hex(" ")
        return self._any_text if self.utf8 is None else self.utf8

    @property
    def encoded(self) -> tuple[str, str]:
        """The name of an encoding from which programs get the bytes, and the text in it."""
        if self.form is ShownAs.HEX:
            return "hex", self.data.hex()
        return ("base64", b64encode(self.data).decode()) if self.utf8 is None else ("utf-8", self.utf8)

    @property
    def _any_text(self) -> str:
        return self.data.decode("utf-8", "backslashreplace")


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
