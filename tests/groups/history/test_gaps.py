"""Judgments of departures where the log lacks records: a silence is no proof if commits in it may be missing."""

import pytest

from groups.history.causes import RebalanceCause
from groups.history.commits import Commits
from groups.history.departures import judge
from groups.history.events import Departure, MemberRecord, Protocol

PLACE = ("orders", 0)
SECOND = 1_000_000
AT = 1_000 * SECOND


def silent(*, commits_until_s: int, gaps_s: list[int]) -> tuple[RebalanceCause, RebalanceCause | None]:
    """A static member, which never leaves by itself, commits every second, falls silent, and departs at 1,000 s."""
    departure = Departure(
        record=MemberRecord(member="a", instance="i", session_timeout_ms=6_000, rebalance_timeout_ms=300_000),
        protocol=Protocol.CLASSIC,
        seen=900 * SECOND,
        earliest=AT,
        at=AT,
        waited_for=False,
        places={PLACE: 900 * SECOND},
    )
    written = [(PLACE, time * SECOND, time, time) for time in range(900, commits_until_s + 1)]
    successor = [(PLACE, AT + SECOND, 1_000, 1_001)]
    found = Commits.of([*written, *successor])
    by_place = {place: found.between(place, 0, 2 * AT) for place in found.places}
    verdict = judge(departure, Commits(by_place, [gap * SECOND for gap in gaps_s]))
    return verdict.cause, verdict.probably


@pytest.mark.parametrize(
    ("gaps_s", "expected"),
    [
        ([], (RebalanceCause.EXPIRY, None)),
        ([800, 890], (RebalanceCause.EXPIRY, None)),
        ([800, 997], (RebalanceCause.UNKNOWN, RebalanceCause.EXPIRY)),
        ([1_001], (RebalanceCause.EXPIRY, None)),
    ],
)
def test_a_silence_across_a_gap_proves_nothing(
    gaps_s: list[int], expected: tuple[RebalanceCause, RebalanceCause | None]
) -> None:
    assert silent(commits_until_s=994, gaps_s=gaps_s) == expected


def test_commits_from_before_a_gap_are_not_recent() -> None:
    found = Commits.of([(PLACE, time, time, time) for time in range(10)])
    commits = Commits({PLACE: found.between(PLACE, 0, 10)}, [3, 7])
    assert [commit.time for commit in commits.recent(PLACE, 6)] == [3, 4, 5, 6]
    assert [commit.time for commit in commits.recent(PLACE, 9)] == [7, 8, 9]
    assert commits.last_before(PLACE, 6) == (6, 6)
    assert (commits.whole_since(2), commits.whole_since(3), commits.whole_since(9)) == (0, 3, 7)
