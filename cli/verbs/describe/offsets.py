"""Committed offsets, end offsets and lag, a row per partition, in the order of kafka-consumer-groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from groups.model import CommittedOffset, Group, Member, Topic


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetRow:
    """A partition of a group. None is unknown; `committed` is also None where nothing was committed."""

    topic: str
    partition: int
    committed: int | None
    end: int | None
    leader_epoch: int | None
    metadata: str | None
    member: str | None = None
    host: str | None = None
    client_id: str | None = None
    counted_lag: int | None = None
    """The lag as the broker counts it, where it does."""
    last_commit_ms: int | None = None
    """When the offset was committed, in ms since 1970."""
    lag_ms: int | None = None
    """How long ago the first record was written that is not read; 0 where there is none."""

    @property
    def lag(self) -> int | None:
        """Records between the committed offset and the end; None unless both are known."""
        if self.counted_lag is not None:
            return self.counted_lag
        if self.committed is None or self.committed == -1 or self.end is None:
            return None
        return self.end - self.committed

    def as_data(self, *, lag_time: bool = False, last_commit: bool = False) -> dict[str, Any]:
        """An entry of the JSON document."""
        data = {
            "topic": self.topic,
            "partition": self.partition,
            "committed": self.committed,
            "end": self.end,
            "lag": self.lag,
            "leader_epoch": self.leader_epoch,
            "metadata": self.metadata,
            "member": self.member,
        }
        if lag_time:
            data["lag_ms"] = self.lag_ms
        if last_commit:
            data["last_commit_ms"] = self.last_commit_ms
        return data


def offset_rows(group: Group, topics: Mapping[str, Topic]) -> list[OffsetRow]:
    """Owned partitions first, the member with most of them leading, then partitions that nobody owns."""
    owners = sorted(
        (member for member in group.members if member.owned),
        key=lambda member: -sum(map(len, (member.owned or {}).values())),
    )
    rows: list[OffsetRow] = []
    owned: set[tuple[str, int]] = set()
    for member in owners:
        for topic, partitions in sorted((member.owned or {}).items()):
            rows += [_row(group, topics, topic, partition, member) for partition in sorted(partitions)]
            owned.update((topic, partition) for partition in partitions)
    for topic, committed in sorted((group.offsets or {}).items()):
        rows += [
            _row(group, topics, topic, partition, None)
            for partition in sorted(committed)
            if (topic, partition) not in owned
        ]
    return rows


def with_lag_times(
    rows: Iterable[OffsetRow], times: Mapping[tuple[str, int], Mapping[int, int | None]], now_ms: int
) -> list[OffsetRow]:
    """The rows with their lag times, by when the first record behind each committed offset was written.

    `times` are as `cli.sources.source.RecordTimes` has them. A record of a time to come is 0 ms old: the clock of who
    wrote it goes before this one.
    """
    return [replace(row, lag_ms=_lag_ms(row, times, now_ms)) for row in rows]


def _lag_ms(
    row: OffsetRow, times: Mapping[tuple[str, int], Mapping[int, int | None]], now_ms: int
) -> int | None:
    lag = row.lag
    if not lag:
        return lag  # nothing is left to read, or nobody knows
    if row.committed is None:
        return None
    known = times.get((row.topic, row.partition), {})
    if row.committed not in known:
        return None
    written_ms = known[row.committed]
    return 0 if written_ms is None else max(0, now_ms - written_ms)


_NOTHING = CommittedOffset(offset=None)


def _row(
    group: Group, topics: Mapping[str, Topic], topic: str, partition: int, member: Member | None
) -> OffsetRow:
    committed = (group.offsets or {}).get(topic, {}).get(partition, _NOTHING)
    ends = topics[topic].end_offsets if topic in topics else None
    return OffsetRow(
        topic=topic,
        partition=partition,
        committed=committed.offset,
        end=None if ends is None else ends.get(partition),
        leader_epoch=committed.leader_epoch,
        metadata=committed.metadata,
        member=member.id if member else None,
        host=member.client.host if member else None,
        client_id=member.client.id if member else None,
        counted_lag=committed.lag,
        last_commit_ms=committed.timestamp,
    )


def topics_of(groups: Iterable[Group]) -> set[str]:
    """Every topic that somebody owns or committed to: those whose end offsets are wanted."""
    listed = list(groups)
    owned = {topic for group in listed for member in group.members for topic in member.owned or ()}
    return owned | {topic for group in listed for topic in group.offsets or ()}
