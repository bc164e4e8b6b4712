"""Accounts of scripted courses: who, how often, what was not read; nothing is lost when repetitions are folded."""

from collections.abc import Callable
from datetime import datetime
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.history.account import Account, account_of
from groups.history.advice import advice_on
from groups.history.events import Protocol
from groups.history.headline import headline
from groups.history.moment import Awaited, moment_of
from groups.history.pauses import Windows, pauses_of
from groups.history.stories import reasons
from groups.history.storms import folded
from tests.groups.history.courses import (
    START,
    ScriptedGroup,
    quiet_night,
    rolling_deployment,
    storm_of_crashes,
    us,
)

SECOND = 1_000_000


def account(group: ScriptedGroup, since: datetime = START, after_s: int = 60) -> Account:
    return account_of(group.course(), us(since) + after_s * SECOND, group.now)


def three(protocol: Protocol = Protocol.CLASSIC, **options: int | None) -> ScriptedGroup:
    group = ScriptedGroup(protocol=protocol, **options)  # type: ignore[arg-type]  # by name
    return group.come("worker-1", "worker-3", "worker-7").wait(600)


HEADLINES: list[tuple[str, Callable[[], ScriptedGroup], str]] = [
    (
        "in the consumer protocol a new member id is a new process",
        storm_of_crashes,
        "payments rebalanced 14 times between 03:00 and 03:09 UTC on 2026-11-28: worker-7 on 10.0.3.7 probably "
        "crashed and returned 7 times; 4 partitions were not read for 6 min in all",
    ),
    (
        "a classic member gets a new id also if it only hung",
        lambda: storm_of_crashes(Protocol.CLASSIC),
        "payments rebalanced 14 times between 03:00 and 03:08 UTC on 2026-11-28: worker-7 on 10.0.3.7 lost its session "
        "and returned 7 times; 4 partitions were not read for 5 min 50 s in all",
    ),
    (
        "a member that crashes before it commits in a rhythm",
        lambda: storm_of_crashes(Protocol.CLASSIC, reads_s=6),
        "payments rebalanced 14 times between 03:00 and 03:06 UTC on 2026-11-28: worker-7 on 10.0.3.7 probably lost "
        "its session and returned 7 times; 4 partitions were not read for 5 min 50 s in all",
    ),
    (
        "a deployment",
        rolling_deployment,
        "payments rebalanced 12 times between 03:00 and 03:04 UTC on 2026-11-28: 6 members (worker-1 on 10.0.3.1, "
        "worker-2 on 10.0.3.2, worker-3 on 10.0.3.3 and 3 more) left and returned, one after another; 12 partitions "
        "had no owner for 1.2 s in all",
    ),
    (
        "nothing",
        quiet_night,
        "payments did not rebalance between 02:01 and 06:00 UTC on 2026-11-28; 2 members own 12 partitions, unchanged "
        "since 2026-11-28 02:00 UTC or longer",
    ),
    (
        "a member that is gone",
        lambda: three().expire("worker-7").wait(600),
        "payments rebalanced once at 02:10:46 UTC on 2026-11-28: worker-7 on 10.0.3.7 lost its session; 4 partitions "
        "were not read for 50 s",
    ),
    (
        "a coordinator that moved",
        lambda: three().rebalance().wait(600),
        "payments rebalanced once at 02:10:00 UTC on 2026-11-28: members rejoined without a change; no partition was "
        "left unread for longer than usual",
    ),
    (
        "a group that was stopped",
        lambda: three().go("worker-1", "worker-3", "worker-7").wait(600),
        "payments rebalanced once at 02:10:00 UTC on 2026-11-28: 3 members (worker-1 on 10.0.3.1, worker-3 on "
        "10.0.3.3, worker-7 on 10.0.3.7) left; it has had no members since 02:10:00 UTC",
    ),
    (
        "partitions that are read no longer",
        lambda: three().silence("worker-1").expire("worker-7").wait(900),
        "payments rebalanced once at 02:10:46 UTC on 2026-11-28: worker-7 on 10.0.3.7 probably lost its session; 4 "
        "partitions were not read for 50 s; 6 partitions have not been read since 02:10:00 UTC",
    ),
]


@pytest.mark.parametrize(
    ("script", "expected"), [case[1:] for case in HEADLINES], ids=[c[0] for c in HEADLINES]
)
def test_the_headline_answers(script: Callable[[], ScriptedGroup], expected: str) -> None:
    assert headline(account(script())) == expected


def test_a_span_in_the_past_is_judged_by_what_came_later() -> None:
    group = three().wait(600).expire("worker-7").wait(600)
    until = us(START) + 1_250 * SECOND
    during = account_of(group.course(), us(START) + 60 * SECOND, until)
    assert [pause.until is None for pause in during.pauses] == [False] * 4
    before = account_of(group.course(), us(START) + 60 * SECOND, us(START) + 900 * SECOND)
    assert "3 members own 12 partitions" in headline(before)


