"""Who holds what while a sticky assignor works, and which partitions Java takes for unassigned.

Java finds the unassigned partitions by merging the sorted list of all with the sorted list of those that are kept.
The merge stalls at the first kept partition that does not exist: every partition behind it counts as unassigned
although somebody keeps it, and is given out a second time. The holder of such a first copy keeps it to the end.

Source: getUnassignedPartitions of both builders of AbstractStickyAssignor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assignors.java.sticky_group import StickyGroup
from assignors.model import Assignment, Ints, Rows, Undetermined


@dataclass(slots=True, eq=False)
class Holdings:
    """Arrays over all dense ids, strays included; -1 is nobody."""

    owner: Ints
    first_copy: Ints | None = None
    """Who keeps a partition that has been given out again; None where nobody does."""
    withheld: Ints | None = None
    """Ids that change hands and that a cooperative assignor has to withhold, where the algorithm says."""

    def counts(self, members: int) -> Ints:
        held = np.bincount(self.owner + 1, minlength=members + 1)[1:]
        if self.first_copy is not None:
            held += np.bincount(self.first_copy + 1, minlength=members + 1)[1:]
        return held

    def assignment(self, question: StickyGroup) -> Assignment:
        if self.first_copy is None:
            return Assignment.from_owners(question.group, self.owner)
        ids = np.concatenate((np.flatnonzero(self.owner >= 0), np.flatnonzero(self.first_copy >= 0)))
        both = np.concatenate((self.owner[self.owner >= 0], self.first_copy[self.first_copy >= 0]))
        order = np.lexsort((ids, both))
        start = np.zeros(question.member_count + 1, dtype=np.int64)
        np.cumsum(np.bincount(both, minlength=question.member_count), out=start[1:])
        return Assignment(question.group, Rows(start, ids[order]))


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """Holdings, and what they hang on that nobody outside the JVM can know."""

    held: Holdings
    undetermined: tuple[Undetermined, ...] = ()


def take_unassigned(question: StickyGroup, held: Holdings, topics: Ints) -> Ints:
    """Ids that Java takes for unassigned, in order: topics as given, partitions ascending.

    `topics` are those that take part. Partitions that are kept and yet unassigned become first copies.
    """
    everything = question.partitions_of(topics)
    stall = _stall(question, held, topics)
    if stall >= len(everything):
        return everything[held.owner[everything] < 0]
    before, behind = everything[:stall], everything[stall:]
    twice = behind[held.owner[behind] >= 0]
    if len(twice):
        held.first_copy = np.full(len(held.owner), -1, dtype=np.int64)
        held.first_copy[twice] = held.owner[twice]
        held.owner[twice] = -1
    return np.concatenate((before[held.owner[before] < 0], behind))


def _stall(question: StickyGroup, held: Holdings, topics: Ints) -> int:
    """The place of the first stray that is kept, among all partitions in order."""
    count = question.group.partition_count
    kept = np.flatnonzero(held.owner[count:] >= 0)
    if not len(kept):
        return count
    lengths = np.diff(question.group.topic_start)[topics]
    place = np.zeros(len(question.group.spec.topics), dtype=np.int64)
    place[topics] = np.cumsum(lengths) - lengths
    of = question.stray_topics[kept]
    numbers = question.numbers_of(kept + count)
    return int((place[of] + np.clip(numbers, 0, np.diff(question.group.topic_start)[of])).min())
