"""How long a rebalance keeps partitions from their owners, from how members learn of it.

A classic member learns of a rebalance from the answer to its next heartbeat, and a member of the consumer protocol of a
new assignment likewise: after half an interval on average. Classic members that have rebalanced together send their
heartbeats in step from then on, as all were answered at once (seen with Java and librdkafka on 4.3.1); in a group that
has been at rest for long they are taken to be spread evenly, so that the last of `n` learns after `n / (n + 1)` of an
interval. What a broker and a client take themselves, and an application that is busy with its records, is not counted.
"""

from __future__ import annotations

from enum import Enum

CLASSIC_HEARTBEAT_S = 3.0
"""`heartbeat.interval.ms`, which all seven libraries set to 3 s unless told otherwise."""
CONSUMER_HEARTBEAT_S = 5.0
"""`group.consumer.heartbeat.interval.ms`, a broker's default."""
INITIAL_DELAY_S = 3.0
"""`group.initial.rebalance.delay.ms`: how long an empty classic group waits for more members."""
SESSION_S = 45.0
"""`session.timeout.ms` and `group.consumer.session.timeout.ms` by default: how long a static member may be away."""


class Rhythm(Enum):
    """When classic members send their heartbeats."""

    SPREAD = "spread"
    """Evenly over the interval: the group has been at rest for long."""
    IN_STEP = "in step"
    """All at once, sometime in the interval: the group has rebalanced since the plan began."""
    JUST_ANSWERED = "just answered"
    """All at once, an interval from now: the group has rebalanced this moment."""


def until_all_know_s(members: int, rhythm: Rhythm) -> float:
    """When the last of so many classic members learns of a rebalance, on average."""
    if not members:
        return 0.0
    if rhythm is Rhythm.SPREAD:
        return CLASSIC_HEARTBEAT_S * members / (members + 1)
    return CLASSIC_HEARTBEAT_S if rhythm is Rhythm.JUST_ANSWERED else CLASSIC_HEARTBEAT_S / 2


def until_others_know_s(members: int, rhythm: Rhythm) -> float:
    """How long one of so many classic members, having given up its partitions, waits for the last, on average."""
    if rhythm is not Rhythm.SPREAD or not members:
        return 0.0
    return until_all_know_s(members, rhythm) - CLASSIC_HEARTBEAT_S / 2
