"""Findings about what happened to a group, with what to do next: the rules of `kohort diagnose` where they mean the
same thing, judged by a group's past."""

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from assignors.assignor import RebalanceProtocol
from assignors.registry import rebalance_protocol
from groups.counts import counted, first_names
from groups.diagnosis import members
from groups.diagnosis.assignments import without_owner
from groups.diagnosis.case import DiagnosisRule, error, in_shell, note, warning
from groups.diagnosis.stalls import stalled_partition, stopped
from groups.findings import Finding, worst_first
from groups.history.account import Account, Explained
from groups.history.causes import RebalanceCause
from groups.history.events import Holding, MemberRecord, Place, Protocol
from groups.history.headline import span_text
from groups.history.processes import MemberChange, TiedBy
from groups.history.stories import ProcessStory, stories_of
from groups.history.storms import STORM_LEAST, begin_of
from groups.times import duration_text

_UNKNOWN_HOST = "an unknown host"


def advice_on(account: Account) -> tuple[Finding, ...]:
    """The findings, the worst first."""
    stories = stories_of(account.rebalances)
    found = (
        *_storms(account),
        *_poll_intervals(stories),
        *_fencing(account),
        *_not_returned(account, stories),
        *_stopped(account),
        *_not_read(account),
        *_without_owner(account),
        *_eager(account),
    )
    return worst_first(found)


def _as(rule: DiagnosisRule, finding: Finding) -> Finding:
    return replace(finding, rule=rule.name, source=rule.source)


def _ms(time: int) -> int:
    return time // 1000


def _gone_at(change: MemberChange) -> int:
    return 0 if change.departure is None else change.departure.at


def _storms(account: Account) -> Iterator[Finding]:
    for storm in account.episodes:
        explained = [account.rebalances[index] for index in storm]
        begin, end = begin_of(explained[0].rebalance), explained[-1].rebalance.end or account.until
        stories = stories_of(explained)
        left = sum(len(story.departures) for story in stories)
        if left < STORM_LEAST and (stories or len(storm) < 2 * STORM_LEAST):
            continue
        again = [story for story in stories if len(story.departures) > 1 and story.returns]
        hosts = _hosts(explained)
        yield _as(
            members.storm,
            (error if again else warning)(
                message=f"{counted(len(storm), 'rebalance')} in {duration_text((end - begin) / 1000)}, "
                f"{span_text(begin, end)}. {_who(stories, hosts)}",
                remedy=_storm_remedy(account, stories, again),
                members=_ids(stories),
                since_ms=_ms(begin),
                evidence={
                    "rebalances": len(storm),
                    "lasted_s": (end - begin) / 1_000_000,
                    "came_and_went": sum(len(story.departures) for story in again),
                    "hosts": tuple(
                        f"{host}: {left} left, {joined} joined" for host, (left, joined) in hosts.items()
                    ),
                },
            ),
        )


def _ids(stories: list[ProcessStory]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(change.record.member for story in stories for change in story.changes))


def _hosts(explained: list[Explained]) -> dict[str, tuple[int, int]]:
    left, joined = Counter[str](), Counter[str]()
    for one in explained:
        for change in one.changes:
            (joined if change.departure is None else left)[change.process.host or _UNKNOWN_HOST] += 1
    hosts = sorted(left.keys() | joined.keys(), key=lambda host: (-left[host] - joined[host], host))
    return {host: (left[host], joined[host]) for host in hosts}


def _who(stories: list[ProcessStory], hosts: dict[str, tuple[int, int]]) -> str:
    if not stories:
        return "No member joined or left: subscriptions, partitions of topics or the assignor changed."
    host, (left, joined) = next(iter(hosts.items()))
    where = f"on {host}" if len(hosts) == 1 else f"on {len(hosts):,} hosts, most on {host}"
    left, joined = (sum(counts) for counts in zip(*hosts.values(), strict=True))
    return f"{counted(left, 'departure')} and {counted(joined, 'join')} {where}."


