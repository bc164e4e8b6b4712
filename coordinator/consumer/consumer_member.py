"""A consumer of the new protocol (KIP-848). The background thread heartbeats at the coordinator's interval, and at once
to join, to acknowledge and to leave; the assignment in an answer is reconciled in `poll` (see `reconciling_member`).

    UNSUBSCRIBED -poll-> JOINING -answer-> RECONCILING -assigned returned-> ACKNOWLEDGING -heartbeat-> STABLE
    any of those -FENCED_MEMBER_EPOCH, UNKNOWN_MEMBER_ID-> FENCED -lost returned-> JOINING
    any of those -max.poll.interval.ms-> LEAVING -heartbeat-> STALE -lost returned, in the next poll-> JOINING
    any of those -close-> LEAVING -heartbeat-> UNSUBSCRIBED
    any of those -unsubscribe-> PREPARE_LEAVING -revoked returned-> LEAVING -heartbeat-> UNSUBSCRIBED
    any of those -another error-> FATAL

Source: kafka-clients 4.3.1, AbstractMembershipManager, ConsumerMembershipManager, AbstractHeartbeatRequestManager
and AsyncKafkaConsumer, tried on a running broker."""

from collections.abc import Sequence
from functools import partial

from assignors.assignor import Assignor
from assignors.conversation import NO_STATE, ApplicationState
from assignors.errors import AssignorFailedError
from coordinator.consumer import member as base
from coordinator.consumer.departing_member import JOINS, WITHOUT_HEARTBEATS, DepartingMember
from coordinator.consumer.local_assignor import LocalAssignors
from coordinator.consumer.member_assignors import MemberAssignors
from coordinator.consumer.outputs import Warned
from coordinator.consumer.reconciling_member import NO_EPOCH, AsyncState
from coordinator.engine.consumer.client_assignment import (
    InstallAssignment,
    PrepareAssignment,
    PrepareAssignmentAnswer,
)
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat, ConsumerGroupHeartbeatAnswer
from coordinator.engine.records import ClientAssignor
from coordinator.engine.topics import TopicImage
from coordinator.errors import InvalidSetting
from wire.errors import ErrorCode

RETRY_BACKOFF_MAX_MS = 1_000
"""retry.backoff.max.ms. Kafka's jitter of 20 percent is omitted."""
_FENCED_ERRORS = frozenset({ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID})


