"""Leveling the loads of a general sticky assignment, move by move.

Java visits the partitions again and again, in order, until a whole visit moves nothing or the group is balanced: no
member could take a partition from a member with at least two more than itself. A visited partition moves back to its
claimant of an older generation if this claimant has at least two less than the owner, even if it no longer
subscribes; otherwise to its subscriber with the fewest partitions, if some subscriber has at least two less. Instead
of moving partitions back and forth, Java undoes an earlier move (`PartitionMovements`).

Nothing changes between two moves. So instead of checking every partition, this module searches blocks of one class
for the next partition that moves, and keeps one witness of imbalance as long as it is valid.

A claimant that no longer subscribes can make Java move partitions in an endless cycle: the claimant takes them, a
subscriber takes them from it, or an earlier move is undone although that levels nothing. A repeated state of a visit
reveals this.

Racks do not change the result: if Java finds a better member in the rack, it still moves the partition to the same
member as without racks.

If claims include partitions that do not exist, or partitions are owned twice (`BalancingWithStrays`), Java's shortcuts
matter: it compares with the last owner of a partition in its map, and it fails on members that it has set aside,
depending on which member it checks first. So this follows Java's order, one partition and one member at a time.

`PartitionMovements`: Java records the source and target of every partition that moved, and makes no move in both
directions. If it should move a partition from a to b and others of the topic have moved from b to a, it moves one of
these back instead: the first in the iteration order of a HashSet of partitions.

Source: performReassignments and isBalanced of AbstractStickyAssignor.GeneralAssignmentBuilder,
AbstractStickyAssignor.PartitionMovements.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assignors.errors import AssignorFailedError, AssignorHangsError
from assignors.java.hash_map import DEFAULT_CAPACITY, JavaMap, spread, string_hashes, topic_partition_hashes
from assignors.java.sticky_claims import Holdings
from assignors.java.sticky_input import Racks, StickyInput, Subscribers, run_starts, runs
from assignors.model import NO_GENERATION, Ints, Undetermined, places

NO_LIST = (
    'Cannot invoke "java.util.List.size()" because the return value of "java.util.Map.get(Object)" is null'
)
"""Java's exception when it looks up the partitions of a member that was set aside."""

SET_ASIDE = -(2**40)
"""Load of a member that was set aside: every member is overloaded compared with it, so Java's error is raised."""

FULL = 2**40  # load of a member that has all it could have: no member is overloaded compared with it


class CycleDetector:
    """Detects a repeated state, once there were far more visits than a group needs to settle."""

    PATIENCE = 64

    def __init__(self) -> None:
        self._visits = 0
        self._kept: object = None
        self._next = self.PATIENCE

    def visited(self, state: Callable[[], object]) -> None:
        """Count a visit; raises AssignorHangsError if its state occurred before (Brent's algorithm)."""
        self._visits += 1
        if self._visits < self.PATIENCE:
            return
        now = state()
        if now == self._kept:
            message = "the assignor never ends: it moves the same partitions in an endless cycle"
            raise AssignorHangsError(message)
        if self._visits == self._next:
            self._kept, self._next = now, 2 * self._next


