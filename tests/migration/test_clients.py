"""The library of a member: declared, recorded, inferred or unknown."""

from dataclasses import replace

import pytest

from migration.clients import (
    LIBRARIES,
    DeclaredClients,
    client_of,
    parse_clients,
    parse_version,
    unknown_members,
)
from tests.migration.cases import GROUP, member

UUID = "3f0c6f9e-5a0b-4c1d-9d55-7c1f0a6b2e00"


@pytest.mark.parametrize(
    ("values", "everybody", "single"),
    [
        ([], None, {}),
        (["java"], ("java", None), {}),
        (["Java:4.1.0"], ("java", "4.1.0"), {}),
        (["confluent-kafka:2.12"], ("confluent-kafka", "2.12"), {}),
        (["m1=librdkafka:2.6.1"], None, {"m1": ("librdkafka", "2.6.1")}),
        (["java:4.1", "m1=sarama"], ("java", "4.1"), {"m1": ("sarama", None)}),
        (["a=b=java"], None, {"a=b": ("java", None)}),
        (["java:4.1", "java:4.1"], ("java", "4.1"), {}),
        (["node-rdkafka:3.6.1"], ("node-rdkafka", "3.6.1"), {}),
    ],
)
def test_what_client_says(
    values: list[str], everybody: tuple[str, str | None] | None, single: dict[str, tuple[str, str | None]]
) -> None:
    assert parse_clients(values) == DeclaredClients(everybody=everybody, single=single)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["jawa"], "unknown client library 'jawa'; did you mean java?"),
        ([""], "unknown client library ''"),
        (["m1="], "unknown client library ''"),
        (["java:new"], "'new' is not a version"),
        (["java:4.1,librdkafka"], "'4.1,librdkafka' is not a version"),
        (["java:4.1:2"], "'4.1:2' is not a version"),
        (["java", "sarama"], "'sarama' contradicts an earlier --client"),
        (["java:4.0", "java:4.1"], "'java:4.1' contradicts an earlier --client"),
    ],
)
def test_what_client_may_not_say(values: list[str], message: str) -> None:
    with pytest.raises(ValueError, match="^" + message.replace("?", r"\?")):
        parse_clients(values)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("4.1.0", (4, 1, 0)),
        ("v1.19", (1, 19)),
        ("2.12.0-RC1", (2, 12, 0)),
        (" 3 ", (3,)),
        ("4.1.0-ccs", (4, 1, 0)),
        ("4.1.0-SNAPSHOT", (4, 1, 0)),
        ("2.5.0rc1", (2, 5, 0)),
        ("7.6.1-6-ccs", (7, 6, 1)),
        ("3.x", (3,)),
        ("1.4.0-librdkafka-2.11.0", (2, 11, 0)),
    ],
)
def test_versions(text: str, version: tuple[int, ...]) -> None:
    assert parse_version(text) == version


@pytest.mark.parametrize(
    ("member_id", "library"),
    [
        (f"consumer-payments-1-{UUID}", "java"),
        (f"rdkafka-{UUID}", "librdkafka"),
        (f"kgo-{UUID}", "franz-go"),
        (f"sarama-{UUID}", "sarama"),
        (f"kafka-python-2.0.2-{UUID}", "kafka-python"),
        (f"aiokafka-0.12.0-{UUID}", "aiokafka"),
        (f"my-service-{UUID}", None),
        (f"rdkafka-7-{UUID}", None),
        ("Aa1Bb2Cc3Dd4Ee5Ff6Gg7Q", None),
    ],
)
def test_what_a_member_id_tells(member_id: str, library: str | None) -> None:
    client = client_of(member(member_id), DeclaredClients())
    assert (client.library and client.library.name) == library


def test_declared_beats_recorded_and_that_beats_the_member_id() -> None:
    one = replace(member(f"rdkafka-{UUID}", "java", "4.1.0"), instance="seat")
    assert client_of(one, DeclaredClients()).library is LIBRARIES["java"]
    assert client_of(one, parse_clients(["sarama"])).library is LIBRARIES["sarama"]
    for name in (one.id, "seat", one.client.id):
        assert client_of(one, parse_clients(["sarama", f"{name}=franz-go"])).library is LIBRARIES["franz-go"]


def test_a_binding_may_be_numbered_apart_from_its_library() -> None:
    assert client_of(member("m", "node-rdkafka", "3.6.1"), DeclaredClients()).version == (2, 12, 0)
    assert client_of(member("m", "node-rdkafka", "3.99.0"), DeclaredClients()).version is None
    reported = client_of(member("m"), parse_clients(["confluent-kafka-javascript:1.10.1"]))
    assert (reported.library, reported.version) == (LIBRARIES["librdkafka"], (2, 15, 1))
    assert reported.shown is None
    assert client_of(member("m", "confluent-kafka-go", "2.6.1"), DeclaredClients()).version == (2, 6, 1)


def test_strangers_are_named() -> None:
    assert unknown_members(GROUP, parse_clients(["m1=java", "m7=java"])) == ["m7"]
