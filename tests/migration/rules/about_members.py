"""Plans for the rules about the members: libraries, frameworks, permissions, regexes and
configuration files."""

from dataclasses import replace

from groups.model import Subscription
from migration.access import Access, ResourceKind
from migration.frameworks import FRAMEWORKS
from migration.model import Plan
from tests.groups.streams_groups import application, thread
from tests.migration.cases import (
    CLASSIC,
    CONSUMER,
    COOPERATIVE,
    EAGER,
    EMPTY,
    GROUP,
    NEWER,
    config_of,
    group_of,
    member,
    plan,
)
from tests.migration.rules.groups import (
    ARRIVED,
    BRIDGED,
    COPIES,
    IDLE,
    JAVA,
    JAVAS,
    KEEPING,
    LIBRARIES,
    LIBRDKAFKA,
    MAY_READ,
    OLD_THREAD,
    OVERRIDE,
    PARTLY_COPIED,
    POLL,
    RDKAFKAS,
    READER,
    RESET,
    SINK,
    STICKY,
    STRATEGY,
    STREAMS,
    TIMEOUTS,
    TOPIC,
    TWINS,
    UUID,
    WITH_RDKAFKA,
    access,
    by_topics,
    changed,
    entry,
    file,
    kafka,
    regex,
    settings,
)

ABOUT_MEMBERS: dict[str, dict[str, Plan]] = {
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
"""By rule and name."""
