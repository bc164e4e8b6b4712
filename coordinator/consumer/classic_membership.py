"""Membership in a classic group: id and generation, the heartbeats of the background thread that keep them, and their
involuntary loss, noticed at the next `poll`. Source: kafka-clients 4.3.1, AbstractCoordinator; librdkafka 2.16,
rdkafka_cgrp.c."""

from enum import Enum
from functools import partial

from coordinator.consumer.committing_member import CommittingMember
from coordinator.consumer.member import COORDINATOR_MOVED, NEVER, Identity, Positions, java_exception
from coordinator.consumer.outputs import DueCallback, DueFailure
from coordinator.engine.classic.heartbeat import Heartbeat, HeartbeatAnswer
from coordinator.engine.classic.leave_group import LeaveGroup
from coordinator.engine.topics import TopicImage
from wire.errors import ErrorCode

NO_GENERATION = -1


class ClassicState(Enum):
    """AbstractCoordinator.MemberState."""

    UNJOINED = "unjoined"
    PREPARING_REBALANCE = "preparing-rebalance"  # JoinGroup is sent; no heartbeats
    COMPLETING_REBALANCE = "completing-rebalance"  # JoinGroup is answered
    STABLE = "stable"  # SyncGroup is answered; callbacks may still be due


UNJOINED, PREPARING, STABLE = ClassicState.UNJOINED, ClassicState.PREPARING_REBALANCE, ClassicState.STABLE
"""Names that are read often: Python 3.11 finds a member of an enum slowly."""

FATAL = frozenset(
    {
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
        ErrorCode.INVALID_SESSION_TIMEOUT,
        ErrorCode.INVALID_GROUP_ID,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.GROUP_MAX_SIZE_REACHED,
        ErrorCode.UNSUPPORTED_VERSION,
    }
)
"""Errors of JoinGroup and SyncGroup that `poll` throws on each attempt."""

_FENCED_ERRORS = frozenset(
    {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION, ErrorCode.FENCED_INSTANCE_ID}
)
"""The member is no longer in the group, or not in this generation."""


