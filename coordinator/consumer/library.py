"""What client libraries do differently, each with its source."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from assignors.assignor import Leader
from coordinator.errors import InvalidSetting
from wire.errors import ErrorCode


class AfterError(Enum):
    """What an application does with an exception out of `poll`."""

    POLL_AGAIN = "poll-again"
    DIE = "die"
    """It closes the consumer and ends."""
    RESTART = "restart"
    """It closes the consumer, ends, and is started again, as a container is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """What a library's consumers do: of the new protocol (KIP-848) and, where it can be, of the classic one."""

    calls_for_nothing_first: bool
    """Whether the listener is called where the first assignment after a join is empty."""
    closes_with_revoked: bool
    """Whether an eager member that closes has `revoked` called also where it was assigned nothing."""
    listener_can_refuse: bool
    """Whether a callback that throws is called again, and nothing is acknowledged meanwhile, nor is the group left."""
    commits_before_revoked: bool
    """Whether everything is committed before `revoked`, or what is revoked after it (auto commit)."""
    awaits_auto_commit: bool
    """Whether the new consumer's automatic commit waits for the answer to the last one."""
    ends_with_membership: bool
    """Whether a reconciliation ends where the member is fenced, or goes on to its end before `lost`."""
    leaves_before_lost: bool
    """Whether a member that does not poll leaves at once, or falls silent and leaves in the next `poll`."""
    counts_callbacks: bool
    """Whether max.poll.interval.ms runs while a callback does, and before the first `assigned` since a join."""
    throws_last: bool
    """Whether all callbacks that are due come before an exception that is due."""
    names_codes: bool
    """Whether exceptions are named by the protocol's error codes, or by classes of Kafka's."""
    fatal_error: str | None = None
    """Of every error that ends the membership for good; None: of each its own."""
    silence_error: str | None = None
    """Thrown where the application did not poll; None: nothing is."""
    topic_error: str | None = None
    """Thrown once by the classic consumer for a topic by name that is not there, and partitions of one that is gone
    are lost; None: it is waited for, and what the leader no longer assigns is revoked."""
    commit_retries: int | None = None
    """How often a refused commit is sent again, where all its partitions were refused by errors that may pass; the last
    partition's error counts. None: until its time is up, by the first error."""
    lost_error: str | None = None
    """Of a commit of what is to be lost; None: the coordinator is asked."""
    fatal_codes: frozenset[ErrorCode] | None = None
    """Answers to ConsumerGroupHeartbeat that end the membership for good; another one that a retry does not mend is
    ignored. None: every such answer ends it."""
    strands_shared_fetch: bool = False
    """Whether `committed` is never answered where it waits for the OffsetFetch that positions are looked up with, and
    that one is to be sent again."""
    hangs_without_coordinator: bool = False
    """Whether the client's threads wait for each other, for ever, where there was no coordinator for longer than
    request.timeout.ms."""
    cooperates_as_chosen: bool = False
    """Whether a classic member is eager or cooperative as the assignor is that the coordinator chose, or its list."""
    remembers_eager: bool = False
    """Whether a member that gave up everything as an eager one, and is cooperative with the next assignment, takes
    what it gets again for what it has: it does not begin to read it."""
    replaces_regex: bool = False
    """Whether `subscribe` takes topics by name where there is a regular expression; otherwise it throws."""
    takes_regex_back: bool = False
    """Whether a heartbeat of the new consumer that says everything also says that there is no regex. Without a word on
    it the coordinator keeps the one that it has."""
    forgets_to_rejoin: bool = False
    """Whether a member that leaves during a reconciliation, since the application does not poll, takes itself for a
    member when that has ended, at epoch 0."""
    followers_watch: bool = False
    """Whether each member of a classic group joins again when a topic that it subscribes to grows, or the leader."""
    rebalances_alone: bool
    """Whether the background thread of the classic consumer joins and syncs while the application does something else,
    and commits meanwhile. Callbacks wait for `poll`, and one that waits is called as what it was when it was due:
    partitions that were lost since are `revoked`, and committed."""
    heeds_subscription: bool = True
    """Whether a member takes over nothing of a topic that it does not subscribe to: a classic one joins again, a new
    one that subscribes by name waits. Else it takes what it is assigned. A static member may be assigned what its
    predecessor subscribed to."""
    forgives_assignments: bool = False
    """Whether an assignment of no bytes, which the coordinator has for who was not assigned anything, is an empty one,
    and a member joins again for one that it cannot read; or each `poll` throws (IllegalStateException)."""
    forgets_generation: bool = False
    """Whether a commit that is refused during a rebalance has the classic consumer forget the generation that it has
    just joined, so that the assignment is lost that SyncGroup brings."""


