"""Observations of groups: several of a cluster or a broker's log, one of a file."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from cli.options import SourceOptions
from cli.progress import show_step
from cli.selection import source_of, with_close_names
from cli.sources.source import Source
from groups.counts import counted
from groups.diagnosis.assignments import has_regexes
from groups.diagnosis.case import Observation, Thresholds
from groups.diagnosis.rebalances import is_unsettled
from groups.lag import NextRecord, topics_read
from groups.model import Cluster, Group, OpenTransaction, Problem, Topic
from groups.times import seconds_text
from wire.errors import WireError

USUAL_MS = 6_000
"""How long a cluster is observed: consumers commit every 5 seconds by default."""
EVERY_MS = 1_000
"""Interval between observations."""
LOG_OBSERVATIONS = 6
"""Number of observations of a broker's log before its end; each reads the whole log."""
MOST_IN_FULL = 7
"""Maximum number of times that offsets are read between the first observation and the last: a fleet has a hundred
thousand."""
OFFSETS_EVERY = 0.7
"""How often offsets are read, in commit intervals. Not a whole number, so that two consumers that commit the same
partition in turn do not look like one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetObservation:
    """All groups at one time."""

    at_ms: int
    groups: Mapping[str, Group]
    problems: tuple[Problem, ...] = ()
    topics: Mapping[str, Topic] | None = None
    missing_topics: frozenset[str] | None = None
    topic_names: frozenset[str] | None = None
    cluster: Cluster | None = None
    waiting_since_ms: Mapping[str, Mapping[tuple[str, int], int | None]] = field(default_factory=dict)
    """Times by group, as in `Observation`."""
    next_records: Mapping[str, Mapping[tuple[str, int], NextRecord]] = field(default_factory=dict)
    """Records by group, as in `Observation`."""
    transactions: Mapping[tuple[str, int], tuple[OpenTransaction, ...]] | None = None

    def at(self, name: str) -> Observation:
        """The observation of one group."""
        return Observation(
            at_ms=self.at_ms,
            group=self.groups.get(name),
            problem=next((each for each in self.problems if each.group == name), None),
            topics=self.topics,
            missing_topics=self.missing_topics,
            topic_names=self.topic_names,
            cluster=self.cluster,
            waiting_since_ms=self.waiting_since_ms.get(name, {}),
            next_records=self.next_records.get(name, {}),
            transactions=self.transactions,
        )


def observe(
    source: Source, chosen: Sequence[str], *, in_full: bool, is_live: bool, at_ms: int | None = None
) -> FleetObservation:
    """Read members and states; `in_full`, also offsets and topics. `at_ms` is the time observed, if known."""
    described = source.describe(chosen, offsets=in_full)
    described = replace(described, problems=with_close_names(source, described.problems))
    if at_ms is None:
        at_ms = (None if is_live else newest_commit_ms(described.items)) or time.time_ns() // 1_000_000
    groups = {group.id: group for group in described.items}
    if not in_full:
        return FleetObservation(at_ms=at_ms, groups=groups, problems=described.problems)
    wanted = frozenset(topics_read(described.items))
    topics = source.topics(wanted, end_offsets=True, start_offsets=True, stable_offsets=True)
    unread = frozenset(name for problem in topics.problems for name in problem.topics)
    names: frozenset[str] | None = None
    if is_live and any(map(has_regexes, described.items)):
        names = frozenset(topic.name for topic in source.topics(None, end_offsets=False).items)
    return FleetObservation(
        at_ms=at_ms,
        groups=groups,
        problems=(*described.problems, *topics.problems),
        topics={topic.name: topic for topic in topics.items},
        missing_topics=wanted - {topic.name for topic in topics.items} - unread if is_live else None,
        topic_names=names,
    )


def observe_again(
    source: Source, names: Sequence[str], thresholds: Thresholds, for_ms: int | None, begun: float
) -> Iterator[FleetObservation]:
    """Observe members every second, and everything at the end, and meanwhile if it takes two commit intervals.

    Without `for_ms`, a group that was in a rebalance all the time is observed until it can be diagnosed. `begun` is
    the time of the first observation by the monotonic clock.
    """
    usual_ms = USUAL_MS if for_ms is None else for_ms
    longest_ms = max(usual_ms, thresholds.rebalance_ms) if for_ms is None else for_ms
    unsettled = set(names)
    full_ms = max(OFFSETS_EVERY * thresholds.commit_interval_ms, longest_ms / MOST_IN_FULL)
    next_full_ms = (time.monotonic() - begun) * 1000 + full_ms
    while True:
        asked = time.monotonic()
        left_ms = (usual_ms if not unsettled else longest_ms) - (asked - begun) * 1000
        if left_ms <= EVERY_MS:
            break
        time.sleep(EVERY_MS / 1000)
        passed_ms = (time.monotonic() - begun) * 1000
        in_full = passed_ms >= next_full_ms and left_ms > full_ms
        next_full_ms += full_ms if in_full else 0
        try:
            observation = observe(source, names, in_full=in_full, is_live=True)
        except WireError:
            continue  # the last observation shows whether it passed
        unsettled &= {name for name, group in observation.groups.items() if is_unsettled(group)}
        wanted_ms = longest_ms if unsettled else usual_ms
        left_s = max(wanted_ms / 1000 - (time.monotonic() - begun), 0)
        show_step(f"observing {counted(len(names), 'group')}, {seconds_text(left_s)} left")
        yield observation
    time.sleep(max(left_ms, 0) / 1000)
    yield observe(source, names, in_full=True, is_live=True)


def with_leaders(source: Source, observation: FleetObservation) -> FleetObservation:
    """The observation with the leaders of classic groups in a rebalance: members that joined after the last rebalance
    have joined this one."""
    moving = [group for group in observation.groups.values() if is_unsettled(group)]
    if not moving:
        return observation
    found = {group.id: group for group in source.with_leaders(moving)}
    return replace(observation, groups={**observation.groups, **found})


def newest_commit_ms(groups: Iterable[Group]) -> int | None:
    """The time of the newest commit, as an estimate of the time that a file shows; None if unknown."""
    times = (
        committed.timestamp
        for group in groups
        for partitions in (group.offsets or {}).values()
        for committed in partitions.values()
    )
    return max((each for each in times if each is not None and each >= 0), default=None)


def observe_log(
    options: SourceOptions, names: Sequence[str], end_ms: int, for_ms: int
) -> list[FleetObservation]:
    """Observe a broker's log at evenly spaced times before its end, oldest first."""
    found: list[FleetObservation] = []
    for position in range(LOG_OBSERVATIONS):
        at_ms = max(end_ms - for_ms * (LOG_OBSERVATIONS - position) // LOG_OBSERVATIONS, 0)
        with closing(source_of(replace(options, as_of=str(at_ms)))) as source:
            found.append(observe(source, names, in_full=not position, is_live=False, at_ms=at_ms))
    return found
