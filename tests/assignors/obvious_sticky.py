"""The sticky assignors written the slow, obvious way: the oracle of the fast ones.

One partition at a time, dicts, lists and sets of names. Behaviour of Kafka 4.3.1, quirks included; what each
step is for stands in `assignors/java/sticky_claims.py`, `sticky_equal.py` and `sticky_general.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from assignors.errors import AssignorFailedError, AssignorHangsError
from assignors.model import NO_GENERATION, GroupSpec, MemberSpec, TopicSpec
from tests.support.plain_java import Buckets, partition_hash, string_hash, utf16

Partition = tuple[str, int]
Held = dict[str, list[Partition]]

NO_LIST = (
    'Cannot invoke "java.util.List.size()" because the return value of "java.util.Map.get(Object)" is null'
)
ROUND_AND_ROUND = "the assignor never comes to an end: it moves the same partitions round and round"
MANY_VISITS = 500
"""Nothing that comes to rest visits its partitions so often."""


def obvious_sticky(spec: GroupSpec) -> Held:
    """What Java's StickyAssignor returns: partitions by member id, a partition given twice stands twice."""
    said = {m.id: listed(m, cooperative=False) for m in spec.members}
    since = {m.id: NO_GENERATION if m.user_data is None else m.user_data.generation for m in spec.members}
    return Group(spec, said, since).assign()[0]


def obvious_cooperative(spec: GroupSpec) -> Held:
    """What Java's CooperativeStickyAssignor returns."""
    said = {m.id: listed(m, cooperative=True) for m in spec.members}
    since = {}
    for m in spec.members:
        since[m.id] = m.owned.generation
        if m.owned.generation < 0:
            since[m.id] = NO_GENERATION if m.user_data is None else m.user_data.generation
    group = Group(spec, said, since)
    held, moving = group.assign()
    if moving is None:
        moving = still_owned(held, said)
    for partition, member in moving.items():
        held[member].remove(partition)
    return held


def listed(member: MemberSpec, *, cooperative: bool) -> list[Partition]:
    claim = member.owned if cooperative else member.user_data
    if claim is None:
        return []
    return [(topic, number) for topic, numbers in claim.partitions.items() for number in numbers]


def still_owned(held: Held, said: Held) -> dict[Partition, str]:
    """Partitions given to a member that does not claim them while a claimant does not keep them."""
    added, dropped = {}, set()
    for member, partitions in held.items():
        for partition in partitions:
            if partition not in said[member]:
                added[partition] = member
        dropped |= set(said[member]) - set(partitions)
    return {partition: member for partition, member in added.items() if partition in dropped}


def hash_order(ids: Iterable[str]) -> list[str]:
    buckets = Buckets[str]()
    for name in ids:
        buckets.add(name, string_hash(name))
    return list(buckets)


@dataclass
class Group:
    spec: GroupSpec
    said: Held
    since: dict[str, int]
    """The generation that goes with a member's own claims; a rival is judged by its subscription's."""
    topics: dict[str, TopicSpec] = field(init=False)
    members: list[MemberSpec] = field(init=False)
    owned: Held = field(init=False)
    disputed: set[Partition] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        wanted = {t for m in self.spec.members for t in m.topics}
        self.topics = {t.name: t for t in self.spec.topics if t.partitions > 0 and t.name in wanted}
        by_id = {m.id: m for m in self.spec.members}
        self.members = [by_id[name] for name in hash_order(by_id)]
        self.owned = {m.id: [] for m in self.members}

    def assign(self) -> tuple[Held, dict[Partition, str] | None]:
        if not self.members:
            return {}, {}
        self.settle_claims()
        racks = Racks(self)
        if self.all_equal():
            equal = Equal(self, racks)
            return equal.assign(), equal.moving
        return General(self, racks).assign(), None

    def all_equal(self) -> bool:
        first: set[str] = set()
        for m in self.members:
            if not first:
                first = set(m.topics)
            elif len(m.topics) != len(first) or not first.issuperset(m.topics):
                return False
        return True

    def settle_claims(self) -> None:
        sent = {m.id: m.owned.generation if m.owned.generation >= 0 else NO_GENERATION for m in self.members}
        owner: dict[Partition, str] = {}
        for m in self.members:
            for p in self.said[m.id]:
                if p[0] not in self.topics:
                    continue
                rival = owner.get(p)
                if rival is None:
                    self.owned[m.id].append(p)
                    owner[p] = m.id
                elif self.since[m.id] >= sent[rival]:
                    if self.since[m.id] == sent[rival]:
                        self.disputed.add(p)
                    else:
                        self.owned[m.id].append(p)
                    if p in self.owned[rival]:
                        self.owned[rival].remove(p)
                    owner[p] = m.id

    def partitions(self, topics: Iterable[str]) -> list[Partition]:
        return [(t, p) for t in topics for p in range(self.topics[t].partitions)]


