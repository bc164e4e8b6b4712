"""Configuration files of clients: what is read of them, and what they say against a step."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from confluent_kafka import Consumer, KafkaException
from hypothesis import given
from hypothesis import strategies as st

from groups.findings import Level
from migration.client_config import KEPT, ClientConfig, kafka_key, kept, library_by_keys
from migration.model import Destination
from tests.kafka.broker import Broker
from tests.kafka.members import Members, fresh_name
from tests.kafka.topics import fresh_topic
from tests.migration.cases import (
    CLASSIC,
    CONSUMER,
    COOPERATIVE,
    EMPTY,
    GROUP,
    NEW,
    NEWER,
    blockers,
    check_finding,
    found,
    member,
    plan,
    the_finding,
)

JAVA = "org.apache.kafka.clients.consumer."
STRATEGY = "partition.assignment.strategy"


def _config(text: Mapping[str, str], library: str | None = None, member: str | None = None) -> ClientConfig:
    entries = [(key, value, line) for line, (key, value) in enumerate(text.items(), 1)]
    inferred, known_by = library_by_keys(entries)
    return ClientConfig(
        name="app.properties",
        settings=tuple(kept(entries)),
        library=library or inferred,
        known_by=known_by,
        member=member,
        is_for_library=library is not None,
    )


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("session.timeout.ms", "session.timeout.ms"),
        ("consumer.session.timeout.ms", "session.timeout.ms"),
        ("spring.kafka.consumer.properties.session.timeout.ms", "session.timeout.ms"),
        ("spring.kafka.consumer.group-id", "group.id"),
        ("spring.kafka.consumer.heartbeat-interval", "heartbeat.interval.ms"),
        ("spring.kafka.consumer.properties.[session.timeout.ms]", "session.timeout.ms"),
        ("spring.kafka.consumer.properties[group.protocol]", "group.protocol"),
        ("session_timeout_ms", "session.timeout.ms"),
        ("group.protocol.type", "group.protocol.type"),
        ("my.own.setting", None),
        ("zookeeper.session.timeout.ms", None),
        ("spring.kafka.producer.client-id", None),
        ("", None),
    ],
)
def test_kafkas_name_of_a_key(written: str, key: str | None) -> None:
    assert kafka_key(written) == key


@pytest.mark.parametrize(
    ("entries", "library"),
    [
        ({"key.deserializer": "x"}, "java"),
        ({"enable.partition.eof": "true"}, "librdkafka"),
        ({STRATEGY: f"{JAVA}RangeAssignor"}, "java"),
        ({STRATEGY: "cooperative-sticky"}, "librdkafka"),
        ({STRATEGY: "com.example.Own"}, None),
        ({"debug": "true", "logging.debug": "true"}, None),
        ({"spring.kafka.consumer.key-deserializer": "x"}, "java"),
        ({"group.id": "a", "bootstrap.servers": "b"}, None),
        ({"key.deserializer": "x", "enable.partition.eof": "true"}, None),
        ({}, None),
    ],
)
def test_the_library_shows_in_the_keys(entries: Mapping[str, str], library: str | None) -> None:
    assert _config(entries).library == library


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=20)))
def test_only_what_rules_look_at_is_kept(entries: dict[str, str]) -> None:
    secret = {
        **entries,
        "sasl.password": "hunter2",
        "sasl.jaas.config": "hunter2",
        "ssl.key.password": "hunter2",
    }
    config = _config(secret)
    assert {each.key for each in config.settings} <= KEPT
    assert "hunter2" not in repr(config)


def test_the_last_of_a_repeated_key_counts() -> None:
    (only,) = kept([("group.id", "a", 1), ("consumer.group.id", "b", 2)])
    assert (only.value, only.line, only.place) == ("b", 2, "consumer.group.id (line 2)")


TIMEOUTS = {"key.deserializer": "x", "session.timeout.ms": "50000", "heartbeat.interval.ms": "6000"}
TABLE: Mapping[str, tuple[Mapping[str, str], str, Destination, str, Level | None, str]] = {
    "leftovers-to-remove": (
        {**TIMEOUTS, STRATEGY: f"{JAVA}RangeAssignor"}, "java:4.1", CONSUMER, "client-config-leftover", Level.WARNING,
        "session.timeout.ms (line 2), heartbeat.interval.ms (line 3), partition.assignment.strategy (line 4)",
    ),
    "leftovers-that-stop-it": (
        {"group.protocol": "CONSUMER", **TIMEOUTS}, "java:4.1", CONSUMER, "client-config-leftover", Level.BLOCKER,
        "It contains both now.",
    ),
    "librdkafka-has-one-more": (
        {"enable.partition.eof": "x", "group.protocol.type": "consumer"}, "librdkafka:2.16", CONSUMER,
        "client-config-leftover", Level.WARNING, "group.protocol.type (line 2)",
    ),
    "java-does-not-mind-empty-ones": (
        {"key.deserializer": "x", "group.protocol": "consumer", "session.timeout.ms": " "}, "java:4.1", CONSUMER,
        "client-config-leftover", None, "",
    ),
    "librdkafka-minds-empty-ones": (
        {"enable.partition.eof": "x", "group.protocol": "consumer", "session.timeout.ms": ""}, "librdkafka:2.16",
        CONSUMER, "client-config-leftover", Level.BLOCKER, "session.timeout.ms (line 3)",
    ),
    "nothing-left": ({"key.deserializer": "x"}, "java:4.1", CONSUMER, "client-config-leftover", None, ""),
    "classic-keeps-its-timeouts": (TIMEOUTS, "java:4.1", COOPERATIVE, "client-config-leftover", None, ""),
    "mixed-list": (
        {STRATEGY: "cooperative-sticky,range"}, "librdkafka:2.16", COOPERATIVE, "client-config-mixed", Level.BLOCKER,
        "must have the same protocol type",
    ),
    "a-list-of-one-kind": (
        {STRATEGY: "range,roundrobin"}, "librdkafka:2.16", COOPERATIVE, "client-config-mixed", None, "",
    ),
    "an-assignor-that-librdkafka-lacks": (
        {"enable.partition.eof": "x", STRATEGY: "sticky"}, "librdkafka:2.16", COOPERATIVE, "client-config-mixed",
        Level.BLOCKER, "Unsupported",
    ),
    "java-may-mix": (
        {STRATEGY: f"{JAVA}CooperativeStickyAssignor,{JAVA}RangeAssignor"}, "java:4.1", COOPERATIVE,
        "client-config-mixed", None, "",
    ),
    "custom": (
        {STRATEGY: "com.example.Own", "key.deserializer": "x"}, "java:4.1", CONSUMER, "custom-assignor", Level.WARNING,
        "lists an assignor that is not Kafka's: com.example.Own",
    ),
    "another-group": (
        {"group.id": "refunds"}, "java:4.1", CONSUMER, "client-config-group", Level.BLOCKER, "'refunds'",
    ),
    "a-group-to-be-filled-in": (
        {"group.id": "${GROUP:refunds}"}, "java:4.1", CONSUMER, "client-config-group", None, "",
    ),
    "this-group": ({"group.id": "payments"}, "java:4.1", CONSUMER, "client-config-group", None, ""),
    "another-library": (
        {"enable.partition.eof": "x"}, "java:4.1", CONSUMER, "client-config-library", Level.WARNING, "run java",
    ),
    "no-library": (
        {"group.id": "payments"}, "java:4.1", CONSUMER, "client-config-library", Level.INFO, "is unknown",
    ),
    "the-new-protocol-too-early": (
        {"group.protocol": "consumer"}, "java:4.1", COOPERATIVE, "client-config-protocol", Level.BLOCKER, "converts",
    ),
    "the-new-protocol": ({"group.protocol": "consumer"}, "java:4.1", CONSUMER, "client-config-protocol", None, ""),
    "the-name-of-the-proposal": (
        {"group.protocol": "generic"}, "java:4.1", CONSUMER, "client-config-protocol", Level.BLOCKER,
        "clients call it classic",
    ),
    "its-name-on-the-way-back": (
        {"group.protocol": "Generic"}, "librdkafka:2.16", COOPERATIVE, "client-config-protocol", Level.BLOCKER,
        "refuses to start",
    ),
    "a-protocol-to-be-filled-in": (
        {"group.protocol": "${PROTOCOL}"}, "java:4.1", CONSUMER, "client-config-protocol", None, "",
    ),
    "any-case": ({"group.protocol": "Classic"}, "java:4.1", COOPERATIVE, "client-config-protocol", None, ""),
    "a-setting-of-the-proposal": (
        {"key.deserializer": "x", "group.local.assignors": "org.example.Mine"}, "java:4.1", CONSUMER,
        "client-config-local-assignors", Level.WARNING, "group.local.assignors (line 2) exists in no release",
    ),
    "that-librdkafka-refuses": (
        {"enable.partition.eof": "x", "group.local.assignors": ""}, "librdkafka:2.16", COOPERATIVE,
        "client-config-local-assignors", Level.BLOCKER, "No such configuration property",
    ),
    "rack": ({"client.rack": "a"}, "java:4.1", CONSUMER, "rack-awareness", Level.WARNING, "(a)"),
    "timeouts-to-move": (
        TIMEOUTS, "java:4.1", CONSUMER, "group-timeouts", Level.WARNING, "session.timeout.ms 50000 (now 45000)",
    ),
    "timeouts-as-the-brokers-have-them": (
        {**TIMEOUTS, "session.timeout.ms": "45000", "heartbeat.interval.ms": "5000"}, "java:4.1", CONSUMER,
        "group-timeouts", None, "",
    ),
    "timeouts-out-of-bounds": (
        {**TIMEOUTS, "session.timeout.ms": "10000"}, "java:4.1", CONSUMER, "group-timeouts", Level.WARNING,
        "session.timeout.ms=10000 is below group.consumer.min.session.timeout.ms=45000",
    ),
    "no-timeout-at-all": (
        {**TIMEOUTS, "session.timeout.ms": "soon"}, "java:4.1", CONSUMER, "group-timeouts", Level.WARNING,
        "is not a number of milliseconds",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "client", "to", "rule", "level", "said"), TABLE.values(), ids=TABLE.keys())
def test_what_a_file_says(
    text: Mapping[str, str], client: str, to: Destination, rule: str, level: Level | None, said: str
) -> None:
    check_finding(plan(GROUP, to, client, configs=[_config(text)]), rule, level, said)


@pytest.mark.kafka
def test_what_java_makes_of_the_proposals_settings(broker: Broker, members: Members) -> None:
    """KIP-848's `generic` is refused, its `group.local.assignors` ignored."""
    topic = fresh_topic(broker, 1)
    refused = members.java(broker, fresh_name("group"), [topic], group_protocol="generic")
    assert "generic" in (refused.wait_event("error").reason or "")
    ignored = members.java(broker, fresh_name("group"), [topic], group_local_assignors="org.example.Mine")
    ignored.wait_assignment({topic: [0]})


