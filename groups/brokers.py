"""What the brokers of a cluster are and are set to, as far as a migration depends on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from groups.model import Cluster

_OTHER_GROUPS = ("group.share.", "group.streams.")
"""Settings of groups that are never migrated."""


def with_settings(
    cluster: Cluster, told: Mapping[str, Mapping[str, str | None]], failed: Mapping[str, str]
) -> Cluster:
    """The cluster with the settings that each broker told, and why the brokers that `failed` did not.

    A group's coordinator may be any broker, so a setting only holds where all of them agree.
    """
    problem = "; ".join(f"broker {broker}: {message}" for broker, message in sorted(failed.items())) or None
    if not told:
        return replace(cluster, settings_problem=problem)
    values: dict[str, set[str]] = {}
    for settings in told.values():
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
    """Whether a setting is the group coordinator's for classic and consumer groups (GroupCoordinatorConfig)."""
    return name.startswith("group.") and not name.startswith(_OTHER_GROUPS)


_NEWEST_LEVELS = {"3.3": 7, "3.4": 8, "3.5": 11, "3.6": 14, "3.7": 19, "3.8": 20, "3.9": 21, "4.0": 25}
"""The highest metadata.version of each release (MetadataVersion); only 4.0 must be told from what came later."""


def release_of(level: int | None) -> str | None:
    """The release of a broker by the highest metadata.version that it supports; None when it does not say."""
    if level is None:
        return None
    fitting = [release for release, newest in _NEWEST_LEVELS.items() if level <= newest]
    return fitting[0] if fitting else "4.1 or later"
