"""Command lines that change a cluster: both tools must print the same and leave the same state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tests.cli.command import Answer
from tests.cli.dropin.harness import (
    DIFFERENCES,
    Case,
    Pair,
    filled,
    normalized,
    run_here,
    run_tool,
    unordered,
)
from tests.kafka.broker import Broker
from tests.kafka.tool_host import ToolHost

STRICTER = {
    "partition-twice": "a partition that is named twice counts once",
    "file": "what is used of a file",
    "file-partition": "a partition of a file that is not there",
    "timeout": "a long timeout is one",
    "time": "a time is read to its end, and none is before 1970",
}
"""Accepted differences in which ours gives another answer altogether; the rest are those of the harness."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(Case):
    """A command line on the scene of `change_scene.py`. Where ours is to differ, one of `like` and `says` tells how."""

    file: str | bytes = ""  # What is in `{file}`
    like: str = ""  # A command line; ours gives the answer that the tool gives to this one
    like_file: str | bytes = ""  # What is in `{file}` for `like`
    says: str = ""  # What ours prints on stdout instead; nothing else, and nothing is changed

    def __str__(self) -> str:
        return f"{self.line} {self.file!r}" if self.file else self.line

    @property
    def changes(self) -> bool:
        """Whether the state has to be laid before each of the tools."""
        executes = self.program == "streams-application-reset"
        return executes or "--execute" in self.line or "--delete" in self.line


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeScene:
    names: Mapping[str, str]
    lay: Callable[[], None]
    state: Callable[[], object]
    """Everything that a command line could have changed, in a form that can be compared."""


@dataclass(frozen=True, slots=True)
class Trial:
    answer: Answer
    state: object

    @property
    def unordered(self) -> Trial:
        return replace(self, answer=unordered(self.answer))


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    scene: ChangeScene
    broker: Broker
    tools: ToolHost
    file: Path

    def check(self, case: Change) -> None:
        """Run both tools; AssertionError where they differ in another way than the case says."""
        case = replace(case, more=self._filled(case.more))
        theirs = self._try(case, self._tool)
        expected = self._expected(case, theirs).unordered
        ours = self._try(case, run_here).unordered
        assert ours == expected, f"{case}\nexpected: {expected}\nours:     {ours}"

    def _expected(self, case: Change, theirs: Trial) -> Trial:
        expected = theirs
        for name in case.differs:
            if name not in STRICTER:
                changed = replace(expected, answer=DIFFERENCES[name](expected.answer, case))
            elif case.like:
                changed = self._try(replace(case, line=case.like, file=case.like_file), self._tool)
            else:
                self.scene.lay()
                said = Answer(status=expected.answer.status, stdout=self._filled(case.says), stderr="")
                changed = Trial(said, self.scene.state())
            assert changed.answer != expected.answer, f"{case}: there is no difference {name}"
            expected = changed
        return expected

    def _try(self, case: Change, run: Callable[[list[str], Pair], Answer]) -> Trial:
        if case.changes:
            self.scene.lay()
        content = self._filled(case.file) if isinstance(case.file, str) else case.file
        self.file.write_bytes(content.encode() if isinstance(content, str) else content)
        answer = run(case.arguments(self._names, self.broker), case.pair)
        return Trial(normalized(answer), self.scene.state())

    def _tool(self, arguments: list[str], pair: Pair) -> Answer:
        return run_tool(self.tools, arguments, pair)

    @property
    def _names(self) -> Mapping[str, str]:
        return {**self.scene.names, "file": str(self.file)}

    def _filled(self, text: str) -> str:
        return filled(text, self._names)
