"""The installed command `kohort`, as a separate process or, for many answers, in this one."""

import csv
import io
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Self
from unittest.mock import patch

import typer.main

from cli.app import app, run_command
from tests.cli.schemas import faults
from tests.support.forked import run
from tests.support.terminals import TerminalText

TIMEOUT_S = 150.0
INTERNAL = ("Traceback", "an internal error of Kohort")
Word = str | bytes | Path


@cache
def commands() -> Mapping[str, Any]:
    return dict(_commands_of(typer.main.get_command(app), ""))


def _commands_of(group: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    for name, command in sorted(group.commands.items()):
        inner = hasattr(command, "commands")
        yield from _commands_of(command, f"{prefix}{name} ") if inner else [(f"{prefix}{name}", command)]


def command_names() -> list[str]:
    return sorted(commands())


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a command said, and its exit status."""

    status: int
    stdout: str
    stderr: str

    @cached_property
    def document(self) -> dict[str, Any]:
        """The answer to `--output json`; it fits the schema of its command."""
        document: dict[str, Any] = json.loads(self.stdout)
        assert faults(document) == []
        return document

    @property
    def rows(self) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.stdout)))

    @property
    def traceback(self) -> bool:
        """Whether it failed by an error that is not written for users; `cli.errors.fault` words it."""
        return any(words in self.stderr for words in INTERNAL)

    def succeeded(self, *, stderr: str | None = None) -> Self:
        """Check that the status is 0 and, where it is given, what stderr holds; the answer itself."""
        assert self.status == 0, self
        assert stderr in (None, self.stderr), self
        return self

    def assert_said(self, status: int, *reasons: str) -> None:
        """Check the status, and that standard error holds these things and no traceback."""
        assert (self.status, self.traceback) == (status, False), self
        for reason in reasons:
            assert reason in self._said, self

    def assert_refused(self, *reasons: str, status: int = 2) -> None:
        """Check the same of a command that has printed nothing on stdout."""
        assert self.stdout == "", self
        self.assert_said(status, *reasons)

    @property
    def _said(self) -> str:
        """Standard error; Typer draws a box around its messages and folds them."""
        if "│" in self.stderr:
            return " ".join(self.stderr.replace("│", " ").split())
        return self.stderr


class Kohort:
    """Runs `kohort`; nothing of the developer's own environment reaches it."""

    def __init__(self, home: Path) -> None:
        self.data = home / "data" / "kohort"
        self.env: Mapping[str, str] = {
            "HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8",
        }  # fmt: skip

    @property
    def executable(self) -> str:
        path = shutil.which("kohort", path=str(Path(sys.executable).parent))
        if path is None:
            raise FileNotFoundError("kohort is not installed next to this Python")
        return path

    def __call__(self, *args: Word) -> Answer:
        """Run it as a separate process; TimeoutExpired if it does not exit within 150 s."""
        done = run([self.executable, *words(*args)], env=self.env, stdin=None, timeout_s=TIMEOUT_S)
        return Answer(status=done.returncode, stdout=done.stdout, stderr=done.stderr)

    def quick(self, *args: Word, stdin: str = "", **env: str) -> Answer:
        """Run it inside this process: the same code, without a start of 0.2 s; `env` is added to the environment."""
        with patch.dict(os.environ, env), patch.object(sys, "stdin", _text(stdin)):
            return run_here(run_command, "kohort", words(*args))

    def screen(self, *args: Word, columns: int, **env: str) -> str:
        """What it prints on a terminal of this width, colors too; inside this process."""
        here = {"TERM": "xterm", "COLUMNS": str(columns), **env}
        with patch.dict(os.environ, here), patch.object(sys, "stdin", _text("")):
            return run_here(run_command, "kohort", words(*args), TerminalText()).stdout

    def in_shell(self, line: str, program: str = "kohort") -> Answer:
        """What a shell makes of a line that begins with the installed program."""
        done = subprocess.run(
            ["/bin/sh", "-c", f"'{Path(self.executable).with_name(program)}' {line}"],
            capture_output=True, text=True, env=self.env, check=False, timeout=TIMEOUT_S,
        )  # fmt: skip
        return Answer(status=done.returncode, stdout=done.stdout, stderr=done.stderr)


def _text(text: str) -> io.TextIOWrapper:
    """Standard input that holds a text; its bytes can be read too."""
    return io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")


def words(line: Word = "", *more: Word) -> list[Word]:
    """The words of a command line of which the first argument may hold several; in the others a blank is a blank."""
    return [*(shlex.split(line) if isinstance(line, str) else [line]), *more]


def run_here(
    program: Callable[[], object], name: str, args: Iterable[Word], stdout: io.StringIO | None = None
) -> Answer:
    stdout, stderr = stdout or io.StringIO(), io.StringIO()
    status: int | str | None = None
    # Help names the program by its path, where the main module belongs to no package.
    installed = patch.object(sys.modules["__main__"], "__package__", None)
    with installed, patch.object(sys, "argv", [name, *map(os.fsdecode, args)]):
        try:
            with redirect_stdout(stdout), redirect_stderr(stderr):
                program()
        except SystemExit as end:
            status = end.code
    if not isinstance(status, int):
        raise TypeError(f"{name} ended with {status!r}")
    return Answer(status=status, stdout=stdout.getvalue(), stderr=stderr.getvalue())


def imported(
    names: Iterable[str], script: str, env: Mapping[str, str] | None = None
) -> tuple[list[str], Answer]:
    """Which of these modules Python has loaded when a script ends, and what the script answered."""
    done = subprocess.run(
        [sys.executable, "-c", _WATCHED.format(script=script, names=tuple(names))],
        capture_output=True, text=True, check=True, env=env,
    )  # fmt: skip
    stdout, _, reported = done.stdout.rpartition(_END)
    status, loaded = json.loads(reported)
    return loaded, Answer(status=status, stdout=stdout, stderr=done.stderr)


def running(*args: str) -> str:
    return f"from cli.app import run_command; sys.argv = {['kohort', *args]!r}; run_command()"


_END = "\x1e"
_WATCHED = """
import json, sys
status = 0
try:
    {script}
except SystemExit as end:
    status = end.code
print(chr(0x1e) + json.dumps([status, [name for name in {names!r} if name in sys.modules]]))
"""
