"""The library of a member: declared, recorded, inferred or unknown."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from migration.clients import (
    LIBRARIES,
    DeclaredClients,
    client_of,
    parse_clients,
    parse_version,
    unknown_members,
)
from tests.migration.cases import GROUP, member
from tests.support.golden import assert_recorded

UUID = "3f0c6f9e-5a0b-4c1d-9d55-7c1f0a6b2e00"


CLIENTS = """
java | Java:4.1.0 | confluent-kafka:2.12 | m1=librdkafka:2.6.1 | java:4.1, m1=sarama | a=b=java | java:4.1, java:4.1
| node-rdkafka:3.6.1 | jawa | m1= | java:new | java:4.1:2 | java, sarama | java:4.0, java:4.1
"""
VERSIONS = """
4.1.0 v1.19 2.12.0-RC1 3 4.1.0-ccs 4.1.0-SNAPSHOT 2.5.0rc1 7.6.1-6-ccs 3.x 1.4.0-librdkafka-2.11.0 4.1.0,librdkafka
"""
IDS = """
consumer-payments-1-UUID rdkafka-UUID kgo-UUID sarama-UUID kafka-python-2.0.2-UUID aiokafka-0.12.0-UUID
my-service-UUID rdkafka-7-UUID Aa1Bb2Cc3Dd4Ee5Ff6Gg7Q
"""


def answer(ask: Callable[[], object]) -> str:
    try:
        return str(ask())
    except ValueError as error:
        return f"ValueError: {error}"


def test_what_client_says_and_what_shows_a_library_is_as_recorded() -> None:
    answers = {}
    for text in ("", *CLIENTS.replace("\n", " ").strip().split(" | ")):
        declared = partial(parse_clients, text.split(", ") if text else [])
        answers[f"--client {text}"] = answer(declared).removeprefix("DeclaredClients")
    versions = [f"{text}: {answer(partial(parse_version, text))}" for text in (" 3 ", *VERSIONS.split())]
    clients = {name: client_of(member(name.replace("UUID", UUID)), DeclaredClients()) for name in IDS.split()}
    ids = [f"{name}: {client.library and client.library.name}" for name, client in clients.items()]
    assert_recorded("clients.txt", {**answers, "versions": "\n".join(versions), "ids": "\n".join(ids)})


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
