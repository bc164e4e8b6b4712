"""The settings that Kafka knows, as a real broker shows them, and the errors for bad values."""

from collections.abc import Mapping
from typing import Any

import pytest

from coordinator.configs.definitions import BROKER, GROUP, TOPIC, Definition
from coordinator.errors import InvalidSetting
from tests.kafka.broker import Broker
from tests.kafka.members import fresh_name
from tests.kafka.topics import create_topics
from tests.kafka.wire import ask
from wire.acls import ConfigSource

OF_TOPICS, OF_BROKERS, OF_GROUPS = 2, 4, 32


def shown(broker: Broker, kind: int, name: str) -> Mapping[str, Any]:
    """A real broker's description of every setting of a resource."""
    answer = ask(
        broker.port,
        "DescribeConfigs",
        4,
        resources=[{"resource_type": kind, "resource_name": name, "configuration_keys": None}],
        include_synonyms=True,
        include_documentation=True,
    )
    (result,) = answer.results
    assert not result.error_code, result.error_message
    return {config.name: config for config in result.configs}


def default_of(config: Any) -> str | None:
    defaults = [synonym for synonym in config.synonyms if synonym.source == ConfigSource.DEFAULT]
    return defaults[-1].value if defaults else None


def compare(config: Any, definition: Definition) -> None:
    assert (config.config_type, config.read_only, config.is_sensitive, config.documentation) == (
        definition.type, definition.read_only, definition.sensitive, definition.documentation
    ), config.name  # fmt: skip


@pytest.mark.kafka
def test_a_broker_shows_the_same_settings_of_itself(broker: Broker) -> None:
    configs = shown(broker, OF_BROKERS, "1")
    assert set(configs) == {name for name, one in BROKER.items() if not one.internal}
    for name, config in configs.items():
        compare(config, BROKER[name])
        assert default_of(config) == BROKER[name].default, name


@pytest.mark.kafka
def test_a_broker_shows_the_same_settings_of_topics_and_groups(broker: Broker) -> None:
    name = fresh_name("configured")
    create_topics(broker, {name: 1})
    for kind, known in ((OF_TOPICS, TOPIC), (OF_GROUPS, GROUP)):
        configs = shown(broker, kind, name)
        assert set(configs) == {name for name, one in known.items() if not one.internal}
        for setting, config in configs.items():
            compare(config, known[setting])
            if config.config_source == ConfigSource.DEFAULT:
                assert config.value == known[setting].default, setting


def test_defaults_are_valid_and_shown_as_they_are() -> None:
    for scope in (BROKER, TOPIC, GROUP):
        for definition in scope.values():
            if definition.default is not None:
                assert definition.shown(definition.default) == definition.default


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("retention.ms", "x", "Not a number of type LONG"),
        ("retention.ms", "-5", "Value must be at least -1"),
        ("max.message.bytes", "99999999999", "Not a number of type INT"),
        ("preallocate", "maybe", "Expected value to be either true or false"),
        ("cleanup.policy", "foo", "String must be one of: compact, delete"),
        ("compression.gzip.level", "77", "Value must be between 1 and 9 or equal to -1"),
    ],
)
def test_a_bad_value_is_refused_in_kafkas_words(name: str, text: str, why: str) -> None:
    with pytest.raises(InvalidSetting) as refused:
        TOPIC[name].parse(text)
    assert str(refused.value) == f"Invalid value {text} for configuration {name}: {why}"


def test_values_lose_blanks_and_repetitions() -> None:
    assert TOPIC["cleanup.policy"].shown(" compact , delete,compact") == "compact,delete"
    assert TOPIC["retention.bytes"].shown(" 123 ") == "123"
    assert TOPIC["compression.gzip.level"].parse("-1") == -1
    assert TOPIC["follower.replication.throttled.replicas"].parse("0:1,1:1") == ("0:1", "1:1")
