"""UTF-8 as Java decodes it: broken bytes become U+FFFD instead of an error.

Python's own "replace" differs only for encoded surrogates: it replaces each byte, Java the whole character.
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
    """The length in UTF-16 units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def parse_number(text: str) -> int:
    """Parse as `Long.parseLong`, of any size: no space and no underscore. :raises ValueError: it is not a number"""
    if "_" in text or text != text.strip():
        raise ValueError(text)
    return int(text)
