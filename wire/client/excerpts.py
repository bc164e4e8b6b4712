"""Text of other parties in our messages: short, on one line, and without anything that could be a secret."""

import re
from collections.abc import Collection

_LONGEST_EXCERPT = 100
_LONG_WORD = re.compile(r"[\w+/=.~-]{24,}")


def excerpt(answer: bytes, secrets: Collection[str] = ()) -> str:
    """The start of an unexpected answer, without anything that could be a secret."""
    if not answer.strip():
        return "nothing"
    text = masked(answer[:4096].decode("utf-8", "replace"), secrets)
    return clipped(text)


def masked(text: str, secrets: Collection[str] = ()) -> str:
    """Text of another party, on one line, without known secrets and without anything that looks like a token."""
    for secret in filter(None, secrets):
        text = text.replace(secret, "***")
    printable = "".join(character if character.isprintable() else " " for character in text)
    return " ".join(_LONG_WORD.sub(_hidden, printable).split())


def clipped(text: str, length: int = _LONGEST_EXCERPT) -> str:
    """A text, cut to a length."""
    return text if len(text) <= length else f"{text[:length]}…"


def _hidden(word: re.Match[str]) -> str:
    """Hide a long word of digits and letters in both cases: it may be a token, and is seldom a path or host name."""
    text = word[0]
    tests = (str.isdigit, str.islower, str.isupper)
    return "***" if all(any(map(test, text)) for test in tests) else text
