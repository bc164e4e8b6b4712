"""The sticky algorithm for members that all subscribe to the same topics.

With P partitions and n members, P % n members get one more than the low quota P // n, and the others the low quota.

In HashMap order each member keeps its partitions, the lowest numbers first (then topic names): up to the high quota
while high places are left, otherwise up to the low one. Disputed partitions and partitions whose racks mismatch are
not kept. The rest is assigned to the remaining places (`hand_out`):

1. If racks matter: partitions with the fewest members in their racks first; each is assigned to the next member below
   the low quota with a matching rack, otherwise to the first such member that waits at the low quota. Members
   without a rack are never picked.
2. The rest cycles through the members below the low quota, by id, until they reach it, then one each to the members
   that wait at the low quota, in the order in which they reached it.

Source: AbstractStickyAssignor.ConstrainedAssignmentBuilder (Kafka 4.3.1).
"""

from bisect import bisect_left
from collections import deque
from dataclasses import dataclass

import numpy as np

from assignors.errors import AssignorFailedError
from assignors.java.sticky_claims import GrantedClaims, Holdings, take_unassigned
from assignors.java.sticky_input import Racks, StickyInput, run_starts
from assignors.model import Ints, places


def assign_equal(inputs: StickyInput, granted: GrantedClaims, racks: Racks | None) -> Holdings:
    """Granted claims become holdings in place. Raises AssignorFailedError: claims of missing partitions."""
    held = Holdings(granted.owner)
    topics = inputs.by_name[inputs.takes_part[inputs.by_name]]
    total = int(np.diff(inputs.group.topic_start)[topics].sum())
    former = np.full(len(held.owner), -1, dtype=np.int64)  # by id, the owner that must revoke it
    if racks is not None:
        owned = np.flatnonzero(held.owner >= 0)
        _revoke(held, former, owned[racks.mismatch(held.owner[owned], owned)])
    if granted.disputed is not None:
        held.owner[granted.disputed] = -1
    counts = held.counts(inputs.member_count)
    quotas, filled = _quotas(inputs, counts, total)
    if (counts > quotas).any():
        # The highest partitions of overloaded members: by number, then topic name.
        ids = np.flatnonzero(held.owner >= 0)
        ids = ids[(counts > quotas)[held.owner[ids]]]
        owners = held.owner[ids]
        name_rank = places(inputs.by_name)
        order = _three_keys(owners, inputs.numbers_of(ids), name_rank[inputs.topics_of(ids)])
        ids, owners = ids[order], owners[order]
        starts = run_starts(owners)
        rank = np.arange(len(ids)) - np.repeat(starts, np.diff(np.append(starts, len(ids))))
        _revoke(held, former, ids[rank >= quotas[owners]])
        counts = np.minimum(counts, quotas)
    rest = take_unassigned(inputs, held, topics)
    receivers = hand_out(_places(inputs, counts, total, filled), rest, racks)
    held.owner[rest] = receivers
    # Partitions that one member must revoke and another member gets, and disputed partitions.
    moving = (former[rest] >= 0) & (former[rest] != receivers)
    if granted.disputed is not None:
        moving |= granted.disputed[rest]
    held.withheld = rest[moving]
    return held


def _revoke(held: Holdings, former: Ints, ids: Ints) -> None:
    former[ids] = held.owner[ids]
    held.owner[ids] = -1


def _quotas(inputs: StickyInput, counts: Ints, total: int) -> tuple[Ints, int]:
    """The number of partitions that each member may keep, and the number of members with the high quota."""
    low, above = divmod(total, inputs.member_count)
    quotas = np.full(inputs.member_count, low, dtype=np.int64)
    if not above or counts.max() <= low:
        return quotas, 0
    in_order = inputs.owners_order
    high = in_order[counts[in_order] > low][:above]
    quotas[high] = low + 1
    return quotas, len(high)


def _three_keys(first: Ints, second: Ints, third: Ints) -> Ints:
    """The order by three keys, sorted as one number if they fit into it."""
    low = int(second.min())
    width, depth = int(second.max()) - low + 1, int(third.max()) + 1
    if (int(first.max()) + 1) * width * depth < 2**63:
        return np.argsort((first * width + (second - low)) * depth + third)
    return np.lexsort((third, second, first))


def _places(inputs: StickyInput, counts: Ints, total: int, filled: int) -> "OpenQuotas":
    low, above = divmod(total, inputs.member_count)
    order = inputs.by_id
    in_order = counts[order]
    # No member waits for a high place if members above the low quota have taken all of them.
    waiting = order[in_order == low] if filled < above else order[:0]
    under = order[in_order < low]
    return OpenQuotas(
        low=low,
        above=above,
        filled=filled,
        under=under,
        need=low - counts[under],
        waiting=waiting.tolist(),
        names=[member.id for member in inputs.group.spec.members],
    )


@dataclass(slots=True, eq=False, kw_only=True)
class OpenQuotas:
    low: int
    above: int  # the number of members that may end above the low quota
    filled: int  # the number of members that are above the low quota
    under: Ints  # members below the low quota, by id
    need: Ints  # the number of partitions that each member of `under` needs to reach the low quota
    waiting: list[int]  # members at the low quota that may get one more, in order
    names: list[str]


