"""Stored settings of groups, after the broker's own settings have changed."""

from pathlib import Path

import pytest

from coordinator.configs.properties import parse_settings
from coordinator.errors import RequestRefused
from coordinator.server.cluster import Cluster
from coordinator.store.data_directory import DataDirectory
from coordinator.store.directory_files import ConfigKind
from tests.coordinator.store.directories import SMALL
from wire.log.errors import Unusable

TIMEOUT = "consumer.session.timeout.ms"


def cluster(path: Path, settings: dict[str, str]) -> tuple[Cluster, DataDirectory]:
    data = DataDirectory.open(path, SMALL)
    try:
        return Cluster(*parse_settings(settings), data), data
    except BaseException:
        data.abandon()
        raise


def test_a_server_with_narrower_bounds_starts_and_keeps_what_was_set(tmp_path: Path) -> None:
    first, data = cluster(tmp_path, {})
    first.set_group_settings("g", {TIMEOUT: "58000"})
    data.close()
    second, data = cluster(tmp_path, {"group.consumer.max.session.timeout.ms": "50000"})
    assert second.group_settings == {"g": {TIMEOUT: "58000"}}
    with pytest.raises(RequestRefused, match="in the range 45000 to 50000"):
        second.check_group_settings("g", {TIMEOUT: "58000"})
    second.check_group_settings("g", {TIMEOUT: "49000"})
    assert second.group_settings == {"g": {TIMEOUT: "58000"}}
    data.close()


def test_a_setting_that_is_unknown_is_named_with_its_group(tmp_path: Path) -> None:
    _, data = cluster(tmp_path, {})
    data.set_config(ConfigKind.GROUP, "g", {"x": "y"})
    data.close()
    with pytest.raises(Unusable, match=r"the configs of group g: .*Unknown group config name: x"):
        cluster(tmp_path, {})
