"""Groups that go to another broker: who waits is sent there, and what no record says is forgotten."""

from coordinator.engine.classic.rebalance import JoinGroupAnswer, SyncGroupAnswer
from tests.coordinator.engine.classic import Member, refused, stable, state
from tests.coordinator.engine.driver import Driver
from wire.errors import ErrorCode


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
