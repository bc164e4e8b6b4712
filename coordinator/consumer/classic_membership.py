"""A consumer as a member of a classic group: its id and generation, the heartbeats that keep them, how it falls out.

Theory of operation. The background thread heartbeats from JoinGroup's answer on, whatever the application does; what it
hears marks the member to rejoin (REBALANCE_IN_PROGRESS) or resets its generation, whose partitions are lost at the next
`poll`. It leaves by itself where the application has not been in `poll` for max.poll.interval.ms.

Source: kafka-clients 4.3.1, AbstractCoordinator, tried on a running broker.
"""

from __future__ import annotations

from enum import Enum
from functools import partial

from coordinator.consumer.member import COORDINATOR_MOVED, NEVER, Identity, Member, Position
from coordinator.engine.classic.heartbeat import Heartbeat, HeartbeatAnswer
from coordinator.engine.classic.leave_group import LeaveGroup
from coordinator.engine.topics import TopicImage
from wire.errors import ErrorCode

NO_GENERATION = -1


class State(Enum):
    """AbstractCoordinator.MemberState."""

    UNJOINED = "unjoined"
    PREPARING_REBALANCE = "preparing-rebalance"
    """JoinGroup is sent; no heartbeats."""
    COMPLETING_REBALANCE = "completing-rebalance"
    """JoinGroup is answered."""
    STABLE = "stable"
    """SyncGroup is answered; callbacks may still be due."""


FATAL = {
    ErrorCode.FENCED_INSTANCE_ID: "FencedInstanceIdException",
    ErrorCode.INCONSISTENT_GROUP_PROTOCOL: "InconsistentGroupProtocolException",
    ErrorCode.INVALID_SESSION_TIMEOUT: "InvalidSessionTimeoutException",
    ErrorCode.INVALID_GROUP_ID: "InvalidGroupIdException",
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "GroupAuthorizationException",
    ErrorCode.GROUP_MAX_SIZE_REACHED: "GroupMaxSizeReachedException",
    ErrorCode.UNSUPPORTED_VERSION: "UnsupportedVersionException",
}
"""Answers to JoinGroup and SyncGroup that `poll` throws, each time that it tries."""

_OUT = frozenset({ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION, ErrorCode.FENCED_INSTANCE_ID})
"""The member is no longer in the group, or not in this generation."""


