"""What each rule finds, and what it keeps quiet about: every finding here is recorded in findings.txt.

`KOHORT_WRITE_GOLDEN=1 pytest tests/migration/test_rules.py` writes them again; read the difference.
docs/readiness.md lists every rule, and no other.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from groups.findings import Level
from groups.model import Client, Cluster, Group, GroupState, Member, MemberProtocol, Subscription, UserData
from migration.access import Access, AccessEntry, ResourceKind
from migration.clients import clients_of, parse_clients
from migration.frameworks import FRAMEWORKS, framework_named
from migration.model import Plan
from migration.rules.assignors import OnlinePath, data_will_come, members_with_data, online_path
from migration.rules.case import Case, PlanRequest, without_members
from tests.groups.streams_groups import application, thread
from tests.migration.cases import (
    CLASSIC,
    CONSUMER,
    COOPERATIVE,
    EAGER,
    EMPTY,
    GROUP,
    MIXED,
    NEW,
    NEWER,
    blockers,
    config_of,
    group_of,
    listing,
    member,
    plan,
    policy,
    the_finding,
    upgraded,
)

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "findings.txt"
UUID = "3f0c6f9e-5a0b-4c1d-9d55-7c1f0a6b2e00"


def changed(group: Group = GROUP, **fields: object) -> Group:
    return replace(group, members=(replace(group.members[0], **fields), *group.members[1:]))  # type: ignore[arg-type]


def by_topics(*topics: tuple[str, ...]) -> Group:
    wanting = (
        replace(one, subscription=Subscription(topics=some))
        for one, some in zip(GROUP.members, topics, strict=True)
    )
    return replace(GROUP, members=tuple(wanting))


def sink_task(number: int) -> Member:
    client = f"connector-consumer-s3-{number}"
    return replace(GROUP.members[number], id=f"{client}-{UUID}", client=Client(id=client, host="/10.0.0.1"))


def writers(library: str, protocol: str, *data: bytes | None) -> Group:
    """A group of a library, with this user data in each member's assignment; None: the source does not show it."""
    members = (
        replace(
            member(f"m{n}", library, "99.0"), user_data=None if blob is None else UserData(assignment=blob)
        )
        for n, blob in enumerate(data)
    )
    return replace(GROUP, protocol=protocol, members=tuple(members))


def settings(**values: str) -> Cluster:
    """A cluster with settings, underscores in place of dots."""
    return replace(NEW, settings={name.replace("_", "."): value for name, value in values.items()})


def kafka(release: str | None) -> Cluster:
    return replace(NEW, kafka=release)


def entry(
    kind: ResourceKind, name: str, operation: str, *, allows: bool = True, is_prefix: bool = False
) -> AccessEntry:
    return AccessEntry(
        kind=kind, name=name, is_prefix=is_prefix, principal="User:a", operation=operation, allows=allows
    )


