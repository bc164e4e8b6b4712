"""The new offset of each reset scenario, as in `OffsetsUtils` of Kafka 4.3; only to-current may leave the log."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from groups import model
from groups.offsets.model import OffsetChange, Positions

_LARGEST_OFFSET = 2**63 - 1
NOT_CHECKED = "not checked: the log is unknown from this source"


@dataclass(frozen=True, slots=True)
class ToEarliest:
    """`--to-earliest`."""


@dataclass(frozen=True, slots=True)
class ToLatest:
    """`--to-latest`."""


@dataclass(frozen=True, slots=True)
class ToCurrent:
    """`--to-current`: committed offsets are unchanged, partitions without one are set to the end."""


@dataclass(frozen=True, slots=True)
class ToOffset:
    offset: int


@dataclass(frozen=True, slots=True)
class ShiftBy:
    count: int  # negative shifts backwards


@dataclass(frozen=True, slots=True)
class ToTime:
    """`--to-datetime` and `--by-duration`: the first record at or after a moment, in ms since 1970."""

    at_ms: int


@dataclass(frozen=True, slots=True)
class ToListed:
    """`--from-file`: the offsets of a file, by group."""

    offsets: Mapping[str, Mapping[model.TopicPartition, int]]


@dataclass(frozen=True, slots=True)
class ToGroup:
    group: str
    offsets: model.Offsets


Scenario: TypeAlias = ToEarliest | ToLatest | ToCurrent | ToOffset | ShiftBy | ToTime | ToListed | ToGroup


class _Target(NamedTuple):
    offset: int | None  # None if it is unknown, then `remark` contains the reason
    remark: str | None = None


def reset(
    scenario: Scenario,
    group: str,
    partition: model.TopicPartition,
    committed: model.CommittedOffset | None,
    positions: Positions,
) -> OffsetChange | model.Problem | None:
    """The change of one partition; a Problem if its new offset is unknown, None if it stays unchanged."""
    if isinstance(scenario, ToGroup):
        others = model.commit_of(scenario.offsets, partition)
        if others is None or others.offset == model.NOTHING_COMMITTED:
            return None
    before = None if committed is None else committed.position
    if partition in positions.unread:
        subject = f"{group}, {model.partition_name(partition)}"
        return model.Problem(subject=subject, message=positions.unread[partition])
    offset, remark = _target(scenario, group, partition, before, positions)
    if offset is None:
        message = remark or "its offset is not known"
        return model.Problem(subject=f"{group}, {model.partition_name(partition)}", message=message)
    return OffsetChange(
        topic=partition[0],
        partition=partition[1],
        before=before,
        after=offset,
        earliest=positions.earliest.get(partition),
        end=positions.end.get(partition),
        counted_lag=None if committed is None else committed.lag,
        remark=remark,
    )


def _target(
    scenario: Scenario, group: str, partition: model.TopicPartition, before: int | None, positions: Positions
) -> _Target:
    end, earliest = positions.end.get(partition), positions.earliest.get(partition)
    match scenario:
        case ToEarliest():
            return _Target(earliest, None if earliest is not None else "its earliest offset is not known")
        case ToLatest():
            return _at_end(end, None)
        case ToCurrent():
            if before is None or before < 0:
                return _at_end(end, "nothing is committed: the end")
            return _Target(before)
        case ToOffset(offset):
            return _within(offset, earliest, end)
        case ShiftBy(count):
            if before is None or before < 0:
                return _Target(None, "nothing is committed, so there is nothing to shift")
            return _within(before + count, earliest, end)
        case ToTime():
            first_at = positions.at.get(partition)
            if first_at is None:
                return _Target(None, "its offset at that time is not known")
            return (
                _Target(first_at)
                if first_at >= 0
                else _at_end(end, "no record of that time or later: the end")
            )
        case ToListed(offsets):
            return _within(offsets[group][partition], earliest, end)
        case ToGroup(_, offsets):
            other = model.commit_of(offsets, partition)
            if other is None or other.offset is None:
                return _Target(None, f"the offset of {scenario.group} is not known")
            return _within(other.offset, earliest, end)


def _at_end(end: int | None, remark: str | None) -> _Target:
    return _Target(None, "its end offset is not known") if end is None else _Target(end, remark)


def _within(offset: int, earliest: int | None, end: int | None) -> _Target:
    if end is not None and offset > end:
        return _Target(end, f"{offset} is beyond the end")
    if earliest is not None and offset < earliest:
        return _Target(earliest, f"{offset} is before the earliest")
    if offset < 0 or offset > _LARGEST_OFFSET:
        return _Target(None, f"{offset} is not an offset, and the log's range is not known")
    return _Target(offset, NOT_CHECKED if earliest is None or end is None else None)
