"""A real shell under a pseudo-terminal: keys go in, and a terminal's screen is read."""

import codecs
import fcntl
import os
import pty
import select
import shlex
import shutil
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pyte
from pyte.screens import Char

from tests.support import forked
from tests.support.long import IS_LONG

ROOT = Path(__file__).parents[3]
SCRIPTS = {
    "bash": ROOT / "completions" / "kohort.bash",
    "zsh": ROOT / "completions" / "_kohort",
    "fish": ROOT / "completions" / "kohort.fish",
}
COLUMNS, LINES = 180, 60
PROMPT = "ready>"
TAB, START_OF_LINE, KILL_LINE, CLEAR_SCREEN = "\t", "\x01", "\x15", "\x0c"
PATIENCE_S = 60.0

SETTINGS = {
    "bash": (
        "PS1='ready> '\n"
        "bind 'set show-all-if-ambiguous on'; bind 'set bell-style none'; bind 'set page-completions off'\n"
        "bind 'set completion-query-items 0'; bind 'set enable-bracketed-paste off'\n"
        "source {script}\n"
    ),
    "zsh": (
        "PS1='ready> '; PROMPT_SP=; unsetopt prompt_sp beep; LISTMAX=1000; bindkey -e\n"
        "autoload -Uz compinit; compinit -u -D\n"
        "source {script}\n"
    ),
    "fish": (
        "function fish_prompt; echo 'ready> '; end\n"
        "function fish_greeting; end\n"
        "set -g fish_autosuggestion_enabled 0; set -g fish_color_command normal\n"
        "source {script}\n"
    ),
}

SHOW_ARGUMENTS = """#!/bin/sh
printf '%s\\0' "$@" > {file}
echo arguments noted
"""


def _take_terminal() -> None:
    """Let job control work: the terminal belongs to the shell's session."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _text(line: Mapping[int, Char]) -> str:
    """A line of cells; behind a wide character stands an empty one."""
    return "".join(line[column].data for column in range(max(line, default=-1) + 1)).rstrip()


class Terminal:
    """An interactive shell. What it prints on stdout, stderr and its terminal is all on the screen."""

    def __init__(self, shell: str, home: Path, variables: Mapping[str, str]) -> None:
        """Start it; `home` is its home directory, and `variables` come on top of a bare environment."""
        self.shell = shell
        self._noted = home / "arguments"
        self._screen = pyte.Screen(COLUMNS, LINES)
        self._stream = pyte.Stream(self._screen)
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
        self._controller, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self._process = subprocess.Popen(
            self._command(home), stdin=terminal, stdout=terminal, stderr=terminal, cwd=home,
            env={**self._environment(home), **variables}, start_new_session=True,
            preexec_fn=_take_terminal,  # noqa: PLW1509  (no threads are at work)
        )  # fmt: skip
        os.close(terminal)
        self.wait(lambda shown: shown.endswith(PROMPT), "the prompt")

    def _command(self, home: Path) -> list[str]:
        program = shutil.which(self.shell)
        assert program is not None
        settings = SETTINGS[self.shell].format(script=shlex.quote(str(SCRIPTS[self.shell])))
        show = home / "bin" / "show-arguments"
        show.parent.mkdir(parents=True)
        show.write_text(SHOW_ARGUMENTS.format(file=shlex.quote(str(self._noted))))
        show.chmod(0o755)
        if not IS_LONG:
            # Each Tab starts `kohort`, which costs more than its answer; a long run starts the installed script.
            forked.script(home / "bin", self._environment(home))
        if self.shell == "bash":
            (home / "settings").write_text(settings)
            return [program, "--noprofile", "--rcfile", str(home / "settings"), "-i"]
        if self.shell == "zsh":
            (home / ".zshrc").write_text(settings)
            return [program, "-d", "-i"]
        (home / "settings").write_text(settings)
        return [program, "--no-config", "--init-command", f"source {home / 'settings'}", "--interactive"]

    @staticmethod
    def _environment(home: Path) -> dict[str, str]:
        programs = (home / "bin", Path(sys.executable).parent, "/usr/bin", "/bin")
        return {
            "HOME": str(home), "ZDOTDIR": str(home), "PATH": ":".join(map(str, programs)), "TERM": "linux",
            "LC_ALL": "C.UTF-8", "XDG_CACHE_HOME": str(home / "cache"), "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_DATA_HOME": str(home / "data"),
        }  # fmt: skip

    def type(self, keys: str) -> None:
        os.write(self._controller, keys.encode())

    def screen(self) -> str:
        while select.select([self._controller], [], [], 0)[0]:
            try:
                said = os.read(self._controller, 65536)
            except OSError:  # Linux closes a terminal without other users with EIO
                said = b""
            if not said:
                raise AssertionError(f"{self.shell} has ended:\n{self.shown()}")
            self._stream.feed(self._decode(said))
            if b"\x1b[c" in said or b"\x1b[0c" in said:  # newer shells ask what kind of terminal this is
                self.type("\x1b[?6c")
        return self.shown()

    def shown(self) -> str:
        # Not pyte's `display`: it takes most of a test to look at each cell that nothing was ever written to.
        lines = [_text(self._screen.buffer[number]) for number in range(LINES)]
        return "\n".join(lines).rstrip()

    def wait(self, check: Callable[[str], bool], what: str) -> str:
        deadline = time.monotonic() + PATIENCE_S
        while not check(shown := self.screen()):
            if time.monotonic() > deadline:
                raise AssertionError(f"{self.shell} never showed {what}:\n{shown}")
            select.select([self._controller], [], [], 0.05)
        return shown

    def clear(self) -> None:
        self.type(KILL_LINE + CLEAR_SCREEN)
        self.wait(lambda shown: shown == PROMPT, "nothing but the prompt")

    def set_variable(self, name: str, value: str | None) -> None:
        """Give the commands that the shell starts a variable; None: take it away."""
        if self.shell == "fish":
            words = f"set -e {name}" if value is None else f"set -gx {name} {shlex.quote(value)}"
        else:
            words = f"unset {name}" if value is None else f"export {name}={shlex.quote(value)}"
        self.clear()
        self.type(f"{words}; echo variable noted\r")
        self.wait(lambda shown: "\nvariable noted" in shown, f"the end of {words!r}")

    def offered(self, line: str, *expected: str) -> str:
        """The screen when Tab behind a line has brought up all that is expected."""
        self.clear()
        self.type(line + TAB)
        return self.wait(lambda shown: all(text in shown for text in expected), f"{expected} after {line!r}")

    def completed(self, line: str) -> list[str]:
        """The arguments of the command that a line is after Tab, as the shell hands them on."""
        self.clear()
        self._noted.unlink(missing_ok=True)
        self.type(f"{line}{TAB}{START_OF_LINE}show-arguments \r")
        self.wait(lambda shown: "arguments noted" in shown, f"the arguments of {line!r}")
        return self._noted.read_text(encoding="utf-8").split("\0")[:-1]

    def unchanged(self, line: str) -> None:
        """Check that Tab behind a line does nothing at all: no word more, and no message."""
        self.clear()
        self.type(f"{line}{TAB}@@")
        shown = self.wait(lambda shown: "@@" in shown, f"what is typed after Tab behind {line!r}")
        assert shown.split() == f"{PROMPT} {line}@@".split(), shown

    def close(self) -> None:
        """End the shell and what it started: its terminal goes, which it also notices where hangups are ignored."""
        os.close(self._controller)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