STATIC = changed(instance="seat-1")
RACKS = replace(GROUP, members=tuple(replace(m, rack=r) for m, r in zip(GROUP.members, "ba", strict=True)))
WEIGHTED = replace(GROUP, protocol="com.example.Weighted")
STICKY = replace(GROUP, protocol="cooperative-sticky")
STREAMS = replace(GROUP, protocol="stream")
OLD_THREAD = thread("o1", used=4, newest=4)
KEEPING = thread("a1", kept={"orders": (0,)})
COPIES = application(thread("a1", "0_0", "0_1"), thread("b1", "0_1", "0_0"))
PARTLY_COPIED = application(
    thread("a1", "0_0 1_0", had={"1_0": -2}, next_ms=1_700_000_000_000), thread("b1", "", "0_0")
)
LIBRARIES = replace(GROUP, members=(GROUP.members[0], member("m3", "librdkafka", "2.16.0")))
LIBRDKAFKA = group_of("librdkafka:2.16.0", "range")
BRIDGED = group_of("librdkafka:2.16.0", "cooperative-sticky")
JAVA_STICKY = group_of("java:4.1.0", "cooperative-sticky")
TWINS = replace(
    GROUP, members=tuple(replace(member(f"rdkafka-{n}"), client=Client(id="rdkafka")) for n in "ab")
)
SHARED = replace(
    GROUP,
    protocol="redundant",
    members=tuple(
        replace(one, owned={"orders": (0, 1), "bills": (n,)}) for n, one in enumerate(GROUP.members)
    ),
)
ARRIVED = replace(
    NEWER, members=tuple(replace(one, client=LIBRDKAFKA.members[0].client) for one in NEWER.members)
)
REGEXES = replace(
    NEWER,
    members=(
        replace(upgraded("m1"), subscription=Subscription(regex="ord.*")),
        upgraded("m2", MemberProtocol.CLASSIC),
    ),
)
WITH_RDKAFKA = replace(GROUP, members=(GROUP.members[0], member("rdkafka")))
PREVIEW = Cluster(kafka="3.9", features={"metadata.version": 21}, consumer_protocol=True)
SINK = replace(GROUP, id="connect-s3", members=(sink_task(0), sink_task(1)))
READER = by_topics(("orders", "refunds"), ("orders", "refunds"))
MAY_READ, TOPIC = entry(ResourceKind.GROUP, "payments", "READ"), ResourceKind.TOPIC
WRITERS = {
    "librdkafka": (writers("librdkafka", "cooperative-sticky", b"abcd", b"abcd"), OnlinePath.BRIDGE_LEADER),
    "librdkafka-fresh": (writers("librdkafka", "cooperative-sticky", b"", b""), OnlinePath.BRIDGE_LEADER),
    "librdkafka-unseen": (writers("librdkafka", "cooperative-sticky", None, None), OnlinePath.BRIDGE_LEADER),
    "librdkafka-range": (writers("librdkafka", "range", b"", b""), None),
    "java-cooperative": (writers("java", "cooperative-sticky", b"", b""), None),
    "java-custom": (writers("java", "com.example.Weighted", b"w=1", b"w=2"), None),
    "sarama": (writers("sarama", "sticky", b"abcd", b"abcd"), OnlinePath.RANGE_FIRST),
    "sarama-unseen": (writers("sarama", "sticky", None, None), OnlinePath.RANGE_FIRST),
    "sarama-without": (writers("sarama", "sticky", b"", b""), None),
    "java-sticky-unseen": (writers("java", "sticky", None, None), None),
    "java-sticky-with-data": (writers("java", "sticky", b"abcd"), None),
    "no-member": (EMPTY, None),
}
JAVA = "org.apache.kafka.clients.consumer."
STRATEGY, IDLE, POLL, RESET = (
    "partition.assignment.strategy", "connections.max.idle.ms", "max.poll.interval.ms", "auto.offset.reset",
)  # fmt: skip
JAVAS, RDKAFKAS = {"key.deserializer": "x"}, {"enable.partition.eof": "x"}
TIMEOUTS = {**JAVAS, "session.timeout.ms": "50000", "heartbeat.interval.ms": "6000"}
OVERRIDE = "connector.client.config.override.policy"


def file(
    text: Mapping[str, str],
    to: object = CONSUMER,
    client: str = "java:4.1",
    group: Group = GROUP,
    cluster: Cluster = NEW,
) -> Plan:
    """The plan with a configuration file of the members."""
    return plan(group, to, client, cluster=cluster, configs=[config_of(text)])  # type: ignore[arg-type]


def access(*entries: AccessEntry) -> Plan:
    return plan(READER, CONSUMER, access=Access(entries=entries))


def regex(
    library: str, *patterns: str, topics: tuple[str, ...] = ("orders", "orders-eu", "payments")
) -> Plan:
    return plan(GROUP, CONSUMER, f"{library}:99", topics=topics, regexes=patterns)


