"""What comes out of the coordinator."""

from __future__ import annotations

from dataclasses import dataclass

from coordinator.engine.answers import Answer
from coordinator.engine.records import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Records to append, in order, and answers to send after they were appended.

    `answers` name the calls by their tickets: of this call, unless it has to wait, and of earlier ones that
    waited until now. Deadlines may have changed: ask `next_deadline` again.
    """

    records: tuple[Record, ...] = ()
    answers: tuple[tuple[int, Answer], ...] = ()
