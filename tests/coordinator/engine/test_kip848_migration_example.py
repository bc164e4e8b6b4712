"""The case study "Online Migration" of KIP-848, with the numbers of the document. Except for one partition: the
document lets C give up foo-4 at the end, the uniform assignor takes the last, foo-5."""

from __future__ import annotations

from groups.model import MemberProtocol
from tests.coordinator.engine.consumer import Consumer, Named, described_group, epochs, lists, targets
from tests.coordinator.engine.driver import Driver
from tests.coordinator.engine.migrating import ClassicConsumer, classic_group
from wire.errors import ErrorCode


def members(driver: Driver) -> dict[str, tuple[int | None, Named, bool]]:
    """Epoch, partitions, and whether the member was upgraded."""
    return {
        member.id: (member.epoch, lists(member.owned), member.protocol is MemberProtocol.CONSUMER)
        for member in described_group(driver).members
    }


def test_online_migration(driver: Driver) -> None:
    b = ClassicConsumer(driver, "B", owned={"foo": [3, 4]})
    c = ClassicConsumer(driver, "C", owned={"foo": [2, 5]})
    a_before = ClassicConsumer(driver, "A", instance="a", owned={"foo": [0, 1]})
    classic_group(driver, 22, a_before, b, c)

    # The document's A "leaves and rejoins" without a rebalance: that is what a static member does.
    a = Consumer(driver, "A2", instance="a")
    answer = a.join()
    assert (answer.epoch, a.owned) == (22, {"foo": [0, 1]})
    assert epochs(driver) == ("Stable", 22, 22)
    assert targets(driver) == {"A2": {"foo": [0, 1]}, "B": {"foo": [3, 4]}, "C": {"foo": [2, 5]}}
    assert members(driver) == {
        "A2": (22, {"foo": [0, 1]}, True),
        "B": (22, {"foo": [3, 4]}, False),
        "C": (22, {"foo": [2, 5]}, False),
    }
    assert (b.beat(), c.beat()) == (ErrorCode.NONE, ErrorCode.NONE)

    assert b.leave() is ErrorCode.NONE
    assert epochs(driver) == ("Assigning", 23, 22)
    assert (a.beat().epoch, a.owned) == (23, {"foo": [0, 1, 3]})
    assert targets(driver) == {"A2": {"foo": [0, 1, 3]}, "C": {"foo": [2, 4, 5]}}
    assert c.beat() is ErrorCode.REBALANCE_IN_PROGRESS
    assert c.join().generation == 23
    assert members(driver)["C"] == (23, {"foo": [2, 4, 5]}, False)
    assert (c.sync(), c.owned) == (ErrorCode.NONE, {"foo": [2, 4, 5]})

    b2 = Consumer(driver, "B2")
    assert (b2.join().epoch, b2.owned) == (24, {})
    assert epochs(driver) == ("Reconciling", 24, 24)
    assert targets(driver) == {"A2": {"foo": [0, 1]}, "B2": {"foo": [3, 5]}, "C": {"foo": [2, 4]}}
    assert (a.beat().epoch, a.owned) == (23, {"foo": [0, 1]})
    assert c.beat() is ErrorCode.REBALANCE_IN_PROGRESS
    assert c.join().generation == 24
    b2.beat()
    assert members(driver) == {
        "A2": (23, {"foo": [0, 1, 3]}, True),
        "B2": (24, {"foo": [5]}, True),
        "C": (24, {"foo": [2, 4]}, False),
    }
    assert (c.sync(), c.owned) == (ErrorCode.NONE, {"foo": [2, 4]})
    assert a.beat().epoch == 24
    b2.beat()
    assert members(driver) == {
        "A2": (24, {"foo": [0, 1]}, True),
        "B2": (24, {"foo": [3, 5]}, True),
        "C": (24, {"foo": [2, 4]}, False),
    }
    assert epochs(driver) == ("Stable", 24, 24)
