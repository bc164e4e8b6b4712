"""Rules about the consumers of Kafka Connect's sink tasks: a connector's settings, if the workers allow them."""

from __future__ import annotations

from collections.abc import Iterator

from groups.findings import Finding
from migration.client_config import OVERRIDE_POLICY
from migration.rules.case import Case, members_by

_ALL = "All"
_REFUSING = ("None", "Principal")
"""Policies that refuse every setting that a migration changes; their classes are named after them."""
_SOURCE = "KIP-458; KIP-722: All since Kafka 3.0; KIP-1188: Allowlist since 4.2, and the default of 5.0"


def connector_may_override(case: Case) -> Iterator[Finding]:
    """A connector's `consumer.override.` settings need a policy of the workers that allows them."""
    sinks = members_by(case, lambda it: it.library.name if it.library else None).get("connect")
    if sinks is None:
        return
    setting = next((entry for config in case.configs if (entry := config.setting(OVERRIDE_POLICY))), None)
    policy = (
        setting.value.rpartition(".")[2].removesuffix("ConnectorClientConfigOverridePolicy")
        if setting
        else None
    )
    if policy == _ALL:
        return
    if policy in _REFUSING:
        yield case.warning(
            "connect-override",
            members=sinks,
            message=f"{OVERRIDE_POLICY} of the Connect workers is {policy}: it refuses the consumer.override settings "
            "of a connector.",
            remedy=f"Set it to {_ALL} on every worker (a rolling restart). Or set the lines of the steps on the "
            "workers, with consumer. instead of consumer.override.: they apply to all sink connectors.",
            source=_SOURCE,
        )
        return
    known = f"is {policy}" if policy else "is unknown (All by default since Kafka 3.0, None before)"
    yield case.info(
        "connect-override",
        members=sinks,
        message="The members are tasks of a Kafka Connect sink connector. The connector's configuration accepts the "
        f"lines of the steps if {OVERRIDE_POLICY} of the workers allows them. It {known}.",
        remedy="Check the policy; an allow list must contain group.protocol, group.remote.assignor and "
        "partition.assignment.strategy. Settings of the workers under consumer. apply to all sink connectors.",
        source=_SOURCE,
    )
