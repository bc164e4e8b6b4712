"""The pages of the documentation, and the commands that they show."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support import forked

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
_BLOCK = re.compile(r"^(`{3,})(\w+)\n(.*?)^\1$", re.S | re.M)
_END = "\x1e"
"""Printed after each command (ASCII's record separator)."""
A_HOME = "/home/you"
"""What pages show for the reader's home."""
_COMMAND = re.compile(r"^\$ (.*)$", re.M)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    language: str
    text: str

    @property
    def commands(self) -> list[str]:
        """The lines after a prompt."""
        return _COMMAND.findall(self.text)


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def blocks(page: Path, language: str) -> Iterator[Block]:
    for _, name, text in _BLOCK.findall(page.read_text()):
        if name == language:
            yield Block(language=name, text=text)


def as_a_reader(home: Path) -> dict[str, str]:
    """The environment of a reader who has just installed Kohort; `home` is empty."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("KOHORT_", "XDG_"))}
    scripts = home.with_name("bin")
    scripts.mkdir()
    path = f"{scripts}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**kept, "HOME": str(home), "PATH": path, "COLUMNS": "80"}
    forked.script(scripts, environment)
    return environment


def shown(page: Sequence[Block], environment: Mapping[str, str], directory: Path) -> list[str]:
    """The blocks as one terminal would show them now: each command and what it printed, errors too."""
    commands = [command for block in page for command in block.commands]
    script = "".join(f"{command}\nstatus=$?; printf '{_END}'; (exit $status)\n" for command in commands)
    run = subprocess.run(
        ["sh", "-c", script], cwd=directory, env=environment, text=True, check=False,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=240,
    )  # fmt: skip
    assert "Traceback" not in run.stdout
    printed = iter(run.stdout.replace(environment["HOME"], A_HOME).split(_END))
    return ["".join(f"$ {command}\n{next(printed)}" for command in block.commands) for block in page]


def command_lines(text: str) -> Iterator[list[str]]:
    """The words of every `kohort …` in a shell text: comments, pipes and redirections are left out."""
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
        words.whitespace_split = True
        command: list[str] = []
        for word in [*words, ";"]:
            if set(word) <= set("|&;<>()"):
                if command[:1] == ["kohort"]:
                    yield command[1:]
                # What follows > and < is a file, and no command.
                command = ["<file>"] if set(word) <= set("<>") else []
            else:
                command.append(word)
