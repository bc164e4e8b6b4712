"""The run of one plan, in its own thread: look at the group, carry out what the state machine orders, write down
what happens before anything is done about it."""

import queue
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial

from cli.selection import ReusableSource
from cli.verbs.migrate import event_documents as documents
from cli.verbs.migrate.bridge_process import BridgeProcess
from cli.verbs.migrate.event_documents import EventDocument, Facts, event_document
from cli.verbs.migrate.hook import Hook, start_hook
from cli.verbs.migrate.prepare import PreparedPlan
from cli.verbs.migrate.preview import plan_data
from cli.verbs.migrate.run_directory import RunDirectory
from cli.verbs.migrate.settings import NextCommands, RunSettings
from cli.verbs.migrate.sighting import Lookout
from cli.verbs.migrate.telling import InHand, RunStatus
from migration.execution.events import (
    EndHooks,
    GroupSighting,
    HookResult,
    MemberRejoined,
    Order,
    RunHook,
    StartBridge,
    StepEnded,
    StopBridge,
)
from migration.execution.machine import Execution, Phase
from migration.execution.stops import ExecutionStop, StopRule
from migration.gate.notes import fingerprint

LOOK_S = 1.0  # Between two observations
TICK_S = 0.2  # Between two looks at running hooks
_STATES = {
    Phase.WAITING: "running",
    Phase.ACTING: "running",
    Phase.FINISHED: "done",
    Phase.STOPPED: "stopped",
    Phase.ROLLED_BACK: "rolled-back",
}


