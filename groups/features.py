"""The features of a cluster: what their levels mean for groups, and what a lower level takes from them. Sources: the
enum Feature and MetadataVersion of Kafka 4.4.0, KIP-584, KIP-848, KIP-890, KIP-932, KIP-1071, KIP-1191."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from groups.listing import GroupType

METADATA_VERSION = "metadata.version"
_NAMES_OF_METADATA_VERSIONS = """
    3.0-IV1 3.1-IV0 3.2-IV0 3.3-IV0 3.3-IV1 3.3-IV2 3.3-IV3 3.4-IV0 3.5-IV0 3.5-IV1 3.5-IV2 3.6-IV0 3.6-IV1 3.6-IV2
    3.7-IV0 3.7-IV1 3.7-IV2 3.7-IV3 3.7-IV4 3.8-IV0 3.9-IV0 4.0-IV0 4.0-IV1 4.0-IV2 4.0-IV3 4.1-IV0 4.1-IV1 4.2-IV0
    4.2-IV1 4.3-IV0 4.4-IV0 4.4-IV1 4.4-IV2 4.5-IV0
"""
METADATA_VERSIONS = dict(enumerate(_NAMES_OF_METADATA_VERSIONS.split(), 1))
"""Names by level."""
_OLDEST_RELEASE = 7  # The lowest level that 4.x has, 3.3-IV3

MEANINGS: Mapping[str, tuple[str, ...]] = {
    "group.version": ("classic groups only", "consumer groups too (KIP-848)"),
    "share.version": (
        "no share groups",
        "share groups (KIP-932)",
        "share groups with dead-letter queues (KIP-1191)",
    ),
    "streams.version": ("no streams groups: Kafka Streams uses classic groups", "streams groups (KIP-1071)"),
    "transaction.version": (
        "a late commit may count for the next transaction",
        "records of transactions can be extended; a late commit may count for the next transaction",
        "offsets committed in a transaction belong to it alone (KIP-890)",
    ),
    "eligible.leader.replicas.version": (
        "no effect on groups",
        "no effect on groups; safer leaders (KIP-966)",
    ),
    "kraft.version": (
        "no effect on groups; fixed controllers",
        "no effect on groups; controllers can be added (KIP-853)",
    ),
}
"""By feature and level."""

_FIRST_RELEASES: Mapping[str, tuple[tuple[int, int], ...]] = {
    "group.version": ((1, 22),),
    "share.version": ((1, 28), (2, 31)),
    "streams.version": ((1, 29),),
    "transaction.version": ((2, 24),),
    "eligible.leader.replicas.version": ((1, 26),),
    "kraft.version": ((1, 21),),
}
"""The levels of a release, and the metadata.version from which on each is its default."""

AFTER_CONSUMER_GROUPS = (
    "Once a group has used the consumer protocol, the cluster can only be downgraded to 3.4.1 or later."
)
"""KIP-848, Compatibility, Deprecation, and Migration Plan: older brokers cannot read the records of such groups."""

GROUPS_OF: Mapping[str, GroupType] = {
    "group.version": GroupType.CONSUMER,
    "share.version": GroupType.SHARE,
    "streams.version": GroupType.STREAMS,
}
"""The type of groups that exists only with a feature."""


class Supported(NamedTuple):
    """The levels that a broker supports."""

    lowest: int
    highest: int


OFF = Supported(0, 0)
"""The levels of a broker that does not know a feature."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFeature:
    """A feature of a cluster. `finalized` is 0 if it is off; `by_broker` is empty if no broker was asked."""

    name: str
    finalized: int
    by_broker: Mapping[str, Supported]

    @property
    def supported(self) -> Supported | None:
        """The levels that all brokers support; None if there are none, or they are not known."""
        if not self.by_broker:
            return None
        lowest = max(levels.lowest for levels in self.by_broker.values())
        highest = min(levels.highest for levels in self.by_broker.values())
        return Supported(lowest, highest) if lowest <= highest else None

    def lacking(self, level: int) -> dict[str, Supported]:
        """The brokers that do not support a level, with what they support."""
        return {
            broker: levels
            for broker, levels in self.by_broker.items()
            if not levels.lowest <= level <= levels.highest
        }


def features_of(
    finalized: Mapping[str, int], supported: Mapping[str, Mapping[str, Supported]]
) -> tuple[ClusterFeature, ...]:
    """All features, by name. `supported`: the features of each broker; one that it does not know is off there."""
    names = sorted({*finalized, *(name for features in supported.values() for name in features)})
    return tuple(
        ClusterFeature(
            name=name,
            finalized=finalized.get(name, 0),
            by_broker={broker: features.get(name, OFF) for broker, features in supported.items()},
        )
        for name in names
    )


def level_name(feature: str, level: int) -> str:
    """A level as Kafka's tools print it: a metadata.version by its name."""
    if feature != METADATA_VERSION:
        return str(level)
    return METADATA_VERSIONS.get(level, f"UNKNOWN {level}")


def meaning(feature: str, level: int) -> str | None:
    """What a level means for groups; None if it is not known."""
    if feature == METADATA_VERSION:
        name = METADATA_VERSIONS.get(level)
        return name and f"no effect on groups; metadata of {name}"
    known = MEANINGS.get(feature, ())
    return known[level] if level < len(known) else None


def lost_type(feature: str, before: int, after: int) -> GroupType | None:
    """The type of groups that a change turns off: their members are refused."""
    return GROUPS_OF.get(feature) if before > 0 and after == 0 else None


def releases() -> tuple[str, ...]:
    """The releases that `release_levels` knows, oldest first."""
    names = (name.partition("-")[0] for level, name in METADATA_VERSIONS.items() if level >= _OLDEST_RELEASE)
    return tuple(dict.fromkeys(names))


def release_levels(release: str, names: Iterable[str], *, downgrades: bool) -> dict[str, int]:
    """The default levels of a release (`4.3` or `4.3-IV0`), as `kafka-features.sh --release-version` sets them: an
    upgrade leaves features out that the release does not have. `names`: features of the cluster. Raises ValueError:
    there is no such release."""
    fitting = [
        level
        for level, name in METADATA_VERSIONS.items()
        if level >= _OLDEST_RELEASE and release in (name, name.partition("-")[0])
    ]
    if not fitting:
        raise ValueError(f"{release!r} is not a release: there are {', '.join(releases())}")
    metadata = fitting[-1]
    levels = {METADATA_VERSION: metadata}
    for feature, firsts in _FIRST_RELEASES.items():
        level = max((level for level, first in firsts if first <= metadata), default=0)
        if feature in names and (level or downgrades):
            levels[feature] = level
    return levels