def test_what_librdkafka_makes_of_them() -> None:
    for name, value in (("group.protocol", "generic"), ("group.local.assignors", "org.example.Mine")):
        with pytest.raises(KafkaException, match=f'configuration property[: ]+"{name}"'):
            Consumer({"bootstrap.servers": "127.0.0.1:1", "group.id": "g", name: value})


IDLE, POLL, RESET = "connections.max.idle.ms", "max.poll.interval.ms", "auto.offset.reset"
JAVAS = {"key.deserializer": "x"}
NEW_PARTITIONS = "client-config-new-partitions"
TIMES: Mapping[str, tuple[Mapping[str, str], Destination, str, Level | None, str]] = {
    "idle-by-default": (JAVAS, COOPERATIVE, "client-config-idle", None, ""),
    "idle-too-short": (
        {IDLE: "180000"}, COOPERATIVE, "client-config-idle", Level.WARNING,
        "connections.max.idle.ms (line 1) 180000 is less than max.poll.interval.ms 300000 (the default)",
    ),
    "polls-too-seldom": (
        {POLL: "600000"}, COOPERATIVE, "client-config-idle", Level.WARNING,
        "connections.max.idle.ms 540000 (the default) is less than max.poll.interval.ms (line 1) 600000",
    ),
    "both-in-step": ({POLL: "600000", IDLE: "600000"}, COOPERATIVE, "client-config-idle", None, ""),
    "never-closed": ({IDLE: "-1"}, COOPERATIVE, "client-config-idle", None, ""),
    "no-number": ({IDLE: "${IDLE}"}, COOPERATIVE, "client-config-idle", None, ""),
    "no-classic-rebalances": ({IDLE: "180000"}, CONSUMER, "client-config-idle", None, ""),
    "librdkafka-has-no-such-default": (
        {"enable.partition.eof": "x", POLL: "600000"}, COOPERATIVE, "client-config-idle", None, "",
    ),
    "latest": ({RESET: "latest"}, CONSUMER, NEW_PARTITIONS, Level.WARNING, "auto.offset.reset (line 1) is latest"),
    "latest-under-classic": (
        {RESET: "latest"}, COOPERATIVE, NEW_PARTITIONS, Level.WARNING, "up to metadata.max.age.ms 300000 (the default)",
    ),
    "latest-by-default": (JAVAS, CONSUMER, NEW_PARTITIONS, Level.INFO, "is latest (the default)"),
    "librdkafkas-latest": (
        {"enable.partition.eof": "x", RESET: "largest"}, CONSUMER, NEW_PARTITIONS, Level.WARNING, "is largest",
    ),
    "connects-default-is-earliest": ({"connector.class": "x"}, CONSUMER, NEW_PARTITIONS, None, ""),
    "connects-latest": (
        {"connector.class": "x", f"consumer.override.{RESET}": "latest"}, CONSUMER, NEW_PARTITIONS, Level.WARNING,
        "consumer.override.auto.offset.reset (line 2) is latest",
    ),
    "earliest": ({RESET: "earliest"}, COOPERATIVE, NEW_PARTITIONS, None, ""),
    "none": ({RESET: "none"}, COOPERATIVE, NEW_PARTITIONS, None, ""),
    "no-duration": ({RESET: "by_duration:soon"}, COOPERATIVE, NEW_PARTITIONS, None, ""),
    "too-short-for-classic": (
        {RESET: "by_duration:PT5S"}, COOPERATIVE, NEW_PARTITIONS, Level.WARNING, "less than it may take",
    ),
    "long-enough-for-classic": ({RESET: "by_duration:PT6M"}, COOPERATIVE, NEW_PARTITIONS, None, ""),
    "an-older-metadata": (
        {RESET: "by_duration:PT6M", "metadata.max.age.ms": "600000"}, COOPERATIVE, NEW_PARTITIONS, Level.WARNING,
        "metadata.max.age.ms (line 2) 600000",
    ),
    "too-short-for-consumer": (
        {RESET: "by_duration:PT4.9S"}, CONSUMER, NEW_PARTITIONS, Level.WARNING, "a heartbeat interval (5000 ms)",
    ),
    "too-short-for-a-rollback": (
        {RESET: "BY_DURATION:PT5S"}, CONSUMER, NEW_PARTITIONS, Level.INFO, "too short after a rollback",
    ),
    "long-enough-for-both": ({RESET: "by_duration:P1D"}, CONSUMER, NEW_PARTITIONS, None, ""),
}  # fmt: skip


