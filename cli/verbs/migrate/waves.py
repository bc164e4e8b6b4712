"""Conducts runs: starts their threads in waves, passes on what they report, and signals. One plan is a fleet of one."""

import queue
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import FrameType

from cli.errors import CommandError, UsageError
from cli.verbs.migrate import event_documents as documents
from cli.verbs.migrate.event_documents import EventDocument, Facts
from cli.verbs.migrate.run import GroupRun
from cli.verbs.migrate.telling import FleetStatus, RunStatus, Telling
from migration.execution.fleet import Fleet, FleetWait, GroupPhase, WaveStatus
from migration.execution.stops import StopRule
from wire.client.steps import Deadline

DRAW_S = 0.2


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
        handlers = {
            number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)
        }
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