class Balancing:
    """The state of the balancing; updates `held` and `counts`. Every owned id must be an existing partition."""

    def __init__(
        self,
        inputs: StickyInput,
        subscribers: Subscribers,
        held: Holdings,
        counts: Ints,
        fixed: NDArray[np.bool_],
        racks: Racks | None,
    ) -> None:
        self.inputs, self.subscribers, self.racks = inputs, subscribers, racks
        self.held, self.counts, self.fixed = held, counts, fixed
        self.previous = _previous_owners(inputs)
        self.movements = PartitionMovements(self._spread_of)
        self._topic_hashes = string_hashes([topic.name for topic in inputs.group.spec.topics])
        self.loads = np.where(fixed, SET_ASIDE, counts)
        shared = subscribers.in_order[subscribers.potential[subscribers.in_order] > 1]
        self.shared = inputs.partitions_of(shared)
        self._shared_classes = subscribers.class_of[inputs.topics_of(self.shared)]
        self._starts = run_starts(self._shared_classes)
        self._witness: tuple[int, int] | None = None

    def reassign(self, ids: Ints) -> bool:
        """Visit these partitions until nothing moves; returns whether any partition moved."""
        classes = self.subscribers.class_of[self.inputs.topics_of(ids)]
        blocks = [(ids[start:end], int(classes[start])) for start, end in runs(classes)]
        performed, watch = False, CycleDetector()
        while self._visit(blocks):
            performed = True
            watch.visited(lambda: (self.held.owner.tobytes(), self.movements.state()))
        return performed

    def undetermined(self) -> tuple[Undetermined, ...]:
        """Undone moves that depend on the order in a tree."""
        why = (
            "the assignor undoes an earlier move of one of several partitions of the topic; Java stores them "
            "in a red-black tree, whose order depends on how it grew"
        )
        label = self.inputs.group.label
        return tuple(Undetermined(subject=label(id_), why=why) for id_ in self.movements.guessed)

    def _visit(self, blocks: list[tuple[Ints, int]]) -> bool:
        modified = False
        for ids, kind in blocks:
            at = 0
            while at < len(ids):
                if self._balanced():
                    return modified
                at = self._next_that_moves(ids, kind, at)
                if at < len(ids):
                    self._move(int(ids[at]), kind)
                    modified = True
                    at += 1
        return modified

    def _next_that_moves(self, ids: Ints, kind: int, at: int) -> int:
        """The first place from `place` on with a partition that moves; the length of `ids` if none moves."""
        least = self.loads[self.subscribers.members[kind]].min()
        width = 16
        while at < len(ids):
            some = ids[at : at + width]
            load = self.loads[self.held.owner[some]]
            moves = load > least + 1
            if self.previous is not None:
                previous = self.previous[some]
                moves |= (previous >= 0) & (load > self.loads[previous] + 1)
            hit = int(moves.argmax())
            if moves[hit]:
                return at + hit
            at, width = at + width, 4 * width
        return len(ids)

    def _move(self, partition: int, kind: int) -> None:
        owner = int(self.held.owner[partition])
        previous = -1 if self.previous is None else int(self.previous[partition])
        if previous >= 0 and self.loads[owner] > self.loads[previous] + 1:
            if self.fixed[previous]:
                raise AssignorFailedError(NO_LIST)
            self._move_to(partition, owner, previous)
            return
        members = self.subscribers.members[kind]
        self._move_to(partition, owner, int(members[self.loads[members].argmin()]))

    def _move_to(self, partition: int, owner: int, target: int) -> None:
        topic = int(self.inputs.group.partition_topic[partition])
        moved = self.movements.instead_of(partition, topic, owner, target)
        source = int(self.held.owner[moved])
        self.movements.record(moved, topic, source, target)
        self.held.owner[moved] = target
        for counts in (self.counts, self.loads):
            counts[source] -= 1
            counts[target] += 1

    def _balanced(self) -> bool:
        if self._witness is not None:
            partition, member = self._witness
            count = self.counts[member]
            has_room = count != self.subscribers.capacity[member]
            if has_room and self.counts[self.held.owner[partition]] > count + 1:
                return False
        loads = self.counts[~self.fixed]
        if loads.min() >= loads.max() - 1:
            return True
        self._witness = self._find_witness()
        return self._witness is None

    def _find_witness(self) -> tuple[int, int] | None:
        """A partition and a subscriber that could have it and has at least two less than its owner."""
        if not len(self.shared):
            return None
        load = self.loads[self.held.owner[self.shared]]
        most = np.maximum.reduceat(load, self._starts)
        rows = self.subscribers.members
        wanting = np.where(self.counts == self.subscribers.capacity, FULL, self.counts)[rows.values]
        least = np.minimum.reduceat(wanting, rows.start[:-1])
        kinds = self._shared_classes[self._starts]
        gap = most - least[kinds]
        block = int(gap.argmax())
        if gap[block] <= 1:
            return None
        kind = int(kinds[block])
        member = int(rows[kind][wanting[rows.start[kind] : rows.start[kind + 1]].argmin()])
        ends = np.append(self._starts[1:], len(self.shared))
        # The last partition of the block is the last to move away.
        last = int(np.flatnonzero(load[self._starts[block] : ends[block]] == most[block])[-1])
        return int(self.shared[self._starts[block] + last]), member

    def _spread_of(self, partition: int) -> int:
        group = self.inputs.group
        topic = int(group.partition_topic[partition])
        number = np.array([partition - group.topic_start[topic]])
        return int(spread(topic_partition_hashes(self._topic_hashes[topic], number))[0])


