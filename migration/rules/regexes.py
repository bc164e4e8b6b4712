"""Rules about subscriptions by regex: librdkafka's `^` moves the matching to the broker, Java still does it itself."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from shlex import quote

from groups.counts import first_names
from groups.findings import Finding, Level
from groups.model import GroupType
from groups.regex import ClientEngine
from groups.regex.automaton import Names
from groups.regex.compare import Comparison, compare, joined
from migration.rules.case import Case

_SOURCE = "KIP-848, Regular Expressions; RE2/J 1.8 in place of the client's engine"
MOST_TOPICS = 5


def regexes_stay_the_same(case: Case) -> Iterator[Finding]:
    if not case.upgrades:
        return
    regexes = _regexes(case)
    if not regexes:
        if case.group.members:
            yield _cannot_be_seen(case)
        return
    for compared in compared_regexes(case):
        judgments = _judged(compared.comparison, compared.engine)
        if compared.engine is ClientEngine.JAVA:
            judgments = iter([_stays_in_the_client(compared.pattern, judgments)])
        for rule, level, message, remedy in judgments:
            texts = {"message": message, "remedy": remedy, "source": _SOURCE}
            yield case.finding(level, rule, members=compared.members, **texts)
    yield from _together(case, tuple(regexes))


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRegex:
    """A regex of a group, compared between one client's engine and the broker."""

    pattern: str
    members: tuple[str, ...]  # Members that subscribe by it; empty if it was only declared
    engine: ClientEngine | None  # The engine that matches it now; None if that one is not emulated
    comparison: Comparison


def compared_regexes(case: Case) -> Iterator[ComparedRegex]:
    """Every subscribed or declared regex, compared for every engine of the members."""
    regexes = _regexes(case)
    names = None if case.topics is None or not regexes else _names(tuple(sorted(case.topics)))
    for pattern, members in regexes.items():
        for engine in _engines(case):
            comparison = _compare(pattern, engine, names)
            whose = tuple(members)
            yield ComparedRegex(pattern=pattern, members=whose, engine=engine, comparison=comparison)


@lru_cache(maxsize=4)
def _names(topics: tuple[str, ...]) -> Names:
    """Topic names, cached: the groups of one cluster are judged one after the other with the same topics."""
    return Names(topics)


_compare = lru_cache(maxsize=256)(compare)
"""Many groups have the same declared regexes; `Names` are equal only if they are the same object."""


def _regexes(case: Case) -> dict[str, list[str]]:
    members: dict[str, list[str]] = {pattern: [] for pattern in case.request.regexes}
    for member in case.group.members:
        if member.subscription is not None and member.subscription.regex:
            members.setdefault(member.subscription.regex, []).append(member.id)
    return members


def _engines(case: Case) -> list[ClientEngine | None]:
    """The engines of the members' libraries; None for an engine that is not emulated, and if the broker matches."""
    if case.group.type is not GroupType.CLASSIC:
        return [None]
    emulated = {engine.value: engine for engine in ClientEngine}
    engines = {library: emulated.get(library) for library in sorted(case.libraries)}
    return list(dict.fromkeys(engines.values())) or [None]


def _stays_in_the_client(pattern: str, judgments: "Iterable[_RuleResult]") -> "_RuleResult":
    """Java sends a regex only for subscribe(SubscriptionPattern); by a Pattern it sends names (tried on 4.3.1)."""
    then = " ".join(message for _, _, message, _ in judgments)
    return (
        "regex-client",
        Level.INFO,
        f"Java's subscribe(Pattern) still matches {pattern} in the client: the broker gets topic names."
        + (f" That changes with subscribe(SubscriptionPattern). {then}" if then else ""),
        "Leave subscribe(Pattern) as it is. The broker matches only a SubscriptionPattern. Before you use one, run: "
        f"kohort validate-regex {quote(pattern)} --from java.",
    )