def _storm_remedy(account: Account, stories: list[ProcessStory], again: list[ProcessStory]) -> str:
    if any(story.still_ran for story in stories):
        return members.PAUSE_REMEDY
    if again and again[0].process.tied_by is TiedBy.INSTANCE:
        return (
            "Check why it restarts. A static member that is back within its session.timeout.ms does not rebalance the "
            "group: raise it above the time that a restart takes."
        )
    if again:
        return members.restart_remedy(again[0].process.host or _UNKNOWN_HOST)
    if stories:
        return (
            "If this was a deployment, give members a group.instance.id, so that a restart does not rebalance the "
            "group (KIP-345)."
        )
    return f"See what changes: kohort watch {in_shell(account.group)}."


def _poll_intervals(stories: list[ProcessStory]) -> Iterator[Finding]:
    """A process of the consumer protocol that still ran was removed: only a new process has a new id."""
    again = [story for story in stories if story.still_ran]
    if again:
        yield _as(
            members.poll_interval,
            error(
                message=f"{first_names([story.process.name for story in again])} left the group and rejoined with the "
                "same member id: the time between two polls exceeded max.poll.interval.ms, or the session expired.",
                remedy=members.POLL_REMEDY,
                members=_ids(again),
                since_ms=_ms(_gone_at(again[0].departures[0])),
                evidence={
                    "hosts": tuple(dict.fromkeys(story.process.host or _UNKNOWN_HOST for story in again)),
                    "times_gone": sum(len(story.departures) for story in again),
                },
            ),
        )


def _fencing(account: Account) -> Iterator[Finding]:
    """An instance whose member id changed at least twice; one change is a restart."""
    ids: dict[str, dict[str, Holding]] = {}
    for span in account.holdings:
        record = account.course.members.get(span.member or "")
        if record is not None and record.instance is not None:
            ids.setdefault(record.instance, {}).setdefault(record.member, span)
    for instance, spans in sorted(ids.items()):
        if (changes := len(spans) - 1) >= 2:
            hosts = tuple(sorted({(span.host or _UNKNOWN_HOST).lstrip("/") for span in spans.values()}))
            yield _as(
                members.static_fencing,
                error(
                    message=f"The static member {instance} changed its member id {changes} times: two processes have "
                    f"the same group.instance.id, or one restarts repeatedly ({first_names(hosts)}).",
                    remedy=members.FENCING_REMEDY,
                    members=tuple(spans),
                    since_ms=_ms(min(span.since for span in spans.values())),
                    evidence={"instance": instance, "changes": changes, "hosts": hosts},
                ),
            )


def _not_returned(account: Account, stories: list[ProcessStory]) -> Iterator[Finding]:
    """Members that departed and were not in the group at the end: a warning unless they left by themselves."""
    gone = [story for story in stories if story.is_gone]
    has_members = bool(account.rebalances) and account.rebalances[-1].rebalance.members > 0
    left = [story for story in gone if story.departures[-1].cause is RebalanceCause.LEAVE]
    others = [story for story in gone if story not in left]
    for level, departed, what in (
        (warning, others, "left or lost their sessions, and did not return"),
        (note, left, "left and did not return"),
    ):
        if departed and has_members:
            yield _as(
                members.evicted,
                level(
                    message=f"{first_names([story.process.name for story in departed])} {what}.",
                    remedy="If it was not stopped on purpose, check its log: it may still process records that other "
                    "members now read.",
                    members=_ids(departed),
                    since_ms=_ms(min(_gone_at(story.departures[-1]) for story in departed)),
                    evidence={
                        "hosts": tuple(
                            dict.fromkeys(story.process.host or _UNKNOWN_HOST for story in departed)
                        ),
                        "verdicts": tuple(str(story.departures[-1].cause) for story in departed),
                    },
                ),
            )


def _stopped(account: Account) -> Iterator[Finding]:
    since = account.empty_since
    if since is not None:
        last = account.rebalances[-1].changes
        hosts = tuple(dict.fromkeys(change.process.host or _UNKNOWN_HOST for change in last))
        yield _as(
            stopped,
            warning(
                message=f"The group has had no members since {_clock(since)}: nothing is read.",
                remedy=f"If it was not stopped on purpose, restart its consumers; the last ones were on "
                f"{first_names(hosts or [_UNKNOWN_HOST])}.",
                since_ms=_ms(since),
                evidence={"hosts": hosts},
            ),
        )


