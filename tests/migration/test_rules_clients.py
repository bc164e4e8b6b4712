"""What rules find of client libraries, their bindings and their faults."""

from __future__ import annotations

from dataclasses import replace

import pytest

from groups.findings import Level
from migration.frameworks import FRAMEWORKS, framework_named
from migration.model import Destination
from tests.migration.cases import (
    CONSUMER,
    COOPERATIVE,
    EAGER,
    GROUP,
    check_finding,
    found,
    group_of,
    member,
    plan,
    the_finding,
)

UUID = "3f0c6f9e-5a0b-4c1d-9d55-7c1f0a6b2e00"


@pytest.mark.parametrize(
    ("client", "to", "level", "message", "remedy"),
    [
        (
            "node-rdkafka:3.5.0", CONSUMER, Level.BLOCKER,
            "librdkafka supports the consumer protocol since 2.12.0, and this is 2.11.1 (bundled in node-rdkafka "
            "3.5.0).",
            "Upgrade node-rdkafka to a release with librdkafka 2.15.0 or later (none is known up to 3.6.1) first, in "
            "a separate rolling restart.",
        ),
        (
            "node-rdkafka:3.6.1", CONSUMER, Level.WARNING,
            "librdkafka 2.12.0 (bundled in node-rdkafka 3.6.1) repeats its request forever",
            "Upgrade node-rdkafka to a release with librdkafka 2.15.0 or later (none is known up to 3.6.1) first.",
        ),
        (
            "confluent-kafka-javascript:1.3.0", COOPERATIVE, Level.WARNING,
            "librdkafka 2.10.0 (bundled in confluent-kafka-javascript 1.3.0) has a bug: a commit",
            "Upgrade confluent-kafka-javascript to 1.3.2 or later (librdkafka 2.10.1 or later) first.",
        ),
        ("confluent-kafka-javascript:1.10.1", CONSUMER, None, "", ""),
        (
            "php-rdkafka:6.0.5", CONSUMER, Level.WARNING,
            "the librdkafka version of php-rdkafka 6.0.5 is unknown.",
            "Check that it is 2.15.0 or later, and set it with --client librdkafka:VERSION.",
        ),
        (
            "java:4.3.1", CONSUMER, Level.WARNING, "java 4.3.1 may use", "Upgrade the client to 4.4.0 or later first.",
        ),
        (
            "java:3.9.1", CONSUMER, Level.BLOCKER, "java supports the consumer protocol since 4.0, and this is 3.9.1.",
            "Upgrade the client to 4.4.0 or later first, in a separate rolling restart.",
        ),
    ],
)  # fmt: skip
def test_the_version_that_counts_is_the_librarys(
    client: str, to: Destination, level: Level | None, message: str, remedy: str
) -> None:
    made = plan(GROUP, to, client)
    check_finding(made, "client-support", level, message)
    if level is not None:
        assert the_finding(made, "client-support").remedy == remedy


def test_a_binding_is_no_contradiction_of_what_shows() -> None:
    shown = replace(GROUP, members=(member(f"rdkafka-{UUID}"),))
    assert found(plan(shown, CONSUMER, "node-rdkafka:3.6.1"), "client-contradiction") is None
    assert found(plan(shown, CONSUMER, "java"), "client-contradiction") is not None


@pytest.mark.parametrize(
    ("client", "to", "level"),
    [
        ("librdkafka:2.15.0", COOPERATIVE, Level.INFO),
        ("librdkafka:2.15.0", EAGER, Level.INFO),
        ("librdkafka:2.15.0", CONSUMER, None),
        ("java:4.4.0", COOPERATIVE, None),
    ],
)
def test_librdkafka_may_commit_what_it_lost(client: str, to: Destination, level: Level | None) -> None:
    protocol = "cooperative-sticky" if to is EAGER else "range"
    check_finding(plan(group_of(client, protocol), to), "lost-partitions", level, "max.poll.interval.ms")