class AsyncConsumer(DepartingMember):
    """See the module."""

    def __init__(
        self,
        identity: base.Identity,
        subscription: base.ClientSubscription,
        image: TopicImage,
        positions: base.Positions,
        *,
        uuid: str,
        remote_assignor: str | None = None,
        local_assignors: Sequence[str] = (),
        custom: Sequence[Assignor] = (),
        state: ApplicationState = NO_STATE,
    ) -> None:
        """`uuid` is the member id; `custom` and `state` as for a classic member. Raises InvalidSetting: remote and
        local assignors exclude each other."""
        if remote_assignor is not None and local_assignors:
            raise InvalidSetting("group.remote.assignor and group.local.assignors exclude each other")
        super().__init__(identity, image, positions, uuid=uuid, remote_assignor=remote_assignor)
        if local_assignors:
            self._client_side = LocalAssignors(MemberAssignors(self, local_assignors, custom, state))
        self.subscription = subscription
        self._is_new = True
        self._has_joined = False
        self._beat_at_ms = self._interval_ms = 0

    @property
    def is_settled(self) -> bool:
        if self.subscription.is_empty:
            is_outside = self.state in WITHOUT_HEARTBEATS and not self._waiting
            return is_outside and self._then is None and self.assignment <= self.positioned
        return (
            self.state is AsyncState.STABLE
            and not self._waiting
            and not self._due
            and not self._reconciles
            and not self._has_news
            and self._then is None
            and self.owned <= self.positioned
        )

    @property
    def periodic_tasks(self) -> tuple[base.PeriodicTask, ...] | None:
        return None if self._client_side is not None else super().periodic_tasks

    @property
    def _heartbeat_interval_ms(self) -> int:
        return self._interval_ms

    def _heartbeat_request(self) -> ConsumerGroupHeartbeat:
        return self._fields.plain(self.epoch)

    def next_deadline(self) -> int | None:
        if self.is_closed:
            return None
        at_ms = self._next_retry()
        if self._waits_for_commit:
            at_ms = min(at_ms, self._committed_due_ms)
        if self.is_closing and self._then is None:
            at_ms = min(at_ms, self._close_by_ms)
        if self.state not in WITHOUT_HEARTBEATS:
            if self._coordinator is None:
                at_ms = min(at_ms, self._lookup_due_ms)
            else:
                beat_at_ms = self._beat_at_ms if self._beat is None else base.NEVER
                at_ms = min(at_ms, beat_at_ms, self._poll_timeout_at_ms)
        if self.in_poll:
            at_ms = min(at_ms, self._auto_commit_at_ms, self._throws_at_ms)
            if (
                len(self.positioned) != len(self.assignment)
                and not self._fetches_offsets
                and self._unpositioned
            ):
                at_ms = min(at_ms, max(self._fetch_offsets_at_ms, self._lookup_due_ms))
        return None if at_ms == base.NEVER else at_ms

    @property
    def _lookup_due_ms(self) -> int:
        """When to look up the coordinator, or send it a request."""
        if self._coordinator is not None:
            return 0
        return base.NEVER if self._looking_up else self._lookup_at_ms

    def enter_poll(self, now_ms: int) -> None:
        if self.is_closing or self._then is not None or self._waits_for_commit:
            super().enter_poll(now_ms)
            return
        if self._is_new:
            self._is_new = False
            if self.settings.enable_auto_commit:
                self._auto_commit_at_ms = now_ms + self.settings.auto_commit_interval_ms
        if self.state is AsyncState.UNSUBSCRIBED:
            self._join_if_subscribed(now_ms)
        elif not self.in_poll:
            self._background(now_ms)  # do what was already due
            if self.state is AsyncState.STALE and not self._is_lost:
                self._join(now_ms)
        super().enter_poll(now_ms)

    def wake(self, now_ms: int) -> None:
        if self.is_closed:
            return
        self._retry_commits(now_ms)
        if self._waits_for_commit:
            self._wait_for_committed(now_ms)
        self._limit_close(now_ms)
        self._throw_for_nothing(now_ms)
        self._advance(now_ms)

    def _subscribed(self, now_ms: int) -> None:
        """The next heartbeat reports it, when it is due; a consumer outside the group joins in `poll`."""
        self._has_news = True
        self._advance(now_ms)

    @property
    def _changes_incrementally(self) -> bool:
        return self._has_joined

    def _join_if_subscribed(self, now_ms: int) -> None:
        """For a consumer outside the group that polls."""
        if self._is_leaving:
            return
        if self.subscription.is_empty:
            self._polls_for_nothing(now_ms)
        else:
            self._join(now_ms)

    def refresh_topics(self, image: TopicImage, now_ms: int) -> None:
        self.image = image
        if self.subscription.matches is not None and self.subscription.regex is None:
            self._has_news = True
        self._advance(now_ms)

    def enforce_rebalance(self, _now_ms: int) -> None:
        """No effect: the coordinator decides (KIP-848 "enforceRebalance")."""
        self.outputs.append(Warned("Operation not supported in new consumer group protocol"))

    def _advance(self, now_ms: int) -> None:
        if self.is_closed:
            return
        if self._error and self.in_poll and not self._batch:
            self._throw(now_ms)
        self._background(now_ms)
        self._start_close(now_ms)
        if self.in_poll and self.state is AsyncState.STALE and not self._is_lost and not self._due:
            self._join(now_ms)  # it left during a callback, with nothing to lose
        if self.in_poll and self.state is AsyncState.UNSUBSCRIBED:
            self._join_if_subscribed(now_ms)
        while self.in_poll:
            if self._error and not self._batch:
                self._throw(now_ms)
            elif self._due:
                self._take_event(now_ms)
            else:
                self._poll(now_ms)
                return

    def _background(self, now_ms: int) -> None:
        """The background thread's work: reconcile, detect that the application does not poll, heartbeat."""
        state = self.state
        if state in WITHOUT_HEARTBEATS:
            return
        if state is AsyncState.RECONCILING:
            self._reconcile(now_ms)
        if self._coordinator is None:
            if self.state is AsyncState.LEAVING:  # it cannot be reached
                self._finish_close(now_ms)
            else:
                self._find_coordinator(now_ms)
            return
        is_due = now_ms >= self._beat_at_ms or self.state is AsyncState.ACKNOWLEDGING
        is_leaving = state in (AsyncState.PREPARE_LEAVING, AsyncState.LEAVING)
        if not is_leaving and now_ms >= self._poll_timeout_at_ms:
            self._leave_after_poll_timeout(now_ms)
        elif self.state is AsyncState.LEAVING or (self._beat is None and is_due):
            self._send_heartbeat(now_ms)

    def _send_heartbeat(self, now_ms: int) -> None:
        state = self.state
        offers: tuple[ClientAssignor, ...] | None = None
        if self._client_side is not None and state is not AsyncState.LEAVING:
            try:
                offers = self._client_side.offers(self.subscription.in_image(self.image))
            except AssignorFailedError as error:
                self._fail(self.identity.library.listener_error, str(error))
                self._heartbeat_failed(now_ms)
                return
        if self._has_news or offers is not None:
            self._has_news = False
            by_name = self.subscription.regex is None
            request = self._fields.next(
                self.epoch,
                self.subscription.in_image(self.image) if by_name else (),
                self.subscription.regex,
                offers,
                self._assignments,
                joins=state is AsyncState.JOINING,
            )
        else:
            request = self._heartbeat_request()
        self._beat = self._send(request, self._heartbeat_answered)
        self._beat_at_ms = now_ms + self._interval_ms
        if state is AsyncState.ACKNOWLEDGING:
            is_done = self._assignments.is_reconciled
            self._become(AsyncState.STABLE if is_done else AsyncState.RECONCILING, now_ms)
        elif state is AsyncState.LEAVING:
            self._waiting[self._beat] = self._leave_answered
            self._beat = None
            self.state = AsyncState.UNSUBSCRIBED

    def _heartbeat_answered(self, answer: object, now_ms: int) -> None:
        self._beat = None
        if not isinstance(answer, ConsumerGroupHeartbeatAnswer):
            self._lose_coordinator(now_ms)
            self._heartbeat_failed(now_ms)
            return
        if answer.error is not ErrorCode.NONE:
            self._heartbeat_failed(now_ms)
            if self.metrics.is_rebalancing:
                self.metrics.rebalance_failed(now_ms)
            self._refused(answer.error, answer.message or "", now_ms)
            return
        self._failures = 0
        if answer.heartbeat_interval_ms != self._interval_ms:
            self._interval_ms = answer.heartbeat_interval_ms
            self._beat_at_ms = now_ms + self._interval_ms
        if self.state in WITHOUT_HEARTBEATS:
            return
        self.epoch = answer.epoch
        if self.state is AsyncState.PREPARE_LEAVING:
            return
        if answer.assignment is not None:
            self._receive(answer.assignment, now_ms)
        if self._client_side is not None and self._client_side.handle_heartbeat(answer):
            request = PrepareAssignment(group=self.identity.group, member=self.member_id, epoch=self.epoch)
            self._send(request, partial(self._prepared, self._client_side))

    def _heartbeat_failed(self, now_ms: int) -> None:
        """Report everything again, after the backoff. Java does not wait while it joins."""
        self._fields.forget()
        self._has_news = True
        backoff_ms = self.settings.retry_backoff_ms << min(self._failures, 10)
        self._beat_at_ms = now_ms + min(backoff_ms, RETRY_BACKOFF_MAX_MS)
        self._failures += 1

    def _refused(self, code: ErrorCode, message: str, now_ms: int) -> None:
        if self.state in WITHOUT_HEARTBEATS or code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            return
        if code in base.COORDINATOR_MOVED:
            self._lose_coordinator(now_ms)
            self._beat_at_ms = now_ms
        elif code is ErrorCode.TOPIC_AUTHORIZATION_FAILED:
            self._fail(self._error_of(code), message)
        elif code in _FENCED_ERRORS and self.state is AsyncState.PREPARE_LEAVING:
            self.state = AsyncState.UNSUBSCRIBED
        elif code in _FENCED_ERRORS:
            self._become(AsyncState.FENCED, now_ms)
            self.epoch, self._failures, self._beat_at_ms = JOINS, 0, now_ms
            self._lose(now_ms)
        elif self._behavior.fatal_codes is not None and code not in self._behavior.fatal_codes:
            self._beat_at_ms = max(self._beat_at_ms, now_ms + self._interval_ms)
        else:
            if code is ErrorCode.GROUP_AUTHORIZATION_FAILED:
                message = f"Not authorized to access group: {self.identity.group}"
            elif code is ErrorCode.INVALID_REGULAR_EXPRESSION:
                message = f"Invalid RE2J SubscriptionPattern provided in the call to subscribe. {message}"
            self._fail(self._behavior.fatal_error or self._error_of(code), message)
            self._become(AsyncState.FATAL, now_ms)
            self.epoch = NO_EPOCH
            if self._behavior.fatal_error is None:
                self._lose(now_ms)
            else:
                self._revoke_all()  # rd_kafka_rebalance_op_incr does not call the listener after a fatal error

    def _join(self, now_ms: int) -> None:
        self._has_joined = True
        self._has_rejoined = self._has_rejoined or self._reconciles
        leaves = self.state is AsyncState.STALE and not self._behavior.leaves_before_lost
        if leaves and self._coordinator is not None:
            self._leave()
        self.epoch = JOINS
        self._assignments.forget_target()
        self._has_news = True
        self._beat_at_ms = min(self._beat_at_ms, now_ms)
        self._become(AsyncState.JOINING, now_ms)

    def _prepared(self, client_side: LocalAssignors, answer: object, _now_ms: int) -> None:
        computed = client_side.compute(answer)
        if computed is None or not isinstance(answer, PrepareAssignmentAnswer):
            return
        if computed.failure:
            self._fail("IllegalStateException", computed.failure)
        if self._coordinator is None:
            client_side.installed(None)
            return
        request = InstallAssignment(
            group=self.identity.group,
            member=self.member_id,
            epoch=self.epoch,
            group_epoch=answer.group_epoch,
            assignments=computed.assignments,
            metadata=computed.metadata,
            error=computed.error,
        )
        self._send(request, lambda answer, _now_ms: client_side.installed(answer))
