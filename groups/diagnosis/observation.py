"""What one look at a group shows, and the limits by which rules judge it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from groups.model import Cluster, Group, Problem, Topic


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """A group at one moment. What is the same for all groups of a look, such as `topics`, is shared between them."""

    at_ms: int
    """When the group had been described, in milliseconds since 1970."""
    group: Group | None
    """None: it could not be read. Its `offsets` are None where they were not asked for: looks between the first and the
    last show members only."""
    problem: Problem | None = None
    """Why it could not be read."""
    topics: Mapping[str, Topic] | None = None
    """Those that exist of the topics that groups read, commit to or name, with their offsets; None: not asked for."""
    unread_topics: frozenset[str] = frozenset()
    """Those of them that could not be read: they may exist."""
    missing_topics: frozenset[str] | None = None
    """Those of them that do not exist; None when not known: a file does not know it."""
    topic_names: frozenset[str] | None = None
    """Of every topic of the cluster; None when not known, or not asked for because no member has a regex."""
    cluster: Cluster | None = None
    """None: not asked for."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """The group's settings, the brokers' defaults included (`consumer.session.timeout.ms`), as far as known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """From when on something is worth a finding. Durations in milliseconds."""

    rebalance_ms: int = 15_000
    """A rebalance that has lasted so long does not end: a member of the consumer protocol takes part with a heartbeat
    every 5 seconds, a classic one with a heartbeat every 3 seconds and its next poll."""
    storm: int = 3
    """So many rebalances, or comings and goings of one host, within the time of the looks are a storm."""
    skew: float = 2.0
    """A member that owns so many times as many partitions as another one of the same subscription has too many."""
