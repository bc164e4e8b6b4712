"""Replicas that an administrator places by hand. There is one broker to place them on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from coordinator.server.topics import TopicRefused
from wire.errors import ErrorCode

MOST_PARTITIONS = 10_000
"""New ones of one request. A partition is a record of the controller's, and it writes no more at once."""
TOO_MANY = "Unable to perform excessively large batch operation."
_MANUAL = "The manual partition assignment includes"


def check_placed(replicas: Iterable[Sequence[int]], node_id: int) -> None:
    """Judge the brokers of each partition. :raises TopicRefused: none, one twice, or one that is not there"""
    for brokers in replicas:
        if not brokers:
            raise TopicRefused(ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"{_MANUAL} an empty replica list.")
        for broker in brokers:
            if broker != node_id:
                why = f"{_MANUAL} broker {broker}, but no such broker is registered."
                raise TopicRefused(ErrorCode.INVALID_REPLICA_ASSIGNMENT, why)
        if len(brokers) > 1:
            why = f"{_MANUAL} the broker {node_id} more than once."
            raise TopicRefused(ErrorCode.INVALID_REPLICA_ASSIGNMENT, why)