class Racks:
    """Racks of members and partitions; `on` only where they can make a difference."""

    def __init__(self, group: Group) -> None:
        self.member = {m.id: m.rack for m in group.members if m.rack}
        self.partition: dict[Partition, set[str]] = {}
        for t in group.topics.values():
            for p in range(t.partitions):
                self.partition[t.name, p] = set(t.racks[p]) if t.racks else set()
        union = {rack for racks in self.partition.values() for rack in racks}
        self.on = not union.isdisjoint(self.member.values()) and any(
            r != union for r in self.partition.values()
        )
        if not self.on:
            self.member = {}

    def mismatch(self, member: str, partition: Partition) -> bool:
        return member in self.member and self.member[member] not in self.partition.get(partition, set())

    def match(self, member: str, partition: Partition) -> bool:
        return member in self.member and self.member[member] in self.partition.get(partition, set())

    def consumers(self, partition: Partition) -> int:
        return sum(rack in self.partition.get(partition, set()) for rack in self.member.values())


def remaining(everything: list[Partition], kept: list[Partition]) -> list[Partition]:
    """What Java takes for unassigned: merging two sorted lists stalls at a claim that does not exist."""
    kept = list(kept)
    rest = []
    for p in everything:
        if kept and kept[0] == p:
            kept.pop(0)
        else:
            rest.append(p)
    return rest


class Equal:
    """All members subscribe to the same topics."""

    def __init__(self, group: Group, racks: Racks) -> None:
        self.group, self.racks = group, racks
        total = sum(t.partitions for t in group.topics.values())
        self.low, self.above = divmod(total, len(group.members))
        self.high = self.low + (self.above > 0)
        self.filled = 0
        self.result: Held = {m.id: [] for m in group.members}
        self.under: list[str] = []
        self.exact: list[str] = []
        self.cut: dict[Partition, str] = {}
        self.moving: dict[Partition, str] = {}

    def assign(self) -> Held:
        for m in self.group.members:
            self.keep(m.id)
        kept = [p for partitions in self.result.values() for p in partitions]
        kept.sort(key=lambda p: (utf16(p[0]), p[1]))
        rest = remaining(self.group.partitions(sorted(self.group.topics, key=utf16)), kept)
        self.under.sort(key=utf16)
        self.exact.sort(key=utf16)
        if self.racks.on:
            rest.sort(key=self.racks.consumers)
            rest = self.by_rack(rest)
        self.in_turn(rest)
        self.verify()
        return self.result

    def keep(self, member: str) -> None:
        mine = sorted(self.group.owned[member], key=lambda p: (p[1], utf16(p[0])))
        for p in mine:
            if self.racks.mismatch(member, p):
                self.cut[p] = member
        mine = [p for p in mine if not self.racks.mismatch(member, p) and p not in self.group.disputed]
        quota = self.low
        if len(mine) < self.low:
            self.under.append(member)
        elif len(mine) >= self.high and self.filled < self.above:
            self.filled += 1
            quota = self.high
            if self.filled == self.above:
                self.exact.clear()
        elif self.filled < self.above:
            self.exact.append(member)
        self.result[member] = mine[:quota]
        for p in mine[quota:]:
            self.cut[p] = member

    def by_rack(self, rest: list[Partition]) -> list[Partition]:
        """Members below the low quota in turn, then those at it, but only inside a partition's racks."""
        left, turn = [], 0
        for p in rest:
            choice = next((i for i in self.cycle(turn) if self.racks.match(self.under[i], p)), None)
            if choice is not None:
                member = self.under[choice]
                if len(self.result[member]) + 1 == self.low:
                    self.under.pop(choice)
                    if self.low < self.high and self.filled < self.above:
                        self.exact.append(member)
                else:
                    choice += 1
                turn = choice % len(self.under) if self.under else 0
                self.give(p, member)
                continue
            choice = next((i for i, m in enumerate(self.exact) if self.racks.match(m, p)), None)
            if choice is None:
                left.append(p)
                continue
            self.give(p, self.exact.pop(choice))
            self.filled += 1
            if self.filled == self.above:
                self.exact.clear()
        return left

    def cycle(self, start: int) -> list[int]:
        return [(start + i) % len(self.under) for i in range(len(self.under))]

    def in_turn(self, rest: list[Partition]) -> None:
        turn = 0
        for p in rest:
            if turn >= len(self.under):
                if not self.under and not self.exact:
                    raise AssignorFailedError("No more unfilled consumers to be assigned.")
                turn = 0
            if not self.under:
                member = self.exact.pop(0)
                self.give(p, member)
                self.filled += len(self.result[member]) == self.high
                continue
            member = self.under[turn]
            self.give(p, member)
            turn += 1
            if len(self.result[member]) == self.low:
                turn -= 1
                self.exact.append(self.under.pop(turn))

    def give(self, p: Partition, member: str) -> None:
        self.result[member].append(p)
        if self.cut.get(p, member) != member or p in self.group.disputed:
            self.moving[p] = member

    def verify(self) -> None:
        if not self.under:
            return
        if self.filled != self.above:
            raise AssignorFailedError(
                "We haven't reached the expected number of members with more than the minQuota partitions, "
                "but no more partitions to be assigned"
            )
        raise AssignorFailedError(
            f"Consumer: [{self.under[0]}] doesn't reach minQuota partitions, "
            "and no more partitions to be assigned"
        )


