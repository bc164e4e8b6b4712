"""Progress: on a terminal that shows no data, and nowhere else."""

from __future__ import annotations

import io
import os
import pty
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO
from unittest.mock import patch

import pytest

from cli.progress import Progress

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
    """Give a real one."""
    other_end, end = pty.openpty()
    with os.fdopen(end, "w") as stream:
        yield Terminal(stream=stream, other_end=other_end)
    os.close(other_end)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show every step."""
    monkeypatch.setattr("cli.progress.PERIOD_S", 0.0)


def _work(stderr: TextIO | None, stdout: TextIO | None = NO_TERMINAL, total: int = 200) -> None:
    with patch.multiple(sys, stderr=stderr, stdout=stdout), Progress("reading", total) as progress:
        for done in range(0, total + 1, 100):
            progress.at(done)


def test_a_line_that_replaces_itself_and_goes(terminal: Terminal) -> None:
    _work(terminal.stream)
    clear = "\r\x1b[K"
    steps = "".join(f"{clear}kohort: reading: {percent} %" for percent in (0, 50, 100))
    assert terminal.shown() == steps + clear


def test_nothing_among_data_on_a_terminal(terminal: Terminal) -> None:
    _work(terminal.stream, stdout=terminal.stream)
    assert terminal.shown() == ""


def test_nothing_without_a_terminal() -> None:
    stderr = io.StringIO()
    _work(stderr)
    assert stderr.getvalue() == ""


def test_nothing_to_do(terminal: Terminal) -> None:
    _work(terminal.stream, total=0)
    assert terminal.shown() == ""


def test_closed_streams(terminal: Terminal) -> None:
    """As in a daemon: Python has None there, and the work goes on."""
    _work(None)
    _work(None, stdout=None)
    assert terminal.shown() == ""
    _work(terminal.stream, stdout=None)
    assert "reading" in terminal.shown()


def test_it_is_said_seldom(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cli.progress.PERIOD_S", 3600.0)
    _work(terminal.stream)
    assert terminal.shown() == ""
