"""Times of the day in which a run may restart members, by the clock of a time zone."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

_TEXT = re.compile(r"(\d{1,2}):(\d{2})-(\d{1,2}):(\d{2})(?:[ @](?P<zone>[\w+/-]+))?")
_MINUTE = timedelta(minutes=1)
_DAYS = 3  # Every window opens and closes within two days, also where a day of 23 hours leaves one out


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """From `opens` until before `closes` by the clock on the wall, over midnight if it closes earlier than it opens."""

    opens: time
    closes: time
    zone: ZoneInfo | None = None  # None: the zone of this machine

    def __str__(self) -> str:
        zone = f"@{self.zone.key}" if self.zone else ""
        return f"{self.opens:%H:%M}-{self.closes:%H:%M}{zone}"

    def is_open(self, at: datetime) -> bool:
        now = at.astimezone(self.zone).time()
        if self.opens < self.closes:
            return self.opens <= now < self.closes
        return now >= self.opens or now < self.closes

    @property
    def lasts_s(self) -> float:
        minutes = 60 * (self.closes.hour - self.opens.hour) + self.closes.minute - self.opens.minute
        return minutes % (24 * 60) * 60.0


def read_window(text: str) -> Window:
    """`22:00-05:00` in the zone of this machine, or `22:00-05:00@Europe/Berlin`. ValueError for anything else."""
    match = _TEXT.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r}: expected a window such as 22:00-05:00 or 22:00-05:00@Europe/Berlin")
    first_hour, first_minute, last_hour, last_minute = map(int, match.groups()[:4])
    try:
        opens = time(first_hour, first_minute)
        closes = time(0) if (last_hour, last_minute) == (24, 0) else time(last_hour, last_minute)
    except ValueError:
        raise ValueError(f"{text!r}: not a time of the day") from None
    if opens == closes:
        raise ValueError(f"{text!r}: it opens when it closes; without --window a run is never held")
    return Window(opens=opens, closes=closes, zone=_zone(match["zone"]))


def _zone(name: str | None) -> ZoneInfo | None:
    try:
        return None if name is None else ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # a name of a directory is an OSError
        raise ValueError(f"{name!r}: this machine has no such time zone") from None


def is_open(windows: Sequence[Window], at: datetime) -> bool:
    """Whether one of the windows is open; always if there are none."""
    return not windows or any(window.is_open(at) for window in windows)


def next_change(windows: Sequence[Window], at: datetime) -> datetime | None:
    """The minute at which the windows, all together, close or open next; None if they never do."""
    if not windows:
        return None
    minute, before = at.replace(second=0, microsecond=0), is_open(windows, at)
    later = (minute + _MINUTE * count for count in range(1, _DAYS * 24 * 60))
    return next((one for one in later if is_open(windows, one) != before), None)