CASES: dict[str, dict[str, Plan]] = {
    "static-member": {
        "to consumer": plan(STATIC, CONSUMER),
        "to cooperative": plan(STATIC, COOPERATIVE),
        "a shorter session": plan(STATIC, CONSUMER, cluster=settings(group_consumer_session_timeout_ms="30000")),
        "back": plan(changed(NEWER, instance="seat-1"), CLASSIC),
        "all of librdkafka": plan(changed(LIBRDKAFKA, instance="m1"), CONSUMER),
        "librdkafka to cooperative": plan(changed(LIBRDKAFKA, instance="m1"), COOPERATIVE),
        "in a file": file({**JAVAS, "group.instance.id": "seat"}, group=EMPTY),
    },
    "rack-awareness": {
        "to consumer": plan(RACKS, CONSUMER),
        "to cooperative": plan(RACKS, COOPERATIVE),
        "in a file": file({"client.rack": "a"}),
    },
    "assignment-user-data": {
        **{name: plan(group, CONSUMER) for name, (group, _) in WRITERS.items() if group.members},
        "to cooperative": plan(WRITERS["java-custom"][0], COOPERATIVE),
        "offline": plan(WRITERS["java-custom"][0], CONSUMER, offline=True),
        "of subscriptions": plan(changed(user_data=UserData(subscription=b"w=3")), CONSUMER),
        "the only member": plan(writers("librdkafka", "cooperative-sticky", b"abcd"), CONSUMER),
    },
    "user-data-to-come": {
        **{name: plan(group, CONSUMER) for name, (group, _) in WRITERS.items() if group.members},
        "to cooperative": plan(WRITERS["librdkafka-fresh"][0], COOPERATIVE),
    },
    "malformed-metadata": {
        "one member": plan(changed(unreadable="the topics: 3 bytes are missing"), CONSUMER),
    },
    "custom-assignor": {
        "in use": plan(WEIGHTED, CONSUMER),
        "Kafka's own": plan(GROUP, CONSUMER),
        "in a file": file({STRATEGY: "com.example.Own", **JAVAS}),
    },
    "assignor-successor": {
        "unknown offer": plan(GROUP, CONSUMER),
        "not offered": plan(GROUP, CONSUMER, cluster=settings(group_consumer_assignors="uniform")),
        "offered": plan(GROUP, CONSUMER, cluster=settings(group_consumer_assignors="uniform,range")),
        "by its class": plan(
            GROUP,
            CONSUMER,
            cluster=settings(group_consumer_assignors="org.apache.kafka.coordinator.group.assignor.RangeAssignor"),
        ),
    },
    "assignor-lists": {
        "java": plan(JAVA_STICKY, COOPERATIVE),
        "known": plan(listing(JAVA_STICKY, "cooperative-sticky"), COOPERATIVE),
        "librdkafka": plan(BRIDGED, COOPERATIVE),
    },
    "shared-partitions": {
        "to consumer": plan(SHARED, CONSUMER),
        "offline": plan(SHARED, CONSUMER, offline=True),
        "to cooperative": plan(SHARED, COOPERATIVE),
        "apart": plan(GROUP, CONSUMER),
    },
    "group-state": {
        "rebalancing": plan(replace(GROUP, state=GroupState.PREPARING_REBALANCE), CONSUMER),
        "stable": plan(GROUP, CONSUMER),
        "empty": plan(EMPTY, CONSUMER),
    },
    "group-version": {
        "finalized": plan(GROUP, CONSUMER, cluster=Cluster(features={"group.version": 1})),
        "at 0": plan(GROUP, CONSUMER, cluster=Cluster(features={"group.version": 0})),
        "missing": plan(GROUP, CONSUMER, cluster=Cluster(features={"metadata.version": 25})),
        "unknown": plan(GROUP, CONSUMER, cluster=Cluster()),
        "to cooperative": plan(GROUP, COOPERATIVE, cluster=Cluster()),
        "a preview": plan(GROUP, CONSUMER, cluster=PREVIEW),
        "no protocol at all": plan(GROUP, CONSUMER, cluster=Cluster(consumer_protocol=False)),
    },
    "broker-version": {
        "without the protocol": plan(GROUP, CONSUMER, cluster=Cluster(consumer_protocol=False)),
        "with it": plan(GROUP, CONSUMER, cluster=replace(NEW, consumer_protocol=True)),
        "0.8.2": plan(GROUP, COOPERATIVE, cluster=kafka("0.8.2")),
        "0.9.0.1": plan(GROUP, COOPERATIVE, cluster=kafka("0.9.0.1")),
    },
    "fenced-members": {
        **{
            str(release): plan(GROUP, CONSUMER, cluster=kafka(release))
            for release in ("4.0", "4.2-IV1", "4.3", "4.10", None)
        },
        "to cooperative": plan(GROUP, COOPERATIVE, cluster=kafka("4.0")),
    },
    "regex-rollback": {
        **{str(release): plan(REGEXES, CLASSIC, cluster=kafka(release)) for release in ("4.0", None, "4.1")},
        "to consumer": plan(REGEXES, CONSUMER, cluster=kafka("4.0")),
    },
    "stale-commits": {
        **{
            str(release): plan(GROUP, CONSUMER, cluster=kafka(release))
            for release in ("4.0", "4.2.1", "4.3", "4.3.1", "4.10", "4.5 or later", "4.1 or later", None, "trunk")
        },
        "to cooperative": plan(GROUP, COOPERATIVE, cluster=kafka("4.0")),
        "all are there": plan(NEWER, CONSUMER, cluster=kafka("4.0")),
    },
    "migration-policy": {
        **{
            f"{name} to {to.value}, {value}": plan(group, to, "java:4.1", cluster=policy(NEW, value))
            for name, group, to, values in (
                ("classic", GROUP, CONSUMER, ("disabled", "DISABLED", "downgrade", "upgrade", "bidirectional")),
                ("consumer", NEWER, CLASSIC, ("disabled", "upgrade", "downgrade", "bidirectional")),
                ("empty", EMPTY, CONSUMER, ("disabled",)),
                ("mixed", MIXED, CONSUMER, ("disabled",)),
                ("mixed", MIXED, CLASSIC, ("upgrade",)),
                ("classic", GROUP, COOPERATIVE, ("disabled",)),
            )
            for value in values
        },
        "offline": plan(GROUP, CONSUMER, cluster=policy(NEW, "disabled"), offline=True),
    },
    "group-size": {
        f"{name} to {to.value}, {key.replace('_', '.')}={most}": plan(group, to, cluster=settings(**{key: most}))
        for name, group, to, key, sizes in (
            ("2 classic members", GROUP, CONSUMER, "group_consumer_max_size", "123"),
            ("3 with a bridge", BRIDGED, CONSUMER, "group_consumer_max_size", "34"),
            ("2 classic members", GROUP, CONSUMER, "group_max_size", "1"),
            ("2 classic members", GROUP, COOPERATIVE, "group_consumer_max_size", "1"),
            ("2 mixed members", MIXED, CONSUMER, "group_consumer_max_size", "12"),
            ("2 consumer members", NEWER, CLASSIC, "group_max_size", "12"),
            ("2 consumer members", NEWER, CLASSIC, "group_consumer_max_size", "1"),
        )
        for most in sizes
    },
    "broker-settings": {
        "unknown": plan(GROUP, CONSUMER),
        "forbidden": plan(GROUP, CONSUMER, cluster=replace(NEW, settings_problem="broker 1: forbidden")),
        "of one broker": plan(
            GROUP, CONSUMER, cluster=replace(policy(NEW, "bidirectional"), settings_problem="broker 2: no answer")
        ),
        "without the policy": plan(GROUP, CONSUMER, cluster=settings(group_consumer_max_size="9")),
        "different": plan(
            GROUP,
            CONSUMER,
            cluster=replace(
                NEW, settings={}, settings_differ={"group.consumer.migration.policy": ("bidirectional", "disabled")}
            ),
        ),
        "to cooperative": plan(GROUP, COOPERATIVE),
        "empty": plan(EMPTY, CONSUMER, "java:4.1"),
    },
    "rebalance-protocols": {
        "classic alone": plan(GROUP, CONSUMER, cluster=settings(group_coordinator_rebalance_protocols="classic")),
        "all": plan(
            GROUP, CONSUMER, cluster=settings(group_coordinator_rebalance_protocols="classic,consumer,streams")
        ),
        **{
            f"of {release}": plan(
                GROUP,
                CONSUMER,
                cluster=replace(settings(group_coordinator_rebalance_protocols="classic"), kafka=release),
            )
            for release in ("4.2", None)
        },
    },
    "client-library": {
        "unknown": plan(replace(GROUP, members=(member("m9"),)), CONSUMER),
        "inferred": plan(SINK, CONSUMER),
        "declared": plan(SINK, CONSUMER, "connect:4.4.0"),
    },
    "client-contradiction": {
        "of one member": plan(WITH_RDKAFKA, CONSUMER, "java:4.1"),
        "declared alone": plan(
            WITH_RDKAFKA, CONSUMER, "java:4.1", "rdkafka=librdkafka:2.16"
        ),
        "a binding": plan(replace(GROUP, members=(member(f"rdkafka-{UUID}"),)), CONSUMER, "node-rdkafka:3.6.1"),
        "none declared": plan(WITH_RDKAFKA, CONSUMER),
    },
    "client-support": {
        **{
            f"{client} to {to.value}": plan(GROUP, to, client)
            for to, clients in (
                (
                    COOPERATIVE,
                    "java:2.3 java:2.4 java:2 librdkafka:1.5 librdkafka:1.6.0 librdkafka:2.6.0 librdkafka:2.6.1 "
                    "librdkafka:2.10.0 librdkafka:2.10.1 franz-go:1.16.9 aiokafka sarama:1.45 "
                    "confluent-kafka-javascript:1.3.0",
                ),
                (
                    CONSUMER,
                    "java java:2 java:3.9 java:4 java:4.0.0 java:4.3.1 java:4.4.0 librdkafka:2 librdkafka:2.11.1 "
                    "librdkafka:2.12 librdkafka:2.12.0 librdkafka:2.15.0 franz-go:1.19.0 "
                    "kafka-python:3.0.0 kafkajs:2.2 node-rdkafka:3.5.0 node-rdkafka:3.6.1 "
                    "confluent-kafka-javascript:1.10.1 php-rdkafka:6.0.5",
                ),
                (EAGER, "sarama:1.45"),
                (CLASSIC, "kafkajs:2.2"),
            )
            for client in clients.split()
        },
        "connect:3.1": plan(SINK, COOPERATIVE, "connect:3.1"),
        "connect:3.2": plan(SINK, COOPERATIVE, "connect:3.2"),
        "kafka-connect:3.9": plan(SINK, CONSUMER, "kafka-connect:3.9"),
        "members of one name": plan(TWINS, CONSUMER, "java"),
        "one of them": plan(TWINS, CONSUMER, "java:4.4", "rdkafka-a=java"),
    },
    "lost-partitions": {
        "to cooperative": plan(group_of("librdkafka:2.15.0", "range"), COOPERATIVE),
        "to eager": plan(group_of("librdkafka:2.15.0", "cooperative-sticky"), EAGER),
        "to consumer": plan(group_of("librdkafka:2.15.0", "range"), CONSUMER),
        "of java": plan(GROUP, COOPERATIVE),
    },
    "mixed-libraries": {
        "unknown leader": plan(LIBRARIES, CONSUMER),
        "librdkafka leads": plan(replace(LIBRARIES, leader="m3"), CONSUMER),
        "java leads": plan(replace(LIBRARIES, leader="m1"), CONSUMER),
        "one library": plan(GROUP, CONSUMER),
    },
    "rebalance-listener": {
        "java to cooperative": plan(GROUP, COOPERATIVE),
        "java to consumer": plan(GROUP, CONSUMER),
        "incremental already": plan(STICKY, CONSUMER),
        "librdkafka to consumer": plan(replace(LIBRDKAFKA, protocol="roundrobin"), CONSUMER),
        "both to cooperative": plan(LIBRARIES, COOPERATIVE),
        "librdkafka to eager": plan(BRIDGED, EAGER),
        "connect to cooperative": plan(SINK, COOPERATIVE, "connect:4.4.0"),
        **{
            f"{name} to {to.value}": plan(STICKY if to is EAGER else GROUP, to, "java:4.4.0", frameworks=[name])
            for name in FRAMEWORKS
            for to in (COOPERATIVE, CONSUMER, EAGER)
        },
    },
    "client-opt-in": {
        "franz-go to consumer": plan(group_of("franz-go:1.21.5", "range"), CONSUMER),
        "franz-go to cooperative": plan(group_of("franz-go:1.21.5", "range"), COOPERATIVE),
        "java": plan(GROUP, CONSUMER),
    },
    "streams": {
        **{
            f"to consumer on {release}": plan(STREAMS, CONSUMER, cluster=kafka(release))
            for release in ("4.2.0", "4.2", "4.2-IV1", "4.2.1", "4.3", "4.20", None)
        },
        "3.9 to cooperative": plan(STREAMS, COOPERATIVE, "java:3.9.1"),
        "2.3 to cooperative": plan(STREAMS, COOPERATIVE, "java:2.3.1"),
        "3.9 to eager": plan(STREAMS, EAGER, "java:3.9.1"),
        "unknown to eager": plan(STREAMS, EAGER, "java"),
        "release by data": plan(application(OLD_THREAD), COOPERATIVE),
        "protocol by data": plan(application(KEEPING, thread("b1", used=2), OLD_THREAD), COOPERATIVE, "java:3.9.1"),
        "release by data, protocol not shown": plan(application(thread("a1"), thread("b1")), COOPERATIVE),
        "not known by data": plan(application(thread("a1"), thread("b1", used=2)), COOPERATIVE),
    },
    "streams-error": {
        "shutdown": plan(application(thread("a1", error=4), thread("b1", error=4)), COOPERATIVE, "java:3.9.1"),
        "none": plan(application(thread("a1")), COOPERATIVE, "java:3.9.1"),
    },
    "streams-versions": {
        "mixed": plan(application(OLD_THREAD, thread("b1", used=4)), COOPERATIVE),
        "probing": plan(application(thread("a1", used=4), thread("b1")), COOPERATIVE, "java:3.9.1"),
        "one": plan(application(thread("a1"), thread("b1")), COOPERATIVE),
    },
    "streams-standby": {
        "copies": plan(COPIES, COOPERATIVE, "java:3.9.1"),
        "one without": plan(PARTLY_COPIED, COOPERATIVE, "java:3.9.1"),
        "no state": plan(application(thread("a1", "0_0")), COOPERATIVE, "java:3.9.1"),
    },
    "streams-queries": {
        "to cooperative": plan(STREAMS, COOPERATIVE, "java:3.9.1"),
        "to eager": plan(STREAMS, EAGER, "java:3.9.1"),
    },
    "protocol-type": {
        "connect": plan(replace(GROUP, protocol_type="connect", protocol="eager"), CONSUMER),
        "offsets only": plan(replace(EMPTY, protocol_type=""), CONSUMER),
    },
    "tool": {
        f"{group}, {kind}": plan(replace(GROUP, id=group, protocol_type=kind), CONSUMER)
        for group, kind in (
            ("_confluent-ksql-default_query_CSAS_ORDERS_0", "consumer"),
            ("spark-kafka-source-0f2a-1-driver-0", "consumer"),
            ("spark-kafka-relation-0f2a-1-executor", None),
            ("primary-mm2", "connect"),
            ("primary-mm2", "consumer"),
            ("payments", "consumer"),
        )
    },
    "connect-override": {
        **{
            str(value): plan(
                SINK,
                CONSUMER,
                configs=[config_of({"config.storage.topic": "c", **({OVERRIDE: value} if value else {})})],
            )
            for value in (
                None,
                "All",
                "Allowlist",
                "None",
                "Principal",
                "org.apache.kafka.connect.connector.policy.NoneConnectorClientConfigOverridePolicy",
                "com.example.Ours",
            )
        },
        "no connector": plan(GROUP, CONSUMER),
    },
    "shared-group": {
        "different topics": plan(by_topics(("orders",), ("orders", "refunds")), CONSUMER),
        "the same": plan(by_topics(("orders",), ("orders",)), CONSUMER),
    },
    "acl": {
        "not requested": plan(READER, CONSUMER),
        "to cooperative": plan(READER, COOPERATIVE),
        "forbidden": plan(READER, CONSUMER, access=Access(problem="CLUSTER_AUTHORIZATION_FAILED")),
        "no authorizer": plan(READER, CONSUMER, access=Access(is_open=True)),
        "no entry": access(),
        "one is missing": access(MAY_READ, entry(TOPIC, "orders", "READ")),
        "both": access(MAY_READ, entry(TOPIC, "orders", "READ"), entry(TOPIC, "refunds", "DESCRIBE")),
        "prefixes": access(MAY_READ, *(entry(TOPIC, name, "WRITE", is_prefix=True) for name in ("ord", "re"))),
        "everything": access(entry(ResourceKind.GROUP, "*", "ALL"), entry(TOPIC, "*", "READ")),
        "a denial beats it": access(
            MAY_READ, entry(TOPIC, "*", "READ"), entry(TOPIC, "orders", "DESCRIBE", allows=False)
        ),
        "a literal is no prefix": access(MAY_READ, entry(TOPIC, "ord", "ALL")),
        "of another group": access(entry(ResourceKind.GROUP, "payments2", "READ")),
        "a principal with spaces": access(replace(MAY_READ, principal="User:CN=a b,O=c")),
    },
    "shutdown-grace": {
        "librdkafka": plan(LIBRDKAFKA, CONSUMER),
        "a longer session": plan(LIBRDKAFKA, CONSUMER, cluster=settings(group_consumer_session_timeout_ms="60000")),
        "a shorter session": plan(LIBRDKAFKA, CONSUMER, cluster=settings(group_consumer_session_timeout_ms="6000")),
        "one of two": plan(LIBRARIES, CONSUMER),
        "java": plan(GROUP, CONSUMER),
        "to cooperative": plan(LIBRDKAFKA, COOPERATIVE),
        "all are there": plan(ARRIVED, CONSUMER),
    },
    **{
        rule: {
            "librdkafka": plan(LIBRDKAFKA, CONSUMER),
            "no member": plan(EMPTY, CONSUMER, "librdkafka:2.16.0"),
            "java": plan(GROUP, CONSUMER),
            "to cooperative": plan(LIBRDKAFKA, COOPERATIVE),
        }
        for rule in ("fetch-without-coordinator", "missing-topics", "renamed-metrics", "old-tools")
    },
    "classic-deprecated": {
        "java": plan(NEWER, CLASSIC),
        "connect": plan(NEWER, CLASSIC, "connect"),
        "librdkafka": plan(NEWER, CLASSIC, "librdkafka:2.16.0"),
        "to consumer": plan(GROUP, CONSUMER),
    },
    "regex-refused": {
        "look-ahead of librdkafka": regex("librdkafka", "^(?!x)orders.*"),
        "a literal": regex("librdkafka", "(?!x)"),
        "a member's own": plan(changed(subscription=Subscription(regex="^(?=a)b")), CONSUMER, "librdkafka:99"),
        "too much together": regex("librdkafka", *(f"^(a{{1000}}){{50}}{letter}" for letter in "xyz"), topics=()),
        "of java together": regex("java", *(f"^(a{{1000}}){{50}}{letter}" for letter in "xyz"), topics=()),
        "to cooperative": plan(GROUP, COOPERATIVE, regexes=["(?=a)"]),
    },
    "regex-topics": {
        "a prefix of librdkafka": regex("librdkafka", "^orders"),
        "without topics": regex("librdkafka", "^orders", topics=()),
        "whole names": regex("librdkafka", "^orders.*"),
        "java": regex("java", "(?i)ORDERS.*"),
        "another library": regex("franz-go", "orders.*"),
    },
    "regex-dangerous": {"librdkafka": regex("librdkafka", "^(a{1000}){101}")},
    "regex-client": {
        pattern: regex("java", pattern)
        for pattern in ("(?!x)orders.*", "orders.*", ".*", "(((a{1000}){1000}){1000})", "orders\\Z")
    },
    "regex-unknown": {
        "java": plan(GROUP, CONSUMER),
        "librdkafka": plan(GROUP, CONSUMER, "librdkafka:99"),
        "declared": plan(GROUP, CONSUMER, regexes=["a"]),
        "no member": plan(EMPTY, CONSUMER, "java:4.1"),
    },
    "client-config-leftover": {
        "to remove": file({**TIMEOUTS, STRATEGY: f"{JAVA}RangeAssignor"}),
        "that stop it": file({"group.protocol": "CONSUMER", **TIMEOUTS}),
        "one more of librdkafka": file({**RDKAFKAS, "group.protocol.type": "consumer"}, client="librdkafka:2.16"),
        "empty, of java": file({**JAVAS, "group.protocol": "consumer", "session.timeout.ms": " "}),
        "empty, of librdkafka": file(
            {**RDKAFKAS, "group.protocol": "consumer", "session.timeout.ms": ""}, client="librdkafka:2.16"
        ),
        "none": file(JAVAS),
        "to cooperative": file(TIMEOUTS, COOPERATIVE),
        "of one member": plan(GROUP, CONSUMER, configs=[config_of(TIMEOUTS, member="m2")]),
        **{
            f"back, {protocol} of {library}": plan(
                NEWER,
                CLASSIC,
                f"{library}:99",
                configs=[config_of({"group.protocol": protocol, "group.remote.assignor": "uniform"}, library)],
            )
            for protocol, library in (("consumer", "java"), ("classic", "java"), ("classic", "librdkafka"))
        },
    },
    "client-config-mixed": {
        "mixed": file({STRATEGY: "cooperative-sticky,range"}, COOPERATIVE, "librdkafka:2.16"),
        "of one kind": file({STRATEGY: "range,roundrobin"}, COOPERATIVE, "librdkafka:2.16"),
        "unknown to librdkafka": file({**RDKAFKAS, STRATEGY: "sticky"}, COOPERATIVE, "librdkafka:2.16"),
        "of java": file({STRATEGY: f"{JAVA}CooperativeStickyAssignor,{JAVA}RangeAssignor"}, COOPERATIVE),
    },
    "client-config-group": {
        "another": file({"group.id": "refunds"}),
        "a placeholder": file({"group.id": "${GROUP:refunds}"}),
        "this one": file({"group.id": "payments"}),
    },
    "client-config-library": {
        "another": file(RDKAFKAS),
        "unknown": file({"group.id": "payments"}),
        "that no member runs": plan(GROUP, CONSUMER, configs=[config_of({"group.id": "payments"}, "librdkafka")]),
    },
    "client-config-protocol": {
        "consumer too early": file({"group.protocol": "consumer"}, COOPERATIVE),
        "consumer": file({"group.protocol": "consumer"}),
        "the proposal's name": file({"group.protocol": "generic"}),
        "of librdkafka": file({"group.protocol": "Generic"}, COOPERATIVE, "librdkafka:2.16"),
        "a placeholder": file({"group.protocol": "${PROTOCOL}"}),
        "in any case": file({"group.protocol": "Classic"}, COOPERATIVE),
    },
    "client-config-local-assignors": {
        "java": file({**JAVAS, "group.local.assignors": "org.example.Mine"}),
        "librdkafka": file({**RDKAFKAS, "group.local.assignors": ""}, COOPERATIVE, "librdkafka:2.16"),
    },
    "client-config-assignor": {
        name: file({"group.remote.assignor": name}, cluster=settings(group_consumer_assignors="uniform,range"))
        for name in ("sticky", "range")
    },
    "group-timeouts": {
        "to move": file(TIMEOUTS, group=replace(GROUP, id="a b")),
        "as the brokers' are": file({**TIMEOUTS, "session.timeout.ms": "45000", "heartbeat.interval.ms": "5000"}),
        "out of bounds": file({**TIMEOUTS, "session.timeout.ms": "10000"}),
        "above the bounds": file({**TIMEOUTS, "session.timeout.ms": "100000"}),
        "out of known bounds": file(
            {"session.timeout.ms": "10000"}, cluster=settings(group_consumer_min_session_timeout_ms="45000")
        ),
        "within known bounds": file(
            {**TIMEOUTS, "session.timeout.ms": "10000"}, cluster=settings(group_consumer_min_session_timeout_ms="6000")
        ),
        "no number": file({**TIMEOUTS, "session.timeout.ms": "soon"}),
        "a command as a number": file({"session.timeout.ms": "${TIMEOUT:`id`}"}),
        "of two files": plan(
            GROUP, CONSUMER, configs=[config_of(TIMEOUTS), config_of({**TIMEOUTS, "session.timeout.ms": "60000"})]
        ),
    },
    "client-config-idle": {
        "by default": file(JAVAS, COOPERATIVE),
        "too short": file({IDLE: "180000"}, COOPERATIVE),
        "long polls": file({POLL: "600000"}, COOPERATIVE),
        "both": file({POLL: "600000", IDLE: "600000"}, COOPERATIVE),
        "never closed": file({IDLE: "-1"}, COOPERATIVE),
        "no number": file({IDLE: "${IDLE}"}, COOPERATIVE),
        "to consumer": file({IDLE: "180000"}),
        "of librdkafka": file({**RDKAFKAS, POLL: "600000"}, COOPERATIVE),
        "back": plan(NEWER, CLASSIC, configs=[config_of({IDLE: "180000"})]),
    },
    "client-config-new-partitions": {
        **{
            f"{value} to {to.value}": file({RESET: value}, to)
            for value in ("latest", "earliest", "none", "by_duration:soon", "by_duration:PT5S", "by_duration:PT6M")
            for to in (COOPERATIVE, CONSUMER)
        },
        "by default": file(JAVAS),
        "librdkafka's largest": file({**RDKAFKAS, RESET: "largest"}),
        "connect's default": file({"connector.class": "x"}),
        "connect's latest": file({"connector.class": "x", f"consumer.override.{RESET}": "latest"}),
        "older metadata": file({RESET: "by_duration:PT6M", "metadata.max.age.ms": "600000"}, COOPERATIVE),
        "too short for consumer": file({RESET: "by_duration:PT4.9S"}),
        "in capitals": file({RESET: "BY_DURATION:PT5S"}),
        "long enough for both": file({RESET: "by_duration:P1D"}),
        "back": plan(NEWER, CLASSIC, configs=[config_of({RESET: "by_duration:PT5S"})]),
        **{
            f"{duration} with long heartbeats": file(
                {RESET: f"by_duration:{duration}"}, cluster=settings(group_consumer_heartbeat_interval_ms="15000")
            )
            for duration in ("PT10S", "PT15S", "PT6M")
        },
    },
}  # fmt: skip
"""Plans by the rule whose findings are recorded."""