def _previous_owners(inputs: StickyInput) -> Ints | None:
    """By id, the claimant in the newest generation before the group's newest, the first in map order; or None."""
    newest = max(NO_GENERATION, int(inputs.since.max()))
    late = inputs.since < newest
    ids, claimants = inputs.claims.values, inputs.claims.row_of
    counting = late[claimants]
    ids, claimants = ids[counting], claimants[counting]
    if not len(ids):
        return None
    turn = places(inputs.hash_order)
    order = np.lexsort((-turn[claimants], inputs.since[claimants]))
    previous = np.full(inputs.id_count, -1, dtype=np.int64)
    # Of several values for one place, numpy stores the last.
    previous[ids[order]] = claimants[order]
    return previous


class BalancingWithStrays(Balancing):
    """Like `Balancing`, also for partitions that do not exist or are owned twice."""

    _known_balanced: bool | None = None

    @cached_property
    def _turn(self) -> Ints:
        return places(self.inputs.owners_order)

    @cached_property
    def _place(self) -> Ints:
        return places(self.inputs.by_id)

    @cached_property
    def _in_map_order(self) -> list[Ints]:
        turn, rows = places(self.inputs.hash_order), self.subscribers.members
        return [rows[kind][np.argsort(turn[rows[kind]])] for kind in range(len(rows))]

    def _visit(self, blocks: list[tuple[Ints, int]]) -> bool:
        modified = False
        for ids, kind in blocks:
            for partition in ids.tolist():
                if self._balanced():
                    return modified
                owner = int(self.held.owner[partition])
                target = self._better_owner(partition, owner, kind)
                if target >= 0:
                    self._move_to(partition, owner, target)
                    self._known_balanced = None
                    modified = True
        return modified

    def _better_owner(self, partition: int, owner: int, kind: int) -> int:
        previous = -1 if self.previous is None else int(self.previous[partition])
        if previous >= 0:
            self._ask(previous)
            if self.counts[owner] > self.counts[previous] + 1:
                return previous
        members = self._in_map_order[kind]
        if not self._improvable(self._in_rack(partition, owner, members), owner) and not self._improvable(
            members, owner
        ):
            return -1
        present = self.subscribers.members[kind]
        present = present[~self.fixed[present]]
        return int(present[self.counts[present].argmin()])

    def _in_rack(self, partition: int, owner: int, members: Ints) -> Ints:
        """Members whose rack has the partition; none if the owner's rack does not have it."""
        if (
            self.racks is None
            or self.racks.of_member[owner] < 0
            or self.racks.mismatch(np.array([owner]), np.array([partition]))[0]
        ):
            return members[:0]
        with_rack = members[self.racks.of_member[members] >= 0]
        return with_rack[~self.racks.mismatch(with_rack, np.full(len(with_rack), partition))]

    def _improvable(self, members: Ints, owner: int) -> bool:
        """Whether a member has at least two less than the owner; Java fails at the first one that was set aside."""
        better = self.counts[owner] > self.counts[members] + 1
        better &= ~self.fixed[members]
        stop = np.flatnonzero(better | self.fixed[members])
        if not len(stop):
            return False
        self._ask(int(members[stop[0]]))
        return True

    def _ask(self, member: int) -> None:
        if self.fixed[member]:
            raise AssignorFailedError(NO_LIST)

    def _balanced(self) -> bool:
        if self._known_balanced is None:
            self._known_balanced = self._balanced_now()
        return self._known_balanced

    def _balanced_now(self) -> bool:
        members = np.flatnonzero(~self.fixed)
        loads = self.counts[members]
        if loads.min() >= loads.max() - 1:
            return True
        shown = self._shown()
        for member in members[np.lexsort((self._place[members], loads))].tolist():
            if self.counts[member] != self.subscribers.capacity[member] and self._sees_more(member, shown):
                return False
        return True

    def _sees_more(self, member: int, shown: Ints) -> bool:
        ids = self.inputs.partitions_of(self._topics_as_listed(member))
        ids = ids[self.held.owner[ids] != member]
        if self.held.first_copy is not None:
            ids = ids[self.held.first_copy[ids] != member]
        holders = shown[ids]
        unowned = holders < 0
        stop = np.flatnonzero(unowned | (self.counts[holders] > self.counts[member] + 1))
        if len(stop) and unowned[stop[0]]:
            raise AssignorFailedError(NO_LIST)
        return len(stop) > 0

    def _topics_as_listed(self, member: int) -> Ints:
        """The member's topics in the order of its subscription."""
        spec = self.inputs.group.spec
        rank = {name: i for i, name in enumerate(spec.members[member].topics)}
        topics = self.inputs.listed[member].tolist()
        return np.array(sorted(topics, key=lambda t: rank[spec.topics[t].name]), dtype=np.int64)

    def _shown(self) -> Ints:
        """By id, the last owner in the map; -1 if there is none, or if it was set aside."""
        shown = self.held.owner.copy()
        shown[(shown >= 0) & self.fixed[shown]] = -1
        first = self.held.first_copy
        if first is not None:
            ids = np.flatnonzero(first >= 0)
            ids = ids[~self.fixed[first[ids]]]
            later = (shown[ids] < 0) | (self._turn[first[ids]] > self._turn[shown[ids]])
            shown[ids[later]] = first[ids[later]]
        return shown


