"""Both tools as a user with limited rights, over SASL and TLS, with one properties file."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.cli.dropin.harness import Case, Scene, Stage
from tests.cli.dropin.secure_cases import CASES
from tests.kafka.java_host import JavaHost
from tests.kafka.members import Members, fresh_name
from tests.kafka.secure import PASSWORDS, SecureBroker
from tests.kafka.topics import create_topics

PROPERTIES = """\
security.protocol=SASL_SSL
sasl.mechanism=PLAIN
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="worker" password="{}";
ssl.truststore.type=PEM
ssl.truststore.location={}
"""


@pytest.fixture(scope="module")
def scene(
    secure: SecureBroker, kafka_jars: Path, java_host: JavaHost, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Scene]:
    """Give groups of which the worker may describe two, and none of their topics; more of `ours`, `free` and `seen`.
    `reading` has a member with a partition, `left` has only offsets, `hidden` is not accessible to the worker.
    `ours` the worker may change, in the topic `free` only; `seen` may be described."""
    files = tmp_path_factory.mktemp("secure")
    group, left, hidden, ours = "dropin-reading", "dropin-left", "dropin-hidden", "dropin-ours"
    topic, broker = fresh_name("pay"), secure.broker
    free, seen = fresh_name("free"), fresh_name("seen")
    create_topics(broker, {topic: 1, free: 1, seen: 1})
    for name in (hidden, left, ours):
        consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": name})
        consumer.commit(offsets=[TopicPartition(label, 0, 0) for label in (topic, seen)], asynchronous=False)
        consumer.close()
    for name in (group, left):
        secure.allow("worker", "group", name, "describe")
    secure.allow("worker", "group", ours, "describe", "read", "delete")
    secure.allow("worker", "topic", free, "describe", "read")
    secure.allow("worker", "topic", seen, "describe")
    for name, password in (("worker", PASSWORDS["worker"]), ("wrong", "wrong")):
        escaped = password.replace("\\", "\\\\").replace('"', '\\"').replace("\\", "\\\\")
        (files / f"{name}.properties").write_text(PROPERTIES.format(escaped, secure.files / "ca.pem"))
    members = Members(java_host, kafka_jars, files)
    try:
        member = members.confluent(broker, group, [topic], enable_auto_commit="false")
        member.wait_assignment({topic: [0]})
        yield Scene(
            names={
                "reading": group, "left": left, "hidden": hidden, "ours": ours,
                "free": free, "seen": seen, "topic": topic, "at": secure.at("SASL_SSL"),
                "worker": str(files / "worker.properties"), "wrong": str(files / "wrong.properties"),
                "partial": _table_without_ends(group, topic, member.member_id(), member.name),
            }
        )  # fmt: skip
    finally:
        members.end()
        secure.forbid_all("worker")


def _table_without_ends(group: str, topic: str, consumer: str, client: str) -> str:
    blanks = " " * (len(consumer) - len("CONSUMER-ID"))
    return (
        "\nGROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             "
        f"CONSUMER-ID{blanks} HOST            CLIENT-ID\n"
        f"{group:15} {topic:15} 0          -               -               -               {consumer}"
        f" /127.0.0.1      {client}\n\n"
        f"Error: The log end offsets of {topic}-0 are not known: "
        "org.apache.kafka.common.errors.TopicAuthorizationException: Topic authorization failed.\n"
    )


@pytest.mark.kafka
@pytest.mark.parametrize("case", CASES, ids=str)
def test_both_tools_say_the_same(case: Case, stage: Stage, scene: Scene) -> None:
    stage.check(case, scene)
