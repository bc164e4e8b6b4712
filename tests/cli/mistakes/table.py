"""Tables of mistakes: text files that show a command as it is typed, what it answers, and its exit status.

    # what is wrong
    $ kohort describe biling
    kohort: biling: no such group
    [3]

Variables may precede the command. Names in braces are places of a scene, in the command as in the answer.
KOHORT_WRITE_GOLDEN=1 writes the answers.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.cli.command import Answer, Kohort

_CASE = re.compile(r"^# (.*)\n\$ (.*)\n((?:.*\n)*?)\[(\d+)\]\n", re.M)
_VARIABLE = re.compile(r"[A-Z_]+=")
LONGEST_LINES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """A command line, and its answer on standard error; its standard output is empty."""

    name: str
    line: str
    stderr: str
    status: int


def read(table: Path) -> list[Mistake]:
    """The cases of a table, in order."""
    return [
        Mistake(name=name, line=line, stderr=stderr, status=int(status))
        for name, line, stderr, status in _CASE.findall(table.read_text(encoding="utf-8"))
    ]


def answer_of(kohort: Kohort, line: str, places: Mapping[str, str]) -> Answer:
    """Run a line of a table, in the working directory of this process."""
    for name, place in places.items():
        line = line.replace(f"{{{name}}}", place)
    words = shlex.split(line)
    variables = [word for word in words[: words.index("kohort")] if _VARIABLE.match(word)]
    env = dict(word.split("=", 1) for word in variables)
    return kohort.quick(*map(os.fsencode, words[words.index("kohort") + 1 :]), **env)


def check(kohort: Kohort, mistake: Mistake, places: Mapping[str, str]) -> None:
    """The answer is the one of the table, and at most three lines."""
    answer = answer_of(kohort, mistake.line, places)
    stderr = answer.stderr
    for name, place in sorted(places.items(), key=lambda each: -len(each[1])):
        stderr = stderr.replace(place, f"{{{name}}}")
    assert (stderr, answer.status, answer.stdout) == (mistake.stderr, mistake.status, "")
    assert len(mistake.stderr.splitlines()) <= LONGEST_LINES
    assert mistake.status != 0


def write(table: Path, kohort: Kohort, places: Mapping[str, str]) -> None:
    """Write a table with the answers of now."""
    text = table.read_text(encoding="utf-8")
    head = text[: text.index("# ", text.index("\n\n") if "\n\n" in text else 0)]
    written: Sequence[Mistake] = [_again(kohort, each, places) for each in read(table)]
    cases = [f"# {each.name}\n$ {each.line}\n{each.stderr}[{each.status}]\n" for each in written]
    table.write_text(head + "\n".join(cases), encoding="utf-8")


def _again(kohort: Kohort, mistake: Mistake, places: Mapping[str, str]) -> Mistake:
    answer = answer_of(kohort, mistake.line, places)
    stderr = answer.stderr
    for name, place in sorted(places.items(), key=lambda each: -len(each[1])):
        stderr = stderr.replace(place, f"{{{name}}}")
    return replace(mistake, stderr=stderr, status=answer.status)
