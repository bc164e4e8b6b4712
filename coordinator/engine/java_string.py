"""java.lang.String, where an answer of a broker hangs on it."""

from __future__ import annotations

_UP_TO_SPACE = "".join(map(chr, range(0x21)))


def trim(text: str) -> str:
    """Without the characters up to U+0020 at both ends: control characters too, but none of Unicode's other spaces."""
    return text.strip(_UP_TO_SPACE)


def length(text: str) -> int:
    """In UTF-16 units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def parse_number(text: str) -> int:
    """As `Long.parseLong` reads it, of any size: no space and no underscore. :raises ValueError: it is no number"""
    if "_" in text or text != text.strip():
        raise ValueError(text)
    return int(text)
