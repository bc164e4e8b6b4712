"""Pushes the newest metrics in a thread: a receiver that fails or hangs delays and stops nothing."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import Event, Thread

from cli.errors import fault
from cli.otlp.message import PushedMetric, messages_of
from cli.otlp.receiver import PushFailed, Receiver
from groups.counts import counted


@dataclass(slots=True)
class PushCounts:
    pushes: int = 0
    failures: int = 0


class Pusher:
    def __init__(
        self,
        receiver: Receiver,
        metrics: Callable[[], Iterable[PushedMetric]],
        report: Callable[[str], object],
        counts: PushCounts | None = None,
    ) -> None:
        """`metrics` gives the newest ones, in the thread of pushes; `report` is called when failures begin and end."""
        self._receiver, self._metrics, self._report = receiver, metrics, report
        self.counts = counts or PushCounts()
        self._started_ns = time.time_ns()
        self._failed_since = 0  # Failures since the last push that was delivered
        self._due, self._stopping = Event(), Event()
        self._thread: Thread | None = None

    def push(self) -> None:
        """Push soon; while a push is under way, the next one begins after it. Never waits."""
        if self._thread is None:
            self._thread = Thread(target=self._run, name="otlp", daemon=True)
            self._thread.start()
        self._due.set()

    def push_now(self) -> bool:
        """Whether the receiver took everything."""
        self.counts.pushes += 1
        try:
            for message in messages_of(self._metrics(), self._started_ns, time.time_ns()):
                if self._stopping.is_set():
                    break
                self._receiver.post(message)
        except PushFailed as error:
            self._fail(str(error))
            return False
        if self._failed_since:
            failures = counted(self._failed_since, "failure")
            self._report(f"--otlp {self._receiver.name}: metrics are pushed again, after {failures}")
            self._failed_since = 0
        return True

    def _fail(self, why: str) -> None:
        self.counts.failures += 1
        self._failed_since += 1
        if self._failed_since == 1:
            more = "" if self._thread is None else ". The next push tries again"
            self._report(f"--otlp {self._receiver.name}: {why}{more}")

    def finish(self, within_s: float = 3.0) -> None:
        """Wait a little for a push that is under way."""
        self._stopping.set()
        self._due.set()
        if self._thread is not None:
            self._thread.join(within_s)

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._due.wait()
            self._due.clear()
            try:
                if not self._stopping.is_set():
                    self.push_now()
            except Exception as error:
                self._fail(f"this is {fault(error, '--debug')}")
