"""What a plan says of a real broker's settings, and what that broker then does."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException
from confluent_kafka.admin._acl import AclOperation
from confluent_kafka.admin._resource import ResourceType
from kio.schema.errors import ErrorCode

from migration.client_config import ClientConfig, kept
from tests.cli.command import Answer, Kohort
from tests.kafka.broker import Broker
from tests.kafka.coordinator import running_broker
from tests.kafka.events import Event
from tests.kafka.groups import wait_group
from tests.kafka.member import Member
from tests.kafka.members import Members, fresh_name
from tests.kafka.plugin import StartBroker
from tests.kafka.topics import create_topics, set_config
from tests.migration.raw_consumer import RawConsumer
from tests.migration.raw_group import RawGroup
from tests.support.authorizer import AUTHORIZER, OPEN_AUTHORIZER, allow
from tests.support.long import LONG

pytestmark = pytest.mark.kafka


def _join(broker: Broker, group: str, topic: str) -> tuple[ErrorCode, str]:
    """What the broker answers the first member of the consumer protocol, which leaves again where it is let in."""
    member = RawConsumer(broker=broker, group=group, topics=(topic,))
    answer = member.try_to_join()
    if answer.error_code is ErrorCode.none:
        member.leave()
    return answer.error_code, answer.error_message or ""


def _assert_refused(broker: Broker, group: str, topic: str, why: str) -> None:
    error, message = _join(broker, group, topic)
    assert error is ErrorCode.group_id_not_found
    assert why in message


def _starts(**config: str) -> bool:
    try:
        Consumer({"bootstrap.servers": "127.0.0.1:1", "group.id": "a", "log_level": "0", **config}).close()
    except KafkaException:
        return False
    return True


def _plan(kohort: Kohort, broker: Broker, group: str, *options: str | Path, to: str = "consumer") -> Answer:
    line = f"plan {group} --to {to} --client librdkafka:2.16 -b {broker.bootstrap} --output json"
    return kohort.quick(line, *options)


def _levels(answer: Answer, rule: str) -> list[str]:
    return [finding["level"] for finding in answer.document["findings"] if finding["rule"] == rule]


def _messages(answer: Answer, rule: str) -> str:
    return " ".join(finding["message"] for finding in answer.document["findings"] if finding["rule"] == rule)


def _group_of(broker: Broker, members: Members, size: int) -> tuple[str, str]:
    """A classic group of this many members that has settled, and its topic."""
    topic, group = fresh_name("orders"), fresh_name("payments")
    create_topics(broker, {topic: 4})
    for _ in range(size):
        members.confluent(broker, group, [topic], partition_assignment_strategy="range")
    wait_group(broker, group, members=size)
    return group, topic


@pytest.fixture(scope="module")
def closed(kafka_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """Give a broker whose authorizer allows nothing to others than the tests, and that migrates nothing."""
    settings = {**AUTHORIZER, "super.users": "User:ANONYMOUS", "group.consumer.migration.policy": "disabled"}
    with running_broker(kafka_jars, tmp_path_factory.mktemp("closed"), settings) as broker:
        yield broker


def test_a_policy_that_is_off(kohort: Kohort, closed: Broker, members: Members) -> None:
    broker = closed
    group, topic = _group_of(broker, members, 1)
    answer = _plan(kohort, broker, group)
    assert answer.status == 1
    assert _levels(answer, "migration-policy") == ["blocker"]
    assert _levels(answer, "broker-settings") == []
    _assert_refused(broker, group, topic, "online upgrade is disabled")


def test_a_group_that_is_too_large(kohort: Kohort, start_broker: StartBroker, members: Members) -> None:
    broker = start_broker({"group.consumer.max.size": "3"})
    large, topic = _group_of(broker, members, 4)
    answer = _plan(kohort, broker, large)
    assert answer.status == 1
    assert _levels(answer, "group-size") == ["blocker"]
    _assert_refused(broker, large, topic, "the group size exceeds")

    full, topic = _group_of(broker, members, 3)
    answer = _plan(kohort, broker, full)
    assert _levels(answer, "group-size") == ["warning"]
    assert _join(broker, full, topic)[0] is ErrorCode.group_max_size_reached


def test_the_bounds_of_timeouts(kohort: Kohort, broker: Broker, members: Members, tmp_path: Path) -> None:
    """What a plan calls out of bounds the broker refuses, and the command that it prints is taken."""
    group, _ = _group_of(broker, members, 1)
    answer = _plan(kohort, broker, group)
    assert (_levels(answer, "acl"), _levels(answer, "broker-settings")) == ([], [])  # no authorizer
    for value, is_fine in (("5999", False), ("7000", True)):
        file = tmp_path / "librdkafka.conf"
        file.write_text(f"enable.partition.eof=false\nsession.timeout.ms={value}\n")
        said = _messages(_plan(kohort, broker, group, "--client-config", file), "group-timeouts")
        assert ("is below group.consumer.min.session.timeout.ms=6000" in said) != is_fine
        settings = {"consumer.session.timeout.ms": value}
        if is_fine:
            set_config(broker, ResourceType.GROUP, group, settings)
            # What has been done is not asked for again.
            assert _levels(_plan(kohort, broker, group, "--client-config", file), "group-timeouts") == []
        else:
            with pytest.raises(KafkaException, match="must be in the range"):
                set_config(broker, ResourceType.GROUP, group, settings)


PAIRS = {
    "partition.assignment.strategy": "range",
    "session.timeout.ms": "45000",
    "heartbeat.interval.ms": "3000",
    "group.protocol.type": "consumer",
    "group.remote.assignor": "uniform",
    "client.rack": "a",
    "group.instance.id": "seat",
}


@pytest.mark.parametrize(
    ("protocol", "is_empty"), [("classic", False), ("consumer", False), ("consumer", True)]
)
@pytest.mark.parametrize("key", PAIRS)
def test_what_librdkafka_refuses_to_start_with(protocol: str, key: str, *, is_empty: bool) -> None:
    """A setting is called a leftover exactly where the library refuses it."""
    shown = "" if is_empty else PAIRS[key]
    config = ClientConfig(name="c", settings=tuple(kept([(key, shown, 1)])), library="librdkafka")
    assert _starts(**{"group.protocol": protocol, key: shown}) == (config.leftovers(protocol) == ())


@LONG
def test_what_java_refuses_to_start_with(broker: Broker, members: Members) -> None:
    topic = fresh_name("orders")
    create_topics(broker, {topic: 1})
    java = {**PAIRS, "partition.assignment.strategy": "org.apache.kafka.clients.consumer.RangeAssignor"}
    del java["group.protocol.type"]  # which only librdkafka has
    for protocol in ("classic", "consumer"):
        for key, value in java.items():
            config = ClientConfig(name="c", settings=tuple(kept([(key, value, 1)])), library="java")
            left = config.leftovers(protocol)
            settings: dict[str, Any] = {"group_protocol": protocol, key.replace(".", "_"): value}
            member = members.java(broker, fresh_name("payments"), [topic], **settings)
            first = _first_event(member)
            assert (first.kind == "assigned") == (left == ()), (protocol, key, first)
            if first.kind == "error":
                assert "cannot be set when group.protocol=" in str(first), first


def _first_event(member: Member) -> Event:
    def known() -> list[Event]:
        return [event for event in member.events() if event.kind in ("assigned", "error")]

    member.log.wait(lambda: bool(known()), f"{member.name} starts or does not", 30.0)
    return known()[0]


@pytest.mark.parametrize(
    "names", ["range,cooperative-sticky", "cooperative-sticky,range", "range,roundrobin", "sticky"]
)
def test_lists_that_librdkafka_refuses(kohort: Kohort, sample: Path, tmp_path: Path, names: str) -> None:
    starts = names == "range,roundrobin"
    file = tmp_path / "librdkafka.conf"
    file.write_text(f"enable.partition.eof=false\npartition.assignment.strategy={names}\n")
    options = f"--client librdkafka:2.16 --client-config {file} --output json --embedded"
    answer = kohort.quick(f"plan billing --to cooperative {options}", sample)
    assert (_levels(answer, "client-config-mixed") == []) == starts
    assert _starts(**{"partition.assignment.strategy": names}) == starts


@pytest.mark.parametrize("metadata", [b"\x00", b""])
def test_metadata_that_cannot_be_read(kohort: Kohort, broker: Broker, metadata: bytes) -> None:
    group = RawGroup(broker=broker, metadata=lambda _: metadata)
    group.grow(1)
    answer = _plan(kohort, broker, group.id)
    assert answer.status == 1, answer.stderr
    assert _levels(answer, "malformed-metadata") == ["blocker"]
    _assert_refused(broker, group.id, "orders", "the embedded consumer protocol is malformed")


@pytest.mark.parametrize(("data", "level"), [(b"w=1", ["blocker"]), (b"", []), (None, [])])
def test_user_data_of_a_custom_assignor(
    kohort: Kohort, broker: Broker, data: bytes | None, level: list[str]
) -> None:
    group = RawGroup(broker=broker, user_data=data)
    group.grow(1)
    answer = _plan(kohort, broker, group.id)
    assert _levels(answer, "assignment-user-data") == level
    error, message = _join(broker, group.id, "orders")
    assert error is (ErrorCode.group_id_not_found if level else ErrorCode.none)
    assert ("an unsupported custom assignor is in use" in message) == bool(level)


def test_what_the_authorizer_tells(kohort: Kohort, closed: Broker, members: Members) -> None:
    broker = closed
    group, topic = _group_of(broker, members, 1)
    message = _messages(_plan(kohort, broker, group), "acl")
    assert "No access control entry allows READ on the group" in message
    allow(broker, ResourceType.GROUP, group, AclOperation.READ, "User:app")
    message = _messages(_plan(kohort, broker, group), "acl")
    assert f"User:app may READ the group but has no entry to DESCRIBE {topic}:" in message
    allow(broker, ResourceType.TOPIC, topic, AclOperation.READ, "User:app")
    assert _levels(_plan(kohort, broker, group), "acl") == []


@LONG
def test_settings_that_may_not_be_asked_for(
    kohort: Kohort, start_broker: StartBroker, members: Members
) -> None:
    """Who may not describe the brokers' settings still gets a plan, which reports what is unknown."""
    broker = start_broker(OPEN_AUTHORIZER)
    group, _ = _group_of(broker, members, 1)
    # With one entry about the cluster, what no entry allows is forbidden; the node needs this one itself.
    allow(broker, ResourceType.BROKER, "kafka-cluster", AclOperation.CLUSTER_ACTION)
    answer = _plan(kohort, broker, group).succeeded()
    assert "CLUSTER_AUTHORIZATION_FAILED" in _messages(answer, "broker-settings")
    assert "CLUSTER_AUTHORIZATION_FAILED" in _messages(answer, "acl")