@pytest.mark.parametrize(
    ("client", "to", "static", "said"),
    [
        ("librdkafka:2.16.0", CONSUMER, True, True),
        ("librdkafka:2.16.0", CONSUMER, False, False),
        ("librdkafka:2.16.0", COOPERATIVE, True, False),
        ("java:4.4.0", CONSUMER, True, False),
    ],
)
def test_a_static_librdkafka_member_loses_its_partitions(
    client: str, to: Destination, static: bool, said: bool
) -> None:
    group = group_of(client, "range")
    if static:
        group = replace(group, members=tuple(replace(one, instance=one.id) for one in group.members))
    messages = [each.message for each in plan(group, to).findings if each.rule == "static-member"]
    assert any("releases the partitions of a static member" in message for message in messages) is said


REPORTED = [
    ("parallel-consumer", COOPERATIVE, Level.WARNING, "RebalanceInProgressException"),
    ("parallel-consumer", CONSUMER, Level.INFO, "no problems with a migration"),
    ("kafkaflow", EAGER, Level.WARNING, "deadlocks"),
    ("brighter", COOPERATIVE, Level.WARNING, "CooperativeSticky"),
    ("brighter", CONSUMER, Level.INFO, "KafkaSubscription.GroupProtocol"),
    ("decaton", CONSUMER, Level.WARNING, "have not confirmed"),
    ("reactor-kafka", COOPERATIVE, Level.WARNING, "pull 315"),
    ("spring-kafka", CONSUMER, Level.INFO, "since 4.0"),
    ("cap", CONSUMER, Level.WARNING, "assign()"),
    ("arroyo", COOPERATIVE, Level.BLOCKER, "cooperative-sticky"),
    ("wolverine", CONSUMER, Level.INFO, "conflicting settings"),
]


@pytest.mark.parametrize(("framework", "to", "level", "said"), REPORTED)
def test_what_is_known_of_a_framework(framework: str, to: Destination, level: Level, said: str) -> None:
    group = replace(GROUP, protocol="cooperative-sticky") if to is EAGER else GROUP
    made = plan(group, to, "java:4.4.0", frameworks=[framework])
    (finding,) = [
        each for each in made.findings if said in each.message and each.rule == "rebalance-listener"
    ]
    assert finding.level is level
    assert finding.remedy
    assert finding.source


def test_every_framework_is_tried_above() -> None:
    assert {name for name, *_ in REPORTED} == set(FRAMEWORKS)


def test_a_framework_by_any_spelling_and_no_other() -> None:
    assert framework_named(" Spring-Kafka ") is FRAMEWORKS["spring-kafka"]
    with pytest.raises(ValueError, match="unknown framework 'sping'; known: arroyo, "):
        framework_named("sping")


def test_franz_go_is_asked_in_its_code() -> None:
    made = plan(group_of("franz-go:1.21.5", "range"), CONSUMER)
    check_finding(made, "client-opt-in", Level.INFO, "a context value in the code")
    assert any("opt_in_kafka_next_gen_balancer_beta" in line for line in made.steps[0].config)
    assert found(plan(group_of("franz-go:1.21.5", "range"), COOPERATIVE), "client-opt-in") is None
    assert found(plan(group_of("java:4.4.0", "range"), CONSUMER), "client-opt-in") is None


@pytest.mark.parametrize(
    ("group", "protocol_type", "said"),
    [
        ("_confluent-ksql-default_query_CSAS_ORDERS_0", "consumer", "ksqlDB"),
        ("spark-kafka-source-0f2a-1-driver-0", "consumer", "Spark"),
        ("spark-kafka-relation-0f2a-1-executor", None, "Spark"),
        ("primary-mm2", "connect", "MirrorMaker 2"),
        ("primary-mm2", "consumer", None),
        ("payments", "consumer", None),
    ],
)
def test_groups_of_known_programs(group: str, protocol_type: str | None, said: str | None) -> None:
    finding = found(plan(replace(GROUP, id=group, protocol_type=protocol_type), CONSUMER), "tool")
    assert (finding is None) is (said is None)
    if finding is not None:
        assert finding.level is Level.INFO
        assert f"looks like a group of {said} (inferred from the group id)" in finding.message


def test_a_group_of_offsets_only_may_be_flinks() -> None:
    offsets = replace(GROUP, protocol_type="", protocol="", members=())
    assert "Flink" in the_finding(plan(offsets, CONSUMER), "protocol-type").remedy
