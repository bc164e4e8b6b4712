"""`describe --authorized-operations`: what the user may do with a group, of every type."""

from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient

from cli.verbs.describe.view import DescribeMode
from tests.cli.command import Answer, Kohort
from tests.cli.fleet import Fleet
from tests.cli.sources.live_source import admin_only
from tests.cli.sources.secure_rig import SecureRig
from tests.kafka.members import fresh_name
from tests.kafka.secure import SecureBroker
from tests.kafka.topics import create_topics
from wire.acls import OPERATIONS, ResourceType, operation_bits
from wire.client.settings import operations_in

# On a group, since Kafka 4.0.
EVERYTHING = ["READ", "DELETE", "DESCRIBE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS"]
MODES = [f"--{mode.value}" for mode in DescribeMode]


def test_operations_are_bits() -> None:
    assert operations_in(1 << 3 | 1 << 8) == ("READ", "DESCRIBE")
    on_topics = OPERATIONS[ResourceType.TOPIC]
    assert operations_in(operation_bits(on_topics)) == tuple(one.name for one in sorted(on_topics))
    assert operations_in(0) == ()
    assert operations_in(-(2**31)) is None


@pytest.mark.kafka
@pytest.mark.parametrize("mode", MODES)
def test_without_an_authorizer_everything_is_allowed(kohort: Kohort, fleet: Fleet, mode: str) -> None:
    line = f"describe {mode} --authorized-operations --match ^{fleet.prefix} -b {fleet.broker.bootstrap}"
    answer = kohort.quick(line, "--output", "json").succeeded()
    assert operations_of(answer) == dict.fromkeys(fleet.groups.values(), EVERYTHING)
    table = kohort.quick(line).succeeded().stdout.splitlines()
    for group in fleet.groups.values():
        *_, row = [line.split(None, 1)[1] for line in table if line.startswith(f"{group} ")]
        assert row.strip() == ", ".join(EVERYTHING)


def operations_of(answer: Answer) -> dict[str, list[str] | None]:
    return {group["group"]: group["authorized_operations"] for group in answer.document["groups"]}


@pytest.mark.kafka
def test_librdkafka_reports_the_same(fleet: Fleet) -> None:
    group = fleet.groups["java-consumer"]
    with admin_only(fleet.broker) as source:
        reported = source.authorized_operations(source.describe([group], offsets=False).items)
    admin = AdminClient({"bootstrap.servers": fleet.broker.bootstrap})
    described = admin.describe_consumer_groups([group], include_authorized_operations=True)[group].result()
    theirs = {operation.name for operation in described.authorized_operations}
    assert set(reported.by_group[group]) == theirs == set(EVERYTHING)


@pytest.mark.kafka
def test_an_authorizer_decides(secure: SecureBroker, kohort: Kohort, tmp_path: Path) -> None:
    rig = SecureRig(secure=secure, kohort=kohort, scratch=tmp_path)
    read, configured, hidden = fresh_name("read"), fresh_name("configured"), fresh_name("hidden")
    for group in (read, configured, hidden):
        _commit(secure, group)
    secure.allow("reader", "group", read, "READ")
    secure.allow("reader", "group", configured, "DESCRIBE", "ALTER_CONFIGS")
    options = ("--state", "--authorized-operations", "--output", "json")
    try:
        answer = rig.as_user("reader", "describe", read, configured, hidden, *options)
    finally:
        secure.forbid_all("reader")
    assert operations_of(answer) == {
        read: ["READ", "DESCRIBE"],
        configured: ["DESCRIBE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS"],
    }
    answer.assert_said(3, f"{hidden}: not allowed: this needs DESCRIBE on the group")
    assert answer.stderr.count(hidden) == 1


def _commit(secure: SecureBroker, group: str) -> None:
    topic = f"{group}-topic"
    create_topics(secure.broker, {topic: 1})
    consumer = Consumer({"bootstrap.servers": secure.broker.bootstrap, "group.id": group})
    consumer.commit(offsets=[TopicPartition(topic, 0, 0)], asynchronous=False)
    consumer.close()


def test_a_file_does_not_tell(kohort: Kohort, sample: Path) -> None:
    plain = kohort.quick("describe billing --output json --embedded", sample).succeeded(stderr="")
    assert "authorized_operations" not in plain.document["groups"][0]
    line = "describe billing audit --state --authorized-operations --embedded"
    answer = kohort.quick(line, sample, "--output", "json").succeeded()
    assert [group["authorized_operations"] for group in answer.document["groups"]] == [None, None]
    assert "authorized operations are only known of a live cluster" in answer.stderr
    assert "AUTHORIZED-OPERATIONS" in kohort.quick(line, sample).stdout
