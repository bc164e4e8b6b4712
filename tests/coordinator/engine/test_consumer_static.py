"""Static members: away with epoch -2, back under another id."""

from __future__ import annotations

from tests.coordinator.engine.consumer import (
    Consumer,
    described_group,
    described_member,
    epochs,
    joined,
    settled,
)
from tests.coordinator.engine.driver import Driver
from wire.errors import ErrorCode


def pair(driver: Driver) -> tuple[Consumer, Consumer]:
    a, b = joined(driver, "a", instance="i"), joined(driver, "b")
    settled(a, b)
    return a, b


def test_no_group_epoch_bump_when_static_member_temporarily_leaves(driver: Driver) -> None:
    a, b = pair(driver)
    answer = a.leave(-2)
    assert (answer.error, answer.epoch, answer.heartbeat_interval_ms) == (ErrorCode.NONE, -2, 0)
    assert described_member(driver, "a").epoch == -2
    assert epochs(driver) == ("Reconciling", 3, 3)
    assert b.beat().assignment is None
    assert a.leave(-2).error is ErrorCode.NONE


def test_the_old_epoch_is_greater_than_that_of_a_member_that_is_away(driver: Driver) -> None:
    a, _ = pair(driver)
    a.leave(-2)
    code, message = a.refused(epoch=3)
    assert code is ErrorCode.FENCED_MEMBER_EPOCH
    assert message is not None
    assert "greater member epoch (3) than the one known by the group coordinator (-2)" in message


def test_it_comes_back_under_another_id_and_gets_what_it_had(driver: Driver) -> None:
    a, b = pair(driver)
    owned = dict(a.owned)
    a.leave(-2)
    again = Consumer(driver, "a2", instance="i")
    answer = again.join()
    assert (answer.epoch, again.owned) == (3, owned)
    assert epochs(driver) == ("Stable", 3, 3)
    assert b.beat().epoch == 3
    a.epoch = 3
    assert a.refused() == (
        ErrorCode.FENCED_INSTANCE_ID,
        "Static member a with instance id i was fenced by member a2.",
    )
    assert a.refused(instance=None)[0] is ErrorCode.UNKNOWN_MEMBER_ID


def test_it_comes_back_under_its_own_id(driver: Driver) -> None:
    a, _ = pair(driver)
    owned = dict(a.owned)
    a.leave(-2)
    assert (a.join().epoch, a.owned) == (3, owned)
    assert epochs(driver) == ("Stable", 3, 3)


def test_the_place_of_a_member_that_is_there_is_not_released(driver: Driver) -> None:
    a, _ = pair(driver)
    for who in ("a2", "a"):
        answer = Consumer(driver, who, instance="i").join()
        assert answer.error is ErrorCode.UNRELEASED_INSTANCE_ID
        assert answer.message == (
            f"Static member {who} with instance id i cannot join the group because the instance id is owned by "
            "a member."
        )
    assert a.beat().error is ErrorCode.NONE


def test_a_wrong_instance_id_is_unknown(driver: Driver) -> None:
    a, _ = pair(driver)
    unknown = ErrorCode.UNKNOWN_MEMBER_ID, "Instance id other is unknown."
    assert a.refused(instance="other") == unknown
    assert a.refused(instance="other", epoch=-1) == unknown


def test_a_member_that_stays_away_is_removed_after_its_session(driver: Driver) -> None:
    a, b = pair(driver)
    driver.advance(10_000)
    a.leave(-2)
    driver.advance(34_000)
    assert len(described_group(driver).members) == 2
    b.beat()
    driver.advance(1_000)
    assert [each.id for each in described_group(driver).members] == ["b"]
    assert epochs(driver) == ("Assigning", 4, 3)


def test_a_static_member_that_was_revoking_comes_back_without(driver: Driver) -> None:
    a, b = joined(driver, "a", instance="i"), joined(driver, "b")
    a.beat()
    a.leave(-2)
    b.beat()
    assert b.owned == {"foo": [3, 4, 5]}
    again = Consumer(driver, "a2", instance="i")
    assert (again.join().epoch, again.owned) == (3, {"foo": [0, 1, 2]})
    driver.advance(44_000)
    assert again.beat().error is ErrorCode.NONE


def test_a_leave_for_good_frees_the_place(driver: Driver) -> None:
    a, _ = pair(driver)
    assert a.leave().epoch == -1
    assert Consumer(driver, "a2", instance="i").join().error is ErrorCode.NONE


def test_a_dynamic_member_that_takes_an_instance_id_starts_from_its_own_target(driver: Driver) -> None:
    b, a, c = (Consumer(driver, name) for name in "bac")
    b.join()
    a.join()
    settled(b, a)
    c.join()
    settled(b, a, c)
    assert (b.owned, a.owned, c.owned) == ({"foo": [0, 1]}, {"foo": [3, 4]}, {"foo": [2, 5]})
    c.leave()
    b.instance = "i"
    assert (b.join().epoch, b.owned) == (5, {"foo": [0, 1, 5]})
    settled(b, a)
    assert a.owned == {"foo": [2, 3, 4]}
