"""Times and durations as kafka-consumer-groups.sh of Kafka 4.3 reads them.

`--to-datetime` goes through `Utils.getDateTime` (a strict SimpleDateFormat of `yyyy-MM-dd'T'HH:mm:ss.SSSXXX`, then of
the same with `X`; UTC where no zone is given), `--by-duration` through `java.time.Duration.parse`. Two faults are not
copied: SimpleDateFormat ignores what follows the pattern, so that `+0130` means one hour, and takes years of more than
four digits; here both are refused.
"""

from __future__ import annotations

import re
from datetime import MAXYEAR, UTC, datetime, timedelta

_FIELD = r"[ \t]*(\d{1,40})"
_DATETIME = re.compile(
    rf"{_FIELD}-{_FIELD}-{_FIELD}T{_FIELD}:{_FIELD}:{_FIELD}\.{_FIELD}[ \t]*(Z|[+-][0-9]{{2}}(?::[0-9]{{2}})?)?"
)
"""SimpleDateFormat takes blanks before its fields, and in them digits of any script and zeros without number."""
_DURATION = re.compile(
    r"([-+]?)P(?:([-+]?[0-9]+)D)?"
    r"(T(?:([-+]?[0-9]+)H)?(?:([-+]?[0-9]+)M)?(?:([-+]?[0-9]+)(?:[.,]([0-9]{0,9}))?S)?)?",
    re.ASCII | re.IGNORECASE,
)
_NANOS_PER_SECOND = 10**9
_PARTS = ((2, 86_400, "days"), (4, 3_600, "hours"), (5, 60, "minutes"), (6, 1, "seconds"))
"""Of a duration: the group that has it, its seconds, and Java's word for it."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_WESTERNMOST, _EASTERNMOST = -13 * 60, 14 * 60
"""Minutes from UTC: what Java's GregorianCalendar takes for a zone."""
_DIGITS_AT_MOST = 19
"""Of a count in a duration: Java reads it as a long."""


class TooLong(ValueError):
    """A duration that Java cannot hold; `what` is Java's word for the part of it that is too much."""

    def __init__(self, text: str, what: str) -> None:
        super().__init__(f"{text!r} is no duration: it is longer than Java's can be ({what})")
        self.what = what


def parse_datetime(text: str) -> int:
    """Milliseconds since 1970 of `2026-03-01T12:00:00.000[Z|+01|+01:00]`.

    The digits behind the point are a number of milliseconds: `.5` are 5 ms.
    :raises ValueError: when Kafka's tool would not take it, or would ignore a part of it
    """
    found = _DATETIME.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no time: write 2026-03-01T12:00:00.000, with Z or +01:00 behind it")
    *numbers, zone = found.groups()
    year, month, day, hour, minute, second, milliseconds = map(int, numbers)
    try:
        if milliseconds > 999:
            raise ValueError("more than 999 milliseconds")
        if year > MAXYEAR:  # a slip of the pen, which the tool takes for the end of all logs
            raise ValueError(f"the year {year} has more than four digits")
        moment = datetime(year, month, day, hour, minute, second, milliseconds * 1000, tzinfo=UTC)
        offset_ms = _zone_ms(zone)
    except ValueError as error:
        raise ValueError(f"{text!r} is no time: {error}") from None
    return (moment - _EPOCH) // timedelta(milliseconds=1) - offset_ms


def _zone_ms(zone: str | None) -> int:
    """How far a zone is ahead of UTC."""
    if zone in (None, "Z"):
        return 0
    hours, _, minutes = (zone or "")[1:].partition(":")
    ahead = (int(hours) * 60 + int(minutes or 0)) * (-1 if zone and zone[0] == "-" else 1)
    if int(minutes or 0) > 59 or not _WESTERNMOST <= ahead <= _EASTERNMOST:
        raise ValueError(f"{zone} is no zone")
    return ahead * 60_000


def parse_duration_ns(text: str) -> int:
    """Nanoseconds of an ISO 8601 duration, `P1DT2H30M0.5S`; days have 24 hours, years and months there are none.

    :raises ValueError: when Java's `Duration.parse` would not take it
    """
    found = _DURATION.fullmatch(text)
    if found is None or (found[3] or "").upper() == "T" or not any(found[n] for n in (2, 4, 5, 6)):
        raise ValueError(f"{text!r} is no duration: write P1D, PT2H30M, PT90S (PnDTnHnMn.nS)")
    sign = -1 if found[1] == "-" else 1
    seconds = 0
    for group, unit, what in _PARTS:
        part = _seconds(found[group], unit)
        if part is None:
            raise TooLong(text, what)
        seconds += part
    fraction = int(((found[7] or "") + "000000000")[:9])
    if (found[6] or "").startswith("-"):
        fraction = -fraction
    total = sign * (seconds * _NANOS_PER_SECOND + fraction)
    if not _in_long(seconds) or not _in_long(total // _NANOS_PER_SECOND):
        raise TooLong(text, "overflow")
    return total


def _seconds(digits: str | None, unit_seconds: int) -> int | None:
    """A part of a duration; None where Java's long cannot hold it."""
    if digits is None:
        return 0
    if len(digits.lstrip("+-").lstrip("0")) > _DIGITS_AT_MOST:
        return None
    seconds = int(digits) * unit_seconds
    return seconds if _in_long(seconds) else None


def _in_long(number: int) -> bool:
    return -(2**63) <= number < 2**63


def ago_ms(duration_ns: int, now_ms: int) -> int:
    """The moment that lies a duration before now, in ms since 1970, rounded down as `Instant.toEpochMilli` does."""
    return (now_ms * 1_000_000 - duration_ns) // 1_000_000
