"""The effect of a move to the consumer protocol on a subscription regex.

Until then the client matches topics by its own engine; from then on the broker does, by RE2/J. Both are judged for
the topics there are, and for all names that a topic may have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from groups.regex import ClientEngine, posix, rewrite
from groups.regex.automaton import Automaton, Difference, difference
from groups.regex.broker import BrokerRegex, RegexVerdict, judge
from groups.regex.java import JavaSyntaxError, parse_java
from groups.regex.program import TooLargeError, UnsureError, without_atoms
from groups.regex.topic_names import Names
from groups.regex.tree import Assertion, Chars, Choice, Lookaround, Place, Tree, mask_of
from groups.regex.tree import Sequence as Chain

INTERNAL_TOPICS = ("__consumer_offsets", "__share_group_state", "__transaction_state")
"""Topics that a Java consumer excludes unless `exclude.internal.topics=false` (Kafka's Topic class)."""

ASKED_WHOLLY = 2000
"""The C library matches up to this many names one by one; of more, a sample (see posix)."""

TOO_LARGE = "too many states to compare"


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedTopics:
    """Topics by who matches them, sorted; None where it is not known."""

    broker: tuple[str, ...] | None = None
    client: tuple[str, ...] | None = None
    gained: tuple[str, ...] | None = None
    lost: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A pattern before and after the migration."""

    verdict: RegexVerdict
    is_literal: bool = False
    """To librdkafka a subscription that does not start with `^` is the name of one topic, before and after."""
    client_reason: str | None = None
    """Why the client's engine refuses the pattern; None when it accepts it, or was not requested."""
    flagged: tuple[str, ...] = ()
    """Reasons why the client's matches are not certain."""
    matched: MatchedTopics = MatchedTopics()
    ever: Difference | None = None
    """Examples of names that only the client (first) or only the broker (second) matches, of all that a topic may
    have; None when that is not known.
    """
    rewritten: str | None = None
    """The pattern to subscribe to instead, if one matches for the broker what the old one matches for the client."""

    @property
    def is_unchanged(self) -> bool:
        """Whether the broker takes the pattern unharmed and nothing is known to be lost or gained."""
        if not self.is_literal and (not self.verdict.valid or self.verdict.danger is not None):
            return False
        if self.client_reason is not None:
            return False
        if self.matched.client is None:
            return self.ever is None or self.ever.same
        return not self.matched.gained and not self.matched.lost


def compare(pattern: str, client: ClientEngine | None, names: Names | None) -> Comparison:
    """Judge a pattern; `names` are the topics there are, internal ones included, None when they are not known."""
    verdict = judge(pattern)
    match client:
        case None:
            return Comparison(
                verdict=verdict, matched=MatchedTopics(broker=_chosen(names, _of_broker(verdict, names)))
            )
        case ClientEngine.JAVA:
            return _from_java(verdict, names)
        case ClientEngine.LIBRDKAFKA:
            return _from_librdkafka(verdict, names)


def _from_java(verdict: RegexVerdict, names: Names | None) -> Comparison:
    try:
        tree = without_atoms(parse_java(verdict.pattern))
        automaton = Automaton(tree)
        # Few patterns match an internal topic, and a larger automaton is only needed for those.
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
        except UnsureError:  # only known once the pattern is read from the other end
            mine = bytes(map(automaton.matches, names.names))
    return _compared(
        verdict, names, mine, automaton, lambda: rewrite.of_java(parse_java(verdict.pattern), automaton)
    )


def _from_librdkafka(verdict: RegexVerdict, names: Names | None) -> Comparison:
    pattern = verdict.pattern
    if not pattern.startswith("^"):
        return _literal(verdict, names)
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


def _literal(verdict: RegexVerdict, names: Names | None) -> Comparison:
    there = None if names is None else () if names.index(verdict.pattern) is None else (verdict.pattern,)
    nothing = None if names is None else ()
    return Comparison(
        verdict=verdict,
        is_literal=True,
        matched=MatchedTopics(broker=there, client=there, gained=nothing, lost=nothing),
        ever=Difference(only_first=None, only_second=None),
    )


def _unknown(
    verdict: RegexVerdict,
    names: Names | None,
    *,
    client_reason: str | None = None,
    flagged: str | None = None,
) -> Comparison:
    return Comparison(
        verdict=verdict,
        client_reason=client_reason,
        flagged=() if flagged is None else (flagged,),
        matched=MatchedTopics(broker=_chosen(names, _of_broker(verdict, names))),
    )


def _compared(
    verdict: RegexVerdict,
    names: Names | None,
    mine: bytes | None,
    client: Automaton | None,
    candidates: Callable[[], rewrite.Candidates] | None,
) -> Comparison:
    """The comparison of what the client matches, `mine`, with what the broker does."""
    ever = _ever(client, verdict)
    # Where both match the same of all names that a topic may have, they match the same of these.
    theirs = mine if mine is not None and ever is not None and ever.same else _of_broker(verdict, names)
    rewritten = None
    if client is not None and candidates is not None and (ever is None or not ever.same):
        rewritten = rewrite.proven(candidates(), client)
    matched = MatchedTopics(broker=_chosen(names, theirs), client=_chosen(names, mine))
    if names is not None and mine is not None and theirs is not None:
        same = mine == theirs
        matched = MatchedTopics(
            broker=matched.broker,
            client=matched.client,
            gained=() if same else _chosen(names, _more(theirs, mine)),
            lost=() if same else _chosen(names, _more(mine, theirs)),
        )
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
    """By name 1 where the broker matches it; None where the broker refuses the pattern or is harmed by it."""
    if names is None or verdict.regex is None or verdict.parsed is None:
        return None
    if len(names) > ASKED_WHOLLY:
        try:
            return names.matched(verdict.parsed.tree)
        except (TooLargeError, UnsureError, RecursionError):
            pass
    return _asked(verdict.regex, names)


def _asked(regex: BrokerRegex, names: Names) -> bytes:
    match = regex.compiled.fullmatch
    return bytes(match(name) is not None for name in names.names)


def _found(regex: posix.PosixRegex, tree: Tree | None, names: Names) -> bytes:
    """The matches of the C library; for many names those of our parser, as long as the library agrees."""
    if tree is not None and len(names) > ASKED_WHOLLY:
        try:
            read = names.matched(tree)
        except (TooLargeError, UnsureError):
            pass
        else:
            sample = range(0, len(names), len(names) // (ASKED_WHOLLY // 2))
            if regex.found_in([names.names[index] for index in sample]) == [
                bool(read[index]) for index in sample
            ]:
                return read
    return bytes(regex.found_in(names.names))


def _more(first: bytes, second: bytes) -> bytes:
    """By name 1 where only the first has one: both hold nothing but 0 and 1."""
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


def _word(text: str) -> Tree:
    return Chain(tuple(Chars(mask_of(character)) for character in text))


_NOT_INTERNAL = Lookaround(
    Chain((Choice(tuple(map(_word, INTERNAL_TOPICS))), Assertion(Place.END))), behind=False, negative=True
)


def joined(patterns: Sequence[str]) -> RegexVerdict | None:
    """The broker's word on the regexes of one librdkafka subscription, which are sent as `(^a)|(^b)`.

    None where fewer than two are regexes, or one is refused by itself.
    """
    regexes = [pattern for pattern in patterns if pattern.startswith("^")]
    if len(regexes) < 2 or not all(judge(pattern).valid for pattern in regexes):
        return None
    return judge("|".join(f"({pattern})" for pattern in regexes))
