"""A scenario: topics, members, events and faults. Times are in seconds, as in its file.
A field's metadata has its name in the file where that is a keyword or similar (`for`, `until`; `groups.trees`)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, TypeAlias

from coordinator.consumer.outputs import CallbackKind
from coordinator.faults import MAX_SECONDS, ChangeTopic, FailCoordinator, PartitionCount, Seconds
from groups.trees import INT64, UNWRITTEN, Between, PartitionNumbers, named

Chance = Annotated[float, Between(0, 1)]
Milliseconds = Annotated[int, Between(0, MAX_SECONDS * 1000, "ms")]


class Variant(Enum):
    """The protocol that all members of a scenario use."""

    AS_WRITTEN = "as-written"
    EAGER = "eager"
    COOPERATIVE = "cooperative"
    CONSUMER = "consumer"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenerScript:
    """What a method of the listener does: it takes this long (None: never returns), then throws or returns."""

    takes_s: Seconds | None = field(default=0.0, metadata=named("takes"))
    throws: bool = False
    commits: bool = False  # Whether it calls commitSync
    unsubscribes: bool = False  # Whether it calls `Consumer.unsubscribe`


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberScript:
    """A consumer's configuration when it starts."""

    library: str = "java"
    protocol: str = "classic"  # classic or consumer
    assignors: tuple[str, ...] = ()
    """Assignors of the classic protocol, preferred first; none: the library's default."""
    remote_assignor: str | None = None
    local_assignors: tuple[str, ...] = ()  # Client-side assignors of KIP-848, which Kafka never shipped
    topics: tuple[str, ...] = ()
    """A topic need not exist. Neither topics nor a regex: the application does not subscribe at the start."""
    regex: str | None = None
    """Matched by the broker in the consumer protocol, by the client in the classic one (a Java Pattern there)."""
    instance: str | None = None
    rack: str | None = None
    subscription_version: int = 3
    """The version of the embedded protocol: a member with version 0 does not report what it owns."""
    batch_topic_changes_s: Seconds = field(default=0.0, metadata=named("batch_topic_changes"))
    """How long a classic member collects changes of topics before it rejoins (client-side assignment proposal); no
    client has it."""
    config: Mapping[str, str] = field(default_factory=dict)  # Consumer settings by Kafka's names
    state: Mapping[str, str] = field(default_factory=dict)
    """What its application shows its custom assignors, by name (`assignors.conversation.ApplicationState`)."""
    listener: Mapping[str, ListenerScript] = field(default_factory=dict)
    """By the listener's method: assigned, revoked, lost. Without `lost`, `revoked` is called in its place."""
    after_error: str | None = None
    """How the application handles an exception of `poll`: poll-again (the default of both libraries) or die."""
    release: str | None = None  # Of Kafka Streams, if the member is a thread; None: the newest
    upgrade_from: str | None = None
    """`upgrade.from` of Kafka Streams: one before 2.4 makes the thread eager (`groups.streams_releases`)."""

    def method_of(self, kind: CallbackKind) -> CallbackKind:
        """The method that runs when `kind` is called: `lost` calls `revoked` in a listener that only has that
        (ConsumerRebalanceListener.onPartitionsLost; confluent-kafka without `on_lost`)."""
        has_default = (
            CallbackKind.REVOKED.value in self.listener and CallbackKind.LOST.value not in self.listener
        )
        return CallbackKind.REVOKED if kind is CallbackKind.LOST and has_default else kind


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsScript:
    """An application of Kafka Streams, whose threads are the members (`coordinator.simulation.streams`)."""

    topology: str  # The text of Topology#describe; internal topics are prefixed with `group-`
    processes: Mapping[str, tuple[str, ...]]  # Members by process
    settings: Mapping[str, Annotated[int, Between(0, INT64)]] = field(default_factory=dict)
    """Kafka Streams' settings of the assignment, by Kafka's names."""
    state: Annotated[int, Between(0, INT64)] = 100_000  # Offsets in the changelogs of each task with state
    restored_per_s: Annotated[float, Between(0, 1_000_000_000)] = 10_000.0  # Of each task, at each thread


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A consumer's process starts and polls."""

    at: Seconds
    member: str = field(metadata=named("start"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Close:
    """`Consumer.close`, then the process stops."""

    at: Seconds
    member: str = field(metadata=named("close"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """The process stops without leaving."""

    at: Seconds
    member: str = field(metadata=named("kill"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """The application is outside `poll` (busy with its records) for this long; the background thread continues."""

    at: Seconds
    member: str = field(metadata=named("pause"))
    for_s: Seconds = field(metadata=named("for"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Freeze:
    """The whole process is frozen for this long (SIGSTOP, a long garbage collection)."""

    at: Seconds
    member: str = field(metadata=named("freeze"))
    for_s: Seconds = field(metadata=named("for"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """Close and start again, with other settings if `script` differs; the new process starts `after_s` later."""

    at: Seconds
    member: str = field(metadata=named("restart"))
    script: MemberScript = field(default=MemberScript(), metadata=UNWRITTEN)
    after_s: Seconds = field(default=0.0, metadata=named("after"))
    kill: bool = False  # Whether it is killed, not closed


@dataclass(frozen=True, slots=True, kw_only=True)
class EnforceRebalance:
    """`Consumer.enforceRebalance` (KIP-568)."""

    at: Seconds
    member: str = field(metadata=named("enforce_rebalance"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeState:
    """The application changes what it shows its assignors, which read it when they are called next."""

    at: Seconds
    member: str = field(metadata=named("change_state"))
    state: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscribe:
    """`Consumer.subscribe` with topics or a regex: a Pattern in the classic protocol, else a SubscriptionPattern."""

    at: Seconds
    member: str = field(metadata=named("subscribe"))
    topics: tuple[str, ...] = ()
    regex: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsubscribe:
    """`Consumer.unsubscribe`."""

    at: Seconds
    member: str = field(metadata=named("unsubscribe"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Assign:
    """`Consumer.assign`: the application chooses its partitions itself."""

    at: Seconds
    member: str = field(metadata=named("assign"))
    partitions: Mapping[str, PartitionNumbers]


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """`commitSync` of all positions."""

    at: Seconds
    member: str = field(metadata=named("commit"))


@dataclass(frozen=True, slots=True, kw_only=True)
class AskCommitted:
    """`Consumer.committed` of its assignment."""

    at: Seconds
    member: str = field(metadata=named("committed"))


ProcessEvent: TypeAlias = (
    Close
    | Kill
    | Pause
    | Freeze
    | EnforceRebalance
    | ChangeState
    | Subscribe
    | Unsubscribe
    | Assign
    | Commit
    | AskCommitted
)
Event: TypeAlias = Start | Restart | ProcessEvent | ChangeTopic | FailCoordinator
"""An event of a scenario, with its time."""


class Direction(Enum):
    """The direction in which a network partition loses messages."""

    BOTH = "both"
    REQUESTS = "requests"
    ANSWERS = "answers"


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkPartition:
    """Nothing arrives between these members and any coordinator."""

    members: tuple[str, ...]
    start_s: Seconds = field(metadata=named("from"))
    end_s: Seconds = field(metadata=named("to"))
    direction: Direction = Direction.BOTH


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkFaults:
    """Faults of the network. `loss` and `duplicate` are probabilities per message, from 0 to 1."""

    loss: Chance = 0.0
    duplicate: Chance = 0.0
    delay_ms: tuple[Milliseconds, Milliseconds] = (1, 5)
    reorder: bool = False
    """Whether a message may overtake an earlier message of its connection, which was lost meanwhile."""
    partitions: tuple[NetworkPartition, ...] = field(default=(), metadata=named("partition"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """See the module. Members that no event starts never run; `events` are in order of time."""

    name: str = field(default="", metadata=UNWRITTEN)
    description: str = ""
    topics: Mapping[str, PartitionCount] = field(default_factory=dict)
    """Partition counts by topic at the start, without topics that a later event creates."""
    settings: Mapping[str, str] = field(default_factory=dict)  # The brokers' settings
    without: tuple[str, ...] = ()  # KIPs and fixes that the brokers lack (`earlier_brokers`)
    members: Mapping[str, MemberScript] = field(default_factory=dict)
    streams: StreamsScript | None = None  # None: the members are consumers
    events: tuple[Event, ...] = field(default=(), metadata=UNWRITTEN)
    faults: NetworkFaults = NetworkFaults()
    records_per_s: Annotated[float, Between(0, 1_000_000)] = 10.0
    """The rate at which records are written to each partition."""
    until_s: Seconds = field(default=120.0, metadata=named("until"))
    metadata_delay_s: Seconds = 0.0
    """How much later than the brokers the clients notice a change of topics, in addition to their own refresh."""
