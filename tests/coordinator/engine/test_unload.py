"""Groups that go to another broker: who waits is sent there, and what no record says is forgotten."""

from __future__ import annotations

from coordinator.engine.classic.rebalance import JoinGroupAnswer, SyncGroupAnswer
from coordinator.engine.offsets.fetch import FetchedOffset, OffsetFetch, OffsetFetchAnswer, OffsetQuery
from coordinator.engine.records import OffsetRecord, StoredOffset
from tests.coordinator.engine.classic import GROUP, Member, described, refused, stable, state
from tests.coordinator.engine.consumer import described as consumer_described
from tests.coordinator.engine.consumer import group_of, joined
from tests.coordinator.engine.driver import START_MS, Driver
from wire.errors import ErrorCode

PRODUCER = 1000


def test_a_join_that_waits_is_sent_away_and_the_rebalance_is_forgotten(driver: Driver) -> None:
    (first,) = stable(driver, Member(driver))
    newcomer = Member(driver).join()
    assert newcomer.waits()
    assert state(driver) == "PreparingRebalance"
    driver.move()
    answer = driver.answer(newcomer.ticket, JoinGroupAnswer)
    assert answer == JoinGroupAnswer(error=ErrorCode.NOT_COORDINATOR, member=newcomer.id)
    assert state(driver) == "Stable"
    assert first.heartbeat() is ErrorCode.NONE
    assert driver.answer(newcomer.join().ticket, JoinGroupAnswer) == refused(
        ErrorCode.UNKNOWN_MEMBER_ID, newcomer.id
    )


def test_a_sync_that_waits_is_sent_away_and_the_generation_is_forgotten(driver: Driver) -> None:
    leader, follower = stable(driver, Member(driver), Member(driver))
    leader.join()
    follower.join()
    assert (leader.joined().generation, follower.joined().generation) == (3, 3)
    waiting = follower.sync()
    assert driver.waits(waiting)
    driver.move()
    assert driver.answer(waiting, SyncGroupAnswer).error is ErrorCode.NOT_COORDINATOR
    assert state(driver) == "Stable"
    assert follower.heartbeat() is ErrorCode.ILLEGAL_GENERATION


def test_a_member_that_no_record_knows_is_forgotten(driver: Driver) -> None:
    member = Member(driver).join()
    assert member.joined().generation == 1
    driver.move()
    assert described(driver).members == ()
    assert state(driver) == "Empty"
    assert member.heartbeat() is ErrorCode.UNKNOWN_MEMBER_ID


def test_sessions_restart(driver: Driver) -> None:
    (classic,) = stable(driver, Member(driver, group="classic"))
    joined(driver, "m")
    driver.advance(9_000)
    driver.move()
    driver.advance(9_999)
    assert classic.heartbeat() is ErrorCode.NONE
    driver.advance(10_000)
    assert state(driver, "classic") == "Empty"
    assert group_of(driver).members
    driver.advance(45_000)
    assert not group_of(driver).members


def test_a_consumer_group_is_as_before(driver: Driver) -> None:
    joined(driver, "a"), joined(driver, "b")
    before = consumer_described(driver)
    driver.move()
    assert consumer_described(driver) == before


def test_other_groups_notice_nothing(driver: Driver) -> None:
    stable(driver, Member(driver, group="stays"))
    waiting = Member(driver, group="stays").join()
    driver.move("goes")
    assert waiting.waits()
    assert state(driver, "stays") == "PreparingRebalance"


def test_offsets_stay_and_pending_ones_stay_pending(driver: Driver) -> None:
    for partition, producer in ((0, None), (1, PRODUCER)):
        value = StoredOffset(offset=5, leader_epoch=-1, metadata="", commit_ms=START_MS)
        record = OffsetRecord(group=GROUP, topic="t1", partition=partition, value=value)
        driver.engine.replay(record, producer)
    driver.move()
    asked = OffsetFetch(groups=(OffsetQuery(group=GROUP, topics=(("t1", (0, 1)),)),), require_stable=True)
    (answered,) = driver.ask(asked, OffsetFetchAnswer).groups
    ((_, partitions),) = answered.topics
    assert dict(partitions) == {
        0: FetchedOffset(offset=5),
        1: FetchedOffset(error=ErrorCode.UNSTABLE_OFFSET_COMMIT),
    }