@pytest.mark.parametrize(("text", "to", "rule", "level", "said"), TIMES.values(), ids=TIMES.keys())
def test_what_times_in_a_file_mean(
    text: Mapping[str, str], to: Destination, rule: str, level: Level | None, said: str
) -> None:
    check_finding(plan(GROUP, to, configs=[_config(text)]), rule, level, said)


def test_a_rollback_makes_a_duration_too_short() -> None:
    finding = the_finding(
        plan(NEWER, CLASSIC, configs=[_config({RESET: "by_duration:PT5S"})]), NEW_PARTITIONS
    )
    assert finding.level is Level.WARNING
    assert "by_duration:PT6M" in finding.remedy
    check_finding(
        plan(NEWER, CLASSIC, configs=[_config({IDLE: "180000"})]), "client-config-idle", Level.WARNING
    )


def test_what_a_duration_has_to_cover_is_the_groups_heartbeat() -> None:
    cluster = replace(NEW, settings={"group.consumer.heartbeat.interval.ms": "15000"})
    for duration, level in (("PT10S", Level.WARNING), ("PT15S", Level.INFO), ("PT6M", None)):
        made = plan(GROUP, CONSUMER, cluster=cluster, configs=[_config({RESET: f"by_duration:{duration}"})])
        check_finding(made, NEW_PARTITIONS, level)


