"""The changes of an assignment: partitions kept, gained and lost by each member, moves, and balance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from assignors.model import GroupSpec, Partitions


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberDiff:
    """The changes of a member: partition numbers by topic, ascending. `before` is empty for a new member."""

    id: str
    before: Partitions
    after: Partitions
    kept: Partitions
    gained: Partitions
    lost: Partitions


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """How evenly partitions are spread over members; all numbers are 0 without members."""

    least: int
    most: int
    standard_deviation: float

    @property
    def spread(self) -> int:
        return self.most - self.least


def member_diffs(before: Mapping[str, Partitions], after: Mapping[str, Partitions]) -> tuple[MemberDiff, ...]:
    """The changes of each member: the members of `after` in their order, then those that have left."""
    ids = [*after, *(member for member in before if member not in after)]
    return tuple(_diff(member, before.get(member, {}), after.get(member, {})) for member in ids)


def minimum_moved(spec: GroupSpec, before: Mapping[str, Partitions]) -> int | None:
    """The fewest partitions that must move until everything is owned and spread evenly; None if members do not fall
    into blocks of equal subscriptions that share no topic, because "evenly" is then ambiguous."""
    counts = {topic.name: topic.partitions for topic in spec.topics}
    blocks: dict[frozenset[str], list[str]] = {}
    for member in spec.members:
        blocks.setdefault(frozenset(name for name in member.topics if name in counts), []).append(member.id)
    topics = [topic for block in blocks for topic in block]
    if len(set(topics)) != len(topics):
        return None
    block_of = {topic: number for number, block in enumerate(blocks) for topic in block}
    held: list[dict[str, int]] = [{} for _ in blocks]
    for holder, owned in _without_rivals(before).items():
        for topic, numbers in owned.items():
            if topic in block_of:
                holders = held[block_of[topic]]
                holders[holder] = holders.get(holder, 0) + len(numbers)
    fewest = 0
    for (block, members), holders in zip(blocks.items(), held, strict=True):
        # Each member keeps its share, some members one more.
        share, extra = divmod(sum(counts[topic] for topic in block), len(members))
        staying = [holders.get(member, 0) for member in members]
        over = sum(count > share for count in staying)
        fewest += sum(holders.values()) - sum(min(count, share) for count in staying) - min(over, extra)
    return fewest


def balance(assignment: Mapping[str, Partitions]) -> Balance:
    return _balance([sum(map(len, partitions.values())) for partitions in assignment.values()])


def topic_balance(spec: GroupSpec, assignment: Mapping[str, Partitions]) -> dict[str, Balance]:
    subscribers: dict[str, list[str]] = {topic.name: [] for topic in spec.topics}
    for member in spec.members:
        for name in set(member.topics) & subscribers.keys():
            subscribers[name].append(member.id)
    return {
        topic: _balance([len(assignment.get(member, {}).get(topic, ())) for member in members])
        for topic, members in subscribers.items()
    }


def _diff(member: str, before: Partitions, after: Partitions) -> MemberDiff:
    kept: dict[str, tuple[int, ...]] = {}
    gained: dict[str, tuple[int, ...]] = {}
    lost: dict[str, tuple[int, ...]] = {}
    for topic in sorted({*before, *after}):
        old, new = tuple(before.get(topic, ())), tuple(after.get(topic, ()))
        if old == new:
            if old:
                kept[topic] = old
            continue
        had, has = set(old), set(new)
        for partitions, numbers in ((kept, had & has), (gained, has - had), (lost, had - has)):
            if numbers:
                partitions[topic] = tuple(sorted(numbers))
    return MemberDiff(
        id=member,
        before={topic: before[topic] for topic in sorted(before)},
        after={topic: after[topic] for topic in sorted(after)},
        kept=kept,
        gained=gained,
        lost=lost,
    )


def _without_rivals(before: Mapping[str, Partitions]) -> Mapping[str, Partitions]:
    """`before` with one owner per partition: of several owners only the first by id can keep it."""
    places = [(t, p) for partitions in before.values() for t, numbers in partitions.items() for p in numbers]
    if len(set(places)) == len(places):
        return before
    seen: set[tuple[str, int]] = set()
    alone: dict[str, Partitions] = {}
    for member in sorted(before):
        mine = {(t, p) for t, numbers in before[member].items() for p in numbers} - seen
        seen |= mine
        alone[member] = {t: [p for p in numbers if (t, p) in mine] for t, numbers in before[member].items()}
    return alone


def _balance(counts: Sequence[int]) -> Balance:
    if not counts:
        return Balance(least=0, most=0, standard_deviation=0.0)
    mean = sum(counts) / len(counts)
    deviation = sqrt(sum((count - mean) ** 2 for count in counts) / len(counts))
    return Balance(least=min(counts), most=max(counts), standard_deviation=deviation)
