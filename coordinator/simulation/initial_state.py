"""The initial state of a run that does not start empty: time, log, topic ids and offsets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from coordinator.consumer.outputs import Partitions, TopicPartition
from coordinator.engine.records import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """The client of a member, as the coordinator knows it."""

    id: str
    host: str = "/127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class InitialState:
    """See the module. The default is an empty log and empty topics at 0 ms."""

    at_ms: int = 0
    log: tuple[Record, ...] = ()
    """The log of the simulation's one group (`consumers.GROUP`)."""
    topic_ids: Mapping[str, UUID] = field(default_factory=dict)
    """By topic; if missing, an id is derived from the topic's name."""
    offsets: Mapping[TopicPartition, int] = field(default_factory=dict)
    """The next offset of a partition; 0 if missing."""
    clients: Mapping[str, Client] = field(default_factory=dict)
    """By member; if missing, the member's name is its client id."""
    histories: Mapping[str, Partitions] = field(default_factory=dict)
    """By classic member: the last assignment of its earlier process, which it claims when it joins."""
