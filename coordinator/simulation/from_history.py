"""A scenario from the past of a group: its members' processes as they started, closed and crashed
(`groups.history.lives`), its topics as they grew, and the rates of records and commits as its commits show them. What
the log does not have is stated, or Kafka's default: `Past.assumptions` has it in words.

A process that starts after another has stopped continues its member, which matters once members are static: the one
with its instance, else with its client id and host, else the one that stopped first."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from assignors.assignor import Side
from assignors.errors import UnknownAssignorError
from assignors.registry import find
from coordinator.configs.settings import Config
from coordinator.consumer.library import MemberSettings
from coordinator.faults import ChangeTopic
from coordinator.simulation import scenario as model
from coordinator.simulation.variants import of_brokers
from groups.client_library import library_of
from groups.counts import counted
from groups.history.causes import RebalanceCause
from groups.history.costs import PastCost, cost_of, rebalanced_at
from groups.history.course import Course
from groups.history.departures import judged
from groups.history.events import MemberRecord, PastRebalance, Place, Protocol
from groups.history.lives import Life, Rhythms, When, lives_of
from groups.history.rates import rates_of
from groups.model import Client, Member

PRELUDE_S: Final = 90.0
"""How long the members that were there at the beginning run before it: until they have settled."""
_LEAD_US = 60_000_000
"""How long before the period processes start and stop as they did: a group may notice it later."""
DEFAULT_RECORDS_PER_S: Final = 10.0
_AT_FIRST_S = (
    2.5  # Members that were there before start within twice this time: their heartbeats are not in step
)
_US_PER_MS, _US_PER_S = 1_000, 1_000_000
_COMMITS_MS = range(500, 300_001)
_NEVER_MS = 2**31 - 1
_UNSEEN = {"offsets.retention.check.interval.ms": str(_NEVER_MS)}
"""A group that reads its topics loses no offsets, and looking for some would interrupt its idle time."""
_METADATA_AGE_MS = 1_000  # The log has when a group noticed that a topic had grown, not when that was
_SESSION, _HEARTBEAT = "session.timeout.ms", "heartbeat.interval.ms"
_COMMIT, _POLL = "auto.commit.interval.ms", "max.poll.interval.ms"


_NOTICED_US = 10 * _US_PER_S  # From the record of a change until members have given up the partitions
_CHANGES = {RebalanceCause.METADATA, RebalanceCause.SUBSCRIPTION}


class CannotPlayError(Exception):
    """The message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statements:
    """What is known or stated of a group beyond its log: settings by Kafka's names."""

    of_members: Mapping[str, str] = field(default_factory=dict)
    of_brokers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """A group's past as a scenario, and its cost. The scenario begins `prelude_s` before the period."""

    scenario: model.Scenario
    spreads_s: tuple[float, ...]  # How much earlier or later each event of the scenario may have been
    member_ids: Mapping[str, Sequence[str]]  # Of each member's processes, as in the log: assignors sort them
    since: int  # µs since 1970
    until: int
    prelude_s: float
    observed: PastCost
    rebalances: tuple[PastRebalance, ...]  # Those that count
    commit_interval_ms: int | None  # As measured
    assumptions: tuple[str, ...]


def past_of(
    course: Course, *, until: int, since: int | None = None, stated: Statements | None = None
) -> Past:
    """The past from `since`, or from when the log is complete, to `until`, in µs. Raises CannotPlayError: there is
    nothing to play, or an assignor that Kohort does not have."""
    stated = stated or Statements()
    knows_sessions = course.knowledge.session_timeout_ms is not None
    course = _judged(course, stated)
    begin = _begin(course, since)
    draft = _Draft(course, begin, until, stated)
    if not draft.lives:
        raise CannotPlayError("no member in this part of its log")
    if not any(holding.until is None or holding.until > begin for holding in course.holdings):
        raise CannotPlayError("its members had no partitions in this part of its log")
    observed = cost_of(course.rebalances, course.holdings, begin, until)
    if not observed.rebalances and not observed.without_owner_s:
        raise CannotPlayError("no rebalance in this part of its log")
    timeline = draft.timeline()
    return Past(
        scenario=draft.scenario(event for event, _ in timeline),
        spreads_s=tuple(spread_s for _, spread_s in timeline),
        member_ids=draft.member_ids,
        since=begin,
        until=until,
        prelude_s=draft.prelude_s,
        observed=observed,
        rebalances=tuple(row for row in course.rebalances if begin <= rebalanced_at(row) <= until),
        commit_interval_ms=draft.rates.interval_ms,
        assumptions=tuple(draft.assumptions(knows_sessions=knows_sessions)),
    )


