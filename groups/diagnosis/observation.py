"""One observation of a group, and the thresholds of the rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from groups.model import Cluster, Group, OpenTransaction, Problem, Topic
from groups.progress import COMMIT_INTERVAL_MS


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """A group at one moment. Facts of the cluster, such as `topics`, are shared between its groups."""

    at_ms: int
    """When the group had been described, in milliseconds since 1970."""
    group: Group | None
    """None: it could not be read. Its `offsets` are None where they were not requested: observations between the first
    and the last show members only."""
    problem: Problem | None = None
    """Why it could not be read."""
    topics: Mapping[str, Topic] | None = None
    """Those that exist of the topics that groups read, commit to or name, with their offsets; None: not requested."""
    missing_topics: frozenset[str] | None = None
    """Those of them that do not exist; None when not known: a file does not know it."""
    topic_names: frozenset[str] | None = None
    """Of every topic of the cluster; None when not known, or not requested because no member has a regex."""
    cluster: Cluster | None = None
    """None: not requested."""
    waiting_since_ms: Mapping[tuple[str, int], int | None] = field(default_factory=dict)
    """Since when records of a partition wait that are not read, in milliseconds since 1970: the later one of the last
    commit and of the moment when the first unread record was written. None: no such record, only markers of
    transactions. Of the partitions for which that was requested."""
    transactions: Mapping[tuple[str, int], tuple[OpenTransaction, ...]] | None = None
    """Those that are open, by partition, the first leading, of partitions whose last stable offset is before the
    end; None: not requested."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """From when on something is worth a finding. Durations in milliseconds."""

    rebalance_ms: int = 15_000
    """A rebalance that has lasted so long does not end: a member of the consumer protocol takes part with a heartbeat
    every 5 seconds, a classic one with a heartbeat every 3 seconds and its next poll."""
    storm: int = 3
    """This many rebalances, or joins and departures of one host, during the observations are a storm."""
    commit_interval_ms: int = COMMIT_INTERVAL_MS
    """How often consumers commit. An offset that does not move for three times as long, with records to read,
    stalls."""
    catch_up_ms: int = 3_600_000
    """A group that takes longer to catch up, at the present rates, is slow."""
    hot: float = 10.0
    """A partition with this many times the lag of the topic's other partitions is hot."""
    transaction_ms: int = 60_000
    """A transaction that is open for so long blocks consumers (the default of `transaction.timeout.ms`)."""
    expiry_ms: int = 24 * 3_600_000
    """Offsets that may expire within so long are about to."""
    skew: float = 2.0
    """A member that owns this many times the partitions of another one with the same subscription has too many."""
