"""Commands in separate processes, on a terminal as wide as the screen, because on one they fit what they print. A
change shows its preview there, asks, and gets the answer that was typed: so it makes what it has shown, or nothing."""

import asyncio
import fcntl
import os
import pty
import re
import struct
import termios
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable
from contextlib import suppress

from cli.verbs.top.words import KOHORT, KohortCommand

MOST_OUTPUT = 2 * 1024 * 1024  # What is kept of more than twice as much
CUT = b"\n(the middle is left out: run the command in a shell)\n"
PAUSE = 20  # Between two updates of a growing output, as a multiple of the time that one takes
QUESTION = re.compile(r"^(?:Type (yes)|(\S+) is protected\. Type its name) to continue: \Z", re.MULTILINE)
"""The end of what a command prints before it waits for consent (`cli.consent.ask`)."""
HEIGHT = 1000  # Lines of the terminal
LONGEST = 400  # Bytes of a question


class Running:
    """A command. `show` gets all that it has printed so far; `awaited` is the answer that it waits for."""

    def __init__(self, command: KohortCommand, width: int, show: Callable[[str], None]) -> None:
        self.command, self._width, self._show = command, width, show
        self._printed = bytearray()
        self._terminal: int | None = None
        self._process: Process | None = None
        self._next_s = 0.0  # When it is shown again: a long output takes its time

    @property
    def text(self) -> str:
        return _text(self._printed)

    @property
    def awaited(self) -> str | None:
        """The answer that it waits for: yes, or the name of a protected context; None if it does not ask."""
        question = QUESTION.search(_text(self._printed[-LONGEST:])) if self._terminal is not None else None
        return question and (question[1] or question[2])

    async def run(self, *, can_answer: bool = False) -> int:
        """The exit status. One that is left while it asks is ended, and has changed nothing."""
        self._terminal, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, self._width, 0, 0))
        stdin = inside if can_answer else DEVNULL
        try:
            process = await _started(self.command, self._width, stdin=stdin, stdout=inside, stderr=inside)
            self._process = process
        finally:
            os.close(inside)
        loop = asyncio.get_running_loop()
        ended = loop.create_future()
        loop.add_reader(self._terminal, self._read, self._terminal, ended)
        try:
            await ended
            return await process.wait()
        except asyncio.CancelledError:
            _end(process)
            raise
        finally:
            loop.remove_reader(self._terminal)
            os.close(self._terminal)
            self._terminal = None

    def answer(self, text: str) -> None:
        """Type an answer. ValueError: it is not the one that the command waits for."""
        if self._terminal is None or text != self.awaited:
            raise ValueError("the command does not wait for this answer")
        os.write(self._terminal, f"{text}\n".encode())

    def interrupt(self) -> None:
        """A change stops, and says what was made; the second time it does not wait for answers."""
        if self._process is not None:
            _end(self._process)

    def _read(self, terminal: int, ended: "asyncio.Future[None]") -> None:
        try:
            more = os.read(terminal, 65536)
        except OSError:  # Linux reports the end of a terminal as an error
            more = b""
        if more:
            self._printed += more
            if len(self._printed) > 2 * MOST_OUTPUT:
                self._printed = _shortened(self._printed)
            began_s = time.monotonic()
            if self.awaited is not None or began_s >= self._next_s:
                self._show(self.text)
                self._next_s = began_s + PAUSE * (time.monotonic() - began_s)
        elif not ended.done():
            ended.set_result(None)


def _text(printed: bytearray) -> str:
    return printed.decode(errors="replace").replace("\r\n", "\n")


def _shortened(output: bytearray) -> bytearray:
    """Without its middle: a question is at its end."""
    half = MOST_OUTPUT // 2
    return bytearray(output[:half] + CUT + output[-half:].partition(b"\n")[2])


async def output_of(command: KohortCommand) -> tuple[int, str, str]:
    """The exit status of a command that prints data, the data, and its notices."""
    process = await _started(command, 0, stdin=DEVNULL, stdout=PIPE, stderr=PIPE)
    try:
        output, notices = await process.communicate()
    except asyncio.CancelledError:
        _end(process)
        raise
    return process.returncode or 0, output.decode(errors="replace"), notices.decode(errors="replace")


async def _started(command: KohortCommand, width: int, *, stdin: int, stdout: int, stderr: int) -> Process:
    """In a separate session: what is typed on the screen is no signal to it. In color, as a table whatever is usual,
    and without a line of progress, which would replace itself."""
    variables = {
        "KOHORT_COLOR": "always",
        "KOHORT_OUTPUT": "table",
        "TERM": "dumb",
        "COLUMNS": str(width or 80),
    }
    return await asyncio.create_subprocess_exec(
        *KOHORT,
        *command.words,
        env={**os.environ, **variables},
        start_new_session=True,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
    )


def _end(process: Process) -> None:
    with suppress(ProcessLookupError):
        process.terminate()
