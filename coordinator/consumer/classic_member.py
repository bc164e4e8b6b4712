"""A consumer of the classic protocol: all rebalancing happens in `poll` (KIP-568), one possible step (`_advance`)
after each input; librdkafka takes steps at any time. Source: kafka-clients 4.3.1, ConsumerCoordinator; librdkafka
2.16, rdkafka_cgrp.c."""

from coordinator.consumer.classic_membership import STABLE, UNJOINED, ClassicState, no_answer_needed
from coordinator.consumer.classic_preparation import ANSWER_DUE, NO_REBALANCE, RebalancePhase
from coordinator.consumer.classic_rebalance import RebalancingMember
from coordinator.consumer.committing_member import COMMIT_TIMEOUT_MS
from coordinator.consumer.member import NEVER, ClientSubscription
from coordinator.consumer.outputs import CallbackKind, DueCallback, DueFailure, Partitions
from coordinator.engine.topics import TopicImage
from wire.errors import ErrorCode


class ClassicConsumer(RebalancingMember):
    """See the module."""

    leaves_when_closed = True
    """`internal.leave.group.on.close`, which Kafka Streams sets to false."""

    @property
    def fetching(self) -> Partitions:
        if self.by_hand:
            return frozenset()
        return self.owned if len(self.positioned) == len(self.owned) else self.owned & self.positioned

    @property
    def _changes_incrementally(self) -> bool:
        return self.is_cooperative and bool(self._protocol)

    @property
    def is_settled(self) -> bool:
        if self.is_outside:
            return self._then is None and len(self.positioned) == len(self.assignment)
        return (
            self.state is STABLE
            and self._rebalance is NO_REBALANCE
            and not self._must_rejoin
            and self._then is None
            and self._collects_until_ms == NEVER
            and not (self._looks_again and self._sees_change())
            and len(self.positioned) == len(self.assignment)
        ) or self._is_dead

    def next_deadline(self) -> int | None:
        at_ms = self._next_background()
        if self.in_poll:
            at_ms = min(at_ms, self._next_in_background())
            assignment = self.assignment
            may_read = assignment and self._coordinator is not None
            if may_read and (self.subscription.is_empty or not self._rejoins):
                at_ms = min(at_ms, self._auto_commit_at_ms)
                lacks = len(self.positioned) < len(assignment)
                if lacks and not self._fetches_offsets and self._unpositioned:
                    at_ms = min(at_ms, self._fetch_offsets_at_ms)
        elif self._then is None and self._continues_in_background:
            at_ms = min(at_ms, self._next_in_background(), self._committed_due_ms)
        elif self.is_closing or self._waits_for_commit:
            at_ms = min(at_ms, self._next_retry(), self._committed_due_ms)
        return None if at_ms >= NEVER else at_ms

    def _next_in_background(self) -> int:
        """The deadline of work in `poll` or, if the library rebalances in the background, at any time."""
        is_unsubscribed = self.subscription.is_empty
        if is_unsubscribed and not self.by_hand:
            return self._throws_at_ms
        if self._is_dead:
            return NEVER
        if self._coordinator is None:
            return NEVER if self._looking_up else self._lookup_at_ms
        if is_unsubscribed:
            return self._next_retry()
        if not self._rejoins:
            return min(self._next_retry(), self._collects_until_ms)
        may_start = self._rebalance is NO_REBALANCE and (self._must_prepare or self._may_join)
        if may_start or self._rebalance is RebalancePhase.LOOKING_UP:
            return min(self._next_retry(), self._rejoin_at_ms)
        return self._next_retry()

    @property
    def is_outside(self) -> bool:
        return super().is_outside or not (self._behavior.joins_for_missing_topics or self._has_topics)

    @property
    def _has_topics(self) -> bool:
        return any(topic in self.image.topics for topic in self._topics())

    @property
    def _may_join(self) -> bool:
        """Whether the member may join: not while the application stays outside `poll` for too long."""
        return (self.in_poll or not self._is_silent) and not self.is_outside

    def wake(self, now_ms: int) -> None:
        self._work(now_ms)
        self._retry_commits(now_ms)
        if self._waits_for_commit:
            self._wait_for_committed(now_ms)
        self._throw_for_nothing(now_ms)
        self._advance(now_ms)

    def _subscribed(self, now_ms: int) -> None:
        self._unsubscribes_next, self._looks_again = False, True
        self._revokes_first = bool(self.owned) and not self.is_cooperative
        self._advance(now_ms)

    def refresh_topics(self, image: TopicImage, now_ms: int) -> None:
        self.image = image
        self._looks_again = True
        self._advance(now_ms)

    def enforce_rebalance(self, now_ms: int) -> None:
        self._must_rejoin = True
        self._advance(now_ms)

    def close(self, now_ms: int) -> None:
        self.leave_poll(now_ms)
        self.is_closing = True
        self._due.clear()
        if self.settings.enable_auto_commit:
            patience_ms = now_ms + COMMIT_TIMEOUT_MS // 2
            self._commit(self._consumed(), now_ms, patience_ms, self._committed_before_leaving)
        else:
            self._revoke_all(now_ms)

    def _advance(self, now_ms: int) -> None:
        """Continue a rebalance, or the work of a consumer without one."""
        while self._then is None and (self.in_poll or self._continues_in_background):
            if self._due and self.in_poll:
                self._emit_due(self._due.pop(0), now_ms)
            elif self._unsubscribes_next and self._rebalance is RebalancePhase.NONE:
                self.unsubscribe(now_ms)
                return
            elif self._commits_fenced and self.in_poll:
                self._raise(self._fatal(ErrorCode.FENCED_INSTANCE_ID), now_ms)
            elif self._is_dead:
                return
            elif self.subscription.is_empty:
                self._polls_for_nothing(now_ms)
                if self.by_hand and self._find_coordinator(now_ms) and self.in_poll:
                    self._fetch_offsets(now_ms)
                    self._auto_commit(now_ms)
                return
            elif self._behavior.topic_error is not None and not self._revokes_first and self._misses_topic():
                self._due.append(DueFailure(self._behavior.topic_error, "Subscribed topic not available"))
            elif not self._find_coordinator(now_ms):
                return
            elif self._must_rebalance(now_ms):
                if not self._rebalance_on(now_ms):
                    return
            else:
                if self.in_poll:
                    self._fetch_offsets(now_ms)
                    self._auto_commit(now_ms)
                return

    @property
    def _continues_in_background(self) -> bool:
        """Whether a rebalance continues although the application is outside `poll`."""
        return (
            self._behavior.rebalances_in_background and not self.is_closing and not self._waits_for_listener
        )

    def _rebalance_on(self, now_ms: int) -> bool:
        """Take the next step of a rebalance, and return whether there was one."""
        phase = self._rebalance
        if phase is ANSWER_DUE:
            return False
        if phase is NO_REBALANCE:
            if now_ms >= self._rejoin_at_ms and self._must_prepare:
                self._prepare(now_ms)
            elif now_ms >= self._rejoin_at_ms and self._may_join:
                self._join(now_ms)
            elif self.is_outside and self.owned and not self._must_prepare:
                self._must_prepare = True  # the topics were deleted since it prepared
            else:
                if self.is_outside and not self.owned:
                    self.state = UNJOINED  # no heartbeats any more, and no LeaveGroup
                return False
        elif phase is RebalancePhase.COMMITTED:
            self._rebalance = NO_REBALANCE
            self._revoke_before_joining(now_ms)
        elif phase is RebalancePhase.JOINED:
            self._handle_join_answer(now_ms)
        elif phase is RebalancePhase.ASSIGNED:
            self._complete(now_ms)
        elif phase is RebalancePhase.LOOKING_UP and now_ms >= self._rejoin_at_ms:
            self._looked_up(now_ms)
        else:
            return False
        return True

    def _assign_by_hand(self, partitions: Partitions) -> None:
        super()._assign_by_hand(partitions)
        if partitions and self.settings.enable_auto_commit and self._auto_commit_at_ms == NEVER:
            self._auto_commit_at_ms = 0

    def unsubscribe(self, now_ms: int) -> None:
        """ConsumerCoordinator.onLeavePrepare; rd_kafka_cgrp_unsubscribe waits for the end of a rebalance, and ends
        the subscription before its callback."""
        if self._behavior.rebalances_in_background:
            self._unsubscribes_next = self._rebalance is not RebalancePhase.NONE or self._waits_for_listener
            if self._unsubscribes_next:
                return
            self.subscription = ClientSubscription()
        if self.owned or self._revokes_empty():
            self._notify(DueCallback(self._kind_when_leaving, self.owned, self._unsubscribed), now_ms)
        else:
            self._unsubscribed(now_ms)
        self._advance(now_ms)

    @property
    def _kind_when_leaving(self) -> CallbackKind:
        """Java calls `lost` also during a rebalance (ConsumerCoordinator.onLeavePrepare)."""
        is_lost = self._has_lost_membership or self.leaves_with_lost
        return CallbackKind.LOST if is_lost else CallbackKind.REVOKED

    @property
    def leaves_with_lost(self) -> bool:
        """AbstractCoordinator.rebalanceInProgress, of a library that considers it."""
        is_rebalancing = self.state in (ClassicState.PREPARING_REBALANCE, ClassicState.COMPLETING_REBALANCE)
        return is_rebalancing and not self._behavior.rebalances_in_background

    def _unsubscribed(self, now_ms: int) -> None:
        """In Java an exception of the listener leaves `unsubscribe` before the member leaves the group."""
        self._own(frozenset())
        has_failed = bool(self._error)
        self._throw(now_ms, wraps=True)
        if has_failed and not self._behavior.rebalances_in_background:
            return
        leaves = self.identity.instance is None or self._behavior.rebalances_in_background
        is_member = self.state is not ClassicState.UNJOINED and self.member_id
        if is_member and leaves and self._coordinator is not None:
            self._send(self._leave_request(), no_answer_needed)
        self._lose_membership(ErrorCode.UNKNOWN_MEMBER_ID)
        self._forget_rebalance()
        self._forget_subscription()

    def _committed_before_leaving(self, _error: str, now_ms: int) -> None:
        self._revoke_all(now_ms)

    def _revoke_all(self, now_ms: int) -> None:
        """ConsumerCoordinator.onLeavePrepare."""
        if not (self.owned or self._revokes_empty()):
            self._leave(now_ms)
            return
        self._call(self._kind_when_leaving, self.owned, self._leave, now_ms)

    def _revokes_empty(self) -> bool:
        """Whether `revoked` is called even if the member's assignment is empty."""
        is_fenced = self._commits_fenced or self._is_dead
        has_assignment = self._must_prepare and self.state is ClassicState.STABLE and not is_fenced
        return has_assignment and self._behavior.closes_with_revoked and not self.is_cooperative

    def _leave(self, now_ms: int) -> None:
        refused = bool(self._error) and self._behavior.listener_can_refuse
        if self._error:
            error, self._error = self._wrapped(self._error), ""
            self._raise(error, now_ms, "Failed to close kafka consumer")
        self._own(frozenset())
        is_member = not refused and self.state is not ClassicState.UNJOINED and self.member_id
        leaves = self.leaves_when_closed and self.identity.instance is None
        if is_member and leaves and self._coordinator is not None:
            self._send(self._leave_request(), self._left)
        else:
            self._end()

    def _left(self, _answer: object, _now_ms: int) -> None:
        self._end()
