"""Rules about a group's coordinator."""

from __future__ import annotations

from collections.abc import Iterator

from groups.diagnosis.case import Case, Symptom, error, rule

UNAVAILABLE = frozenset({"COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR"})
LOADING = "COORDINATOR_LOAD_IN_PROGRESS"


@rule(
    "coordinator-unavailable",
    "a coordinator that does not answer for the group",
    source="FindCoordinator, DescribeGroups (COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS)",
    of_unread=True,
)
def unavailable(case: Case) -> Iterator[Symptom]:
    """The newest observation failed at every attempt within --timeout."""
    last = case.observations[-1]
    name = None if last.problem is None else last.problem.error
    if name not in UNAVAILABLE and name != LOADING:
        return
    earlier = [each for each in case.observations if each.group is not None]
    failing = [each for each in case.observations if not earlier or each.at_ms > earlier[-1].at_ms]
    loads = name == LOADING
    yield error(
        message=(
            f"The group's coordinator {'is still loading its log' if loads else 'is not available'} ({name}): members "
            "can neither join, nor send heartbeats, nor commit."
        ),
        remedy=(
            "Check __consumer_offsets: a partition has no leader, or the topic is missing because "
            "offsets.topic.replication.factor is higher than the number of brokers (kafka-topics.sh --describe --topic "
            "__consumer_offsets)."
            if not loads
            else "Wait, and check the broker's log: loading takes long if __consumer_offsets is not compacted."
        ),
        since_ms=failing[0].at_ms,
        evidence={"error": name, "observations": len(case.observations), "failed_observations": len(failing)},
    )
