"""Subscription regexes as the broker handles them: RE2/J, matching a topic's whole name.

Our own parser (groups.regex.re2j) decides whether RE2/J accepts a pattern; google-re2 does the matching. RE2/J does
not limit the cost of a pattern, so an accepted pattern can still harm the broker. A harmful pattern is not compiled
here.
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
"""The broker stores a regex in a record key, in which the length of a string has two bytes."""

MAX_PROGRAM_BYTES = 256 << 20
"""RE2/J has no limit; this one only protects the machine on which Kohort runs."""

MAX_INSTRUCTIONS = 100_000
"""Beyond this, RE2/J 1.8 needs at least 0.1 s to compile; a million instructions take 1.3 s and 85 MB."""

MAX_DEPTH = 1000
"""RE2/J 1.8 compiles recursively: a stack of 1 MiB overflows between 2,000 and 3,000 levels."""

MAX_EMPTY_PATH = 4500
"""RE2/J 1.8 also recurses for instructions that take no character: 5,000 of them use up a stack of 1 MiB."""


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
    """The compiled pattern; None if it is refused or too dangerous to be compiled."""
    parsed: Parsed | None = None
    """The parsed pattern; None if it is refused."""
    reason: str | None = None
    position: int | None = None
    """The start of the fault, in characters from 0; None if the engine does not report it."""
    danger: str | None = None
    """How an accepted pattern would harm the broker, or that it is too large here; None if it is harmless."""

    @property
    def valid(self) -> bool:
        return self.reason is None


@lru_cache(maxsize=4096)
def judge(pattern: str) -> RegexVerdict:
    """Check whether the broker accepts a pattern, and whether the pattern would harm it."""
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
    """Compile a pattern with the broker's meaning; InvalidRegexError with the reason and the position.

    A pattern that could harm a broker is refused too.
    """
    verdict = judge(pattern)
    if verdict.regex is None:
        raise InvalidRegexError(pattern, verdict.reason or verdict.danger or "", verdict.position)
    return verdict.regex


def compile_filter(pattern: str) -> Any:
    """Compile a regex of `--match`, which is searched for anywhere in a name; InvalidRegexError as above."""
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
    """The pattern compiled by google-re2. :raises TooLongError: it is too large for google-re2"""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_PROGRAM_BYTES
    # google-re2 allows no backslash before a non-ASCII character; in RE2/J it means that character.
    plain = re.sub(r"\\(.)", lambda found: found[found[1] > "\x7f"], pattern, flags=re.DOTALL)
    for text in (pattern, plain) if not parsed.differs else ():
        with suppress(re2.error):  # raised for syntax that RE2/J accepts and google-re2 does not
            return re2.compile(text, options)
    try:
        return re2.compile(write_for_re2(parsed.tree), options)
    except (re2.error, RecursionError):
        raise TooLongError from None