class PartitionMovements:
    """Every partition's path from its first owner to its current one."""

    def __init__(self, spread_of: Callable[[int], int]) -> None:
        self._spread_of = spread_of
        self._way: dict[int, tuple[int, int]] = {}
        self._spreads: dict[int, int] = {}
        self._by_way: dict[tuple[int, int, int], JavaMap] = {}
        self.guessed: dict[int, int] = {}

    def instead_of(self, partition: int, topic: int, source: int, target: int) -> int:
        """The partition to move instead of moving this one from source to target."""
        if partition in self._way:
            source = self._way[partition][0]
        back = self._by_way.get((topic, target, source))
        if back is None:
            return partition
        first = next(iter(back))
        if not back.determined and back.size > 1:
            self.guessed[first] = topic
        return first

    def state(self) -> object:
        return dict(self._way), {way: (moves.capacity, *moves) for way, moves in self._by_way.items()}

    def record(self, partition: int, topic: int, source: int, target: int) -> None:
        self._spreads[partition] = self._spread_of(partition)
        known = self._way.pop(partition, None)
        if known is not None:
            key = (topic, *known)
            self._by_way[key].remove(partition)
            if not self._by_way[key].size:
                del self._by_way[key]
            source = known[0]
            if source == target:
                return
        self._way[partition] = (source, target)
        way = (topic, source, target)
        if way not in self._by_way:
            self._by_way[way] = JavaMap(self._spreads, DEFAULT_CAPACITY, None)
        self._by_way[way].put(partition)
