"""Subscription regexes as the broker judges them: RE2/J, matching a topic's whole name.

google-re2 stands in for RE2/J. The two disagree in a few places, and there the broker wins:
`\\C` is refused, and the program may be larger than google-re2's own bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

MAX_BYTES = 32_767
"""A regex is stored in the key of a record whose strings have a two-byte length."""

MAX_PROGRAM_BYTES = 256 << 20
"""RE2/J has no bound; ours only protects the machine that Kohort runs on."""


class InvalidRegexError(Exception):
    """The broker would refuse the pattern."""

    def __init__(self, pattern: str, reason: str, position: int | None) -> None:
        self.pattern, self.reason, self.position = pattern, reason, position
        super().__init__(f"`{pattern}` is invalid: {reason}")


@dataclass(frozen=True, slots=True)
class BrokerRegex:
    """A pattern that the broker accepts."""

    pattern: str
    compiled: Any

    def matches(self, topics: Iterable[str]) -> list[str]:
        """The topics whose whole name matches, sorted."""
        match = self.compiled.fullmatch
        return sorted(topic for topic in topics if match(topic))


def compile_broker_regex(pattern: str) -> BrokerRegex:
    """Judge a pattern as the broker does; InvalidRegexError says why not, and where."""
    if len(pattern.encode()) > MAX_BYTES:
        raise InvalidRegexError(pattern, f"longer than {MAX_BYTES} bytes, the most a record key holds", None)
    compiled = _compile(pattern)
    _refuse_what_only_re2_takes(pattern)
    return BrokerRegex(pattern, compiled)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegexVerdict:
    """What the broker would say of a pattern."""

    pattern: str
    regex: BrokerRegex | None
    """None when it is refused."""
    reason: str | None = None
    position: int | None = None
    """Where the fault begins, in characters from 0; None when the engine does not tell."""

    @property
    def valid(self) -> bool:
        return self.regex is not None


def judge(pattern: str) -> RegexVerdict:
    """Like compile_broker_regex, with a refusal as a value."""
    try:
        return RegexVerdict(pattern=pattern, regex=compile_broker_regex(pattern))
    except InvalidRegexError as error:
        return RegexVerdict(pattern=pattern, regex=None, reason=error.reason, position=error.position)


def compile_filter(pattern: str) -> Any:
    """A regex given to `--match`, to be searched for anywhere in a name; InvalidRegexError likewise."""
    return _compile(pattern)


_TOKEN = re.compile(
    r"""\\Q.*?(?:\\E|\Z)                                # literal text
    | \\x\{[^}]*\} | \\.                               # an escape
    | \[\^?\]?(?:\[:\^?\w+:\] | \\. | [^\]\\])*\]   # a character class
    | \(\?P?<(?P<name>[^>]*)>                          # a named group
    | \{(?P<least>\d+)(?:,(?P<most>\d*))?\}           # a repeat count""",
    re.DOTALL | re.VERBOSE,
)
_NAME = re.compile(r"[0-9A-Za-z_]+")
_TOO_MANY = 100_000_000
"""From here on google-re2 takes a repeat count for literal text."""


def _refuse_what_only_re2_takes(pattern: str) -> None:
    """google-re2 compiled it; RE2/J knows no `\\C`, no name twice, and only ASCII in names."""
    names: set[str] = set()
    for token in _TOKEN.finditer(pattern):
        text, name = token.group(), token["name"]
        if text == "\\C":
            raise InvalidRegexError(pattern, "invalid escape sequence: `\\C`", token.start())
        if name is not None and not _NAME.fullmatch(name):
            raise InvalidRegexError(pattern, f"invalid named capture: `{text}`", token.start())
        if name in names:
            raise InvalidRegexError(pattern, f"duplicate capture group name: `{name}`", token.start())
        if name is not None:
            names.add(name)
        if any(len(number or "") > 8 and int(number) >= _TOO_MANY for number in token.group("least", "most")):
            raise InvalidRegexError(pattern, f"invalid repeat count: `{text}`", token.start())


_REASONS = {
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid repetition size": "invalid repeat count",
    "missing ]": "missing closing ]",
    "missing )": "missing closing )",
    "trailing \\": "trailing backslash at end of expression",
    "invalid named capture group": "invalid named capture",
    "invalid perl operator": "invalid or unsupported Perl syntax",
}
"""google-re2's reasons in RE2/J's words."""


@lru_cache(maxsize=4096)
def _compile(pattern: str) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_PROGRAM_BYTES
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        raise _invalid(pattern, error.args[0]) from None


def _invalid(pattern: str, said: bytes | str) -> InvalidRegexError:
    text = said.decode(errors="replace") if isinstance(said, bytes) else said
    reason, _, fragment = text.partition(": ")
    reason = _REASONS.get(reason, reason)
    if reason == "missing closing )":
        return InvalidRegexError(pattern, reason, _unpaired(pattern)[0])
    if reason == "unexpected )":
        return InvalidRegexError(pattern, reason, _unpaired(pattern)[1])
    position = pattern.find(fragment) if fragment else -1
    shown = f"{reason}: `{fragment}`" if fragment and fragment != pattern else reason
    return InvalidRegexError(pattern, shown, position if position >= 0 else None)


def _unpaired(pattern: str) -> tuple[int | None, int | None]:
    """Positions of the last parenthesis that nothing closes, and of the first that nothing opened."""
    open_at: list[int] = []
    bare = _TOKEN.sub(
        lambda token: ("(" if token["name"] is not None else " ").ljust(len(token.group())), pattern
    )
    for position, character in enumerate(bare):
        if character == "(":
            open_at.append(position)
        elif character == ")" and not open_at:
            return None, position
        elif character == ")":
            open_at.pop()
    return (open_at[-1] if open_at else None), None
