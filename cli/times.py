"""Parse times that people write, and print times."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from cli.errors import UsageError
from groups.times import EPOCH
from groups.times import format_moment as format_moment

_MILLISECOND = timedelta(milliseconds=1)
_UNITS_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_AGO = re.compile(r"-([0-9]{1,12})(ms|s|m|h|d|w)", re.ASCII)
_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)(ms|s|m|h|d|w)?", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,15}", re.ASCII)

FORMS = (
    "2026-03-01T12:00:00Z (UTC where no zone is given), milliseconds since 1970, or -15m for 15 minutes ago"
)


def parse_moment(text: str, now_ms: int) -> int:
    """A time in milliseconds since 1970; ValueError names the accepted forms.

    ISO 8601, where a missing zone is UTC and a missing time is midnight; a whole number is milliseconds since 1970;
    `-90s`, `-15m`, `-2h`, `-7d` count back from `now_ms`.
    """
    text = text.strip()
    ago = _AGO.fullmatch(text)
    if ago is not None:
        return now_ms - int(ago[1]) * _UNITS_MS[ago[2]]
    if _NUMBER.fullmatch(text):
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a time: write {FORMS}") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - EPOCH) // _MILLISECOND


def parse_duration(text: str) -> float:
    """Seconds: `2s`, `500ms`, `1.5m`, `1h`, or a bare number of seconds. ValueError for anything else."""
    found = _DURATION.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is not a duration: write 2s, 500ms, 1m or a number of seconds")
    return float(found[1]) * _UNITS_MS[found[2] or "s"] / 1000


def milliseconds(text: str, option: str) -> int:
    """The value of a duration option in ms. UsageError for anything else."""
    try:
        return round(parse_duration(text) * 1000)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None
