"""Epochs of a consumer group, where the truth is known for each."""

from itertools import pairwise

import pytest

from coordinator.engine.groups import DeleteGroups
from coordinator.engine.records import ConsumerGroupRecord, ConsumerGroupValue
from tests.coordinator.engine.consumer import Consumer, images, settled
from tests.groups.history.written import Clock, clock, course, course_of

FOO = ("foo", 4)


def one(**settings: str) -> tuple[Clock, Consumer]:
    driver = clock(FOO, ("bar", 2), **settings)
    a = Consumer(driver, "a")
    a.join()
    settled(a)
    return driver, a


def test_a_member_joins_and_partitions_move() -> None:
    driver, a = one()
    driver.advance(1_000)
    b = Consumer(driver, "b")
    b.join()
    driver.advance(1_000)
    a.beat()
    driver.advance(500)
    a.beat()
    driver.advance(1_500)
    b.beat()
    result = course_of(driver)
    assert [(causes) for _, _, causes in result.causes()] == ["join", "join"]
    first, second = result.rebalances
    assert (first.members_before, first.members, second.members_before, second.members) == (0, 1, 1, 2)
    assert (second.partitions, second.moved, second.revoked) == (4, 2, 2)
    assert second.start is not None
    assert second.end is not None
    # Until b has what a gave up.
    assert (second.end - second.start) / 1e6 == 3.0
    given_up = sorted(number for number in range(4) if len(result.spans(number)) > 1)
    assert len(given_up) == 2
    for number in given_up:
        assert result.spans(number) == [
            ("a", first.epoch, 0, 2.5),
            (None, second.epoch, 2.5, 4),
            ("b", second.epoch, 4, None),
        ]


def test_leaving_dying_subscribing_and_asking_for_an_assignor() -> None:
    driver, a = one(group_consumer_session_timeout_ms="45000")
    b, c = Consumer(driver, "b"), Consumer(driver, "c")
    for member in (b, c):
        member.join()
        settled(a, b, c) if member is c else settled(a, b)
    b.leave()
    settled(a, c)
    for _ in range(3):
        driver.advance(20_000)
        settled(a)
    a.beat(topics=("foo", "bar"))
    settled(a)
    result = course_of(driver)
    assert [causes for _, _, causes in result.causes()] == [
        "join",
        "join",
        "join",
        "leave",
        "unknown",  # of c, whose session ended: written down as if it had left
        "subscription",
    ]
    assert [(row.joined, row.left) for row in result.rebalances[3:]] == [((), ("b",)), ((), ("c",)), ((), ())]
    assert all(row.end is not None for row in result.rebalances)
    assert {gone.member for row in result.rebalances for gone in row.departures if gone.places} == {"b", "c"}


def test_a_topic_that_grows_is_metadata() -> None:
    driver, a = one()
    driver.advance(1_000)
    driver.take(driver.engine.update_topics(images(("foo", 6), ("bar", 2), version=2), driver.now_ms))
    settled(a)
    result = course_of(driver)
    assert [causes for _, _, causes in result.causes()] == ["join", "metadata"]
    assert [row.partitions for row in result.rebalances] == [4, 6]
    assert result.spans(5) == [("a", result.rebalances[-1].epoch, 1, None)]


def test_simultaneous_epochs_share_a_target_and_complete_together() -> None:
    driver, a = one()
    b, c = Consumer(driver, "b"), Consumer(driver, "c")
    b.join()
    settled(a, b)
    driver.advance(1_000)
    b.leave()
    driver.advance(1_000)
    c.join()
    driver.advance(1_000)
    settled(a, c)
    *_, left, joined = course_of(driver).rebalances
    assert (left.causes, joined.causes) == (("leave",), ("join",))
    assert joined.epoch == left.epoch + 1
    assert left.start is not None
    assert joined.start is not None
    assert joined.start - left.start == 1_000_000
    # a is in both; c joined with the second, but has waited for no one.
    assert left.end == joined.end
    assert (left.moved, left.revoked, joined.moved) == (0, 0, 2)
    assert (left.members, joined.members_before, joined.members) == (1, 1, 2)


@pytest.mark.parametrize("returns", [True, False])
def test_an_absent_static_member_has_nothing_and_may_expire(returns: bool) -> None:
    driver, a = one(group_consumer_session_timeout_ms="45000")
    s = Consumer(driver, "s", instance="seat")
    s.join()
    settled(a, s)
    held = s.owned["foo"][0]
    before = len(course_of(driver).rebalances)
    driver.advance(1_000)
    s.leave(-2)
    if returns:
        driver.advance(5_000)
        again = Consumer(driver, "s2", instance="seat")
        again.join()
        settled(a, again)
        result = course_of(driver)
        assert len(result.rebalances) == before
        assert [(member, since, until) for member, _, since, until in result.spans(held)][-3:] == [
            ("s", 0, 1),
            (None, 1, 6),
            ("s2", 6, None),
        ]
        return
    for _ in range(5):
        driver.advance(10_000)
        settled(a)
    result = course_of(driver)
    assert result.rebalances[-1].causes == ("expiry",)
    (gone,) = result.rebalances[-1].departures
    assert (gone.member, gone.away is not None) == ("s", True)
    assert [(member, since) for member, _, since, _ in result.spans(held)][-3:] == [
        ("s", 0),
        (None, 1),
        ("a", 51),
    ]


def test_a_group_is_deleted_and_created_again() -> None:
    driver, a = one()
    driver.advance(1_000)
    a.leave()
    driver.send(DeleteGroups(groups=("g",)))
    driver.advance(60_000)
    b = Consumer(driver, "b")
    b.join()
    settled(b)
    result = course_of(driver)
    first, emptied, again = result.rebalances
    assert [row.causes for row in result.rebalances] == [("join",), ("leave",), ("join",)]
    assert (emptied.members, emptied.partitions, emptied.start) == (0, 0, emptied.end)
    assert (again.epoch, again.members_before, again.moved) == (first.epoch, 0, 0)
    assert len({row.offset for row in result.rebalances}) == 3
    assert result.spans(0) == [("a", first.epoch, 0, 1), ("b", again.epoch, 61, None)]


def test_wherever_a_log_ends_no_partition_has_two_owners_at_a_time() -> None:
    driver, a = one()
    b, c = Consumer(driver, "b"), Consumer(driver, "c")
    for member in (b, c):
        driver.advance(700)
        member.join()
        for other in (a, b, c):
            driver.advance(300)
            other.beat() if other.epoch else None
    driver.advance(700)
    b.leave()
    settled(a, c)
    log = driver.written()
    for end in range(len(log) + 1):
        result = course(log[:end], driver.engine.topics)
        for number in range(4):
            for (_, _, _, until), (_, _, since, _) in pairwise(result.spans(number)):
                assert until is not None
                assert until <= since
        numbers = [row.epoch for row in result.rebalances]
        assert numbers == sorted(set(numbers))


def test_numbers_that_no_broker_writes_are_kept() -> None:
    driver, _ = one()
    for epoch in (-(2**31), 2**31 - 1, -1, 7):
        driver.put(ConsumerGroupRecord(group="g", value=ConsumerGroupValue(epoch=epoch)))
    rows = sorted(course_of(driver).rebalances, key=lambda row: row.offset)[1:]
    assert [row.epoch for row in rows] == [-(2**31), 2**31 - 1, -1, 7]
    assert [row.causes for row in rows] == [("unknown",)] * 4
    assert all(row.skipped is None or 0 <= row.skipped < 2**31 for row in rows)