class ClassicMembership(CommittingMember):
    """See the module."""

    def __init__(self, identity: Identity, image: TopicImage, positions: Positions) -> None:
        super().__init__(identity, image, positions)
        self.state = ClassicState.UNJOINED
        self.epoch = NO_GENERATION
        self.member_id = ""
        self._must_rejoin = self._must_prepare = True
        self._is_beating = False  # Whether a heartbeat is in flight
        self._heard_at_ms = 0
        self._is_silent = False
        """Whether the member left because the application stayed outside `poll` too long, and has not rejoined."""
        self._commits_fenced = False  # Whether each `poll` throws that an asynchronous commit was fenced
        self._unnoticed: int | None = None
        """The lost generation with which the application, unaware of the loss, still commits. None: there is none."""
        self._is_dead = False  # Whether an error has occurred that is final for the library

    def _enter(self, generation: int, member: str, now_ms: int) -> None:
        """Start the session: JoinGroup is answered."""
        self.state = ClassicState.COMPLETING_REBALANCE
        self.epoch, self.member_id = generation, member
        self._heard_at_ms = now_ms
        self._beat_at_ms = now_ms + self.settings.heartbeat_interval_ms
        self._is_beating = False
        self._unnoticed = None

    def _lose_membership(self, code: ErrorCode) -> None:
        """Reset the generation, and the member id unless only the generation was wrong."""
        self.state = ClassicState.UNJOINED
        self.epoch = NO_GENERATION
        if code is not ErrorCode.ILLEGAL_GENERATION:
            self.member_id = ""
        self._must_rejoin = self._must_prepare = True

    @property
    def _heartbeat_interval_ms(self) -> int:
        return self.settings.heartbeat_interval_ms

    def _heartbeat_request(self) -> Heartbeat:
        return Heartbeat(
            group=self.identity.group,
            generation=self.epoch,
            member=self.member_id,
            instance=self.identity.instance,
        )

    def _assume_heartbeat_sent(self, sent_ms: int) -> None:
        super()._assume_heartbeat_sent(sent_ms)
        self._heard_at_ms = sent_ms

    @property
    def _auto_commits_periodically(self) -> bool:
        return bool(self.assignment) and super()._auto_commits_periodically

    @property
    def _has_lost_membership(self) -> bool:
        return self.epoch == NO_GENERATION or not self.member_id

    def _notify(self, callback: DueCallback, now_ms: int) -> None:
        """Call the listener, in `poll` or in `close`, after everything that is already due."""
        is_later = bool(self._due) or not self.in_poll
        if is_later and self._behavior.rebalances_in_background and not self.is_closing:
            self._due.append(callback)
        else:
            self._emit_due(callback, now_ms)

    def _emit_due(self, due: DueCallback | DueFailure, now_ms: int) -> None:
        if isinstance(due, DueFailure):
            self._raise(due.error, now_ms, due.message)
            return
        if due.assigned is not None:
            self.by_hand = frozenset()  # of librdkafka: the listener replaces it
            self._own(due.assigned)
        self._call(due.kind, due.partitions, due.then, now_ms)

    @property
    def _waits_for_listener(self) -> bool:
        return any(isinstance(due, DueCallback) for due in self._due)

    def _fatal(self, code: ErrorCode) -> str:
        """The exception of an error that polling again does not resolve."""
        if code is ErrorCode.FENCED_INSTANCE_ID and self._behavior.fatal_error is not None:
            return self._behavior.fatal_error
        return code.name if self._behavior.names_codes else java_exception(code)

    def _next_background(self) -> int:
        state = self.state
        if self.is_closing or state is UNJOINED:
            return NEVER
        if state is PREPARING:
            return self._poll_timeout_at_ms if self._behavior.rebalances_in_background else NEVER
        at_ms = self._heard_at_ms + self.settings.session_timeout_ms if self._is_beating else self._beat_at_ms
        if self._coordinator is None:
            at_ms = max(at_ms, NEVER if self._looking_up else self._lookup_at_ms)
        return at_ms if self.in_poll else min(at_ms, self._poll_timeout_at_ms)

    def _work(self, now_ms: int) -> None:
        """Do what is due: find the coordinator, leave if the application does not poll, or heartbeat."""
        if self.is_closing or self.state is UNJOINED:
            return
        has_joined = self.state is not PREPARING
        silent_at_ms = self._heard_at_ms + self.settings.session_timeout_ms
        if has_joined and self._find_coordinator(now_ms) and now_ms >= silent_at_ms:
            self._heard_at_ms = now_ms  # not in each attempt: the next coordinator gets its full time
            self._is_beating = False
            self._beat_at_ms = now_ms
            self._lose_coordinator(now_ms)
        if (has_joined or self._behavior.rebalances_in_background) and now_ms >= self._poll_timeout_at_ms:
            self._leave_after_poll_timeout()
        elif has_joined:
            self._heartbeat(now_ms)

    def _heartbeat(self, now_ms: int) -> None:
        if self._coordinator is None or self._is_beating or now_ms < self._beat_at_ms:
            return
        self._beat_at_ms = now_ms + self.settings.heartbeat_interval_ms
        self._is_beating = True
        answered = partial(self._heartbeat_answered, self.epoch, self.member_id)
        self._send(self._heartbeat_request(), answered)

    def _leave_after_poll_timeout(self) -> None:
        """max.poll.interval.ms is over: a dynamic member leaves, a static member only resets its membership."""
        if self._coordinator is not None and self.identity.instance is None:
            self._send(self._leave_request(), no_answer_needed)
        if self._behavior.poll_timeout_error is not None:
            self._fail(self._behavior.poll_timeout_error)
        self._is_silent, self._is_watched = True, self._behavior.counts_callbacks
        self._lose_membership(ErrorCode.UNKNOWN_MEMBER_ID)

    def _leave_request(self) -> LeaveGroup:
        return LeaveGroup(group=self.identity.group, members=((self.member_id, self.identity.instance),))

    def _heartbeat_answered(self, generation: int, member: str, answer: object, now_ms: int) -> None:
        self._is_beating = False
        if not isinstance(answer, HeartbeatAnswer):
            self._lose_coordinator(now_ms)
            self._beat_at_ms = now_ms + self.settings.retry_backoff_ms
            return
        code = answer.error
        if code in (ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS):
            self._heard_at_ms = now_ms
            if code is ErrorCode.REBALANCE_IN_PROGRESS and self.state is ClassicState.STABLE:
                self._must_rejoin = True
        elif code in _FENCED_ERRORS:
            if (generation, member) == (self.epoch, self.member_id):
                self._lose_membership(code)
                if code is ErrorCode.FENCED_INSTANCE_ID:
                    self._fail(self._fatal(code))
                    self._end_membership()
        elif code in FATAL:
            self._fail(self._fatal(code))
        else:
            if code in COORDINATOR_MOVED:
                self._lose_coordinator(now_ms)
            self._beat_at_ms = now_ms + self.settings.retry_backoff_ms

    def _end_membership(self) -> None:
        """Drop what is owned, without a callback, after an error that is final for the library."""
        if self._behavior.fatal_error is not None:
            self._is_dead = True
            self._own(frozenset())

    def _commit_identity(self) -> tuple[str, int] | str:
        if self.by_hand and self.subscription.is_empty:
            return "", NO_GENERATION
        if self.state is ClassicState.STABLE or self._unnoticed is not None:
            return self.member_id, self.epoch if self._unnoticed is None else self._unnoticed
        if self.state is ClassicState.UNJOINED:
            return self._behavior.lost_error or "CommitFailedException"
        if self._behavior.rebalances_in_background:
            return self.member_id, self.epoch
        return "RebalanceInProgressException"

    def _commit_error(self, code: ErrorCode, _now_ms: int) -> str:
        java = "KafkaException"
        if code is ErrorCode.REBALANCE_IN_PROGRESS:
            self._must_rejoin, java = True, "RebalanceInProgressException"
        elif code is ErrorCode.FENCED_INSTANCE_ID:
            self._end_membership()
            return self._fatal(code)
        elif code in _FENCED_ERRORS:
            self._commit_fenced(code)
            java = "CommitFailedException"
        return code.name if self._behavior.names_codes else java

    def _commit_fenced(self, code: ErrorCode) -> None:
        """A commit was refused because of its member or generation."""
        self._lose_membership(code)

    def _auto_committed(self, error: str, now_ms: int) -> None:
        if error and self._is_dead:
            self._fail(error)
        elif error == self._fatal(ErrorCode.FENCED_INSTANCE_ID):
            self._commits_fenced = True
        super()._auto_committed(error, now_ms)

    @property
    def _fetch_identity(self) -> tuple[str | None, int]:
        return None, -1


def no_answer_needed(_answer: object, _now_ms: int) -> None:
    """For LeaveGroup: the member has already reset its membership."""
