"""The processes that were members of a group: when each started, and how it ended. A log has when the group noticed;
what a process did before follows from what the clients do.

- A consumer group writes a member that joins or leaves at once, and one that crashed after its session timeout.
- A classic group writes a generation when all have rejoined. The others notice at their next heartbeats, half an
  interval later on average. A member that commits automatically does so when it closes: where that commit is in the
  log, it has the time.
- A crashed member's last heartbeat was half an interval before it crashed, on average.

A departure that the log does not prove is a close, or, of a static classic member, which never leaves by itself, a
crash."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from groups.history.causes import RebalanceCause
from groups.history.commits import Commits
from groups.history.costs import rebalanced_at
from groups.history.course import Course
from groups.history.events import Departure, MemberRecord, PastRebalance, Place, Protocol, Verdict

_MS_US = 1_000
_RESTART_US = 5_000 * _MS_US  # until a crashed process runs again, where the log does not show it
_SLACK_US = 500 * _MS_US  # between the commit of a member that closes and the end of a heartbeat interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Rhythms:
    """The intervals by which a group's members and its coordinator notice something, in ms."""

    classic_heartbeat_ms: int
    heartbeat_ms: int  # Of the consumer protocol
    session_timeout_ms: int  # Of the consumer protocol, where the log does not have it
    commit_interval_ms: int | None  # None: unknown


class When(NamedTuple):
    """A time as far as it is known, in µs since 1970."""

    earliest: int
    latest: int

    @property
    def middle(self) -> int:
        return (self.earliest + self.latest) // 2

    @classmethod
    def within(cls, earliest: int, latest: int) -> When:
        """From the earlier bound on, if the later one is before it."""
        return cls(earliest, max(earliest, latest))


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """A process that was a member."""

    record: MemberRecord
    protocol: Protocol
    start: When | None  # None: before the log begins
    end: When | None = None  # None: it was a member when the log ended
    crashed: bool = False
    unproven: bool = False  # Whether the log does not prove how it ended


def lives_of(course: Course, rhythms: Rhythms) -> tuple[Life, ...]:
    """The processes in the order of their starts."""
    lives = _Lives(course, rhythms)
    before: PastRebalance | None = None
    for rebalance in course.rebalances:
        lives.rebalance(rebalance, before)
        before = rebalance
    found = sorted(
        (*lives.ended, *lives.running()), key=lambda life: -1 if life.start is None else life.start.middle
    )
    restarts = _static_restarts(course)
    return tuple(part for life in found for part in _restarted(life, restarts, course.commits))


