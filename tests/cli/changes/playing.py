"""Commands inside this process, with standard streams that fail and signals that come."""

import io
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from cli.app import run_command
from cli.dropin.main import main as run_dropin
from tests.cli.command import Word, words

FULL = Path("/dev/full")


class _Raw(io.RawIOBase):
    """A pipe whose reader leaves before a write with this number, or a device on which there is no room."""

    def __init__(self, closing_at: int | None, device: Path | None) -> None:
        self._closing_at = closing_at
        self.reader, self.writer = os.pipe() if device is None else (-1, os.open(device, os.O_WRONLY))
        self.writes, self.read_so_far = 0, bytearray()

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self.writer

    def write(self, data: object, /) -> int:
        if self.writes == self._closing_at:
            self.leave()
        self.writes += 1
        return os.write(self.writer, bytes(data))  # type: ignore[call-overload]

    def leave(self) -> None:
        if self.reader >= 0:
            os.set_blocking(self.reader, False)
            with suppress(BlockingIOError):
                while octets := os.read(self.reader, 65536):
                    self.read_so_far += octets
            os.close(self.reader)
            self.reader = -1

    def release(self) -> None:
        self.leave()
        os.close(self.writer)


class Stream(io.TextIOWrapper):
    """A standard stream; `said` is what could be written to it."""

    def __init__(
        self, *, closing_at: int | None = None, device: Path | None = None, lines: bool = False
    ) -> None:
        self.raw_end = _Raw(closing_at, device)
        super().__init__(io.BufferedWriter(self.raw_end), "utf-8", line_buffering=lines)

    @property
    def writes(self) -> int:
        return self.raw_end.writes

    @property
    def said(self) -> str:
        return self.raw_end.read_so_far.decode()

    def end(self) -> None:
        with suppress(OSError):
            self.flush()
        self.detach()
        self.raw_end.release()


@dataclass(frozen=True, kw_only=True)
class Played:
    """How a command ended, and what could be read of what it said."""

    status: int
    stdout: str
    stderr: str
    writes: tuple[int, int]
    """How often it wrote to each."""


def play(
    *args: Word, stdout: Stream | None = None, stderr: Stream | None = None, program: str = "kohort"
) -> Played:
    """Run a command; Ctrl-C is not ignored, whatever the one before it left, and a hangup as little."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    out, err = stdout or Stream(), stderr or Stream(lines=True)
    run: Callable[[], object] = run_command if program == "kohort" else run_dropin
    status: object = None
    with patch.object(sys, "argv", [program, *map(os.fsdecode, words(*args))]):
        try:
            with redirect_stdout(out), redirect_stderr(err):
                run()
        except SystemExit as end:
            status = end.code
    for stream in (out, err):
        stream.end()
    assert isinstance(status, int), status
    return Played(status=int(status), stdout=out.said, stderr=err.said, writes=(out.writes, err.writes))


def interrupt(number: signal.Signals) -> None:
    signal.pthread_kill(threading.main_thread().ident or 0, number)
