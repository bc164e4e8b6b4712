"""Subscription regexes as the broker judges them: RE2/J, matching a topic's whole name.

Our own parser (groups.regex.re2j) decides what RE2/J accepts; google-re2 does the matching. RE2/J has no bound
on what a pattern may cost, so a pattern can be taken and still harm the broker: such a one is not compiled here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from groups.errors import GroupsError
from groups.regex.re2j import Parsed, PatternRefusedError, parse
from groups.regex.write import TooLongError, write_for_re2

MAX_BYTES = 32_767
"""A regex is stored in the key of a record whose strings have a two-byte length."""

MAX_PROGRAM_BYTES = 256 << 20
"""RE2/J has no bound; ours only protects the machine that Kohort runs on."""

MAX_INSTRUCTIONS = 100_000
"""More than this take RE2/J 1.8 a tenth of a second and more to compile, and a million 1.3 s and 85 MB."""

MAX_DEPTH = 1000
"""RE2/J 1.8 compiles by recursion: with a stack of 1 MiB it overflows between 2,000 and 3,000 levels."""

MAX_EMPTY_PATH = 4500
"""RE2/J 1.8 also follows empty instructions by recursion: 5,000 of them use up 1 MiB."""


class InvalidRegexError(GroupsError):
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RegexVerdict:
    """The broker's verdict on a pattern."""

    pattern: str
    regex: BrokerRegex | None = None
    """None when it is refused, and when it is too dangerous to be compiled."""
    parsed: Parsed | None = None
    """None when it is refused."""
    reason: str | None = None
    position: int | None = None
    """Where the fault starts, in characters from 0; None when the engine does not report it."""
    danger: str | None = None
    """The harm of an accepted pattern to the broker; None when it is harmless."""

    @property
    def valid(self) -> bool:
        return self.reason is None


@lru_cache(maxsize=4096)
def judge(pattern: str) -> RegexVerdict:
    """Judge a pattern as the broker does, and whether it would harm a broker."""
    if len(pattern.encode()) > MAX_BYTES:
        reason = f"longer than {MAX_BYTES} bytes, the maximum of a record key"
        return RegexVerdict(pattern=pattern, reason=reason)
    try:
        parsed = parse(pattern)
    except PatternRefusedError as error:
        return RegexVerdict(pattern=pattern, reason=error.reason, position=error.position)
    danger = _danger(parsed)
    if danger is None:
        try:
            regex = BrokerRegex(pattern, _compiled(pattern, parsed))
            return RegexVerdict(pattern=pattern, regex=regex, parsed=parsed)
        except TooLongError:
            danger = "too large to match on this machine"
    return RegexVerdict(pattern=pattern, parsed=parsed, danger=danger)


def compile_broker_regex(pattern: str) -> BrokerRegex:
    """The pattern as the broker reads it; InvalidRegexError with the reason and the position.

    What could harm a broker is refused too.
    """
    verdict = judge(pattern)
    if verdict.regex is None:
        raise InvalidRegexError(pattern, verdict.reason or verdict.danger or "", verdict.position)
    return verdict.regex


def compile_filter(pattern: str) -> Any:
    """A regex given to `--match`, to be searched for anywhere in a name; InvalidRegexError likewise."""
    return compile_broker_regex(pattern).compiled


def _danger(parsed: Parsed) -> str | None:
    if parsed.instructions > MAX_INSTRUCTIONS:
        count = f"{parsed.instructions:,}" if parsed.instructions < 10**12 else "over 10^12"
        return f"its repetitions expand to {count} instructions, which cost the broker memory and time without a limit"
    if parsed.depth > MAX_DEPTH:
        return f"{parsed.depth:,} nested groups, which overflow the stack of the broker's RE2/J"
    if parsed.empty_path > MAX_EMPTY_PATH:
        return (
            f"{parsed.empty_path:,} steps without a character, which overflow the stack of the broker's RE2/J"
        )
    return None


def _compiled(pattern: str, parsed: Parsed) -> Any:
    """The pattern of google-re2's. :raises TooLongError:"""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_PROGRAM_BYTES
    # google-re2 knows no backslash before a character beyond ASCII; RE2/J takes it for that character.
    plain = re.sub(r"\\(.)", lambda found: found[found[1] > "\x7f"], pattern, flags=re.DOTALL)
    for text in (pattern, plain) if not parsed.differs else ():
        with suppress(re2.error):  # raised for what RE2/J takes and google-re2 does not
            return re2.compile(text, options)
    try:
        return re2.compile(write_for_re2(parsed.tree), options)
    except (re2.error, RecursionError):
        raise TooLongError from None
