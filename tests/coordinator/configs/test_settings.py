"""Settings of the coordinator and of single groups."""

import pytest

from coordinator.configs.settings import Config, GroupOverrides, MigrationPolicy
from coordinator.engine.engine import Engine
from coordinator.errors import InvalidSetting, RequestRefused
from wire.errors import ErrorCode


def test_values_are_read_from_their_texts() -> None:
    config = Config.parse(
        {
            "group.max.size": " 4 ",
            "group.consumer.migration.policy": "Upgrade",
            "group.consumer.assignors": "range, uniform",
            "group.consumer.client.assignors.enable": "TRUE",
            "offsets.retention.check.interval.ms": "9999999999",
        }
    )
    assert config.group_max_size == 4
    assert config.group_consumer_migration_policy is MigrationPolicy.UPGRADE
    assert config.group_consumer_assignors == ("range", "uniform")
    assert config.group_consumer_client_assignors_enable
    assert config.offsets_retention_check_interval_ms == 9_999_999_999


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("group.max.siz", "4", "did you mean group.max.size?"),
        ("zzz", "4", "zzz is not a setting of the group coordinator"),
        ("group.max.size", "four", "group.max.size must be an integer, not 'four'"),
        ("group.max.size", "1_000", "group.max.size must be an integer, not '1_000'"),
        ("group.max.size", "0", "group.max.size must be at least 1, not 0"),
        ("group.max.size", "2147483648", "group.max.size must be at most 2147483647"),
        ("group.consumer.assignors", "sticky", "there is no assignor 'sticky'"),
        ("group.consumer.assignors", "", "at least one"),
        ("group.consumer.assignors", "range,range", "each once"),
        ("group.consumer.migration.policy", "both", "one of bidirectional, upgrade, downgrade, disabled"),
        ("group.consumer.client.assignors.enable", "yes", "true or false"),
        ("group.consumer.assignor.offload.enable", "true", "not a setting of the group coordinator"),
        ("group.consumer.session.timeout.ms", "44999", "group.consumer.min.session.timeout.ms must be less"),
        ("group.consumer.heartbeat.interval.ms", "15001", "must be less than or equal to"),
        ("group.consumer.regex.refresh.interval.ms", "9999", "at least 10000"),
    ],
)
def test_what_a_broker_would_not_start_with_is_refused(name: str, text: str, message: str) -> None:
    with pytest.raises(InvalidSetting, match=message.replace("?", r"\?")):
        Config.parse({name: text})


def test_heartbeats_come_more_often_than_sessions_end() -> None:
    with pytest.raises(InvalidSetting, match=r"heartbeat.interval.ms must be less than"):
        Config.parse(
            {"group.consumer.min.session.timeout.ms": "5000", "group.consumer.session.timeout.ms": "5000"}
        )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"consumer.session.timeout": "50000"}, "Unknown group config name: consumer.session.timeout"),
        ({"consumer.assignor.offload.enable": "true"}, "Unknown group config name: consumer.assignor"),
        ({"consumer.session.timeout.ms": "x"}, "Invalid value x for .*: Not a number of type INT"),
        ({"consumer.session.timeout.ms": "50_000"}, "Invalid value 50_000 for .*: Not a number of type INT"),
        ({"consumer.session.timeout.ms": "2147483648"}, "Not a number of type INT"),
        ({"consumer.session.timeout.ms": "0"}, "Invalid value 0 for .*: Value must be at least 1"),
        ({"consumer.assignment.interval.ms": "-1"}, "Invalid value -1 for .*: Value must be at least 0"),
        ({"consumer.session.timeout.ms": "44999"}, "must be in the range 45000 to 60000 inclusive"),
        ({"consumer.session.timeout.ms": "60001"}, "must be in the range 45000 to 60000 inclusive"),
        ({"consumer.heartbeat.interval.ms": "4999"}, "must be in the range 5000 to 15000 inclusive"),
        ({"consumer.assignment.interval.ms": "15001"}, "must be in the range 0 to 15000 inclusive"),
    ],
)
def test_settings_of_a_group_have_the_brokers_bounds(values: dict[str, str], message: str) -> None:
    with pytest.raises(RequestRefused, match=message) as refused:
        Engine().set_group_config("g", values)
    assert refused.value.code is ErrorCode.INVALID_CONFIG


def test_the_session_timeout_is_longer_than_the_heartbeat_interval() -> None:
    broker = Config.parse({"group.consumer.min.session.timeout.ms": "1000"})
    with pytest.raises(RequestRefused, match=r"must be greater than consumer.heartbeat.interval.ms"):
        GroupOverrides.parse({"consumer.session.timeout.ms": "5000"}, broker)


def test_there_are_no_settings_for_all_groups() -> None:
    with pytest.raises(RequestRefused, match="Default group resources are not allowed") as refused:
        Engine().set_group_config("", {})
    assert refused.value.code is ErrorCode.INVALID_REQUEST