@dataclass(slots=True, kw_only=True)
class GroupRun:
    """`tell` is called in the thread of the run; everything else is safe to use from another one."""

    prepared: PreparedPlan
    settings: RunSettings
    directory: RunDirectory
    tell: Callable[[EventDocument], None]
    error: BaseException | None = None  # What ended its thread, if not a stop
    status: RunStatus = field(init=False)
    restarts: int = 0  # Hooks that were started
    _execution: Execution = field(init=False)
    _hooks: list[Hook] = field(default_factory=list)
    _interrupts: int = 0
    _is_held: bool = False  # Whether the first interrupt is the end of the window
    _heard: int = 0  # Interrupts that the state machine knows of
    _began_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    _began_s: float = field(default_factory=time.monotonic)
    _is_logged: bool = True  # Whether the log can be written
    _lag: int | None = None  # As last read
    _problem: str = ""  # Why the group cannot be read now
    _plan_id: str = field(init=False)
    _bridge: BridgeProcess = field(init=False)
    _bridge_lines: queue.SimpleQueue[str] = field(default_factory=queue.SimpleQueue)
    _thread: threading.Thread | None = None

    def __post_init__(self) -> None:
        prepared = self.prepared
        self._plan_id = fingerprint(prepared.plan)
        source, lines = self.settings.source, self._bridge_lines
        self._bridge = BridgeProcess(self.group, source, self.directory.path, lines.put)
        self._execution = Execution(
            prepared.plan,
            self.settings.limits,
            resumed=prepared.resumed,
            rolls_back=self.settings.rolls_back,
            goes_back=self.settings.goes_back,
        )
        self._show()

    # For the conductor

    @property
    def group(self) -> str:
        return self.prepared.plan.group

    @property
    def is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    @property
    def is_finished(self) -> bool:
        """Whether it has done what the command asked for."""
        aim = Phase.ROLLED_BACK if self.settings.goes_back else Phase.FINISHED
        return self.error is None and self.status.phase is aim

    def start(self) -> None:
        self._thread = threading.Thread(target=self._in_thread, name=f"migrate {self.group}")
        self._thread.start()

    def interrupt(self) -> None:
        """The first one ends the run after the round in progress, the second one at once."""
        self._interrupts += 1

    def hold(self) -> None:
        """The window has closed. It ends after this round; a rollback, or the watch at the end, continues."""
        self._is_held = True
        self.interrupt()

    def _in_thread(self) -> None:
        try:
            self.run()
        except BaseException as error:  # raised again by the main thread
            self.error = error

    # The run

    def run(self) -> None:
        """Carry out the plan until it is finished or stopped."""
        execution, prepared = self._execution, self.prepared
        self._note(documents.run_began(prepared.plan, prepared.found, resumed=self._is_resumed))
        self._await_former_hooks()
        with ReusableSource(self.settings.looks) as source:
            lookout = Lookout(plan=prepared.plan, source=source)
            look_s = 0.0
            try:
                while not execution.is_over or self._hooks:
                    if time.monotonic() >= look_s:
                        self._observe(self._with_bridge(lookout.look(time.monotonic(), execution.step)))
                        look_s = time.monotonic() + LOOK_S
                    self._hear()
                    self._poll_hooks()
                    self._show()
                    time.sleep(TICK_S)
                if self._interrupts < 2:  # Where the group is now
                    execution.observe(lookout.look(time.monotonic(), execution.step))
            finally:
                self._end_hooks()
                self._bridge.stop()
        self._note_bridge()
        self._note_end()
        self._show()

    @property
    def _is_resumed(self) -> bool:
        return bool(self.prepared.former.events)

    def _observe(self, seen: GroupSighting) -> None:
        if seen.problem and not self._problem:
            self._note(documents.unread(seen.problem))
        elif self._problem and not seen.problem:
            self._note(documents.unread(""))
        self._problem = seen.problem
        self._lag = self._lag if seen.lag is None else seen.lag
        self._carry_out(self._execution.observe(seen))

    def _with_bridge(self, seen: GroupSighting) -> GroupSighting:
        """What the bridge says, too; as a member it knows the leader, which a login may not be allowed to read."""
        self._note_bridge()
        group, leader = seen.group, self._bridge.leader
        ids = {member.id for member in group.members} if group else set()
        if group is not None and group.leader is None and leader in ids:
            group = replace(group, leader=leader, leader_problem=None)
        return replace(seen, group=group, asks=self._bridge.asks, bridge_problem=self._bridge.problem)

    def _hear(self) -> None:
        while self._heard < self._interrupts:
            self._heard += 1
            if self._is_held and self._heard == 1:
                if self._execution.can_be_held:
                    self._note(documents.held())
                self._carry_out(self._execution.hold(time.monotonic()))
                continue
            self._note(documents.interrupted(self._heard))
            self._carry_out(self._execution.interrupt(time.monotonic()))

    def _await_former_hooks(self) -> None:
        """Wait for the hooks of a run that was killed, as no other may act on their members meanwhile. Those that are
        late are ended; all at a second interrupt."""
        hooks = self.prepared.former.running
        while hooks:
            time.sleep(TICK_S)
            timeout_s = self.settings.restart_s if self._interrupts < 2 else 0.0
            hooks = tuple(hook for hook in hooks if not hook.has_ended(time.monotonic(), timeout_s))
        self._hear()

    def _carry_out(self, orders: Sequence[Order]) -> None:
        self._note_happenings()
        for order in orders:
            match order:
                case RunHook():
                    self._start(order)
                case EndHooks():
                    for hook in self._hooks:
                        hook.end(time.monotonic(), "it was interrupted")
                case StartBridge():
                    self._start_bridge()
                case StopBridge():
                    self._bridge.stop()

    def _start_bridge(self) -> None:
        try:
            self._bridge.start()
        except OSError as error:
            message = f"The bridge cannot be started: {error.strerror or error}."
            self._execution.halt(ExecutionStop(rule=StopRule.BRIDGE, message=message, at_s=time.monotonic()))

    def _start(self, order: RunHook) -> None:
        now_s, settings = time.monotonic(), self.settings
        problem = ""
        if not self._note(documents.hook_began(order)):
            problem = "it was not started"
        else:
            where, times = (self.prepared.plan, self.directory.path), (now_s, settings.restart_s)
            try:
                hook = start_hook(settings.command, order, *where, *times, partial(self._note_process, order))
            except OSError as error:
                file = f"{error.filename}: " if error.filename else ""
                problem = f"it cannot be started: {file}{error.strerror or error}"
            else:
                self._hooks.append(hook)
                self.restarts += 1
        if problem:
            self._hook_ended(order, HookResult(at_s=now_s, member=order.member, problem=problem), 0.0)

    def _note_process(self, order: RunHook, process: int, mark: str) -> None:
        self._note(documents.hook_runs(order, process, mark))

    def _poll_hooks(self) -> None:
        for hook in list(self._hooks):
            result = hook.poll(time.monotonic())
            if result is not None:
                self._hooks.remove(hook)
                self._hook_ended(hook.order, result, hook.lasted_s(time.monotonic()))

    def _hook_ended(self, order: RunHook, result: HookResult, lasted_s: float) -> None:
        self._note(documents.hook_ended(order, result, lasted_s))
        self._carry_out(self._execution.hook_ended(result))

    def _end_hooks(self) -> None:
        for hook in self._hooks:
            hook.end(time.monotonic(), "Kohort ended")
        while self._hooks:
            self._hooks = [hook for hook in self._hooks if hook.poll(time.monotonic()) is None]
            time.sleep(TICK_S)

    # What is written down, and shown

    def _note(self, facts: Facts, logged: Facts | None = None) -> bool:
        """Write an event down, and tell it; `logged`: as it is written. False if it cannot be written: then the run
        stops, as one that was killed could not continue."""
        document = event_document(self.group, self._plan_id, facts)
        if self._is_logged:
            try:
                self.directory.write({**document, **(logged or {})})
            except OSError as error:
                self._lose_log(f"{self.directory.path}: {error.strerror or error}")
        self.tell(document)
        return self._is_logged

    def _lose_log(self, why: str) -> None:
        self._is_logged = False
        message = f"The log of the run cannot be written: {why}."
        self._execution.halt(ExecutionStop(rule=StopRule.LOG, message=message, at_s=time.monotonic()))

    def _note_happenings(self) -> None:
        execution = self._execution
        happenings, execution.happenings = execution.happenings, []
        for happening in happenings:
            if isinstance(happening, StepEnded) and not happening.is_rollback:
                self._keep(happening)
            if isinstance(happening, MemberRejoined) and not execution.is_rollback:
                self._keep_rejoined(happening)
            costs, present = execution.costs.by_step, execution.present_costs
            lag_s = present.lag_s if present else None
            steps, rollback = self.prepared.plan.steps, execution.is_rollback
            self._note(documents.of_happening(happening, steps, costs, lag_s, rollback=rollback))

    def _keep_rejoined(self, rejoined: MemberRejoined) -> None:
        """Note its new id in place of the one before: the gate of this step must not take it for a restart."""
        file, number = self.prepared.notes, rejoined.place[0] - 1
        if (gate := file.notes.opened.get(number)) is None:
            return
        members = tuple(rejoined.seat if one.id == rejoined.former else one for one in gate.members)
        file.keep(replace(file.notes, opened={**file.notes.opened, number: replace(gate, members=members)}))

    def _keep(self, ended: StepEnded) -> None:
        """Note the members at an opened gate, where `kohort gate` notes them too."""
        file = self.prepared.notes
        now, notes = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), file.notes
        if ended.step:
            notes = notes.with_step_started(ended.step)
        file.keep(notes.with_opened(ended.step, now, ended.members, ended.epoch))
        if not file.is_written and self._is_logged:
            self._lose_log(f"{file.file} cannot be written")

    def _note_bridge(self) -> None:
        with suppress(queue.Empty):
            while True:
                self._note(documents.bridge_line(self._bridge_lines.get_nowait()))

    def _note_end(self) -> None:
        execution = self._execution
        lasted_s = time.monotonic() - self._began_s
        if execution.stop is None:
            self._note(documents.finished(lasted_s))
        elif execution.phase is Phase.ROLLED_BACK:
            notes = self.prepared.notes
            notes.keep(notes.notes.without_from(0))  # So that the next run begins with the first step
            self._note(documents.rolled_back(lasted_s))
        else:
            self._note(self._stopped(self.settings.following), self._stopped(self.settings.noted))

    def _stopped(self, following: NextCommands) -> Facts:
        execution = self._execution
        stop = execution.rollback_stop or execution.stop
        if stop is None:
            raise ValueError("it has not stopped")
        is_rollback, prepared = execution.is_rollback, self.prepared
        has_begun = bool(self.restarts or prepared.former.hooks)
        where = prepared.file, prepared.plan, execution.place
        commands = following.after_stop(*where, is_rollback=is_rollback, has_begun=has_begun)
        steps, costs = prepared.plan.steps, execution.costs.by_step
        due = () if stop.rule is StopRule.WINDOW else tuple(commands)
        return documents.stopped(
            stop, execution.place, due, steps, costs, execution.standing, rollback=is_rollback
        )

    def data(self) -> Facts:
        """The plan in the last document of the command."""
        status, error = self.status, None if self.error is None else str(self.error)
        stop = status.rollback_stop or status.stop
        return plan_data(
            self.prepared,
            self.settings,
            state="failed" if error else _STATES[status.phase],
            place=status.place,
            restarts=self.restarts,
            costs=status.costs,
            stopped=None if stop is None else self._stopped(self.settings.following),
            error=error,
        )

    def _show(self) -> None:
        execution, now_s = self._execution, time.monotonic()
        orders = [(hook.order, hook.lasted_s(now_s)) for hook in self._hooks]
        in_hand = tuple(
            InHand(label=order.seat.label, action=order.action.value, for_s=for_s) for order, for_s in orders
        )
        costs = execution.present_costs
        self.status = RunStatus(
            plan=execution.plan,
            phase=execution.phase,
            is_rollback=execution.is_rollback,
            place=execution.place,
            opened=frozenset(execution.opened),
            in_hand=in_hand,
            gate=execution.gate,
            waits_s=max(0.0, execution.limits.gate_s - (execution.deadline_s - now_s)),
            gives_up_s=execution.limits.gate_s,
            lag=self._lag,
            lag_s=costs.lag_s if costs else None,
            costs=dict(execution.costs.by_step),
            limits=execution.limits,
            stop=execution.stop,
            rollback_stop=execution.rollback_stop,
            began_at=self._began_at,
            lasted_s=now_s - self._began_s,
            resumed=self._is_resumed,
        )
