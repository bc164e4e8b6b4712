"""The client against a real broker, with groups of every type."""

from collections.abc import Iterator

import pytest

from groups.described import committed_offsets
from tests.kafka.broker import CLUSTER_ID, Broker
from tests.kafka.members import Members, fresh_name
from tests.kafka.topics import fresh_topic
from wire.acls import ConfigResourceType, ConfigSource
from wire.client.cluster import KafkaClient
from wire.client.groups import describe_groups
from wire.client.offsets import EARLIEST, LAST_STABLE, LATEST, OffsetSpec, fetch_offsets, offsets_at
from wire.client.security import ConnectionSettings
from wire.client.settings import describe_configs
from wire.messages.schemas.classic_groups import DESCRIBE_GROUPS
from wire.messages.schemas.consumer_groups import CONSUMER_GROUP_DESCRIBE

CONSUMER = 1


pytestmark = pytest.mark.kafka


@pytest.fixture
def client(broker: Broker) -> Iterator[KafkaClient]:
    with KafkaClient(ConnectionSettings(bootstrap_servers=(broker.bootstrap,))) as connected:
        yield connected


def test_the_cluster(client: KafkaClient, broker: Broker) -> None:
    topic, missing = fresh_topic(broker, 3), fresh_name("missing")
    metadata = client.metadata([topic, missing])
    assert metadata.cluster_id == CLUSTER_ID
    assert [(one.node_id, str(one.address), one.rack) for one in metadata.brokers] == [
        (1, broker.bootstrap, "a")
    ]
    shown = metadata.topics[topic]
    assert [
        (one.partition_index, one.leader_id, one.replica_nodes, one.isr_nodes) for one in shown.partitions
    ] == [(index, 1, (1,), (1,)) for index in range(3)]
    assert shown.topic_id is not None
    assert metadata.failed[missing].name == "UNKNOWN_TOPIC_OR_PARTITION"
    assert topic in client.metadata().topics
    assert client.metadata([]).topics == {}
    assert client.home().features.levels["group.version"] == 1


def test_a_consumer_group(client: KafkaClient, broker: Broker, members: Members) -> None:
    topic, group = fresh_topic(broker, 2), fresh_name("consumer")
    members.java(broker, group, re2=f"{topic}.*", group_protocol="consumer").wait_assignment({topic: [0, 1]})
    described = describe_groups(client, CONSUMER_GROUP_DESCRIBE, [group, "absent"])
    assert described.failed["absent"].message == "Group absent not found. (GROUP_ID_NOT_FOUND)"
    shown = described.found[group]
    assert (shown.group_state, shown.assignor_name) == ("Stable", "uniform")
    assert shown.group_epoch == shown.assignment_epoch
    (member,) = shown.members
    assert (member.member_epoch, member.subscribed_topic_regex) == (shown.group_epoch, f"{topic}.*")
    assert member.subscribed_topic_names == ()
    assert member.member_type == CONSUMER
    assert [(one.topic_name, one.partitions) for one in member.assignment.topic_partitions] == [
        (topic, (0, 1))
    ]
    assert member.target_assignment == member.assignment
    refused = describe_groups(client, DESCRIBE_GROUPS, [group]).failed[group]
    assert refused.message == f"Group {group} is not a classic group. (GROUP_ID_NOT_FOUND)"


def test_offsets(client: KafkaClient, broker: Broker) -> None:
    from confluent_kafka import Consumer, Producer, TopicPartition

    topic, group, absent = fresh_topic(broker, 2), fresh_name("offsets"), fresh_name("absent")
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for number in range(5):
        producer.produce(topic, str(number).encode(), partition=0, timestamp=1000 * (number + 1))
    producer.flush()
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group})
    consumer.commit(offsets=[TopicPartition(topic, 0, 3), TopicPartition(topic, 1, 0)], asynchronous=False)
    consumer.close()
    committed = fetch_offsets(client, [group, absent]).found
    assert {index: one.offset for index, one in committed_offsets(committed[group])[0][topic].items()} == {
        0: 3,
        1: 0,
    }
    assert committed_offsets(committed[absent]) == ({}, {})
    places = [(topic, 0), (topic, 1), (topic, 2)]
    ends = offsets_at(client, places, [EARLIEST, LAST_STABLE, LATEST, OffsetSpec(2500)])
    assert ends.found == {(topic, 0): (0, 5, 5, 2), (topic, 1): (0, 0, 0, -1)}
    assert ends.failed[topic, 2].message == f"{topic} has no partition 2"


def test_configs(client: KafkaClient, broker: Broker) -> None:
    topic, group = fresh_topic(broker), fresh_name("configured")
    of_group = describe_configs(client, ConfigResourceType.GROUP, [group]).found[group]
    assert of_group["consumer.session.timeout.ms"].value == "6000"
    of_brokers = describe_configs(client, ConfigResourceType.BROKER, ["1", "9"])
    assert of_brokers.found["1"]["broker.rack"].config_source == ConfigSource.STATIC_BROKER
    assert of_brokers.failed["9"].message == "the cluster has no such broker"
    of_topics = describe_configs(client, ConfigResourceType.TOPIC, [topic, "nowhere"])
    assert of_topics.found[topic]["cleanup.policy"].value == "delete"
    assert of_topics.failed["nowhere"].name == "UNKNOWN_TOPIC_OR_PARTITION"


def test_coordinators(client: KafkaClient, broker: Broker) -> None:
    answer = client.find_coordinators(["a", "b", "a"])
    assert {group: str(address) for group, address in answer.found.items()} == {
        "a": broker.bootstrap,
        "b": broker.bootstrap,
    }


def test_no_group_and_no_partition_cost_no_question(client: KafkaClient) -> None:
    assert describe_groups(client, DESCRIBE_GROUPS, []).found == {}
    assert offsets_at(client, [], [LATEST]).found == {}
