"""Reconciliation of a consumer member's assignment: commit, `revoked`, `assigned`, acknowledge. Callbacks and
exceptions wait in a queue for `poll`; an obsolete reconciliation ends at its next step. Source: kafka-clients 4.3.1,
AbstractMembershipManager, CommitRequestManager, AsyncKafkaConsumer."""

from abc import abstractmethod
from enum import Enum
from functools import partial

from assignors.errors import AssignorFailedError
from coordinator.consumer import committing_member
from coordinator.consumer.heartbeat_fields import Assignments, Reconciliation
from coordinator.consumer.local_assignor import LocalAssignors
from coordinator.consumer.member import LISTENER_FAILED, NEVER, Identity, Positions, java_exception
from coordinator.consumer.outputs import CallbackKind, DueCallback, DueFailure, Partitions
from coordinator.engine.records import TopicPartitions
from coordinator.engine.topics import TopicImage
from wire.errors import ErrorCode

NO_EPOCH = -1
"""The epoch in a commit of a consumer that is not a member."""

_BEFORE_REBALANCE = (committing_member.RETRIABLE_COMMIT_ERRORS | {ErrorCode.STALE_MEMBER_EPOCH}) - {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
}
"""Errors after which the commit before a reconciliation is retried. A deleted topic must not block it. If the epoch
has changed meanwhile, this commit is retried, but a commit of the application fails."""

_EXCEPTIONS = {
    ErrorCode.UNKNOWN_MEMBER_ID: "CommitFailedException",
    ErrorCode.STALE_MEMBER_EPOCH: "CommitFailedException",
    ErrorCode.INVALID_REGULAR_EXPRESSION: "InvalidRegularExpression",
    ErrorCode.OFFSET_METADATA_TOO_LARGE: "OffsetMetadataTooLarge",
    ErrorCode.UNKNOWN_SERVER_ERROR: "UnknownServerException",
    **{
        code: java_exception(code)
        for code in (
            ErrorCode.FENCED_INSTANCE_ID,
            ErrorCode.GROUP_AUTHORIZATION_FAILED,
            ErrorCode.GROUP_ID_NOT_FOUND,
            ErrorCode.GROUP_MAX_SIZE_REACHED,
            ErrorCode.INVALID_REQUEST,
            ErrorCode.TOPIC_AUTHORIZATION_FAILED,
            ErrorCode.UNRELEASED_INSTANCE_ID,
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            ErrorCode.UNSUPPORTED_VERSION,
        )
    },
}
"""Java's exceptions for refused heartbeats and commits; our coordinator answers no other errors."""


class AsyncState(Enum):
    """MemberState of kafka-clients."""

    UNSUBSCRIBED = "unsubscribed"
    JOINING = "joining"
    RECONCILING = "reconciling"
    ACKNOWLEDGING = "acknowledging"
    STABLE = "stable"
    FENCED = "fenced"
    PREPARE_LEAVING = "prepare-leaving"  # `unsubscribe` waits for its callback; heartbeats continue
    LEAVING = "leaving"
    STALE = "stale"
    FATAL = "fatal"


_RECONCILED = AsyncState.ACKNOWLEDGING, AsyncState.STABLE


