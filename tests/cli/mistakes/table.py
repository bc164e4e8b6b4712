"""Tables of mistakes: text files that show a command as it is typed, what it answers, and its exit status.

    # what is wrong
    $ kohort describe biling
    kohort: biling: no such group
    [3]

Variables may precede the command. Names in braces are places of a scene, in the command as in the answer.
KOHORT_WRITE_GOLDEN=1 has `Table.check` write the answers instead of comparing them.
"""

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cli.errors import ExitStatus
from tests.cli.command import Answer, Kohort

_CASE = re.compile(r"^# (.*)\n\$ (.*)\n((?:.*\n)*?)\[(\d+)\]\n", re.M)
_VARIABLE = re.compile(r"[A-Z_]+=")
LONGEST_LINES = 3
Places = Mapping[str, str]
"""Texts by the names that stand for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """A command line, and its answer on standard error."""

    line: str
    stderr: str
    status: int


class Table:
    """A file of this folder, by its name without the suffix."""

    def __init__(self, name: str) -> None:
        self._file = Path(__file__).with_name(f"{name}.txt")
        self.mistakes = {
            case: Mistake(line=line, stderr=stderr, status=int(status))
            for case, line, stderr, status in _CASE.findall(self._file.read_text(encoding="utf-8"))
        }

    def check_command(self, kohort: Kohort, case: str, places: Places) -> None:
        """Run the command of a case in the working directory of this process, and check its answer."""
        line = self.mistakes[case].line
        for name, value in places.items():
            line = line.replace(f"{{{name}}}", value)
        words = shlex.split(line)
        start = words.index("kohort")
        env = dict(word.split("=", 1) for word in words[:start] if _VARIABLE.match(word))
        self.check(case, kohort.quick(*map(os.fsencode, words[start + 1 :]), **env), places)

    def check(self, case: str, answer: Answer, places: Places) -> None:
        mistake, stderr = self.mistakes[case], answer.stderr
        for name, value in sorted(places.items(), key=lambda item: -len(item[1])):
            stderr = stderr.replace(value, f"{{{name}}}")
        actual = Mistake(line=mistake.line, stderr=stderr, status=int(answer.status))
        if os.environ.get("KOHORT_WRITE_GOLDEN"):
            self._write(case, actual)
        assert actual == self.mistakes[case]
        # A change that is refused has been shown.
        assert not answer.stdout or actual.status == ExitStatus.REFUSED
        assert len(stderr.splitlines()) <= LONGEST_LINES
        assert actual.status != 0

    def _write(self, case: str, actual: Mistake) -> None:
        text = self._file.read_text(encoding="utf-8")
        written = f"# {case}\n$ {actual.line}\n{actual.stderr}[{actual.status}]\n"
        text = _CASE.sub(lambda match: written if match[1] == case else match[0], text)
        self._file.write_text(text, encoding="utf-8")
        self.mistakes[case] = actual