def recorded() -> Iterator[str]:
    for rule, plans in CASES.items():
        for name, made in plans.items():
            findings = [finding for finding in made.findings if finding.rule == rule]
            yield f"{rule}, {name}:{'' if findings else ' -'}"
            for finding in findings:
                assert finding.source
                yield f"  {finding.level.value} {finding.member or ''}: {finding.message}".replace(" :", ":")
                yield f"    {finding.remedy}"


def test_the_findings_of_every_rule_are_as_recorded() -> None:
    text = "".join(f"{line}\n" for line in recorded())
    if os.environ.get("KOHORT_WRITE_GOLDEN") == "1":
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_every_rule_is_documented() -> None:
    page = (ROOT / "docs" / "readiness.md").read_text(encoding="utf-8")
    table = page[page.index("| rule |") :]
    documented = {
        name for row in table.splitlines() for name in re.findall(r"`([a-z-]+)`", row.split("|")[1])
    }
    sources = "".join(
        file.read_text(encoding="utf-8") for file in (ROOT / "migration" / "rules").glob("*.py")
    )
    names = re.findall(r'case\.(?:blocker|warning|info|finding)(?:\(|, )[^"()]*"([a-z-]+)"', sources)
    assert documented == {*names, *re.findall(r'"(regex-[a-z]+)"', sources)}


