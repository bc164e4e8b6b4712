"""What members of both protocols have in common: requests and their answers, the coordinator, callbacks, commits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from coordinator.consumer.library import Library
from coordinator.consumer.metrics import Metrics
from coordinator.consumer.outputs import (
    Callback,
    CallbackKind,
    Closed,
    Committed,
    FindCoordinator,
    Hung,
    Output,
    Partitions,
    Positioned,
    Raised,
    Send,
    TopicPartition,
)
from coordinator.consumer.settings import MemberSettings
from coordinator.engine.calls import Request
from coordinator.engine.offsets.commit import Offset, OffsetCommit, OffsetCommitAnswer
from coordinator.engine.offsets.fetch import OffsetFetch, OffsetFetchAnswer, OffsetQuery
from coordinator.engine.topics import TopicImage
from wire.errors import ErrorCode

NEVER = 2**62
"""A deadline that does not come, in ms."""
COMMIT_PATIENCE_MS = 60_000
"""How long commitSync retries: default.api.timeout.ms. `close` gives its commit half of that."""
LISTENER_THREW = "User rebalance callback throws an error"
"""The message of the exception that leaves `poll` then."""

Offsets: TypeAlias = dict[TopicPartition, int]
Position: TypeAlias = Callable[[TopicPartition], int | None]
"""The offset up to which the application has got the records of a partition; None where it reads none of it yet."""
OnAnswer: TypeAlias = Callable[[object, int], None]
"""Takes the answer, None where the connection broke, and the time in ms."""
Step: TypeAlias = Callable[[int], None]
"""What is to be done next, at a time in ms."""
OnCommit: TypeAlias = Callable[[str, int], None]
"""Takes the class of the exception that a commit ended with, empty where it did not, and the time in ms."""

COORDINATOR_MOVED = frozenset({ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE})
RETRIABLE_COMMIT_ERRORS = COORDINATOR_MOVED | {
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.REQUEST_TIMED_OUT,
}
"""Of OffsetCommit, those after which the client tries again by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who a member is, and how it is configured."""

    group: str
    client_id: str
    instance: str | None
    rack: str | None
    library: Library
    settings: MemberSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """Topics by name or, where `regex` is given, by a regular expression.

    A classic member matches the expression itself, by `matches`; one of the consumer protocol leaves it to the broker.
    """

    topics: tuple[str, ...] = ()
    regex: str | None = None
    matches: Callable[[str], bool] | None = None

    def in_image(self, image: TopicImage) -> tuple[str, ...]:
        """The names subscribed to, existing or not; for an expression, the topics that it matches."""
        if self.matches is None:
            return self.topics
        return tuple(sorted(name for name in image.topics if self.matches(name)))


@dataclass(slots=True)
class _Commit:
    """A commit under way; `retries_until_ms` is 0 for one that is not tried again."""

    offsets: Offsets
    retries_until_ms: int
    done: OnCommit
    is_sync: bool
    retried: frozenset[ErrorCode]


class Member(ABC):
    """A consumer. See the package: inputs are the public methods, what they lead to is fetched with `take`."""

    def __init__(self, identity: Identity, image: TopicImage, position: Position) -> None:
        self.identity, self.settings = identity, identity.settings
        self._ways = identity.library.ways
        self.image = image
        self.position = position
        self.metrics = Metrics()
        self.owned: Partitions = frozenset()
        """What the client takes for its own (`Consumer.assignment`)."""
        self.positioned: set[TopicPartition] = set()
        """What of it has a position to read from."""
        self.in_poll = False
        self.is_closing = False
        self.is_closed = False
        self.outputs: list[Output] = []
        self._coordinator: int | None = None
        self._looking_up = False
        self._lookup_at_ms = 0
        self._missing_since_ms = NEVER
        """Since when there is no coordinator, where there was one."""
        self._waiting: dict[int, OnAnswer] = {}
        self._numbers = 0
        self._then: Step | None = None
        self._called_at_ms = 0
        self._called: CallbackKind | None = None
        self._threw = False
        """Whether the last callback threw."""
        self._thrown = ""
        """What `commitSync` has thrown in the callback that is under way."""
        self._error = ""
        """The first exception of the callbacks of a rebalance; it leaves `poll` at the end."""
        self._out_of_poll_since_ms = 0
        self._auto_commit_at_ms = NEVER
        self._auto_commits = False
        """Whether an automatic commit is not answered."""
        self._retried: _Commit | None = None
        """The last commit that is tried until it succeeds, while it is under way: no other may overtake it with older
        offsets, nor it a newer one."""
        self._retries: list[tuple[int, _Commit]] = []
        """Commits to be sent again, and when."""
        self._waits_for_commit = self._polls_next = False
        """Whether the application waits in `commitSync`, and whether it polls after that."""
        self._fetches_offsets = False
        self._fetch_offsets_at_ms = 0
        self._committed_by_ms = NEVER
        """How long the application waits in `committed`; NEVER: it does not."""
        self._shares_fetch = self._is_stranded_call = False
        """Whether what it waits for is the OffsetFetch that its positions were looked up with, and whether its answer
        was lost (`strands_shared_fetch`)."""

    def take(self) -> list[Output]:
        """The outputs since the last time, in order."""
        outputs, self.outputs = self.outputs, []
        return outputs

    # What the driver asks.

    @property
    @abstractmethod
    def fetching(self) -> Partitions:
        """What of `owned` it reads: not what it is giving up, nor what it does not know the position of."""

    @property
    def taking_over(self) -> Partitions:
        """What it is about to own, or owns, and no heartbeat reports yet, of a member whose heartbeats report that."""
        return frozenset()

    @property
    @abstractmethod
    def member_id(self) -> str:
        """Its id in the group; empty while it has none."""

    @property
    @abstractmethod
    def epoch(self) -> int:
        """Its generation or member epoch; -1 or 0 while it has none."""

    @property
    @abstractmethod
    def is_settled(self) -> bool:
        """Whether it is a member, waits for nothing and has nothing to do but to heartbeat."""

    @abstractmethod
    def next_deadline(self) -> int | None:
        """When to call `wake` next, in ms; may change with every input."""

    # What the driver tells.

    def enter_poll(self, now_ms: int) -> None:
        """The application calls `poll`, and stays there (calls it again and again) until `leave_poll`, a callback or
        an exception (`Raised`)."""
        if self.is_closing or self._then is not None:
            return
        if self._waits_for_commit:
            self._polls_next = True
            return
        self.in_poll = True
        self._advance(now_ms)

    def leave_poll(self, now_ms: int) -> None:
        """The application is busy elsewhere; max.poll.interval.ms begins to run."""
        self._polls_next = False
        if self.in_poll:
            self.in_poll = False
            self._out_of_poll_since_ms = now_ms

    def called_back(self, now_ms: int, *, threw: bool) -> None:
        """The listener has returned from the last Callback, or thrown. The member is in `poll` again, or in `close`."""
        if self._then is None or self._called is None:
            return
        self.metrics.called_back(self._called, now_ms - self._called_at_ms)
        then, self._then = self._then, None
        self.in_poll = not self.is_closing
        self._threw = threw
        if threw and not self._error:
            # confluent-kafka lets it through, Java wraps it.
            passes = self._thrown if self._ways.names_codes else ""
            self._error = passes or self.identity.library.listener_error
        self._thrown = ""
        since_ms = self._out_of_poll_since_ms
        then(now_ms)
        if self._then is not None:
            self._out_of_poll_since_ms = since_ms  # still the same `poll`
        self._advance(now_ms)

    def answered(self, number: int, answer: object, now_ms: int) -> None:
        """An answer to a request that was sent; one that is not waited for any more is ignored."""
        on_answer = self._waiting.pop(number, None)
        if on_answer is not None:
            on_answer(answer, now_ms)
            self._advance(now_ms)

    def failed(self, number: int, now_ms: int) -> None:
        """The connection broke before the answer, or the request's time is up."""
        self.answered(number, None, now_ms)

    @abstractmethod
    def wake(self, now_ms: int) -> None:
        """Do what is due, as soon as `next_deadline` has come."""

    @abstractmethod
    def subscribe(self, topics: tuple[str, ...], now_ms: int) -> None:
        """`Consumer.subscribe` with other topics."""

    @abstractmethod
    def see_topics(self, image: TopicImage, now_ms: int) -> None:
        """The client's metadata are refreshed."""

    @abstractmethod
    def enforce_rebalance(self, now_ms: int) -> None:
        """KIP-568: rejoin in the next `poll`."""

    def commit(self, now_ms: int) -> None:
        """`commitSync` of the positions of all that is owned; ends with `Committed`, and `Raised` where it fails.

        The application waits for it. Where it was in `poll`, it is there again when the commit has succeeded.
        """
        was_in_poll = self.in_poll or self._polls_next
        self.leave_poll(now_ms)
        self._waits_for_commit, self._polls_next = True, was_in_poll
        self._commit(self._consumed(), now_ms, now_ms + COMMIT_PATIENCE_MS, self._synced, is_sync=True)

    def committed(self, now_ms: int) -> None:
        """`Consumer.committed` of all that is owned; ends with `Raised` where there is no answer in time.

        The application waits for it, and is in `poll` again then, where it was. Where positions are being looked up it
        waits for the same answer.
        """
        if not self.owned:
            return
        was_in_poll = self.in_poll or self._polls_next
        self.leave_poll(now_ms)
        self._waits_for_commit, self._polls_next = True, was_in_poll
        self._committed_by_ms = now_ms + COMMIT_PATIENCE_MS
        self._shares_fetch = self._fetches_offsets
        self._wait_for_committed(now_ms)

    def _synced(self, error: str, now_ms: int) -> None:
        polls, self._polls_next = self._polls_next, False
        self._waits_for_commit = False
        if polls and not error:
            self.enter_poll(now_ms)

    @abstractmethod
    def close(self, now_ms: int) -> None:
        """`Consumer.close`: commit, give up, leave; ends with `Closed`."""

    # For the protocols.

    @abstractmethod
    def _advance(self, now_ms: int) -> None:
        """Do what `poll`, or the background thread, can do now."""

    @abstractmethod
    def _commit_error(self, code: ErrorCode, _now_ms: int) -> str:
        """What a refused commit leads to: the exception's class, with what it does to the membership."""

    @abstractmethod
    def _commit_identity(self) -> tuple[str, int] | str:
        """Member id and generation or epoch to commit with, or the exception's class why it cannot be done now."""

    @property
    @abstractmethod
    def _fetch_identity(self) -> tuple[str | None, int]:
        """Member id and epoch in OffsetFetch; None and -1 where the protocol does not send them."""

    def _send(self, request: Request[Any], on_answer: OnAnswer, timeout_ms: int = 0) -> int:
        """Send to the coordinator, which must be known."""
        self._numbers += 1
        self._waiting[self._numbers] = on_answer
        timeout = timeout_ms or self.settings.request_timeout_ms
        self.outputs.append(Send(self._numbers, self._coordinator, request, timeout))
        return self._numbers

    def _find_coordinator(self, now_ms: int) -> bool:
        """Whether the coordinator is known; where not it is looked up, not more often than the backoff allows."""
        if self._coordinator is not None:
            return True
        if not self._looking_up and now_ms >= self._lookup_at_ms:
            self._looking_up = True
            self._numbers += 1
            self._waiting[self._numbers] = self._found_coordinator
            lookup = FindCoordinator(self.identity.group)
            self.outputs.append(Send(self._numbers, None, lookup, self.settings.request_timeout_ms))
        return False

    def _found_coordinator(self, answer: object, now_ms: int) -> None:
        self._looking_up = False
        if isinstance(answer, int):
            self._coordinator = answer
        else:
            self._lookup_at_ms = now_ms + self.settings.retry_backoff_ms
            missing_ms = now_ms - self._missing_since_ms
            if self._ways.hangs_without_coordinator and missing_ms >= self.settings.request_timeout_ms:
                self.outputs.append(Hung())

    def _lose_coordinator(self, now_ms: int) -> None:
        """It has moved, or the connection to it broke."""
        if self._coordinator is not None:
            self._missing_since_ms = now_ms
        self._coordinator = None
        self._lookup_at_ms = max(self._lookup_at_ms, now_ms)

    def _call(
        self, kind: CallbackKind, partitions: Iterable[TopicPartition], then: Step, now_ms: int
    ) -> None:
        """Call the listener and go on with `then` once it has returned."""
        if self.in_poll:
            self._out_of_poll_since_ms = now_ms
        self.in_poll = False
        self._then, self._called, self._called_at_ms = then, kind, now_ms
        self.outputs.append(Callback(kind, frozenset(partitions)))

    def _raise(self, error: str, now_ms: int, message: str = "") -> None:
        """An exception leaves `poll`."""
        self.leave_poll(now_ms)
        self.outputs.append(Raised(error, message))

    def _own(self, partitions: Partitions) -> None:
        """`Consumer.assignment` is this from now on; what is new has no position yet."""
        if partitions != self.owned:
            self.owned = partitions
            self.positioned &= partitions

    def _end(self) -> None:
        self.is_closed = True
        self._own(frozenset())
        self._waiting.clear()
        self._retries.clear()
        self._committed_by_ms = NEVER
        self.outputs.append(Closed())

    # Offsets.

    def _consumed(self, among: Partitions | None = None) -> Offsets:
        """What to commit: positions of what is owned (or of those), in a fixed order."""
        return {
            place: offset
            for place in sorted(self.owned if among is None else among)
            if (offset := self.position(place)) is not None
        }

    def _commit(
        self,
        offsets: Offsets,
        now_ms: int,
        retries_until_ms: int,
        done: OnCommit,
        *,
        is_sync: bool = False,
        retried: frozenset[ErrorCode] = RETRIABLE_COMMIT_ERRORS,
    ) -> None:
        """Commit; `done` is called at the end, at once where there is nothing to commit or it cannot be done now."""
        commit = _Commit(offsets, retries_until_ms, done, is_sync, retried)
        if retries_until_ms:
            self._retried = commit
        self._try_commit(commit, now_ms)

    def _try_commit(self, commit: _Commit, now_ms: int) -> None:
        if not commit.offsets:
            self._end_commit(commit, "", now_ms)
            return
        who = self._commit_identity()
        if isinstance(who, str):
            self._end_commit(commit, who, now_ms)
            return
        if not self._find_coordinator(now_ms):
            self._retry_commit(commit, "TimeoutException", now_ms)
            return
        member, epoch = who
        offsets = [
            Offset(topic=topic, topic_id=None, partition=partition, offset=offset)
            for (topic, partition), offset in commit.offsets.items()
        ]
        request = OffsetCommit(
            group=self.identity.group,
            generation_or_epoch=epoch,
            member=member,
            instance=self.identity.instance,
            offsets=tuple(offsets),
        )
        self._send(request, partial(self._commit_answered, commit))

    def _commit_answered(self, commit: _Commit, answer: object, now_ms: int) -> None:
        if not isinstance(answer, OffsetCommitAnswer):
            self._lose_coordinator(now_ms)
            self._retry_commit(commit, "TimeoutException", now_ms)
            return
        codes = [code for _, _, _, code in answer.partitions if code is not ErrorCode.NONE]
        if not codes:
            self._end_commit(commit, "", now_ms)
            return
        code = codes[0]
        if code in COORDINATOR_MOVED:
            self._lose_coordinator(now_ms)
        if code in commit.retried:
            self._retry_commit(commit, "TimeoutException", now_ms)
        else:
            self._end_commit(commit, self._commit_error(code, now_ms), now_ms)

    def _retry_commit(self, commit: _Commit, error: str, now_ms: int) -> None:
        at_ms = now_ms + self.settings.retry_backoff_ms
        if at_ms < commit.retries_until_ms and commit is self._retried:
            self._retries.append((at_ms, commit))
        else:
            self._end_commit(commit, error, now_ms)

    def _end_commit(self, commit: _Commit, error: str, now_ms: int) -> None:
        if commit is self._retried:
            self._retried = None
        self.outputs.append(Committed(commit.offsets, error))
        if error and commit.is_sync:
            self._thrown = error if self._then is not None else ""
            self.outputs.append(Raised(error))
        commit.done(error, now_ms)

    def _retry_commits(self, now_ms: int) -> None:
        if not self._retries:
            return
        due = [commit for at_ms, commit in self._retries if at_ms <= now_ms]
        if due:
            self._retries = [(at_ms, commit) for at_ms, commit in self._retries if at_ms > now_ms]
            for commit in due:
                if commit is self._retried:
                    if not commit.is_sync:
                        # What is owned by now, and is read by now (CommitRequestManager, ConsumerCoordinator).
                        commit.offsets = self._consumed()
                    self._try_commit(commit, now_ms)
                else:
                    self._end_commit(commit, "TimeoutException", now_ms)

    def _next_retry(self) -> int:
        return min(at_ms for at_ms, _ in self._retries) if self._retries else NEVER

    def _auto_commit(self, now_ms: int) -> None:
        """Commit what was consumed, where that is due and no other commit is under way; nobody waits for it."""
        if now_ms < self._auto_commit_at_ms:
            return
        if self._retried is not None:
            self._auto_commit_at_ms = now_ms + self.settings.retry_backoff_ms
        else:
            self._auto_commit_at_ms = now_ms + self.settings.auto_commit_interval_ms
            if consumed := self._consumed():
                self._auto_commits = True
                self._commit(consumed, now_ms, 0, self._auto_committed)

    def _auto_committed(self, error: str, now_ms: int) -> None:
        """An asynchronous commit has ended."""
        self._auto_commits = False
        if error == "TimeoutException":
            self._auto_commit_at_ms = min(self._auto_commit_at_ms, now_ms + self.settings.retry_backoff_ms)

    @property
    def _unpositioned(self) -> Partitions:
        """What a position is to be looked up for."""
        return self.owned - self.positioned

    def _fetch_offsets(self, now_ms: int) -> None:
        """Ask for the committed offsets of what is owned and has no position; of all where the application asks."""
        is_asked = self._committed_by_ms != NEVER
        if (
            self._fetches_offsets
            or now_ms < self._fetch_offsets_at_ms
            or (len(self.positioned) == len(self.owned) and not is_asked)
        ):
            return
        wanted: dict[str, list[int]] = {}
        for topic, partition in sorted(self.owned if is_asked else self._unpositioned):
            wanted.setdefault(topic, []).append(partition)
        if not wanted or not self._find_coordinator(now_ms):
            return
        member, epoch = self._fetch_identity
        query = OffsetQuery(
            group=self.identity.group,
            member=member,
            epoch=epoch,
            topics=tuple((topic, tuple(numbers)) for topic, numbers in wanted.items()),
        )
        self._fetches_offsets = True
        self._send(OffsetFetch(groups=(query,), require_stable=True), self._offsets_fetched)

    def _offsets_fetched(self, answer: object, now_ms: int) -> None:
        self._fetches_offsets = False
        if not isinstance(answer, OffsetFetchAnswer):
            self._lose_coordinator(now_ms)
            self._fetch_again(now_ms)
            return
        group = answer.groups[0]
        found: Offsets = {}
        for topic, partitions in group.topics:
            for partition, fetched in partitions:
                place = TopicPartition(str(topic), partition)
                if fetched.error is ErrorCode.NONE and place in self.owned and place not in self.positioned:
                    found[place] = fetched.offset
        if found:
            self.positioned.update(found)
            self.outputs.append(Positioned(found))
        if group.error is ErrorCode.NONE:
            self._end_committed("", now_ms)
        if group.error is not ErrorCode.NONE or not found:
            self._offset_fetch_refused(group.error, now_ms)

    def _offset_fetch_refused(self, code: ErrorCode, now_ms: int) -> None:
        """Ask again after the backoff, of another coordinator where this is none."""
        if code in COORDINATOR_MOVED:
            self._lose_coordinator(now_ms)
        self._fetch_again(now_ms)

    def _fetch_again(self, now_ms: int) -> None:
        self._fetch_offsets_at_ms = now_ms + self.settings.retry_backoff_ms

    def _wait_for_committed(self, now_ms: int) -> None:
        """What is due while the application waits in `committed`."""
        if now_ms >= self._committed_by_ms:
            self._end_committed("TimeoutException", now_ms)
        elif self._committed_by_ms != NEVER and not self._is_stranded_call:
            self._fetch_offsets(now_ms)

    def _end_committed(self, error: str, now_ms: int) -> None:
        if self._committed_by_ms == NEVER:
            return
        self._committed_by_ms = NEVER
        self._shares_fetch = self._is_stranded_call = False
        if error:
            self.outputs.append(Raised(error))
        self._synced(error, now_ms)

    @property
    def _committed_due_ms(self) -> int:
        """When `_wait_for_committed` has something to do."""
        is_asked = self._committed_by_ms != NEVER
        is_looking_up = self._coordinator is None and self._looking_up
        if not is_asked or self._fetches_offsets or is_looking_up or self._is_stranded_call:
            return self._committed_by_ms
        lookup_ms = self._lookup_at_ms if self._coordinator is None else 0
        return min(self._committed_by_ms, max(self._fetch_offsets_at_ms, lookup_ms))
