"""Texts as Java reads them: UTF-8, numbers, and .properties files (`java.util.Properties.load`, but in UTF-8). Broken
bytes become U+FFFD. Python's own "replace" differs only for encoded surrogates: it replaces each byte, Java the
character."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

JAVA = "kohort-java"  # name of the error handler: ``data.decode("utf-8", JAVA)``
REPLACEMENT = "\ufffd"
_FIRST_BYTE_OF_SURROGATES = 0xED


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    data, start, end = error.object, error.start, error.end
    if data[start] == _FIRST_BYTE_OF_SURROGATES and _continues(data, start + 1):
        # A surrogate, complete or cut off, is one character.
        end = start + 2 + _continues(data, start + 2)
    return REPLACEMENT, end


def _continues(data: bytes, position: int) -> bool:
    return position < len(data) and data[position] & 0xC0 == 0x80


codecs.register_error(JAVA, _replace)


_UP_TO_SPACE = "".join(map(chr, range(0x21)))


def trim(text: str) -> str:
    """The text without the characters up to U+0020 at both ends: control characters, but not Unicode's other spaces."""
    return text.strip(_UP_TO_SPACE)


def length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def parse_number(text: str) -> int:
    """Parse as `Long.parseLong`, of any size: no space and no underscore. Raises ValueError: it is not a number."""
    if "_" in text or text != text.strip():
        raise ValueError(text)
    return int(text)


_LINE_END = re.compile(r"\r\n|\r|\n")
_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_BLANK = " \t\f"
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


class BadProperty(ValueError):
    """A line that Java would refuse too; `line` is 1-based."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """One entry, unescaped. `line` is its first line, 1-based. The value may be a secret: repr hides it."""

    key: str
    value: str
    line: int
    is_named: bool = True
    """Whether a value follows the key after `=` or `:`. A word alone on its line may itself be a secret."""

    def __repr__(self) -> str:
        return f"Property(key={self.key!r}, line={self.line})"


def parse_properties(text: str) -> list[Property]:
    r"""All entries in order, repeated keys too. Raises BadProperty: a malformed ``\uXXXX``."""
    return [_property(line, logical) for line, logical in _logical_lines(text)]


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines without comments and blank ones; a line that ends in a backslash continues in the next one."""
    joined, began = "", 0
    for number, natural in enumerate(_LINE_END.split(text), start=1):
        stripped = natural.lstrip(_BLANK)
        if not joined:
            if not began and (not stripped or stripped[0] in "#!"):
                continue
            began = began or number
        trailing = len(stripped) - len(stripped.rstrip("\\"))
        if trailing % 2:
            joined += stripped[:-1]
            continue
        yield began, joined + stripped
        joined, began = "", 0
    if began:
        yield began, joined


def _property(line: int, logical: str) -> Property:
    end = 0
    while end < len(logical) and logical[end] not in "=:" + _BLANK:
        end += 2 if logical[end] == "\\" else 1
    rest = logical[end:].lstrip(_BLANK)
    # A secret in Base64 ends in one or two `=`.
    is_named = rest[:1] in ("=", ":") and rest.strip("=" + _BLANK) != ""
    if rest[:1] in ("=", ":"):
        rest = rest[1:].lstrip(_BLANK)
    return Property(
        key=_unescape(line, logical[:end]), value=_unescape(line, rest), line=line, is_named=is_named
    )


def _unescape(line: int, text: str) -> str:
    def replace(match: re.Match[str]) -> str:
        escaped = match[1]
        if escaped[0] != "u":
            return _ESCAPES.get(escaped, escaped)
        if len(escaped) == 1:
            raise BadProperty(line, "\\u must be followed by four hexadecimal digits")
        return chr(int(escaped[1:], 16))

    plain = _ESCAPED.sub(replace, text)
    # Two \uXXXX may form one character outside the basic plane, as in UTF-16.
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
