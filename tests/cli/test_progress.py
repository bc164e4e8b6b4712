"""Progress: on a terminal that shows no data, and nowhere else."""

from __future__ import annotations

import io
import os
import pty
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO

import pytest

from cli.progress import Progress


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


def _work(total: int = 200) -> None:
    with Progress("reading", total) as progress:
        for done in range(0, total + 1, 100):
            progress.at(done)


def test_a_line_that_replaces_itself_and_goes(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal.stream)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    _work()
    clear = "\r\x1b[K"
    steps = "".join(f"{clear}kohort: reading: {percent} %" for percent in (0, 50, 100))
    assert terminal.shown() == steps + clear


def test_nothing_among_data_on_a_terminal(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal.stream)
    monkeypatch.setattr(sys, "stdout", terminal.stream)
    _work()
    assert terminal.shown() == ""


def test_nothing_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    _work()
    assert stderr.getvalue() == ""


def test_nothing_to_do(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal.stream)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    _work(total=0)
    assert terminal.shown() == ""


def test_closed_streams(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a daemon: Python has None there, and the work goes on."""
    for closed in (["stderr"], ["stdout"], ["stderr", "stdout"]):
        streams = {"stderr": terminal.stream, "stdout": io.StringIO(), **dict.fromkeys(closed)}
        for name, stream in streams.items():
            monkeypatch.setattr(sys, name, stream)
        _work()
        assert ("reading" in terminal.shown()) == ("stderr" not in closed)


def test_it_is_said_seldom(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cli.progress.PERIOD_S", 3600.0)
    monkeypatch.setattr(sys, "stderr", terminal.stream)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    _work()
    assert terminal.shown() == ""
