"""What shows only from one poll to the next: rebalances, and when a group last committed further.

Rebalances of consumer, share and streams groups are counted by their group epochs, each of which begins one. Brokers
do not show the generation of a classic group (a replayed log does): there, one counts when the group is found
rebalancing after it was not, or its members or what they own have changed in between. Several between two polls count
as one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cli.verbs.exporter.reading import GroupReading, Reading
from groups.lag import PartitionLag
from groups.model import Group, GroupState, GroupType

_REBALANCING = frozenset({GroupState.PREPARING_REBALANCE, GroupState.COMPLETING_REBALANCE})


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCourse:
    """What has been seen of a group since the exporter began."""

    rebalances: int = 0
    progress_ms: int | None = None
    """The first poll that saw the newest forward step of a committed offset; None: there was none yet."""
    last: GroupReading | None = None
    """The last time that it could be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """All groups, after a number of polls."""

    groups: Mapping[str, GroupCourse] = field(default_factory=dict)

    def after(self, reading: Reading) -> Course:
        """The course after another poll. Groups that are gone are forgotten; one that cannot be read is kept."""
        return Course(
            groups={
                name: _after(self.groups.get(name, _NEW), seen, reading.at_ms)
                for name, seen in reading.groups.items()
            }
        )


_NEW = GroupCourse()


def _after(before: GroupCourse, seen: GroupReading, at_ms: int) -> GroupCourse:
    if seen.group is None:
        return before
    if before.last is None or before.last.group is None:
        return GroupCourse(rebalances=before.rebalances, last=seen)
    return GroupCourse(
        rebalances=before.rebalances + rebalances_between(before.last.group, seen.group),
        progress_ms=at_ms if _has_moved(before.last.rows, seen.rows) else before.progress_ms,
        last=seen,
    )


def rebalances_between(before: Group, after: Group) -> int:
    """How many rebalances began between two descriptions of a group, as far as they show it."""
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


def _has_moved(before: Sequence[PartitionLag], after: Sequence[PartitionLag]) -> bool:
    """Whether some partition was committed further. A reset backwards is no progress, nor is a first commit of one."""
    offsets = {(row.topic, row.partition): row.committed for row in before}
    return any(
        row.committed is not None
        and (earlier := offsets.get((row.topic, row.partition))) is not None
        and row.committed > earlier
        for row in after
    )
