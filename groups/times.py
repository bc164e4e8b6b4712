"""Moments and durations as text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def format_moment(ms: int) -> str:
    """ISO 8601 in UTC with milliseconds; the number itself if it is outside the calendar's range."""
    try:
        moment = EPOCH + timedelta(milliseconds=ms)
    except OverflowError:
        return str(ms)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def about(seconds: float) -> str:
    """A duration in one unit, for messages: `45 s`, `12 min`, `3 h`, `9 days`."""
    for unit, size, enough in (("s", 1, 120), ("min", 60, 120), ("h", 3600, 48)):
        if seconds < size * enough:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds / 86400:,.0f} days"
