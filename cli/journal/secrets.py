"""Command lines without secrets: a journal is kept for years, and read by more people than a shell's history."""

import re
from collections.abc import Iterable, Iterator

from cli.sources.contexts.model import is_secret

HIDDEN = "***"
_NAME = r"[\w.-]*(?:password|passwd|passphrase|secret|token|credential|api[._-]?key)[\w.-]*"
_PAIR = re.compile(rf"({_NAME}\s*[=:]\s*|--?{_NAME}\s+)(\"[^\"]*\"|'[^']*'|\S+)", re.IGNORECASE)
_OPTION = re.compile(rf"--?{_NAME}", re.IGNORECASE)
_OF_FILES = ("-file", "-env")  # The ends of options that refer to a secret
_COMMAND = "--restart"  # Its value is an operator's command, which may contain any secret
_USER_INFO = re.compile(r"://[^/\s@]*@")


def without_secrets(words: Iterable[str]) -> tuple[str, ...]:
    """The words of a command line; a value that follows the name of a secret is hidden, in `NAME=VALUE` too."""
    return tuple(_hidden(words))


def _hidden(words: Iterable[str]) -> Iterator[str]:
    follows_name = False
    for word in words:
        name, equals, _ = word.partition("=")
        if follows_name:
            yield HIDDEN
        elif equals and " " not in name and (name == _COMMAND or is_secret(name.lower(), "")):
            yield f"{name}={HIDDEN}"
        else:
            yield HIDDEN if "PRIVATE KEY" in word else _text(word)
        follows_name = word == _COMMAND or bool(_OPTION.fullmatch(word) and not word.endswith(_OF_FILES))


def _text(word: str) -> str:
    text = _PAIR.sub(lambda match: f"{match[1]}{HIDDEN}", word)
    return _USER_INFO.sub(f"://{HIDDEN}@", text)
