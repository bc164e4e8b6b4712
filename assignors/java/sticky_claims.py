"""Which claims the sticky assignors grant, and who holds what while they work.

Java walks the members in the order of its HashMap and their claims in the order listed. A claim nobody made before is
granted. Against a rival, the claimant's own generation is compared with the one in the rival's *subscription*: later
takes the partition away, the same generation takes it away from both, earlier changes nothing. After a tie the
partition is disputed, and later claims are compared with the last claimant, who does not hold it.

Claims are not compared with the number of partitions: strays of a topic that takes part are held like any other.

Which partitions are unassigned: Java finds them by merging the sorted list of all with the sorted list of those that
are kept. The merge stalls at the first kept partition that does not exist: every partition behind it counts as
unassigned although somebody keeps it, and is given out a second time. The holder of such a first copy keeps it to the
end.

Source: AbstractStickyAssignor.allSubscriptionsEqual, getUnassignedPartitions of both its builders.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assignors.java.sticky_question import StickyQuestion, run_starts
from assignors.model import Assignment, Ints, Rows, Undetermined, places, starts_of


@dataclass(frozen=True, slots=True, eq=False)
class Granted:
    """Arrays over all dense ids, strays included."""

    owner: Ints
    """The member that holds the partition before anything is assigned; -1 is nobody."""
    disputed: NDArray[np.bool_] | None
    """Whether two members claimed it in one generation; somebody later may hold it all the same."""


def grant_claims(question: StickyQuestion) -> Granted:
    """Grant and refuse the claims of a group."""
    owner = np.full(question.id_count, -1, dtype=np.int64)
    ids, claimants = _claims_that_count(question)
    if not len(ids):
        return Granted(owner, None)
    owner[ids] = claimants
    times = np.bincount(ids, minlength=len(owner))
    if times.max() == 1:
        return Granted(owner, None)
    contested = times[ids] > 1
    return _contested(question, owner, ids[contested], claimants[contested])


def _claims_that_count(question: StickyQuestion) -> tuple[Ints, Ints]:
    ids, claimants = question.claims.values, question.claims.row_of
    if question.takes_part.all() and not question.group.strays:
        return ids, claimants
    topics = question.topics_of(ids)
    counting = (topics >= 0) & question.takes_part[topics] if len(question.takes_part) else topics > 0
    return ids[counting], claimants[counting]


def _contested(question: StickyQuestion, owner: Ints, ids: Ints, claimants: Ints) -> Granted:
    """Settle partitions claimed more than once: the first claims of all, then the second ones, and so on."""
    turn = places(question.hash_order)
    order = np.lexsort((turn[claimants], ids))
    ids, claimants = ids[order], claimants[order]
    starts = run_starts(ids)
    lengths = np.diff(np.append(starts, len(ids)))
    partition, last, held = ids[starts], claimants[starts], np.ones(len(starts), dtype=bool)
    disputed = np.zeros(len(owner), dtype=bool)
    for nth in range(1, int(lengths.max())):
        some = np.flatnonzero(lengths > nth)
        claimant = claimants[starts[some] + nth]
        mine, theirs = question.since[claimant], question.sent[last[some]]
        tie, later = mine == theirs, mine > theirs
        disputed[partition[some[tie]]] = True
        held[some[tie]], held[some[later]] = False, True
        last[some] = np.where(tie | later, claimant, last[some])
    owner[partition] = np.where(held, last, -1)
    return Granted(owner, disputed)


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

    def assignment(self, question: StickyQuestion) -> Assignment:
        if self.first_copy is None:
            return Assignment.from_owners(question.group, self.owner)
        ids = np.concatenate((np.flatnonzero(self.owner >= 0), np.flatnonzero(self.first_copy >= 0)))
        both = np.concatenate((self.owner[self.owner >= 0], self.first_copy[self.first_copy >= 0]))
        order = np.lexsort((ids, both))
        start = starts_of(np.bincount(both, minlength=question.member_count))
        return Assignment(question.group, Rows(start, ids[order]))


@dataclass(frozen=True, slots=True, eq=False)
class StickyOutcome:
    """Holdings, and what they hang on that nobody outside the JVM can know."""

    held: Holdings
    undetermined: tuple[Undetermined, ...] = ()


def take_unassigned(question: StickyQuestion, held: Holdings, topics: Ints) -> Ints:
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


def _stall(question: StickyQuestion, held: Holdings, topics: Ints) -> int:
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
