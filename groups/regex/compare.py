"""The effect of a move to the consumer protocol on a subscription regex: the client's engine or the broker's RE2/J."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from groups.regex import ClientEngine, posix, rewrite
from groups.regex.automaton import Automaton, Difference, Names, difference
from groups.regex.broker import RegexVerdict, judge
from groups.regex.java import JavaSyntaxError, parse_java
from groups.regex.program import TooLargeError, UnsureError, without_atoms
from groups.regex.tree import Assertion, Boundary, Chars, Choice, Lookaround, Tree, mask_of
from groups.regex.tree import Sequence as Chain

INTERNAL_TOPICS = ("__consumer_offsets", "__share_group_state", "__transaction_state")
"""Topics that a Java consumer excludes unless `exclude.internal.topics=false` (Kafka's Topic class)."""

ASKED_WHOLLY = 2000  # more names are matched with an automaton, a sample by the C library
TOO_LARGE = "too many states to compare"


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedTopics:
    broker: tuple[str, ...] | None = None
    client: tuple[str, ...] | None = None
    gained: tuple[str, ...] | None = None
    lost: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    verdict: RegexVerdict
    is_literal: bool = False  # a topic name: librdkafka's without `^`
    client_reason: str | None = None  # why the client's engine refuses it, if requested
    flagged: tuple[str, ...] = ()  # reasons for which the client's matches are not certain
    matched: MatchedTopics = MatchedTopics()
    ever: Difference | None = None  # examples that only the client or only the broker matches; None: unknown
    rewritten: str | None = None  # a pattern for the broker that matches the client's names

    @property
    def is_unchanged(self) -> bool:
        """Whether both sides accept the pattern, it does not harm the broker, and no topic is known to differ."""
        if not self.is_literal and (not self.verdict.valid or self.verdict.danger is not None):
            return False
        if self.client_reason is not None:
            return False
        if self.matched.client is None:
            return self.ever is None or self.ever.same
        return not self.matched.gained and not self.matched.lost


def compare(pattern: str, client: ClientEngine | None, names: Names | None) -> Comparison:
    """Compare a pattern before and after; `names` are the existing topics, also internal ones; None if not known."""
    verdict = judge(pattern)
    match client:
        case None:
            return _unknown(verdict, names)
        case ClientEngine.JAVA:
            return _from_java(verdict, names)
        case ClientEngine.LIBRDKAFKA:
            return _from_librdkafka(verdict, names)


def _from_java(verdict: RegexVerdict, names: Names | None) -> Comparison:
    try:
        tree = without_atoms(parse_java(verdict.pattern))
        automaton = Automaton(tree)
        # Few patterns match an internal topic, and only those need a larger automaton.
        if any(map(automaton.matches, INTERNAL_TOPICS)):
            automaton = Automaton(Chain((_NOT_INTERNAL, tree)))
    except JavaSyntaxError as error:
        return _unknown(verdict, names, client_reason=str(error))
    except UnsureError as error:
        return _unknown(verdict, names, flagged=error.construct)
    except TooLargeError:
        return _unknown(verdict, names, flagged=TOO_LARGE)
    mine: bytes | None = None
    if names is not None:
        try:
            mine = _without_internal(names, names.matched(tree))
        except TooLargeError:
            return _unknown(verdict, names, flagged=TOO_LARGE)
        except UnsureError:  # raised only when the pattern is compiled backwards
            mine = bytes(map(automaton.matches, names.names))
    return _compared(
        verdict, names, mine, automaton, lambda: rewrite.of_java(parse_java(verdict.pattern), automaton)
    )


def _from_librdkafka(verdict: RegexVerdict, names: Names | None) -> Comparison:
    pattern = verdict.pattern
    if not pattern.startswith("^"):
        there = None if names is None else () if names.index(verdict.pattern) is None else (verdict.pattern,)
        nothing = None if names is None else ()
        return Comparison(
            verdict=verdict,
            is_literal=True,
            matched=MatchedTopics(broker=there, client=there, gained=nothing, lost=nothing),
            ever=Difference(only_first=None, only_second=None),
        )
    try:
        regex = posix.PosixRegex(pattern)
    except posix.PosixSyntaxError as error:
        return _unknown(verdict, names, client_reason=str(error))
    except posix.NotAskedError as error:
        return _unknown(verdict, names, flagged=str(error))
    read = posix.parse_posix(pattern)
    tree = None if read is None else posix.anywhere(read)
    try:
        automaton = None if tree is None else Automaton(tree)
    except (TooLargeError, UnsureError):
        tree = automaton = None
    mine: bytes | None = None
    if names is not None:
        try:
            mine = _found(regex, tree, names)
        except posix.NotAskedError as error:
            return _unknown(verdict, names, flagged=str(error))
    if automaton is None:
        return _compared(verdict, names, mine, None, None)
    return _compared(verdict, names, mine, automaton, lambda: rewrite.of_librdkafka(pattern, automaton))


def _unknown(
    verdict: RegexVerdict,
    names: Names | None,
    *,
    client_reason: str | None = None,
    flagged: str | None = None,
) -> Comparison:
    matched = MatchedTopics(broker=_chosen(names, _of_broker(verdict, names)))
    flags = () if flagged is None else (flagged,)
    return Comparison(verdict=verdict, client_reason=client_reason, flagged=flags, matched=matched)


def _compared(
    verdict: RegexVerdict,
    names: Names | None,
    mine: bytes | None,
    client: Automaton | None,
    candidates: Callable[[], rewrite.Candidates] | None,
) -> Comparison:
    """The comparison of the client's matches, `mine`, with the broker's."""
    ever = _ever(client, verdict)
    # If both match the same names of all valid ones, they match the same existing topics.
    theirs = mine if mine is not None and ever is not None and ever.same else _of_broker(verdict, names)
    rewritten = None
    if client is not None and candidates is not None and (ever is None or not ever.same):
        rewritten = rewrite.proven(candidates(), client)
    matched = MatchedTopics(broker=_chosen(names, theirs), client=_chosen(names, mine))
    if names is not None and mine is not None and theirs is not None:
        gained, lost = _chosen(names, _more(theirs, mine)), _chosen(names, _more(mine, theirs))
        matched = replace(matched, gained=gained, lost=lost)
    elif names is not None and not verdict.valid:
        matched = MatchedTopics(client=matched.client, gained=(), lost=matched.client)
    return Comparison(verdict=verdict, matched=matched, ever=ever, rewritten=rewritten)


def _ever(client: Automaton | None, verdict: RegexVerdict) -> Difference | None:
    if client is None or verdict.parsed is None or verdict.danger is not None:
        return None
    try:
        return difference(client, Automaton(verdict.parsed.tree))
    except (TooLargeError, UnsureError, RecursionError):
        return None


def _of_broker(verdict: RegexVerdict, names: Names | None) -> bytes | None:
    """For each name, 1 if the broker matches it, else 0; None if it refuses the pattern or the pattern harms it."""
    if names is None or verdict.regex is None or verdict.parsed is None:
        return None
    if len(names) > ASKED_WHOLLY:
        try:
            return names.matched(verdict.parsed.tree)
        except (TooLargeError, UnsureError, RecursionError):
            pass
    match = verdict.regex.compiled.fullmatch
    return bytes(match(name) is not None for name in names.names)


def _found(regex: posix.PosixRegex, tree: Tree | None, names: Names) -> bytes:
    """The matches of the C library; for many names, the matches of our parser if the library agrees on a sample."""
    if tree is not None and len(names) > ASKED_WHOLLY:
        try:
            read = names.matched(tree)
        except (TooLargeError, UnsureError):
            pass
        else:
            step = len(names) // (ASKED_WHOLLY // 2)
            if regex.found_in(names.names[::step]) == list(map(bool, read[::step])):
                return read
    return bytes(regex.found_in(names.names))


def _more(first: bytes, second: bytes) -> bytes:
    """For each name, 1 if only `first` has 1, else 0; both contain only 0 and 1."""
    both = int.from_bytes(first, "big") & ~int.from_bytes(second, "big")
    return both.to_bytes(len(first), "big")


def _chosen(names: Names | None, flags: bytes | None) -> tuple[str, ...] | None:
    return None if names is None or flags is None else tuple(names.chosen(flags))


def _without_internal(names: Names, matched: bytes) -> bytes:
    kept = bytearray(matched)
    for name in INTERNAL_TOPICS:
        index = names.index(name)
        if index is not None:
            kept[index] = 0
    return bytes(kept)


_WORDS = tuple(Chain(tuple(Chars(mask_of(character)) for character in name)) for name in INTERNAL_TOPICS)
_NOT_INTERNAL = Lookaround(Chain((Choice(_WORDS), Assertion(Boundary.END))), behind=False, negative=True)


def joined(patterns: Sequence[str]) -> RegexVerdict | None:
    """The verdict on one librdkafka subscription's regexes, `(^a)|(^b)`; None for fewer than two, or a refused one."""
    regexes = [pattern for pattern in patterns if pattern.startswith("^")]
    if len(regexes) < 2 or not all(judge(pattern).valid for pattern in regexes):
        return None
    return judge("|".join(f"({pattern})" for pattern in regexes))
