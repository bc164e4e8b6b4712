"""Sends what happened to a webhook and a command, in a thread: a receiver that hangs or fails delays only what is sent
after it. What was sent, or given up, is noted; the journal has the rest, and a restart sends it again."""

from __future__ import annotations

import shlex
import subprocess
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Event, Thread
from urllib.parse import urlsplit

from cli.errors import UsageError
from cli.posting import PostFailed, post
from cli.secret_files import header_of, reason
from groups.counts import counted

HOUR_S = 3_600
COMMAND_WITHIN_S = 60
MOST_WAITING = 1_000
RETRY_AFTER_S = (1, 5, 30, 120)


@dataclass(frozen=True, slots=True, kw_only=True)
class Receivers:
    """Where findings and storms go. `header` is a line `Name: value` in a file, read for every request."""

    webhook: str | None = None
    header: Path | None = None
    command: tuple[str, ...] = ()
    per_hour: int = 60

    @classmethod
    def of(cls, webhook: str | None, header: Path | None, command: str | None, per_hour: int) -> Receivers:
        """Raises UsageError: a value is invalid."""
        if webhook is not None:
            parts = urlsplit(webhook)
            if parts.scheme not in ("http", "https") or not parts.hostname:
                raise UsageError(f"--webhook {webhook}: write http://HOST/… or https://HOST/…")
        if header is not None:
            if webhook is None:
                raise UsageError("--webhook-header needs --webhook URL")
            try:
                header_of(header)
            except (OSError, ValueError) as error:
                raise UsageError(f"--webhook-header {header}: {reason(error)}") from None
        try:
            words = tuple(shlex.split(command or ""))
        except ValueError as error:
            raise UsageError(f"--on-finding {command}: {error}") from None
        return cls(webhook=webhook, header=header, command=words, per_hour=per_hour)

    def __bool__(self) -> bool:
        return self.webhook is not None or bool(self.command)


class Sender:
    """`send` never waits. `done` has the ids of posts that need no further attempt."""

    def __init__(self, receivers: Receivers, report: Callable[[str], object]) -> None:
        self._receivers, self._report = receivers, report
        self._waiting: Queue[tuple[int, str]] = Queue(MOST_WAITING)
        self._stopping = Event()
        self._sent_s: deque[float] = deque()
        self._left_out = 0
        self.done: deque[int] = deque()
        self._thread = Thread(target=self._run, name="posts", daemon=True)
        self._thread.start()

    def send(self, posts: Sequence[tuple[int, str]]) -> None:
        for number, document in posts:
            try:
                self._waiting.put_nowait((number, document))
            except Full:
                self._leave_out(number)

    def finish(self, within_s: float) -> None:
        """Wait for what is being sent; the rest stays in the journal."""
        self._stopping.set()
        self._thread.join(within_s)

    def _leave_out(self, number: int) -> None:
        self.done.append(number)
        self._left_out += 1

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                number, document = self._waiting.get(timeout=0.2)
            except Empty:
                continue
            now_s = time.monotonic()
            while self._sent_s and now_s - self._sent_s[0] > HOUR_S:
                self._sent_s.popleft()
            if len(self._sent_s) >= self._receivers.per_hour:
                if not self._left_out:
                    self._report(
                        f"more than {self._receivers.per_hour} findings within an hour: the others are in the "
                        "journal only (--per-hour)"
                    )
                self._leave_out(number)
                continue
            self._sent_s.append(now_s)
            if self._left_out:
                document = f'{document[:-1]}, "left_out": {self._left_out}}}'
            if self._deliver(document):
                self._left_out = 0
                self.done.append(number)

    def _deliver(self, document: str) -> bool:
        """Whether every receiver has it, or has refused it for good; False: Kohort stops first."""
        if self._receivers.command:
            self._execute(document)
        if self._receivers.webhook is None:
            return True
        problem = ""
        for pause_s in (*RETRY_AFTER_S, None):
            problem = self._post(document)
            if not problem:
                return True
            if pause_s is not None and self._stopping.wait(pause_s):
                return False
        attempts = counted(len(RETRY_AFTER_S) + 1, "attempt")
        self._report(f"--webhook: given up after {attempts}: {problem}")
        return True

    def _post(self, document: str) -> str:
        """Post a document; why it failed, empty if it did not."""
        receivers = self._receivers
        headers = {"Content-Type": "application/json"}
        try:
            if receivers.header is not None:
                headers |= [header_of(receivers.header)]
            post(receivers.webhook or "", document.encode(), headers)
            return ""
        except PostFailed as error:
            return f"{receivers.webhook}: {error}"
        except (OSError, ValueError) as error:
            return f"--webhook-header: {reason(error)}"

    def _execute(self, document: str) -> None:
        command = self._receivers.command
        try:
            done = subprocess.run(  # noqa: S603  (the operator names it)
                command,
                input=document.encode(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=COMMAND_WITHIN_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            self._report(f"--on-finding: {command[0]} was stopped after {COMMAND_WITHIN_S} s")
        except OSError as error:
            self._report(f"--on-finding: {command[0]}: {error.strerror or error}")
        else:
            if done.returncode:
                self._report(f"--on-finding: {command[0]} ended with status {done.returncode}")