class ClassicMembership(Member):
    """See the module."""

    def __init__(self, identity: Identity, image: TopicImage, position: Position) -> None:
        super().__init__(identity, image, position)
        self.state = State.UNJOINED
        self.generation = NO_GENERATION
        self._member_id = ""
        self._must_rejoin = True
        self._must_prepare = True
        self._beat_at_ms = NEVER
        self._is_beating = False
        """Whether a heartbeat is under way."""
        self._heard_at_ms = 0
        self._failure = ""
        """What the background thread has to throw out of the next `poll`."""
        self._commits_fenced = False
        self._is_dead = False
        """After an error that the library takes for the end."""

    @property
    def member_id(self) -> str:
        return self._member_id

    @property
    def epoch(self) -> int:
        return self.generation

    def _enter(self, generation: int, member: str, now_ms: int) -> None:
        """JoinGroup is answered: the session begins."""
        self.state = State.COMPLETING_REBALANCE
        self.generation, self._member_id = generation, member
        self._heard_at_ms = now_ms
        self._beat_at_ms = now_ms + self.settings.heartbeat_interval_ms
        self._is_beating = False

    def _fall_out(self, code: ErrorCode) -> None:
        """No generation any more and, unless only that was wrong, no member id; what is owned is lost at the next
        `poll`."""
        self.state = State.UNJOINED
        self.generation = NO_GENERATION
        if code is not ErrorCode.ILLEGAL_GENERATION:
            self._member_id = ""
        self._must_rejoin = self._must_prepare = True

    @property
    def _has_fallen_out(self) -> bool:
        return self.generation == NO_GENERATION or not self._member_id

    def _fatal(self, code: ErrorCode) -> str:
        """The exception of an error that poll-again does not mend."""
        if code is ErrorCode.FENCED_INSTANCE_ID and self._ways.fatal_error is not None:
            return self._ways.fatal_error
        return code.name if self._ways.names_codes else FATAL[code]

    # The background thread

    def _next_background(self) -> int:
        if self.is_closing or self.state not in (State.COMPLETING_REBALANCE, State.STABLE):
            return NEVER
        at_ms = self._heard_at_ms + self.settings.session_timeout_ms if self._is_beating else self._beat_at_ms
        if self._coordinator is None:
            at_ms = max(at_ms, NEVER if self._looking_up else self._lookup_at_ms)
        if self._counts_poll_interval:
            at_ms = min(at_ms, self._out_of_poll_since_ms + self.settings.max_poll_interval_ms)
        return at_ms

    @property
    def _counts_poll_interval(self) -> bool:
        return not self.in_poll and (self._then is None or self._ways.counts_callbacks)

    def _heartbeat(self, now_ms: int) -> None:
        if self.is_closing or self.state not in (State.COMPLETING_REBALANCE, State.STABLE):
            return
        settings = self.settings
        if not self._find_coordinator(now_ms):
            pass
        elif now_ms >= self._heard_at_ms + settings.session_timeout_ms:
            self._heard_at_ms = now_ms  # not at each turn: the next coordinator has its time
            self._is_beating = False
            self._beat_at_ms = now_ms
            self._lose_coordinator(now_ms)
        if (
            self._counts_poll_interval
            and now_ms >= self._out_of_poll_since_ms + settings.max_poll_interval_ms
        ):
            self._leave_silently()
            self._failure = self._ways.silence_error or self._failure
        elif self._coordinator is not None and not self._is_beating and now_ms >= self._beat_at_ms:
            self._beat_at_ms = now_ms + settings.heartbeat_interval_ms
            request = Heartbeat(
                group=self.identity.group,
                generation=self.generation,
                member=self._member_id,
                instance=self.identity.instance,
            )
            self._is_beating = True
            self._send(request, partial(self._beat_answered, self.generation, self._member_id))

    def _leave_silently(self) -> None:
        """max.poll.interval.ms is over: a dynamic member leaves, a static one only forgets that it was in."""
        if self._coordinator is not None and self.identity.instance is None:
            self._send(self._leave_request(), _no_answer_needed)
        self._fall_out(ErrorCode.UNKNOWN_MEMBER_ID)

    def _leave_request(self) -> LeaveGroup:
        return LeaveGroup(group=self.identity.group, members=((self._member_id, self.identity.instance),))

    def _beat_answered(self, generation: int, member: str, answer: object, now_ms: int) -> None:
        self._is_beating = False
        if not isinstance(answer, HeartbeatAnswer):
            self._lose_coordinator(now_ms)
            self._beat_at_ms = now_ms + self.settings.retry_backoff_ms
            return
        code = answer.error
        if code is ErrorCode.NONE:
            self._heard_at_ms = now_ms
        elif code is ErrorCode.REBALANCE_IN_PROGRESS:
            self._heard_at_ms = now_ms
            if self.state is State.STABLE:
                self._must_rejoin = True
        elif code in _OUT:
            if (generation, member) == (self.generation, self._member_id):
                self._fall_out(code)
                if code is ErrorCode.FENCED_INSTANCE_ID:
                    self._failure = self._fatal(code)
                    self._die()
        elif code in FATAL:
            self._failure = self._fatal(code)
        else:
            if code in COORDINATOR_MOVED:
                self._lose_coordinator(now_ms)
            self._beat_at_ms = now_ms + self.settings.retry_backoff_ms

    def _die(self) -> None:
        """Where the library takes an error for the end: nothing is owned any more, and no callback says so."""
        if self._ways.fatal_error is not None:
            self._is_dead = True
            self._own(frozenset())

    # Commits

    def _commit_identity(self) -> tuple[str, int] | str:
        if self.state is State.STABLE:
            return self._member_id, self.generation
        if self.state is State.UNJOINED:
            return self._ways.lost_error or "CommitFailedException"
        return "RebalanceInProgressException"

    def _commit_error(self, code: ErrorCode, _now_ms: int) -> str:
        if code is ErrorCode.REBALANCE_IN_PROGRESS:
            self._must_rejoin = True
            return "RebalanceInProgressException"
        if code is ErrorCode.FENCED_INSTANCE_ID:
            return self._fatal(code)
        if code in _OUT:
            self._fall_out(code)
            return "CommitFailedException"
        return "KafkaException"

    def _auto_committed(self, error: str, now_ms: int) -> None:
        if error == self._fatal(ErrorCode.FENCED_INSTANCE_ID):
            self._commits_fenced = True
        super()._auto_committed(error, now_ms)

    @property
    def _fetch_identity(self) -> tuple[str | None, int]:
        return None, -1


def _no_answer_needed(_answer: object, _now_ms: int) -> None:
    """The member has forgotten the group already."""
