"""The library that a member's ids show, and the librdkafka that a release of a binding bundles."""

import importlib.metadata

import confluent_kafka
import pytest

from groups.client_library import (
    BINDINGS,
    Binding,
    binding_named,
    bundled,
    first_with,
    library_of,
    library_of_all,
)
from groups.model import Client, Member

UUID = "3f0c6f9e-5a0b-4c1d-9d55-7c1f0a6b2e00"
UNKNOWN = (None, "not known")
BY_MEMBER = "inferred from the member id"
BY_CLIENT = "inferred from the client id"


DEFAULTS = {
    "consumer-orders-1": "java",
    "console-consumer": "java",
    "perf-consumer-client": "java",
    f"shop-{UUID}-StreamThread-12-consumer": "java",
    "connector-consumer-s3-sink-11": "connect",
    "rdkafka": "librdkafka",
    "kgo": "franz-go",
    "kafkajs": "kafkajs",
    "aiokafka-0.12.0": "aiokafka",
    "sarama": "sarama",
    "dekaf-consumer": "dekaf",
    "'orders@h1.example'/<0.421.0>": "brod",
    "app@h1 (github.com/segmentio/kafka-go)": "kafka-go",
}
DRAWN = "Yz3kq0mOTf2g8rVQm1xA9w"  # under the consumer protocol the client or the broker draws the member id
MEMBERS = (
    # member id, client id, library and how it is known
    *((f"{client}-{UUID}", client, (library, BY_MEMBER)) for client, library in DEFAULTS.items()),
    *((DRAWN, client, (library, BY_CLIENT)) for client, library in DEFAULTS.items()),
    (f"kafka-python-2.0.2-{UUID}", None, ("kafka-python", BY_MEMBER)),
    (f"app@h1 (github.com/segmentio/kafka-go)-{UUID}", None, ("kafka-go", BY_MEMBER)),
    *((f"{client}-{UUID}", client, UNKNOWN) for client in ("orders", "my-rdkafka", "console-consumer-2")),
    ("m", None, UNKNOWN),
    (DRAWN, "shop-StreamThread-1-restore-consumer", UNKNOWN),
)


@pytest.mark.parametrize(("member", "client", "expected"), MEMBERS)
def test_default_ids_show_the_library(
    member: str, client: str | None, expected: tuple[str | None, str]
) -> None:
    known = library_of(Member(id=member, client=Client(id=client)))
    assert (known.name, known.known_by) == expected


@pytest.mark.parametrize(
    ("client", "library"), [("consumer-orders-rack-a", "java"), ("consumer-orders-b", None)]
)
def test_javas_default_id_of_a_static_member_ends_in_its_instance(client: str, library: str | None) -> None:
    static = Member(id=f"rack-a-{UUID}", instance="rack-a", client=Client(id=client))
    assert library_of(static).name == library


def test_what_the_source_recorded_wins() -> None:
    member = Member(id=f"rdkafka-{UUID}", client=Client(id="rdkafka", library="confluent-kafka-go"))
    assert library_of(member).name == "librdkafka"
    other = Member(id=f"rdkafka-{UUID}", client=Client(id="rdkafka", library="sarama"))
    assert (library_of(other).name, library_of(other).known_by) == ("sarama", "recorded in the source")


def test_members_that_differ_are_named() -> None:
    java = Member(id=f"consumer-g-1-{UUID}")
    librdkafka = Member(id=f"rdkafka-{UUID}")
    assert library_of_all([java, Member(id="m")]).name == "java"
    both = library_of_all([java, librdkafka])
    assert (both.name, both.known_by) == (None, "the members run java and librdkafka")


BUNDLED: dict[str, dict[str, str | None]] = {
    "node-rdkafka": {
        "3.6.1": "2.12.0",
        "v3.6.0": "2.12.0",
        "3.6": "2.12.0",
        "3.1": None,
        "2.14.5": "1.9.2",
        "2.9.1": None,
        "3.6.2": None,
        "4": None,
        "new": None,
    },
    "confluent-kafka-javascript": {
        "1.10.1": "2.15.1",
        "1.5.0": "2.11.1",
        "1.4.0-librdkafka-2.11.0": "2.11.0",
    },
    "@confluentinc/kafka-javascript": {"1.10.0": "2.15.0"},
    "confluent-kafka-python": {"2.12.2": "2.12.1"},
    "confluent-kafka": {"2.12.1": "2.12.1", "2.16.1": "2.16.0"},
    "Confluent.Kafka": {"2.13.1": "2.13.0"},
    "confluent-kafka-dotnet": {"2.11.1": "2.11.1"},
    "confluent-kafka-go": {"2.13.3": "2.13.2", "v2.6.1": "2.6.1", "2.99.0": "2.15.0"},
    "rdkafka-ruby": {"0.25.1": "2.12.1"},
    "karafka-rdkafka": {"0.19.5": "2.8.0", "0.20.0": None},
    "azure-functions-kafka": {"4.3.2": "2.4.0", "4.4.0": None},
    "rdkafka-sys": {"4.9.0+2.10.0": "2.10.0"},
    "rust-rdkafka": {"0.38.0": None},
    "php-rdkafka": {"6.0.5": None},
}


@pytest.mark.parametrize("name", BUNDLED)
def test_what_a_release_bundles(name: str) -> None:
    binding = binding_named(name)
    assert binding is not None
    assert {version: bundled(binding, version) for version in BUNDLED[name]} == BUNDLED[name]


FIRST_WITH = {
    ("node-rdkafka", (2, 12, 0)): "3.6.0",
    ("node-rdkafka", (2, 15, 0)): None,
    ("confluent-kafka-javascript", (2, 10, 1)): "1.3.2",
    ("confluent-kafka-go", (2, 15, 0)): "2.15.0",
    ("php-rdkafka", (2, 15, 0)): None,
}


def test_the_first_release_that_is_new_enough() -> None:
    bindings = {binding.name: binding for binding in BINDINGS}
    assert {asked: first_with(bindings[asked[0]], asked[1]) for asked in FIRST_WITH} == FIRST_WITH


def test_the_installed_binding_bundles_what_the_table_says() -> None:
    python = binding_named("confluent-kafka-python")
    assert python is not None
    assert bundled(python, importlib.metadata.version("confluent-kafka")) == confluent_kafka.libversion()[0]


@pytest.mark.parametrize("binding", BINDINGS, ids=[binding.name for binding in BINDINGS])
def test_a_table_names_its_source_and_its_newest_release(binding: Binding) -> None:
    assert binding.source
    if binding.releases and not binding.has_its_number:
        assert binding.last is not None
        assert bundled(binding, binding.last) == list(binding.releases.values())[-1]
