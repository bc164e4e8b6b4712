"""Signals that children handle, however the tests were started."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.kafka.wait import wait_until

INTERRUPTS = (signal.SIGINT, signal.SIGHUP)


@contextmanager
def handled_interrupts() -> Iterator[None]:
    """Start programs that handle Ctrl-C and a hangup. A shell without job control begins what it puts in the background
    with SIGINT ignored, and nohup with SIGHUP; a program passes that on to its children, which rightly continue. A
    handler is not passed on."""
    before = {number: signal.getsignal(number) for number in INTERRUPTS}
    ignored = [number for number, handler in before.items() if handler is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else _passed)
    try:
        yield
    finally:
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)


def _passed(*_: object) -> None:
    """Ignore a signal, in a way that children do not inherit."""


def wait_until_asleep(pid: int) -> None:
    """Return when the main thread of a process sleeps: it has begun to wait for something."""
    where = Path(f"/proc/{pid}/wchan")
    wait_until(lambda: where.read_text() == "hrtimer_nanosleep", f"process {pid} sleeps")


def freeze(pid: int) -> None:
    """Stop a process in its tracks: its connections stay open, and nothing is answered. SIGCONT lets it continue. A
    stop begins when the thread that takes the signal is scheduled, and on a busy machine the others run until then."""
    os.kill(pid, signal.SIGSTOP)
    wait_until(
        lambda: all(_stopped(task) for task in Path(f"/proc/{pid}/task").iterdir()), f"{pid} is stopped"
    )


def _stopped(task: Path) -> bool:
    try:
        return (task / "stat").read_text().rpartition(")")[2].split()[0] == "T"
    except (FileNotFoundError, ProcessLookupError):  # The thread has ended meanwhile.
        return True
