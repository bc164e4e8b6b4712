"""The ways of a consumer of the new protocol out of its group: `unsubscribe`, `close`, and an application that does not
poll. Source: kafka-clients 4.3.1, AbstractMembershipManager and AsyncKafkaConsumer."""

from abc import abstractmethod
from enum import Enum

from coordinator.consumer.heartbeat_fields import HeartbeatFields
from coordinator.consumer.member import NEVER, Identity, Positions
from coordinator.consumer.outputs import CallbackKind, DueCallback
from coordinator.consumer.reconciling_member import NO_EPOCH, AsyncState, ReconcilingMember
from coordinator.engine.topics import TopicImage

JOINS, _LEAVES, _GOES_AWAY = 0, -1, -2
_CLOSE_TIMEOUT_MS = 30_000
"""The time limit of `close`: CloseOptions' default."""

WITHOUT_HEARTBEATS = AsyncState.UNSUBSCRIBED, AsyncState.FENCED, AsyncState.STALE, AsyncState.FATAL
"""States in which no heartbeats are sent."""


class _Closing(Enum):
    NO = "no"
    WAITS = "waits"  # Until a running callback returns
    COMMITS = "commits"
    REVOKES = "revokes"
    LEAVES = "leaves"


class DepartingMember(ReconcilingMember):
    """See the module. The protocol, with its heartbeats, is in the subclass."""

    def __init__(
        self,
        identity: Identity,
        image: TopicImage,
        positions: Positions,
        *,
        uuid: str,
        remote_assignor: str | None = None,
    ) -> None:
        super().__init__(identity, image, positions, uuid=uuid)
        self._fields = HeartbeatFields(identity, uuid, remote_assignor)
        self._beat: int | None = None  # The unanswered heartbeat
        self._failures = 0
        self._keeps_place = identity.instance is not None
        self._is_leaving = False  # Whether `unsubscribe` waits to leave
        self._closing = _Closing.NO
        self._close_by_ms = NEVER

    @abstractmethod
    def _advance(self, now_ms: int) -> None:
        """Do what is possible now, in `poll` and in the background."""

    @abstractmethod
    def _background(self, now_ms: int) -> None:
        """The background thread's work."""

    def unsubscribe(self, now_ms: int) -> None:
        """AbstractMembershipManager.leaveGroup: outside the group there is no callback, except one that is due."""
        if self.state in WITHOUT_HEARTBEATS:
            if self.state is not AsyncState.FATAL:
                self.state = AsyncState.UNSUBSCRIBED
            if not self._is_lost:
                self._revoke_all()
            self._forget_subscription()
        else:
            self._become(AsyncState.PREPARE_LEAVING, now_ms)
            self._revoking |= self.owned
            if self.owned:
                kind = CallbackKind.REVOKED if self.epoch > 0 else CallbackKind.LOST
                self._due.append(DueCallback(kind, self.owned, self._unsubscribed))
            else:
                self._unsubscribed(now_ms)
        self._advance(now_ms)

    def _unsubscribed(self, _now_ms: int) -> None:
        """Leave, whatever the listener did; `unsubscribe` waits for the answer."""
        self._forget_subscription()
        if self._behavior.calls_lost_again:
            self.released = self.owned
        self._revoke_all()
        if self.state is not AsyncState.PREPARE_LEAVING:
            return
        self._waiting.pop(self._beat or 0, None)
        self._beat = None
        self._is_watched = self._behavior.counts_callbacks
        self.state = AsyncState.UNSUBSCRIBED
        self.epoch = self._leave_epoch
        self._fields.forget()
        if self._coordinator is not None:
            self._is_leaving = True
            self._send(self._fields.plain(self.epoch), self._left_unsubscribed)

    def _left_unsubscribed(self, _answer: object, _now_ms: int) -> None:
        self._is_leaving = False

    def _leave_after_poll_timeout(self, now_ms: int) -> None:
        """Leave because the application does not poll, without waiting for the answer, and lose everything."""
        self._waiting.pop(self._beat or 0, None)
        self._beat = None
        if self._behavior.poll_timeout_error is not None:
            self._fail(self._behavior.poll_timeout_error, "Application maximum poll interval exceeded")
        self.epoch = NO_EPOCH
        if self._behavior.leaves_before_lost:
            self._leave()
        self._fields.forget()
        self._failures = 0
        self._is_watched = self._behavior.counts_callbacks
        self._become(AsyncState.STALE, now_ms)
        self._lose(now_ms)

    def _leave(self) -> None:
        self.epoch = self._leave_epoch
        self._send(self._fields.plain(self.epoch), self._left)

    def _left(self, _answer: object, _now_ms: int) -> None:
        """Ignore the answer; rd_kafka_cgrp_consumer_reset does not, and has forgotten that the member must rejoin."""
        if self._reconciles and self._behavior.forgets_to_rejoin:
            self._is_stranded = True
            self.epoch = JOINS

    @property
    def _leave_epoch(self) -> int:
        return _GOES_AWAY if self._keeps_place else _LEAVES

    def close(self, now_ms: int, *, for_good: bool = False) -> None:
        """Commit, call `revoked`, leave, whatever fails. A static member stays, except `for_good` (KIP-1092)."""
        if self.is_closing:
            return
        self._keeps_place = self._keeps_place and not for_good
        self.leave_poll(now_ms)
        self.is_closing = True
        self._closing = _Closing.WAITS
        self._close_by_ms = now_ms + min(_CLOSE_TIMEOUT_MS, self.settings.request_timeout_ms)
        self._advance(now_ms)

    def _start_close(self, now_ms: int) -> None:
        """Commit first, as soon as no callback runs; callbacks that waited for `poll` are not called any more."""
        if self._closing is not _Closing.WAITS or self._then is not None:
            return
        if self._error:
            self._throw(now_ms)
        self._closing = _Closing.COMMITS
        if self.settings.enable_auto_commit:
            self._commit(self._consumed(), now_ms, self._close_by_ms, self._close_committed)
        else:
            self._close_committed("", now_ms)

    def _limit_close(self, now_ms: int) -> None:
        """Continue without an answer that has not arrived in time."""
        if self.is_closing and now_ms >= self._close_by_ms:
            if self._closing is _Closing.COMMITS:
                self._close_committed("TimeoutException", now_ms)
            elif self._closing is _Closing.LEAVES:
                self._finish_close(now_ms)

    def _close_committed(self, _error: str, now_ms: int) -> None:
        if self._closing is not _Closing.COMMITS:
            return
        self._closing = _Closing.REVOKES
        if self.owned:
            self._call(CallbackKind.REVOKED, self.owned, self._close_revoked, now_ms)
        elif self.released:
            self._call(CallbackKind.LOST, self.released, self._close_revoked, now_ms)
        else:
            self._close_revoked(now_ms)

    def _close_revoked(self, now_ms: int) -> None:
        self._closing = _Closing.LEAVES
        self._revoke_all()
        if self.state in WITHOUT_HEARTBEATS:
            self._finish_close(now_ms)
            return
        self.epoch = self._leave_epoch
        self._become(AsyncState.LEAVING, now_ms)
        self._has_news = False
        self._background(now_ms)

    def _leave_answered(self, _answer: object, now_ms: int) -> None:
        self._finish_close(now_ms)

    def _finish_close(self, now_ms: int) -> None:
        self.state = AsyncState.UNSUBSCRIBED
        if self._error:
            self._raise(self.identity.library.listener_error, now_ms, "Failed to close kafka consumer")
            self._error = ""
        self._end()
