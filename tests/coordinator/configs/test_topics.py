"""The effective settings of a topic: its own, then the broker's, the finest unit first."""

import pytest

from coordinator.configs.effective import ALL, BrokerConfigs, TopicConfigs
from coordinator.errors import InvalidSetting
from wire.acls import ConfigSource

RETENTION = "retention.ms"


def configs(**static: str) -> tuple[BrokerConfigs, TopicConfigs]:
    brokers = BrokerConfigs({name.replace("_", "."): text for name, text in static.items()}, {})
    return brokers, TopicConfigs(brokers, 1, {})


@pytest.mark.parametrize(
    ("static", "retention"),
    [
        ({"log_retention_hours": "2"}, 7_200_000),
        ({"log_retention_hours": "2", "log_retention_minutes": "3"}, 180_000),
        ({"log_retention_hours": "2", "log_retention_minutes": "3", "log_retention_ms": "4"}, 4),
        ({"log_retention_hours": "-1"}, -1),
    ],
)
def test_the_finest_unit_counts(static: dict[str, str], retention: int) -> None:
    assert configs(**static)[1].of("t")[RETENTION] == retention


def test_a_broker_config_applies_to_topics_without_an_override() -> None:
    brokers, topics = configs(log_retention_hours="2")
    topics.set("own", {RETENTION: "5"})
    before = topics.of("t")
    assert topics.of("t") is before
    brokers.set(ALL, {"log.retention.ms": "8"})
    assert (topics.of("t")[RETENTION], topics.of("own")[RETENTION]) == (8, 5)
    brokers.set("1", {"log.retention.ms": "7"})
    assert topics.of("t")[RETENTION] == 7
    assert [
        (synonym.name, synonym.value, synonym.source) for synonym in topics.synonyms("own", RETENTION)
    ] == [
        ("retention.ms", "5", ConfigSource.TOPIC),
        ("log.retention.ms", "7", ConfigSource.DYNAMIC_BROKER),
        ("log.retention.ms", "8", ConfigSource.DYNAMIC_DEFAULT_BROKER),
        ("log.retention.hours", "2", ConfigSource.STATIC_BROKER),
        ("log.retention.hours", "168", ConfigSource.DEFAULT),
    ]
    topics.set("own", {})
    assert topics.of("own")[RETENTION] == 7


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"nope": "1"}, "Unknown topic config name: nope"),
        (
            {"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "5"},
            "lag.ms (10) > max.compaction.lag.ms (5)",
        ),
        ({"remote.storage.enable": "true"}, "Topic cannot be configured with remote log storage."),
    ],
)
def test_settings_that_do_not_go_together_are_refused(values: dict[str, str], why: str) -> None:
    with pytest.raises(InvalidSetting) as refused:
        configs()[1].check(values)
    assert str(refused.value).endswith(why)
