"""The leader of a live group, from the topic that nobody describes."""

from __future__ import annotations

import pytest

from cli.cluster.leader_records import Untold, read_leaders
from cli.cluster.live import LiveSource
from coordinator.wire.security import ConnectionSettings
from tests.kafka.broker import Broker
from tests.kafka.groups import wait_group
from tests.kafka.members import Members, fresh_name
from tests.kafka.topics import create_topics

TIMEOUT_S = 20.0


def source(broker: Broker) -> LiveSource:
    return LiveSource(ConnectionSettings(bootstrap_servers=(broker.bootstrap,)), 20_000)


@pytest.mark.kafka
def test_the_leader_is_the_one_that_the_broker_writes_down(broker: Broker, members: Members) -> None:
    topic, group = fresh_name("orders"), fresh_name("led")
    create_topics(broker, {topic: 3})
    first = members.confluent(broker, group, [topic])
    first.wait_assignment({topic: [0, 1, 2]})
    members.confluent(broker, group, [topic])
    wait_group(broker, group, members=2)
    live = source(broker)
    try:
        (described,) = live.with_leaders(live.describe([group], offsets=False).items)
        assert described.leader == first.member_id()
        assert described.leader_problem is None
        assert described.generation is not None
        assert described.generation >= 2
    finally:
        live.close()


@pytest.mark.kafka
def test_a_group_that_was_never_written_down_is_told_apart(broker: Broker) -> None:
    told = read_leaders({"bootstrap.servers": broker.bootstrap}, ["never-seen-here"], TIMEOUT_S)
    why = told["never-seen-here"]
    assert isinstance(why, Untold)
    assert "holds no record of it" in why.why or "it is not there" in why.why
