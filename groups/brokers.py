"""The version and settings of a cluster's brokers that a migration depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from groups.model import Cluster

OFFSETS_RETENTION = "offsets.retention.minutes"
_OTHER_GROUPS = ("group.share.", "group.streams.")
"""Prefixes of settings for share and streams groups, which are never migrated."""


def with_settings(
    cluster: Cluster, by_broker: Mapping[str, Mapping[str, str | None]], failed: Mapping[str, str]
) -> Cluster:
    """Add the settings that each broker returned to the cluster, and the errors of the brokers that `failed`.

    Any broker may be a group's coordinator, so a setting is known only if all brokers agree on it.
    """
    problem = "; ".join(f"broker {broker}: {message}" for broker, message in sorted(failed.items())) or None
    if not by_broker:
        return replace(cluster, settings_problem=problem)
    values: dict[str, set[str]] = {}
    for settings in by_broker.values():
        for name, value in settings.items():
            if value is not None and _matters(name):
                values.setdefault(name, set()).add(value)
    return replace(
        cluster,
        settings={name: min(found) for name, found in sorted(values.items()) if len(found) == 1},
        settings_differ={
            name: tuple(sorted(found)) for name, found in sorted(values.items()) if len(found) > 1
        },
        settings_problem=problem,
    )


def _matters(name: str) -> bool:
    """Whether it is a setting of the group coordinator for classic and consumer groups (GroupCoordinatorConfig)."""
    return name == OFFSETS_RETENTION or (name.startswith("group.") and not name.startswith(_OTHER_GROUPS))


_NEWEST_LEVELS = {
    "3.3": 7, "3.4": 8, "3.5": 11, "3.6": 14, "3.7": 19, "3.8": 20, "3.9": 21,
    "4.0": 25, "4.1": 27, "4.2": 29, "4.3": 30, "4.4": 33,
}  # fmt: skip
"""The highest metadata.version of each release (MetadataVersion of 4.4.0)."""

_FIRST_SHARE_FETCH_OF_4_2 = 2


def release_of(level: int | None, share_fetch: int | None = None) -> str | None:
    """The release of a broker, from the highest metadata.version that it supports; None when unknown.

    A 4.1 broker with `unstable.feature.versions.enable`, which its preview features need, reports the level of 4.2;
    its newest version of ShareFetch, `share_fetch`, distinguishes the two.
    """
    if level is None:
        return None
    fitting = [release for release, newest in _NEWEST_LEVELS.items() if level <= newest]
    release = fitting[0] if fitting else "4.5 or later"
    if release == "4.2" and share_fetch is not None and share_fetch < _FIRST_SHARE_FETCH_OF_4_2:
        return "4.1"
    return release
