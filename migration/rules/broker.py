"""What the cluster must offer."""

from __future__ import annotations

from collections.abc import Iterator

from migration.model import Destination, Finding, Level
from migration.rules.case import Case


def group_version_is_finalised(case: Case) -> Iterator[Finding]:
    """The consumer protocol needs the feature group.version at level 1."""
    if case.destination is not Destination.CONSUMER:
        return
    level = case.cluster.features.get("group.version")
    if level is None and not case.cluster.features:
        yield Finding(
            rule="group-version",
            level=Level.WARNING,
            message="Whether the cluster has finalised group.version=1 is not known from this source.",
            remedy="Ask the cluster: kafka-features.sh --bootstrap-server … describe.",
            source="KIP-848, Compatibility, Deprecation, and Migration Plan",
        )
    elif not level:
        yield Finding(
            rule="group-version",
            level=Level.BLOCKER,
            message="The cluster has not finalised group.version=1; it does not speak the consumer protocol.",
            remedy="Brokers ≥ 4.0, then: kafka-features.sh --bootstrap-server … upgrade --feature group.version=1.",
            source="KIP-848, Compatibility, Deprecation, and Migration Plan",
        )
