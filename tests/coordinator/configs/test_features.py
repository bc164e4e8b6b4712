"""The levels of features, and which updates are refused."""

from pathlib import Path

import pytest

from coordinator.configs.features import Features, FeatureUpdate, UpgradeType
from coordinator.errors import RequestRefused
from coordinator.server.stored_configs import StoredConfigs
from coordinator.store.data_directory import DataDirectory
from tests.coordinator.store.directories import SMALL
from wire.log.errors import Unusable


def update(name: str, level: int, kind: int = UpgradeType.UPGRADE) -> FeatureUpdate:
    return FeatureUpdate(name=name, level=level, type=kind)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (update("group.version", 0), "without setting the upgrade type to either safe or unsafe downgrade"),
        (update("group.version", 2), "Local controller 1 only supports versions 0-1"),
        (update("nope", 1), "Local controller 1 does not support this feature"),
        (update("group.version", -1), "A feature version cannot be less than 0"),
        (update("group.version", 0, 7), "The controller does not support the given upgrade type"),
        (update("metadata.version", 29, 2), "Refusing to perform the requested downgrade"),
        (update("metadata.version", 29, 3), "Unsafe metadata downgrade is not supported"),
        (update("eligible.leader.replicas.version", 1, 2), "Can't downgrade to a newer version"),
    ],
)
def test_an_update_that_is_not_possible_is_refused(change: FeatureUpdate, why: str) -> None:
    with pytest.raises(RequestRefused, match=why):
        Features({"eligible.leader.replicas.version": 0}).check(
            [update("transaction.version", 1, UpgradeType.SAFE_DOWNGRADE), change]
        )


def test_only_a_change_is_an_epoch() -> None:
    features = Features({})
    features.set_levels(features.check([update("group.version", 1)]))
    assert features.epoch == 1
    features.set_levels(features.check([update("group.version", 0, UpgradeType.SAFE_DOWNGRADE)]))
    assert (features.epoch, features.levels["group.version"]) == (2, 0)


def test_what_was_set_is_kept_and_levels_given_at_the_start_win(tmp_path: Path) -> None:
    data = DataDirectory.open(tmp_path, SMALL)
    kept = StoredConfigs({}, 1, data, ["t"])
    kept.set_levels({"group.version": 0})
    kept.set_topic("t", {"retention.ms": "5"})
    kept.set_broker("", {"log.segment.bytes": "2097152"})
    data.close()
    data = DataDirectory.open(tmp_path, SMALL)
    again = StoredConfigs({}, 1, data, ["t"])
    assert again.features.levels["group.version"] == 0
    assert (again.topics.of("t")["retention.ms"], again.topics.of("t")["segment.bytes"]) == (5, 2_097_152)
    assert StoredConfigs({"group.version": "1"}, 1, data, ["t"]).features.levels["group.version"] == 1
    assert StoredConfigs({}, 1, data, []).topics.of("t")["retention.ms"] == 604_800_000
    data.close()
    (tmp_path / "feature-configs.json").write_text(
        '{"kohort": 1, "features": {"group.version": {"level": "9"}}}'
    )
    data = DataDirectory.open(tmp_path, SMALL)
    with pytest.raises(Unusable, match=r"feature-configs\.json: group.version must be a number from 0 to 1"):
        StoredConfigs({}, 1, data, [])
    data.abandon()
