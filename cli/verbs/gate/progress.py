"""What a gate waits for, on a terminal only."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any

from cli.render.cells import safe_text

if TYPE_CHECKING:
    from cli.verbs.gate.action import Question
    from migration.gate import Judgement

NAMES = 3


class GateProgress:
    """A line on stderr that replaces itself; nothing where stderr is no terminal."""

    def __init__(self, question: Question, wait_s: float) -> None:
        self._what = f"step {question.position + 1}" + (f", round {question.round}" if question.round else "")
        self._wait_s = wait_s
        self._status: Any = None

    def __enter__(self) -> GateProgress:
        if sys.stderr is not None and sys.stderr.isatty():
            from rich.console import Console
            from rich.text import Text

            self._status = Console(file=sys.stderr).status(Text(f"{self._what}: looking"))
            self._status.start()
        return self

    def show(self, judgement: Judgement | None, left_s: float) -> None:
        """Say what the last look showed."""
        if self._status is None:
            return
        from rich.text import Text

        self._status.update(
            Text(f"{self._what}: {_waited_for(judgement)} ({left_s:.0f} s of {self._wait_s:.0f} s left)")
        )

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()


def _waited_for(judgement: Judgement | None) -> str:
    if judgement is None:
        return "the group cannot be read now"
    labels = list(dict.fromkeys(one.label for one in judgement.waiting_for))
    if labels:
        more = f" and {len(labels) - NAMES} more" if len(labels) > NAMES else ""
        return safe_text(f"waiting for {', '.join(labels[:NAMES])}{more}")
    return safe_text(judgement.reasons[0]) if judgement.reasons else "the group is not at rest"
