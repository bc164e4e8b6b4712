"""A consumer of the new protocol (KIP-848): one kind of heartbeat, and an assignment that it is brought by it.

Theory of operation. The background thread heartbeats: at the coordinator's interval, and at once to join, to
acknowledge and to leave; what an answer assigns is reconciled in `poll` (see `reconciling_member`).

    UNSUBSCRIBED -poll-> JOINING -answer-> RECONCILING -assigned returned-> ACKNOWLEDGING -heartbeat-> STABLE
    any of those -FENCED_MEMBER_EPOCH, UNKNOWN_MEMBER_ID-> FENCED -lost returned-> JOINING
    any of those -max.poll.interval.ms-> LEAVING -heartbeat-> STALE -lost returned, in the next poll-> JOINING
    any of those -close-> LEAVING -heartbeat-> UNSUBSCRIBED
    any of those -another error-> FATAL

Source: kafka-clients 4.3.1, AbstractMembershipManager, ConsumerMembershipManager, AbstractHeartbeatRequestManager and
AsyncKafkaConsumer, tried on a running broker.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import partial

from coordinator.consumer.heartbeat_fields import HeartbeatFields
from coordinator.consumer.local_assignor import ClientSide, LocalAssignor
from coordinator.consumer.member import (
    COORDINATOR_MOVED,
    NEVER,
    Identity,
    Position,
    Routine,
    Subscription,
)
from coordinator.consumer.outputs import CallbackKind
from coordinator.consumer.reconciling_member import NO_EPOCH, ReconcilingMember, State
from coordinator.engine.consumer.client_assignment import (
    InstallAssignment,
    PrepareAssignment,
    PrepareAssignmentAnswer,
)
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat, ConsumerGroupHeartbeatAnswer
from coordinator.engine.topics import TopicImage
from coordinator.errors import InvalidSetting
from wire.errors import ErrorCode

_JOINS, _LEAVES, _GOES_AWAY = 0, -1, -2
_RETRY_BACKOFF_MAX_MS = 1_000
"""retry.backoff.max.ms. Kafka's jitter of 20 percent is left out."""
_CLOSE_TIMEOUT_MS = 30_000
"""How long `close` takes at most: CloseOptions' default."""

_SILENT = State.UNSUBSCRIBED, State.FENCED, State.STALE, State.FATAL
"""No heartbeats are sent."""

_OUT = frozenset({ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID})


class _Closing(Enum):
    """How far `close` has got."""

    NO = "no"
    WAITS = "waits"
    """For a callback that is under way."""
    COMMITS = "commits"
    REVOKES = "revokes"
    LEAVES = "leaves"


