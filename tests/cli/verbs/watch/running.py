"""A long-running `kohort` in a separate process, in a pipe or on a terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any, Self

from tests.cli.command import Kohort, Word, words
from tests.kafka.wait import wait_until
from tests.support.forked import Process
from tests.support.terminals import read_to_end, resize

ENTER, LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
_STEERING = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class Running:
    """A process that writes to files or a terminal, and what it has written so far."""

    def __init__(
        self, process: Process | subprocess.Popen[bytes], output: Callable[[], str], errors: Path
    ) -> None:
        self.process, self._output, self._errors = process, output, errors

    @property
    def stdout(self) -> str:
        return self._output()

    @property
    def stderr(self) -> str:
        return self._errors.read_text()

    @property
    def documents(self) -> list[dict[str, Any]]:
        """The whole lines so far, as documents."""
        return [json.loads(line) for line in self.stdout.splitlines(keepends=True) if line.endswith("\n")]

    def wait_for(self, check: Callable[[Self], object], what: str) -> None:
        """Until something is true of it; it must not end meanwhile."""

        def holds() -> bool:
            assert self.process.poll() is None, (self.process.returncode, self.stdout[-2000:], self.stderr)
            return bool(check(self))

        wait_until(holds, lambda: f"{what}: {self.stdout[-2000:]}\n{self.stderr}")

    def wait_document(self, check: Callable[[dict[str, Any]], object], what: str) -> dict[str, Any]:
        """The first document of which something is true."""
        self.wait_for(lambda run: any(map(check, run.documents)), what)
        return next(filter(check, self.documents))

    def interrupt(self, number: int = signal.SIGINT) -> int:
        """Ctrl-C, and the exit status."""
        self.process.send_signal(number)
        return self.process.wait(120)


@contextmanager
def in_pipe(kohort: Kohort, directory: Path, *arguments: Word, name: str = "watch") -> Iterator[Running]:
    """Run it with files for stdout and stderr; ended after the block at the latest."""
    out, errors = directory / f"{name}.out", directory / f"{name}.err"
    with out.open("wb") as stdout, errors.open("wb") as stderr:
        process = Process(
            [kohort.executable, *words(*arguments)], stdout=stdout, stderr=stderr, env=kohort.env
        )
    yield from _running(process, Running(process, out.read_text, errors))


@contextmanager
def on_terminal(
    kohort: Kohort,
    directory: Path,
    *arguments: str | Path,
    columns: int = 80,
    lines: int = 24,
    term: str = "xterm",
    program: str | None = None,
    is_whole: bool = False,
) -> Iterator[Terminal]:
    """Run it on a terminal of that size; ended after the block at the latest. `is_whole`: stderr is it too."""
    controller, terminal = pty.openpty()
    resize(controller, columns, lines)
    errors = directory / "terminal.err"
    with errors.open("wb") as stderr:
        # A separate process group, in a session that has others: it can be stopped as by Ctrl-Z.
        process = subprocess.Popen(
            [program or kohort.executable, *words(*arguments)],
            stdin=terminal, stdout=terminal, stderr=terminal if is_whole else stderr,
            env={**kohort.env, "TERM": term}, process_group=0,
        )  # fmt: skip
    os.close(terminal)
    said: list[bytes] = []
    reader = Thread(target=read_to_end, args=(controller, said.append), daemon=True)
    reader.start()
    try:
        shown = Terminal(process, lambda: b"".join(said).decode(errors="replace"), errors)
        shown.controller = controller
        shown.reader = reader
        yield from _running(process, shown)
    finally:
        reader.join(30)
        os.close(controller)


class Terminal(Running):
    """On a terminal."""

    controller: int
    reader: Thread

    def interrupt(self, number: int = signal.SIGINT) -> int:
        status = super().interrupt(number)
        self.reader.join(30)  # What it said last may be read after its end.
        return status

    @property
    def frames(self) -> list[list[str]]:
        """What was drawn, picture by picture, without colors and marks; the last one may be incomplete."""
        inside = self.stdout.rpartition(ENTER)[2].partition(LEAVE)[0]
        return [
            [line.rstrip() for line in _STEERING.sub("", picture).split("\r\n")]
            for picture in inside.split("\x1b[H")[1:]
            if picture.strip() not in ("", "\x1b[2J")
        ]

    @property
    def left_behind(self) -> list[str]:
        """What stays on the terminal when the command has ended."""
        self.reader.join(30)
        return [line.rstrip() for line in self.stdout.rpartition(LEAVE)[2].split("\r\n")]


def _running(process: Process | subprocess.Popen[bytes], running: Any) -> Iterator[Any]:
    try:
        yield running
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(120)


def observations(documents: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those of a stream that reached the groups."""
    return [document for document in documents if document["kind"] == "observation" and document["groups"]]


def happened(documents: Sequence[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """The events of a kind in a stream."""
    return [document for document in documents if document["kind"] == "event" and document["event"] == kind]
