"""Observations of groups: several of a cluster or a broker's log, one of a file.

After all of a cluster, more is requested for suspected problems: commit times, the next records, open transactions.
What cannot be read stays unknown, and the rules that need it report that.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from cli.options import SourceOptions
from cli.polls.reading import newest_commit_ms
from cli.progress import show_step
from cli.render.document import fields
from cli.selection import source_of, with_close_names
from cli.sources.source import Source
from groups import model
from groups.commits import known_offsets, timed_commits, with_times
from groups.counts import counted
from groups.diagnosis.assignments import has_regexes
from groups.diagnosis.case import Observation, Thresholds, is_held
from groups.diagnosis.rebalances import is_unsettled
from groups.diagnosis.suspects import (
    commits_of,
    held_partitions,
    records_after,
    some_commits,
    unread_partitions,
    waiting_since,
)
from groups.lag import NextRecord, topics_read
from groups.times import seconds_text
from wire.errors import WireError

USUAL_MS = 6_000  # how long a cluster is observed: consumers commit every 5 seconds by default
EVERY_MS = 1_000  # interval between observations
LOG_OBSERVATIONS = 6  # number of observations of a broker's log before its end; each reads the whole log
MOST_IN_FULL = 7  # the most readings of offsets between the first and the last: a fleet has very many
OFFSETS_EVERY = 0.7  # commit intervals; not whole: two consumers may commit a partition in turn


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetObservation:
    at_ms: int
    groups: Mapping[str, model.Group]
    problems: tuple[model.Problem, ...] = ()
    topics: Mapping[str, model.Topic] | None = None
    missing_topics: frozenset[str] | None = None
    topic_names: frozenset[str] | None = None
    cluster: model.Cluster | None = None
    # By group:
    waiting_since_ms: Mapping[str, Mapping[model.TopicPartition, int | None]] = field(default_factory=dict)
    next_records: Mapping[str, Mapping[model.TopicPartition, NextRecord]] = field(default_factory=dict)
    transactions: Mapping[model.TopicPartition, tuple[model.OpenTransaction, ...]] | None = None

    def each(self, names: Sequence[str]) -> Iterator[Observation]:
        """What it shows of each of the groups."""
        problems = {problem.group: problem for problem in reversed(self.problems)}
        shared = fields(self, "at_ms", "topics", "missing_topics", "topic_names", "cluster", "transactions")
        for name in names:
            yield Observation(
                group=self.groups.get(name),
                problem=problems.get(name),
                waiting_since_ms=self.waiting_since_ms.get(name, {}),
                next_records=self.next_records.get(name, {}),
                **shared,
            )


def each_group(
    observations: Sequence[FleetObservation], names: Sequence[str]
) -> Iterator[tuple[str, tuple[Observation, ...]]]:
    """The groups, with what the observations show of each."""
    return zip(names, zip(*(one.each(names) for one in observations), strict=True), strict=True)


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
    names_read = frozenset(topics_read(described.items))
    topics = source.topics(names_read, end_offsets=True, start_offsets=True, stable_offsets=True)
    unread = frozenset(name for problem in topics.problems for name in problem.topics)
    names: frozenset[str] | None = None
    if is_live and any(map(has_regexes, described.items)):
        names = frozenset(topic.name for topic in source.topics(None, end_offsets=False).items)
    return FleetObservation(
        at_ms=at_ms,
        groups=groups,
        problems=(*described.problems, *topics.problems),
        topics={topic.name: topic for topic in topics.items},
        missing_topics=names_read - {topic.name for topic in topics.items} - unread if is_live else None,
        topic_names=names,
    )


def observe_again(
    source: Source, names: Sequence[str], thresholds: Thresholds, for_ms: int | None, begun: float
) -> Iterator[FleetObservation]:
    """Observe members every second; everything at the end, and meanwhile if it takes two commit intervals. Without
    `for_ms`, a group that was always in a rebalance is observed until it can be diagnosed."""
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
        until_ms = longest_ms if unsettled else usual_ms
        left_s = max(until_ms / 1000 - (time.monotonic() - begun), 0)
        show_step(f"observing {counted(len(names), 'group')}, {seconds_text(left_s)} left")
        yield observation
    time.sleep(max(left_ms, 0) / 1000)
    yield observe(source, names, in_full=True, is_live=True)


def with_leaders(source: Source, observation: FleetObservation) -> FleetObservation:
    """The observation with the leaders of classic groups in a rebalance: members that joined later have joined it."""
    moving = [group for group in observation.groups.values() if is_unsettled(group)]
    if not moving:
        return observation
    led = {group.id: group for group in source.with_leaders(moving)}
    return replace(observation, groups={**observation.groups, **led})


def observe_log(
    options: SourceOptions, names: Sequence[str], end_ms: int, for_ms: int
) -> list[FleetObservation]:
    """Observe a broker's log at evenly spaced times before its end, oldest first."""
    observations: list[FleetObservation] = []
    for position in range(LOG_OBSERVATIONS):
        at_ms = max(end_ms - for_ms * (LOG_OBSERVATIONS - position) // LOG_OBSERVATIONS, 0)
        with closing(source_of(replace(options, as_of=str(at_ms)))) as source:
            observations.append(observe(source, names, in_full=not position, is_live=False, at_ms=at_ms))
    return observations


def with_idle_commits(source: Source, groups: Mapping[str, model.Group]) -> Mapping[str, model.Group]:
    """The groups; those without members have the times of some of their commits."""
    asked = [some_commits(group) for group in groups.values() if _may_expire(group)]
    timed = source.with_commit_times(asked).items if asked else ()
    return {**groups, **{group.id: _merged(groups[group.id], group) for group in timed}}


def with_evidence(
    source: Source, observations: Sequence[FleetObservation], commit_interval_ms: int
) -> list[FleetObservation]:
    """The observations; the first and the last with data that is requested only for groups with a suspected problem."""
    first, last = observations[0], observations[-1]
    groups = {
        name: _as_before(group, first.groups.get(name)) if _may_expire(group) else group
        for name, group in last.groups.items()
    }
    last = replace(last, groups=groups)
    in_full = [observation for observation in (*observations[:-1], last) if observation.topics is not None]
    pairs = (
        (name, unread_partitions(shown, commit_interval_ms)) for name, shown in each_group(in_full, [*groups])
    )
    unread = {name: pair for name, pair in pairs if pair}
    before = _timed(source, first.groups, [group for group, _ in unread.values() if group.offsets])
    groups |= _timed(source, groups, [group for _, group in unread.values()])
    offsets: dict[model.TopicPartition, set[int]] = {}
    for pair in unread.values():
        for group in pair:
            for partition, offset in commits_of(group).items():
                offsets.setdefault(partition, set()).add(offset)
    records = source.next_records(offsets).records if offsets else {}
    after = {name: records_after(group, records) for name, (_, group) in unread.items()}
    last = replace(
        last,
        groups=groups,
        next_records=after,
        waiting_since_ms={
            name: waiting_since(groups[name], left, last.at_ms) for name, left in after.items()
        },
        transactions=_open_transactions(source, first.topics or {}, last.topics or {}, groups, after),
        cluster=last.cluster or source.cluster(),
    )
    if len(observations) == 1:
        return [last]
    ahead = {name: records_after(group, records) for name, (group, _) in unread.items()}
    first = replace(first, groups={**first.groups, **before}, next_records=ahead)
    return [first, *observations[1:-1], last]


def _timed(
    source: Source, groups: Mapping[str, model.Group], suspects: Sequence[model.Group]
) -> Mapping[str, model.Group]:
    """The suspected groups with the times of their suspected commits."""
    read = source.with_commit_times(suspects).items if suspects else ()
    return {group.id: _merged(groups[group.id], group) for group in read}


def _as_before(group: model.Group, first: model.Group | None) -> model.Group:
    """The group, with the known times of commits that have not changed."""
    if group.offsets is None or first is None:
        return group
    same: dict[str, dict[int, model.CommittedOffset]] = {}
    now = {topic: dict(zip(*known_offsets(commits), strict=True)) for topic, commits in group.offsets.items()}
    for (topic, number), old in timed_commits(first.offsets):
        if old.offset is not None and now.get(topic, {}).get(number) == old.offset:
            same.setdefault(topic, {})[number] = old
    return replace(group, offsets=with_times(group.offsets, same), commit_gap_ms=first.commit_gap_ms)


def _may_expire(group: model.Group) -> bool:
    return not group.members and bool(group.offsets) and group.type is not model.GroupType.SHARE


def _merged(group: model.Group, timed: model.Group) -> model.Group:
    offsets = with_times(group.offsets or {}, timed.offsets or {})
    return replace(group, offsets=offsets, **fields(timed, "commit_gap_ms", "rebalanced_ms"))


def _open_transactions(
    source: Source,
    first: Mapping[str, model.Topic],
    last: Mapping[str, model.Topic],
    groups: Mapping[str, model.Group],
    after: Mapping[str, Mapping[model.TopicPartition, NextRecord]],
) -> Mapping[model.TopicPartition, tuple[model.OpenTransaction, ...]] | None:
    """Open transactions that a group with members waits for; None if unavailable."""
    held = {
        partition
        for partition in held_partitions(first, last)
        for name, group in groups.items()
        if group.members
        and (commit := model.commit_of(group.offsets, partition)) is not None
        and is_held(model.log_of(last, partition), commit.offset, after.get(name, {}).get(partition))
    }
    return (source.open_transactions(held).by_partition or None) if held else {}
