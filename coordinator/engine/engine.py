"""The coordinator. The caller replays the whole log, calls `loaded`, then `handle` in any order and `expire` as soon
as `next_deadline` has come; it appends a result's records before it sends its answers. A later result may contain a
call's answer."""

import logging
from collections.abc import Callable, Collection, Mapping
from typing import Any

from coordinator.configs.settings import Config, GroupOverrides
from coordinator.engine import groups, session_expiry
from coordinator.engine.calls import AnyRequest, Call, CoordinatorResult, RegexRefresh, Repeat
from coordinator.engine.classic import heartbeat, join_group, leave_group, sync_group
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer import client_assignment
from coordinator.engine.consumer import heartbeat as consumer_heartbeat
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.context import EngineContext, EngineState, check_group_id
from coordinator.engine.offsets import commit, fetch, removal
from coordinator.engine.records import ClassicGroupRecord, OffsetRecord, Record
from coordinator.engine.replay import replay_classic_group, replay_consumer_group, replay_offset, unload
from coordinator.engine.timers import TimerKey, TimerKind
from coordinator.engine.topic_changes import put_regexes, topics_changed
from coordinator.engine.topics import TopicImage
from coordinator.errors import CannotBeWritten, RequestRefused
from wire.errors import ErrorCode

HANDLERS: dict[type, Callable[[EngineContext, Call, Any], None]] = {
    join_group.JoinGroup: join_group.handle,
    sync_group.SyncGroup: sync_group.handle,
    heartbeat.Heartbeat: heartbeat.handle,
    leave_group.LeaveGroup: leave_group.handle,
    consumer_heartbeat.ConsumerGroupHeartbeat: consumer_heartbeat.handle,
    client_assignment.PrepareAssignment: client_assignment.prepare,
    client_assignment.InstallAssignment: client_assignment.install,
    commit.OffsetCommit: commit.handle,
    commit.TxnOffsetCommit: commit.handle_transactional,
    fetch.OffsetFetch: fetch.handle,
    removal.OffsetDelete: removal.handle,
    groups.ListGroups: groups.list_groups,
    groups.DescribeGroups: groups.describe,
    groups.ConsumerGroupDescribe: groups.describe,
    groups.DeleteGroups: groups.delete_groups,
}
"""By type of request. Share and streams groups are not coordinated here; a log's are in `EngineState.other_types`."""

CHECKS: dict[type, Callable[[Any, Config], None]] = {
    join_group.JoinGroup: join_group.check,
    sync_group.SyncGroup: sync_group.check,
    heartbeat.Heartbeat: check_group_id,
    leave_group.LeaveGroup: check_group_id,
    consumer_heartbeat.ConsumerGroupHeartbeat: consumer_heartbeat.check,
    removal.OffsetDelete: check_group_id,
}
"""Validation that does not depend on the group: a broker that does not coordinate the group answers the error, too."""

REFUSED_BY_PARTITION = frozenset({commit.OffsetCommit, commit.TxnOffsetCommit})
"""Requests with partitions that any broker answers."""

_log = logging.getLogger(__name__)


