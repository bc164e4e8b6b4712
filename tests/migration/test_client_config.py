"""Configuration files of clients: what is read of them, in each form that applications and clusters have them in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.verbs.plan.files import read_client_config
from migration.client_config import KEPT, kafka_key, kept, library_by_keys, of_consumers
from migration.config_forms import read_config
from tests.migration.cases import (
    CLASSIC,
    CONSUMER,
    COOPERATIVE,
    EMPTY,
    GROUP,
    blockers,
    config_of,
    member,
    plan,
)

JAVA = "org.apache.kafka.clients.consumer."
STRATEGY = "partition.assignment.strategy"
BOTH = f"{JAVA}RangeAssignor,{JAVA}CooperativeStickyAssignor"


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
    assert config_of(entries).library == library


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=20)))
def test_only_what_rules_look_at_is_kept(entries: dict[str, str]) -> None:
    secret = dict.fromkeys(("sasl.password", "sasl.jaas.config", "ssl.key.password"), "hunter2")
    config = config_of(entries | secret)
    assert {setting.key for setting in config.settings} <= KEPT
    assert "hunter2" not in repr(config)


def test_the_last_of_a_repeated_key_counts() -> None:
    (only,) = kept([("group.id", "a", 1), ("consumer.group.id", "b", 2)])
    assert (only.value, only.line, only.place) == ("b", 2, "consumer.group.id (line 2)")


def test_a_file_shows_the_library_of_unknown_members() -> None:
    unknown = replace(GROUP, members=(member("m1"), member("m2", "librdkafka", "2.16")))
    java, of_one = (config_of({"key.deserializer": "x"}, member=owner) for owner in (None, "m1"))
    assert blockers(plan(unknown, CONSUMER)) == ["client-library"]
    for config in (java, of_one):
        assert plan(unknown, CLASSIC, configs=[config]).clients == ("java", "librdkafka")
    assert plan(EMPTY, CONSUMER, configs=[java]).clients == ("java",)
    assert plan(EMPTY, CONSUMER, "librdkafka:2.16", configs=[]).clients == ("librdkafka",)


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
    assert plan(GROUP, COOPERATIVE, client, configs=[config_of(text)]).path == path


def test_the_file_of_a_member_beats_that_of_all() -> None:
    both = config_of({STRATEGY: BOTH})
    of_one = config_of({STRATEGY: f"{JAVA}RangeAssignor"}, member="m2")
    assert plan(GROUP, COOPERATIVE, configs=[both, of_one]).path == "two bounces"
    assert plan(GROUP, COOPERATIVE, configs=[both]).path == "one bounce"
    assert plan(GROUP, COOPERATIVE, configs=[both, config_of({"key.deserializer": "x"})]).path == "one bounce"


READ = {"group.protocol": "consumer", "auto.offset.reset": "earliest"}
FORMS = {
    "env": (
        "app.env",
        "# of the application\nexport KAFKA_GROUP_PROTOCOL=consumer  # new\nKAFKA_AUTO_OFFSET_RESET='earliest'\n"
        "USER_GROUP_ID=1000\nKAFKA_PRODUCER_GROUP_ID=x\n",
        READ,
    ),
    "plain names": (".env", 'GROUP_PROTOCOL="consumer"\nAUTO_OFFSET_RESET=earliest\n', READ),
    "spring's variables": (
        "spring.env",
        "SPRING_KAFKA_CONSUMER_PROPERTIES_GROUP_PROTOCOL=consumer\nSPRING_KAFKA_CONSUMER_AUTOOFFSETRESET=earliest\n"
        "SPRING_KAFKA_CONSUMER_HEARTBEATINTERVAL=3s\n",
        {**READ, "heartbeat.interval.ms": "3000"},
    ),
    "quarkus": (
        "q.env",
        "MP_MESSAGING_INCOMING_ORDERS_GROUP_PROTOCOL=consumer\n"
        "MP_MESSAGING_INCOMING_ORDERS_AUTO_OFFSET_RESET=earliest\n"
        "MP_MESSAGING_OUTGOING_BILLS_GROUP_ID=x\n",
        READ,
    ),
    "confluent's rest proxy": (
        "rest.env",
        "KAFKA_REST_CONSUMER_GROUP_PROTOCOL=consumer\nKAFKA_REST_CONSUMER_AUTO_OFFSET_RESET=earliest\n",
        READ,
    ),
    "confluent's connect": (
        "connect.env",
        "CONNECT_CONFIG_STORAGE_TOPIC=configs\nCONNECT_GROUP_ID=workers\nCONNECT_SESSION_TIMEOUT_MS=10000\n"
        "CONNECT_CONSUMER_GROUP_PROTOCOL=consumer\nCONNECT_CONSUMER_AUTO_OFFSET_RESET=earliest\n",
        READ,
    ),
    "spring": (
        "application.yml",
        "spring:\n  kafka:\n    consumer:\n      auto-offset-reset: earliest\n      heartbeat-interval: 3s\n"
        "      max-poll-interval: PT5M\n      properties:\n        group.protocol: consumer\n",
        {**READ, "heartbeat.interval.ms": "3000", "max.poll.interval.ms": "300000"},
    ),
    "spring in capitals": (
        "application.yaml",
        "spring.kafka.consumer:\n  autoOffsetReset: earliest\n  groupId: billing\n"
        "  properties[group.protocol]: consumer\n"
        "  properties: {group-instance-id: a}\n",
        {**READ, "group.id": "billing", "group.instance.id": "a"},
    ),
    "spring's documents": (
        "application.yml",
        "spring.kafka.consumer.auto-offset-reset: earliest\n---\n"
        "spring.kafka.properties.group.protocol: consumer\n---\n"
        "spring:\n  config.activate.on-profile: test\n  kafka.consumer.auto-offset-reset: latest\n---\n",
        READ,
    ),
    "spring's documents of properties": (
        "application.properties",
        "spring.kafka.consumer.auto-offset-reset=earliest\n#---\n"
        "spring.kafka.properties.group.protocol=consumer\n#---\n"
        "spring.config.activate.on-profile=test\nspring.kafka.consumer.auto-offset-reset=latest\n",
        READ,
    ),
    "compose": (
        "compose.yaml",
        "services:\n  kafka:\n    image: apache/kafka\n"
        "    environment: {KAFKA_NODE_ID: 1, KAFKA_CONNECTIONS_MAX_IDLE_MS: 5}\n"
        "  app:\n    environment:\n      - KAFKA_GROUP_PROTOCOL=consumer\n      - KAFKA_AUTO_OFFSET_RESET=earliest\n"
        "      - TZ=UTC\n  db:\n    environment: {USER_GROUP_ID: 5}\n",
        READ,
    ),
    "config map": (
        "cm.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app, labels: {group.id: x}}\ndata:\n"
        "  KAFKA_GROUP_PROTOCOL: consumer\n  application.properties: |\n"
        "    spring.kafka.consumer.auto-offset-reset=earliest\n",
        READ,
    ),
    "config map with yaml": (
        "cm.yaml",
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  data:\n    application.yml: |\n"
        "      spring.kafka.consumer:\n        auto-offset-reset: earliest\n"
        "        properties: {group.protocol: consumer}\n",
        READ,
    ),
    "deployment": (
        "deploy.yml",
        "apiVersion: v1\nkind: Service\n---\napiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec:\n"
        "      containers:\n      - name: app\n        env:\n        - {name: KAFKA_GROUP_PROTOCOL, value: consumer}\n"
        "        - {name: KAFKA_AUTO_OFFSET_RESET, value: earliest}\n"
        "        - {name: X, valueFrom: {secretKeyRef: {}}}\n",
        READ,
    ),
    "json": ("c.json", '{"kafka": {"groupProtocol": "consumer", "auto.offset.reset": "earliest"}}', READ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "text", "settings"), FORMS.values(), ids=FORMS)
def test_the_settings_of_a_file_are_read_in_its_form(name: str, text: str, settings: dict[str, str]) -> None:
    entries = read_config(name, text).entries
    library, _ = library_by_keys(entries)
    assert {entry.key: entry.value for entry in kept(of_consumers(entries, library))} == settings


NOT_READ = {
    "filebeat": (
        "filebeat.yml",
        "filebeat.inputs:\n- type: kafka\n  hosts: [b:9092]\n  group_id: beats\n  topics: [orders]\n"
        "output.kafka:\n  client_id: beats\n  group_id: x\n",
    ),
    "logging": ("log4j2.yaml", "Configuration: {status: warn, name: app}\n"),
    "config map": ("cm.yaml", "apiVersion: v1\nkind: ConfigMap\ndata: {LOG_LEVEL: debug}\n"),
    "secret": ("s.yaml", "apiVersion: v1\nkind: Secret\ndata: {KAFKA_GROUP_ID: YmlsbGluZw==}\n"),
    "variables of others": ("a.env", "USER_GROUP_ID=1000\nPATH=/bin\nDEBUG=true\n"),
}


@pytest.mark.parametrize(("name", "text"), NOT_READ.values(), ids=NOT_READ)
def test_a_file_of_another_program_has_no_client_setting(name: str, text: str) -> None:
    assert [written for written, _, _ in read_config(name, text).entries if kafka_key(written)] == []


def test_parts_of_a_file_that_are_not_used_are_named() -> None:
    profiles = "group.id: a\n---\nspring.config.activate.on-profile: prod\ngroup.id: b\n"
    (unread,) = read_config("a.yml", profiles).unread
    assert unread == "Documents of Spring profiles (prod) are not used: whether they apply is not known."
    in_map = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"application.yml": profiles}}
    assert read_config("cm.json", json.dumps(in_map)).unread == (unread,)
    services = "services:\n  a: {environment: [KAFKA_GROUP_ID=a]}\n  b: {environment: {KAFKA_GROUP_ID: b}}\n"
    content = read_config("compose.yml", services)
    assert content.unread == ("The services a, b have consumer settings: give each a separate file.",)
    assert content.entries == ()


def test_of_a_workers_file_only_the_consumers_settings_count(tmp_path: Path) -> None:
    file = tmp_path / "worker.properties"
    file.write_text(
        "group.id=connect-cluster\nsession.timeout.ms=10000\nconfig.storage.topic=connect-configs\n"
        f"consumer.session.timeout.ms=20000\nconsumer.{STRATEGY}={JAVA}RangeAssignor\n"
    )
    config = read_client_config(str(file))
    assert (config.library, config.known_by) == ("connect", "config.storage.topic is Connect's")
    leftovers = [setting.place for setting in config.leftovers("consumer")]
    assert leftovers == ["consumer.session.timeout.ms (line 4)", f"consumer.{STRATEGY} (line 5)"]
    assert config.setting("group.id") is None


def test_a_connectors_configuration_as_the_rest_api_takes_it(tmp_path: Path) -> None:
    file = tmp_path / "s3.json"
    settings = {"connector.class": "S3", "consumer.override.session.timeout.ms": "20000", "topics": "orders"}
    file.write_text(json.dumps({"name": "s3", "config": settings}))
    config = read_client_config(str(file))
    leftovers = [one.place for one in config.leftovers("consumer")]
    assert (config.library, leftovers) == ("connect", ["config.consumer.override.session.timeout.ms"])
