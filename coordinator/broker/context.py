"""What the handlers work with: the state, the timers, the settings, and a place to leave records and answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coordinator.broker.answers import Answer
from coordinator.broker.records import Record
from coordinator.broker.result import Result
from coordinator.broker.timers import Timers
from coordinator.broker.topics import TopicImage

if TYPE_CHECKING:
    from coordinator.broker.classic_group import ClassicGroup
    from coordinator.broker.config import Config
    from coordinator.broker.consumer_group import ConsumerGroup
    from coordinator.broker.records import CommittedOffset


@dataclass(slots=True, kw_only=True)
class State:
    """Everything that is known. Hard parts change in `Engine.replay` alone."""

    groups: dict[str, ClassicGroup | ConsumerGroup] = field(default_factory=dict)
    offsets: dict[str, dict[tuple[str, int], CommittedOffset]] = field(default_factory=dict)
    """By group, then by topic and partition."""


@dataclass(slots=True, kw_only=True)
class Context:
    """One per engine. `records` and `answers` fill up during a call and are taken at its end."""

    state: State
    timers: Timers
    config: Config
    replay: Callable[[Record], None]
    topics: TopicImage = field(default_factory=TopicImage)
    now_ms: int = 0
    records: list[Record] = field(default_factory=list)
    answers: list[tuple[int, Answer]] = field(default_factory=list)

    def emit(self, record: Record) -> None:
        """Write a record and, by replaying it, make it true."""
        self.records.append(record)
        self.replay(record)

    def answer(self, ticket: int, answer: Answer) -> None:
        """Answer a call, this one or one that waited."""
        self.answers.append((ticket, answer))

    def take(self) -> Result:
        """What the call led to."""
        result = Result(records=tuple(self.records), answers=tuple(self.answers))
        self.records, self.answers = [], []
        return result
