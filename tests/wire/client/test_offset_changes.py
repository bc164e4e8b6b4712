"""Committing and deleting offsets over the wire client, in every version, on a real broker."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from groups.described import committed_offsets
from groups.model import Offsets
from tests.kafka.broker import Broker
from tests.kafka.members import fresh_name
from tests.kafka.topics import fresh_topic
from wire.client import offsets
from wire.client.cluster import KafkaClient
from wire.client.offsets import NewOffset, commit_offsets, delete_offsets, fetch_offsets
from wire.client.security import ConnectionSettings
from wire.messages.schemas.offsets import OFFSET_COMMIT

pytestmark = pytest.mark.kafka


@pytest.fixture
def client(broker: Broker) -> Iterator[KafkaClient]:
    with KafkaClient(
        ConnectionSettings(bootstrap_servers=(broker.bootstrap,), api_timeout_ms=10_000)
    ) as client:
        yield client


def committed(client: KafkaClient, group: str) -> Offsets:
    by_topic, failed = committed_offsets(fetch_offsets(client, [group]).found[group])
    assert not failed
    return by_topic


@pytest.mark.parametrize("version", range(OFFSET_COMMIT.sent[0], OFFSET_COMMIT.sent[1] + 1))
def test_committed_offsets_are_fetched(
    broker: Broker, client: KafkaClient, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic, group = fresh_topic(broker, 2), fresh_name("payments")
    monkeypatch.setattr(offsets, "OFFSET_COMMIT", replace(OFFSET_COMMIT, sent=(2, version)))
    places = {
        (topic, 0): NewOffset(offset=7, leader_epoch=0, metadata="größe"),
        (topic, 1): NewOffset(offset=2**63 - 1),
        (topic, 2): NewOffset(offset=0),
        ("no-such-topic", 0): NewOffset(offset=0),
    }
    result = commit_offsets(client, {group: places}).found[group]
    assert {partition: failure and failure.name for partition, failure in result.items()} == {
        (topic, 0): None,
        (topic, 1): None,
        (topic, 2): "UNKNOWN_TOPIC_OR_PARTITION",
        ("no-such-topic", 0): "UNKNOWN_TOPIC_OR_PARTITION",
    }
    by_index = committed(client, group)[topic]
    epoch = 0 if version >= 6 else None
    assert {
        index: (result.offset, result.leader_epoch, result.metadata) for index, result in by_index.items()
    } == {0: (7, epoch, "größe"), 1: (2**63 - 1, None, "")}

    gone = delete_offsets(client, {group: [(topic, 0), (topic, 2)]}).found[group]
    assert {partition: failure and failure.name for partition, failure in gone.items()} == {
        (topic, 0): None,
        (topic, 2): "UNKNOWN_TOPIC_OR_PARTITION",
    }
    assert set(committed(client, group)[topic]) == {1}


def test_groups_are_answered_one_by_one(broker: Broker, client: KafkaClient) -> None:
    topic, missing = fresh_topic(broker), fresh_name("missing")
    groups = [fresh_name("payments") for _ in range(3)]
    result = commit_offsets(client, {group: {(topic, 0): NewOffset(offset=1)} for group in groups})
    assert (list(result.found), result.failed) == (groups, {})
    gone = delete_offsets(client, {name: [(topic, 0)] for name in (groups[0], missing)})
    assert gone.found == {groups[0]: {(topic, 0): None}}
    assert {name: failure.name for name, failure in gone.failed.items()} == {missing: "GROUP_ID_NOT_FOUND"}
