"""Carry out a plan: observe the group, run the hooks that the state machine asks for, and write down what happens."""

import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import typer

from cli.consent import ConsentOptions
from cli.errors import CommandError, ExitStatus
from cli.options import SourceOptions
from cli.output import notice
from cli.selection import ReusableSource
from cli.verbs.gate.action import NotesFile
from cli.verbs.migrate.hook import Hook, command_of, start_hook
from cli.verbs.migrate.run_directory import RunDirectory
from cli.verbs.plan.files import read_plan
from groups.listing import Cause
from groups.model import Cluster
from migration.execution.events import (
    EndHooks,
    GateChecked,
    GroupSighting,
    MemberReturned,
    Order,
    RoundBegan,
    RunHook,
    StepEnded,
)
from migration.execution.machine import Execution, Phase, Resumed
from migration.execution.stops import Limits
from migration.gate.judge import needs_leader
from migration.gate.notes import fingerprint
from migration.model import Plan
from wire.client.errors import WireError

LOOK_S = 1.0  # Between two observations
TICK_S = 0.2  # Between two looks at running hooks


@dataclass(slots=True, kw_only=True)
class MigrationRun:
    plan: Plan
    command: Sequence[str]
    source: ReusableSource
    directory: RunDirectory
    notes: NotesFile
    limits: Limits
    timeout_s: float
    rolls_back: bool
    say: Callable[[str], None]
    _hooks: list[Hook] = field(default_factory=list)
    _interrupts: int = 0

    def run(self) -> Execution:
        """Carry out the plan until it is finished or stopped."""
        opened = {number: gate.members for number, gate in self.notes.notes.opened.items()}
        execution = Execution(
            self.plan,
            self.limits,
            resumed=Resumed(opened=opened, hooks=self.directory.hooks() if opened else frozenset()),
            rolls_back=self.rolls_back,
        )
        self._await_former_hooks()
        self.directory.write("run-began", resumed=bool(self.directory.former))
        before = signal.signal(signal.SIGINT, lambda *_: self._interrupted())
        try:
            look_s = 0.0
            seen_interrupts = 0
            while not execution.is_over or self._hooks:
                now_s = time.monotonic()
                if now_s >= look_s:
                    self._carry_out(execution, execution.observe(self._look(execution)))
                    look_s = time.monotonic() + LOOK_S
                while seen_interrupts < self._interrupts:
                    seen_interrupts += 1
                    self._carry_out(execution, execution.interrupt(now_s))
                self._poll_hooks(execution)
                time.sleep(TICK_S)
        finally:
            signal.signal(signal.SIGINT, before)
            self._end_hooks()
        self._write_end(execution)
        return execution

    def _interrupted(self) -> None:
        self._interrupts += 1

    def _await_former_hooks(self) -> None:
        end_s = time.monotonic() + self.timeout_s
        while (running := self.directory.unfinished()) and time.monotonic() < end_s:
            self.say(f"waiting for the command that a former run started for {running[0].member}")
            time.sleep(LOOK_S)

    def _look(self, execution: Execution) -> GroupSighting:
        now_s = time.monotonic()
        try:
            source = self.source.get()
            described = source.describe([self.plan.group], offsets=False)
            cluster = source.cluster()
        except (WireError, CommandError) as error:
            passing = self.source.may_pass(error)
            self.source.close()
            return GroupSighting(at_s=now_s, cluster=_NO_CLUSTER, problem=str(error), is_refused=not passing)
        group = described.items[0] if described.items else None
        if group is None and not all(problem.cause is Cause.ABSENT for problem in described.problems):
            problem = "; ".join(problem.message for problem in described.problems)
            return GroupSighting(at_s=now_s, cluster=cluster, problem=problem)
        if group is not None and needs_leader(execution.step):
            (group,) = source.with_leaders([group])
        baseline = self.plan.baseline
        names = set(baseline.partitions) if baseline else set()
        topics = source.topics(names, end_offsets=False) if names else None
        partitions = {topic.name: topic.partitions for topic in topics.items} if topics else {}
        return GroupSighting(at_s=now_s, group=group, cluster=cluster, partitions=partitions)

    def _carry_out(self, execution: Execution, orders: Sequence[Order]) -> None:
        """What has happened is written down before anything is done about it."""
        self._tell(execution)
        for order in orders:
            match order:
                case RunHook():
                    self._start(order)
                case EndHooks():
                    for hook in self._hooks:
                        hook.end(time.monotonic(), "it was interrupted")
                case _:
                    pass

    def _start(self, order: RunHook) -> None:
        self.directory.hook_begins(order)
        hook = start_hook(
            self.command, order, self.plan.group, self.directory.path, time.monotonic(), self.timeout_s
        )
        self._hooks.append(hook)
        self.directory.hook_runs(order, hook.process.pid)

    def _poll_hooks(self, execution: Execution) -> None:
        for hook in list(self._hooks):
            result = hook.poll(time.monotonic())
            if result is not None:
                self._hooks.remove(hook)
                self.directory.write(
                    "hook-ended", name=hook.order.seat.label, step=hook.order.place[0], problem=result.problem
                )
                self._carry_out(execution, execution.hook_ended(result))

    def _end_hooks(self) -> None:
        for hook in self._hooks:
            hook.end(time.monotonic(), "Kohort ended")
        while self._hooks:
            self._hooks = [hook for hook in self._hooks if hook.poll(time.monotonic()) is None]
            time.sleep(TICK_S)

    def _tell(self, execution: Execution) -> None:
        happened, execution.happenings = execution.happenings, []
        for event in happened:
            match event:
                case StepEnded(is_rollback=False):
                    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
                    notes = self.notes.notes
                    if event.step:
                        notes = notes.with_step_started(event.step)
                    self.notes.keep(notes.with_opened(event.step, now, event.members, event.epoch))
                    self.directory.write("step-ended", step=event.step)
                    self.say(f"step {event.step}: complete")
                case RoundBegan():
                    self.say(f"step {event.place[0]}, round {event.place[1]}: {', '.join(event.members)}")
                case MemberReturned():
                    self.say(f"{event.seat.label} has returned")
                case GateChecked() if not event.result.open:
                    self.say(f"waiting: {'; '.join(event.result.reasons)}")
                case _:
                    pass

    def _write_end(self, execution: Execution) -> None:
        stop = execution.stop
        if stop is not None:
            self.directory.write("stopped", rule=stop.rule.value, message=stop.message)
        else:
            self.directory.write("finished")


_NO_CLUSTER = Cluster()


def migrate_group(file: Path, restart: str, _consent: ConsentOptions, options: SourceOptions) -> None:
    plan = read_plan(file)
    command = command_of(restart)
    with RunDirectory(file, fingerprint(plan)) as directory, ReusableSource(options) as source:
        run = MigrationRun(
            plan=plan,
            command=command,
            source=source,
            directory=directory,
            notes=NotesFile.of_plan(file, plan, is_written=True),
            limits=Limits(),
            timeout_s=120.0,
            rolls_back=False,
            say=notice,
        )
        execution = run.run()
    if execution.stop is not None:
        notice(f"stopped: {execution.stop.message} {execution.stop.remedy}")
    raise typer.Exit(ExitStatus.DONE if execution.phase is Phase.FINISHED else ExitStatus.FALSE)
