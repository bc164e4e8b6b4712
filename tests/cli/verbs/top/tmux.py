"""A shell in a real terminal: tmux keeps its screen, types into it, resizes it, and takes it away."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.verbs.completion.test_in_shells import REQUIRE
from tests.kafka.wait import wait_until

PROMPT = "ready> "
SHELL = "env TERM=screen-256color bash --norc --noprofile"


def find_tmux() -> str:
    """Its path; without it the test skips, or fails where shells are required."""
    if path := shutil.which("tmux"):
        return path
    reason = "tmux is not installed: `make shells` installs it"
    if os.environ.get(REQUIRE) == "1":
        pytest.fail(reason, pytrace=False)
    pytest.skip(f"{reason} ({REQUIRE}=1 makes that a failure)")


class Tmux:
    def __init__(self, program: str, socket: Path, env: Mapping[str, str]) -> None:
        self._command, self._env = (program, "-S", str(socket), "-f", "/dev/null"), env

    def ask(self, *words: str) -> str:
        done = subprocess.run(
            [*self._command, *words], env=self._env, capture_output=True, text=True, check=True, timeout=60
        )
        return done.stdout

    def type(self, text: str) -> None:
        """Characters as they are, all at once; `\\n` is Enter."""
        for line in text.splitlines(keepends=True):
            self.ask("send-keys", "-l", line.rstrip("\n"))
            if line.endswith("\n"):
                self.press("Enter")

    def press(self, *keys: str) -> None:
        """Keys by tmux's names: Escape, C-c."""
        self.ask("send-keys", *keys)

    @property
    def screen(self) -> str:
        return self.ask("capture-pane", "-p").rstrip()

    def wait_for(self, check: str | Callable[[str], object]) -> str:
        """The screen once something is true of it, or a text is on it."""
        holds = check if callable(check) else lambda screen: check in screen
        wait_until(lambda: holds(self.screen), lambda: f"{check}:\n{self.screen}")
        return self.screen

    def resize(self, columns: int, lines: int) -> None:
        self.ask("resize-window", "-x", str(columns), "-y", str(lines))

    def run(self, command: str) -> None:
        """Begin a command in the shell, on a screen with nothing else."""
        self.ask("clear-history")
        self.type(f"clear; {command}; echo status $?\n")

    def ended(self, status: int) -> str:
        """Until the shell reports the exit status; the screen. The modes of the terminal are those of before."""
        screen = self.wait_for(
            lambda screen: f"status {status}" in screen and screen.endswith(PROMPT.strip())
        )
        assert self.modes == "0 1 0 0"
        return screen

    @property
    def modes(self) -> str:
        """Whether another screen is shown, the cursor, and mouse and focus are reported."""
        return self.ask(
            "display",
            "-p",
            "#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{?#{==:#{mouse_sgr_flag},1},1,0}",
        ).strip()


@contextmanager
def terminal(directory: Path, env: Mapping[str, str], columns: int = 80, lines: int = 24) -> Iterator[Tmux]:
    """A shell at its prompt; ended with all that it started."""
    tmux = Tmux(find_tmux(), directory / "tmux", env)
    tmux.ask("new-session", "-d", "-x", str(columns), "-y", str(lines), SHELL)
    try:
        tmux.type(f"PS1='{PROMPT}'; clear\n")
        tmux.wait_for(lambda screen: screen == PROMPT.strip())
        yield tmux
    finally:
        subprocess.run([*tmux._command, "kill-server"], check=False, capture_output=True)
