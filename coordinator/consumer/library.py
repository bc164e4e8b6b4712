"""A consumer's settings, and the differences between client libraries, each with its source."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import Any, Self

from assignors.assignor import Leader
from coordinator.errors import InvalidSetting
from coordinator.samples import SAMPLE_WINDOW_MS, SAMPLES
from wire.errors import ErrorCode
from wire.suggestion import did_you_mean


class AfterError(Enum):
    """How an application handles an exception of `poll`."""

    POLL_AGAIN = "poll-again"
    DIE = "die"  # Close the consumer and stop
    RESTART = "restart"  # Close the consumer, stop, and be restarted, like a container


@dataclass(frozen=True, slots=True, kw_only=True)
class Behavior:
    """How a library's consumers behave in both protocols; the defaults are Java's."""

    calls_for_empty_first: bool = True
    """Whether the listener is called if the first assignment after a join is empty."""
    closes_with_revoked: bool = False
    """Whether `close` calls `revoked` for an eager member even if nothing was assigned to it."""
    listener_can_refuse: bool = True
    """Whether a callback that throws is called again, and nothing is acknowledged meanwhile."""
    commits_before_revoked: bool = True
    """Whether auto-commit commits everything before `revoked`, or only what is revoked after it."""
    awaits_auto_commit: bool = True
    """Whether the new consumer's auto-commit waits for the answer to the last one."""
    ends_with_membership: bool = True
    """Whether a reconciliation ends when the member is fenced, or continues to its end before `lost`."""
    leaves_before_lost: bool = True
    """Whether a member that does not poll leaves at once, or stops heartbeating and leaves in the next `poll`."""
    counts_callbacks: bool = True
    """Whether max.poll.interval.ms counts during a callback, and before the first `assigned` since a join."""
    throws_last: bool = True  # Whether all due callbacks are called before a due exception is thrown
    names_codes: bool = False
    """Whether exceptions have the names of the protocol's error codes, or of Kafka's classes."""
    fatal_error: str | None = None
    """The exception of every error that ends the membership for good; None: each has its own."""
    poll_timeout_error: str | None = None  # Thrown if the application did not poll; None: nothing is thrown
    topic_error: str | None = None
    """Thrown once by the classic consumer for a missing topic, and partitions of a deleted topic are lost. None: it
    waits."""
    commit_retries: int | None = None
    """How often a commit whose partitions all have retriable errors is sent again; the last partition's error
    counts. None: until its time limit, by the first error."""
    lost_error: str | None = None
    """The exception of a commit of partitions that are about to be lost; None: the coordinator decides."""
    fatal_codes: frozenset[ErrorCode] | None = None
    """Errors of ConsumerGroupHeartbeat that end the membership. None: all that a retry does not resolve."""
    strands_shared_fetch: bool = False
    """Whether `committed` is never answered if the OffsetFetch that it shares must be sent again."""
    deadlocks_without_coordinator: bool = False
    """Whether the client's threads deadlock if there was no coordinator for longer than request.timeout.ms."""
    cooperates_as_chosen: bool = False
    """Whether a classic member is cooperative by the assignor that was chosen, or by its list."""
    remembers_eager: bool = False
    """Whether a cooperative member does not start to read what it gets again after it revoked eagerly."""
    replaces_subscription: bool = False
    """Whether topics, a regular expression and partitions of `assign` replace each other; otherwise a consumer must
    unsubscribe before, and a `poll` without any of them throws."""
    joins_for_missing_topics: bool = True
    """Whether the classic consumer also joins for topics that do not exist: it names them, and may have no other."""
    calls_lost_again: bool = True
    """Whether `close` after `unsubscribe` calls `lost` with what the consumer protocol's `unsubscribe` has revoked."""
    clears_regex: bool = False
    """Whether a full heartbeat also clears the regex; if the field is missing, the coordinator keeps it."""
    forgets_to_rejoin: bool = False
    """Whether a member that leaves, unpolled, during a reconciliation considers itself a member after it."""
    followers_watch: bool = False
    """Whether each member of a classic group rejoins when a topic that it subscribes to grows, or only the leader."""
    rebalances_in_background: bool = False
    """Whether the classic consumer joins, syncs and commits outside `poll`. Callbacks wait for `poll`, as they were
    when they became due: partitions lost since then are `revoked`."""
    checks_subscription: bool = True
    """Whether a member refuses partitions of topics that it does not subscribe to, as a static member's predecessor
    did: a classic one rejoins, a new one that subscribes by name waits."""
    tolerates_assignments: bool = False
    """Whether an assignment of no bytes is an empty one, and a member rejoins after one that it cannot read.
    Otherwise each `poll` throws (IllegalStateException)."""
    forgets_generation: bool = False
    """Whether a commit refused during a rebalance makes the classic consumer forget its generation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientLibrary:
    """A client library: how its classic and its new consumer behave, if libraries differ."""

    name: str
    leader: Leader = Leader.JAVA  # The library whose assignors run when one of its members is the leader
    assignors: tuple[str, ...] = ("range", "cooperative-sticky")  # The default assignors, preferred first
    after_error: AfterError = AfterError.POLL_AGAIN
    listener_error: str = "KafkaException"  # The exception of `poll` if the listener throws
    behavior: Behavior = Behavior()
    has_metrics: bool = False  # Whether its consumers have the metrics of KIP-429
    source: str


_JAVA_SOURCE = "kafka-clients 4.3.1, ConsumerCoordinator and ConsumerMembershipManager"
_JAVA = ClientLibrary(name="java", has_metrics=True, source=_JAVA_SOURCE)
_LIBRDKAFKA = ClientLibrary(
    name="librdkafka",
    leader=Leader.LIBRDKAFKA,
    assignors=("range", "roundrobin"),
    listener_error="ListenerError",
    behavior=Behavior(
        calls_for_empty_first=False,
        closes_with_revoked=True,
        listener_can_refuse=False,
        commits_before_revoked=False,
        awaits_auto_commit=False,
        ends_with_membership=False,
        leaves_before_lost=False,
        counts_callbacks=False,
        throws_last=False,
        names_codes=True,
        rebalances_in_background=True,
        checks_subscription=False,
        tolerates_assignments=True,
        followers_watch=True,
        replaces_subscription=True,
        joins_for_missing_topics=False,
        calls_lost_again=False,
        clears_regex=True,
        fatal_error="_FATAL",
        poll_timeout_error="_MAX_POLL_EXCEEDED",
        topic_error="UNKNOWN_TOPIC_OR_PART",
        commit_retries=2,
        lost_error="_ASSIGNMENT_LOST",
    ),
    source="librdkafka 2.16, rdkafka_cgrp.c, tried with confluent-kafka 2.16; librdkafka#5604 is in it",
)
_FATAL_BEFORE_2_15 = frozenset(
    {
        ErrorCode.INVALID_REQUEST,
        ErrorCode.GROUP_MAX_SIZE_REACHED,
        ErrorCode.UNSUPPORTED_ASSIGNOR,
        ErrorCode.UNSUPPORTED_VERSION,
        ErrorCode.UNRELEASED_INSTANCE_ID,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
    }
)


def _with_bug(base: ClientLibrary, name: str, source: str, **behavior: Any) -> ClientLibrary:
    return replace(base, name=name, source=source, behavior=replace(base.behavior, **behavior))


_KAFKA_PYTHON = replace(_JAVA, has_metrics=False, assignors=("range", "roundrobin"))
_FRANZ_GO = replace(_JAVA, has_metrics=False, assignors=("cooperative-sticky",))
LIBRARIES = {
    library.name: library
    for library in (
        _JAVA,
        _with_bug(
            _JAVA,
            "java-4.3",
            "KAFKA-20765 (apache/kafka#22747), tried with CommitRequestManager of 4.3.1; fixed in 4.4.0",
            strands_shared_fetch=True,
        ),
        _LIBRDKAFKA,
        _with_bug(
            _LIBRDKAFKA,
            "librdkafka-2.8",
            "librdkafka 1.6.0 to 2.8, tried with confluent-kafka 2.9: librdkafka#4059, fixed by #4908 in 2.10",
            forgets_generation=True,
        ),
        _with_bug(
            _LIBRDKAFKA,
            "librdkafka-2.14",
            "librdkafka#5541 (2.12.0 to 2.14.2), tried with confluent-kafka 2.14.0",
            leaves_before_lost=True,
            forgets_to_rejoin=True,
            fatal_codes=_FATAL_BEFORE_2_15,
        ),
        _with_bug(
            _KAFKA_PYTHON,
            "kafka-python-2.0.1",
            "kafka-python#1985, #2077, #1626 (fixed by #2064 in 2.0.2); otherwise simulated as Java's",
            deadlocks_without_coordinator=True,
        ),
        _with_bug(
            _FRANZ_GO,
            "franz-go-1.16",
            "franz-go#686 (fixed by #720 in 1.17), kgo's consumer_group.go; otherwise simulated as Java's",
            cooperates_as_chosen=True,
            remembers_eager=True,
        ),
    )
}
"""By name in a scenario. A library without a version is the release that Kohort models in detail; a library with a
version is the last release with the bug that its source names."""


def library_named(name: str) -> ClientLibrary:
    """Raises InvalidSetting: unknown name."""
    try:
        return LIBRARIES[name]
    except KeyError:
        raise InvalidSetting(f"there is no client library {name!r}, only {', '.join(LIBRARIES)}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberSettings:
    """The settings of ConsumerConfig, with `_` for `.` in their names; the defaults are those of Java 4.3."""

    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 3_000
    max_poll_interval_ms: int = 300_000  # Also the rebalance timeout
    enable_auto_commit: bool = True
    auto_commit_interval_ms: int = 5_000
    request_timeout_ms: int = 30_000
    retry_backoff_ms: int = 100
    metadata_max_age_ms: int = 300_000
    metrics_num_samples: int = SAMPLES
    metrics_sample_window_ms: int = SAMPLE_WINDOW_MS

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of all settings, as Kafka writes them."""
        return tuple(field.name.replace("_", ".") for field in fields(cls))

    @classmethod
    def parse(cls, settings: Mapping[str, object]) -> Self:
        """Settings from Kafka's names and texts (or numbers). Raises InvalidSetting: with the nearest name."""
        known = {field.name.replace("_", "."): field for field in fields(cls)}
        values: dict[str, Any] = {}
        for name, value in settings.items():
            if name not in known:
                hint = did_you_mean(name, known)
                raise InvalidSetting(f"{name} is not a setting that a simulated consumer has{hint}")
            field, text = known[name], str(value)
            if isinstance(field.default, bool):
                if text.lower() not in ("true", "false"):
                    raise InvalidSetting(f"{name} must be true or false, not {text!r}")
                values[field.name] = text.lower() == "true"
            elif not text.isdecimal() or not 0 < int(text) < 2**31:
                unit = " of ms" if name.endswith(".ms") else ""
                raise InvalidSetting(f"{name} must be a number{unit} from 1 to 2147483647, not {text!r}")
            else:
                values[field.name] = int(text)
        return cls(**values)
