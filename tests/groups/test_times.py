"""Durations and times as people write them, and as every text has them."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.times import MOST_S, duration_text, format_moment, read_duration, read_moment

NOW_MS = 1_767_225_600_000  # 2026-01-01T00:00:00Z

MOMENTS = {
    "2026-01-01": 0, "2026-01-01T00:00:00Z": 0, "2026-01-01 00:00": 0, " 2026-01-01T00:00:00.5 ": 500,
    "20260101T000001Z": 1000, "2026-01-01T05:30:00+05:30": 0, "2025-12-31T19:00:00-05:00": 0,
    "2026-1-1T0:0:0.7": 7,  # as Kafka's tool reads it
    "1969-12-31T23:59:59.999Z": -1 - NOW_MS, "1767225600123": 123, "0": -NOW_MS, "now": 0, "-0s": 0, "-250ms": -250,
    "-90s": -90_000, "-15m": -900_000, "15m": -900_000, "2h": -7_200_000, "-1d12h": -129_600_000, "PT2H": -7_200_000,
    "-PT2H": -7_200_000, "-1w": -604_800_000,
}  # fmt: skip


@pytest.mark.parametrize(("text", "from_now_ms"), MOMENTS.items(), ids=str)
def test_a_moment(text: str, from_now_ms: int) -> None:
    assert read_moment(text, NOW_MS) == NOW_MS + from_now_ms


RELATIVE = ["now", "2h", "-2h", "PT2H"]  # not taken where the time is fixed
NO_MOMENTS = [
    "", "soon", "-15", "-1y", "--1m", "+2h", "1e9", "2026-13-01", "２０", "2026-01-01T00:00:00 UTC", "9" * 16, "P",
]  # fmt: skip


@pytest.mark.parametrize("text", [*NO_MOMENTS, *RELATIVE])
def test_no_moment(text: str) -> None:
    with pytest.raises(ValueError, match="is not a time: write 2026-03-01T12:00:00Z"):
        read_moment(text, None if text in RELATIVE else NOW_MS)


@given(st.integers(-62_135_596_800_000, 253_402_300_799_999))
def test_what_is_said_is_read_back(moment: int) -> None:
    assert read_moment(format_moment(moment), NOW_MS) == moment


@pytest.mark.parametrize("moment", [2**63 - 1, -(2**63), 253_402_300_800_000])
def test_beyond_the_calendar_the_number_is_said(moment: int) -> None:
    assert format_moment(moment) == str(moment)


DURATIONS = {
    "5s": 5, " 5 s ": 5, "2h": 7200, "1.5m": 90, ".5m": 30, "7d": 604_800, "2w": 1_209_600, "1500ms": 1.5, "0s": 0,
    "1h30m": 5400, "1d2h3m4s5ms": 93_784.005, "5m08s": 308, "5 min 8 s": 308, "2 hours": 7200, "1 day 4 h": 100_800,
    "90sec": 90, "PT2H": 7200, "PT5S": 5, "pt0.5s": 0.5, "PT0,5S": 0.5, "P1DT2H": 93_600, "P1W": 604_800,
    "PT1.5H": 5400, "P0D": 0, "5": 5, "0.25": 0.25, "5.": 5,
}  # fmt: skip


@pytest.mark.parametrize(("text", "seconds"), DURATIONS.items())
def test_a_duration(text: str, seconds: float) -> None:
    assert read_duration(text, "s") == pytest.approx(seconds)


def test_a_number_alone_is_in_the_unit_of_its_option() -> None:
    assert [read_duration("1500", unit) for unit in ("s", "ms")] == [1500, 1.5]
    assert read_duration("5s", "ms") == 5
    with pytest.raises(ValueError, match="'30' has no unit: write 30d for days, or 12h"):
        read_duration("30", None)


NO_DURATIONS = {
    "": "write 5s, 1.5m, 2h, 7d, 1500ms, PT2H or a number of seconds",
    "soon": "is not a duration", "1 month": "is not a duration", "5 parsecs": "is not a duration", "P1M": "is not a d",
    "1m1h": "is not a duration", "1s1s": "is not a duration", "1,5s": "is not a duration", "5S": "is not a duration",
    "nan": "is not a duration", "inf": "is not a duration", "1e3": "is not a duration", "５s": "is not a duration",
    "P": "is not a duration", "PT": "is not a duration", "P1DT": "is not a duration", "-5s": "is not a duration",
    "-PT5S": "it is negative", "PT-5S": "it is negative", "999999999w": "it is longer than 115,740,740 days",
}  # fmt: skip


@pytest.mark.parametrize(("text", "why"), NO_DURATIONS.items())
def test_no_duration(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_duration(text, "s")


PRINTED = {
    0: "0 s", 0.4: "0 s", 1: "1 ms", 999: "999 ms", 1_000: "1 s", 1_250: "1.2 s", 9_999: "9.9 s", 10_000: "10 s",
    59_999: "59 s", 60_000: "1 min", 308_000: "5 min 8 s", 3_599_999: "59 min 59 s", 3_600_000: "1 h",
    7_380_000: "2 h 3 min", 3_605_000: "1 h", 86_399_999: "23 h 59 min", 86_400_000: "1 day", 100_800_000: "1 day 4 h",
    172_800_000: "2 days", 777_600_000: "9 days", 863_999_999: "9 days 23 h", 1_051_200_000: "12 days",
    100_000_000_000_000: "1,157,407 days", -5_000: "-5 s",
}  # fmt: skip


@pytest.mark.parametrize(("ms", "text"), PRINTED.items())
def test_every_text_has_durations_in_one_spelling(ms: float, text: str) -> None:
    assert duration_text(ms) == text


@given(st.integers(0, MOST_S * 1000).map(lambda ms: ms >> ms % 40))
def test_a_printed_duration_is_read_back_to_its_precision(ms: int) -> None:
    text = duration_text(ms)
    read_ms = round(read_duration(text.replace(",", ""), "s") * 1000)
    assert read_ms <= ms < read_ms + max(1, ms // 9)
    assert duration_text(read_ms) == text


@given(st.text() | st.text("0123456789.,-+ smhdwPTeiny", max_size=12))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(ValueError):
        assert isinstance(read_moment(text, NOW_MS), int)
    with suppress(ValueError):
        assert 0 <= read_duration(text, "s") <= MOST_S