def test_what_is_said_of_the_file_of_a_member_names_it() -> None:
    for owner, member_named in (("m2", "m2"), (None, None)):
        finding = found(
            plan(GROUP, CONSUMER, configs=[_config(TIMEOUTS, member=owner)]), "client-config-leftover"
        )
        assert finding is not None
        assert (finding.member, finding.members) == (member_named, ())


def test_the_command_that_moves_the_timeouts() -> None:
    odd = replace(GROUP, id="a b")
    finding = the_finding(plan(odd, CONSUMER, configs=[_config(TIMEOUTS)]), "group-timeouts")
    assert finding.remedy.endswith(
        "--entity-type groups --entity-name 'a b' "
        "--add-config consumer.session.timeout.ms=50000,consumer.heartbeat.interval.ms=6000"
    )


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ({}, "=45000, unless the brokers are set otherwise"),
        ({"group.consumer.min.session.timeout.ms": "45000"}, "=45000."),
    ],
)
def test_bounds_that_are_not_known_are_kafkas(bounds: dict[str, str], said: str) -> None:
    cluster = replace(NEW, settings={"group.consumer.migration.policy": "bidirectional", **bounds})
    configs = [_config({"session.timeout.ms": "10000"})]
    finding = the_finding(plan(GROUP, CONSUMER, cluster=cluster, configs=configs), "group-timeouts")
    assert finding.message.endswith(f"below group.consumer.min.session.timeout.ms{said}".rstrip(".") + ".")


