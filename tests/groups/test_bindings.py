"""Which librdkafka a release of a binding bundles."""

from __future__ import annotations

import importlib.metadata

import confluent_kafka
import pytest

from groups.client_library import BINDINGS, Binding, binding_named, bundled, first_with


@pytest.mark.parametrize(
    ("name", "version", "librdkafka"),
    [
        ("node-rdkafka", "3.6.1", "2.12.0"),
        ("node-rdkafka", "v3.6.0", "2.12.0"),
        ("node-rdkafka", "3.6", "2.12.0"),
        ("node-rdkafka", "3.1", None),
        ("node-rdkafka", "2.14.5", "1.9.2"),
        ("node-rdkafka", "2.9.1", None),
        ("node-rdkafka", "3.6.2", None),
        ("node-rdkafka", "4", None),
        ("confluent-kafka-javascript", "1.10.1", "2.15.1"),
        ("@confluentinc/kafka-javascript", "1.10.0", "2.15.0"),
        ("confluent-kafka-javascript", "1.5.0", "2.11.1"),
        ("confluent-kafka-javascript", "1.4.0-librdkafka-2.11.0", "2.11.0"),
        ("confluent-kafka-python", "2.12.2", "2.12.1"),
        ("confluent-kafka", "2.12.1", "2.12.1"),
        ("Confluent.Kafka", "2.13.1", "2.13.0"),
        ("confluent-kafka-dotnet", "2.11.1", "2.11.1"),
        ("confluent-kafka-go", "2.13.3", "2.13.2"),
        ("confluent-kafka-go", "v2.6.1", "2.6.1"),
        ("confluent-kafka-go", "2.99.0", "2.15.0"),
        ("confluent-kafka", "2.16.1", "2.16.0"),
        ("rdkafka-ruby", "0.25.1", "2.12.1"),
        ("karafka-rdkafka", "0.19.5", "2.8.0"),
        ("karafka-rdkafka", "0.20.0", None),
        ("azure-functions-kafka", "4.3.2", "2.4.0"),
        ("azure-functions-kafka", "4.4.0", None),
        ("rdkafka-sys", "4.9.0+2.10.0", "2.10.0"),
        ("rust-rdkafka", "0.38.0", None),
        ("php-rdkafka", "6.0.5", None),
        ("node-rdkafka", "new", None),
    ],
)
def test_what_a_release_bundles(name: str, version: str, librdkafka: str | None) -> None:
    binding = binding_named(name)
    assert binding is not None
    assert bundled(binding, version) == librdkafka


@pytest.mark.parametrize(
    ("name", "wanted", "release"),
    [
        ("node-rdkafka", (2, 12, 0), "3.6.0"),
        ("node-rdkafka", (2, 15, 0), None),
        ("confluent-kafka-javascript", (2, 10, 1), "1.3.2"),
        ("confluent-kafka-go", (2, 15, 0), "2.15.0"),
        ("php-rdkafka", (2, 15, 0), None),
    ],
)
def test_the_first_release_that_is_new_enough(
    name: str, wanted: tuple[int, ...], release: str | None
) -> None:
    binding = binding_named(name)
    assert binding is not None
    assert first_with(binding, wanted) == release


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