def _judged(course: Course, stated: Statements) -> Course:
    """The course, with unproven departures judged by the session timeout that the scenario has."""
    brokers, known = Config.parse(stated.of_brokers), course.knowledge
    session_ms = brokers.group_consumer_session_timeout_ms
    heartbeat_ms = brokers.group_consumer_heartbeat_interval_ms
    if f"group.consumer.{_SESSION}" not in stated.of_brokers:
        session_ms = known.session_timeout_ms or session_ms
    if f"group.consumer.{_HEARTBEAT}" not in stated.of_brokers:
        heartbeat_ms = known.heartbeat_interval_ms or heartbeat_ms
    knowledge = replace(known, session_timeout_ms=session_ms, heartbeat_interval_ms=heartbeat_ms)
    rebalances = tuple(
        judged(rebalance, course.commits, knowledge)
        if any(verdict.cause is RebalanceCause.UNKNOWN for verdict in rebalance.verdicts)
        else rebalance
        for rebalance in course.rebalances
    )
    return replace(course, rebalances=rebalances, knowledge=knowledge)


def _begin(course: Course, since: int | None) -> int:
    """When the period begins: with the group's first rebalance, or after one that is not whole in it or in the log."""
    if not course.rebalances:
        raise CannotPlayError("no rebalance in this part of its log")
    first = course.rebalances[0]
    times = [time for time in (first.start, course.complete_since, since) if time is not None]
    begin = max(times, default=0)
    if first.skipped != 0 or first.members_before:
        begin = max(begin, rebalanced_at(first) + 1)
    for row in course.rebalances:
        if row.end is not None and row.start is not None and row.start < begin <= row.end:
            begin = row.end + 1
    return begin


