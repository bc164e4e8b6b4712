"""Windows of the day, in zones whose clocks are set forward and back."""

from datetime import UTC, datetime, time, timedelta
from random import Random
from zoneinfo import ZoneInfo

import pytest

from migration.execution.fleet import Window, is_open, next_change, read_window
from tests.support.long import cases

ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC")
DST = datetime(2026, 3, 28, 20, tzinfo=UTC)  # The day before Berlin's clocks are set forward


@pytest.mark.parametrize(
    ("text", "at", "opens"),
    [
        ("22:00-05:00@Europe/Berlin", "2026-01-10T20:59+00:00", "2026-01-10T21:00+00:00"),
        ("22:00-05:00@Europe/Berlin", "2026-01-10T23:30+00:00", None),
        ("9:00-17:00@UTC", "2026-01-10T17:00+00:00", "2026-01-11T09:00+00:00"),
        ("20:00-24:00@UTC", "2026-01-10T23:59+00:00", None),
        # 02:00 to 03:00 does not exist on this day, and exists twice in October
        ("02:00-03:00@Europe/Berlin", "2026-03-28T23:30+00:00", "2026-03-30T00:00+00:00"),
        ("02:30-05:00@Europe/Berlin", "2026-03-28T23:30+00:00", "2026-03-29T01:00+00:00"),
        ("02:00-03:00@Europe/Berlin", "2026-10-25T00:30+00:00", None),
        ("02:00-03:00@Europe/Berlin", "2026-10-25T01:30+00:00", None),
    ],
)
def test_a_window_opens_by_the_clock_on_the_wall(text: str, at: str, opens: str | None) -> None:
    windows, now = (read_window(text),), datetime.fromisoformat(at)
    assert is_open(windows, now) == (opens is None)
    if opens is not None:
        assert next_change(windows, now) == datetime.fromisoformat(opens)


def test_a_change_is_the_first_minute_that_differs() -> None:
    for seed in range(cases("KOHORT_WINDOWS", 40, many=2_000)):
        random = Random(seed)
        clocks = [time(random.randrange(24), random.choice((0, 15, 30))) for _ in range(4)]
        windows = tuple(
            Window(opens=opens, closes=closes, zone=ZoneInfo(random.choice(ZONES)))
            for opens, closes in (clocks[:2], clocks[2:])
            if opens != closes
        )
        at = DST + timedelta(hours=random.choice((0, 24 * 210)), seconds=random.randrange(90_000))
        change = next_change(windows, at)
        if change is None:
            assert all(is_open(windows, at + timedelta(minutes=15 * count)) for count in range(190))
            continue
        assert is_open(windows, change) != is_open(windows, at)
        between = random.uniform(0, (change - at).total_seconds() - 0.001)
        assert is_open(windows, at + timedelta(seconds=between)) == is_open(windows, at)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("22-5", "expected a window such as"),
        ("25:00-05:00", "not a time of the day"),
        ("24:00-05:00", "not a time of the day"),
        ("05:00-05:00", "it opens when it closes"),
        ("22:00-05:00@Europe/Berlyn", "has no such time zone"),
        ("22:00-05:00@Europe", "has no such time zone"),
        ("22:00-05:00@/etc/passwd", "has no such time zone"),
    ],
)
def test_a_window_that_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_window(text)