def test_a_static_member_is_tied_together_by_its_instance() -> None:
    group = three().come("worker-8", instance="eight").wait(30).go("worker-8").wait(30)
    group.come("worker-9", instance="eight").wait(60)
    (*_, left, back) = account(group).rebalances
    assert reasons([left, back]) == ["eight (static) on 10.0.3.9 left and returned"]
    assert back.changes[0].process.tied_by.value == "group.instance.id"


def test_members_that_share_client_id_and_host_are_not_tied_together() -> None:
    group = three().come("worker-7").wait(60).go("worker-7").wait(60)
    assert reasons(account(group).rebalances) == ["worker-7 on 10.0.3.7 (one of several) joined and left"]
    assert [change.other for one in account(group).rebalances for change in one.changes] == [None, None]


def test_a_return_before_the_former_session_ends_is_a_restart() -> None:
    group = (
        three(Protocol.CONSUMER)
        .silence("worker-7")
        .wait(10)
        .come("worker-7")
        .wait(36)
        .go("worker-7")
        .wait(60)
    )
    first, second = account(group).rebalances
    assert reasons([first]) == ["worker-7 on 10.0.3.7 restarted before the former session ended"]
    assert second.changes[0].other == "worker-7-0002"
    assert "member-evicted" not in {finding.rule for finding in advice_on(account(group))}


def test_the_same_member_id_again_is_a_process_that_still_ran() -> None:
    group = three(Protocol.CONSUMER).silence("worker-7").wait(50)
    member = group.member("worker-7")
    result = account(group.go("worker-7").wait(5).come("worker-7", same_id=member).wait(60))
    assert "worker-7 on 10.0.3.7 lost its session and returned" in reasons(result.rebalances)[0]
    assert [finding.rule for finding in advice_on(result)] == ["poll-interval"]


@pytest.mark.parametrize(
    ("script", "rules"),
    [
        (storm_of_crashes, ["rebalance-storm"]),
        (rolling_deployment, ["rebalance-storm", "eager-rebalancing"]),
        (quiet_night, []),
        (lambda: three().expire("worker-7").wait(600), ["member-evicted"]),
        (
            lambda: three().silence("worker-1").expire("worker-7").wait(900),
            ["member-evicted", "stalled-partition"],
        ),
    ],
)
def test_findings_are_those_of_diagnose(script: Callable[[], ScriptedGroup], rules: list[str]) -> None:
    assert [finding.rule for finding in advice_on(account(script()))] == rules


@pytest.mark.parametrize(
    ("closes", "what"), [(False, "probably crashed and returned"), (True, "lost its session and returned")]
)
def test_a_static_member_that_closed_did_not_crash(closes: bool, what: str) -> None:
    group = three(Protocol.CONSUMER).come("worker-8", instance="eight").wait(300)
    group = group.step_away("worker-8") if closes else group.silence("worker-8")
    group.wait(46).go("worker-8").wait(20).come("worker-8", instance="eight").wait(60)
    result = account(group)
    assert reasons(result.rebalances[-2:]) == [f"eight (static) on 10.0.3.8 {what}"]


def test_a_static_member_that_is_away_at_the_end_is_named() -> None:
    group = (
        three(Protocol.CONSUMER).come("worker-8", instance="eight").wait(300).step_away("worker-8").wait(20)
    )
    (finding,) = advice_on(account(group))
    assert (finding.rule, finding.member) == ("static-member-away", "worker-8-0001")
    assert "eight. No member reads orders-9, orders-10, orders-11 until" in finding.message


def test_a_moment_shows_a_member_that_no_longer_reads() -> None:
    group = three(Protocol.CONSUMER).expire("worker-7").wait(60)
    moment = moment_of(account(group, after_s=0), us(START) + 630 * SECOND)
    (wait,) = moment.waits
    assert (wait.awaited, wait.member) == (Awaited.EXPIRY, "worker-7-0001")
    assert wait.places == tuple(("orders", number) for number in range(8, 12))
    assert (moment.in_progress, len(moment.owners)) == (False, 12)


def test_a_moment_in_a_rebalance_shows_who_must_revoke() -> None:
    group = three(Protocol.CONSUMER).come("worker-8").wait(60)
    rebalance = group.course().rebalances[-1]
    moment = moment_of(account(group, after_s=0), (rebalance.start or 0) + 100_000)
    assert moment.in_progress
    assert {(wait.awaited, wait.member) for wait in moment.waits} == {
        (Awaited.REVOCATION, "worker-1-0001"),
        (Awaited.REVOCATION, "worker-3-0001"),
        (Awaited.REVOCATION, "worker-7-0001"),
    }


@given(st.lists(st.sampled_from("ab"), max_size=30))
def test_folding_loses_nothing_and_folds_only_repetitions(kinds: list[str]) -> None:
    folds = list(folded(kinds, range(len(kinds))))
    assert [index for fold in folds for index in fold.indices] == list(range(len(kinds)))
    for fold in folds:
        shown = [kinds[index] for index in fold.indices]
        assert shown == shown[: fold.period] * fold.times


