"""What several polls of a group show: rebalances, progress, and a verdict. Brokers do not report the generation of a
classic group: its rebalances are counted when it starts one, or its members or partitions have changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from cli.polls.reading import PolledGroup, PollResult, newest_commit_ms
from groups import progress as progresses
from groups.diagnosis.case import Observation, Thresholds
from groups.diagnosis.diagnose import Diagnosis, diagnose
from groups.model import Group, GroupState, GroupType
from groups.progress import GroupProgress, group_progress, readings_of_rows

WINDOW_MS = 30_000
_REBALANCING = frozenset({GroupState.PREPARING_REBALANCE, GroupState.COMPLETING_REBALANCE})
_THRESHOLDS = Thresholds()
Readings = Mapping[tuple[str, int], progresses.Reading]


@dataclass(frozen=True, slots=True, kw_only=True)
class PolledHistory:
    last: Group | None = None  # The group at the last poll that could read it, without offsets
    rebalances: int = 0
    progress_ms: int | None = None  # Time of the poll that first observed the last progress
    observations: tuple[Observation, ...] = ()  # Of the last polls, oldest first, as far as needed
    readings: tuple[tuple[int, Readings], ...] = ()  # Of the last polls that read it, with the times
    totals: Mapping[str, int] = field(default_factory=dict)  # Counters of the journal, by name
    progress: GroupProgress | None = None  # None if it was read once, or not by the last poll
    diagnosis: Diagnosis | None = None  # None after one poll, or if no rule explains what is unread

    def after(self, seen: PolledGroup, reading: PollResult, kept_ms: int = WINDOW_MS) -> "PolledHistory":
        """The history after another poll; `kept_ms`: how long observations are kept for the next one."""
        return _after(self, seen, reading, kept_ms)

    @classmethod
    def of_one(cls, seen: PolledGroup, reading: PollResult) -> "PolledHistory":
        """Of a source that shows one moment: what a single observation proves. Its time is that of the newest commit,
        if that is known."""
        groups = [polled.group for polled in reading.groups.values() if polled.group is not None]
        at_ms = newest_commit_ms(groups) or reading.at_ms
        observation = _observed(seen, replace(reading, at_ms=at_ms))
        return cls(
            last=seen.group,
            observations=(observation,),
            diagnosis=diagnose(seen.id, [observation], _THRESHOLDS) if seen.group is not None else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExporterHistory:
    interval_ms: int | None = 0  # The time between polls; None: there is one, and nothing is kept for another
    groups: Mapping[str, PolledHistory] = field(default_factory=dict)

    def after(self, reading: PollResult) -> "ExporterHistory":
        """The history after another poll. Deleted groups are dropped; one that cannot be read is kept."""
        if self.interval_ms is None:
            return replace(self, groups={name: _only(seen, reading) for name, seen in reading.groups.items()})
        kept_ms = WINDOW_MS - self.interval_ms
        before = {name: self.groups.get(name, PolledHistory()) for name in reading.groups}
        groups = {name: before[name].after(seen, reading, kept_ms) for name, seen in reading.groups.items()}
        return replace(self, groups=groups)


def _only(seen: PolledGroup, reading: PollResult) -> PolledHistory:
    """The history of a group that is read once: what one observation shows of a group that cannot be read."""
    observations = (_observed(seen, reading),) if seen.group is None else ()
    return PolledHistory(
        last=seen.group,
        totals=reading.totals.get(seen.id, {}),
        diagnosis=_judged(seen, observations, None),
    )


def _after(before: PolledHistory, seen: PolledGroup, reading: PollResult, kept_ms: int) -> PolledHistory:
    at_ms, rows = reading.at_ms, seen.rows()
    seen = replace(seen, rows=lambda: rows)
    observation = _observed(seen, reading)
    observations = (*_recent(before.observations, at_ms, WINDOW_MS), observation)
    totals = reading.totals.get(seen.id, before.totals)
    kept = _recent(observations, at_ms, kept_ms)
    if seen.group is None:
        # Earlier observations do not show the current state of the group.
        diagnosis = _judged(seen, observations, None)
        return replace(before, observations=kept, progress=None, diagnosis=diagnosis, totals=totals)
    readings = (
        *_within(before.readings, at_ms, WINDOW_MS),
        (at_ms, readings_of_rows(at_ms, seen.rows())),
    )
    progress = group_progress([of_poll for _, of_poll in readings]) if len(readings) > 1 else None
    return PolledHistory(
        last=replace(seen.group, offsets=None),
        totals=totals,
        rebalances=before.rebalances + (rebalances_between(before.last, seen.group) if before.last else 0),
        progress_ms=at_ms if _has_moved(readings[-2:]) else before.progress_ms,
        observations=kept,
        readings=_within(readings, at_ms, kept_ms),
        progress=progress and progress._replace(partitions={}),
        diagnosis=_judged(seen, observations, progress),
    )


def _observed(seen: PolledGroup, reading: PollResult) -> Observation:
    records = {
        (row.topic, row.partition): row.next_record for row in seen.rows() if row.next_record is not None
    }
    return Observation(
        at_ms=reading.at_ms,
        group=seen.group,
        problem=reading.problem_of.get(seen.id) if seen.error else None,
        topics=reading.topics,
        missing_topics=reading.missing_topics,
        topic_names=reading.topic_names,
        next_records=records,
    )


def _judged(
    seen: PolledGroup, observations: Sequence[Observation], progress: GroupProgress | None
) -> Diagnosis | None:
    """The verdict; from observations without the group only if something was found: else it may not be healthy."""
    if seen.group is not None:
        return (
            diagnose(seen.id, observations, _THRESHOLDS, progress=progress) if len(observations) > 1 else None
        )
    unread = list(takewhile(lambda observation: observation.group is None, reversed(observations)))
    diagnosis = diagnose(seen.id, unread[::-1], _THRESHOLDS)
    return diagnosis if diagnosis.findings else None


def _recent(observations: Sequence[Observation], at_ms: int, window_ms: int) -> tuple[Observation, ...]:
    """The observations in the window, and always the newest; only the newest keeps its offsets."""
    older, newest = observations[:-1], observations[-1:]
    recent = (old for old in older if at_ms - old.at_ms <= window_ms)
    bare = (
        replace(old, group=replace(old.group, offsets=None), topics=None)
        if old.group is not None and old.group.offsets is not None
        else old
        for old in recent
    )
    return (*bare, *newest)


def _within(
    readings: tuple[tuple[int, Readings], ...], at_ms: int, window_ms: int
) -> tuple[tuple[int, Readings], ...]:
    return tuple(of_poll for of_poll in readings if at_ms - of_poll[0] <= window_ms) or readings[-1:]


def rebalances_between(before: Group, after: Group) -> int:
    """The number of rebalances that started between two descriptions of a group, as far as these show it."""
    if before.type is not after.type:
        return 1
    earlier, later = before.group_epoch, after.group_epoch
    if after.type is GroupType.CLASSIC:
        earlier, later = before.generation, after.generation
    if earlier is not None and later is not None:
        return max(0, later - earlier)
    was, now = before.state in _REBALANCING, after.state in _REBALANCING
    if now or was:
        return int(now and not was)
    owned, owned_later = ({member.id: member.owned for member in group.members} for group in (before, after))
    return int(owned != owned_later)


def _has_moved(readings: Sequence[tuple[int, Readings]]) -> bool:
    """Whether a committed offset advanced. A reset backwards and a first commit are not progress."""
    if len(readings) < 2:
        return False
    (_, before), (_, after) = readings
    return any(
        now.committed is not None
        and (earlier := before.get(partition)) is not None
        and earlier.committed is not None
        and now.committed > earlier.committed
        for partition, now in after.items()
    )