class General:
    """Members subscribe to different topics."""

    def __init__(self, group: Group, racks: Racks) -> None:
        self.group, self.racks = group, racks
        self.subscribed = {m.id: [t for t in m.topics if t in group.topics] for m in group.members}
        self.potential: dict[str, list[str]] = {t: [] for t in group.topics}
        for member, topics in self.subscribed.items():
            for t in topics:
                self.potential[t].append(member)
        self.held = {member: list(partitions) for member, partitions in group.owned.items()}
        self.owner: dict[Partition, str] = {}
        self.turn: set[str] = set()
        """Members whose holdings may still change."""
        self.revoked = False
        self.movements = Movements()
        self.previous = self.previous_owners()

    def rank(self, p: Partition) -> tuple[int, list[int], int]:
        return len(self.potential[p[0]]), utf16(p[0]), p[1]

    def previous_owners(self) -> dict[Partition, str]:
        """Who claimed a partition in an older generation than the newest; the newest of those claims."""
        newest = max([NO_GENERATION, *self.group.since.values()])
        best: dict[Partition, tuple[int, str]] = {}
        for m in self.group.members:
            generation = self.group.since[m.id]
            if generation < newest:
                for p in self.group.said[m.id]:
                    if p not in best or generation > best[p][0]:
                        best[p] = (generation, m.id)
        return {p: member for p, (_, member) in best.items()}

    def assign(self) -> Held:
        order = sorted(self.group.topics, key=lambda t: (len(self.potential[t]), utf16(t)))
        everything = self.group.partitions(order)
        self.drop_unsuitable()
        kept = sorted((p for mine in self.held.values() for p in mine), key=self.rank)
        rest = remaining(everything, kept)
        self.turn = set(self.held)
        initializing = not any(self.held.values())
        later = [p for p in rest if not (self.racks.on and self.give(p, respect_racks=True))]
        for p in later:
            self.give(p, respect_racks=False)

        everything = [p for p in everything if len(self.potential[p[0]]) > 1]
        rest = [p for p in rest if len(self.potential[p[0]]) > 1]
        fixed = {m: self.held[m] for m in self.subscribed if not self.can_participate(m)}
        for member in fixed:
            self.turn.remove(member)
            del self.held[member]

        before = {member: list(mine) for member, mine in self.held.items()}
        if not self.revoked:
            self.reassign(rest)
        if (
            self.reassign(everything)
            and not initializing
            and balance_score(self.held) >= balance_score(before)
        ):
            self.held = before
        self.held.update(fixed)
        return self.held_in_map_order(fixed)

    def held_in_map_order(self, readded: Held) -> Held:
        """Members in the order of Java's map; those taken out and put back are at the end of their bucket."""
        buckets = Buckets[str]()
        for m in self.group.members:
            buckets.add(m.id, string_hash(m.id))
        for member in readded:
            buckets.discard(member, string_hash(member))
        for member in hash_order(readded):
            buckets.add(member, string_hash(member))
        return {member: self.held[member] for member in buckets}

    def drop_unsuitable(self) -> None:
        for member, mine in self.held.items():
            for p in list(mine):
                self.owner[p] = member
                if p[0] not in self.subscribed[member] or self.racks.mismatch(member, p):
                    mine.remove(p)
                    self.revoked = True

    def by_load(self) -> list[str]:
        return sorted(self.turn, key=lambda m: (len(self.held[m]), utf16(m)))

    def give(self, p: Partition, *, respect_racks: bool) -> bool:
        for member in self.by_load():
            if p[0] in self.subscribed[member] and not (respect_racks and self.racks.mismatch(member, p)):
                self.held[member].append(p)
                self.owner[p] = member
                return True
        return False

    def capacity(self, member: str) -> int:
        topics = self.subscribed[member]
        if len(topics) == len(self.group.topics):
            topics = list(self.group.topics)
        return sum(self.group.topics[t].partitions for t in topics)

    def can_participate(self, member: str) -> bool:
        mine = self.held[member]
        return len(mine) < self.capacity(member) or any(len(self.potential[p[0]]) > 1 for p in mine)

    def size(self, member: str | None) -> int:
        """Members that cannot participate are no longer in Java's map, and it asks for them all the same."""
        if member is None or member not in self.held:
            raise AssignorFailedError(NO_LIST)
        return len(self.held[member])

    def balanced(self) -> bool:
        order = self.by_load()
        if self.size(order[0]) >= self.size(order[-1]) - 1:
            return True
        shown = {p: member for member, mine in self.held.items() for p in mine}
        for member in order:
            if self.size(member) == self.capacity(member):
                continue
            mine = set(self.held[member])
            for p in self.group.partitions(self.subscribed[member]):
                if p not in mine and self.size(member) + 1 < self.size(shown.get(p)):
                    return False
        return True

    def reassign(self, partitions: list[Partition]) -> bool:
        performed, modified, visits = False, True, 0
        while modified:
            modified, visits = False, visits + 1
            if visits > MANY_VISITS:
                raise AssignorHangsError(ROUND_AND_ROUND)
            for p in partitions:
                if self.balanced():
                    break
                target = self.better_owner(p)
                if target is not None:
                    self.move(self.movements.instead_of(p, self.owner[p], target), target)
                    performed = modified = True
        return performed

    def better_owner(self, p: Partition) -> str | None:
        member = self.owner[p]
        previous = self.previous.get(p)
        if previous is not None and self.size(member) > self.size(previous) + 1:
            return previous
        if self.improvable(p, member):
            return next(m for m in self.by_load() if p[0] in self.subscribed[m])
        return None

    def improvable(self, p: Partition, member: str) -> bool:
        if self.racks.match(member, p):
            for other in self.potential[p[0]]:
                if self.racks.match(other, p) and self.size(member) > self.size(other) + 1:
                    return True
        return any(self.size(member) > self.size(other) + 1 for other in self.potential[p[0]])

    def move(self, p: Partition, target: str) -> None:
        source = self.owner[p]
        self.movements.record(p, source, target)
        self.held[source].remove(p)
        self.held[target].append(p)
        self.owner[p] = target


class Movements:
    """Moves so far. Instead of p from a to b, something that went from b to a goes back."""

    def __init__(self) -> None:
        self.pair_of: dict[Partition, tuple[str, str]] = {}
        self.by_pair: dict[tuple[str, str, str], Buckets[Partition]] = {}

    def instead_of(self, p: Partition, source: str, target: str) -> Partition:
        if p in self.pair_of:
            source = self.pair_of[p][0]
        back = self.by_pair.get((p[0], target, source))
        return next(iter(back)) if back is not None else p

    def record(self, p: Partition, source: str, target: str) -> None:
        if p in self.pair_of:
            source, last = self.pair_of.pop(p)
            key = (p[0], source, last)
            self.by_pair[key].discard(p, partition_hash(p))
            if not len(self.by_pair[key]):
                del self.by_pair[key]
            if source == target:
                return
        self.pair_of[p] = (source, target)
        self.by_pair.setdefault((p[0], source, target), Buckets()).add(p, partition_hash(p))


def balance_score(held: Held) -> int:
    """Differences of all pairs, in an int that overflows."""
    sizes = sorted(map(len, held.values()))
    score = sum(a - b for i, a in enumerate(sizes) for b in sizes[:i])
    return (score + 2**31) % 2**32 - 2**31
