"""The base of members of both protocols: requests and their answers, the coordinator, callbacks."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

from coordinator.consumer import outputs
from coordinator.consumer.library import ClientLibrary, MemberSettings
from coordinator.consumer.metrics import Metrics
from coordinator.consumer.outputs import CallbackKind, FindCoordinator, Partitions, TopicPartition
from coordinator.engine.calls import AnyRequest
from coordinator.engine.topics import TopicImage
from wire.errors import ErrorCode
from wire.values import made

NEVER = 2**62
"""A deadline that never comes, in ms."""
LISTENER_FAILED = "User rebalance callback throws an error"
"""The message of the exception of `poll` if the listener throws."""
NOT_SUBSCRIBED = "Consumer is not subscribed to any topics or assigned any partitions"
_MUTUALLY_EXCLUSIVE = "Subscription to topics, partitions and pattern are mutually exclusive"
_ERRONEOUS_STATE = "Failed to set assignment: Local: Erroneous state"

Positions: TypeAlias = Callable[[Sequence[TopicPartition]], dict[TopicPartition, int]]
"""The offsets up to which the application has received the records of partitions, without those that it does not read
yet, in the order of the partitions."""
OnAnswer: TypeAlias = Callable[[object, int], None]
"""Takes the answer, None if the connection was lost, and the time in ms."""
Step: TypeAlias = Callable[[int], None]
"""The next thing to do, at a time in ms."""

COORDINATOR_MOVED = frozenset({ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A member's identity and configuration."""

    group: str
    client_id: str
    instance: str | None
    rack: str | None
    library: ClientLibrary
    settings: MemberSettings


class PeriodicTask(NamedTuple):
    """Work that a member repeats at an interval."""

    next_ms: int
    every_ms: int

    def last_by(self, at_ms: int) -> int:
        """The last time at which it is due, up to `at_ms`; possibly before the first time."""
        return at_ms - (at_ms - self.next_ms) % self.every_ms


@dataclass(frozen=True, kw_only=True)
class ClientSubscription:
    """Topics by name, or by a regular expression, which a classic member matches itself, with `matches`; or neither."""

    topics: tuple[str, ...] = ()
    regex: str | None = None
    matches: Callable[[str], bool] | None = None

    @cached_property
    def is_empty(self) -> bool:
        return not (self.topics or self.is_expression)

    @property
    def is_expression(self) -> bool:
        return self.regex is not None or self.matches is not None

    def in_image(self, image: TopicImage) -> tuple[str, ...]:
        """The names subscribed to, existing or not; for an expression, the topics that it matches."""
        if self.matches is None:
            return self.topics
        return tuple(sorted(name for name in image.topics if self.matches(name)))


def java_exception(code: ErrorCode) -> str:
    """Kafka's exception for an error code, as most are named."""
    return "".join(map(str.capitalize, code.name.removesuffix("_FAILED").split("_"))) + "Exception"


