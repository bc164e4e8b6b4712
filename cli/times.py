"""Durations and times of options: `groups.times` reads them, and an error names the option."""

import os
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any, overload

import typer

from cli.errors import UsageError
from groups.times import EPOCH, read_duration, read_moment, seconds_text

TIMEOUT_BOUNDS_S = (0.001, (2**31 - 1) / 1000)  # The least and the greatest time to wait for a cluster
BOUNCE_BOUNDS_S = (0.0, 86_400.0)  # The least and the greatest duration of a restart


def time_of_writing() -> str:
    """Now, as a page has it; the variable SOURCE_DATE_EPOCH, in seconds since 1970, replaces it."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = EPOCH + timedelta(seconds=int(seconds) if seconds.isdecimal() else time.time())
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def milliseconds(text: str, option: str, unit: str | None = "s") -> int:
    """The value of a duration option in ms. UsageError for anything else."""
    try:
        return round(read_duration(text, unit) * 1000)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None


@overload
def moment(text: str, option: str) -> int: ...
@overload
def moment(text: str | None, option: str) -> int | None: ...
def moment(text: str | None, option: str) -> int | None:
    """The value of an option that is a time, in ms since 1970; None stays None. UsageError for anything else."""
    if text is None:
        return None
    try:
        return read_moment(text, time.time_ns() // 1_000_000)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None


def duration_parser(unit: str, least_s: float, most_s: float) -> Callable[[object], float]:
    """Typer's `parser` of a duration within bounds, in `unit`, `s` or `ms`, as is a number without one."""

    def parsed(value: Any) -> float:
        if not isinstance(value, str):
            return value  # type: ignore[no-any-return]  # the default
        try:
            seconds = read_within(value, unit, least_s, most_s)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
        return seconds if unit == "s" else round(seconds * 1000)

    return parsed


def read_timeout(text: str) -> int:
    """The milliseconds of a timeout; a number without a unit is in milliseconds. ValueError for anything else."""
    return round(read_within(text, "ms", *TIMEOUT_BOUNDS_S) * 1000)


def read_within(text: str, unit: str, least_s: float, most_s: float) -> float:
    """The seconds of a duration within bounds. ValueError for anything else."""
    seconds = read_duration(text, unit)
    if not least_s <= seconds <= most_s:
        bounds = f"{seconds_text(least_s)} to {seconds_text(most_s)}"
        raise ValueError(f"{text!r} is out of range ({bounds})")
    return seconds
