"""When the committed offsets of a live cluster's groups were committed, read off their records in `__consumer_offsets`.

No API tells (OffsetFetch names no time in any version). The record does (key type 1, field `commitTimestamp`). The
newest record with the very offset that the broker tells is taken: a newer one of another offset came meanwhile, or
belongs to a transaction that is open or was aborted.

Source: OffsetCommitKey, OffsetCommitValue (the offset stands behind the version in every one).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from cli.counts import counted
from cli.sources.newest_records import Found, Settings, Untold, read_newest
from cli.sources.source import Read
from coordinator.engine.records import OffsetRecord
from coordinator.store.records import decode_record, encode_record
from groups.model import Cause, CommittedOffset, Group, GroupType, Problem
from wire.messages.reader import DecodeError
from wire.messages.record_codec import UnknownKeyType

OFFSET = slice(2, 10)
"""Of a value; in front of it stands its version."""
SHOWN = 3


def read_commit_times(config: Settings, groups: Sequence[Group], timeout_s: float) -> Read[Group]:
    """The groups with the times of their commits, and why some are not known."""
    keys: dict[bytes, str] = {}
    offsets: dict[bytes, bytes] = {}
    for group in groups:
        for topic, partition, committed in _committed(group):
            key = _key(group.id, topic, partition)
            keys[key] = group.id
            offsets[key] = (committed.offset or 0).to_bytes(8, signed=True)
    if not keys:
        return Read(tuple(groups))
    found = read_newest(
        config, keys, timeout_s, lambda key, value: value is not None and value[OFFSET] == offsets[key]
    )
    told = {key: _time(each) if isinstance(each, Found) else each for key, each in found.items()}
    untold: dict[str, list[str]] = {}
    for key, each in told.items():
        if isinstance(each, Untold):
            untold.setdefault(each.why, []).append(keys[key])
    return Read(tuple(_with_times(group, told) for group in groups), tuple(_problems(untold)))


def _committed(group: Group) -> Iterable[tuple[str, int, CommittedOffset]]:
    """What is committed; the offsets of share groups are in another topic."""
    if group.type is GroupType.SHARE:
        return
    for topic, partitions in (group.offsets or {}).items():
        for partition, committed in partitions.items():
            if committed.offset is not None:
                yield topic, partition, committed


def _key(group: str, topic: str, partition: int) -> bytes:
    return encode_record(OffsetRecord(group=group, topic=topic, partition=partition, value=None))[0]


def _time(found: Found) -> int | Untold:
    try:
        record = decode_record(found.key, found.value)
    except (DecodeError, UnknownKeyType) as error:
        return Untold(f"its record at offset {found.offset} cannot be read: {error}")
    if not isinstance(record, OffsetRecord) or record.value is None:
        return Untold(f"its record at offset {found.offset} is no commit")
    return record.value.commit_ms


def _with_times(group: Group, told: Mapping[bytes, int | Untold]) -> Group:
    offsets = {topic: dict(partitions) for topic, partitions in (group.offsets or {}).items()}
    for topic, partition, committed in _committed(group):
        time_ms = told.get(_key(group.id, topic, partition))
        if isinstance(time_ms, int):
            offsets[topic][partition] = replace(committed, timestamp=time_ms)
    return group if group.offsets is None else replace(group, offsets=offsets)


def _problems(untold: Mapping[str, Sequence[str]]) -> Iterable[Problem]:
    """A line for each reason."""
    for why, groups in sorted(untold.items()):
        names = sorted(set(groups))
        more = f" and {len(names) - SHOWN} more groups" if len(names) > SHOWN else ""
        forbidden = "AUTHORIZATION_FAILED" in why
        hint = "; this needs READ on the topic __consumer_offsets" if forbidden else ""
        yield Problem(
            subject=", ".join(names[:SHOWN]) + more,
            message=f"the last commit of {counted(len(groups), 'partition')} is not known: {why}{hint}",
            cause=Cause.FORBIDDEN if forbidden else Cause.UNREAD,
        )
