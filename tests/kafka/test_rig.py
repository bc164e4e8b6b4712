"""The rig itself: every kind of consumer joins, and Kafka's own tool shows it with its partitions."""

import pytest

from tests.kafka import columns
from tests.kafka.broker import Broker
from tests.kafka.members import Members, fresh_name
from tests.kafka.tools import consumer_groups
from tests.kafka.topics import create_topics

pytestmark = pytest.mark.kafka


def test_a_confluent_consumer_is_shown_by_kafkas_own_tool(broker: Broker, members: Members) -> None:
    topic, group = fresh_name("orders"), fresh_name("payments")
    create_topics(broker, {topic: 3})
    member = members.confluent(broker, group, [topic])
    member.wait_assignment({topic: [0, 1, 2]})
    said = consumer_groups(broker, "--describe", "--group", group, "--members", "--verbose")
    rows = columns.parse(said.stdout)
    assert [row["CONSUMER-ID"] for row in rows] == [member.member_id()], said
