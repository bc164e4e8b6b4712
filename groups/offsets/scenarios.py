"""The new offset of each reset scenario: one function from the known data of a partition to its new offset.

The offsets are the same as in `OffsetsUtils` of Kafka 4.3: an offset that is a number is moved into the log's range,
a committed offset (to-current) is not; a moment after the last record means the end.

Times and durations are parsed as in kafka-consumer-groups.sh: `--to-datetime` by `Utils.getDateTime` (a strict
SimpleDateFormat of `yyyy-MM-dd'T'HH:mm:ss.SSSXXX`, then of the same with `X`; UTC without a zone), `--by-duration` by
`java.time.Duration.parse`. Two faults are not copied: SimpleDateFormat ignores text after the pattern, so that
`+0130` means one hour, and accepts years of more than four digits; here both are refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import MAXYEAR, UTC, datetime, timedelta
from typing import TypeAlias

from groups.model import NOTHING_COMMITTED, CommittedOffset, Offsets, Problem
from groups.offsets.model import OffsetChange, Place, Positions

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
    """`--to-offset`."""

    offset: int


@dataclass(frozen=True, slots=True)
class ShiftBy:
    """`--shift-by`; negative shifts backwards."""

    count: int


@dataclass(frozen=True, slots=True)
class ToTime:
    """`--to-datetime` and `--by-duration`: the first record at or after a moment, in ms since 1970."""

    at_ms: int


@dataclass(frozen=True, slots=True)
class ToListed:
    """`--from-file`: the offsets of a file, by group."""

    offsets: Mapping[str, Mapping[Place, int]]


@dataclass(frozen=True, slots=True)
class ToGroup:
    """`--to-group`: the committed offsets of another group."""

    group: str
    offsets: Offsets


Scenario: TypeAlias = ToEarliest | ToLatest | ToCurrent | ToOffset | ShiftBy | ToTime | ToListed | ToGroup


@dataclass(frozen=True, slots=True)
class _Target:
    """A new offset; None if it is unknown, then `remark` contains the reason."""

    offset: int | None
    remark: str | None = None


def reset(
    scenario: Scenario, group: str, place: Place, committed: CommittedOffset | None, positions: Positions
) -> OffsetChange | Problem | None:
    """The change of one partition; a Problem if its new offset is unknown, None if it stays unchanged."""
    if isinstance(scenario, ToGroup) and not _has_offset(scenario.offsets, place):
        return None
    before = None if committed is None else committed.position
    if place in positions.unread:
        return Problem(subject=f"{group}, {name_of(place)}", message=positions.unread[place])
    target = _target(scenario, group, place, before, positions)
    if target.offset is None:
        return Problem(
            subject=f"{group}, {name_of(place)}", message=target.remark or "its offset is not known"
        )
    return OffsetChange(
        topic=place[0],
        partition=place[1],
        before=before,
        after=target.offset,
        earliest=positions.earliest.get(place),
        end=positions.end.get(place),
        counted_lag=None if committed is None else committed.lag,
        remark=target.remark,
    )


def _target(
    scenario: Scenario, group: str, place: Place, before: int | None, positions: Positions
) -> _Target:
    end, earliest = positions.end.get(place), positions.earliest.get(place)
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
            found = positions.at.get(place)
            if found is None:
                return _Target(None, "its offset at that time is not known")
            return _Target(found) if found >= 0 else _at_end(end, "no record of that time or later: the end")
        case ToListed(offsets):
            return _within(offsets[group][place], earliest, end)
        case ToGroup(_, offsets):
            other = _of(offsets, place)
            if other is None or other.offset is None:
                return _Target(None, f"the offset of {scenario.group} is not known")
            return _within(other.offset, earliest, end)


def _at_end(end: int | None, remark: str | None) -> _Target:
    return _Target(None, "its end offset is not known") if end is None else _Target(end, remark)


def _within(offset: int, earliest: int | None, end: int | None) -> _Target:
    """Move an offset into the log's range: beyond the end it becomes the end, before the start the start."""
    if end is not None and offset > end:
        return _Target(end, f"{offset} is beyond the end")
    if earliest is not None and offset < earliest:
        return _Target(earliest, f"{offset} is before the earliest")
    if offset < 0 or offset > _LARGEST_OFFSET:
        return _Target(None, f"{offset} is not an offset, and the log's range is not known")
    return _Target(offset, NOT_CHECKED if earliest is None or end is None else None)


def _of(offsets: Offsets, place: Place) -> CommittedOffset | None:
    return offsets.get(place[0], {}).get(place[1])


def _has_offset(offsets: Offsets, place: Place) -> bool:
    """Whether an offset is committed, even if it could not be read."""
    found = _of(offsets, place)
    return found is not None and found.offset != NOTHING_COMMITTED


def name_of(place: Place) -> str:
    """A partition's name as in Kafka's logs: `orders-0`."""
    return f"{place[0]}-{place[1]}"


