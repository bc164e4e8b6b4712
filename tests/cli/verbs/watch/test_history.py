"""Recordings as the past of a group: no more than the observations show."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hypothesis import given

from cli.verbs.watch.history import read_recorded_history
from cli.verbs.watch.state import WatchObservation
from groups.history.course import Course
from groups.model import Group, GroupState, GroupType, Topic
from tests.cli.verbs.watch.groups import group, member
from tests.cli.verbs.watch.test_recording import SLOW_FILES, courses, written

T = 1_700_000_000_000
BUSY, CLASSIC = GroupState.RECONCILING, GroupType.CLASSIC


def observed(*states: Group | None, every_ms: int = 500) -> list[WatchObservation]:
    return [
        WatchObservation(
            asked_ms=T + every_ms * n - 1,
            at_ms=T + every_ms * n,
            groups={"g": state},
            topics={"orders": Topic(name="orders", partitions=2)},
        )
        for n, state in enumerate(states)
    ]


def course(file: Path, observations: Sequence[WatchObservation]) -> Course:
    result = read_recorded_history(written(file, observations), ["g"], since_ms=T)
    assert result.problems == []
    return result.courses["g"]


def spans(found: Course, number: int) -> list[tuple[str | None, float, float | None]]:
    """Member, and seconds since the first observation, of one partition."""
    return [
        (one.member, one.since / 1e6 - T / 1000, None if one.until is None else one.until / 1e6 - T / 1000)
        for one in found.holdings
        if one.place == ("orders", number)
    ]


def test_a_join_is_one_rebalance_from_the_first_sign_to_stable(tmp_path: Path) -> None:
    a = member("a", orders=(0, 1))
    found = course(
        tmp_path / "r",
        observed(
            group(a, epoch=3),
            group(member("a", orders=(0,)), replace(member("b"), owned={}), state=BUSY, epoch=4),
            group(member("a", orders=(0,)), member("b", orders=(1,)), epoch=4),
        ),
    )
    (row,) = found.rebalances
    assert (row.causes, row.epoch, row.skipped, row.members_before, row.members) == (("join",), 4, 0, 1, 2)
    assert (row.start, row.end, row.joined) == ((T + 500) * 1000, (T + 1000) * 1000, ("b",))
    assert (row.moved, row.revoked, row.partitions) == (1, 1, 2)
    assert spans(found, 1) == [("a", 0, 0.5), (None, 0.5, 1.0), ("b", 1.0, None)]


def test_whether_a_member_left_or_expired_is_never_known(tmp_path: Path) -> None:
    a, b = member("a", orders=(0,)), member("b", orders=(1,))
    found = course(
        tmp_path / "r", observed(group(a, b, epoch=3), group(member("a", orders=(0, 1)), epoch=6), None)
    )
    left, gone = found.rebalances
    assert (left.causes, left.left, left.skipped) == (("unknown",), ("b",), 2)
    assert [(v.member, v.cause) for v in left.verdicts] == [("b", "unknown")]
    assert list(left.departures[0].places) == [("orders", 1)]
    assert (gone.causes, gone.members, gone.left) == (("unknown",), 0, ("a",))


def test_a_static_member_that_returns_is_the_same(tmp_path: Path) -> None:
    found = course(
        tmp_path / "r",
        observed(
            group(member("s1", instance="s", orders=(0,)), epoch=3),
            group(member("s2", instance="s", orders=(0,)), epoch=4),
        ),
    )
    (row,) = found.rebalances
    assert (row.joined, row.left, row.causes) == ((), (), ("unknown",))


def test_owners_that_brokers_hide_meanwhile_are_kept(tmp_path: Path) -> None:
    hidden = replace(member("a"), owned=None)
    found = course(
        tmp_path / "r",
        observed(
            group(member("a", orders=(0,)), kind=CLASSIC),
            group(hidden, state=GroupState.PREPARING_REBALANCE, kind=CLASSIC),
            group(member("a", orders=(0,)), kind=CLASSIC),
        ),
    )
    assert [row.causes for row in found.rebalances] == [("unknown",)]
    assert spans(found, 0) == [("a", 0, None)]


def test_commits_have_the_time_of_their_observation_and_gaps_are_named(tmp_path: Path) -> None:
    states = [group(epoch=1, offsets={"orders": {0: offset}}) for offset in (5, 5, 9)]
    observations = observed(*states)
    late = replace(observations[2], asked_ms=T + 60_000, at_ms=T + 60_001)
    result = read_recorded_history(written(tmp_path / "r", [*observations[:2], late]), ["g"], since_ms=T)
    commits = result.courses["g"].commits.between(("orders", 0), 0, 1 << 62)
    assert commits.times.tolist() == [T * 1000, (T + 60_001) * 1000]
    assert commits.offsets.tolist() == [5, 9]
    assert result.courses["g"].complete_since == (T + 60_001) * 1000
    (notice,) = result.notices
    assert "nothing was observed for" in notice


@SLOW_FILES
@given(courses())
def test_any_recording_has_a_past(tmp_path: Path, observations: list[WatchObservation]) -> None:
    result = read_recorded_history(
        written(tmp_path / "any.ndjson", observations), [], since_ms=T, has_name=lambda _: True
    )
    for found in result.courses.values():
        assert all((row.start or 0) <= (row.end or 0) for row in found.rebalances)
        assert all(one.until is None or one.since < one.until for one in found.holdings)
