"""The installed command `kohort`, as a process of its own or, where many answers are wanted, in this one."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer.main

from cli.app import app, main
from tests.support.forked import run

TIMEOUT_S = 150.0


def command_names() -> list[str]:
    """All commands, as they are typed."""
    root: Any = typer.main.get_command(app)
    names = []
    for name, command in root.commands.items():
        inner = getattr(command, "commands", None)
        names += [name] if inner is None else [f"{name} {second}" for second in inner]
    return sorted(names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a command said, and its exit status."""

    status: int
    stdout: str
    stderr: str

    @property
    def document(self) -> dict[str, Any]:
        """The answer to `--output json`."""
        document: dict[str, Any] = json.loads(self.stdout)
        return document

    @property
    def rows(self) -> list[dict[str, str]]:
        """The answer to `--output csv`, of one table."""
        return list(csv.DictReader(io.StringIO(self.stdout)))

    @property
    def traceback(self) -> bool:
        """Whether a fault of the program reached the user."""
        return "Traceback" in self.stderr or "fault of Kohort" in self.stderr


class Kohort:
    """Runs `kohort`; nothing of the developer's own environment reaches it."""

    def __init__(self, home: Path) -> None:
        """`home` takes the place of the home and data directories."""
        self.data = home / "data" / "kohort"
        self.env: Mapping[str, str] = {
            "HOME": str(home),
            "XDG_DATA_HOME": str(home / "data"),
            "PATH": "/usr/bin:/bin",
            "LC_ALL": "C.UTF-8",
        }

    @property
    def executable(self) -> str:
        """The path of the installed command."""
        found = shutil.which("kohort", path=str(Path(sys.executable).parent))
        if found is None:
            raise FileNotFoundError("kohort is not installed beside this Python")
        return found

    def __call__(self, *args: str | bytes | Path, stdin: str | None = None) -> Answer:
        """Run it as a process of its own; TimeoutExpired when it does not end within 150 s."""
        done = run([self.executable, *args], env=self.env, stdin=stdin, timeout_s=TIMEOUT_S)
        return Answer(status=done.returncode, stdout=done.stdout, stderr=done.stderr)

    def quick(self, *args: str | Path) -> Answer:
        """Run it inside this process: the same code, without a start of 0.2 s."""
        stdout, stderr, before = io.StringIO(), io.StringIO(), sys.argv
        sys.argv = ["kohort", *map(str, args)]
        status: int | str | None = None
        try:
            with redirect_stdout(stdout), redirect_stderr(stderr):
                main()
        except SystemExit as end:
            status = end.code
        finally:
            sys.argv = before
        if not isinstance(status, int):
            raise TypeError(f"kohort ended with {status!r}")
        return Answer(status=status, stdout=stdout.getvalue(), stderr=stderr.getvalue())