_FIELD = r"[ \t]*(\d{1,40})"
_DATETIME = re.compile(
    rf"{_FIELD}-{_FIELD}-{_FIELD}T{_FIELD}:{_FIELD}:{_FIELD}\.{_FIELD}[ \t]*(Z|[+-][0-9]{{2}}(?::[0-9]{{2}})?)?"
)
"""SimpleDateFormat allows blanks before its fields, digits of any script, and any number of leading zeros."""
_DURATION = re.compile(
    r"([-+]?)P(?:([-+]?[0-9]+)D)?"
    r"(T(?:([-+]?[0-9]+)H)?(?:([-+]?[0-9]+)M)?(?:([-+]?[0-9]+)(?:[.,]([0-9]{0,9}))?S)?)?",
    re.ASCII | re.IGNORECASE,
)
_NANOS_PER_SECOND = 10**9
_PARTS = ((2, 86_400, "days"), (4, 3_600, "hours"), (5, 60, "minutes"), (6, 1, "seconds"))
"""The parts of a duration: regex group, seconds per unit, and Java's name of the part."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_WESTERNMOST, _EASTERNMOST = -13 * 60, 14 * 60
"""The zones that Java's GregorianCalendar accepts, in minutes from UTC."""
_DIGITS_AT_MOST = 19
"""The most digits of a number in a duration, which Java reads as a long."""


class DurationTooLong(ValueError):
    """A duration exceeds Java's range; `what` is Java's name of the part that is too large."""

    def __init__(self, text: str, what: str) -> None:
        super().__init__(f"{text!r} is not a duration: it exceeds Java's maximum ({what})")
        self.what = what


def parse_datetime(text: str) -> int:
    """Milliseconds since 1970 of `2026-03-01T12:00:00.000[Z|+01|+01:00]`.

    The digits after the point are a number of milliseconds: `.5` means 5 ms.
    :raises ValueError: if Kafka's tool would refuse it or ignore a part of it
    """
    found = _DATETIME.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not a time: expected 2026-03-01T12:00:00.000, followed by Z or +01:00")
    *numbers, zone = found.groups()
    year, month, day, hour, minute, second, milliseconds = map(int, numbers)
    try:
        if milliseconds > 999:
            raise ValueError("more than 999 milliseconds")
        if year > MAXYEAR:  # a typing error, for which the tool would use the end of all logs
            raise ValueError(f"the year {year} has more than four digits")
        moment = datetime(year, month, day, hour, minute, second, milliseconds * 1000, tzinfo=UTC)
        offset_ms = _zone_ms(zone)
    except ValueError as error:
        raise ValueError(f"{text!r} is not a time: {error}") from None
    return (moment - _EPOCH) // timedelta(milliseconds=1) - offset_ms


def _zone_ms(zone: str | None) -> int:
    """The milliseconds by which a zone is ahead of UTC."""
    if zone in (None, "Z"):
        return 0
    hours, _, minutes = (zone or "")[1:].partition(":")
    ahead = (int(hours) * 60 + int(minutes or 0)) * (-1 if zone and zone[0] == "-" else 1)
    if int(minutes or 0) > 59 or not _WESTERNMOST <= ahead <= _EASTERNMOST:
        raise ValueError(f"{zone} is not a zone")
    return ahead * 60_000


def parse_duration_ns(text: str) -> int:
    """Nanoseconds of an ISO 8601 duration, `P1DT2H30M0.5S`; days have 24 hours, years and months are not allowed.

    :raises ValueError: if Java's `Duration.parse` would refuse it
    """
    found = _DURATION.fullmatch(text)
    if found is None or (found[3] or "").upper() == "T" or not any(found[n] for n in (2, 4, 5, 6)):
        raise ValueError(f"{text!r} is not a duration: expected P1D, PT2H30M, PT90S (PnDTnHnMn.nS)")
    sign = -1 if found[1] == "-" else 1
    seconds = 0
    for group, unit, what in _PARTS:
        part = _seconds(found[group], unit)
        if part is None:
            raise DurationTooLong(text, what)
        seconds += part
    fraction = int(((found[7] or "") + "000000000")[:9])
    if (found[6] or "").startswith("-"):
        fraction = -fraction
    total = sign * (seconds * _NANOS_PER_SECOND + fraction)
    if not _in_long(seconds) or not _in_long(total // _NANOS_PER_SECOND):
        raise DurationTooLong(text, "overflow")
    return total


def _seconds(digits: str | None, unit_seconds: int) -> int | None:
    """A part of a duration in seconds; None if it exceeds Java's long."""
    if digits is None:
        return 0
    if len(digits.lstrip("+-").lstrip("0")) > _DIGITS_AT_MOST:
        return None
    seconds = int(digits) * unit_seconds
    return seconds if _in_long(seconds) else None


def _in_long(number: int) -> bool:
    return -(2**63) <= number < 2**63


def ago_ms(duration_ns: int, now_ms: int) -> int:
    """The moment a duration before now, in ms since 1970, rounded down as `Instant.toEpochMilli` does."""
    return (now_ms * 1_000_000 - duration_ns) // 1_000_000
