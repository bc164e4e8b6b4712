"""What a change of committed offsets consists of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from groups.model import GroupState, GroupType, Member, Problem

Place: TypeAlias = tuple[str, int]
"""A topic and one of its partitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Positions:
    """Offsets of logs. A place that is missing is not known."""

    earliest: Mapping[Place, int] = field(default_factory=dict)
    """The log start offset: of the oldest record that is kept."""
    end: Mapping[Place, int] = field(default_factory=dict)
    """The offset behind the last record."""
    at: Mapping[Place, int] = field(default_factory=dict)
    """The first offset at or after the moment that was asked for; -1 where no record is so late."""
    unread: Mapping[Place, str] = field(default_factory=dict)
    """Why partitions that were asked for are missing above."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetChange:
    """What one partition's committed offset is, and what it would be."""

    topic: str
    partition: int
    before: int | None
    """None where nothing is committed."""
    after: int
    earliest: int | None
    end: int | None
    leader_epoch: int | None = None
    """Committed beside `after`; None where that is not known to be of any epoch."""
    metadata: str = ""
    remark: str | None = None
    """Why `after` is not what was asked for, or what of it could not be checked."""

    @property
    def place(self) -> Place:
        """Topic and partition."""
        return self.topic, self.partition

    @property
    def lag_before(self) -> int | None:
        """Records behind the committed offset; None unless it and the end are known."""
        return None if self.before is None or self.before < 0 or self.end is None else self.end - self.before

    @property
    def lag_after(self) -> int | None:
        """Records behind the new offset; None unless the end is known."""
        return None if self.end is None else self.end - self.after


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChange:
    """What would be committed for one group, all of it or nothing.

    `refusals` say what keeps the cluster from taking it as things are, `problems` what could not be found out. With
    either, nothing is sent for this group.
    """

    group: str
    type: GroupType
    state: GroupState
    exists: bool
    """False: no group has that id; committing offsets makes one."""
    members: tuple[Member, ...] = ()
    changes: tuple[OffsetChange, ...] = ()
    refusals: tuple[Problem, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def count(self) -> int:
        """How many offsets would be set."""
        return len(self.changes)

    @property
    def applicable(self) -> bool:
        """Whether there is something to send, and nothing speaks against it."""
        return bool(self.changes) and not self.refusals and not self.problems