def hand_out(places: OpenQuotas, ids: Ints, racks: Racks | None) -> Ints:
    """The receiver of each partition; raises AssignorFailedError if Java runs out of members."""
    if racks is None:
        return _receivers_in_order(places, len(ids))
    receivers = np.full(len(ids), -1, dtype=np.int64)
    order = np.argsort(racks.members_by_set()[racks.set_of[ids]], kind="stable")
    receivers[order] = _RackPass(places, racks).hand_out(racks.set_of[ids[order]].tolist())
    left = order[receivers[order] < 0]
    receivers[left] = _receivers_in_order(places, len(left))
    return receivers


def _receivers_in_order(places: OpenQuotas, amount: int) -> Ints:
    receivers = _rounds(places.under, places.need, amount)
    asked = int(places.need.sum())
    if amount < asked:
        if places.filled != places.above:
            raise AssignorFailedError(
                "We haven't reached the expected number of members with more than the minQuota partitions, "
                "but no more partitions to be assigned"
            )
        got = np.bincount(receivers, minlength=len(places.names))[places.under]
        first = places.names[int(places.under[np.argmax(got < places.need)])]
        raise AssignorFailedError(
            f"Consumer: [{first}] doesn't reach minQuota partitions, and no more partitions to be assigned"
        )
    if amount == asked:
        return receivers
    # The member that reaches the low quota first is the first in line for one more.
    line = [*places.waiting, *places.under[np.argsort(places.need, kind="stable")].tolist()]
    beyond = amount - asked
    if beyond > len(line):
        raise AssignorFailedError("No more unfilled consumers to be assigned.")
    return np.concatenate((receivers, np.array(line[:beyond], dtype=np.int64)))


def _rounds(members: Ints, need: Ints, amount: int) -> Ints:
    """Cycle through the members that still need something, `amount` turns at most."""
    turns, left, done = [], amount, 0
    for level in np.unique(need).tolist():
        going = members[need >= level]
        take = min(left, (level - done) * len(going))
        turns.append(np.tile(going, -(-take // len(going)))[:take])
        left, done = left - take, level
    if len(turns) == 1:
        return turns[0]
    return np.concatenate(turns) if turns else members[:0]


class _RackPass:
    """Assigns by rack, one partition at a time: each turn depends on all choices before."""

    def __init__(self, places: OpenQuotas, racks: Racks) -> None:
        self.places = places
        self.rack_of: list[int] = racks.of_member.tolist()
        self.racks_in = [np.flatnonzero(row).tolist() for row in racks.contains]
        self.under: list[int] = places.under.tolist()
        self.need: list[int] = places.need.tolist()
        rack_count = racks.contains.shape[1]
        self.under_in: list[list[int]] = [[] for _ in range(rack_count)]
        """Positions in `under` by rack, ascending."""
        for position, member in enumerate(self.under):
            if self.rack_of[member] >= 0:
                self.under_in[self.rack_of[member]].append(position)
        self.waiting_in: list[deque[tuple[int, int]]] = [deque() for _ in range(rack_count)]
        """Place in the line and member, by rack."""
        self.line: dict[int, int] = {}  # all waiting members, by place in the line
        self.arrivals = 0
        for member in places.waiting:
            self._wait(member)
        self.turn = 0

    def hand_out(self, sets: list[int]) -> list[int]:
        """Receivers of partitions with these rack sets; -1 if no rack matches."""
        receivers = []
        for rack_set in sets:
            racks = self.racks_in[rack_set]
            position = self._next_under(racks)
            receivers.append(self._from_line(racks) if position < 0 else self._give_under(position))
        keep = [i for i, need in enumerate(self.need) if need > 0]
        self.places.need = np.array([self.need[i] for i in keep], dtype=np.int64)
        self.places.under = np.array([self.under[i] for i in keep], dtype=np.int64)
        self.places.waiting = list(self.line.values())
        return receivers

    def _next_under(self, racks: list[int]) -> int:
        """The first position from the turn on, cyclic, whose rack matches; -1 if none."""
        best, best_distance = -1, len(self.under)
        for rack in racks:
            positions = self.under_in[rack]
            if positions:
                i = bisect_left(positions, self.turn)
                position = positions[i] if i < len(positions) else positions[0]
                distance = (position - self.turn) % len(self.under)
                if distance < best_distance:
                    best, best_distance = position, distance
        return best

    def _give_under(self, position: int) -> int:
        member = self.under[position]
        self.need[position] -= 1
        self.turn = position + 1
        if self.need[position] == 0:
            positions = self.under_in[self.rack_of[member]]
            positions.pop(bisect_left(positions, position))
            if self.places.filled < self.places.above:
                self._wait(member)
        return member

    def _wait(self, member: int) -> None:
        self.line[self.arrivals] = member
        if self.rack_of[member] >= 0:
            self.waiting_in[self.rack_of[member]].append((self.arrivals, member))
        self.arrivals += 1

    def _from_line(self, racks: list[int]) -> int:
        first = min((self.waiting_in[rack][0] for rack in racks if self.waiting_in[rack]), default=None)
        if first is None:
            return -1
        rank, member = first
        self.waiting_in[self.rack_of[member]].popleft()
        del self.line[rank]
        self.places.filled += 1
        if self.places.filled == self.places.above:
            self.line.clear()
            for waiting in self.waiting_in:
                waiting.clear()
        return member
