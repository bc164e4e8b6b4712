"""Since when a group has not been used: `--unused-for 30d`.

A group was used when its offsets were committed, and as long as it had members, whether they committed or not: on a
quiet topic nothing is. So the last use is the later of the last commit and the moment at which the last member left. A
group that has members, or is not Empty or Dead, is in use. Unknown data do not make a group unused:

- the time of a commit, where the source does not know it;
- when the last member left, where no record of `__consumer_offsets` shows it. A group whose protocol type is empty
  never had members: it was only committed to;
- share groups keep their offsets elsewhere and without times, but nothing commits there without a member.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from groups.model import Group, GroupState, GroupType

RESTING = (GroupState.EMPTY, GroupState.DEAD)


@dataclass(frozen=True, slots=True, kw_only=True)
class LastUse:
    """When a group was used last, in ms since 1970."""

    last_commit_ms: int | None = None
    """The latest that is known; None where nothing is committed."""
    emptied_ms: int | None = None
    """When its last member left; None where it never had one, or that is not known."""
    in_use: bool = False
    unknown: str | None = None
    """The unknown fact."""

    @property
    def latest_ms(self) -> int | None:
        """The last use that is known; there may have been a later one where something is not."""
        return max(
            (each for each in (self.last_commit_ms, self.emptied_ms) if each is not None), default=None
        )

    def is_before(self, moment_ms: int) -> bool:
        """Whether the group is known not to have been used since."""
        if self.unknown is not None or self.in_use or self.latest_ms is None:
            return False
        return self.latest_ms < moment_ms

    def is_since(self, moment_ms: int) -> bool:
        """Whether the group is known to have been used since."""
        return self.in_use or (self.latest_ms is not None and self.latest_ms >= moment_ms)


def last_use(group: Group) -> LastUse:
    """Of a group that was described with its offsets and with what is known of their times."""
    in_use = bool(group.members) or group.state not in RESTING
    times = list(_commit_times(group))
    committed = max((each for each in times if each is not None), default=None)
    return LastUse(
        last_commit_ms=committed,
        emptied_ms=group.emptied_ms,
        in_use=in_use,
        unknown=None if in_use else _unknown(group, times),
    )


def _commit_times(group: Group) -> Iterator[int | None]:
    if group.type is GroupType.SHARE:
        return
    for partitions in (group.offsets or {}).values():
        for committed in partitions.values():
            # Before Kafka 2.1, and in some tools, -1 is no time.
            yield None if committed.timestamp == -1 else committed.timestamp


def _unknown(group: Group, times: list[int | None]) -> str | None:
    only_commits = group.type is GroupType.CLASSIC and group.protocol_type == ""
    if group.emptied_ms is None and not only_commits:
        return "when its last member left is not known"
    if group.offsets is None and group.type is not GroupType.SHARE:
        return "its committed offsets are not known"
    if None in times:
        return "when its offsets were committed is not known"
    if not times and group.emptied_ms is None:
        return "it has committed nothing and never had a member"
    return None
