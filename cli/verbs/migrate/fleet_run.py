"""Carries prepared plans out, one or a fleet: a conductor starts the runs in waves, each in its thread, passes on what
they report, and signals. One plan is a fleet of one."""

import os
import queue
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from urllib.parse import quote

from cli.errors import CommandError, ExitStatus, UsageError, is_expected
from cli.output import notice
from cli.render.document import FORMAT_VERSION
from cli.verbs.migrate import event_documents as documents
from cli.verbs.migrate.event_documents import EventDocument, Facts
from cli.verbs.migrate.fleet_plans import FleetPlans, left_out_data
from cli.verbs.migrate.journal_entry import MigrationEntry
from cli.verbs.migrate.prepare import PreparedPlan
from cli.verbs.migrate.preview import plan_data
from cli.verbs.migrate.report import HTML, FleetFacts, Unbegun, write_reports
from cli.verbs.migrate.run import GroupRun
from cli.verbs.migrate.run_directory import (
    EVENTS,
    EventDirectory,
    RunDirectory,
    directory_of,
    read_former_runs,
)
from cli.verbs.migrate.settings import RunSettings
from cli.verbs.migrate.telling import FleetStatus, RunStatus, Telling
from groups.files import replace_file
from groups.yaml_files import yaml_lines
from migration.execution.fleet import Fleet, FleetWait, GroupPhase, WaveOptions, WaveStatus
from migration.execution.stops import StopRule
from migration.plan_file import plan_to_data
from wire.client.steps import Deadline

DRAW_S = 0.2
JOURNAL = "migration.run"  # The directory of a fleet's journal and report, next to the plans


@dataclass(slots=True, kw_only=True)
class Conductor:
    """Call `conduct` in the main thread: it takes the signals."""

    fleet: Fleet
    runs: Mapping[str, Callable[[], GroupRun]]
    """Makes the run of each group, also again after it was held. Raises UsageError: another process carries it out.
    Raises CommandError: its directory cannot be written."""
    telling: Telling
    heard: "queue.SimpleQueue[EventDocument]"  # What the runs report
    report: Callable[[GroupRun], None]  # Writes the report of a run that has ended
    note: Callable[[Facts], None] | None = None  # Writes down an event of the fleet; None for one plan
    finished_before: int = 0
    begun: dict[str, GroupRun] = field(default_factory=dict)  # The last run of each group
    failures: dict[str, BaseException] = field(default_factory=dict)  # What ended a run, if not a stop
    _interrupts: int = 0
    _heard: int = 0
    _held: set[str] = field(default_factory=set)  # Running groups that were interrupted by the window
    _ended: set[str] = field(default_factory=set)
    _wave: int = 0
    _waited_for: str = ""

    def conduct(self) -> WaveStatus:
        """Carry out all plans. Ctrl-C, or a terminal that is closed, ends the rounds in progress; a second one, or
        SIGTERM, everything at once. Signals that the parent process ignores stay ignored (nohup)."""
        numbers = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)
        handlers = {number: signal.getsignal(number) for number in numbers}
        before = {number: handler for number, handler in handlers.items() if handler is not signal.SIG_IGN}
        for number in before:
            signal.signal(number, self._signaled)
        try:
            while not self.fleet.is_over:
                self._move()
                self._hear()
                self.pass_on(DRAW_S)
                self._collect()
                self._draw()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            Deadline.stop_all(None)
        self.pass_on(0.0)
        return self._status()

    def _status(self) -> WaveStatus:
        return self.fleet.status(datetime.now(UTC), time.monotonic())

    def _move(self) -> None:
        moves = self.fleet.next(datetime.now(UTC), time.monotonic())
        for name in moves.hold:
            self._held.add(name)
            self.begun[name].hold()
        if not moves.begin:
            return
        status = self._status()
        if status.wave > self._wave:
            self._wave = status.wave
            self._note(documents.wave_began(status.wave, moves.begin, canary=status.is_canary))
        for name in moves.begin:
            self._begin(name)

    def _begin(self, name: str) -> None:
        self._held.discard(name)
        self._ended.discard(name)
        try:
            self.begun[name] = run = self.runs[name]()
            run.start()
        except (CommandError, UsageError) as error:
            self._end(name, GroupPhase.STOPPED, error)

    def _collect(self) -> None:
        """Report the ends of runs to the fleet."""
        for name, run in self.begun.items():
            if run.is_running or name in self._ended:
                continue
            self.report(run)
            run.directory.close()
            stop = run.status.stop
            is_held = stop is not None and stop.rule in (StopRule.INTERRUPTED, StopRule.WINDOW)
            phase = GroupPhase.FINISHED if run.is_finished else GroupPhase.STOPPED
            self._end(name, GroupPhase.HELD if is_held and run.error is None else phase, run.error)

    def _end(self, name: str, phase: GroupPhase, error: BaseException | None) -> None:
        self._ended.add(name)
        if error is not None:
            self.failures[name] = error
        run = self.begun.get(name)
        stop = run.status.rollback_stop or run.status.stop if run else None
        self.fleet.ended(name, phase, time.monotonic())
        self._note(documents.group_ended(name, phase, stop, str(error) if error else ""))

    def _hear(self) -> None:
        while self._heard < self._interrupts:
            self._heard += 1
            self.fleet.interrupt()
            for name, run in self.begun.items():
                # A group that is being held already is not to stop at once when Ctrl-C is pressed once.
                if run.is_running and (name not in self._held or self._heard > 1):
                    run.interrupt()
            if self._heard > 1:
                Deadline.stop_all(0.0)  # Nothing is awaited any more

    def _signaled(self, number: int, _: FrameType | None) -> None:
        self._interrupts += 2 if number == signal.SIGTERM else 1

    # What is shown

    def _note(self, facts: Facts) -> None:
        if self.note is not None:
            self.note(facts)

    def pass_on(self, within_s: float) -> None:
        with suppress(queue.Empty):
            self.telling.event(self.heard.get(timeout=within_s) if within_s else self.heard.get_nowait())
            while True:
                self.telling.event(self.heard.get_nowait())

    def _draw(self) -> None:
        runs: Sequence[RunStatus] = [run.status for run in self.begun.values()]
        if self.note is None:
            self.telling.draw(runs)
            return
        status = self._status()
        wait = "" if status.wait is None else wait_text(status.wait)
        waited_for = "" if GroupPhase.RUNNING in status.phases.values() else wait
        if status.wait is not None and waited_for not in ("", self._waited_for):
            self._note(documents.waits(status.wait))
        self._waited_for = waited_for
        self.telling.draw(runs, self._fleet_status(status, wait))

    def _fleet_status(self, status: WaveStatus, wait: str) -> FleetStatus:
        to_come = [name for name, phase in status.phases.items() if phase is GroupPhase.WAITING]
        wave = f"{'canary' if status.is_canary else 'wave'} {status.wave}" if status.wave else ""
        text = ": ".join(filter(None, (wave, status.ends or wait)))
        return FleetStatus(
            groups=len(status.phases),
            to_come=len(to_come),
            finished_before=self.finished_before,
            text=text[:1].upper() + text[1:],
        )