def test_no_nonsense_is_put_into_a_command() -> None:
    configs = [_config({"session.timeout.ms": "${TIMEOUT:`id`}"})]
    finding = the_finding(plan(GROUP, CONSUMER, configs=configs), "group-timeouts")
    assert finding.remedy.endswith("--add-config consumer.session.timeout.ms=MILLISECONDS")


def test_the_brokers_bounds_are_theirs() -> None:
    cluster = replace(NEW, settings={"group.consumer.min.session.timeout.ms": "6000"})
    configs = [_config({**TIMEOUTS, "session.timeout.ms": "10000"})]
    finding = the_finding(plan(GROUP, CONSUMER, cluster=cluster, configs=configs), "group-timeouts")
    assert "consumer.session.timeout.ms=10000" in finding.remedy
    assert "below" not in finding.message


def test_files_that_do_not_agree() -> None:
    configs = [_config(TIMEOUTS), _config({**TIMEOUTS, "session.timeout.ms": "60000"})]
    finding = the_finding(plan(GROUP, CONSUMER, configs=configs), "group-timeouts")
    assert "different values of session.timeout.ms" in finding.message


@pytest.mark.parametrize(
    ("protocol", "library", "level"),
    [
        ("consumer", "java", Level.WARNING),
        ("classic", "java", Level.BLOCKER),
        ("classic", "librdkafka", None),
    ],
)
def test_the_rollback_has_leftovers_too(protocol: str, library: str, level: Level | None) -> None:
    """Java refuses group.remote.assignor under the classic protocol; librdkafka passes over it."""
    config = _config({"group.protocol": protocol, "group.remote.assignor": "uniform"}, library)
    check_finding(plan(NEWER, CLASSIC, f"{library}:99", configs=[config]), "client-config-leftover", level)


