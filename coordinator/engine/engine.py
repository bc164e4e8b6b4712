"""The coordinator: takes calls, records and the passing of time; gives records and answers.

    engine = Engine(Config.parse(settings), topics)
    engine.replay(record) ...           everything the log holds, with the ends of its transactions
    engine.loaded(now_ms)               once, before the first call
    engine.handle(call)                 then, in any order
    engine.expire(now_ms)               as soon as next_deadline() has come
    engine.unload(belongs, now_ms)      some groups go to another broker, and
    engine.load(belongs, now_ms)        come back as after a restart

The caller appends `Result.records` before it sends `Result.answers`. A call whose ticket is not among the answers
waits: a later Result, of another call or of `expire`, answers it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from coordinator.engine import describe_groups, groups, session_expiry
from coordinator.engine.calls import Call, CoordinatorResult
from coordinator.engine.classic import heartbeat, join_group, leave_group, sync_group
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.config import Config, GroupOverrides
from coordinator.engine.consumer import client_assignment
from coordinator.engine.consumer import heartbeat as consumer_heartbeat
from coordinator.engine.context import EngineContext, State, require_group_id
from coordinator.engine.offsets import commit, fetch, removal
from coordinator.engine.records import ClassicGroupRecord, OffsetRecord, Record
from coordinator.engine.replay import (
    end_transaction,
    replay_classic_group,
    replay_consumer_group,
    replay_offset,
)
from coordinator.engine.timers import TimerKey, TimerKind, Timers
from coordinator.engine.topic_changes import topics_changed
from coordinator.engine.topics import TopicImage
from coordinator.engine.unload import unload
from coordinator.errors import CannotBeWritten, RequestRefused
from wire.errors import ErrorCode


def _check_group_id(request: Any, _config: Config) -> None:
    require_group_id(request.group)


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
    describe_groups.DescribeGroups: describe_groups.describe_classic,
    describe_groups.ConsumerGroupDescribe: describe_groups.describe_consumer,
    groups.DeleteGroups: groups.delete_groups,
}
"""By type of request. Share and streams groups are not coordinated here: those that a log holds are `foreign`."""

CHECKS: dict[type, Callable[[Any, Config], None]] = {
    join_group.JoinGroup: join_group.check,
    sync_group.SyncGroup: sync_group.check,
    heartbeat.Heartbeat: _check_group_id,
    leave_group.LeaveGroup: _check_group_id,
    consumer_heartbeat.ConsumerGroupHeartbeat: consumer_heartbeat.check,
    removal.OffsetDelete: _check_group_id,
}
"""What is wrong with a request whatever its group is: also a broker says so that does not coordinate it."""

REFUSED_BY_PARTITION = frozenset({commit.OffsetCommit, commit.TxnOffsetCommit})
"""Requests some partitions of which are answered by any broker."""

_log = logging.getLogger(__name__)


class Engine:
    """See the module. One engine is the coordinator of all its groups."""

    def __init__(
        self,
        config: Config | None = None,
        topics: TopicImage | None = None,
        encode: Callable[[Record], tuple[bytes, bytes | None]] | None = None,
    ) -> None:
        """`encode` gives key and value of a record for the log, and raises ValueError for one that cannot be written:
        names can be longer than it has room for. The call that leads to one is answered UNKNOWN_SERVER_ERROR, as by a
        broker.
        """
        self._ctx = EngineContext(
            state=State(),
            timers=Timers(),
            config=config or Config(),
            replay=self.replay,
            encode=encode,
            topics=topics or TopicImage(),
        )

    @property
    def state(self) -> State:
        """For looking at, not for changing."""
        return self._ctx.state

    @property
    def config(self) -> Config:
        return self._ctx.config

    @property
    def topics(self) -> TopicImage:
        return self._ctx.topics

    def handle(self, call: Call) -> CoordinatorResult:
        """Answer a call or let it wait. A refusal is an answer; nothing is raised, whatever the request says."""
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
        except CannotBeWritten as error:
            _log.warning("%s is refused: %s", type(call.request).__name__, error)
            self._fail(call)
        except Exception:  # a bug of ours is not to take the other groups down
            _log.exception("Unexpected error for %r", call.request)
            self._fail(call)
        return ctx.take()

    def replay(self, record: Record, producer_id: int | None = None) -> None:
        """Make a record true: with `end_transaction` the only way in which hard state changes.

        Records come in the order of the log. `producer_id` is that of a transactional batch: an offset in it stays
        pending until the transaction ends; of other records there are no transactional ones.
        """
        state = self._ctx.state
        if isinstance(record, OffsetRecord):
            replay_offset(state, record, producer_id)
            return
        if isinstance(record, ClassicGroupRecord):
            replay_classic_group(state, record)
        else:
            replay_consumer_group(state, record)
        if record.group in state.groups:
            state.foreign.discard(record.group)

    def note_foreign(self, group: str, *, exists: bool) -> None:
        """There is a group of a type that is not coordinated here, and no other of its id; or there is none now."""
        state = self._ctx.state
        if exists:
            state.groups.pop(group, None)
            state.foreign.add(group)
        else:
            state.foreign.discard(group)

    def end_transaction(self, producer_id: int, *, committed: bool) -> None:
        """Make a COMMIT or ABORT marker true; nothing happens where the producer has committed no offsets.

        A transaction that wrote to several partitions of the log has a marker in each: they must not be mixed.
        """
        end_transaction(self._ctx.state, producer_id, committed=committed)

    def loaded(self, now_ms: int) -> CoordinatorResult:
        """After recovery, also of nothing: the timers that a restart forgot begin to run."""
        self._start_timers(now_ms, lambda _: True)
        removal.schedule(self._ctx)
        return self._ctx.take()

    def unload(self, belongs: Callable[[str], bool], now_ms: int) -> CoordinatorResult:
        """Another broker coordinates the groups whose ids `belongs` names, from `load` on.

        Calls that wait for them are answered NOT_COORDINATOR. Until then they take part in nothing but deletion of
        topics; the caller is to refuse calls for them.
        """
        self._ctx.now_ms = now_ms
        unload(self._ctx, belongs)
        return self._ctx.take()

    def load(self, belongs: Callable[[str], bool], now_ms: int) -> CoordinatorResult:
        """Coordinate groups that were unloaded: as after a restart, their timers begin to run."""
        self._start_timers(now_ms, belongs)
        return self._ctx.take()

    def _start_timers(self, now_ms: int, belongs: Callable[[str], bool]) -> None:
        self._ctx.now_ms = now_ms
        for group in [each for each in self._ctx.state.groups.values() if belongs(each.id)]:
            if isinstance(group, ClassicGroup):
                session_expiry.classic_group_loaded(self._ctx, group)
            else:
                session_expiry.consumer_group_loaded(self._ctx, group)

    def update_topics(self, image: TopicImage, now_ms: int) -> CoordinatorResult:
        """Tell of topics that were created, changed or deleted: the image of all there are now."""
        self._ctx.now_ms = now_ms
        topics_changed(self._ctx, image)
        return self._ctx.take()

    def configure(self, config: Config) -> None:
        """Other settings count from now on, those of groups excepted."""
        self._ctx.configure(config)

    def set_group_config(self, group: str, values: Mapping[str, str]) -> None:
        """Replace the settings of a group (resource type GROUP); none at all removes them.

        RequestRefused: INVALID_REQUEST for the empty name, INVALID_CONFIG with a message for anything else.
        """
        parsed = self.check_group_config(group, values)
        if values:
            self._ctx.state.group_configs[group] = parsed
        else:
            self._ctx.state.group_configs.pop(group, None)

    def check_group_config(self, group: str, values: Mapping[str, str]) -> GroupOverrides:
        """What `set_group_config` would set; RequestRefused as there."""
        if not group:
            raise RequestRefused(ErrorCode.INVALID_REQUEST, "Default group resources are not allowed.")
        return GroupOverrides.parse(values, self._ctx.config)

    def restore_group_config(self, group: str, values: Mapping[str, str]) -> None:
        """Set what was set before a restart, capped where the broker's bounds have changed since.

        RequestRefused INVALID_CONFIG: what no broker can have kept
        """
        self._ctx.state.group_configs[group] = GroupOverrides.capped(values, self._ctx.config)

    def next_deadline(self) -> int | None:
        """When to call `expire` next, in ms; None: not before another call. May change with every call."""
        return self._ctx.timers.next_deadline()

    def no_deadline_before(self) -> int | None:
        """A time at which calling `expire` is early enough, and may be too early; None as of `next_deadline`."""
        return self._ctx.timers.no_deadline_before()

    def expire(self, now_ms: int) -> CoordinatorResult:
        """Do what is due by now; nothing when it is too early."""
        self._ctx.now_ms = now_ms
        while (key := self._ctx.timers.pop_due(now_ms)) is not None:
            try:
                self._expire(key)
            except CannotBeWritten as error:
                _log.warning("Group %.80r: its %s timer has no effect: %s", key.group, key.kind.name, error)
            except Exception:  # see `handle`
                _log.exception("Unexpected error for %r", key)
        return self._ctx.take()

    def timers(self) -> tuple[TimerKey, ...]:
        """What waits for its deadline."""
        return self._ctx.timers.keys()

    def fire(self, key: TimerKey, now_ms: int) -> CoordinatorResult:
        """Do what a timer of `timers` is for as if its deadline had come: where time is not what is tried."""
        self._ctx.now_ms = now_ms
        self._ctx.timers.cancel(key)
        self._expire(key)
        return self._ctx.take()

    def _fail(self, call: Call) -> None:
        """Answer a call that could not be gone through with, unless that was answered already."""
        if all(ticket != call.ticket for ticket, _ in self._ctx.answers):
            self._ctx.answer(
                call.ticket, call.request.refused(RequestRefused(ErrorCode.UNKNOWN_SERVER_ERROR))
            )

    def _expire(self, key: TimerKey) -> None:
        if key.kind is TimerKind.OFFSET_EXPIRY:
            removal.expire_offsets(self._ctx)
            return
        group = self._ctx.state.groups.get(key.group)
        if isinstance(group, ClassicGroup):
            session_expiry.CLASSIC_TIMERS[key.kind](self._ctx, group, key)
        elif group is not None:
            session_expiry.CONSUMER_TIMERS[key.kind](self._ctx, group, key)
