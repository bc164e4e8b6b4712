"""The features of the cluster and their finalized levels (KIP-584, KIP-1022); level 0 is off. Turning
`group.version` off leaves consumer groups unchanged: their members are not answered any more, and their sessions
expire. Source: FeatureControlManager."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum

from coordinator.configs.release import Release
from coordinator.errors import InvalidSetting, RequestRefused
from wire.errors import ErrorCode

GROUP_VERSION = "group.version"
METADATA_VERSION = "metadata.version"
TRANSACTION_VERSION = "transaction.version"


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureLevels:
    """The supported levels, and the default of a new cluster."""

    lowest: int
    highest: int
    default: int


FEATURES: Mapping[str, FeatureLevels] = {
    "eligible.leader.replicas.version": FeatureLevels(lowest=0, highest=1, default=1),
    GROUP_VERSION: FeatureLevels(lowest=0, highest=1, default=1),
    METADATA_VERSION: FeatureLevels(lowest=7, highest=33, default=33),
    TRANSACTION_VERSION: FeatureLevels(lowest=0, highest=2, default=2),
}
"""As in Kafka 4.4.0."""


def features_of(release: Release) -> Mapping[str, FeatureLevels]:
    """The features of a release."""
    newest = release.metadata_version
    return {**FEATURES, METADATA_VERSION: FeatureLevels(lowest=7, highest=newest, default=newest)}


class UpgradeType(IntEnum):
    """The kind of an update (FeatureUpdate.UpgradeType)."""

    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureUpdate:
    """The requested level of a feature; `type` is the number that the client sent."""

    name: str
    level: int
    type: int


class Features:
    """The finalized levels of the features."""

    def __init__(self, levels: Mapping[str, int], release: Release = Release.KAFKA_4_4) -> None:
        """`levels`: the levels that differ from a new cluster's; a level that the release does not have is its
        newest one."""
        self.supported = features_of(release)
        self.levels = {
            name: min(levels.get(name, feature.default), feature.highest)
            for name, feature in self.supported.items()
        }
        self.epoch = 1  # Increases with every change

    def check(self, updates: Iterable[FeatureUpdate]) -> Mapping[str, int]:
        """The new levels of the updated features. Raises RequestRefused: one of the updates is not possible."""
        levels = {}
        for update in updates:
            why = self._refusal(update)
            if why is not None:
                message = (
                    f"The update failed for all features since the following feature had an error: {why}"
                )
                raise RequestRefused(ErrorCode.INVALID_UPDATE_VERSION, message)
            levels[update.name] = update.level
        return levels

    def set_levels(self, levels: Mapping[str, int]) -> None:
        """Set levels returned by `check`."""
        after = {**self.levels, **levels}
        if after != self.levels:
            self.levels = after
            self.epoch += 1

    def _refusal(self, update: FeatureUpdate) -> str | None:
        invalid = f"Invalid update version {update.level} for feature {update.name}."
        feature = self.supported.get(update.name)
        if update.type not in list(UpgradeType):
            return f"{invalid} The controller does not support the given upgrade type."
        if update.level < 0:
            return f"{invalid} A feature version cannot be less than 0."
        if feature is None:
            return f"{invalid} Local controller 1 does not support this feature."
        if not feature.lowest <= update.level <= feature.highest:
            return f"{invalid} Local controller 1 only supports versions {feature.lowest}-{feature.highest}"
        current = self.levels[update.name]
        if update.level > current and update.type != UpgradeType.UPGRADE:
            return f"{invalid} Can't downgrade to a newer version."
        if update.level >= current:
            return None
        if update.type == UpgradeType.UPGRADE:
            how = "without setting the upgrade type to either safe or unsafe downgrade"
            return f"{invalid} Can't downgrade the version of this feature {how}."
        if update.name != METADATA_VERSION:
            return None
        why = "Unsafe metadata downgrade is not supported in this version."
        if update.type == UpgradeType.SAFE_DOWNGRADE:
            why = "Refusing to perform the requested downgrade because it might delete metadata information."
        return f"Unsupported metadata.version downgrade from {current} to {update.level}. {why}"


def parse_level(name: str, text: str) -> int:
    """Parse the level of a feature. Raises InvalidSetting."""
    feature = FEATURES[name]
    if not text.strip().isdecimal() or not feature.lowest <= int(text) <= feature.highest:
        bounds = f"from {feature.lowest} to {feature.highest}"
        raise InvalidSetting(f"{name} must be a number {bounds}, not {text!r}")
    return int(text)