def test_a_finding_about_many_members_is_reported_once() -> None:
    members = tuple(member(f"m{number}") for number in range(500))
    made = plan(replace(GROUP, members=members), CONSUMER, "java")
    assert len(made.findings) < 15
    finding = the_finding(made, "client-support")
    assert (finding.member, finding.members) == (None, tuple(f"m{number}" for number in range(500)))
    assert finding.message.endswith(" 500 members: m0, m1, m2 and 497 more.")
    assert (
        without_members(finding) == "java supports the consumer protocol since 4.0; the version is unknown."
    )


@pytest.mark.parametrize(("group", "way"), WRITERS.values(), ids=WRITERS.keys())
def test_the_path_around_user_data(group: Group, way: OnlinePath | None) -> None:
    request = PlanRequest(destination=CONSUMER)
    case = Case(group=group, cluster=NEW, request=request, clients=clients_of(group, parse_clients([])))
    assert online_path(case) is way
    if group is WRITERS["librdkafka-fresh"][0]:
        assert (members_with_data(case), data_will_come(case)) == ((), True)


def test_an_offline_plan_needs_no_policy() -> None:
    made = CASES["migration-policy"]["offline"]
    assert (blockers(made), made.steps[0].id) == ([], "stop-all")


def test_streams_has_no_findings_about_consumers() -> None:
    rules = {finding.rule for made in CASES["streams-queries"].values() for finding in made.findings}
    assert rules == {"streams", "streams-queries"}
    assert [finding.rule for finding in plan(STREAMS, CONSUMER).findings] == ["streams"]


def test_a_regex_of_java_neither_blocks_nor_warns() -> None:
    """subscribe(Pattern) is matched in the client under both protocols, so no topic is lost or gained."""
    for made in CASES["regex-client"].values():
        levels = [finding.level for finding in made.findings if finding.rule.startswith("regex")]
        assert (levels, bool(made.steps)) == ([Level.INFO], True)


def test_a_framework_by_any_spelling_and_no_other() -> None:
    assert framework_named(" Spring-Kafka ") is FRAMEWORKS["spring-kafka"]
    with pytest.raises(ValueError, match="unknown framework 'sping'; known: arroyo, "):
        framework_named("sping")


def test_an_assignor_that_a_library_lacks_is_refused() -> None:
    finding = the_finding(plan(NEWER, CLASSIC, "librdkafka:2.16.0", assignor="sticky"), "assignor-of-library")
    assert (finding.level, finding.members) == (Level.BLOCKER, ("m1", "m2"))
