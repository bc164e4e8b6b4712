"""The model of consumer groups, to which any source is converted. None means *unknown*, neither 0 nor missing."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from enum import Enum
from functools import lru_cache
from typing import Annotated, NamedTuple, Self, TypeAlias
from uuid import UUID

from groups.connect import ConnectMember
from groups.election import ElectionCandidate
from groups.listing import Cause as Cause
from groups.listing import GroupListing as GroupListing
from groups.listing import GroupState as GroupState
from groups.listing import GroupType as GroupType
from groups.listing import Problem as Problem
from groups.streams import StreamsMember, Topology
from groups.trees import INT32, INT64, KEY, UNWRITTEN, Between, Partition, PartitionNumbers
from wire.values import dataclass

Generation: TypeAlias = Annotated[int, Between(-1, INT32)]
Epoch: TypeAlias = Annotated[int, Between(0, INT32)]
Count: TypeAlias = Annotated[int, Between(0, INT64)]
Partitions: TypeAlias = Mapping[str, PartitionNumbers]  # Partition numbers, ascending, by topic name
TopicPartition: TypeAlias = tuple[str, int]  # a topic and the number of one of its partitions


def each_partition(partitions: Mapping[str, Iterable[int]] | None) -> Iterator[TopicPartition]:
    return ((topic, number) for topic, numbers in (partitions or {}).items() for number in numbers)


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, tuple[int, ...]]:
    numbers: dict[str, list[int]] = {}
    for topic, number in sorted(partitions):
        numbers.setdefault(topic, []).append(number)
    return {topic: tuple(sorted_numbers) for topic, sorted_numbers in numbers.items()}


@lru_cache(maxsize=1 << 16)  # findings of thousands of groups name the same partitions
def partition_name(partition: TopicPartition) -> str:
    """A partition's name as in Kafka's logs: `orders-0`."""
    return f"{partition[0]}-{partition[1]}"


class MemberProtocol(Enum):
    CLASSIC = "classic"
    CONSUMER = "consumer"

    @classmethod
    def parse(cls, text: str) -> Self:
        name = text.lower()
        return cls("classic" if name == "generic" else name)


def usual_protocol(group_type: GroupType) -> MemberProtocol | None:
    """The members' protocol in a group outside a migration; None for share and streams groups."""
    if group_type in (GroupType.CLASSIC, GroupType.CONSUMER):
        return MemberProtocol(group_type.value)
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    id: Annotated[int, Between(-1, INT64)]
    host: str
    port: Annotated[int, Between(-1, 65535)]
    rack: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    id: str | None = None
    host: str | None = None
    library: str | None = None
    version: str | None = None

    @property
    def address(self) -> str | None:
        """The host without the slash that a broker puts before an address without a name."""
        return None if self.host is None else self.host.removeprefix("/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """The subscription of a member, which may contain topics and a regex at once (KIP-848)."""

    topics: tuple[str, ...] = ()
    regex: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UserData:
    subscription: bytes = b""
    assignment: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignorAnswer:
    """What a client-side assignor sent with a member's partitions (KIP-848); no broker of Kafka has it."""

    error: Annotated[int, Between(-128, 127)] = (
        0  # why there is no assignment, a code of the assignor; 0: there is
    )
    metadata_version: Annotated[int, Between(-32768, 32767)] = 0  # -1: a classic member's user data
    metadata: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    id: str
    instance: str | None = None
    client: Client = Client()
    rack: str | None = None
    protocol: MemberProtocol | None = None
    protocols: tuple[str, ...] | None = None  # a classic member's assignors, preferred first
    subscription: Subscription | None = None
    owned: Partitions | None = None  # the current assignment, by the group or as the member reports it
    generation: Generation | None = None  # a classic member's, if it differs from the group's
    target: Partitions | None = None  # the target assignment of a consumer group's member
    assignor_answer: AssignorAnswer | None = None  # with the current assignment
    target_assignor_answer: AssignorAnswer | None = None  # with the target assignment
    epoch: Annotated[int, Between(-2, INT32)] | None = None  # the member epoch
    is_new: bool | None = field(default=None, metadata=UNWRITTEN)  # classic: joined after the last rebalance
    user_data: UserData | None = None  # the assignor's bytes; None when unknown or when the protocol has none
    kept: Partitions | None = None
    """What a classic member still owned when it last rejoined (`ownedPartitions`, KIP-429): an eager one nothing. None:
    nothing, or unknown."""
    streams: StreamsMember | None = None  # the tasks and the process of a streams group's member
    connect: ConnectMember | None = None  # the connectors and tasks of a worker of Kafka Connect
    candidate: ElectionCandidate | None = None  # a member of Schema Registry's group, which elects a leader
    unreadable: str | None = None  # why a classic member's embedded protocol cannot be read

    @property
    def is_away(self) -> bool:
        """Whether it is static and left temporarily: its epoch is -2 (KIP-848, Static Membership)."""
        return self.epoch == -2


NOTHING_COMMITTED = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedOffset:
    """`offset` is None if unreadable, -1 if a share group has not started or an old broker (< 2.1) has none."""

    offset: Annotated[int, Between(-INT64 - 1, INT64)] | None
    leader_epoch: Generation | None = None
    metadata: str | None = None
    timestamp: Annotated[int, Between(-1, INT64)] | None = None
    """The commit time in milliseconds since 1970; None when the source does not show it (no broker API does)."""
    lag: Annotated[int, Between(-1, INT64)] | None = None  # a share group's, as the broker counts it
    topic_id: UUID | None = None  # None when the source does not show it (no broker API does)
    same_since_ms: int | None = field(default=None, metadata=UNWRITTEN)  # at least, if it was committed again

    @property
    def position(self) -> int | None:
        """The offset; None if it could not be read or nothing is committed (-1)."""
        return None if self.offset == NOTHING_COMMITTED else self.offset


PartitionOffsets: TypeAlias = Mapping[Partition, CommittedOffset]
Offsets: TypeAlias = Mapping[str, PartitionOffsets]  # by topic


def each_commit(offsets: Offsets | None) -> Iterator[tuple[TopicPartition, CommittedOffset]]:
    return (
        ((topic, number), commit)
        for topic, commits in (offsets or {}).items()
        for number, commit in commits.items()
    )


def commit_of(offsets: Offsets | None, partition: TopicPartition) -> CommittedOffset | None:
    return (offsets or {}).get(partition[0], {}).get(partition[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTransaction:
    """An open transaction on a partition: `read_committed` consumers wait there (KIP-664)."""

    start_offset: int
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    last_write_ms: int | None  # when its producer last wrote to the partition, in milliseconds since 1970
    transactional_id: str | None = None  # None: no coordinator knows the producer
    state: str | None = None  # of its coordinator: `Ongoing`, `PrepareCommit`, …; None: unknown
    begun_ms: int | None = None
    timeout_ms: int | None = None  # its producer's `transaction.timeout.ms`

    @property
    def since_ms(self) -> int:
        """The earliest known time at which it was open; 0 if none is known."""
        known = [time_ms for time_ms in (self.begun_ms, self.last_write_ms) if time_ms is not None]
        return min(known, default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingOffsets:
    """Offsets that are committed in an open transaction: consumers that start there wait for its end (KIP-447)."""

    partitions: Partitions = field(default_factory=dict)
    transactions: Mapping[tuple[str, int], tuple[OpenTransaction, ...]] = field(default_factory=dict)
    """The open transactions in the group's offsets partition, earliest first; the offsets belong to some."""
    problem: str | None = None  # Why the transactions are not known

    @classmethod
    def of(cls, places: Iterable[tuple[str, int]]) -> Self:
        """Offsets of these partitions, in transactions that are not known."""
        return cls(partitions=by_topic(places))

    @property
    def places(self) -> frozenset[tuple[str, int]]:
        return frozenset(each_partition(self.partitions))


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    id: str = field(metadata=KEY)
    type: GroupType
    state: GroupState
    protocol_type: str | None = None  # `consumer`, `connect`, …; empty: never had members, only commits
    protocol: str | None = None  # the assignor in use
    coordinator: Node | None = None
    generation: Generation | None = None
    leader: str | None = None
    """The member that led a classic group's last finished rebalance; it may have left. None: unknown or none."""
    leader_problem: str | None = field(default=None, metadata=UNWRITTEN)  # why not known though requested
    group_epoch: Epoch | None = None
    assignment_epoch: Epoch | None = None
    members: tuple[Member, ...] = ()  # in the order of the source: it depends on Java's maps
    offsets: Offsets | None = None  # None when not requested or not readable
    pending: PendingOffsets | None = field(default=None, metadata=UNWRITTEN)  # None: not requested or known
    topology: Topology | None = None  # the topology of a streams group; None before a member has sent it
    settings: Mapping[str, str] | None = None  # the group's own; None when not requested or not known
    commit_gap_ms: int | None = field(default=None, metadata=UNWRITTEN)
    """The shortest time between the last two commits of a partition, where both were read; None if there are none."""
    rebalanced_ms: int | None = field(default=None, metadata=UNWRITTEN)
    """When the last rebalance began (a classic group: ended), in ms since 1970; None if not known."""
    emptied_ms: int | None = field(default=None, metadata=UNWRITTEN)
    """When the last member left, in ms since 1970. None if the group has members or never had one, or if not known."""

    @property
    def shares_partitions(self) -> bool:
        """Whether its members are consumers; workers of Connect and candidates of an election have no partitions."""
        return self.type is not GroupType.CLASSIC or self.protocol_type in (None, "", "consumer")

    @property
    def elected(self) -> str | None:
        """Who leads: the member that its members elected, or the leader of the group. None: unknown or none."""
        elected = {member.candidate.elected for member in self.members if member.candidate is not None}
        return elected.pop() if len(elected) == 1 and None not in elected else self.leader


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    name: str = field(metadata=KEY)
    id: UUID | None = None
    partitions: Annotated[int, Between(0, INT32)]
    racks: Mapping[Partition, tuple[str, ...]] | None = None  # of each partition's replicas; None: unknown
    start_offsets: Mapping[Partition, Count | None] | None = None  # the oldest kept; None: unknown
    end_offsets: Mapping[Partition, Count | None] | None = None  # high watermarks; None: unknown
    stable_offsets: Mapping[Partition, Count | None] | None = None  # last stable offsets; None: unknown


class LogOffsets(NamedTuple):
    """The offsets of a partition's log, as of `Topic`. None means unknown."""

    start: int | None = None
    stable: int | None = None
    end: int | None = None


class TopicLogs(NamedTuple):
    """The offsets of a topic's logs by partition, as of `Topic`. A missing one is unknown."""

    start: Mapping[int, int | None] = {}
    stable: Mapping[int, int | None] = {}
    end: Mapping[int, int | None] = {}


def logs_of(topics: Mapping[str, Topic] | None, name: str) -> TopicLogs:
    topic = (topics or {}).get(name)
    if topic is None:
        return TopicLogs()
    return TopicLogs(topic.start_offsets or {}, topic.stable_offsets or {}, topic.end_offsets or {})


def log_of(topics: Mapping[str, Topic] | None, partition: TopicPartition) -> LogOffsets:
    name, number = partition
    return LogOffsets(*(known.get(number) for known in logs_of(topics, name)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    id: str | None = None
    kafka: str | None = None  # the version of the brokers; None when not known
    brokers: tuple[Node, ...] = field(default=(), metadata=UNWRITTEN)  # by id; empty when not known
    features: Mapping[str, Annotated[int, Between(0, 32767)]] = field(default_factory=dict)  # group.version …
    consumer_protocol: bool | None = None  # whether brokers offer it at all; None when not known
    settings: Mapping[str, str] | None = None  # of groups, on which all brokers agree; None: not known
    settings_differ: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by broker, sorted values
    settings_problem: str | None = field(default=None, metadata=UNWRITTEN)  # why not known though requested

    def is_before(self, release: tuple[int, int]) -> bool | None:
        """Whether the brokers are older than this release, such as (4, 4); None: unknown."""
        match = re.match(r"(\d+)\.(\d+)", self.kafka or "")
        if match is None:
            return None
        if (int(match[1]), int(match[2])) >= release:
            return False
        return None if "or later" in (self.kafka or "") else True


def listing_of(group: Group) -> GroupListing:
    return GroupListing(
        id=group.id,
        type=group.type,
        state=group.state,
        protocol_type=group.protocol_type,
        protocol=group.protocol,
        members=len(group.members),
    )


def wrong_topic_name(topic: str) -> str | None:
    """Why Kafka rejects a topic's name (org.apache.kafka.common.internals.Topic)."""
    legal = topic.isascii() and all(letter.isalnum() or letter in "._-" for letter in topic)
    if legal and 0 < len(topic) < 250 and topic not in (".", ".."):
        return None
    return "not a topic's name: up to 249 letters, digits, dots, underscores and hyphens"
