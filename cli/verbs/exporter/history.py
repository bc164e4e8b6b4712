"""Facts that need several polls: rebalances, progress, and problems of a group.

Rebalances of consumer, share and streams groups are counted by group epochs: each new epoch starts a rebalance.
Brokers do not report the generation of a classic group (a replayed log does). For such a group, a rebalance is
counted if it is rebalancing and was not before, or if its members or partitions have changed. Several rebalances
between two polls count as one.

Rates and `diagnose` use the polls of the last half minute, at least two. A fleet has a hundred thousand offsets, and
more polls would take more memory than everything else, so only the polls that the next one needs are kept: one, if
polls are half a minute apart or more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from cli.verbs.exporter.reading import PolledGroup, PollResult
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
class GroupHistory:
    """The observations of a group since the exporter started."""

    last: Group | None = None
    """The group at the last poll that could read it, without offsets."""
    rebalances: int = 0
    progress_ms: int | None = None
    """Time of the poll that first observed the last advance of a committed offset; None before the first advance."""
    observations: tuple[Observation, ...] = ()
    """Observations of the last polls, oldest first, as far as the next poll needs them."""
    readings: tuple[tuple[int, Readings], ...] = ()
    """The group's partitions at the last polls that could read it, with the times."""
    progress: GroupProgress | None = None
    """None if the group was read only once, or could not be read by the last poll."""
    diagnosis: Diagnosis | None = None
    """None if there was only one poll, or if the group could not be read and no rule explains why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExporterHistory:
    """The histories of all groups after any number of polls."""

    interval_ms: int = 0
    """The time between polls."""
    groups: Mapping[str, GroupHistory] = field(default_factory=dict)

    def after(self, reading: PollResult) -> ExporterHistory:
        """The history after another poll. Deleted groups are dropped; one that cannot be read is kept."""
        kept_ms = WINDOW_MS - self.interval_ms
        return replace(
            self,
            groups={
                name: _after(self.groups.get(name, _NEW), seen, reading, kept_ms)
                for name, seen in reading.groups.items()
            },
        )


_NEW = GroupHistory()


def _after(before: GroupHistory, seen: PolledGroup, reading: PollResult, kept_ms: int) -> GroupHistory:
    at_ms = reading.at_ms
    observations = (*_recent(before.observations, at_ms, WINDOW_MS), _observation(seen, reading))
    kept = _recent(observations, at_ms, kept_ms)
    if seen.group is None:
        # Earlier observations do not show the current state of the group.
        return replace(
            before, observations=kept, progress=None, diagnosis=_judged_unread(seen.id, observations)
        )
    readings = (
        *_within(before.readings, at_ms, WINDOW_MS),
        (at_ms, readings_of_rows(at_ms, seen.rows, reading.topics)),
    )
    progress = group_progress([each for _, each in readings]) if len(readings) > 1 else None
    return GroupHistory(
        last=replace(seen.group, offsets=None),
        rebalances=before.rebalances + (rebalances_between(before.last, seen.group) if before.last else 0),
        progress_ms=at_ms if _has_moved(readings[-2:]) else before.progress_ms,
        observations=kept,
        readings=_within(readings, at_ms, kept_ms),
        progress=progress and progress._replace(partitions={}),
        diagnosis=_judged(seen.id, observations, progress),
    )


def _judged(
    group: str, observations: Sequence[Observation], progress: GroupProgress | None
) -> Diagnosis | None:
    return diagnose(group, observations, _THRESHOLDS, progress=progress) if len(observations) > 1 else None


def _judged_unread(group: str, observations: Sequence[Observation]) -> Diagnosis | None:
    """The verdict from observations without the group; None if nothing was found, which does not mean healthy."""
    unread = list(takewhile(lambda each: each.group is None, reversed(observations)))
    found = diagnose(group, unread[::-1], _THRESHOLDS)
    return found if found.findings else None


def _observation(seen: PolledGroup, reading: PollResult) -> Observation:
    return Observation(
        at_ms=reading.at_ms,
        group=seen.group,
        problem=next((each for each in reading.problems if each.group == seen.id), None)
        if seen.error
        else None,
        topics=reading.topics,
        missing_topics=reading.missing_topics,
        topic_names=reading.topic_names,
        next_records={
            (row.topic, row.partition): row.next_record for row in seen.rows if row.next_record is not None
        },
    )


def _recent(observations: Sequence[Observation], at_ms: int, window_ms: int) -> tuple[Observation, ...]:
    """The observations in the window, and always the newest; only the newest keeps its offsets."""
    older, newest = observations[:-1], observations[-1:]
    return (*(_bare(each) for each in older if at_ms - each.at_ms <= window_ms), *newest)


def _within(
    readings: tuple[tuple[int, Readings], ...], at_ms: int, window_ms: int
) -> tuple[tuple[int, Readings], ...]:
    """The readings in the window, and always the newest."""
    return tuple(each for each in readings if at_ms - each[0] <= window_ms) or readings[-1:]


def _bare(observation: Observation) -> Observation:
    if observation.group is None or observation.group.offsets is None:
        return observation
    return replace(observation, group=replace(observation.group, offsets=None), topics=None)


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
    return int(_holdings(before) != _holdings(after))


def _holdings(group: Group) -> Mapping[str, object]:
    return {member.id: member.owned for member in group.members}


def _has_moved(readings: Sequence[tuple[int, Readings]]) -> bool:
    """Whether a committed offset advanced. A reset backwards and a first commit are not progress."""
    if len(readings) < 2:
        return False
    (_, before), (_, after) = readings
    return any(
        now.committed is not None
        and (earlier := before.get(place)) is not None
        and earlier.committed is not None
        and now.committed > earlier.committed
        for place, now in after.items()
    )
