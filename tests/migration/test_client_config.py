"""Configuration files of clients: what is read of them, in each form that applications and clusters have them in."""

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
from tests.support.golden import assert_recorded

JAVA = "org.apache.kafka.clients.consumer."
STRATEGY = "partition.assignment.strategy"
BOTH = f"{JAVA}RangeAssignor,{JAVA}CooperativeStickyAssignor"


KEYS = """
session.timeout.ms consumer.session.timeout.ms spring.kafka.consumer.properties.session.timeout.ms session_timeout_ms
spring.kafka.consumer.group-id spring.kafka.consumer.heartbeat-interval group.protocol.type my.own.setting
spring.kafka.consumer.properties.[session.timeout.ms] spring.kafka.consumer.properties[group.protocol]
zookeeper.session.timeout.ms spring.kafka.producer.client-id
"""


def test_kafkas_name_of_a_key() -> None:
    names = "\n".join(f"{written}: {kafka_key(written)}" for written in ("", *KEYS.split()))
    assert_recorded("config_keys.txt", {"Kafka's names": names})


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


def test_the_settings_of_files_are_read_in_their_forms() -> None:
    """Those of config_files.txt: of applications and clusters, and of other programs, which have no such setting."""
    answers = {}
    for part in (Path(__file__).parent / "config_files.txt").read_text().split("== ")[1:]:
        heading, _, text = part.partition("\n")
        entries = read_config(heading.rpartition(": ")[2], text).entries
        library, _ = library_by_keys(entries)
        settings = sorted(f"{one.key}={one.value}" for one in kept(of_consumers(entries, library)))
        answers[heading] = "\n".join([*settings, f"library: {library}"])
        if heading.startswith("of another program"):
            assert not any(kafka_key(written) for written, _, _ in entries)
    assert_recorded("config_files.txt", answers)


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