_JAVA = Ways(
    calls_for_nothing_first=True,
    closes_with_revoked=False,
    listener_can_refuse=True,
    commits_before_revoked=True,
    awaits_auto_commit=True,
    ends_with_membership=True,
    leaves_before_lost=True,
    counts_callbacks=True,
    throws_last=True,
    names_codes=False,
    rebalances_alone=False,
)
_LIBRDKAFKA = Ways(
    calls_for_nothing_first=False,
    closes_with_revoked=True,
    listener_can_refuse=False,
    commits_before_revoked=False,
    awaits_auto_commit=False,
    ends_with_membership=False,
    leaves_before_lost=False,
    counts_callbacks=False,
    throws_last=False,
    names_codes=True,
    rebalances_alone=True,
    heeds_subscription=False,
    forgives_assignments=True,
    followers_watch=True,
    replaces_regex=True,
    takes_regex_back=True,
    fatal_error="_FATAL",
    silence_error="_MAX_POLL_EXCEEDED",
    topic_error="UNKNOWN_TOPIC_OR_PART",
    commit_retries=2,
    lost_error="_ASSIGNMENT_LOST",
)
_JAVA_4_3 = replace(_JAVA, strands_shared_fetch=True)
_KAFKA_PYTHON_2_0_1 = replace(_JAVA, hangs_without_coordinator=True)
_FRANZ_GO_1_16 = replace(_JAVA, cooperates_as_chosen=True, remembers_eager=True)
_LIBRDKAFKA_2_14 = replace(
    _LIBRDKAFKA,
    leaves_before_lost=True,
    forgets_to_rejoin=True,
    fatal_codes=frozenset(
        {
            ErrorCode.INVALID_REQUEST,
            ErrorCode.GROUP_MAX_SIZE_REACHED,
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            ErrorCode.UNSUPPORTED_VERSION,
            ErrorCode.UNRELEASED_INSTANCE_ID,
            ErrorCode.GROUP_AUTHORIZATION_FAILED,
        }
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """A client library: what its classic and its new consumer do where libraries differ."""

    name: str
    leader: Leader
    """Whose assignors run when a member of it leads."""
    assignors: tuple[str, ...]
    """Those of a consumer that names none, preferred first."""
    after_error: AfterError = AfterError.POLL_AGAIN
    listener_error: str
    """The exception that leaves `poll` where the listener throws one of its own."""
    ways: Ways
    source: str


LIBRARIES = {
    library.name: library
    for library in (
        Library(
            name="java",
            leader=Leader.JAVA,
            assignors=("range", "cooperative-sticky"),
            listener_error="KafkaException",
            ways=_JAVA,
            source="kafka-clients 4.3.1, ConsumerCoordinator and ConsumerMembershipManager",
        ),
        Library(
            name="java-4.3",
            leader=Leader.JAVA,
            assignors=("range", "cooperative-sticky"),
            listener_error="KafkaException",
            ways=_JAVA_4_3,
            source="KAFKA-20765 (apache/kafka#22747), tried with CommitRequestManager of 4.3.1; mended in 4.4.0",
        ),
        Library(
            name="librdkafka",
            leader=Leader.LIBRDKAFKA,
            assignors=("range", "roundrobin"),
            listener_error="ListenerError",
            ways=_LIBRDKAFKA,
            source="librdkafka 2.16, rdkafka_cgrp.c, tried with confluent-kafka 2.16; librdkafka#5604 is in it",
        ),
        Library(
            name="librdkafka-2.8",
            leader=Leader.LIBRDKAFKA,
            assignors=("range", "roundrobin"),
            listener_error="ListenerError",
            ways=replace(_LIBRDKAFKA, forgets_generation=True),
            source="librdkafka 1.6.0 to 2.8, tried with confluent-kafka 2.9: librdkafka#4059, mended by #4908 in 2.10",
        ),
        Library(
            name="librdkafka-2.14",
            leader=Leader.LIBRDKAFKA,
            assignors=("range", "roundrobin"),
            listener_error="ListenerError",
            ways=_LIBRDKAFKA_2_14,
            source="librdkafka#5541 (2.12.0 to 2.14.2), tried with confluent-kafka 2.14.0",
        ),
        Library(
            name="kafka-python-2.0.1",
            leader=Leader.JAVA,
            assignors=("range", "roundrobin"),
            listener_error="KafkaException",
            ways=_KAFKA_PYTHON_2_0_1,
            source="kafka-python#1985, #2077, #1626 (mended by #2064 in 2.0.2); in all else it is played as Java's",
        ),
        Library(
            name="franz-go-1.16",
            leader=Leader.JAVA,
            assignors=("cooperative-sticky",),
            listener_error="KafkaException",
            ways=_FRANZ_GO_1_16,
            source="franz-go#686 (mended by #720 in 1.17), kgo's consumer_group.go; in all else it is played as Java's",
        ),
    )
}
"""By the name that a scenario gives them. A library without a version is the one that Kohort knows best; with one, the
last that has a bug which its source names."""


def library_named(name: str) -> Library:
    """:raises InvalidSetting: there is none of that name"""
    try:
        return LIBRARIES[name]
    except KeyError:
        raise InvalidSetting(f"there is no client library {name!r}, only {', '.join(LIBRARIES)}") from None
