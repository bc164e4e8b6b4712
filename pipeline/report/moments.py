"""Times and days of a table as Python's, whatever the log held."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


def moment(micros: int) -> datetime:
    """Microseconds since 1970 as a time; what Python has no time for becomes its first or last one."""
    try:
        return EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return LAST if micros > 0 else FIRST


def calendar_day(number: int) -> date:
    """Days since 1970 as a date, bounded as `moment` is."""
    ordinal = EPOCH.toordinal() + number
    return date.fromordinal(min(max(ordinal, date.min.toordinal()), date.max.toordinal()))
