"""The case studies of KIP-848, step by step with the numbers of the document. Where the document lets the
coordinator compute a target by itself, a running broker computes it with the next heartbeat of a member."""

from __future__ import annotations

import pytest

from tests.coordinator.engine.consumer import (
    Consumer,
    Named,
    described_group,
    epochs,
    group_of,
    images,
    lists,
    seed,
    targets,
)
from tests.coordinator.engine.driver import Driver
from wire.errors import ErrorCode


def members(driver: Driver) -> dict[str, tuple[int | None, Named]]:
    """Epoch and partitions of each member; what it is giving up is still its."""
    return {member.id: (member.epoch, lists(member.owned)) for member in described_group(driver).members}


def driver_with(partitions: int) -> Driver:
    return Driver(images(("foo", partitions)))


def consumer(driver: Driver, name: str, epoch: int, *owned: int) -> Consumer:
    return Consumer(driver, name, epoch=epoch, owned={"foo": list(owned)} if owned else {})


def test_member_join() -> None:
    driver = driver_with(3)
    seed(driver, 0, {})
    a, b, c = (Consumer(driver, name) for name in "ABC")
    a.join()
    assert epochs(driver) == ("Stable", 1, 1)
    assert members(driver) == {"A": (1, {"foo": [0, 1, 2]})}

    b.join()
    assert epochs(driver) == ("Reconciling", 2, 2)
    assert targets(driver) == {"A": {"foo": [0, 1]}, "B": {"foo": [2]}}
    assert members(driver) == {"A": (1, {"foo": [0, 1, 2]}), "B": (2, {})}
    assert (a.beat().epoch, a.owned) == (1, {"foo": [0, 1]})
    assert a.beat().epoch == 2
    b.beat()
    assert members(driver) == {"A": (2, {"foo": [0, 1]}), "B": (2, {"foo": [2]})}

    c.join()
    assert epochs(driver) == ("Reconciling", 3, 3)
    assert targets(driver) == {"A": {"foo": [0]}, "B": {"foo": [2]}, "C": {"foo": [1]}}
    assert b.beat().epoch == 3
    assert c.epoch == 3
    assert members(driver) == {"A": (2, {"foo": [0, 1]}), "B": (3, {"foo": [2]}), "C": (3, {})}
    assert (a.beat().epoch, a.owned) == (2, {"foo": [0]})
    assert a.beat().epoch == 3
    c.beat()
    assert members(driver) == {"A": (3, {"foo": [0]}), "B": (3, {"foo": [2]}), "C": (3, {"foo": [1]})}
    assert epochs(driver) == ("Stable", 3, 3)


@pytest.mark.parametrize("lost", [True, False])
def test_a_lost_answer_is_forgiven(lost: bool) -> None:
    driver = driver_with(3)
    seed(driver, 2, {"A": {"foo": [0, 1, 2]}})
    a = consumer(driver, "A", 2, 0, 1, 2)
    driver.take(driver.engine.update_topics(images(("foo", 4), version=2), driver.now_ms))
    assert a.beat().epoch == 3
    assert group_of(driver).members["A"].current.previous_epoch == 2
    if lost:
        answer = a.beat(epoch=2)
        assert (answer.error, answer.epoch) == (ErrorCode.NONE, 3)
    else:
        unowned = {driver.engine.topics.topics["foo"].id: (0, 9)}
        assert a.refused(epoch=2, owned=unowned)[0] is ErrorCode.FENCED_MEMBER_EPOCH
        assert a.refused(epoch=2, owned=None)[0] is ErrorCode.FENCED_MEMBER_EPOCH
