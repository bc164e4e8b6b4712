"""The log of a group after a compaction, as a loading broker reads it.

Theory of operation. A log has batches, which end at `ends`; a segment holds several. The cleaner removes records if a
later record has the same key, and keeps the order of the rest. So the last record of a key may follow records that
were written long after those it belongs with: offsets may precede the group that they belong to, and the end of a
group's former life may be missing while its later life is there.

- Records before `cleaned` are removed if a later record before `cleaned` has the same key.
- Tombstones before `dropped` are removed as well: an earlier pass has seen them, and `delete.retention.ms` is over.
- A cleaner that runs while a broker loads the log replaces segments that are still unread: records in `overtaken` are
  removed if a later record before `known` has the same key. Tombstones stay: their retention time starts.

Source: LogCleaner (Cleaner.buildOffsetMap, cleanSegments); KAFKA-20254 and KAFKA-17306 (prefixes), KAFKA-19862 and
KAFKA-21117 (segments that are replaced while they are read).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import accumulate, compress
from random import Random
from typing import get_args

from coordinator.engine.records import OffsetRecord, Record

_KEY_NAMES: Mapping[type, tuple[str, ...]] = {
    kind: tuple(field.name for field in fields(kind) if field.name not in ("value", "payload"))
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
    def draw(cls, random: Random, ends: Sequence[int]) -> CleanerPositions:
        """A random compaction of a log with these batch ends: with equal probability of the whole log long ago, of a
        part of it, or of a part while it is read."""
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
    last = {
        (record.topic, record.partition): offset
        for offset, record in enumerate(log)
        if type(record) is OffsetRecord
    }
    stays = [
        type(record) is not OffsetRecord or last[record.topic, record.partition] == offset
        for offset, record in enumerate(log)
    ]
    before = [0, *accumulate(stays)]
    return list(compress(log, stays)), list(dict.fromkeys(before[end] for end in ends))


def key_of(record: Record) -> tuple[object, ...]:
    """A value that is equal for records of the same key: their kind, and everything except the value."""
    return type(record), *(getattr(record, name) for name in _KEY_NAMES[type(record)])
