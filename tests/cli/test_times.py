"""Moments as people write them."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.times import format_moment, parse_moment

NOW_MS = 1_767_225_600_000
"""2026-01-01T00:00:00Z."""

MOMENTS = {
    "2026-01-01": NOW_MS,
    "2026-01-01T00:00:00Z": NOW_MS,
    "2026-01-01 00:00": NOW_MS,
    " 2026-01-01T00:00:00.5 ": NOW_MS + 500,
    "20260101T000001Z": NOW_MS + 1000,
    "2026-01-01T05:30:00+05:30": NOW_MS,
    "2025-12-31T19:00:00-05:00": NOW_MS,
    "1969-12-31T23:59:59.999Z": -1,
    "1767225600123": NOW_MS + 123,
    "0": 0,
    "-0s": NOW_MS,
    "-250ms": NOW_MS - 250,
    "-90s": NOW_MS - 90_000,
    "-15m": NOW_MS - 900_000,
    "-2h": NOW_MS - 7_200_000,
    "-1d": NOW_MS - 86_400_000,
    "-1w": NOW_MS - 604_800_000,
}


@pytest.mark.parametrize(("text", "moment"), MOMENTS.items(), ids=str)
def test_a_moment(text: str, moment: int) -> None:
    assert parse_moment(text, NOW_MS) == moment


NO_MOMENTS = [
    "",
    "soon",
    "-15",
    "15m",
    "-1y",
    "--1m",
    "1e9",
    "2026-13-01",
    "２０",
    "2026-01-01T00:00:00 UTC",
    "9" * 16,
]


@pytest.mark.parametrize("text", NO_MOMENTS)
def test_no_moment(text: str) -> None:
    with pytest.raises(ValueError, match="is not a time: write 2026-03-01T12:00:00Z"):
        parse_moment(text, NOW_MS)


@given(st.text())
def test_any_text_is_a_moment_or_refused(text: str) -> None:
    with suppress(ValueError):
        assert isinstance(parse_moment(text, NOW_MS), int)


@given(st.integers(-62_135_596_800_000, 253_402_300_799_999))
def test_what_is_said_is_read_back(moment: int) -> None:
    assert parse_moment(format_moment(moment), NOW_MS) == moment


@pytest.mark.parametrize("moment", [2**63 - 1, -(2**63), 253_402_300_800_000])
def test_beyond_the_calendar_the_number_is_said(moment: int) -> None:
    assert format_moment(moment) == str(moment)
