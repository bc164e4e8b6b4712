"""Progress: on a terminal that shows no data, and nowhere else."""

import io
import os
import pty
import re
import select
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO
from unittest.mock import patch

import pytest

from cli.output import notice
from cli.progress import Progress, Spinner, cleared, show_step
from tests.kafka.wait import wait_until

NO_TERMINAL = io.StringIO()


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminal:
    """A terminal, and what was written to it."""

    stream: TextIO
    other_end: int

    def shown(self) -> str:
        self.stream.write("$")  # a terminal has no end
        self.stream.flush()
        shown = b""
        while not shown.endswith(b"$"):
            shown += os.read(self.other_end, 10_000)
        return shown.decode().removesuffix("$")


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    other_end, end = pty.openpty()
    with os.fdopen(end, "w") as stream:
        yield Terminal(stream=stream, other_end=other_end)
    os.close(other_end)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cli.progress.PERIOD_S", 0.0)
    monkeypatch.setattr("cli.progress.AFTER_S", 0.0)
    monkeypatch.setenv("TERM", "xterm")


def _work(stderr: TextIO | None, stdout: TextIO | None = NO_TERMINAL, total: int = 200) -> None:
    with patch.multiple(sys, stderr=stderr, stdout=stdout), Progress("reading", total) as progress:
        for done in range(0, total + 1, 100):
            progress.at(done)


def test_a_line_that_replaces_itself_and_goes(terminal: Terminal) -> None:
    _work(terminal.stream)
    clear = "\r\x1b[K"
    steps = "".join(f"{clear}kohort: reading: {percent} %" for percent in (0, 50, 100))
    assert terminal.shown() == steps + clear


def test_progress_is_not_always_shown(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    piped = io.StringIO()
    _work(terminal.stream, stdout=terminal.stream)
    _work(piped)
    _work(terminal.stream, total=0)
    _work(None)
    _work(None, stdout=None)
    monkeypatch.setattr("cli.progress.PERIOD_S", 3600.0)
    _work(terminal.stream)
    assert (terminal.shown(), piped.getvalue()) == ("", "")


def test_stdout_may_be_closed(terminal: Terminal) -> None:
    _work(terminal.stream, stdout=None)
    assert "reading" in terminal.shown()


def test_a_spinner_turns_and_goes(terminal: Terminal) -> None:
    seen = ""

    def wait_for(pattern: str) -> None:
        """Wait until this is shown, after what was waited for before."""
        nonlocal seen

        def shows() -> bool:
            nonlocal seen
            while select.select([terminal.other_end], [], [], 0)[0]:
                seen += os.read(terminal.other_end, 10_000).decode()
            return re.search(pattern, seen) is not None

        wait_until(shows, pattern)
        seen = seen[re.search(pattern, seen).end() :]  # type: ignore[union-attr]

    with patch.object(sys, "stderr", terminal.stream):
        with Spinner("reading groups"):
            wait_for(r"^\r\x1b\[K\| kohort: reading groups \(\d+ m?s\)")
            show_step("planning group 1 of 2")
            wait_for(r"\r\x1b\[K[-|/\\] kohort: planning group 1 of 2 \(\d+ m?s\)")
            with Progress("reading", 2, before_data=True) as progress:
                wait_for(r"\r\x1b\[K$")
                progress.at(1)
                wait_for(r"^\r\x1b\[Kkohort: reading: 50 %$")
            wait_for(r"^\r\x1b\[K")
            wait_for("kohort: planning")
            with cleared():
                wait_for(r"\r\x1b\[K$")
                notice("a notice")
                wait_for(r"^kohort: a notice\r\n$")
            wait_for("kohort: planning")
        wait_for(r"\r\x1b\[K$")


def test_a_long_line_keeps_its_end(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    with (
        patch.multiple(sys, stderr=terminal.stream, stdout=NO_TERMINAL),
        Progress("reading\x1b" * 9, 2) as progress,
    ):
        progress.at(1)
    (drawn, after) = terminal.shown().split("\r\x1b[K")[1:]
    assert drawn.startswith("kohort: reading\\x1b…")
    assert (drawn[-6:], len(drawn), after) == (": 50 %", 39, "")


@pytest.mark.parametrize("term", ["xterm", "dumb"])
def test_no_spinner_in_a_pipe(terminal: Terminal, monkeypatch: pytest.MonkeyPatch, term: str) -> None:
    monkeypatch.setenv("TERM", term)
    stderr = io.StringIO() if term == "xterm" else terminal.stream
    with patch.object(sys, "stderr", stderr), Spinner("reading groups"):
        threads = [thread.name for thread in threading.enumerate() if "_turn" in thread.name]
    assert (threads, terminal.shown()) == ([], "")