def _together(case: Case, patterns: Sequence[str]) -> Iterator[Finding]:
    """librdkafka joins the regexes of a subscription into one, which may be too large although each is not."""
    verdict = joined(patterns) if "librdkafka" in case.libraries else None
    if verdict is not None and (not verdict.valid or verdict.danger is not None):
        yield case.blocker(
            "regex-refused",
            message=f"librdkafka joins the {len(patterns)} regexes into one, which the broker refuses or which "
            f"endangers it: {verdict.reason or verdict.danger}.",
            remedy="Subscribe to fewer regexes, or to a shorter one.",
            source=_SOURCE,
        )


def _cannot_be_seen(case: Case) -> Finding:
    only_java = case.libraries == {"java"}
    return case.info(
        "regex-unknown",
        message="A classic group does not show whether members subscribe by a regex, only the topics.",
        remedy="If they do, nothing changes: Java's subscribe(Pattern) still matches in the client. The broker "
        "matches only a SubscriptionPattern, with another engine: --regex REGEX shows what that would change."
        if only_java
        else "If they do, add --regex REGEX: the broker matches topics with another engine than the client.",
        source=_SOURCE,
    )


_RuleResult = tuple[str, Level, str, str]  # the rule, level, message and remedy of a finding


def _judged(comparison: Comparison, engine: ClientEngine | None) -> Iterator[_RuleResult]:
    pattern, verdict = comparison.verdict.pattern, comparison.verdict
    if comparison.is_literal:
        return
    instead = f" Subscribe to {comparison.rewritten} instead." if comparison.rewritten else ""
    if not verdict.valid:
        yield (
            "regex-refused",
            Level.BLOCKER,
            f"The broker refuses the regex {pattern}: {verdict.reason} (INVALID_REGULAR_EXPRESSION).",
            f"Change the subscription first; check the new one with kohort validate-regex.{instead}",
        )
    elif verdict.danger is not None:
        yield (
            "regex-dangerous",
            Level.BLOCKER,
            f"The regex {pattern} is dangerous to the broker: {verdict.danger}.",
            f"Change the subscription first.{instead}",
        )
    elif engine is None:
        yield (
            "regex-topics",
            Level.WARNING,
            f"It is unknown what the members' library matches with {pattern}; the broker matches whole names with "
            f"RE2/J{_count(comparison)}.",
            "Compare the topics that the members read now with those of kohort validate-regex.",
        )
    elif comparison.client_reason is not None or comparison.flagged:
        why = comparison.client_reason or ", ".join(comparison.flagged)
        yield (
            "regex-topics",
            Level.WARNING,
            f"It is not certain what {engine.value} matches with {pattern} ({why}){_count(comparison)}.",
            f"Compare the topics that the members read now with those of kohort validate-regex.{instead}",
        )
    else:
        yield from _differences(comparison, engine, instead)


def _count(comparison: Comparison) -> str:
    topics = comparison.matched.broker
    return "" if topics is None else f": {_topics(topics)}"


def _differences(comparison: Comparison, engine: ClientEngine, instead: str) -> Iterator[_RuleResult]:
    pattern, matched = comparison.verdict.pattern, comparison.matched
    hint = " (librdkafka matches anywhere in a name, the broker only the whole name)"
    why = hint if engine is ClientEngine.LIBRDKAFKA else ""
    advice = f"Change the subscription in the same step.{instead}"
    if matched.lost:
        yield (
            "regex-topics",
            Level.BLOCKER,
            f"With {pattern} the broker no longer matches {_topics(matched.lost)}{why}: no member would consume them.",
            advice,
        )
    if matched.gained:
        gained = f"With {pattern} the broker also matches {_topics(matched.gained)}."
        yield "regex-topics", Level.WARNING, gained, advice
    if not matched.lost and not matched.gained and comparison.ever is not None and not comparison.ever.same:
        only = comparison.ever
        example = only.only_second if only.only_first is None else only.only_first
        none = ", but no topic that exists now" if matched.client is not None else ""
        other = f"matches other names than {engine.value} does{why}, such as {example!r}{none}"
        yield "regex-topics", Level.WARNING, f"With {pattern} the broker {other}.", advice


def _topics(names: Sequence[str]) -> str:
    return first_names(names, MOST_TOPICS, "topics") or "no topic"
