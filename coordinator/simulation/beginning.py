"""What a world begins with, where it does not begin with nothing: a moment, a log, topics that have ids and records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from coordinator.consumer.outputs import Partitions, TopicPartition
from coordinator.engine.records import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """Who sends a request, as the coordinator sees it."""

    id: str
    host: str = "/127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """See the module. By default: at 0 ms, an empty log, empty topics."""

    at_ms: int = 0
    log: tuple[Record, ...] = ()
    """Of the simulation's one group (`consumers.GROUP`)."""
    topic_ids: Mapping[str, UUID] = field(default_factory=dict)
    """By topic; others get ids that follow from their names."""
    offsets: Mapping[TopicPartition, int] = field(default_factory=dict)
    """Of the next record of a partition; 0 where it is missing."""
    clients: Mapping[str, Client] = field(default_factory=dict)
    """By member; others have their name as client id."""
    histories: Mapping[str, Partitions] = field(default_factory=dict)
    """By member of the classic protocol: what another process of it was assigned last, which it claims as it joins."""
