"""Partitions and topics in the bytes of the embedded protocol; empty if the bytes cannot be read.

Results are cached: there are only a few different byte strings for each member.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from coordinator.consumer.outputs import Partitions, TopicPartition
from wire.messages.embedded_protocol import read_assignment, read_sticky, read_subscription
from wire.messages.reader import DecodeError

REMEMBERED = 1024


@lru_cache(maxsize=REMEMBERED)
def assigned(assignment: bytes) -> Partitions:
    """The partitions of an assignment; none if it is empty."""
    if not assignment:
        return frozenset()
    try:
        return _places(read_assignment(assignment).partitions)
    except DecodeError:
        return frozenset()


@lru_cache(maxsize=REMEMBERED)
def claimed(protocol: str | None, subscription: bytes) -> Partitions:
    """The partitions that a member claims; in an eager sticky group they are in its user data."""
    try:
        said = read_subscription(subscription)
        return _places(read_sticky(said.user_data or b"")[0] if protocol == "sticky" else said.owned)
    except DecodeError:
        return frozenset()


@lru_cache(maxsize=REMEMBERED)
def subscribed(subscription: bytes) -> tuple[str, ...]:
    """The topics that a member subscribes to."""
    try:
        return read_subscription(subscription).topics
    except DecodeError:
        return ()


def _places(partitions: Mapping[str, tuple[int, ...]]) -> Partitions:
    return frozenset(TopicPartition(topic, each) for topic, numbers in partitions.items() for each in numbers)
