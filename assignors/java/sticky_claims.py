"""The claims that the sticky assignors grant, and the owners of partitions during the assignment.

Java walks the members in the order of its HashMap and their claims in the listed order. The first claim of a partition
is granted. For a later claim, the claimant's own generation is compared with the one in the rival's *subscription*: a
later generation takes the partition away, the same generation takes it away from both, an earlier generation changes
nothing. After a tie the partition is disputed, and later claims are compared with the last claimant, which does not
own it.

Claims are not compared with the number of partitions: strays of a topic that takes part are owned like other ids.

Unassigned partitions: Java finds them by merging the sorted list of all with the sorted list of kept partitions. The
merge stalls at the first kept partition that does not exist: every partition after it counts as unassigned, even if a
member keeps it, and is assigned a second time. The owner of this first copy keeps it to the end.

Source: AbstractStickyAssignor.allSubscriptionsEqual, getUnassignedPartitions of both its builders.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assignors.java.sticky_input import StickyInput, run_starts
from assignors.model import Assignment, Ints, Rows, Undetermined, places, starts_of


@dataclass(frozen=True, slots=True, eq=False)
class GrantedClaims:
    """Arrays over all dense ids, strays included."""

    owner: Ints  # the owner of the partition before anything is assigned; -1 for none
    disputed: NDArray[np.bool_] | None
    """Whether two members claimed the partition in one generation; a later claimant may own it nevertheless."""


def grant_claims(inputs: StickyInput) -> GrantedClaims:
    owner = np.full(inputs.id_count, -1, dtype=np.int64)
    ids, claimants = inputs.claims.values, inputs.claims.row_of
    if not inputs.takes_part.all() or inputs.group.strays:
        topics = inputs.topics_of(ids)
        counting = (topics >= 0) & inputs.takes_part[topics] if len(inputs.takes_part) else topics > 0
        ids, claimants = ids[counting], claimants[counting]
    if not len(ids):
        return GrantedClaims(owner, None)
    owner[ids] = claimants
    times = np.bincount(ids, minlength=len(owner))
    if times.max() == 1:
        return GrantedClaims(owner, None)
    contested = times[ids] > 1
    # The second claims of all partitions are decided first, then the third ones, and so on.
    ids, claimants = ids[contested], claimants[contested]
    turn = places(inputs.hash_order)
    order = np.lexsort((turn[claimants], ids))
    ids, claimants = ids[order], claimants[order]
    starts = run_starts(ids)
    lengths = np.diff(np.append(starts, len(ids)))
    partition, last, held = ids[starts], claimants[starts], np.ones(len(starts), dtype=bool)
    disputed = np.zeros(len(owner), dtype=bool)
    for nth in range(1, int(lengths.max())):
        some = np.flatnonzero(lengths > nth)
        claimant = claimants[starts[some] + nth]
        mine, theirs = inputs.since[claimant], inputs.sent[last[some]]
        tie, later = mine == theirs, mine > theirs
        disputed[partition[some[tie]]] = True
        held[some[tie]], held[some[later]] = False, True
        last[some] = np.where(tie | later, claimant, last[some])
    owner[partition] = np.where(held, last, -1)
    return GrantedClaims(owner, disputed)


@dataclass(slots=True, eq=False)
class Holdings:
    """Arrays over all dense ids, strays included; -1 for no member."""

    owner: Ints
    first_copy: Ints | None = None  # the member that keeps a partition that has been assigned again, or None
    withheld: Ints | None = None
    """Ids that move and that a cooperative assignor must withhold, if the algorithm determines them."""

    def counts(self, members: int) -> Ints:
        held = np.bincount(self.owner + 1, minlength=members + 1)[1:]
        if self.first_copy is not None:
            held += np.bincount(self.first_copy + 1, minlength=members + 1)[1:]
        return held

    def assignment(self, inputs: StickyInput) -> Assignment:
        if self.first_copy is None:
            return Assignment.from_owners(inputs.group, self.owner)
        ids = np.concatenate((np.flatnonzero(self.owner >= 0), np.flatnonzero(self.first_copy >= 0)))
        both = np.concatenate((self.owner[self.owner >= 0], self.first_copy[self.first_copy >= 0]))
        order = np.lexsort((ids, both))
        start = starts_of(np.bincount(both, minlength=inputs.member_count))
        return Assignment(inputs.group, Rows(start, ids[order]))


@dataclass(frozen=True, slots=True, eq=False)
class StickyOutcome:
    held: Holdings
    undetermined: tuple[Undetermined, ...] = ()


def take_unassigned(inputs: StickyInput, held: Holdings, topics: Ints) -> Ints:
    """Ids that Java considers unassigned, by topic in the given order. Kept ones become first copies."""
    everything = inputs.partitions_of(topics)
    stall = _stall(inputs, held, topics)
    if stall >= len(everything):
        return everything[held.owner[everything] < 0]
    before, behind = everything[:stall], everything[stall:]
    twice = behind[held.owner[behind] >= 0]
    if len(twice):
        held.first_copy = np.full(len(held.owner), -1, dtype=np.int64)
        held.first_copy[twice] = held.owner[twice]
        held.owner[twice] = -1
    return np.concatenate((before[held.owner[before] < 0], behind))


def _stall(inputs: StickyInput, held: Holdings, topics: Ints) -> int:
    """The place of the first kept stray among all partitions in order."""
    count = inputs.group.partition_count
    kept = np.flatnonzero(held.owner[count:] >= 0)
    if not len(kept):
        return count
    lengths = np.diff(inputs.group.topic_start)[topics]
    rank = np.zeros(len(inputs.group.spec.topics), dtype=np.int64)
    rank[topics] = np.cumsum(lengths) - lengths
    of = inputs.stray_topics[kept]
    numbers = inputs.numbers_of(kept + count)
    return int((rank[of] + np.clip(numbers, 0, np.diff(inputs.group.topic_start)[of])).min())