@pytest.mark.parametrize(
    ("kinds", "lines"),
    [
        *(("abc", ["a", "b", "c"]), ("aa", ["a", "a"]), ("aaa", ["aaa"]), ("xababy", ["x", "abab", "y"])),
        *(("abcabcab", ["abcabc", "a", "b"]), ("abbabb", ["abbabb"])),
    ],
)
def test_repetitions_share_a_line(kinds: str, lines: list[str]) -> None:
    folds = folded(list(kinds), range(len(kinds)))
    assert ["".join(kinds[index] for index in fold.indices) for fold in folds] == lines


COMMITTED_S = (10, 20, 30, 40, 50, 60, 70, 80, 130, 140, 150, 160, 170, 180)


@pytest.mark.parametrize(
    ("rebalances", "moves", "pauses"),
    [
        ([(100, 101)], True, [(80, 130)]),
        ([(129, 131)], True, [(80, 130)]),
        ([(131, 132)], True, []),
        ([(100, 101)], False, []),
        ([(125, 126), (175, 176)], True, [(80, 130)]),
    ],
    ids=["in the gap", "at its end", "after it", "nothing to read", "an ordinary gap"],
)
def test_a_pause_is_a_long_gap_with_records_to_read_around_a_rebalance(
    rebalances: list[tuple[int, int]], moves: bool, pauses: list[tuple[int, int]]
) -> None:
    times = np.array(COMMITTED_S, np.int64) * SECOND
    starts, ends = np.array(rebalances, np.int64).T * SECOND
    windows = Windows(starts, ends, np.full(len(starts), 330 * SECOND))
    offsets = np.arange(len(times)) * moves
    result = pauses_of(("orders", 0), times, offsets, windows, int(times[-1]))
    assert [(pause.since // SECOND, (pause.until or 0) // SECOND) for pause in result] == pauses
    late = Windows(starts, ends, np.full(len(starts), 10 * SECOND))
    short = [pause for pause in pauses if pause[0] >= rebalances[0][0] - 10]
    assert len(list(pauses_of(("orders", 0), times, offsets, late, int(times[-1])))) == len(short)


STEPS = st.tuples(st.sampled_from(["come", "go", "expire", "wait"]), st.integers(1, 4), st.integers(1, 90))


@given(st.lists(STEPS, max_size=14), st.sampled_from(Protocol))
def test_the_lines_have_all_rebalances_and_their_sums(
    steps: list[tuple[str, int, int]], protocol: Protocol
) -> None:
    group = ScriptedGroup(partitions=5, protocol=protocol)
    for action, number, seconds in steps:
        name = f"worker-{number}"
        is_member = any(record.client_id == name for record in group.members.values())
        if action == "come" and not is_member:
            group.come(name)
        elif action in ("go", "expire") and is_member:
            getattr(group, action)(name)
        group.wait(seconds)
    course = group.course()
    result = account_of(course, 0, group.now)
    in_lines = [result.rebalances[index] for fold in result.lines for index in fold.indices]
    assert [one.rebalance for one in in_lines] == list(course.rebalances)
    assert sum(len(storm) for storm in result.storms) <= len(in_lines)
    assert {pause for one in in_lines for pause in one.pauses} == set(result.pauses)
    vacant = sum((span.until or group.now) - span.since for span in course.holdings if span.member is None)
    assert sum(one.without_owner_us for one in in_lines) == vacant
    assert headline(result).startswith("payments ")
    assert all(finding.message and finding.remedy for finding in advice_on(result))
    for one in course.rebalances:
        moment = moment_of(result, one.end or group.now)
        assert len(moment.owners) == len({span.place for span in moment.owners}) <= 5


@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=60),
    st.lists(st.tuples(st.integers(0, 900), st.integers(0, 30)), min_size=1, max_size=5),
)
def test_no_two_pauses_overlap_and_each_is_around_a_rebalance(
    gaps: list[int], spans: list[tuple[int, int]]
) -> None:
    times = np.cumsum(np.array(gaps, np.int64)) * SECOND
    rows = sorted((start * SECOND, (start + length) * SECOND) for start, length in spans)
    starts, ends = np.array(rows, np.int64).T
    windows = Windows(starts, np.maximum.accumulate(ends), np.full(len(rows), 60 * SECOND))
    end = int(times[-1])
    pauses = list(pauses_of(("orders", 0), times, np.arange(len(times)), windows, end))
    usual = 2 * float(np.median(np.diff(times))) if len(times) > 1 else 0
    for pause in pauses:
        until = end if pause.until is None else pause.until
        assert any(start <= until and finish >= pause.since >= start - 60 * SECOND for start, finish in rows)
        assert until - pause.since > max(usual, SECOND)
    assert all(one.until is not None and one.until <= two.since for one, two in pairwise(pauses))
