"""A group that is described every second: it is asked for by its last type, and listed only when that has changed."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from confluent_kafka import Consumer

from cli.options import SourceOptions
from cli.selection import source_of
from groups.model import Group, GroupType
from tests.kafka.broker import RunningBroker
from tests.kafka.members import fresh_name
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until
from wire.client.cluster import KafkaClient
from wire.client.groups import ListedGroups, list_groups


@contextmanager
def _member(broker: RunningBroker, group: str, protocol: str) -> Iterator[None]:
    servers = {"bootstrap.servers": broker.bootstrap, "group.id": group, "group.protocol": protocol}
    consumer = Consumer(servers)
    consumer.subscribe([group])
    try:
        wait_until(lambda: consumer.poll(0.1) is not None or consumer.assignment(), "it joins")
        yield
    finally:
        consumer.close()


def test_a_group_is_listed_only_when_its_type_has_changed(
    broker: RunningBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    group, lists = fresh_name("typed"), list[str]()
    create_topics(broker, {group: 1})
    source = source_of(SourceOptions(bootstrap_server=broker.bootstrap))
    source.is_followed = True

    def counted(client: KafkaClient) -> ListedGroups:
        lists.append(group)
        return list_groups(client)

    monkeypatch.setattr("cli.sources.wire_source.list_groups", counted)

    def described() -> Group:
        (item,) = source.describe([group], offsets=False).items
        return item

    assert [problem.group for problem in source.describe([group], offsets=False).problems] == [group]
    for number, protocol in enumerate(("classic", "consumer", "classic"), 2):
        with _member(broker, group, protocol):
            kinds = {(described().type, len(described().members)) for _ in range(3)}
            assert kinds == {(GroupType(protocol), 1)}
            assert len(lists) == number
    source.close()