class Engine:
    """One engine is the coordinator of all its groups."""

    def __init__(
        self,
        config: Config | None = None,
        topics: TopicImage | None = None,
        encode: Callable[[Record], tuple[bytes, bytes | None]] | None = None,
        *,
        matches_elsewhere: bool = False,
    ) -> None:
        """`encode` returns key and value of a record for the log; ValueError if it cannot be encoded: its call is
        answered UNKNOWN_SERVER_ERROR, as by a broker. `matches_elsewhere`: the caller matches regexes."""
        self.state = EngineState()
        self._ctx = EngineContext(
            state=self.state,
            config=config or Config(),
            replay=self.replay,
            encode=encode,
            topics=topics or TopicImage(),
            matches_elsewhere=matches_elsewhere,
        )

    @property
    def config(self) -> Config:
        return self._ctx.config

    @property
    def topics(self) -> TopicImage:
        return self._ctx.topics

    def handle(self, call: Call) -> CoordinatorResult:
        """Answer a call or park it. A refusal is an answer; nothing is raised, whatever the request contains."""
        ctx = self._ctx
        ctx.now_ms = call.now_ms
        kind = type(call.request)
        try:
            if kind in CHECKS:
                CHECKS[kind](call.request, ctx.config)
            if call.refusal and kind not in REFUSED_BY_PARTITION:
                raise RequestRefused(call.refusal)
            HANDLERS[kind](ctx, call, call.request)
        except RequestRefused as error:
            ctx.answer(call.ticket, call.request.refused(error))
        except Exception as error:
            if isinstance(error, CannotBeWritten):
                _log.warning("%s is refused: %s", kind.__name__, error)
            else:  # a bug must not affect other groups
                _log.exception("Unexpected error for %r", call.request)
            if all(ticket != call.ticket for ticket, _ in ctx.answers):
                ctx.answer(call.ticket, call.request.refused(RequestRefused(ErrorCode.UNKNOWN_SERVER_ERROR)))
        return ctx.take()

    def steady(self, request: AnyRequest, answer: object, sender: tuple[str, str]) -> Repeat | None:
        """How to repeat a heartbeat with its last answer; None: not at all. `sender`: its client id and host."""
        if isinstance(request, heartbeat.Heartbeat):
            return heartbeat.steady(self._ctx, request, answer)
        if isinstance(request, consumer_heartbeat.ConsumerGroupHeartbeat):
            return consumer_heartbeat.steady(self._ctx, request, answer, sender)
        return None

    def replay(self, record: Record, producer_id: int | None = None) -> None:
        """Apply a record, in the order of the log: except for `end_transaction` the only way in which hard state
        changes. `producer_id`: of a transactional batch, whose offsets stay pending until the transaction ends."""
        state = self.state
        if isinstance(record, OffsetRecord):
            replay_offset(state, record, producer_id)
            return
        if isinstance(record, ClassicGroupRecord):
            replay_classic_group(state, record)
        else:
            replay_consumer_group(state, record)
        if record.group in state.groups:
            state.other_types.discard(record.group)

    def note_other_type(self, group: str, *, exists: bool) -> None:
        """The only group with this id is of a type that is not coordinated here, or no longer exists."""
        if exists:
            self.state.groups.pop(group, None)
            self.state.other_types.add(group)
        else:
            self.state.other_types.discard(group)

    def end_transaction(self, producer_id: int, *, committed: bool) -> None:
        """Apply a COMMIT or ABORT marker of one partition of the log; no effect if there are no offsets."""
        for group, key, value in self.state.pending.end(producer_id, committed=committed):
            self.state.offsets.setdefault(group, {})[key] = value

    def loaded(self, now_ms: int) -> CoordinatorResult:
        """After recovery, even of an empty log: start the timers."""
        self._start_timers(now_ms, lambda _: True)
        removal.schedule(self._ctx)
        return self._ctx.take()

    def unload(self, belongs: Callable[[str], bool], now_ms: int) -> CoordinatorResult:
        """Another broker coordinates these groups until `load`; waiting calls are answered NOT_COORDINATOR."""
        self._ctx.now_ms = now_ms
        unload(self._ctx, belongs)
        return self._ctx.take()

    def load(self, belongs: Callable[[str], bool], now_ms: int) -> CoordinatorResult:
        """Coordinate groups that were unloaded: their timers start as after a restart."""
        self._start_timers(now_ms, belongs)
        return self._ctx.take()

    def _start_timers(self, now_ms: int, belongs: Callable[[str], bool]) -> None:
        self._ctx.now_ms = now_ms
        for group in [group for group in self.state.groups.values() if belongs(group.id)]:
            session_expiry.group_loaded(self._ctx, group)

    def update_topics(self, image: TopicImage, now_ms: int) -> CoordinatorResult:
        """Set the image of all current topics, after some were created, changed or deleted."""
        self._ctx.now_ms = now_ms
        topics_changed(self._ctx, image)
        return self._ctx.take()

    def configure(self, config: Config) -> None:
        """Replace the settings, except groups' overrides."""
        self._ctx.configure(config)

    def set_group_config(self, group: str, values: Mapping[str, str]) -> None:
        """Replace (or remove, if empty) a group's overrides. RequestRefused: INVALID_REQUEST, INVALID_CONFIG"""
        parsed = self.check_group_config(group, values)
        if values:
            self.state.group_configs[group] = parsed
        else:
            self.state.group_configs.pop(group, None)

    def check_group_config(self, group: str, values: Mapping[str, str]) -> GroupOverrides:
        """The overrides that `set_group_config` would set; the same RequestRefused."""
        if not group:
            raise RequestRefused(ErrorCode.INVALID_REQUEST, "Default group resources are not allowed.")
        return GroupOverrides.parse(values, self.config)

    def restore_group_config(self, group: str, values: Mapping[str, str]) -> None:
        """Restore overrides, capped by the broker's present bounds. RequestRefused: INVALID_CONFIG"""
        self.state.group_configs[group] = GroupOverrides.capped(values, self.config)

    def next_deadline(self, passed_over: Collection[TimerKey] = ()) -> int | None:
        """When to call `expire` next, in ms; None: not before the next call. Every call may change it. Without the
        timers `passed_over`, which the caller knows to be set again before they are due."""
        timers = self._ctx.timers
        return timers.next_deadline_except(passed_over) if passed_over else timers.next_deadline()

    def session_deadline(self, group: str, member: str) -> tuple[TimerKey, int] | None:
        """The timer of a member's session, and its deadline; None: it has no session."""
        key = TimerKey(TimerKind.SESSION, group, member)
        deadline_ms = self._ctx.timers.deadline(key)
        return None if deadline_ms is None else (key, deadline_ms)

    def no_deadline_before(self) -> int | None:
        """A time before which calling `expire` is unnecessary, in ms; None: as in `next_deadline`."""
        return self._ctx.timers.no_deadline_before()

    def expire(self, now_ms: int) -> CoordinatorResult:
        """Do what is due; nothing if it is too early."""
        self._ctx.now_ms = now_ms
        while (key := self._ctx.timers.pop_due(now_ms)) is not None:
            try:
                self._expire(key)
            except CannotBeWritten as error:
                _log.warning("Group %.80r: its %s timer has no effect: %s", key.group, key.kind.name, error)
            except Exception:  # see `handle`
                _log.exception("Unexpected error for %r", key)
        return self._ctx.take()

    def regexes_matched(
        self, refresh: RegexRefresh, matched: Mapping[str, tuple[str, ...]], now_ms: int
    ) -> CoordinatorResult:
        """Store the topics found for one of `CoordinatorResult.refreshes`, unless its group has left meanwhile."""
        ctx = self._ctx
        ctx.now_ms = now_ms
        if ctx.refreshing.get(refresh.group) is refresh:
            del ctx.refreshing[refresh.group]
            group = ctx.state.groups.get(refresh.group)
            if isinstance(group, ConsumerGroup):
                try:
                    put_regexes(ctx, group, refresh, matched)
                except CannotBeWritten as error:
                    _log.warning("Group %.80r: the topics of its regexes have no effect: %s", group.id, error)
        return ctx.take()

    def timers(self) -> tuple[TimerKey, ...]:
        return self._ctx.timers.keys()

    def fire(self, key: TimerKey, now_ms: int) -> CoordinatorResult:
        """Fire a timer of `timers` as if its deadline had come, for tests and explorations without time."""
        self._ctx.now_ms = now_ms
        self._ctx.timers.cancel(key)
        self._expire(key)
        return self._ctx.take()

    def _expire(self, key: TimerKey) -> None:
        if key.kind is TimerKind.OFFSET_EXPIRY:
            removal.expire_offsets(self._ctx)
            return
        group = self.state.groups.get(key.group)
        if isinstance(group, ClassicGroup):
            session_expiry.CLASSIC_TIMERS[key.kind](self._ctx, group, key)
        elif group is not None:
            session_expiry.CONSUMER_TIMERS[key.kind](self._ctx, group, key)