def wait_text(wait: FleetWait) -> str:
    until = "" if wait.until is None else f", until {wait.until.astimezone():%Y-%m-%d %H:%M %Z}"
    return f"the next group waits: {wait.why}{until}"


@dataclass(slots=True, kw_only=True)
class FleetRun:
    plans: FleetPlans
    settings: RunSettings
    fleet: Fleet
    options: WaveOptions
    journal: EventDirectory | None  # None for one plan
    entry: MigrationEntry
    telling: Telling
    _heard: "queue.SimpleQueue[EventDocument]" = field(default_factory=queue.SimpleQueue)
    _is_logged: bool = True
    _reports: dict[str, Path] = field(default_factory=dict)  # The pages of runs, by group

    def carry_out(self) -> ExitStatus:
        """Raises what ended a run, if not a stop: of one plan anything, of a fleet a fault of Kohort."""
        began_s = time.monotonic()
        conductor = Conductor(
            fleet=self.fleet,
            runs={group: self._maker(prepared) for group, prepared in self.plans.prepared.items()},
            telling=self.telling,
            heard=self._heard,
            report=self._report,
            note=None if self.journal is None else self._note,
            finished_before=self.plans.finished_before,
        )
        self._note_start()
        status = conductor.conduct()
        self.entry.end(status.phases)
        self._note(documents.fleet_ended(status.phases, status.ends, time.monotonic() - began_s))
        conductor.pass_on(0.0)
        pages = list(self._reports.values()) if self.journal is None else list(self._summary(status))
        self.telling.end(self._document(conductor.begun, status, pages))
        for page in pages:
            notice(f"the report is {page}")
        for error in conductor.failures.values():
            if self.journal is None or not is_expected(error):
                raise error
        is_done = set(status.phases.values()) <= {GroupPhase.FINISHED} and not self.plans.has_blocked
        return ExitStatus.DONE if is_done else ExitStatus.FALSE

    def _maker(self, prepared: PreparedPlan) -> Callable[[], GroupRun]:
        def make() -> GroupRun:
            directory = RunDirectory(prepared.file, prepared.plan, prepared.cluster)
            try:
                present = prepared.reread()
                if not present.is_rollback:
                    _keep_plan(present)
                return GroupRun(
                    prepared=present, settings=self.settings, directory=directory, tell=self._tell
                )
            except BaseException:
                directory.close()
                raise

        return make

    def _tell(self, document: EventDocument) -> None:
        self.entry.hear(document)
        self._heard.put(document)

    def _report(self, run: GroupRun) -> None:
        directory = run.directory.path
        try:
            page = write_reports(directory, read_former_runs(directory, run.prepared.plan).documents)
        except CommandError as error:  # which does not change how the run ended
            notice(str(error))
            return
        self._reports[run.group] = page

    def _note_start(self) -> None:
        groups = self.plans.groups
        finished = [group.name for group in groups if group.phase is GroupPhase.FINISHED]
        left_out = [left_out_data(one) for one in self.plans.left_out]
        is_resumed, names = any(group.has_begun for group in groups), [group.name for group in groups]
        self._note(documents.fleet_began(names, finished, left_out, self.options, resumed=is_resumed))

    def _note(self, facts: Facts) -> None:
        """Write an event of the fleet down, and tell it. Without its journal a fleet continues: each group has one."""
        if self.journal is None:
            return
        document = documents.fleet_document(facts)
        if self._is_logged:
            try:
                self.journal.write(document)
            except OSError as error:
                self._is_logged = False
                notice(f"{self.journal.path / EVENTS} cannot be written: {error.strerror or error}")
        self._heard.put(document)

    def _document(self, begun: Mapping[str, GroupRun], status: WaveStatus, pages: Sequence[Path]) -> Facts:
        """The last document of `--output json`."""
        plans = []
        for group, prepared in self.plans.prepared.items():
            is_done = status.phases[group] is GroupPhase.FINISHED
            before = plan_data(prepared, self.settings, state="done" if is_done else "waiting")
            report = self._reports.get(group)
            data = begun[group].data() if group in begun else before
            plans.append({**data, "report": None if report is None else str(report)})
        more: Facts = {}
        if self.journal is not None:
            left_out = [left_out_data(one) for one in self.plans.left_out]
            more = {"left_out": left_out, "report": str(pages[0]) if pages else None}
        return {"kohort": FORMAT_VERSION, "command": "migrate", "plans": plans, **more, "errors": []}

    def _summary(self, status: WaveStatus) -> Iterator[Path]:
        """The page of the fleet, from the events of all runs of its groups."""
        root = self.journal.path if self.journal else Path()
        plans = [(directory_of(one.file), one.plan) for one in self.plans.prepared.values()]
        plans += [(directory_of(one.file), one.plan) for one in self.plans.left_out]
        events = [event for one in plans for event in read_former_runs(*one).documents]
        pages = {plan.group: directory / HTML for directory, plan in plans if (directory / HTML).exists()}
        links = {group: quote(os.path.relpath(page, root)) for group, page in pages.items()}
        waiting = [group for group, phase in status.phases.items() if phase is GroupPhase.WAITING]
        unbegun = [Unbegun(group=group, state="to come", why="") for group in waiting]
        unbegun += [Unbegun(group=one.group, state="left out", why=one.why) for one in self.plans.left_out]
        try:
            yield write_reports(root, events, FleetFacts(links=links, unbegun=unbegun, ends=status.ends))
        except CommandError as error:
            notice(str(error))


def _keep_plan(prepared: PreparedPlan) -> None:
    """The plan as it is carried out, for a later run that continues."""
    try:
        replace_file(prepared.copy, yaml_lines(plan_to_data(prepared.plan)))
    except OSError as error:
        why = f"{error.strerror or error}: keep the plan in a writable directory"
        raise CommandError(f"{prepared.copy}: {why}") from None


def check_free(plans: FleetPlans) -> None:
    """Raises UsageError: another process is carrying a plan out, or a plan of its group. Raises CommandError: the
    directory of a run cannot be written."""
    for group in plans.groups:
        if group.phase is GroupPhase.WAITING:
            prepared = plans.prepared[group.name]
            RunDirectory(prepared.file, prepared.plan, prepared.cluster).close()


@contextmanager
def journal_of(named: Path) -> Iterator[EventDirectory]:
    """The journal of the fleet whose first plan, or directory of plans, is named so. Raises as `EventDirectory`."""
    directory = named if named.is_dir() else named.parent
    with EventDirectory(directory / JOURNAL, f"the plans in {directory}") as journal:
        yield journal
