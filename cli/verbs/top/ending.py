"""How the screens end: by a key, a signal or an error, as other commands do, and with the terminal as it was before."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver

from cli.errors import ExitStatus
from cli.stopping import Stopped, status_of_signal
from cli.verbs.top.typed_ahead import TypedAheadApp

SIGNALS = (signal.SIGTERM, signal.SIGHUP)
GRACE_S = 5.0  # For screens that a signal ends: a terminal that is gone may block them


class TerminalDriver(LinuxDriver):
    """Draws on standard output, as Kohort prints: notices on standard error can be redirected."""

    def __init__(self, app: App[Any], **settings: Any) -> None:
        super().__init__(app, **settings)
        self._file = sys.__stdout__


class EndingApp(TypedAheadApp):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "interrupt", "Quit", show=False, priority=True),
        Binding("ctrl+z", "suspend_process", "Suspend", show=False, priority=True),
    ]

    _stopped: int | None = None  # The exit status of a signal

    def get_driver_class(self) -> type[Driver]:
        driver = super().get_driver_class()
        return TerminalDriver if driver is LinuxDriver else driver

    def run_to_end(self) -> int:
        """The exit status. Raises the error that ended the application, also one of another thread."""
        before = threading.excepthook
        threading.excepthook = lambda failure: self._fail_elsewhere(failure.exc_value)
        try:
            with self._stopped_by_signals():
                self.run()
        finally:
            threading.excepthook = before
        if self._stopped is not None:
            return self._stopped
        if self._exception is not None:
            raise self._exception
        return self.return_code or 0

    def action_interrupt(self) -> None:
        self.exit(return_code=ExitStatus.INTERRUPTED)

    def _fail_elsewhere(self, error: BaseException | None) -> None:
        if self._loop is not None and isinstance(error, Exception):
            self._loop.call_soon_threadsafe(self._handle_exception, error)

    def _fatal_error(self) -> None:
        """Textual would print the values of local variables, and some are secret."""
        self._close_messages_no_wait()

    @contextmanager
    def _stopped_by_signals(self) -> Iterator[None]:
        numbers = [
            number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN
        ]  # as after nohup
        before = {number: signal.signal(number, self._stop) for number in numbers}
        try:
            yield
        finally:
            for number, former in before.items():
                signal.signal(number, former)

    def _stop(self, number: int, _: FrameType | None) -> None:
        self._stopped = status_of_signal(number)
        if self._loop is None:
            raise Stopped(number)
        backstop = threading.Timer(GRACE_S, os._exit, (self._stopped,))
        backstop.daemon = True
        backstop.start()
        self._loop.call_soon_threadsafe(self.exit, None, self._stopped)