class ConsumerMember(ReconcilingMember):
    """See the module."""

    def __init__(
        self,
        identity: Identity,
        subscription: Subscription,
        image: TopicImage,
        position: Position,
        *,
        uuid: str,
        remote_assignor: str | None = None,
        local_assignors: Sequence[LocalAssignor] = (),
    ) -> None:
        """`uuid` is the member id, which the client makes up. `local_assignors` are preferred first.

        :raises InvalidSetting: remote and local assignors exclude each other (KIP-848 "Consumer API")
        """
        if remote_assignor is not None and local_assignors:
            raise InvalidSetting("group.remote.assignor and group.local.assignors exclude each other")
        client_side = ClientSide(local_assignors) if local_assignors else None
        super().__init__(identity, image, position, uuid=uuid, client_side=client_side)
        self.subscription = subscription
        self._fields = HeartbeatFields(
            identity.group,
            uuid,
            identity.instance,
            identity.rack,
            identity.settings.max_poll_interval_ms,
            remote_assignor,
            takes_regex_back=self._ways.takes_regex_back,
        )
        self._keeps_place = identity.instance is not None
        self._is_new = True
        self._beat: int | None = None
        """The heartbeat that is not answered."""
        self._beat_at_ms = 0
        self._interval_ms = 0
        self._failures = 0
        self._closing = _Closing.NO
        self._close_by_ms = NEVER

    # What the driver asks.

    @property
    def is_settled(self) -> bool:
        return (
            self.state is State.STABLE
            and not self._waiting
            and not self._events
            and not self._reconciles
            and not self._has_news
            and self._then is None
            and self.owned <= self.positioned
        )

    @property
    def routines(self) -> tuple[Routine, ...] | None:
        return None if self._client_side is not None else super().routines

    @property
    def _beat_interval_ms(self) -> int:
        return self._interval_ms

    def _beat_request(self) -> ConsumerGroupHeartbeat:
        return self._fields.plain(self._epoch)

    def next_deadline(self) -> int | None:
        if self.is_closed:
            return None
        at_ms = self._next_retry()
        if self._waits_for_commit:
            at_ms = min(at_ms, self._committed_due_ms)
        if self.is_closing and self._then is None:
            at_ms = min(at_ms, self._close_by_ms)
        if self.state not in _SILENT:
            if self._coordinator is None:
                at_ms = min(at_ms, self._lookup_due_ms)
            else:
                if self._beat is None:
                    at_ms = min(at_ms, self._beat_at_ms)
                if (
                    not self.in_poll
                    and self._is_watched
                    and (self._then is None or self._ways.counts_callbacks)
                ):
                    at_ms = min(at_ms, self._out_of_poll_since_ms + self.settings.max_poll_interval_ms)
        if self.in_poll:
            at_ms = min(at_ms, self._auto_commit_at_ms)
            if len(self.positioned) != len(self.owned) and not self._fetches_offsets and self._unpositioned:
                at_ms = min(at_ms, max(self._fetch_offsets_at_ms, self._lookup_due_ms))
        return None if at_ms == NEVER else at_ms

    @property
    def _lookup_due_ms(self) -> int:
        """When the coordinator can be looked up, or spoken to."""
        if self._coordinator is not None:
            return 0
        return NEVER if self._looking_up else self._lookup_at_ms

    # What the driver tells.

    def enter_poll(self, now_ms: int) -> None:
        if self.is_closing or self._then is not None or self._waits_for_commit:
            super().enter_poll(now_ms)
            return
        if self._is_new:
            self._is_new = False
            if self.settings.enable_auto_commit:
                self._auto_commit_at_ms = now_ms + self.settings.auto_commit_interval_ms
            self._join(now_ms)
        elif not self.in_poll:
            self._background(now_ms)  # what was due before
            if self.state is State.STALE and not self._is_lost:
                self._join(now_ms)
        super().enter_poll(now_ms)

    def wake(self, now_ms: int) -> None:
        if self.is_closed:
            return
        self._retry_commits(now_ms)
        if self._waits_for_commit:
            self._wait_for_committed(now_ms)
        if self.is_closing and now_ms >= self._close_by_ms:
            self._hurry_close(now_ms)
        self._advance(now_ms)

    def _subscribed(self, now_ms: int) -> None:
        """The next heartbeat says so, when it is due."""
        self._has_news = True
        self._advance(now_ms)

    def see_topics(self, image: TopicImage, now_ms: int) -> None:
        self.image = image
        if self.subscription.matches is not None and self.subscription.regex is None:
            self._has_news = True
        self._advance(now_ms)

    def enforce_rebalance(self, _now_ms: int) -> None:
        """No effect: the coordinator decides. Kafka logs a warning (KIP-848 "enforceRebalance")."""

    def close(self, now_ms: int, *, for_good: bool = False) -> None:
        """Commit, call `revoked`, leave; whatever fails, the next step is taken.

        A static member keeps its place, unless it leaves `for_good` (KIP-1092, LEAVE_GROUP).
        """
        if self.is_closing:
            return
        self._keeps_place = self._keeps_place and not for_good
        self.leave_poll(now_ms)
        self.is_closing = True
        self._closing = _Closing.WAITS
        self._close_by_ms = now_ms + min(_CLOSE_TIMEOUT_MS, self.settings.request_timeout_ms)
        self._advance(now_ms)

    # Both threads.

    def _advance(self, now_ms: int) -> None:
        if self.is_closed:
            return
        if self._error and self.in_poll and not self._batch:
            self._throw(now_ms)
        self._background(now_ms)
        if self._closing is _Closing.WAITS and self._then is None:
            self._begin_close(now_ms)
        if self.in_poll and self.state is State.STALE and not self._is_lost and not self._events:
            self._join(now_ms)  # it left during a callback, with nothing to lose
        while self.in_poll:
            if self._error and not self._batch:
                self._throw(now_ms)
            elif self._events:
                self._take_event(now_ms)
            else:
                self._poll(now_ms)
                return

    def _background(self, now_ms: int) -> None:
        """What the background thread does: reconcile, notice that the application does not poll, heartbeat."""
        state = self.state
        if state in _SILENT:
            return
        if state is State.RECONCILING:
            self._reconcile(now_ms)
        if self._coordinator is None:
            if self.state is State.LEAVING:  # it cannot be told
                self._finish_close(now_ms)
            else:
                self._find_coordinator(now_ms)
            return
        if (
            not self.in_poll
            and self._is_watched
            and state is not State.LEAVING
            and (self._then is None or self._ways.counts_callbacks)
            and now_ms >= self._out_of_poll_since_ms + self.settings.max_poll_interval_ms
        ):
            self._fall_silent(now_ms)
            return
        if self.state is State.LEAVING or (
            self._beat is None and (now_ms >= self._beat_at_ms or self.state is State.ACKNOWLEDGING)
        ):
            self._send_heartbeat(now_ms)

    # Heartbeats.

    def _send_heartbeat(self, now_ms: int) -> None:
        state = self.state
        if self._has_news or self._client_side is not None:
            self._has_news = False
            by_name = self.subscription.regex is None
            request = self._fields.next(
                self._epoch,
                self.subscription.in_image(self.image) if by_name else (),
                self.subscription.regex,
                None if self._client_side is None else self._client_side.offers(),
                self._assignments,
                joins=state is State.JOINING,
            )
        else:
            request = self._beat_request()
        self._beat = self._send(request, self._heartbeat_answered)
        self._beat_at_ms = now_ms + self._interval_ms
        if state is State.ACKNOWLEDGING:
            self._become(
                State.STABLE if self._assignments.is_reconciled else State.RECONCILING,
                now_ms,
            )
        elif state is State.LEAVING:
            self._waiting[self._beat] = self._leave_answered
            self._beat = None
            self.state = State.UNSUBSCRIBED

    def _heartbeat_answered(self, answer: object, now_ms: int) -> None:
        self._beat = None
        if not isinstance(answer, ConsumerGroupHeartbeatAnswer):
            self._lose_coordinator(now_ms)
            self._heartbeat_failed(now_ms)
            return
        if answer.error is not ErrorCode.NONE:
            self._heartbeat_failed(now_ms)
            if self.metrics.is_rebalancing:
                self.metrics.rebalance_failed()
            self._refused(answer.error, answer.message or "", now_ms)
            return
        self._failures = 0
        if answer.heartbeat_interval_ms != self._interval_ms:
            self._interval_ms = answer.heartbeat_interval_ms
            self._beat_at_ms = now_ms + self._interval_ms
        if self.state in _SILENT:
            return
        self._epoch = answer.epoch
        if answer.assignment is not None:
            self._receive(answer.assignment, now_ms)
        if self._client_side is not None and self._client_side.hear(answer):
            request = PrepareAssignment(group=self.identity.group, member=self._uuid, epoch=self._epoch)
            self._send(request, partial(self._prepared, self._client_side))

    def _heartbeat_failed(self, now_ms: int) -> None:
        """Say everything again, after the backoff. Java does not wait while it joins."""
        self._fields.forget()
        self._has_news = True
        self._beat_at_ms = now_ms + min(
            self.settings.retry_backoff_ms << min(self._failures, 10), _RETRY_BACKOFF_MAX_MS
        )
        self._failures += 1

    def _refused(self, code: ErrorCode, message: str, now_ms: int) -> None:
        if self.state in _SILENT:
            return
        if code in COORDINATOR_MOVED:
            self._lose_coordinator(now_ms)
            self._beat_at_ms = now_ms
        elif code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            pass
        elif code is ErrorCode.TOPIC_AUTHORIZATION_FAILED:
            self._fail(self._error_of(code), message)
        elif code in _OUT:
            self._become_fenced(now_ms)
        elif self._ways.fatal_codes is not None and code not in self._ways.fatal_codes:
            self._beat_at_ms = max(self._beat_at_ms, now_ms + self._interval_ms)
        else:
            self._become_fatal(code, message, now_ms)

    # Membership.

    def _join(self, now_ms: int) -> None:
        if self._reconciles:
            self._has_rejoined = True
        if self.state is State.STALE and not self._ways.leaves_before_lost and self._coordinator is not None:
            self._leave()
        self._epoch = _JOINS
        self._assignments.forget_target()
        self._has_news = True
        self._beat_at_ms = min(self._beat_at_ms, now_ms)
        self._become(State.JOINING, now_ms)

    def _become_fenced(self, now_ms: int) -> None:
        self._become(State.FENCED, now_ms)
        self._epoch = _JOINS
        self._failures = 0
        self._beat_at_ms = now_ms
        self._lose(now_ms)

    def _become_fatal(self, code: ErrorCode, message: str, now_ms: int) -> None:
        """Throw once; the member never joins again."""
        if code is ErrorCode.GROUP_AUTHORIZATION_FAILED:
            message = f"Not authorized to access group: {self.identity.group}"
        elif code is ErrorCode.INVALID_REGULAR_EXPRESSION:
            message = f"Invalid RE2J SubscriptionPattern provided in the call to subscribe. {message}"
        self._fail(self._ways.fatal_error or self._error_of(code), message)
        self._become(State.FATAL, now_ms)
        self._epoch = NO_EPOCH
        if self._ways.fatal_error is None:
            self._lose(now_ms)
        else:
            self._give_up_all()  # rd_kafka_rebalance_op_incr does not call the listener after a fatal error

    def _fall_silent(self, now_ms: int) -> None:
        """The application does not poll: leave, without waiting for the answer, and lose everything."""
        if self._beat is not None:
            self._waiting.pop(self._beat, None)
            self._beat = None
        if self._ways.silence_error is not None:
            self._fail(self._ways.silence_error, "Application maximum poll interval exceeded")
        self._epoch = NO_EPOCH
        if self._ways.leaves_before_lost:
            self._leave()
        self._fields.forget()
        self._failures = 0
        self._is_watched = self._ways.counts_callbacks
        self._become(State.STALE, now_ms)
        self._lose(now_ms)

    def _leave(self) -> None:
        self._epoch = self._leave_epoch
        self._send(self._fields.plain(self._epoch), self._left)

    def _left(self, _answer: object, _now_ms: int) -> None:
        """Nobody waits for this answer, but rd_kafka_cgrp_consumer_reset forgot that the member is to join again."""
        if self._reconciles and self._ways.forgets_to_rejoin:
            self._is_stranded = True
            self._epoch = _JOINS

    @property
    def _leave_epoch(self) -> int:
        return _GOES_AWAY if self._keeps_place else _LEAVES

    # Client-side assignors.

    def _prepared(self, client_side: ClientSide, answer: object, _now_ms: int) -> None:
        computed = client_side.compute(answer)
        if computed is None or not isinstance(answer, PrepareAssignmentAnswer):
            return
        if self._coordinator is None:
            client_side.installed(None)
            return
        request = InstallAssignment(
            group=self.identity.group,
            member=self._uuid,
            epoch=self._epoch,
            group_epoch=answer.group_epoch,
            assignments=computed.assignments,
            metadata=computed.metadata,
            error=computed.error,
        )
        self._send(request, partial(_installed, client_side))

    # The end.

    def _begin_close(self, now_ms: int) -> None:
        """Whatever waited for `poll` is not called any more."""
        if self._error:
            self._throw(now_ms)
        self._closing = _Closing.COMMITS
        if self.settings.enable_auto_commit:
            self._commit(self._consumed(), now_ms, self._close_by_ms, self._close_committed)
        else:
            self._close_committed("", now_ms)

    def _close_committed(self, _error: str, now_ms: int) -> None:
        if self._closing is not _Closing.COMMITS:
            return
        self._closing = _Closing.REVOKES
        if self.owned:
            self._call(CallbackKind.REVOKED, self.owned, self._close_revoked, now_ms)
        else:
            self._close_revoked(now_ms)

    def _close_revoked(self, now_ms: int) -> None:
        self._closing = _Closing.LEAVES
        self._give_up_all()
        if self.state in _SILENT:
            self._finish_close(now_ms)
            return
        self._epoch = self._leave_epoch
        self._become(State.LEAVING, now_ms)
        self._has_news = False
        self._background(now_ms)

    def _leave_answered(self, _answer: object, now_ms: int) -> None:
        self._finish_close(now_ms)

    def _hurry_close(self, now_ms: int) -> None:
        """The time for `close` is over: what is waited for is not waited for any more."""
        if self._closing is _Closing.COMMITS:
            self._close_committed("TimeoutException", now_ms)
        elif self._closing is _Closing.LEAVES:
            self._finish_close(now_ms)

    def _finish_close(self, now_ms: int) -> None:
        self.state = State.UNSUBSCRIBED
        if self._error:
            self._raise(self.identity.library.listener_error, now_ms, "Failed to close kafka consumer")
            self._error = ""
        self._end()


def _installed(client_side: ClientSide, answer: object, _now_ms: int) -> None:
    client_side.installed(answer)