class _Draft:
    """The scenario of a period, whose times in seconds begin with the prelude."""

    def __init__(self, course: Course, begin: int, until: int, stated: Statements) -> None:
        self._course, self._begin, self._until, self._stated = course, begin, until, stated
        self.rates = rates_of(course.commits, begin, until)
        self._unstated = MemberSettings.parse(stated.of_members)
        self._rhythms = Rhythms(
            classic_heartbeat_ms=self._unstated.heartbeat_interval_ms,
            commit_interval_ms=self.rates.interval_ms,
            heartbeat_ms=course.knowledge.heartbeat_interval_ms or 1,
            session_timeout_ms=course.knowledge.session_timeout_ms or 1,
        )
        self._lead = begin - _LEAD_US
        self.lives = [
            life
            for life in lives_of(course, self._rhythms)
            if (life.end is None or life.end.middle > self._lead)
            and (life.start is None or life.start.middle <= until)
        ]
        was_there = any(life.start is None or life.start.middle < begin for life in self.lives)
        self.prelude_s = PRELUDE_S if was_there else 1.0
        self._assignors = _assignors(course)
        self._topics = list(_topics_at(begin, until, course))
        self._workers = _workers(self.lives)

    @property
    def member_ids(self) -> Mapping[str, Sequence[str]]:
        return {name: [life.record.member for life in lives] for name, lives in self._workers.items()}

    def timeline(self) -> list[tuple[model.Event, float]]:
        """The events, in order, each with the time by which it may have been earlier or later, in seconds."""
        timed = [*self._topic_events(), *self._member_events()]
        return sorted(timed, key=lambda entry: entry[0].at)

    def scenario(self, events: Iterable[model.Event]) -> model.Scenario:
        rate = self.rates.records_per_s
        return model.Scenario(
            name=self._course.group,
            topics={topic: count for topic, count, _ in self._topics if count is not None},
            settings={
                **_UNSEEN,
                **self._session_bounds(),
                **self._consumer_settings(),
                **self._stated.of_brokers,
            },
            members={name: self._script(lives[0]) for name, lives in self._workers.items()},
            events=tuple(events),
            records_per_s=min(DEFAULT_RECORDS_PER_S if rate is None else rate, 1_000_000),
            until_s=self._s(self._until),
        )

    def _session_bounds(self) -> Mapping[str, str]:
        """The brokers' bounds of classic sessions, which the group's sessions are within."""
        known = [life.record.session_timeout_ms for life in self.lives if life.record.session_timeout_ms]
        bounds = Config()
        least, most = bounds.group_min_session_timeout_ms, bounds.group_max_session_timeout_ms
        return {
            "group.min.session.timeout.ms": str(min([least, *known])),
            "group.max.session.timeout.ms": str(max([most, *known])),
        }

    def _consumer_settings(self) -> Mapping[str, str]:
        """The brokers' settings of the consumer protocol, also if classic members have others: they would change."""
        config = Config.parse(self._stated.of_brokers)
        return of_brokers(_SESSION, self._rhythms.session_timeout_ms, config) | of_brokers(
            _HEARTBEAT, self._rhythms.heartbeat_ms, config
        )

    def _s(self, time: int) -> float:
        return max(0.0, self.prelude_s + (time - self._begin) / _US_PER_S)

    # Members.

    def _member_events(self) -> Iterator[tuple[model.Event, float]]:
        for name, lives in self._workers.items():
            script: model.MemberScript | None = None
            for life in lives:
                at, spread_s = _AT_FIRST_S, _AT_FIRST_S
                if life.start is not None and life.start.middle >= self._lead:
                    at, spread_s = self._s(life.start.middle), _spread_s(life.start)
                before, script = script, self._script(life)
                if before in (None, script):
                    yield model.Start(at=at, member=name), spread_s
                else:
                    yield model.Restart(at=at, member=name, script=script), spread_s
                if life.end is not None and life.end.middle <= self._until:
                    stop = model.Kill if life.crashed else model.Close
                    stops = max(self._s(life.end.middle), at + spread_s + 0.001)
                    yield stop(at=stops, member=name), _spread_s(life.end)

    def _script(self, life: Life) -> model.MemberScript:
        record, commit_ms = life.record, self.rates.interval_ms
        of_log = {"metadata.max.age.ms": _METADATA_AGE_MS}
        if commit_ms is not None:
            of_log[_COMMIT] = min(max(commit_ms, _COMMITS_MS.start), _COMMITS_MS.stop - 1)
        if record.rebalance_timeout_ms:
            of_log[_POLL] = record.rebalance_timeout_ms
        is_consumer = life.protocol is Protocol.CONSUMER and record.session_timeout_ms is None
        if record.session_timeout_ms and not is_consumer:
            of_log[_SESSION] = record.session_timeout_ms
            of_log[_HEARTBEAT] = min(
                self._unstated.heartbeat_interval_ms, max(1, record.session_timeout_ms // 3)
            )
        config = {**{name: str(value) for name, value in of_log.items()}, **self._stated.of_members}
        if is_consumer:
            config = {name: value for name, value in config.items() if name not in (_SESSION, _HEARTBEAT)}
        topics = record.topics
        if record.regex or not topics:
            topics = frozenset(holding.place[0] for holding in self._course.holdings)
        library = library_of(
            Member(id=record.member, instance=record.instance, client=Client(id=record.client_id))
        )
        return model.MemberScript(
            library="librdkafka" if library.name == "librdkafka" else "java",
            protocol="consumer" if is_consumer else "classic",
            assignors=() if is_consumer else self._assignors,
            remote_assignor=record.assignor if is_consumer else None,
            topics=tuple(sorted(topics)),
            instance=record.instance,
            after_error="restart",  # By its supervisor, as a container is
            config=config,
        )

    # Topics.

    def _topic_events(self) -> Iterator[tuple[model.Event, float]]:
        for topic, first, changes in self._topics:
            exists = first is not None
            for row, count in changes:
                when = self._noticed(row)
                at, spread_s = self._s(when.middle), _spread_s(when)
                if count is None:
                    yield ChangeTopic(at=at, topic=topic, delete=True), spread_s
                elif exists:
                    yield ChangeTopic(at=at, topic=topic, partitions=count), spread_s
                else:
                    yield ChangeTopic(at=at, topic=topic, create=count), spread_s
                exists = count is not None

    def _noticed(self, row: PastRebalance) -> When:
        """When the topic changed after which the group rebalanced, so that it notices it then."""
        begun = rebalanced_at(row) if row.start is None else row.start
        if row.protocol is Protocol.CONSUMER:
            return When(begun - _US_PER_MS, begun - _US_PER_MS)
        return When(begun - (self._rhythms.classic_heartbeat_ms + _METADATA_AGE_MS) * _US_PER_MS, begun)

    # Assumptions.

    def assumptions(self, *, knows_sessions: bool) -> Iterator[str]:
        """What the log does not have, a sentence each. `knows_sessions`: whether the source has the settings."""
        members, brokers = self._stated.of_members, self._stated.of_brokers
        protocols = {life.protocol for life in self.lives}
        if Protocol.CLASSIC in protocols and _HEARTBEAT not in members:
            yield f"classic members send heartbeats every {self._rhythms.classic_heartbeat_ms / 1000:g} s, the default"
        if not knows_sessions and f"group.consumer.{_SESSION}" not in brokers:
            yield (
                f"sessions of the consumer protocol last {self._rhythms.session_timeout_ms / 1000:g} s, "
                f"with heartbeats every {self._rhythms.heartbeat_ms / 1000:g} s, the default"
            )
        if self.rates.interval_ms is None and _COMMIT not in members:
            yield "members commit every 5 s, the default: the log has no commits of them"
        if self.rates.records_per_s is None:
            yield f"{DEFAULT_RECORDS_PER_S:g} records a second are written to each partition: the log has no commits"
        if unproven := sum(life.unproven for life in self.lives):
            yield f"{counted(unproven, 'departure')} that the log does not explain: closes, or crashes if static"
        if any(life.record.regex for life in self.lives):
            yield "members that subscribe by a regex subscribe to the topics that the group has read"


def _spread_s(when: When) -> float:
    return (when.latest - when.earliest) / 2 / _US_PER_S


def _assignors(course: Course) -> tuple[str, ...]:
    """The assignor of the last classic generation."""
    names = [row.assignor for row in course.rebalances if row.protocol is Protocol.CLASSIC and row.assignor]
    if not names:
        return ()
    try:
        find(names[-1], Side.CLIENT)
    except UnknownAssignorError:
        raise CannotPlayError(f"it uses the assignor {names[-1]}, which Kohort does not have") from None
    return (names[-1],)


def _workers(lives: Sequence[Life]) -> dict[str, list[Life]]:
    """The processes of each member, in order: see the module."""
    workers: dict[str, list[Life]] = {}
    for life in lives:
        name = _continued(life, workers) or _fresh_name(life.record, workers)
        workers.setdefault(name, []).append(life)
    return workers


def _continued(life: Life, workers: Mapping[str, Sequence[Life]]) -> str | None:
    """The member that a process continues."""
    if life.start is None:
        return None
    stopped = [
        (end.middle, name)
        for name, earlier in workers.items()
        if (end := earlier[-1].end) is not None
        and end.middle < life.start.middle
        and earlier[-1].record.instance == life.record.instance
    ]
    same = [(end, name) for end, name in stopped if _client(workers[name][-1].record) == _client(life.record)]
    return min(same or stopped, default=(0, None))[1]


def _client(record: MemberRecord) -> tuple[str | None, str | None]:
    return record.client_id, record.host


def _fresh_name(record: MemberRecord, workers: Mapping[str, object]) -> str:
    name = record.instance or record.client_id or "member"
    numbered = (name if number == 1 else f"{name} {number}" for number in range(1, len(workers) + 2))
    return next(fresh for fresh in numbered if fresh not in workers)


TopicChange: TypeAlias = tuple[PastRebalance | None, int | None]
"""The rebalance by which a group noticed a change of a topic, and its new number of partitions; None: the topic was
there before, or is deleted."""


def _topics_at(
    begin: int, until: int, course: Course
) -> Iterator[tuple[str, int | None, Sequence[tuple[PastRebalance, int | None]]]]:
    """Each topic with its partitions at the beginning of a period, None if it does not exist, and its later changes."""
    for topic, changes in _topics(course).items():
        counts = [count for row, count in changes if row is None or rebalanced_at(row) < begin]
        later = [(row, count) for row, count in changes if row and begin <= rebalanced_at(row) <= until]
        yield topic, counts[-1] if counts else None, later


def _topics(course: Course) -> dict[str, list[TopicChange]]:
    """The changes of each topic, in order. A topic that was not subscribed to before counts as created."""
    rows = list(_rows_of_changes(course))
    times = [rebalanced_at(row) for row in rows]
    first: dict[Place, int] = {}
    last: dict[str, int | None] = {}
    for holding in course.holdings:
        topic = holding.place[0]
        first.setdefault(holding.place, holding.since)
        until = last.get(topic, 0)
        last[topic] = None if until is None or holding.until is None else max(until, holding.until)
    counts: dict[str, dict[int, int]] = defaultdict(dict)  # By the number of the row, from 1
    for (topic, number), since in first.items():
        row = bisect_right(times, since)
        counts[topic][row] = max(counts[topic].get(row, 0), number + 1)
    changes: dict[str, list[TopicChange]] = {}
    for topic, of_rows in sorted(counts.items()):
        most = 0
        for number, count in sorted(of_rows.items()):
            if count > most:
                most = count
                changes.setdefault(topic, []).append((rows[number - 1] if number else None, count))
        ended = last[topic]
        if ended is not None:
            number = bisect_right(times, ended)
            before = rows[number - 1] if number else None
            if before is not None and before.members and ended - rebalanced_at(before) <= _NOTICED_US:
                changes[topic].append((before, None))
    return changes


def _rows_of_changes(course: Course) -> Iterator[PastRebalance]:
    """The rebalances that assign other topics or more partitions; who joins or leaves meanwhile may be their cause."""
    most = 0
    for row in course.rebalances:
        if most and (row.partitions > most or _CHANGES & set(row.causes)):
            yield row
        most = max(most, row.partitions)
