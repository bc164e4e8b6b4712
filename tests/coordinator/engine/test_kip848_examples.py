"""The case studies of KIP-848, step by step with the numbers of the document.

Where the document lets the coordinator compute a target by itself, a running broker computes it with the next
heartbeat of a member.
"""

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
    return {each.id: (each.epoch, lists(each.owned)) for each in described_group(driver).members}


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


def test_a_third_member_joins_a_group_of_two() -> None:
    driver = driver_with(6)
    seed(driver, 21, {"A": {"foo": [0, 1, 2]}, "B": {"foo": [3, 4, 5]}})
    a, b, c = consumer(driver, "A", 21, 0, 1, 2), consumer(driver, "B", 21, 3, 4, 5), Consumer(driver, "C")
    c.join()
    assert epochs(driver) == ("Reconciling", 22, 22)
    assert targets(driver) == {"A": {"foo": [0, 1]}, "B": {"foo": [3, 4]}, "C": {"foo": [2, 5]}}
    assert members(driver) == {
        "A": (21, {"foo": [0, 1, 2]}),
        "B": (21, {"foo": [3, 4, 5]}),
        "C": (22, {}),
    }
    assert (a.beat().epoch, a.owned) == (21, {"foo": [0, 1]})
    assert (b.beat().epoch, b.owned) == (21, {"foo": [3, 4]})
    assert c.beat().assignment is None
    assert a.beat().epoch == 22
    c.beat()
    assert members(driver) == {
        "A": (22, {"foo": [0, 1]}),
        "B": (21, {"foo": [3, 4, 5]}),
        "C": (22, {"foo": [2]}),
    }
    assert b.beat().epoch == 22
    c.beat()
    assert members(driver) == {
        "A": (22, {"foo": [0, 1]}),
        "B": (22, {"foo": [3, 4]}),
        "C": (22, {"foo": [2, 5]}),
    }


def test_member_failure() -> None:
    driver = driver_with(6)
    seed(driver, 22, {"A": {"foo": [0, 1]}, "B": {"foo": [3, 4]}, "C": {"foo": [2, 5]}})
    b, c = consumer(driver, "B", 22, 3, 4), consumer(driver, "C", 22, 2, 5)
    driver.advance(30_000)
    b.beat()
    c.beat()
    driver.advance(15_000)
    assert epochs(driver) == ("Assigning", 23, 22)
    assert members(driver) == {"B": (22, {"foo": [3, 4]}), "C": (22, {"foo": [2, 5]})}
    b.beat()
    c.beat()
    assert epochs(driver) == ("Stable", 23, 23)
    assert members(driver) == {"B": (23, {"foo": [0, 3, 4]}), "C": (23, {"foo": [1, 2, 5]})}


def test_partition_added() -> None:
    driver = driver_with(1)
    seed(driver, 22, {"A": {"foo": [0]}, "B": {}})
    a, b = consumer(driver, "A", 22, 0), consumer(driver, "B", 22)
    a.beat()
    b.beat()
    assert epochs(driver) == ("Stable", 22, 22)
    driver.take(driver.engine.update_topics(images(("foo", 2), version=2), driver.now_ms))
    assert epochs(driver) == ("Stable", 22, 22)
    b.beat()
    assert epochs(driver) == ("Reconciling", 23, 23)
    assert targets(driver) == {"A": {"foo": [0]}, "B": {"foo": [1]}}
    a.beat()
    assert members(driver) == {"A": (23, {"foo": [0]}), "B": (23, {"foo": [1]})}


@pytest.mark.parametrize("lost", [True, False])
def test_a_lost_answer_is_forgiven(lost: bool) -> None:
    """KIP-848 "Heartbeat handling": the previous epoch will do for what the member was assigned."""
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
