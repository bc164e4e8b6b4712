"""Was a partition ever consumed by two at once, was anything lost, was anything consumed twice?

Asked of the journals of all consumers and of what was produced. Two answers that do not lean on each other tell of
two at once: the stays that the listeners report (`overlaps`), and the records alone (`interleavings`).
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from tests.migration.end_to_end.journal import Entry, Journal, Partition

FOREVER_NS = 2**63


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Stay:
    from_ns: int
    until_ns: int  # FOREVER_NS where nothing says that it let go
    member: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    partition: Partition
    members: tuple[str, str]
    overlap_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Interleaving:
    """A consumer read on where it was although another had read on meanwhile."""

    partition: Partition
    members: tuple[str, str]  # The one that read on, and the other
    offset: int  # Where it read on


def stays(journals: Iterable[Journal]) -> dict[Partition, list[Stay]]:
    """The holders of each partition over time, by the consumers' own listeners, in order of time. ValueError: a
    consumer was assigned what it held, or let go of what it did not hold."""
    by_partition: dict[Partition, list[Stay]] = defaultdict(list)
    for journal in journals:
        since: dict[Partition, int] = {}
        for entry in journal.entries:
            if entry.kind == "assigned":
                if entry.partition in since:
                    raise ValueError(f"{journal.member} was assigned {entry.partition} twice")
                since[entry.partition] = entry.at_ns
            elif entry.kind != "record":
                if entry.partition not in since:
                    raise ValueError(f"{journal.member} let go of {entry.partition}, which it did not hold")
                stay = Stay(from_ns=since.pop(entry.partition), until_ns=entry.at_ns, member=journal.member)
                by_partition[entry.partition].append(stay)
        for partition, began in since.items():
            by_partition[partition].append(Stay(from_ns=began, until_ns=FOREVER_NS, member=journal.member))
    return {partition: sorted(them) for partition, them in by_partition.items()}


def overlaps(journals: Iterable[Journal]) -> list[Overlap]:
    """Stays of two consumers at one partition at once."""
    found = []
    for partition, them in stays(journals).items():
        for one, other in combinations(them, 2):
            shared_ns = min(one.until_ns, other.until_ns) - other.from_ns
            if one.member != other.member and shared_ns > 0:
                members = one.member, other.member
                found.append(Overlap(partition=partition, members=members, overlap_ns=shared_ns))
    return found


def outside(journals: Sequence[Journal]) -> list[tuple[str, Entry]]:
    """Records that a consumer was given of a partition that it did not hold, by its own listener."""
    held, found = stays(journals), []
    for journal in journals:
        for entry in records(journal):
            mine = [stay for stay in held.get(entry.partition, ()) if stay.member == journal.member]
            if not any(stay.from_ns <= entry.at_ns <= stay.until_ns for stay in mine):
                found.append((journal.member, entry))
    return found


def interleavings(journals: Sequence[Journal]) -> list[Interleaving]:
    """Where records alone show two at once. A consumer that gets a partition again continues after what others have
    consumed meanwhile. One that never left continues at an offset that another has consumed between its last record
    and this one."""
    by_partition: dict[Partition, dict[str, list[Entry]]] = defaultdict(lambda: defaultdict(list))
    for journal in journals:
        for entry in records(journal):
            by_partition[entry.partition][journal.member].append(entry)
    return [
        Interleaving(partition=partition, members=(member, other), offset=_offset(later))
        for partition, readers in by_partition.items()
        for member, consumed in readers.items()
        for earlier, later in pairwise(consumed)
        for other, theirs in readers.items()
        if other != member and _read_on(earlier, later, theirs)
    ]


def _read_on(earlier: Entry, later: Entry, theirs: Sequence[Entry]) -> bool:
    """Whether another consumed between two records of one consumer, and as far as the second of them."""
    first = bisect_left(theirs, earlier.at_ns, key=_at_ns)
    behind = bisect_right(theirs, later.at_ns, key=_at_ns)
    return any(_offset(entry) >= _offset(later) for entry in theirs[first:behind])


def lost(
    produced: Mapping[Partition, Iterable[int]], journals: Iterable[Journal]
) -> list[tuple[str, int, int]]:
    """Records that were produced and never consumed: topic, partition, offset."""
    consumed = {(entry.partition, _offset(entry)) for journal in journals for entry in records(journal)}
    produced_pairs = {(partition, offset) for partition, offsets in produced.items() for offset in offsets}
    return [(*partition, offset) for partition, offset in sorted(produced_pairs - consumed)]


def repeated(journals: Iterable[Journal]) -> list[tuple[Partition, int, tuple[str, ...]]]:
    """Records that were consumed more than once: partition, offset and consumers, in order of time."""
    readers: dict[tuple[Partition, int], list[tuple[int, str]]] = defaultdict(list)
    for journal in journals:
        for entry in records(journal):
            readers[entry.partition, _offset(entry)].append((entry.at_ns, journal.member))
    several = [(record, sorted(them)) for record, them in sorted(readers.items()) if len(them) > 1]
    return [(*record, tuple(member for _, member in them)) for record, them in several]


def records(journal: Journal) -> Iterable[Entry]:
    return (entry for entry in journal.entries if entry.kind == "record")


def without_owner_s(journals: Iterable[Journal], from_ns: int, until_ns: int) -> float:
    """Partition-seconds between two moments in which a partition that was ever held had no owner."""
    free_ns = 0
    for them in stays(journals).values():
        reached = from_ns
        for stay in them:
            if stay.from_ns > reached:
                free_ns += min(stay.from_ns, until_ns) - reached
            reached = min(max(reached, stay.until_ns), until_ns)
        free_ns += until_ns - reached
    return free_ns / 1e9


def _at_ns(entry: Entry) -> int:
    return entry.at_ns


def _offset(entry: Entry) -> int:
    if entry.offset is None:
        raise ValueError(f"a record has an offset: {entry}")
    return entry.offset
