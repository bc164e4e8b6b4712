"""What a static librdkafka member that closes leaves behind, as its rule says it: tried on a real broker."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

import pytest
from confluent_kafka import Consumer

from tests.kafka.broker import Broker
from tests.kafka.groups import describe
from tests.kafka.topics import fresh_topic
from tests.kafka.wait import wait_until


@pytest.mark.parametrize(("protocol", "keeps"), [("classic", True), ("consumer", False)])
def test_a_static_member_that_closes(broker: Broker, protocol: str, keeps: bool) -> None:
    topic, group = fresh_topic(broker, 4), f"static-{uuid4()}"
    settings = {"bootstrap.servers": broker.bootstrap, "group.id": group, "group.protocol": protocol}
    first, second = (Consumer({**settings, "group.instance.id": each}) for each in "ab")
    for each in (first, second):
        each.subscribe([topic])
    wait_until(
        _polled(lambda: _owned(first) == _owned(second) == 2, first, second), "both own two partitions"
    )
    first.close()
    if keeps:
        view = wait_until(lambda: describe(broker, group), "the group is described")
        assert {member.instance for member in view.members} == {"a", "b"}
    else:
        # The session of 45 s has not ended when the partitions are with the other one.
        wait_until(_polled(lambda: _owned(second) == 4, second), "the other member owns all", timeout_s=30)
    second.close()


def _owned(consumer: Consumer) -> int:
    return len(consumer.assignment())


def _polled(condition: Callable[[], bool], *consumers: Consumer) -> Callable[[], bool]:
    def polled() -> bool:
        for consumer in consumers:
            consumer.poll(0.1)
        return condition()

    return polled