class ReconcilingMember(committing_member.CommittingMember):
    """See the module. The protocol, with its heartbeats, is in the subclass."""

    def __init__(self, identity: Identity, image: TopicImage, positions: Positions, *, uuid: str) -> None:
        super().__init__(identity, image, positions)
        self.state = AsyncState.UNSUBSCRIBED
        self.member_id = uuid
        self.epoch = 0
        self._client_side: LocalAssignors | None = None
        self._assignments = Assignments()
        self._has_news = True  # Whether the next heartbeat may report more than the member's presence
        self._reconciles = False  # Whether a reconciliation is in progress, possibly one of its callbacks
        self._has_rejoined = False  # Whether the member has rejoined since it started
        self._revoking: Partitions = frozenset()  # Partitions that are no longer fetched
        self._awaiting: Partitions = frozenset()
        """Partitions that are not fetched yet: their `assigned` has not returned."""
        self._batch = 0  # The number of due events that `poll` has taken, but not processed
        self._message = ""
        self._is_lost = False  # Whether `lost` is due or running
        self.released: Partitions = frozenset()
        """What `unsubscribe` revoked, until the next assignment (AsyncKafkaConsumer.groupAssignmentSnapshot)."""
        self._is_stranded = False
        """Whether it has left during the current reconciliation, and forgotten that (`forgets_to_rejoin`)."""

    @property
    def fetching(self) -> Partitions:
        if self.by_hand:
            return frozenset()
        pending = self._revoking | self._awaiting
        is_all = not pending and len(self.positioned) == len(self.owned)
        return self.owned if is_all else self.owned & self.positioned - pending

    @property
    def acquiring(self) -> Partitions:
        """Partitions whose `assigned` waits for `poll`, has not returned, or has thrown."""
        due = (event for event in self._due if isinstance(event, DueCallback) and event.assigned is not None)
        return (self.owned & self._awaiting).union(*(event.partitions for event in due))

    @abstractmethod
    def _join(self, now_ms: int) -> None:
        """Rejoin the group."""

    def _become(self, state: AsyncState, now_ms: int) -> None:
        """Enter a state. As in Kafka, a rebalance lasts as long as the member is reconciling."""
        if state is not self.state:
            if state is AsyncState.RECONCILING:
                self.metrics.rebalance_began(now_ms, restarts=True)
            elif self.state is AsyncState.RECONCILING and state in _RECONCILED:
                self.metrics.rebalance_ended(now_ms)
        self.state = state

    def _poll(self, now_ms: int) -> None:
        """The application thread's work without an event."""
        if self._client_side is not None and self._client_side.has_news and self.state is AsyncState.STABLE:
            self._notify_assignor(self._client_side, self.owned)
            if self._error:
                self._throw(now_ms)
                return
        if now_ms >= self._auto_commit_at_ms:
            self._auto_commit(now_ms)
        if len(self.positioned) != len(self.assignment):
            self._fetch_offsets(now_ms)

    def _take_event(self, now_ms: int) -> None:
        """Process the next event. All current events are processed before the first of their exceptions is thrown."""
        self._batch = (self._batch or len(self._due)) - 1 if self._behavior.throws_last else 0
        event = self._due.pop(0)
        if isinstance(event, DueFailure):
            if not self._error:
                self._error, self._message = event.error, event.message
            return
        if event.assigned is not None and not self._is_dead:
            self.by_hand = self.released = frozenset()
            self._own(event.assigned)
            self._awaiting |= event.partitions
            if self._client_side is not None:
                self._notify_assignor(self._client_side, event.assigned)
        self._call(event.kind, event.partitions, event.then, now_ms)

    def _notify_assignor(self, client_side: LocalAssignors, partitions: Partitions) -> None:
        """Call the assignor's `on_assignment`; if it throws, `poll` does at its end."""
        try:
            client_side.assigned(partitions, self.epoch)
        except AssignorFailedError as error:
            if not self._error:
                self._error, self._message = self.identity.library.listener_error, str(error)

    def _throw(self, now_ms: int) -> None:
        error, message = self._error, self._message or LISTENER_FAILED
        self._error = self._message = ""
        self._raise(error, now_ms, message)

    def _lose(self, now_ms: int) -> None:
        """Stop fetching, and call `lost` with everything that is owned now, in the next `poll`."""
        self._revoking |= self.owned
        self._is_lost = True
        if self._reconciles and not self._behavior.ends_with_membership:
            return  # the end of the reconciliation loses the rest
        if self.owned:
            self._due.append(DueCallback(CallbackKind.LOST, self.owned, self._lost))
        elif self.state is AsyncState.STALE and not self.in_poll:
            self._is_lost = False
            self._revoke_all()
        else:
            self._lost(now_ms)

    def _lost(self, now_ms: int) -> None:
        """`lost` has returned, or thrown: the member rejoins in either case."""
        self._is_lost = False
        self._revoke_all()
        if self.state in (AsyncState.FENCED, AsyncState.STALE):
            self._join(now_ms)

    def _revoke_all(self) -> None:
        self._own(frozenset())
        self._revoking = self._awaiting = frozenset()
        self._assignments.release()
        self._assignments.forget_target()

    def _receive(self, assignment: TopicPartitions, now_ms: int) -> None:
        self._assignments.receive(assignment)
        if not (assignment or self._assignments.owned or self._behavior.calls_for_empty_first):
            self._assignments.start_empty()
        continues = self._reconciles and not self._behavior.ends_with_membership
        if continues or not self._assignments.is_reconciled:
            self._become(AsyncState.RECONCILING, now_ms)
        elif self.state in (AsyncState.RECONCILING, AsyncState.JOINING):
            self._become(AsyncState.STABLE, now_ms)

    def _reconcile(self, now_ms: int) -> None:
        """Start to reconcile if a step is due and possible now."""
        if self._reconciles:
            return
        by_name = self._behavior.checks_subscription and not self.subscription.is_expression
        known_topics = self.subscription.topics if by_name else None
        step = self._assignments.next_step(self.image, self.owned, known_topics)
        if step is None:
            return
        if step.by_id == self._assignments.owned:  # it only has to be reported
            self._acknowledge(step, now_ms)
            return
        commits = self.settings.enable_auto_commit and self._behavior.commits_before_revoked
        if not self.in_poll and (commits or (step.revoked and self._behavior.commits_before_revoked)):
            return
        self._reconciles, self._has_rejoined = True, False
        self._revoking |= step.revoked
        committed = partial(self._committed, step)
        if commits:
            self._commit_before(self._consumed(), committed, now_ms)
        else:
            committed("", now_ms)

    def _commit_before(
        self, offsets: committing_member.Offsets, then: committing_member.OnCommit, now_ms: int
    ) -> None:
        """Commit, within the rebalance timeout; whether or not that succeeds, the reconciliation continues."""
        until_ms = now_ms + self.settings.max_poll_interval_ms
        self._commit(offsets, now_ms, until_ms, then, retried=_BEFORE_REBALANCE)

    @property
    def _is_dead(self) -> bool:
        """Whether it neither assigns nor calls anything any more: librdkafka's behavior after a fatal error."""
        return self.state is AsyncState.FATAL and not self._behavior.ends_with_membership

    def _is_overtaken(self) -> bool:
        continues = self.state is AsyncState.RECONCILING and not self._has_rejoined
        if continues or not self._behavior.ends_with_membership:
            return False
        self._reconciles = self._has_rejoined = False
        return True

    def _committed(self, step: Reconciliation, _error: str, _now_ms: int) -> None:
        if self._is_overtaken():
            return
        if step.revoked:
            then = partial(self._revoked, step)
            self._due.append(DueCallback(CallbackKind.REVOKED, step.revoked & self.owned, then))
        else:
            self._assign(step)

    def _revoked(self, step: Reconciliation, now_ms: int) -> None:
        if self._threw and self._behavior.listener_can_refuse:
            self._reconciles = False  # nothing is revoked; the next `poll` retries
        elif self._is_overtaken():
            return
        elif self.settings.enable_auto_commit and not self._behavior.commits_before_revoked:
            consumed = self._consumed(step.revoked & self.owned)
            self._own(self.owned - step.revoked)
            self._commit_before(consumed, partial(self._committed_after, step), now_ms)
        else:
            self._assign(step)

    def _committed_after(self, step: Reconciliation, _error: str, _now_ms: int) -> None:
        self._assign(step)

    def _assign(self, step: Reconciliation) -> None:
        if self._is_dead:
            self._reconciles = False
            return
        then = partial(self._assigned, step)
        self._due.append(DueCallback(CallbackKind.ASSIGNED, step.added, then, step.assigned))

    def _assigned(self, step: Reconciliation, now_ms: int) -> None:
        if self._threw and self._behavior.listener_can_refuse:
            self._reconciles = False  # the partitions are owned, but not fetched
            return
        self._awaiting -= step.assigned
        self._is_watched = True
        if not self._reconciles or self._is_overtaken():
            return
        self._reconciles = False
        if self._is_stranded:
            self._is_lost = self._has_news = False
            self._become(AsyncState.STABLE, now_ms)
            return
        if self._is_dead:
            return
        if self.state is not AsyncState.RECONCILING:
            self._lose(now_ms)  # it was fenced meanwhile
            return
        if self.settings.enable_auto_commit:
            self._auto_commit_at_ms = now_ms + self.settings.auto_commit_interval_ms
        self._acknowledge(step, now_ms)

    def _acknowledge(self, step: Reconciliation, now_ms: int) -> None:
        self._assignments.complete(step)
        self._has_news = True
        self._become(AsyncState.ACKNOWLEDGING, now_ms)

    def _own(self, partitions: Partitions) -> None:
        super()._own(partitions)
        self._revoking &= partitions

    @property
    def _unpositioned(self) -> Partitions:
        """Positions are looked up even while `assigned` runs, but not for partitions that are being revoked."""
        return self.assignment - self.positioned - self._revoking

    def _auto_commit(self, now_ms: int) -> None:
        """Auto-commit; if the last auto-commit is unanswered, send this one afterwards (AutoCommitState)."""
        if self._auto_commits and self._behavior.awaits_auto_commit:
            self._auto_commit_at_ms = NEVER
        else:
            super()._auto_commit(now_ms)

    def _auto_committed(self, error: str, now_ms: int) -> None:
        super()._auto_committed(error, now_ms)
        if self._auto_commit_at_ms == NEVER:
            self._auto_commit_at_ms = now_ms

    def _commit_identity(self) -> tuple[str, int] | str:
        """Identify the member, even outside the group; the coordinator refuses that, unless the group is empty."""
        if self._is_lost and not self._reconciles and self._behavior.lost_error is not None:
            return self._behavior.lost_error
        return self.member_id, self.epoch if self.epoch > 0 else NO_EPOCH

    def _commit_error(self, code: ErrorCode, _now_ms: int) -> str:
        """A refused commit does not change the membership: the next heartbeat gets the same error."""
        return self._error_of(code)

    def _error_of(self, code: ErrorCode) -> str:
        """The class of the exception for an error of the coordinator."""
        return code.name if self._behavior.names_codes else _EXCEPTIONS.get(code, "KafkaException")

    @property
    def _fetch_identity(self) -> tuple[str | None, int]:
        return (self.member_id, self.epoch) if self.epoch > 0 else (None, NO_EPOCH)

    def _fetch_again(self, now_ms: int) -> None:
        super()._fetch_again(now_ms)
        self._is_stranded_call = self._shares_fetch and self._behavior.strands_shared_fetch

    def _offset_fetch_refused(self, code: ErrorCode, now_ms: int) -> None:
        super()._offset_fetch_refused(code, now_ms)
        if code is ErrorCode.UNKNOWN_MEMBER_ID or (code is ErrorCode.STALE_MEMBER_EPOCH and self.epoch <= 0):
            self._fail(code.name if self._behavior.names_codes else java_exception(code))
            self._end_committed("", now_ms)
        elif code is ErrorCode.GROUP_AUTHORIZATION_FAILED:
            self._fail(self._error_of(code), f"Not authorized to access group: {self.identity.group}")
            self._end_committed("", now_ms)
