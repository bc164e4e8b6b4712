"""Subscription regexes as the broker handles them: our parser decides what RE2/J accepts, google-re2 matches."""

import re
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import Any

from groups.regex.re2j import Parsed, PatternRefusedError, parse
from groups.regex.tree import TooLongError, write_for_re2
from groups.trees import GroupsError

MAX_BYTES = 32_767  # the broker stores a regex in a record key, in which the length of a string has two bytes
SMALL_BYTES, MAX_PROGRAM_BYTES = 1 << 20, 8 << 20  # of google-re2: 20,000 instructions, in 10 ms, and 170,000

MAX_TABLES = 500  # google-re2 reads each `\pL` into a table of 30 kB before it applies its limit
CACHED_BYTES = 64 << 20  # the memory of all cached verdicts, calculated from the limits of their programs
TREE_BYTES = 128  # the memory of a parsed pattern per byte of its text, at most
MAX_INSTRUCTIONS = 100_000  # RE2/J 1.8 compiles more in 0.1 s and more (a million: 1.3 s, 85 MB)
MAX_DEPTH = 1000  # RE2/J 1.8 compiles recursively: a stack of 1 MiB overflows between 2,000 and 3,000 levels
MAX_EMPTY_PATH = 4500  # its recursion: 5,000 instructions without a character use up 1 MiB of stack


class InvalidRegexError(GroupsError):
    def __init__(self, pattern: str, reason: str, position: int | None) -> None:
        self.pattern, self.reason, self.position = pattern, reason, position
        super().__init__(f"`{pattern}` is invalid: {reason}")


@dataclass(frozen=True, slots=True)
class BrokerRegex:
    pattern: str
    compiled: Any  # google-re2's program
    max_bytes: int  # the memory that it takes at most

    def matches(self, topics: Iterable[str]) -> list[str]:
        match = self.compiled.fullmatch
        return sorted(topic for topic in topics if match(topic))


@dataclass(frozen=True, slots=True, kw_only=True)
class RegexVerdict:
    pattern: str
    regex: BrokerRegex | None = None  # None if it is refused or too dangerous to be compiled
    parsed: Parsed | None = None  # the parsed pattern; None if it is refused
    reason: str | None = None
    position: int | None = None  # of the fault, in characters from 0; None if not reported
    danger: str | None = None  # how it would harm the broker, or that it is too large here

    @property
    def valid(self) -> bool:
        return self.reason is None


class _Verdicts:
    def __init__(self) -> None:
        self._lock = Lock()
        self._verdicts: OrderedDict[str, tuple[int, RegexVerdict]] = OrderedDict()
        self._bytes = 0

    def get(self, pattern: str) -> RegexVerdict | None:
        with self._lock:
            size, verdict = self._verdicts.pop(pattern, (0, None))
            if verdict is not None:
                self._verdicts[pattern] = size, verdict
            return verdict

    def put(self, pattern: str, verdict: RegexVerdict) -> None:
        program = 0 if verdict.regex is None else verdict.regex.max_bytes
        size = program + TREE_BYTES * len(pattern.encode()[:MAX_BYTES])
        with self._lock:
            self._bytes += size - self._verdicts.pop(pattern, (0, None))[0]
            self._verdicts[pattern] = size, verdict
            while self._bytes > CACHED_BYTES:
                self._bytes -= self._verdicts.popitem(last=False)[1][0]


_VERDICTS = _Verdicts()


def is_judged(pattern: str) -> bool:
    """Whether `judge` returns at once, because it has judged the pattern before."""
    return _VERDICTS.get(pattern) is not None


def judge(pattern: str) -> RegexVerdict:
    """Whether the broker accepts a pattern, and whether it would be harmed. In any thread; 32 kB take half a second."""
    verdict = _VERDICTS.get(pattern)
    if verdict is None:
        verdict = _judge(pattern)
        _VERDICTS.put(pattern, verdict)
    return verdict


def _judge(pattern: str) -> RegexVerdict:
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
            regex = BrokerRegex(pattern, *_compiled(pattern, parsed))
            return RegexVerdict(pattern=pattern, regex=regex, parsed=parsed)
        except TooLongError:
            danger = "too large to match on this machine"
    return RegexVerdict(pattern=pattern, parsed=parsed, danger=danger)


def compile_broker_regex(pattern: str) -> BrokerRegex:
    """Compile with the broker's meaning; InvalidRegexError, also for a pattern that could harm a broker."""
    verdict = judge(pattern)
    if verdict.regex is None:
        raise InvalidRegexError(pattern, verdict.reason or verdict.danger or "", verdict.position)
    return verdict.regex


def compile_filter(pattern: str) -> Any:
    """For names of any characters; the regex of `--match` is searched for anywhere. InvalidRegexError as above."""
    regex, parsed = compile_broker_regex(pattern), judge(pattern).parsed
    for text in _texts(pattern, parsed) if parsed is not None else ():
        with suppress(TooLongError):
            return _program(text, (SMALL_BYTES, MAX_PROGRAM_BYTES))[0]
    return regex.compiled


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


def _compiled(pattern: str, parsed: Parsed) -> tuple[object, int]:
    """The program for names of topics, and its limit of memory. Raises TooLongError: it is too large here."""
    for text in _texts(pattern, parsed):
        with suppress(TooLongError):
            return _program(text, (SMALL_BYTES,))
    try:
        return _program(write_for_re2(parsed.tree), (SMALL_BYTES, MAX_PROGRAM_BYTES))
    except RecursionError:
        raise TooLongError from None


def _texts(pattern: str, parsed: Parsed) -> tuple[str, ...]:
    """What to try with google-re2, which accepts less syntax than RE2/J."""
    if parsed.differs or len(re.findall(r"\\[pP]", pattern)) > MAX_TABLES:
        return ()
    # google-re2 allows no backslash before a non-ASCII character; in RE2/J it means that character.
    return pattern, re.sub(r"\\(.)", lambda match: match[match[1] > "\x7f"], pattern, flags=re.DOTALL)


def _program(text: str, limits: Iterable[int]) -> tuple[object, int]:
    """The text compiled within one of the limits of memory. Raises TooLongError: it is too large, or refused."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    for max_bytes in limits:
        options.max_mem = max_bytes
        with suppress(re2.error):
            return re2.compile(text, options), max_bytes
    raise TooLongError
