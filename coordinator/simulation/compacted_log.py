"""The log of a group after a compaction, as a loading broker reads it.

The cleaner removes records if a later record has the same key. So offsets may precede the group that they belong to,
and the end of a group's former life may be missing while its later life is there.

- Records before `cleaned` are removed if a later record before `cleaned` has the same key.
- Tombstones before `dropped` are removed as well: an earlier pass has seen them, and `delete.retention.ms` is over.
- A cleaner that runs while a broker loads replaces segments that are still unread: records in `overtaken` are removed
  if a later record before `known` has the same key. Tombstones stay: their retention time starts.

Source: LogCleaner; KAFKA-20254 and KAFKA-17306 (prefixes), KAFKA-19862 and KAFKA-21117 (replaced segments). Brokers of
earlier releases, known by the missing KIP or fix (`LACKS`), refuse some requests and cannot load some records."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import accumulate, compress
from random import Random
from typing import Self, TypeAlias, get_args

from coordinator.engine.calls import AnyRequest, Request
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.member import stale_epoch
from coordinator.engine.engine import Engine
from coordinator.engine.offsets.commit import OffsetCommit
from coordinator.engine.records import ClassicGroupRecord, OffsetRecord, Record


def _field_names(kind: type) -> tuple[str, ...]:
    return OffsetRecord._fields if kind is OffsetRecord else tuple(field.name for field in fields(kind))


_KEY_NAMES: Mapping[type, tuple[str, ...]] = {
    kind: tuple(name for name in _field_names(kind) if name not in ("value", "payload"))
    for kind in get_args(Record)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanerPositions:
    """The cleaner's positions; all are offsets. `dropped` ≤ `cleaned`; `overtaken[1]` ≤ `known`."""

    cleaned: int = 0
    dropped: int = 0
    overtaken: tuple[int, int] = (0, 0)
    known: int = 0

    @classmethod
    def draw(cls, random: Random, ends: Sequence[int]) -> Self:
        """A random compaction: of the whole log long ago, of a part of it, or of a part while it is read."""
        low, high = sorted(random.choices(sorted({0, *ends}), k=2))
        match random.randrange(3):
            case 0:
                return cls(cleaned=ends[-1], dropped=ends[-1])
            case 1:
                return cls(cleaned=high, dropped=low)
            case _:
                return cls(overtaken=(low, high), known=ends[-1])


def compacted(log: Sequence[Record], cleaning: CleanerPositions) -> list[Record]:
    """The records that are read, in order."""
    keys = [key_of(record) for record in log]
    last_cleaned = {key: offset for offset, key in enumerate(keys[: cleaning.cleaned])}
    last_known = {key: offset for offset, key in enumerate(keys[: cleaning.known])}
    start, end = cleaning.overtaken

    def stays(offset: int) -> bool:
        if offset < cleaning.cleaned and last_cleaned[keys[offset]] > offset:
            return False
        if start <= offset < end and last_known[keys[offset]] > offset:
            return False
        return log[offset].value is not None or offset >= cleaning.dropped

    return [record for offset, record in enumerate(log) if stays(offset)]


def without_old_offsets(log: Sequence[Record], ends: Sequence[int]) -> tuple[list[Record], list[int]]:
    """The log and the ends of its batches, without offsets that were committed again later: most of a long log."""
    places = [record[1:3] if type(record) is OffsetRecord else None for record in log]
    last = {place: offset for offset, place in enumerate(places)}
    stays = [place is None or last[place] == offset for offset, place in enumerate(places)]
    before = [0, *accumulate(stays)]
    return list(compress(log, stays)), list(dict.fromkeys(before[end] for end in ends))


def key_of(record: Record) -> tuple[object, ...]:
    """A value that is equal for records of the same key: their kind, and everything except the value."""
    return type(record), *(getattr(record, name) for name in _KEY_NAMES[type(record)])


class CannotBeLoaded(Exception):
    """An earlier broker cannot load a record of the log, and marks the partition as failed."""


Check: TypeAlias = Callable[[Engine, AnyRequest | Record], None]
"""Raises RequestRefused for a request that this broker refuses, CannotBeLoaded for a record that it cannot load."""


def _check_commit_epoch(engine: Engine, request: AnyRequest | Record) -> None:
    """A commit must name the member's current epoch: ConsumerGroup.validateOffsetCommit of 4.0 to 4.2."""
    if not isinstance(request, OffsetCommit):
        return
    group = engine.state.groups.get(request.group)
    if not isinstance(group, ConsumerGroup) or not group.has_member(request.member):
        return
    member, epoch = group.members[request.member], request.generation_or_epoch
    if epoch != member.epoch:
        raise stale_epoch(member, f"epoch {epoch} does not match the expected member epoch {member.epoch}.")


def _check_no_simple_group(engine: Engine, record: AnyRequest | Record) -> None:
    """Simple groups cannot become consumer groups before Kafka 3.9, nor streams groups before KAFKA-20254 (4.2)."""
    group = _of_another_type(engine, record)
    if group is not None and _is_simple(group):
        raise CannotBeLoaded(f"Group {group.id} is not a consumer group")


def _check_no_classic_group(engine: Engine, record: AnyRequest | Record) -> None:
    """A classic group whose tombstone is missing cannot become a consumer group: Kafka up to 4.4."""
    group = _of_another_type(engine, record)
    if group is not None and not _is_simple(group):
        raise CannotBeLoaded(f"Group {group.id} is not a consumer group")


def _of_another_type(engine: Engine, record: AnyRequest | Record) -> ClassicGroup | None:
    """The classic group with the id of a consumer group's record, if there is one."""
    if isinstance(record, Request | OffsetRecord | ClassicGroupRecord):
        return None
    group = engine.state.groups.get(record.group)
    return group if isinstance(group, ClassicGroup) else None


def _is_simple(group: ClassicGroup) -> bool:
    """ClassicGroup.isSimpleGroup of a loaded group: no member has ever joined it."""
    return group.is_empty() and not group.protocol_type


LACKS: Mapping[str, Check] = {
    "KIP-1251": _check_commit_epoch,
    "KAFKA-17306": _check_no_simple_group,
    "KAFKA-21117": _check_no_classic_group,
}
"""By the names of the KIPs and fixes in a scenario (`without`)."""
