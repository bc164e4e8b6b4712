"""The sticky algorithm for members with different subscriptions.

1. Members keep their partitions, except topics they no longer subscribe to and partitions whose racks mismatch.
2. Unassigned partitions are assigned, topics with the fewest subscribers first, to the subscriber with the fewest
   partitions (then the lowest id); if racks matter, first to one whose rack does not mismatch.
3. Partitions move from member to member while that levels loads (`sticky_different_balance`); members that cannot
   give or take a partition are set aside. If the moves did not lower the balance score, they are undone, unless no
   member owned anything before.

Source: AbstractStickyAssignor.GeneralAssignmentBuilder (Kafka 4.3.1).
"""

import heapq
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assignors.java.sticky_claims import GrantedClaims, Holdings, StickyOutcome, take_unassigned
from assignors.java.sticky_different_balance import Balancing, BalancingWithStrays
from assignors.java.sticky_input import Racks, StickyInput, Subscribers, runs, subscribers_of
from assignors.model import Ints, level_fill, places


def assign_general(inputs: StickyInput, granted: GrantedClaims, racks: Racks | None) -> StickyOutcome:
    """Granted claims become holdings in place. Raises AssignorFailedError: Java looks up a member set aside."""
    subscribers = subscribers_of(inputs)
    held = Holdings(granted.owner)
    revoked = _drop_unfit(inputs, subscribers, held, racks)
    initializing = not (held.owner >= 0).any()
    rest = take_unassigned(inputs, held, subscribers.in_order)
    counts = held.counts(inputs.member_count)
    _give(subscribers, held, rest, counts, racks)
    fixed = _excluded_members(inputs, subscribers, held, counts)
    loads = counts[~fixed]
    if not len(loads) or loads.min() >= loads.max() - 1:
        return StickyOutcome(held)
    shared = subscribers.in_order[subscribers.potential[subscribers.in_order] > 1]
    movable = rest[subscribers.potential[inputs.topics_of(rest)] > 1]
    before, score = held.owner.copy(), balance_score(loads)
    has_strays = held.first_copy is not None or (held.owner[inputs.group.partition_count :] >= 0).any()
    kind = BalancingWithStrays if has_strays else Balancing
    balancing = kind(inputs, subscribers, held, counts, fixed, racks)
    if not revoked:
        balancing.reassign(movable)
    performed = balancing.reassign(inputs.partitions_of(shared))
    if performed and not initializing and balance_score(balancing.counts[~fixed]) >= score:
        held.owner[:] = before
    return StickyOutcome(held, balancing.undetermined())


def balance_score(counts: Ints) -> int:
    """Differences between all pairs, summed up in Java's int, which overflows."""
    count = len(counts)
    weights = 2 * np.arange(count) - count + 1
    score = int((np.sort(counts) * weights).sum())
    return (score + 2**31) % 2**32 - 2**31


def _drop_unfit(inputs: StickyInput, subscribers: Subscribers, held: Holdings, racks: Racks | None) -> bool:
    """Remove the partitions that members must not keep; returns whether there were any."""
    ids = np.flatnonzero(held.owner >= 0)
    if not len(ids):
        return False
    owners = held.owner[ids]
    suits = subscribers.subscribed[owners, subscribers.class_of[inputs.topics_of(ids)]]
    if racks is not None:
        suits &= ~racks.mismatch(owners, ids)
    held.owner[ids[~suits]] = -1
    return not suits.all()


def _give(subscribers: Subscribers, held: Holdings, rest: Ints, counts: Ints, racks: Racks | None) -> None:
    classes = subscribers.class_of[subscribers.inputs.topics_of(rest)]
    if racks is not None:
        receivers = _give_by_rack(subscribers, counts, classes.tolist(), racks.set_of[rest].tolist(), racks)
        held.owner[rest] = receivers
        left = receivers < 0
        rest, classes = rest[left], classes[left]
    for start, end in runs(classes):
        members = subscribers.members[int(classes[start])]
        loads = counts[members]
        held.owner[rest[start:end]] = members[level_fill(loads, end - start)]
        counts[members] = loads


def _give_by_rack(
    subscribers: Subscribers, counts: Ints, classes: Sequence[int], sets: Sequence[int], racks: Racks
) -> Ints:
    """Assign each partition to the least loaded subscriber whose rack does not mismatch; -1 if there is none. There is
    a heap per class and rack set. Loads only grow: an entry is too low at worst, and is then corrected."""
    members = len(counts)
    order = subscribers.inputs.by_id
    by_id, rank = order.tolist(), places(order)
    key = (counts * members + rank).tolist()
    heaps: dict[tuple[int, int], list[int]] = {}
    receivers = []
    for kind in zip(classes, sets, strict=True):
        heap = heaps.get(kind)
        if heap is None:
            of = subscribers.members[kind[0]]
            rack = racks.of_member[of]
            able = of[(rack < 0) | racks.contains[kind[1], rack]]
            heap = heaps[kind] = [key[m] for m in able.tolist()]
            heapq.heapify(heap)
        if not heap:
            receivers.append(-1)
            continue
        member = by_id[heap[0] % members]
        while heap[0] != key[member]:
            heapq.heapreplace(heap, key[member])
            member = by_id[heap[0] % members]
        key[member] += members
        heapq.heapreplace(heap, key[member])
        receivers.append(member)
    counts[:] = np.array(key, dtype=np.int64) // members
    return np.array(receivers, dtype=np.int64)


def _excluded_members(
    inputs: StickyInput, subscribers: Subscribers, held: Holdings, counts: Ints
) -> NDArray[np.bool_]:
    """Members that are full and own no partition that another member could have."""
    full = counts >= subscribers.capacity
    if not full.any():
        return full
    for owners in (held.owner, held.first_copy):
        if owners is not None:
            ids = np.flatnonzero(owners >= 0)
            ids = ids[full[owners[ids]]]
            shared = subscribers.potential[inputs.topics_of(ids)] > 1
            full[owners[ids[shared]]] = False
    return full
