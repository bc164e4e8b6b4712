"""A command on a terminal: what it shows there, and answers to what it asks."""

import fcntl
import io
import os
import pty
import struct
import subprocess
import termios
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

TIMEOUT_S = 150
PROMPTS = (b"to continue: ", b"(not shown): ")  # the ends of what Kohort asks


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """How a command ended; `stdout` is what it printed where that went into a pipe, and not to the terminal."""

    status: int
    stdout: str
    terminal: str


class TerminalText(io.StringIO):
    """A text that passes for a terminal; COLUMNS is its width."""

    def isatty(self) -> bool:
        return True


def resize(terminal: int, columns: int, lines: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


def read_to_end(controller: int, show: Callable[[bytes], object]) -> None:
    """Hand on what a terminal shows until no process has it open any more."""
    try:
        while chunk := os.read(controller, 65536):
            show(chunk)
    except OSError:  # Linux ends a terminal that no process holds any more with EIO.
        pass


def on_terminal(
    command: Sequence[str | bytes | Path],
    env: Mapping[str, str],
    *,
    columns: int = 400,
    answers: Sequence[str] = (),
    typed: str = "",
    meanwhile: Callable[[], object] = lambda: None,
    stdout: int | None = None,
    stderr: int | None = None,
) -> Shown:
    """Run it on a terminal, by default so wide that no message is folded; each question gets the next answer, before
    which `meanwhile` is called. `typed` is there before the command starts. `stdout` and `stderr` go elsewhere where
    they are given, as with Popen."""
    controller, terminal = pty.openpty()
    resize(terminal, columns, 24)
    os.write(controller, typed.encode())
    said, left = bytearray(), list(answers)

    def show(chunk: bytes) -> None:
        said.extend(chunk)
        if said.endswith(PROMPTS) and left:
            meanwhile()
            os.write(controller, left.pop(0).encode())

    with subprocess.Popen(
        command,
        stdin=terminal,
        stdout=stdout or terminal,
        stderr=stderr or terminal,
        env={"TERM": "xterm", **env},
    ) as process:
        os.close(terminal)
        read_to_end(controller, show)
        os.close(controller)
        printed = process.stdout.read().decode() if process.stdout else ""
        status = process.wait(TIMEOUT_S)
    return Shown(status=status, stdout=printed, terminal=said.decode().replace("\r\n", "\n"))
