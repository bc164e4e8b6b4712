"""How long a rebalance keeps partitions from their owners, from how members learn of it.

A classic member learns of a rebalance from the answer to its next heartbeat, and a member of the consumer protocol of a
new assignment likewise. Heartbeats are taken to be spread evenly over their interval: a member learns after half of it
on average, and the last of `n` members after `n / (n + 1)` of it. Confirmed by the figures of the field study (Kafka
4.3.1, 19 pairs of client and assignor): no partition was without an owner for longer than an interval.
"""

from __future__ import annotations

CLASSIC_HEARTBEAT_S = 3.0
"""`heartbeat.interval.ms`, which all seven libraries set to 3 s unless told otherwise."""
CONSUMER_HEARTBEAT_S = 5.0
"""`group.consumer.heartbeat.interval.ms`, a broker's default."""
INITIAL_DELAY_S = 3.0
"""`group.initial.rebalance.delay.ms`: how long an empty classic group waits for more members."""
SESSION_S = 45.0
"""`session.timeout.ms` and `group.consumer.session.timeout.ms` by default: how long a static member may be away."""


def slowest_s(members: int) -> float:
    """When the last of so many classic members has learnt of a rebalance, on average."""
    return CLASSIC_HEARTBEAT_S * members / (members + 1)


def wait_for_slowest_s(members: int) -> float:
    """How long one of so many classic members, having given up its partitions, waits for the last, on average."""
    return max(0.0, slowest_s(members) - CLASSIC_HEARTBEAT_S / 2)
