"""Offsets of members of both protocols: commits, and lookup of committed offsets."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from coordinator.consumer import member as base
from coordinator.consumer.leader import by_topic
from coordinator.consumer.outputs import (
    Committed,
    Partitions,
    Positioned,
    Raised,
    TopicPartition,
    in_order,
)
from coordinator.engine.calls import AnyRequest
from coordinator.engine.offsets.commit import Offset, OffsetCommit, OffsetCommitAnswer
from coordinator.engine.offsets.fetch import OffsetFetch, OffsetFetchAnswer, OffsetQuery
from coordinator.engine.topics import TopicImage
from wire.errors import ErrorCode
from wire.values import made

COMMIT_TIMEOUT_MS = 60_000
"""How long commitSync retries: default.api.timeout.ms. `close` gives its commit half of that."""

Offsets: TypeAlias = dict[TopicPartition, int]
OnCommit: TypeAlias = Callable[[str, int], None]
"""Takes the class of the exception that the commit failed with, empty on success, and the time in ms."""

RETRIABLE_COMMIT_ERRORS = base.COORDINATOR_MOVED | {
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.REQUEST_TIMED_OUT,
}
"""The errors of OffsetCommit that the client retries."""


@dataclass(slots=True)
class _Commit:
    """A pending commit; `retries_until_ms` is 0 for one that is not retried."""

    offsets: Offsets
    retries_until_ms: int
    done: OnCommit
    is_sync: bool
    retried: frozenset[ErrorCode]
    refusals: int = 0


class CommittingMember(base.ClientMember):
    """See the module."""

    def __init__(self, identity: base.Identity, image: TopicImage, positions: base.Positions) -> None:
        super().__init__(identity, image, positions)
        self._beat_at_ms = base.NEVER
        self._auto_commit_at_ms = base.NEVER
        self._auto_commits = False  # Whether an auto-commit is unanswered
        self._retried: _Commit | None = None
        """The last pending commit that is retried until it succeeds. No other commit may overtake it with older
        offsets, and it may not overtake a newer one."""
        self._retries: list[tuple[int, _Commit]] = []  # Commits to be sent again, and when
        self._fetches_offsets = False
        self._fetch_offsets_at_ms = 0
        self._committed_by_ms = base.NEVER
        """When the application stops waiting in `committed`; NEVER: it does not wait."""
        self._shares_fetch = self._is_stranded_call = False
        """Whether `committed` waits for the OffsetFetch that looks up positions, and whether the answer to that was
        lost (`strands_shared_fetch`)."""

    @property
    def periodic_tasks(self) -> tuple[base.PeriodicTask, ...] | None:
        if self._waiting or not self.is_settled or not self.in_poll:
            return None
        periodic_tasks = [base.PeriodicTask(next_ms=self._beat_at_ms, every_ms=self._heartbeat_interval_ms)]
        if self._auto_commits_periodically:
            every_ms = self.settings.auto_commit_interval_ms
            periodic_tasks.append(base.PeriodicTask(next_ms=self._auto_commit_at_ms, every_ms=every_ms))
        is_all = self.next_deadline() == min(task.next_ms for task in periodic_tasks)
        return tuple(periodic_tasks) if is_all else None

    def skip_periodic_tasks(
        self, tasks: Sequence[base.PeriodicTask], since_ms: int, until_ms: int
    ) -> Iterator[tuple[int, Callable[[], AnyRequest | None]]]:
        for number, routine in enumerate(tasks):
            sent_ms = routine.last_by(until_ms)
            if sent_ms <= since_ms:
                continue
            if number:
                self._auto_commit_at_ms = sent_ms + routine.every_ms
                yield sent_ms, self._commit_of_all
            else:
                self._assume_heartbeat_sent(sent_ms)
                yield sent_ms, self._heartbeat_request

    def _assume_heartbeat_sent(self, sent_ms: int) -> None:
        self._beat_at_ms = sent_ms + self._heartbeat_interval_ms

    def _commit_of_all(self) -> OffsetCommit | None:
        consumed, who = self._consumed(), self._commit_identity()
        return None if not consumed or isinstance(who, str) else self._commit_request(consumed, *who)

    def commit(self, now_ms: int) -> None:
        self._wait_outside_poll(now_ms)
        self._commit(self._consumed(), now_ms, now_ms + COMMIT_TIMEOUT_MS, self._synced, is_sync=True)

    def committed(self, now_ms: int) -> None:
        if not self.assignment:
            return
        self._wait_outside_poll(now_ms)
        self._committed_by_ms = now_ms + COMMIT_TIMEOUT_MS
        self._shares_fetch = self._fetches_offsets
        self._wait_for_committed(now_ms)

    def _wait_outside_poll(self, now_ms: int) -> None:
        was_in_poll = self.in_poll or self._polls_next
        self.leave_poll(now_ms)
        self._waits_for_commit, self._polls_next = True, was_in_poll

    def _synced(self, error: str, now_ms: int) -> None:
        polls, self._polls_next = self._polls_next, False
        self._waits_for_commit = False
        if polls and not error:
            self.enter_poll(now_ms)

    def _end(self) -> None:
        self._retries.clear()
        self._committed_by_ms = base.NEVER
        super()._end()

    @property
    @abstractmethod
    def _heartbeat_interval_ms(self) -> int:
        """The interval of heartbeats."""

    @abstractmethod
    def _heartbeat_request(self) -> AnyRequest:
        """A heartbeat with nothing to report."""

    @property
    def _auto_commits_periodically(self) -> bool:
        """Whether auto-commits are due at intervals, even with nothing to commit."""
        return self._auto_commit_at_ms != base.NEVER

    @abstractmethod
    def _commit_error(self, code: ErrorCode, _now_ms: int) -> str:
        """Apply a refused commit to the membership, and return the exception's class."""

    @abstractmethod
    def _commit_identity(self) -> tuple[str, int] | str:
        """Member id and generation or epoch to commit with, or the exception's class if no commit is possible now."""

    @property
    @abstractmethod
    def _fetch_identity(self) -> tuple[str | None, int]:
        """Member id and epoch in OffsetFetch; None and -1 if the protocol does not send them."""

    def _consumed(self, among: Partitions | None = None) -> Offsets:
        """The offsets to commit: positions of the assignment (or of `among`), in a fixed order."""
        return self.positions(in_order(self.assignment if among is None else among))

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
        """Commit; `done` is called at the end, at once if there is nothing to commit or no commit is possible now."""
        commit = _Commit(offsets, retries_until_ms, done, is_sync, retried)
        if retries_until_ms:
            self._retried = commit
        self._try_commit(commit, now_ms)

    def _try_commit(self, commit: _Commit, now_ms: int) -> None:
        who = self._commit_identity() if commit.offsets else ""
        if isinstance(who, str):
            self._end_commit(commit, who, now_ms)
        elif self._find_coordinator(now_ms):
            self._send(self._commit_request(commit.offsets, *who), partial(self._commit_answered, commit))
        else:
            self._retry_commit(commit, "TimeoutException", now_ms)

    def _commit_request(self, offsets: Offsets, member: str, epoch: int) -> OffsetCommit:
        return OffsetCommit(
            group=self.identity.group,
            generation_or_epoch=epoch,
            member=member,
            instance=None if self.by_hand and self.subscription.is_empty else self.identity.instance,
            offsets=tuple(
                [made(Offset, (topic, None, number, at, -1, "")) for (topic, number), at in offsets.items()]
            ),
        )

    def _commit_answered(self, commit: _Commit, answer: object, now_ms: int) -> None:
        if not isinstance(answer, OffsetCommitAnswer):
            self._lose_coordinator(now_ms)
            self._retry_commit(commit, "TimeoutException", now_ms)
            return
        codes = [partition[3] for partition in answer.partitions if partition[3]]
        if not codes:
            self._end_commit(commit, "", now_ms)
            return
        limit = self._behavior.commit_retries
        code = codes[0] if limit is None else codes[-1]
        if code in base.COORDINATOR_MOVED:
            self._lose_coordinator(now_ms)
        commit.refusals += 1
        if limit is None and code in commit.retried:
            self._retry_commit(commit, "TimeoutException", now_ms)
        elif (
            limit is not None
            and commit.refusals <= limit
            and len(codes) == len(answer.partitions)
            and commit.retried.issuperset(codes)
        ):
            self._retry_commit(commit, code.name, now_ms)
        elif code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and self._behavior.topic_error is not None:
            self._end_commit(commit, self._behavior.topic_error, now_ms)
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
        self._retries = [(at_ms, commit) for at_ms, commit in self._retries if at_ms > now_ms]
        for commit in due:
            if commit is not self._retried:
                self._end_commit(commit, "TimeoutException", now_ms)
                continue
            if not commit.is_sync:  # what is owned and read now (CommitRequestManager, ConsumerCoordinator)
                commit.offsets = self._consumed()
            self._try_commit(commit, now_ms)

    def _next_retry(self) -> int:
        return min(at_ms for at_ms, _ in self._retries) if self._retries else base.NEVER

    def _auto_commit(self, now_ms: int) -> None:
        """Commit what was consumed, without waiting, if an auto-commit is due and no other commit is in flight."""
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
        """Partitions whose position must be looked up."""
        return self.assignment - self.positioned

    def _fetch_offsets(self, now_ms: int) -> None:
        """Fetch the committed offsets of what is assigned and has no position; of all if the application asks."""
        is_asked = self._committed_by_ms != base.NEVER
        if len(self.positioned) == len(self.assignment) and not is_asked:
            return
        if self._fetches_offsets or now_ms < self._fetch_offsets_at_ms:
            return
        topics = tuple(by_topic(self.assignment if is_asked else self._unpositioned).items())
        if not topics or not self._find_coordinator(now_ms):
            return
        member, epoch = self._fetch_identity
        query = OffsetQuery(group=self.identity.group, member=member, epoch=epoch, topics=topics)
        self._fetches_offsets = True
        self._send(OffsetFetch(groups=(query,), require_stable=True), self._offsets_fetched)

    def _offsets_fetched(self, answer: object, now_ms: int) -> None:
        self._fetches_offsets = False
        if not isinstance(answer, OffsetFetchAnswer):
            self._lose_coordinator(now_ms)
            self._fetch_again(now_ms)
            return
        group, missing = answer.groups[0], self.assignment - self.positioned
        offsets: Offsets = {}
        for topic, partitions in group.topics:
            for partition, fetched in partitions:
                name = made(TopicPartition, (str(topic), partition))
                if not fetched.error and name in missing:
                    offsets[name] = fetched.offset
        if offsets:
            self.positioned.update(offsets)
            self.outputs.append(Positioned(offsets))
        if not group.error:
            self._end_committed("", now_ms)
        if group.error or not offsets:
            self._offset_fetch_refused(group.error, now_ms)

    def _offset_fetch_refused(self, code: ErrorCode, now_ms: int) -> None:
        """Retry after the backoff; look the coordinator up again if it has moved."""
        if code in base.COORDINATOR_MOVED:
            self._lose_coordinator(now_ms)
        self._fetch_again(now_ms)

    def _fetch_again(self, now_ms: int) -> None:
        self._fetch_offsets_at_ms = now_ms + self.settings.retry_backoff_ms

    def _wait_for_committed(self, now_ms: int) -> None:
        """Do what is due while the application waits in `committed`."""
        if now_ms >= self._committed_by_ms:
            self._end_committed("TimeoutException", now_ms)
        elif self._committed_by_ms != base.NEVER and not self._is_stranded_call:
            self._fetch_offsets(now_ms)

    def _end_committed(self, error: str, now_ms: int) -> None:
        if self._committed_by_ms == base.NEVER:
            return
        self._committed_by_ms = base.NEVER
        self._shares_fetch = self._is_stranded_call = False
        if error:
            self.outputs.append(Raised(error))
        self._synced(error, now_ms)

    @property
    def _committed_due_ms(self) -> int:
        """The next deadline of `_wait_for_committed`."""
        is_asked = self._committed_by_ms != base.NEVER
        is_looking_up = self._coordinator is None and self._looking_up
        if not is_asked or self._fetches_offsets or is_looking_up or self._is_stranded_call:
            return self._committed_by_ms
        lookup_ms = self._lookup_at_ms if self._coordinator is None else 0
        return min(self._committed_by_ms, max(self._fetch_offsets_at_ms, lookup_ms))