class ClientMember(ABC):
    """A consumer. See the package: inputs are the public methods, outputs are collected with `take`."""

    subscription: ClientSubscription
    member_id: str  # Its id in the group; empty while it has none
    epoch: int  # Its generation or member epoch; -1 or 0 while it has none

    def __init__(self, identity: Identity, image: TopicImage, positions: Positions) -> None:
        self.identity, self.settings = identity, identity.settings
        self._behavior = identity.library.behavior
        self.image = image
        self.positions = positions
        self.metrics = Metrics(self.settings.metrics_num_samples, self.settings.metrics_sample_window_ms)
        self.owned: Partitions = frozenset()
        """The partitions that the group has assigned, and that the client considers its own."""
        self.by_hand: Partitions = frozenset()
        """The partitions of `Consumer.assign`: the coordinator does not know that they are read."""
        self.positioned: set[TopicPartition] = set()
        """The partitions of both that have a position to read from."""
        self.in_poll = False
        self.is_closing = False
        self.is_closed = False
        self.outputs: list[outputs.Output] = []
        self._coordinator: int | None = None
        self._looking_up = False
        self._lookup_at_ms = 0
        self._missing_since_ms = NEVER  # When the coordinator was lost; NEVER if there was none
        self._waiting: dict[int, OnAnswer] = {}
        self._numbers = 0
        self._then: Step | None = None
        self._called_at_ms = 0
        self._called: CallbackKind | None = None
        self._threw = False  # Whether the last callback threw
        self._thrown = ""  # The exception that `commitSync` has thrown in the running callback
        self._error = ""  # The first exception of a rebalance's callbacks; `poll` throws it at the end
        self._due: list[outputs.DueCallback | outputs.DueFailure] = []
        """Events that wait for `poll`, in order."""
        self._out_of_poll_since_ms = 0
        self._is_watched = self._behavior.counts_callbacks  # Whether max.poll.interval.ms is counting
        self._waits_for_commit = self._polls_next = False
        """Whether the application waits in `commitSync`, and whether it polls after that."""
        self._idle_since_ms: int | None = NEVER
        """When `poll` noticed that there is nothing to read; NEVER: it has not; None: it has thrown for that."""

    def take(self) -> list[outputs.Output]:
        """The outputs since the last call, in order."""
        taken, self.outputs = self.outputs, []
        return taken

    @property
    @abstractmethod
    def fetching(self) -> Partitions:
        """The part of `owned` that it reads: without partitions that it is revoking or that have no position."""

    @property
    def assignment(self) -> Partitions:
        """`Consumer.assignment`: `assign` replaces what the group has assigned, as far as it is possible then."""
        return self.by_hand or self.owned

    @property
    def is_outside(self) -> bool:
        """Whether it need not be a member of the group: it has no subscription."""
        return self.subscription.is_empty

    @property
    def awaits_commit(self) -> bool:
        """Whether the application waits in `commitSync` or `committed`."""
        return self._waits_for_commit

    @property
    def acquiring(self) -> Partitions:
        """The partitions that it owns or is about to own, but has not reported; empty in the classic protocol."""
        return frozenset()

    @property
    def watched(self) -> Mapping[str, int] | None:
        """Partition counts by topic that a classic member compares with the current ones; None: it does not."""
        return None

    @property
    @abstractmethod
    def is_settled(self) -> bool:
        """Whether it is a member, waits for nothing and only heartbeats."""

    @property
    @abstractmethod
    def periodic_tasks(self) -> tuple[PeriodicTask, ...] | None:
        """Its heartbeats and auto-commits, if it will do nothing else as long as these are accepted; else None."""

    @abstractmethod
    def skip_periodic_tasks(
        self, tasks: Sequence[PeriodicTask], since_ms: int, until_ms: int
    ) -> Iterator[tuple[int, Callable[[], AnyRequest | None]]]:
        """Assume that these `periodic_tasks` are done up to a moment. Yields for each one that is due before then the
        last time at which it is done, and a function that returns its request, if any, to be called at that time."""

    @abstractmethod
    def next_deadline(self) -> int | None:
        """When to call `wake` next, in ms. Every input may change it."""

    def enter_poll(self, now_ms: int) -> None:
        """The application calls `poll`, and stays there until `leave_poll`, a callback or `Raised`."""
        if self.is_closing or self._then is not None:
            return
        if self._waits_for_commit:
            self._polls_next = True
            return
        self.in_poll = True
        self._advance(now_ms)

    def leave_poll(self, now_ms: int) -> None:
        """The application is busy elsewhere; max.poll.interval.ms starts to count."""
        self._polls_next = False
        if self.in_poll:
            self.in_poll = False
            self._out_of_poll_since_ms = now_ms

    def called_back(self, now_ms: int, *, threw: bool) -> None:
        """The listener has returned from the last Callback, or thrown. The member is in `poll` again, or in `close`."""
        if self._then is None or self._called is None:
            return
        if not threw:
            self.metrics.called_back(self._called, now_ms - self._called_at_ms, now_ms)
        then, self._then = self._then, None
        self.in_poll = not self.is_closing
        self._threw = threw
        if threw and not self._error:
            self._error = self._thrown or self.identity.library.listener_error
        self._thrown = ""
        since_ms = self._out_of_poll_since_ms
        then(now_ms)
        if self._then is not None:
            self._out_of_poll_since_ms = since_ms  # this is still the same `poll`
        self._advance(now_ms)

    def answered(self, number: int, answer: object, now_ms: int) -> None:
        """A request was answered; the answer is ignored if the member no longer waits for it."""
        on_answer = self._waiting.pop(number, None)
        if on_answer is not None:
            on_answer(answer, now_ms)
            self._advance(now_ms)

    def failed(self, number: int, now_ms: int) -> None:
        """The connection was lost before the answer, or the request timed out."""
        self.answered(number, None, now_ms)

    @abstractmethod
    def wake(self, now_ms: int) -> None:
        """Do what is due, as soon as `next_deadline` has come."""

    def subscribe(self, subscription: ClientSubscription, now_ms: int) -> None:
        """`Consumer.subscribe`; Java refuses another kind of subscription (SubscriptionState.setSubscriptionType)."""
        before = self.subscription
        is_other_kind = not before.is_empty and before.is_expression != subscription.is_expression
        if (self.by_hand or is_other_kind) and not self._behavior.replaces_subscription:
            self._refuse(_MUTUALLY_EXCLUSIVE, now_ms)
        else:
            self.subscription, self._idle_since_ms = subscription, NEVER
            self._subscribed(now_ms)

    def assign(self, partitions: Partitions, now_ms: int) -> None:
        """`Consumer.assign`: the application chooses the partitions; Java refuses that while it is subscribed."""
        if not self._behavior.replaces_subscription:
            refusal = "" if self.subscription.is_empty else _MUTUALLY_EXCLUSIVE
        else:
            refusal = _ERRONEOUS_STATE if self._changes_incrementally else ""
        if refusal:
            self._refuse(refusal, now_ms)
        else:
            self._assign_by_hand(partitions)
            self._advance(now_ms)

    @abstractmethod
    def unsubscribe(self, now_ms: int) -> None:
        """`Consumer.unsubscribe`: give up everything, with `revoked` or `lost`, and leave; nothing is committed."""

    def _assign_by_hand(self, partitions: Partitions) -> None:
        self.by_hand, self._idle_since_ms = partitions, NEVER
        self.positioned &= self.assignment

    def _forget_subscription(self) -> None:
        """`unsubscribe` has released everything."""
        self.subscription = ClientSubscription()
        self._assign_by_hand(frozenset())

    @property
    @abstractmethod
    def _changes_incrementally(self) -> bool:
        """Whether it has joined as a cooperative member: librdkafka then refuses `assign` for good."""

    def _refuse(self, message: str, now_ms: int) -> None:
        """A method throws, and has no effect."""
        self.leave_poll(now_ms)
        error = "_STATE" if self._behavior.names_codes else "IllegalStateException"
        self.outputs.append(outputs.Raised(error, message, is_refusal=True))

    def _polls_for_nothing(self, now_ms: int) -> None:
        """A `poll` without subscription or assignment throws in Java, once all events of this moment are handled.
        Each one does; the application is assumed to wait until it has subscribed."""
        throws = not self.by_hand and not self._behavior.replaces_subscription
        if throws and self.in_poll and self._idle_since_ms == NEVER:
            self._idle_since_ms = now_ms

    def _throw_for_nothing(self, now_ms: int) -> None:
        if self.in_poll and self._idle_since_ms is not None and now_ms >= self._idle_since_ms:
            self._idle_since_ms = None
            self._refuse(NOT_SUBSCRIBED, now_ms)

    @property
    def _throws_at_ms(self) -> int:
        return NEVER if self._idle_since_ms is None else self._idle_since_ms

    @abstractmethod
    def _subscribed(self, now_ms: int) -> None:
        """The subscription has changed."""

    @abstractmethod
    def refresh_topics(self, image: TopicImage, now_ms: int) -> None:
        """The client's metadata was refreshed."""

    @abstractmethod
    def enforce_rebalance(self, now_ms: int) -> None:
        """KIP-568: rejoin in the next `poll`."""

    @abstractmethod
    def commit(self, now_ms: int) -> None:
        """`commitSync` of all positions, awaited; ends with `Committed`, and `Raised` on failure."""

    @abstractmethod
    def committed(self, now_ms: int) -> None:
        """`Consumer.committed`, awaited; shares the answer of a lookup of positions, or ends with `Raised`."""

    @abstractmethod
    def close(self, now_ms: int) -> None:
        """`Consumer.close`: commit, revoke, leave; ends with `Closed`."""

    @abstractmethod
    def _advance(self, now_ms: int) -> None:
        """Do what `poll`, or the background thread, can do now."""

    def _send(self, request: AnyRequest | FindCoordinator, on_answer: OnAnswer, timeout_ms: int = 0) -> int:
        """Send to the coordinator, or to any broker while it is not known."""
        self._numbers += 1
        self._waiting[self._numbers] = on_answer
        timeout = timeout_ms or self.settings.request_timeout_ms
        self.outputs.append(made(outputs.Send, (self._numbers, self._coordinator, request, timeout)))
        return self._numbers

    def _find_coordinator(self, now_ms: int) -> bool:
        """Whether the coordinator is known; if it is not, look it up, as often as the backoff allows."""
        if self._coordinator is not None:
            return True
        if not self._looking_up and now_ms >= self._lookup_at_ms:
            self._looking_up = True
            self._send(FindCoordinator(self.identity.group), self._found_coordinator)
        return False

    def _found_coordinator(self, answer: object, now_ms: int) -> None:
        self._looking_up = False
        if isinstance(answer, int):
            self._coordinator = answer
        else:
            self._lookup_at_ms = now_ms + self.settings.retry_backoff_ms
            is_long = now_ms - self._missing_since_ms >= self.settings.request_timeout_ms
            if is_long and self._behavior.deadlocks_without_coordinator:
                self.outputs.append(outputs.Deadlocked())

    def _lose_coordinator(self, now_ms: int) -> None:
        """The coordinator has moved, or the connection to it was lost."""
        if self._coordinator is not None:
            self._missing_since_ms = now_ms
        self._coordinator = None
        self._lookup_at_ms = max(self._lookup_at_ms, now_ms)

    def _call(self, kind: CallbackKind, partitions: Partitions, then: Step, now_ms: int) -> None:
        """Call the listener and continue with `then` once it has returned."""
        if self.in_poll:
            self._out_of_poll_since_ms = now_ms
        self.in_poll = False
        self._then, self._called, self._called_at_ms = then, kind, now_ms
        self.outputs.append(outputs.Callback(kind, partitions))

    @property
    def _poll_timeout_at_ms(self) -> int:
        """When max.poll.interval.ms will be over."""
        is_called = self._then is not None and not self._behavior.counts_callbacks
        if self.in_poll or not self._is_watched or is_called:
            return NEVER
        return self._out_of_poll_since_ms + self.settings.max_poll_interval_ms

    def _fail(self, error: str, message: str = "") -> None:
        """Throw an exception in the next `poll`; equal exceptions are thrown once."""
        failure = outputs.DueFailure(error, message)
        if failure not in self._due:
            self._due.append(failure)

    def _raise(self, error: str, now_ms: int, message: str = "") -> None:
        """An exception leaves `poll`."""
        self.leave_poll(now_ms)
        self.outputs.append(outputs.Raised(error, message))

    def _own(self, partitions: Partitions) -> None:
        """Set `Consumer.assignment`; new partitions have no position yet."""
        if partitions != self.owned or not self.positioned <= self.assignment:
            self.owned = partitions
            self.positioned &= self.assignment

    def _end(self) -> None:
        self.is_closed = True
        self._own(frozenset())
        self._waiting.clear()
        self.outputs.append(outputs.Closed())
