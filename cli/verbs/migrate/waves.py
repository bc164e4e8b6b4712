"""Conducts runs: starts their threads, passes on what they tell, and signals."""

import queue
import signal
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType

from cli.verbs.migrate.event_documents import EventDocument
from cli.verbs.migrate.options import FleetOptions
from cli.verbs.migrate.run import GroupRun
from cli.verbs.migrate.telling import Telling
from wire.client.steps import Deadline

DRAW_S = 0.2


class Conductor:
    """Call `conduct` in the main thread: it takes the signals."""

    def __init__(self, telling: Telling, options: FleetOptions) -> None:
        self.told: queue.SimpleQueue[EventDocument] = queue.SimpleQueue()  # What the runs tell
        self._telling, self._options = telling, options
        self._interrupts = 0

    def conduct(self, runs: Sequence[GroupRun]) -> None:
        """Carry out all plans. Ctrl-C, or a terminal that is closed, ends the rounds in progress; a second one, or
        SIGTERM, everything at once. Signals that the parent process ignores stay ignored (nohup)."""
        handlers = {
            number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)
        }
        before = {number: handler for number, handler in handlers.items() if handler is not signal.SIG_IGN}
        for number in before:
            signal.signal(number, self._signaled)
        try:
            for run in runs:
                run.start()
            heard = 0
            while any(run.is_running for run in runs):
                while heard < self._interrupts:
                    heard += 1
                    for run in runs:
                        run.interrupt()
                    if heard > 1:
                        Deadline.stop_all(0.0)  # Nothing is awaited any more
                self._pass_on(DRAW_S)
                self._telling.draw([run.status for run in runs])
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            Deadline.stop_all(None)
        self._pass_on(0.0)

    def _signaled(self, number: int, _: FrameType | None) -> None:
        self._interrupts += 2 if number == signal.SIGTERM else 1

    def _pass_on(self, within_s: float) -> None:
        with suppress(queue.Empty):
            self._telling.event(self.told.get(timeout=within_s) if within_s else self.told.get_nowait())
            while True:
                self._telling.event(self.told.get_nowait())
