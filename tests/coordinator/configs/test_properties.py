"""The settings that `serve` accepts, and its notices about settings without effect."""

from dataclasses import fields
from enum import Enum

import pytest

from coordinator.configs.definitions import BROKER
from coordinator.configs.properties import OURS, parse_settings, without_effect
from coordinator.configs.settings import BrokerSettings, Config
from coordinator.errors import InvalidSetting
from coordinator.server.security.settings import EFFECTIVE
from tests.kafka.settings import DEFAULTS

IGNORED = ("group.coordinator.threads", "group.streams.max.warmup.replicas", "zookeeper.connect")


@pytest.mark.parametrize("kind", [BrokerSettings, Config])
def test_defaults_are_kafkas(kind: type[BrokerSettings | Config]) -> None:
    for setting in fields(kind):
        name = setting.name.replace("_", ".")
        text = BROKER[name].default if name in BROKER else None
        ours = setting.default.value if isinstance(setting.default, Enum) else setting.default
        assert text is None or ours == BROKER[name].parse(text), name


def test_a_whole_properties_file_is_taken() -> None:
    words = {
        **DEFAULTS,
        **dict.fromkeys(IGNORED, "4"),
        "sasl.enabled.mechanisms": "PLAIN",
        "super.users": "User:a",
        "ssl.cipher.suites": "X",
    }
    settings, config = parse_settings(words)
    assert settings.given == words
    assert (config.group_initial_rebalance_delay_ms, settings.auto_create_topics_enable) == (0, False)
    (said,) = without_effect(words, OURS | EFFECTIVE)
    assert all(name in said for name in IGNORED)
    assert "ssl.cipher.suites" in said
    assert "sasl" not in said
    assert "super.users" not in said
    assert "group.initial" not in said


def test_addresses_and_directories_are_options() -> None:
    assert list(without_effect(["listeners", "log.dirs", "log.retention.ms"], OURS)) == [
        "listeners has no effect here: use --listen",
        "log.dirs has no effect here: use --data",
    ]


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("grup.max.size", "1", "grup.max.size is not a setting of a broker; did you mean group.max.size?"),
        ("x", "1", "x is not a setting of a broker"),
        (
            "num.network.threads",
            "0",
            "Invalid value 0 for configuration num.network.threads: Value must be at least 1",
        ),
        ("group.version", "2", "group.version must be a number from 0 to 1, not '2'"),
    ],
)
def test_what_no_broker_takes_is_refused(name: str, text: str, why: str) -> None:
    with pytest.raises(InvalidSetting) as refused:
        parse_settings({name: text})
    assert str(refused.value) == why


def test_a_synonym_counts_where_the_setting_is_not_given() -> None:
    assert parse_settings({"log.roll.hours": "2", "broker.id": "3"})[0].log_roll_ms == 7_200_000
    assert parse_settings({"log.roll.hours": "2", "log.roll.ms": "5"})[0].log_roll_ms == 5
