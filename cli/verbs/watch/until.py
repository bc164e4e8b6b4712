"""What a watch may wait for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cli.errors import UsageError
from cli.verbs.watch.course import Course
from groups.model import Group, GroupState, GroupType

STEADY_MS = 1_000
"""How long a group must have been Stable: a cooperative one is so for a moment between two rebalances."""
STABLE, EMPTY = "stable", "empty"


@dataclass(slots=True)
class Until:
    """A condition on all watched groups; asked after every look."""

    text: str
    _holds: Callable[[Group | None], bool]
    _steady_ms: int = 0
    _since_ms: int | None = None

    @classmethod
    def parse(cls, text: str) -> Until:
        """`stable`, `empty`, or an epoch. UsageError for anything else."""
        word = text.strip().lower()
        if word == STABLE:
            return cls(text, lambda group: group is not None and group.state is GroupState.STABLE, STEADY_MS)
        if word == EMPTY:
            return cls(text, lambda group: group is None or not group.members)
        if word.isascii() and word.isdecimal() and len(word) < 10:
            epoch = int(word)
            return cls(text, lambda group: group is not None and has_reached(group, epoch))
        raise UsageError(f"--until {text!r}: write stable, empty, or the epoch that all members are to reach")

    def is_met(self, course: Course) -> bool:
        """Whether the last look showed it of every group, and the looks before for as long as it takes."""
        last = course.last
        if last is None or not last.groups or last.groups.keys() != course.groups.keys():
            self._since_ms = None
            return False
        if not all(map(self._holds, last.groups.values())):
            self._since_ms = None
            return False
        if self._since_ms is None:
            self._since_ms = last.at_ms
        return last.at_ms - self._since_ms >= self._steady_ms


def has_reached(group: Group, epoch: int) -> bool:
    """Whether the group and all its members are at an epoch, or beyond.

    UsageError for a group without epochs: brokers do not show the generation of a classic group.
    """
    if group.type is GroupType.CLASSIC and group.generation is None:
        raise UsageError(
            f"--until {epoch}: {group.id} is a classic group, and brokers do not show its generation; "
            "--until stable waits until it rests"
        )
    epochs = (
        [group.generation]
        if group.type is GroupType.CLASSIC
        else [group.group_epoch, group.assignment_epoch, *(member.epoch for member in group.members)]
    )
    return all(each is not None and each >= epoch for each in epochs)
