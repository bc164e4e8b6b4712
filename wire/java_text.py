"""UTF-8 as Java decodes it: broken bytes become U+FFFD rather than an error.

Python's own "replace" agrees but for encoded surrogates, which it takes byte by byte and Java as one character.
"""

import codecs

JAVA = "kohort-java"
"""Name of the error handler: ``data.decode("utf-8", JAVA)``."""
REPLACEMENT = "\ufffd"
_FIRST_BYTE_OF_SURROGATES = 0xED


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    data, start, end = error.object, error.start, error.end
    if data[start] == _FIRST_BYTE_OF_SURROGATES and _continues(data, start + 1):
        # Complete or cut, what would be a surrogate is one character.
        end = start + 2 + _continues(data, start + 2)
    return REPLACEMENT, end


def _continues(data: bytes, position: int) -> bool:
    return position < len(data) and data[position] & 0xC0 == 0x80


codecs.register_error(JAVA, _replace)


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
