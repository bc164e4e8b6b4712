"""Signals that stop a change. Before it is sent, a signal ends the command, and nothing is changed. While answers are
awaited, the first one stops sending and waits up to GRACE_S for them; the second one does not wait."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import ClassVar

from groups.times import seconds_text

GRACE_S = 3.0
_BACKSTOP_S = 0.5  # After the grace period, waits end too that know no deadline, as librdkafka's
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
NOTHING_DONE = "nothing was changed"


class Stopped(KeyboardInterrupt):
    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def name_of_signal(number: int) -> str:
    return signal.Signals(number).name


def status_of_signal(number: int) -> int:
    """The exit status of a command that a signal has stopped, as a shell shows it."""
    return 128 + number


class Stop:
    """The signal that stopped a change, if there was one."""

    any_sent: ClassVar[bool] = False  # Whether a change was sent since the command began
    number: int | None = None
    is_over: bool = False  # Whether no answer is awaited any more: what was done is printed now

    @property
    def status(self) -> int | None:
        return None if self.number is None else status_of_signal(self.number)


@contextmanager
def stoppable() -> Iterator[None]:
    """Around a change: a signal ends the command, which says that nothing was changed if nothing was sent."""
    import typer

    from cli.output import notice

    Stop.any_sent = False
    try:
        with raising():
            yield
    except (Stopped, SystemError) as error:
        stopped = stop_in(error)
        notice(
            f"stopped by {name_of_signal(stopped.number)}" + ("" if Stop.any_sent else f": {NOTHING_DONE}")
        )
        raise typer.Exit(status_of_signal(stopped.number)) from None


def stop_in(error: BaseException) -> Stopped:
    """The stop that was raised, in a call of librdkafka as SystemError. Any other error is raised again."""
    stopped = error.__cause__ if isinstance(error, SystemError) else error
    if isinstance(stopped, Stopped):
        return stopped
    raise error


@contextmanager
def raising() -> Iterator[None]:

    def handle(number: int, _: FrameType | None) -> None:
        raise Stopped(number)

    with _handled(handle):
        yield


@contextmanager
def ignoring() -> Iterator[None]:
    """Ignore signals during something short that must not be left half done."""
    with _handled(lambda *_: None):
        yield


@contextmanager
def awaiting_answers(say: Callable[[str], None]) -> Iterator[Stop]:
    """During a change: the first signal ends waits within GRACE_S, and is said; the second one raises Stopped."""
    from wire.client.steps import Deadline

    stop, Stop.any_sent = Stop(), True

    def handle(number: int, _: FrameType | None) -> None:
        if stop.number is None:
            stop.number = number
            Deadline.stop_all(GRACE_S)
            signal.setitimer(signal.ITIMER_REAL, GRACE_S + _BACKSTOP_S)
            name = name_of_signal(number)
            with suppress(RuntimeError):  # the signal interrupted the printing of another line
                say(f"{name}: nothing more is sent; waiting up to {seconds_text(GRACE_S)} for the answer")
        elif not stop.is_over:
            stop.is_over = True
            raise Stopped(stop.number)

    with _handled(handle, alarm=True):
        try:
            yield stop
        finally:
            Deadline.stop_all(None)


class StopFlag:
    """Whether a signal has asked to stop."""

    is_set: bool = False

    def wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while not self.is_set and (left := end - time.monotonic()) > 0:
            time.sleep(min(left, 0.1))


@contextmanager
def finishing() -> Iterator[StopFlag]:
    """Around a service: the first signal ends its waits, and is noted; the second one does not wait."""
    from wire.client.steps import Deadline

    stop = StopFlag()

    def handle(number: int, _: FrameType | None) -> None:
        if stop.is_set:
            raise Stopped(number)
        stop.is_set = True
        Deadline.stop_all(0.0)

    with _handled(handle):
        try:
            yield stop
        finally:
            Deadline.stop_all(None)


@contextmanager
def _handled(handler: Callable[[int, FrameType | None], None], *, alarm: bool = False) -> Iterator[None]:
    """Handle signals, except those that the parent process ignores: a command after `nohup` continues."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, handler) for number in [*numbers, *[signal.SIGALRM] * alarm]}
    try:
        yield
    finally:
        if alarm:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, former in before.items():
            signal.signal(number, former)
