"""A scenario: topics, members, what happens when, and which faults there are. Times are in seconds, as in its file.

Where the file has another name for a field (`for`, `until`), its metadata have it (`groups.trees`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, TypeAlias

from groups.trees import Between, named

Chance = Annotated[float, Between(0, 1)]


class Variant(Enum):
    """Under which protocol the members of a scenario are played."""

    AS_WRITTEN = "as-written"
    EAGER = "eager"
    COOPERATIVE = "cooperative"
    CONSUMER = "consumer"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenerScript:
    """What a method of the rebalance listener does: takes so long, then throws or returns. None: never returns."""

    takes_s: float | None = field(default=0.0, metadata=named("takes"))
    throws: bool = False
    commits: bool = False
    """Calls commitSync."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberScript:
    """A consumer as it is configured when it starts."""

    library: str = "java"
    protocol: str = "classic"
    """classic or consumer."""
    assignors: tuple[str, ...] = ()
    """Of the classic protocol, preferred first; none: the library's default."""
    remote_assignor: str | None = None
    local_assignors: tuple[str, ...] = ()
    """Client-side assignors of KIP-848, which Kafka never shipped."""
    topics: tuple[str, ...] = ()
    regex: str | None = None
    """Of the broker under the consumer protocol, of the client (a Java Pattern) under the classic one."""
    instance: str | None = None
    rack: str | None = None
    subscription_version: int = 3
    """Of the embedded protocol: 0 is a member that does not report what it owns."""
    config: Mapping[str, str] = field(default_factory=dict)
    """Consumer settings by Kafka's names."""
    listener: Mapping[str, ListenerScript] = field(default_factory=dict)
    """By method: assigned, revoked, lost."""
    after_error: str | None = None
    """What the application does when `poll` throws: poll-again (the default of both libraries) or die."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A consumer's process starts and polls."""

    at: float
    member: str = field(metadata=named("start"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Close:
    """`Consumer.close`, then the process ends."""

    at: float
    member: str = field(metadata=named("close"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """The process ends without a word."""

    at: float
    member: str = field(metadata=named("kill"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """The application is outside `poll` (busy with its records) for so long; the background thread goes on."""

    at: float
    member: str = field(metadata=named("pause"))
    for_s: float = field(metadata=named("for"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Freeze:
    """The whole process stands still for so long (SIGSTOP, a long garbage collection)."""

    at: float
    member: str = field(metadata=named("freeze"))
    for_s: float = field(metadata=named("for"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """Close and start anew, with other settings where `script` differs; the new process starts `after_s` later."""

    at: float
    member: str
    script: MemberScript
    after_s: float = 0.0
    kill: bool = False
    """Killed, not closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnforceRebalance:
    """`Consumer.enforceRebalance` (KIP-568)."""

    at: float
    member: str = field(metadata=named("enforce_rebalance"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscribe:
    at: float
    member: str = field(metadata=named("subscribe"))
    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """`commitSync` of what was read."""

    at: float
    member: str = field(metadata=named("commit"))


@dataclass(frozen=True, slots=True, kw_only=True)
class AskCommitted:
    """`Consumer.committed` of what it is assigned."""

    at: float
    member: str = field(metadata=named("committed"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeTopic:
    """The topic has so many partitions from now on: created, grown or, None, deleted. `anew` gives it another id."""

    at: float
    topic: str
    partitions: int | None
    anew: bool = False


class CoordinatorFault(Enum):
    CRASH = "crash"
    """It stops, between append and answer where it can, and comes back by replay."""
    MOVE = "move"
    """Another node loads the log and takes over; the old one answers NOT_COORDINATOR."""
    ZOMBIE = "zombie"
    """As MOVE, but the old one goes on answering its clients for so long; what it writes is lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailCoordinator:
    """`for_s`: how long it is away, loads, or lingers."""

    at: float
    fault: CoordinatorFault = field(metadata=named("coordinator"))
    for_s: float = field(default=0.0, metadata=named("for"))
    compacted: bool = False
    """Whether the log has been compacted when it is replayed; the seed says how far (`compacted_log`)."""


Event: TypeAlias = (
    Start
    | Close
    | Kill
    | Pause
    | Freeze
    | Restart
    | EnforceRebalance
    | Subscribe
    | Commit
    | AskCommitted
    | ChangeTopic
    | FailCoordinator
)
"""Something that happens at a moment."""


class Direction(Enum):
    """Which way a partitioned network loses messages."""

    BOTH = "both"
    REQUESTS = "requests"
    ANSWERS = "answers"


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkPartition:
    """Between these members and every coordinator nothing arrives."""

    members: tuple[str, ...]
    start_s: float = field(metadata=named("from"))
    end_s: float = field(metadata=named("to"))
    direction: Direction = Direction.BOTH


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """Of the network. `loss` and `duplicate` are the chances of a message, from 0 to 1."""

    loss: Chance = 0.0
    duplicate: Chance = 0.0
    delay_ms: tuple[int, int] = (1, 5)
    reorder: bool = False
    """Whether a message may overtake an earlier one of its connection (one that broke meanwhile)."""
    partitions: tuple[NetworkPartition, ...] = field(default=(), metadata=named("partition"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """See the module. Members that no event starts never run; `events` are in the order of time."""

    name: str
    description: str = ""
    topics: Mapping[str, int] = field(default_factory=dict)
    """Partitions by topic at the beginning; a topic that a later event creates is not among them."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """The brokers' settings."""
    without: tuple[str, ...] = ()
    """KIPs and fixes that the brokers lack (`earlier_brokers`)."""
    members: Mapping[str, MemberScript] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    faults: Faults = Faults()
    records_per_s: float = 10.0
    """Written to each partition."""
    until_s: float = 120.0
    metadata_delay_s: float = 0.0
    """How much later than the brokers the clients see a change of topics; their own refresh comes on top of it."""