def _not_read(account: Account) -> Iterator[Finding]:
    if account.empty_since is not None:
        return
    unread = [pause for pause in account.pauses if pause.until is None]
    if unread:
        since = min(pause.since for pause in unread)
        names = _names({pause.place for pause in unread})
        yield _as(
            stalled_partition,
            warning(
                message=f"Nothing was committed for {first_names(names)} since a rebalance, for "
                f"{duration_text((account.until - since) / 1000)} or less; it was committed regularly before.",
                remedy=f"Check whether there are records to read: kohort diagnose {in_shell(account.group)}.",
                since_ms=_ms(since),
                evidence={"partitions": tuple(names)},
            ),
        )


def _without_owner(account: Account) -> Iterator[Finding]:
    """Partitions without an owner at the end; those of a static member that is away wait for it."""
    free = [span for span in account.holdings if span.member is None and span.until is None]
    owners: dict[Place, MemberRecord | None] = {}
    for span in account.course.holdings:
        if span.member is not None:
            owners[span.place] = account.course.members.get(span.member)
    static = {
        span.place: owner
        for span in free
        if (owner := owners.get(span.place)) is not None and owner.instance is not None
    }
    if static:
        names = list(dict.fromkeys(owner.instance or "" for owner in static.values()))
        yield _as(
            members.static_away,
            warning(
                message=f"Static members were away at the end: {first_names(names)}. No member reads "
                f"{first_names(_names(static))} until they rejoin or their sessions expire.",
                remedy=f"Restart it with group.instance.id={names[0]}, or remove it: kohort members remove "
                f"{in_shell(account.group)} --instance {shlex.quote(names[0])}.",
                members=tuple(dict.fromkeys(owner.member for owner in static.values())),
                since_ms=_ms(min(span.since for span in free if span.place in static)),
                evidence={"instances": tuple(names), "partitions": tuple(_names(static))},
            ),
        )
    others = [span for span in free if span.place not in static]
    if others:
        since, names = min(span.since for span in others), _names(span.place for span in others)
        yield _as(
            without_owner,
            error(
                message=f"No member owned {first_names(names)} at the end, since {_clock(since)} or later.",
                remedy=f"See whether it is so now: kohort diagnose {in_shell(account.group)}.",
                since_ms=_ms(since),
                evidence={"partitions": tuple(names)},
            ),
        )


def _names(places: Iterable[Place]) -> list[str]:
    return [f"{topic}-{number}" for topic, number in sorted(places)]


def _clock(time: int) -> str:
    return span_text(time, time).removeprefix("at ")


def _eager(account: Account) -> Iterator[Finding]:
    """Rebalances that stopped all members although few partitions moved."""
    eager = [one for one in account.rebalances if _is_eager(one)]
    stopped = [
        one
        for one in eager
        if one.rebalance.moved < one.rebalance.partitions and one.rebalance.members_before > 1
    ]
    if len(stopped) >= 2:
        moved = sum(one.rebalance.moved for one in stopped)
        revoked = sum(one.rebalance.partitions for one in stopped)
        yield note(
            rule="eager-rebalancing",
            source="KIP-429; KIP-848",
            message=f"{counted(len(stopped), 'rebalance')} stopped all members, as "
            f"{stopped[-1].rebalance.assignor} requires: {revoked:,} partitions were revoked, and {moved:,} moved.",
            remedy=f"See what another protocol spares: kohort what-if {in_shell(account.group)}; plan the migration: "
            f"kohort plan {in_shell(account.group)} --to consumer.",
            since_ms=_ms(begin_of(stopped[0].rebalance)),
            evidence={"rebalances": len(stopped), "revoked": revoked, "moved": moved},
        )


def _is_eager(one: Explained) -> bool:
    rebalance = one.rebalance
    return (
        rebalance.protocol is Protocol.CLASSIC
        and rebalance.assignor is not None
        and rebalance_protocol([rebalance.assignor]) is RebalanceProtocol.EAGER
    )
