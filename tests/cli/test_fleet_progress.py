"""How far a run on Spark has come: on a terminal, and nowhere else."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable

import pytest

from cli.verbs.fleet.spark import FleetProgress
from pipeline.history import HistoryProgress, HistoryStep


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def told(progress: FleetProgress) -> None:
    with progress:
        for step in HistoryStep:
            progress.history(HistoryProgress(step=step, done=1, total=4, records=12_345))
            progress._bar and progress._bar.refresh()
        progress.audit(3, 0)
        progress._bar and progress._bar.refresh()


@pytest.mark.parametrize(("make", "quiet"), [(io.StringIO, False), (Terminal, True)], ids=["pipe", "quiet"])
def test_nothing_is_shown(
    monkeypatch: pytest.MonkeyPatch, make: Callable[[], io.StringIO], quiet: bool
) -> None:
    stream = make()
    monkeypatch.setattr(sys, "stderr", stream)
    told(FleetProgress(quiet=quiet))
    assert stream.getvalue() == ""


def test_a_terminal_sees_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sys, "stderr", stream)
    told(FleetProgress())
    shown = stream.getvalue()
    for words in (
        "starting Spark",
        "decoding records",
        "finding rebalances",
        "12,345 records",
        "judging groups",
    ):
        assert words in shown
    # Every step has words of its own.
    assert not any(f"kohort: {step.value} " in shown for step in HistoryStep)
    assert shown.endswith("\x1b[2K")
