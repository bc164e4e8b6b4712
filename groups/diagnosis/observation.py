"""One observation of a group, and the thresholds of the rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from groups.model import Cluster, Group, OpenTransaction, Problem, Topic
from groups.progress import COMMIT_INTERVAL_MS
from groups.readable import NextRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """A group at one moment. Facts of the cluster, such as `topics`, are shared between its groups."""

    at_ms: int
    """The time when the group had been described, in milliseconds since 1970."""
    group: Group | None
    """None if the group could not be read. Its `offsets` are None if they were not requested: observations between
    the first and the last show members only."""
    problem: Problem | None = None
    """The reason if the group could not be read."""
    topics: Mapping[str, Topic] | None = None
    """The existing topics that groups read, commit to or name, with their offsets; None: not requested."""
    missing_topics: frozenset[str] | None = None
    """Topics that groups read, commit to or name but that do not exist; None when not known, as from a file."""
    topic_names: frozenset[str] | None = None
    """The names of all topics of the cluster; None when not known, or not requested because no member has a regex."""
    cluster: Cluster | None = None
    """The version and settings of the brokers; None: not requested."""
    waiting_since_ms: Mapping[tuple[str, int], int | None] = field(default_factory=dict)
    """The time since which a partition has unread records, in milliseconds since 1970: the later of the last commit
    and the write time of the first unread record. None: no unread record, only transaction markers and aborted records.
    Contains only the partitions for which it was requested."""
    next_records: Mapping[tuple[str, int], NextRecord] = field(default_factory=dict)
    """What follows the group's committed offset in the partitions for which it was requested."""
    transactions: Mapping[tuple[str, int], tuple[OpenTransaction, ...]] | None = None
    """Open transactions by partition, the earliest first, of partitions whose last stable offset is before the end;
    None: not requested."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """The limits beyond which a rule reports a finding. Durations in milliseconds."""

    rebalance_ms: int = 15_000
    """A rebalance that lasts this long is stuck: a member of the consumer protocol takes part with a heartbeat every
    5 seconds, a classic member with a heartbeat every 3 seconds and its next poll."""
    storm: int = 3
    """This many rebalances, or joins and departures of one host, during the observations are a storm."""
    commit_interval_ms: int = COMMIT_INTERVAL_MS
    """The interval at which consumers commit. An offset that does not move for three intervals, with records to read,
    is stalled."""
    catch_up_ms: int = 3_600_000
    """A group that takes longer to catch up, at the present rates, is slow."""
    hot: float = 10.0
    """A partition with this many times the lag of the topic's other partitions is hot."""
    transaction_ms: int = 60_000
    """A transaction that is open for this long blocks consumers (the default of `transaction.timeout.ms`)."""
    expiry_ms: int = 24 * 3_600_000
    """Offsets that may expire within this time are reported."""
    skew: float = 2.0
    """A member with this many times the partitions of another member with the same subscription has too many."""