def test_a_file_shows_the_library_of_unknown_members() -> None:
    unknown = replace(GROUP, members=(member("m1"), member("m2", "librdkafka", "2.16")))
    java = _config({"key.deserializer": "x"})
    assert blockers(plan(unknown, CONSUMER)) == ["client-library"]
    assert plan(unknown, CONSUMER, configs=[java]).clients == ("java", "librdkafka")
    assert plan(EMPTY, CONSUMER, configs=[java]).clients == ("java",)
    assert plan(EMPTY, CONSUMER, "librdkafka:2.16", configs=[]).clients == ("librdkafka",)
    assert plan(unknown, CLASSIC, configs=[_config({"key.deserializer": "x"}, member="m1")]).clients == (
        "java",
        "librdkafka",
    )


def test_a_remote_assignor_must_be_offered() -> None:
    cluster = replace(NEW, settings={"group.consumer.assignors": "uniform,range"})
    for asked, level in (("sticky", Level.BLOCKER), ("range", None)):
        configs = [_config({"group.remote.assignor": asked})]
        check_finding(
            plan(GROUP, CONSUMER, cluster=cluster, configs=configs), "client-config-assignor", level
        )


def test_instance_ids_of_members_that_are_not_there() -> None:
    configs = [_config({"key.deserializer": "x", "group.instance.id": "seat"})]
    finding = the_finding(plan(EMPTY, CONSUMER, "java:4.1", configs=configs), "static-member")
    assert "(seat)" in finding.message


BOTH = f"{JAVA}RangeAssignor,{JAVA}CooperativeStickyAssignor"


@pytest.mark.parametrize(
    ("client", "text", "path"),
    [
        ("java:4.1", {"key.deserializer": "x"}, "one bounce"),
        ("java:2.8", {"key.deserializer": "x"}, "two bounces"),
        ("java", {"key.deserializer": "x"}, "two bounces"),
        ("java:2.8", {STRATEGY: BOTH}, "one bounce"),
        ("java:4.1", {STRATEGY: f"{JAVA}RangeAssignor"}, "two bounces"),
        ("java:4.1", {STRATEGY: f"{JAVA}CooperativeStickyAssignor"}, "two bounces"),
    ],
)
def test_a_list_that_has_both_saves_a_bounce(client: str, text: Mapping[str, str], path: str) -> None:
    """Java's default lists both since 3.0; a file that does not list what is in use is of another time."""
    assert plan(GROUP, COOPERATIVE, client).path == "two bounces"
    assert plan(GROUP, COOPERATIVE, client, configs=[_config(text)]).path == path


def test_the_file_of_a_member_beats_that_of_all() -> None:
    both = _config({STRATEGY: BOTH})
    of_one = _config({STRATEGY: f"{JAVA}RangeAssignor"}, member="m2")
    assert plan(GROUP, COOPERATIVE, configs=[both, of_one]).path == "two bounces"
    assert plan(GROUP, COOPERATIVE, configs=[both]).path == "one bounce"
    assert plan(GROUP, COOPERATIVE, configs=[both, _config({"key.deserializer": "x"})]).path == "one bounce"


def test_the_file_of_a_library_that_no_member_runs() -> None:
    finding = the_finding(
        plan(GROUP, CONSUMER, configs=[_config({"group.id": "payments"}, "librdkafka")]),
        "client-config-library",
    )
    assert finding.level is Level.BLOCKER
