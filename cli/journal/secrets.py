"""Command lines without secrets: what a journal keeps for years is read by more people than a shell's history."""

import re
from collections.abc import Iterable, Iterator

from cli.sources.contexts.model import is_secret

HIDDEN = "***"
_NAME = r"[\w.-]*(?:password|passwd|passphrase|secret|token|credential|api[._-]?key)[\w.-]*"
_NAMED = re.compile(rf"(?<![\w.-])({_NAME}\s*[=:]\s*|--?{_NAME}\s+)(\"[^\"]*\"|'[^']*'|\S+)", re.IGNORECASE)
_OPTION = re.compile(rf"--?{_NAME}", re.IGNORECASE)
_OF_NO_SECRET = ("-file", "-env")  # Options with such names refer to a secret
_USER_INFO = re.compile(r"://[^/\s@]*@")


def without_secrets(words: Iterable[str]) -> tuple[str, ...]:
    """The words of a command line; a value that follows the name of a secret is hidden, in `NAME=VALUE` too."""
    return tuple(_hidden(words))


def _hidden(words: Iterable[str]) -> Iterator[str]:
    follows_name = False
    for word in words:
        if follows_name and not word.startswith("-"):
            yield HIDDEN
        else:
            name, equals, _ = word.partition("=")
            is_pair = bool(equals) and is_secret(name.lstrip("-").lower(), "")
            yield f"{name}={HIDDEN}" if is_pair and " " not in name else _text(word)
        follows_name = _OPTION.fullmatch(word) is not None and not word.endswith(_OF_NO_SECRET)


def _text(word: str) -> str:
    if "PRIVATE KEY" in word:
        return HIDDEN
    text = _NAMED.sub(lambda match: f"{match[1]}{HIDDEN}", word)
    return _USER_INFO.sub(f"://{HIDDEN}@", text)
