"""Rules about subscriptions: topics that do not exist, regexes that match no topic or are refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from groups.counts import counted
from groups.diagnosis.case import Case, Need, Symptom, error, list_names, rule, warning
from groups.model import Group, Member
from groups.regex.broker import compile_broker_regex, judge


def subscribed(group: Group, of: Callable[[Member], tuple[str, ...]]) -> dict[str, list[str]]:
    """Ids of members by each subscribed name or regex, in the group's order."""
    found: dict[str, list[str]] = {}
    for member in group.members:
        for each in of(member):
            found.setdefault(each, []).append(member.id)
    return found


def _topics(member: Member) -> tuple[str, ...]:
    return member.subscription.topics if member.subscription else ()


def _regexes(member: Member) -> tuple[str, ...]:
    return (member.subscription.regex,) if member.subscription and member.subscription.regex else ()


def has_regexes(group: Group) -> bool:
    """Whether the broker matches a member's regex."""
    return any(map(_regexes, group.members))


@rule(
    "topic-missing",
    "topics that are subscribed to and do not exist",
    source="Metadata (UNKNOWN_TOPIC_OR_PARTITION)",
    needs=(Need.MISSING_TOPICS,),
    applies=lambda group: any(map(_topics, group.members)),
)
def topic_missing(case: Case) -> Iterator[Symptom]:
    """No partitions are assigned for such a topic, and the members get no error."""
    wanted = subscribed(case.group, _topics)
    gone = sorted(wanted.keys() & (case.missing_topics or frozenset()))
    if not gone:
        return
    members = tuple(dict.fromkeys(member for topic in gone for member in wanted[topic]))
    yield warning(
        message=f"{case.named(members)} subscribe{'s' if len(members) == 1 else ''} to {list_names(gone)}, which "
        f"do{'es' if len(gone) == 1 else ''} not exist.",
        remedy="Create the topic, or correct its name in the client's configuration.",
        members=members,
        evidence={"topics": tuple(gone), "members": len(members)},
    )


@rule(
    "regex-matches-nothing",
    "regexes that match no topic, or that the broker refuses",
    source="KIP-848, Regular Expressions (RE2/J)",
    needs=(Need.TOPIC_NAMES,),
    applies=has_regexes,
)
def regex_matches_nothing(case: Case) -> Iterator[Symptom]:
    """The broker matches the whole name of a topic, with RE2/J."""
    names = case.topic_names or frozenset()
    for pattern, members in subscribed(case.group, _regexes).items():
        verdict = judge(pattern)
        if not verdict.valid:
            yield error(
                message=f"The broker refuses the regex {pattern!r} of {case.named(members)}: {verdict.reason}.",
                remedy=_TRY.format(pattern=pattern),
                members=tuple(members),
                evidence={"regex": pattern, "matches": 0, "topics": len(names)},
            )
        elif not compile_broker_regex(pattern).matches(names):
            yield warning(
                message=(
                    f"The regex {pattern!r} of {case.named(members)} matches none of {counted(len(names), 'topic')}: "
                    "the broker matches the whole name."
                ),
                remedy=_TRY.format(pattern=pattern),
                members=tuple(members),
                evidence={"regex": pattern, "matches": 0, "topics": len(names)},
            )


_TRY = "Check a new regex before clients use it: kohort validate-regex '{pattern}'."