class _Lives:
    """The lives so far, in the order of the rebalances."""

    def __init__(self, course: Course, rhythms: Rhythms) -> None:
        self.ended: list[Life] = []
        self._course, self._rhythms = course, rhythms
        self._open: dict[str, Life] = {}  # By identity
        self._known: set[str] = set()  # Identities

    def rebalance(self, row: PastRebalance, before: PastRebalance | None) -> None:
        """Note who left, then who joined."""
        verdicts = {verdict.member: verdict for verdict in row.verdicts}
        begun = _begun(row)
        after = 0 if before is None else min(rebalanced_at(before) + _MS_US, begun)
        departed = [departure for departure in row.departures if departure.member in row.left]
        # Crashes first: a rebalance that others have begun waits until the crashed members' sessions have expired.
        departed.sort(key=lambda departure: not self._has_crashed(departure, verdicts.get(departure.member)))
        ends: list[tuple[When, bool]] = []
        for departure in departed:
            waited = any(has_crashed for _, has_crashed in ends)
            ends.append(self._depart(departure, verdicts.get(departure.member), after, waited=waited))
        crashed = max((end.middle for end, has_crashed in ends if has_crashed), default=None)
        left = max((end.middle for end, has_crashed in ends if not has_crashed), default=after)
        for number, member in enumerate(row.joined):
            record = self._course.members.get(member)
            if record is not None:
                start = self._joined_at(row, number, max(after, left), crashed)
                self._open[record.identity] = Life(record=record, protocol=row.protocol, start=start)
                self._known.add(record.identity)

    def running(self) -> Iterator[Life]:
        """The lives without an end, among them those of members that no rebalance names."""
        yield from self._open.values()
        first = self._course.rebalances[0].protocol if self._course.rebalances else Protocol.CLASSIC
        for record in self._course.members.values():
            if record.identity not in self._known:
                self._known.add(record.identity)
                yield Life(record=record, protocol=first, start=None)

    @staticmethod
    def _has_crashed(departure: Departure, verdict: Verdict | None) -> bool:
        if departure.away is not None:
            return False
        cause = None if verdict is None else verdict.probably or verdict.cause
        never_leaves = departure.record.instance is not None and departure.protocol is Protocol.CLASSIC
        return cause is RebalanceCause.EXPIRY or (never_leaves and cause is not RebalanceCause.LEAVE)

    def _depart(
        self, departure: Departure, verdict: Verdict | None, after: int, *, waited: bool
    ) -> tuple[When, bool]:
        record = departure.record
        self._known.add(record.identity)
        life = self._open.pop(record.identity, None) or Life(
            record=record, protocol=departure.protocol, start=None
        )
        proven = {RebalanceCause.LEAVE, RebalanceCause.EXPIRY}
        unproven = departure.away is None and (verdict is None or verdict.cause not in proven)
        has_crashed = self._has_crashed(departure, verdict)
        if departure.away is not None:
            end = When(departure.away, departure.away)
        elif has_crashed:
            end = self._crashed_at(departure)
        else:
            end = self._left_at(departure, after, waited=waited)
        if life.start is not None:
            end = When.within(max(end.earliest, life.start.latest + _MS_US), end.latest)
        self.ended.append(replace(life, end=end, crashed=has_crashed, unproven=unproven))
        return end, has_crashed

    def _crashed_at(self, departure: Departure) -> When:
        rhythms, session_ms = self._rhythms, departure.record.session_timeout_ms
        noticed = departure.at - (session_ms or rhythms.session_timeout_ms) * _MS_US
        if departure.protocol is Protocol.CONSUMER:
            when = When(noticed, noticed + rhythms.heartbeat_ms * _MS_US)
        else:
            heartbeat_us = rhythms.classic_heartbeat_ms * _MS_US
            when = When(noticed - heartbeat_us, noticed + heartbeat_us)
        last = _last_commit(self._course.commits, departure.places, departure.at)
        if last is None:
            return when
        interval_us = (rhythms.commit_interval_ms or 0) * _MS_US
        # In a classic group, who was noticed may have waited for others whose sessions expired later.
        if last + 2 * interval_us < when.earliest and self._commits_regularly(departure, last, interval_us):
            return When(last, last + interval_us)
        return When.within(max(when.earliest, last), when.latest)

    def _commits_regularly(self, departure: Departure, until: int, interval_us: int) -> bool:
        recent = (self._course.commits.recent(place, until)[-2:] for place in departure.places)
        return any(len(two) == 2 and two[1].time - two[0].time < 2 * interval_us for two in recent)

    def _left_at(self, departure: Departure, after: int, *, waited: bool) -> When:
        at = departure.at
        if departure.protocol is Protocol.CONSUMER:
            return When(at, at)
        heartbeat_us = self._rhythms.classic_heartbeat_ms * _MS_US
        last = _last_commit(self._course.commits, departure.places, at)
        if last is not None and (waited or last >= at - heartbeat_us - _SLACK_US):
            return When(max(after, last), max(after, last))
        return When.within(max(after, at - heartbeat_us), at)

    def _joined_at(self, row: PastRebalance, number: int, after: int, crashed: int | None) -> When:
        begun = _begun(row)
        if row.protocol is Protocol.CONSUMER or (not row.members_before and not number):
            return When(begun, begun)
        if not row.members_before:  # the first member waits once more after others have joined
            return When.within(begun, (begun + rebalanced_at(row)) // 2)
        noticed = begun - self._rhythms.classic_heartbeat_ms * _MS_US
        # A rebalance waits for members that crashed: their successors have joined long before it begins.
        if crashed is not None and crashed + _RESTART_US < noticed:
            return When.within(max(after, crashed) + _MS_US, crashed + _RESTART_US)
        return When.within(min(max(noticed, after + _MS_US), begun), begun)


def _begun(row: PastRebalance) -> int:
    return next((time for time in (row.start, row.end) if time is not None), 0)


def _last_commit(commits: Commits, places: Iterable[Place], until: int) -> int | None:
    last = (commits.last_before(place, until) for place in places)
    return max((commit.time for commit in last if commit is not None), default=None)


def _static_restarts(course: Course) -> Mapping[str, list[tuple[int, int, tuple[Place, ...]]]]:
    """Restarts of static members that caused no rebalance, by identity: when the partitions were last held, and when
    they were held again, by another member id."""
    joined = {member for row in course.rebalances for member in row.joined}
    spans: dict[str, list[tuple[int, int, str, Place]]] = defaultdict(list)
    for holding in course.holdings:
        record = None if holding.member is None else course.members.get(holding.member)
        if record is not None and record.instance is not None and holding.member is not None:
            until = holding.since if holding.until is None else holding.until
            spans[record.identity].append((holding.since, until, holding.member, holding.place))
    restarts: dict[str, list[tuple[int, int, tuple[Place, ...]]]] = defaultdict(list)
    for identity, held in spans.items():
        for earlier, later in pairwise(sorted(held)):
            if later[2] != earlier[2] and later[2] not in joined:
                places = tuple(place for *_, member, place in held if member == earlier[2])
                restarts[identity].append((min(earlier[1], later[0]), later[0], places))
    return restarts


def _restarted(
    life: Life, restarts: Mapping[str, list[tuple[int, int, tuple[Place, ...]]]], commits: Commits
) -> Iterator[Life]:
    """The life in parts, between the restarts of its static member."""
    for held_until, again, places in restarts.get(life.record.identity, ()):
        is_within = (life.start is None or life.start.latest < again) and (
            life.end is None or again < life.end.earliest
        )
        if not is_within:
            continue
        last = _last_commit(commits, places, again - _MS_US)
        # A classic group does not write when it closed.
        is_written = held_until < again or last is None
        stopped = min(held_until, again - _RESTART_US) if is_written or last is None else last
        stopped = max(stopped, 0 if life.start is None else life.start.latest + _MS_US)
        yield replace(life, end=When(stopped, stopped), crashed=False, unproven=False)
        life = replace(life, start=When(again, again))
    yield life
