"""What others wrote, in our messages: short, on one line, and without what could be a secret."""

import re
from collections.abc import Collection

_LONGEST_EXCERPT = 100
_LIKE_A_SECRET = re.compile(r"(?=[\w+/=.~-]*[0-9])(?=[\w+/=.~-]*[a-z])(?=[\w+/=.~-]*[A-Z])[\w+/=.~-]{24,}")


def excerpt(answer: bytes, secrets: Collection[str] = ()) -> str:
    """The beginning of an answer that is not what was wanted, without anything in it that could be a secret."""
    if not answer.strip():
        return "nothing"
    text = masked(answer[:4096].decode("utf-8", "replace"), secrets)
    return clipped(text)


def masked(text: str, secrets: Collection[str] = ()) -> str:
    """Text that others wrote, on one line, without known secrets and without what looks like a token."""
    for secret in filter(None, secrets):
        text = text.replace(secret, "***")
    printable = "".join(each if each.isprintable() else " " for each in text)
    return " ".join(_LIKE_A_SECRET.sub("***", printable).split())


def clipped(text: str, length: int = _LONGEST_EXCERPT) -> str:
    """At most so much of a text."""
    return text if len(text) <= length else f"{text[:length]}…"
