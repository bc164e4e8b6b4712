"""A consumer's process: the member, the application that polls it (`polling`), its listener, and the records that it
reads and commits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from coordinator.consumer.library import AfterError
from coordinator.consumer.member import NEVER
from coordinator.consumer.outputs import (
    AssignorCall,
    Callback,
    CallbackKind,
    Closed,
    CollectingChanges,
    Committed,
    Deadlocked,
    Partitions,
    Positioned,
    Raised,
    Send,
    TopicPartition,
    Warned,
)
from coordinator.engine.classic.sync_group import SyncGroup
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat
from coordinator.engine.offsets.commit import OffsetCommit
from coordinator.engine.topics import TopicImage
from coordinator.simulation.polling import AGAIN_MS, Activity, PollingApplication
from coordinator.simulation.read_positions import ReadPositions, ReadRange
from coordinator.simulation.scenario import ListenerScript, MemberScript
from coordinator.simulation.schedule import Schedule
from coordinator.simulation.topics import SimulatedClient

NOTHING: Partitions = frozenset()
AT_ONCE = ListenerScript()


class ProcessWatcher:
    """Observes processes, and the partitions that they consume. A subclass overrides what it observes."""

    def owned_changed(self, process: Process, before: Partitions) -> None: ...
    def fetching_changed(self, process: Process, before: Partitions) -> None: ...
    def epoch_changed(self, process: Process, before: int) -> None: ...
    def refreshing_topics(self, process: Process, image: TopicImage) -> None: ...
    def calling(self, process: Process, callback: Callback) -> None: ...
    def assignor_called(self, process: Process, call: AssignorCall) -> None: ...
    def called_back(self, process: Process, callback: Callback, threw: bool) -> None: ...
    def raised(self, process: Process, raised: Raised) -> None: ...
    def warned(self, process: Process, warned: Warned) -> None: ...
    def committed(self, process: Process, committed: Committed) -> None: ...
    def read(self, ranges: Sequence[ReadRange]) -> None: ...
    def received(self, process: Process, answer: object) -> None: ...
    def failed(self, process: Process) -> None: ...
    def deadlocked(self, process: Process) -> None: ...
    def collecting(self, process: Process, changes: CollectingChanges) -> None: ...
    def ended(self, process: Process) -> None: ...

    def partition_deleted(self, partition: TopicPartition) -> None:
        """The partition was deleted: a new partition of its name has no owner yet."""


class Process(PollingApplication):
    """See the module. `log_ends` returns the offsets that the next records of partitions would have, `watching` the
    observers of an event."""

    def __init__(
        self,
        name: str,
        client: SimulatedClient,
        script: MemberScript,
        after_error: AfterError,
        schedule: Schedule,
        send: Callable[[Process, Send], None],
        log_ends: Callable[[Sequence[TopicPartition]], list[int]],
        watching: Callable[[str], Sequence[ProcessWatcher]],
    ) -> None:
        super().__init__(schedule)
        self.name, self.client_id, self.host, self.script = name, client.id, client.host, script
        self.started_ms = schedule.now_ms
        self.state = dict(script.state)  # What its application shows its assignors now
        self.owned: Partitions = NOTHING  # The partitions that it owned after the last step
        self.fetching: Partitions = NOTHING
        self.by_hand: Partitions = NOTHING  # What `Consumer.assign` has chosen: others may own it
        self.deleted_released: set[TopicPartition] = set()
        """The partitions of `deleted_owned` that it owned last, and no longer owns."""
        self.assigned_ms: dict[TopicPartition, int] = {}
        """When its listener was last called with each partition as assigned, or last returned from that call."""
        self.reported_ms = 0  # When its last heartbeat of the consumer protocol was sent
        self.deleted_owned: set[TopicPartition] = set()
        """Partitions that it owns of topics that were deleted meanwhile: another topic may have the same name."""
        self.deleted_commits: list[tuple[OffsetCommit, TopicPartition]] = []
        """Commits that were in flight when a partition that they name was deleted."""
        self._committing: dict[int, OffsetCommit] = {}  # Commits in flight, by their numbers
        self.assigned_image: TopicImage | None = None
        """The topics that it knew when it last computed an assignment, as the leader."""
        self.epoch = 0
        self.number = 0  # The number of its member's process, from 0
        self.lost_requests = 0  # How many requests failed with their connection
        self.last_error = ""  # The class of the last exception; empty again after the next assignment
        self.after_error = after_error
        self.has_failed = False  # Whether it stops because of an exception
        self._send, self._watching = send, watching
        self._watching_answers = watching("received")
        self._wake_ms: int | None = None
        self._deadline_ms: int | None = None  # The member's next deadline, as of the last step
        self._commits = False  # Whether the listener waits in commitSync
        self._positions = ReadPositions(schedule, log_ends, self._report_read)
        self._outputs: dict[type, Callable[[Any], None]] = {
            Send: self._on_send,
            Callback: self._on_callback,
            AssignorCall: self._on_assignor_call,
            Raised: self._on_raised,
            Warned: self._on_warned,
            Committed: self._on_committed,
            Positioned: self._on_positioned,
            Closed: lambda _: self._end(),
            Deadlocked: self._on_deadlocked,
            CollectingChanges: self._on_collecting,
        }

    # Called by the scenario.

    def kill(self) -> None:
        if self.is_running:
            self._end()

    def change_state(self, changes: Mapping[str, str]) -> None:
        """Change what the application shows its assignors, whatever it does meanwhile."""
        if not self._waits(self.change_state, changes):
            self.state.update(changes)

    def wanted(self, image: TopicImage) -> tuple[str, ...]:
        """The topics that it subscribes to, existing or not."""
        return self.member.subscription.in_image(image)

    def refresh_topics(self, image: TopicImage) -> None:
        """Use the topics in the brokers' metadata; anything older than the member's metadata is ignored."""
        if self._waits(self.refresh_topics, image) or image.version <= self.member.image.version:
            return
        for watcher in self._watching("refreshing_topics"):
            watcher.refreshing_topics(self, image)
        self.member.refresh_topics(image, self._schedule.now_ms)
        self._step()

    def replan(self) -> None:
        """Plan the wake-up again, from the member's next deadline: it was lost."""
        self._wake_ms = None
        if self.is_running:
            self._plan_wake()

    # Called by the network.

    def deliver(self, number: int, answer: object) -> None:
        if (self.is_frozen or not self.is_running) and self._waits(self.deliver, number, answer):
            return
        self._committing.pop(number, None)
        for watcher in self._watching_answers:
            watcher.received(self, answer)
        self.member.answered(number, answer, self._schedule.now_ms)
        self._step()

    def fail(self, number: int) -> None:
        if self._waits(self.fail, number):
            return
        self._committing.pop(number, None)
        self.lost_requests += 1
        for watcher in self._watching("failed"):
            watcher.failed(self)
        self.member.failed(number, self._schedule.now_ms)
        self._step()

    # Reading.

    def positions(self, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, int]:
        """The offsets up to which the application has read these, without those that it does not read."""
        return self._positions.of(partitions)

    def reset(self, partition: TopicPartition) -> None:
        """A new partition of a deleted one's name is read from the start (auto.offset.reset=earliest)."""
        if partition in self.owned or partition in self.member.acquiring:
            self.deleted_owned.add(partition)
        self.deleted_commits += [
            (commit, partition)
            for commit in self._committing.values()
            if any((offset.topic, offset.partition) == partition for offset in commit.offsets)
        ]
        self._positions.restart(partition)

    def count_reading(self) -> None:
        """Report what has been read so far of the partitions that are being read."""
        self._positions.stop()
        self._update_reading()

    def _update_reading(self) -> None:
        """Start and stop reading, depending on what the member fetches and what the application does."""
        fetched = NOTHING
        if self.is_polling:
            fetched = self.by_hand & self.member.positioned if self.by_hand else self.fetching
        self._positions.read(fetched)

    def _report_read(self, ranges: Sequence[ReadRange]) -> None:
        for watcher in self._watching("read"):
            watcher.read(ranges)

    # Outputs of the member.

    def _step(self) -> None:
        """Handle the member's outputs after an input, and report what has changed."""
        member = self.member
        outputs = self._outputs
        while member.outputs:
            for output in member.take():
                outputs[type(output)](output)
        if not self.is_running:
            return
        owned, fetching, epoch = member.owned, member.fetching, member.epoch
        if epoch != self.epoch:
            before_epoch, self.epoch = self.epoch, epoch
            for watcher in self._watching("epoch_changed"):
                watcher.epoch_changed(self, before_epoch)
        if fetching is not self.fetching and fetching != self.fetching:
            before, self.fetching = self.fetching, fetching
            self._update_reading()
            for watcher in self._watching("fetching_changed"):
                watcher.fetching_changed(self, before)
        if member.by_hand != self.by_hand:
            for gone in self.by_hand - member.assignment:
                self._positions.forget(gone)
            self.by_hand = member.by_hand
            self._update_reading()
        if owned is not self.owned and owned != self.owned:
            before, self.owned = self.owned, owned
            for gone in before - owned:
                self._positions.forget(gone)
                if gone in self.deleted_owned:
                    self.deleted_owned.discard(gone)
                    self.deleted_released.add(gone)
            self.deleted_released -= owned - before
            for watcher in self._watching("owned_changed"):
                watcher.owned_changed(self, before)
        if self._changes:
            self._make_changes()
        self._plan_wake()

    def _plan_wake(self) -> None:
        deadline_ms = self._deadline_ms = self.member.next_deadline()
        if deadline_ms is not None and (self._wake_ms is None or deadline_ms < self._wake_ms):
            self._wake_ms = deadline_ms
            self._schedule.at(deadline_ms, self.wake, deadline_ms)

    def wake(self, wake_ms: int) -> None:
        """Called when planned: the member does what is due; nothing if another wake-up was planned meanwhile."""
        if wake_ms != self._wake_ms or self._waits(self.wake, wake_ms):
            return
        self._wake_ms = None
        if self._deadline_ms is not None and self._deadline_ms <= self._schedule.now_ms:
            self.member.wake(self._schedule.now_ms)
        self._step()

    def _on_send(self, send: Send) -> None:
        request = send.request
        if type(request) is ConsumerGroupHeartbeat:
            self.reported_ms = self._schedule.now_ms
        elif type(request) is OffsetCommit:
            self._committing[send.number] = request
        elif type(request) is SyncGroup and request.assignments:
            self.assigned_image = self.member.image
        self._send(self, send)

    def _on_callback(self, callback: Callback) -> None:
        self._callback = callback
        if callback.kind is CallbackKind.ASSIGNED:
            self.assigned_ms |= dict.fromkeys(callback.partitions, self._schedule.now_ms)
        if self.activity is not Activity.CLOSING:
            self.activity = Activity.CALLBACK
        self._update_reading()
        for watcher in self._watching("calling"):
            watcher.calling(self, callback)
        script = self._listener(callback)
        if script.unsubscribes:  # librdkafka calls the listener for that after this call, Java within it
            self.change("unsubscribe")
        if script.commits:
            self._commits = True
            self.member.commit(self._schedule.now_ms)
        else:
            self._run_listener(script)

    def _on_assignor_call(self, call: AssignorCall) -> None:
        for watcher in self._watching("assignor_called"):
            watcher.assignor_called(self, call)

    def _run_listener(self, script: ListenerScript) -> None:
        if script.takes_s is not None:
            at_ms = self._schedule.now_ms + int(script.takes_s * 1000)
            self._schedule.at(at_ms, self._return, self._callback, script.throws)

    def _return(self, callback: Callback, threw: bool) -> None:
        if self._waits(self._return, callback, threw) or self._callback is not callback:
            return
        self._callback, self._commits = None, False
        if callback.kind is CallbackKind.ASSIGNED:
            self.assigned_ms |= dict.fromkeys(callback.partitions, self._schedule.now_ms)
            self.last_error = self.last_error if threw else ""
        if self.activity is Activity.CALLBACK:
            self.activity = Activity.POLLING
        for watcher in self._watching("called_back"):
            watcher.called_back(self, callback, threw)
        self.member.called_back(self._schedule.now_ms, threw=threw)
        self._step()
        self._update_reading()
        self._catch_up()

    def _on_raised(self, raised: Raised) -> None:
        # Thrown by commitSync, and therefore by the listener; `poll` or `close` throws it again.
        if self._commits and self._callback is not None:
            self._commits = False
            self._schedule.at(self._schedule.now_ms, self._return, self._callback, True)
            return
        if not raised.is_refusal:
            self.last_error = raised.error
        for watcher in self._watching("raised"):
            watcher.raised(self, raised)
        if self.activity is Activity.CLOSING:
            return
        self._leave()
        if self.after_error is not AfterError.POLL_AGAIN:
            self.has_failed = True
            self._schedule.at(self._schedule.now_ms, self.close)
        else:
            self._poll_after(AGAIN_MS)

    def _on_warned(self, warned: Warned) -> None:
        for watcher in self._watching("warned"):
            watcher.warned(self, warned)

    def _on_committed(self, committed: Committed) -> None:
        for watcher in self._watching("committed"):
            watcher.committed(self, committed)
        if self._commits and self._callback is not None and not committed.error:
            self._commits = False
            self._run_listener(self._listener(self._callback))

    def _on_positioned(self, positioned: Positioned) -> None:
        assignment = self.member.assignment
        offsets = positioned.offsets
        self._positions.seek(
            {partition: offsets[partition] for partition in offsets if partition in assignment}
        )
        self._update_reading()

    def _on_deadlocked(self, _deadlocked: Deadlocked) -> None:
        """The process stops working, and never thaws."""
        for watcher in self._watching("deadlocked"):
            watcher.deadlocked(self)
        self.is_frozen, self._thaw_ms = True, NEVER
        self._update_reading()

    def _on_collecting(self, changes: CollectingChanges) -> None:
        for watcher in self._watching("collecting"):
            watcher.collecting(self, changes)

    def _listener(self, callback: Callback) -> ListenerScript:
        listener: Mapping[str, ListenerScript] = self.script.listener
        return listener.get(self.script.method_of(callback.kind).value, AT_ONCE)

    def _end(self) -> None:
        self._positions.stop()
        self.activity = Activity.ENDED
        before, self.owned = self.owned, NOTHING
        was_fetching, self.fetching = self.fetching, NOTHING
        if before:
            for watcher in self._watching("owned_changed"):
                watcher.owned_changed(self, before)
        if was_fetching:
            for watcher in self._watching("fetching_changed"):
                watcher.fetching_changed(self, was_fetching)
        for watcher in self._watching("ended"):
            watcher.ended(self)
