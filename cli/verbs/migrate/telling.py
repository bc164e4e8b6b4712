"""What runs report to: the view of a terminal, lines in a pipe, JSON lines."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from cli.errors import CommandError
from cli.output import notice, write_line
from cli.verbs.migrate.event_documents import EventDocument
from migration.execution.costs import StepCosts
from migration.execution.events import Place
from migration.execution.machine import Phase
from migration.execution.stops import ExecutionLimits, ExecutionStop
from migration.gate.observation import GateResult
from migration.model import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class InHand:
    """A member on which a hook is acting."""

    label: str
    action: str  # As KOHORT_ACTION
    for_s: float  # Since its hook began


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStatus:
    """All that is shown of a run, replaced as a whole at each look."""

    plan: Plan  # The rollback once it has begun
    phase: Phase
    is_rollback: bool
    place: Place
    opened: frozenset[int]  # Steps whose gate has opened; 0: the one before the first step
    in_hand: tuple[InHand, ...]
    gate: GateResult | None  # As last checked; None while hooks are running
    waits_s: float  # How long it has waited for the gate
    gives_up_s: float  # How long it will wait for it in all
    lag: int | None  # Records, as last read
    lag_s: float | None  # The time in which as many records are written
    costs: Mapping[int, StepCosts]
    limits: ExecutionLimits
    stop: ExecutionStop | None
    rollback_stop: ExecutionStop | None
    began_at: datetime
    lasted_s: float
    resumed: bool

    @property
    def is_over(self) -> bool:
        return self.phase not in (Phase.WAITING, Phase.ACTING)


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetStatus:
    """What is shown of several runs, besides those that have begun."""

    groups: int  # In all
    to_come: int
    finished_before: int = 0  # In former runs of the same command
    text: str = ""  # What comes next, and the window


class Telling(Protocol):
    """Called by the main thread only."""

    def event(self, document: EventDocument) -> None: ...

    def draw(self, runs: Sequence[RunStatus], fleet: FleetStatus | None = None) -> None:
        """Several times a second; `fleet`: None for one plan."""

    def end(self, document: Mapping[str, object], /) -> None:
        """Every run is over; the document is the last line of `--output json`."""


class Output:
    """Standard output. A run does not end because its reader has left, or because it cannot be written."""

    def __init__(self) -> None:
        self._is_lost = False

    def write(self, text: str) -> None:
        if not self._is_lost:
            try:
                self._is_lost = not write_line(text)
            except CommandError as error:
                self._is_lost = True
                notice(f"{error}: the run continues")


class JsonLines:
    """`--output json`: a document a line."""

    def __init__(self) -> None:
        self._output = Output()

    def event(self, document: EventDocument) -> None:
        self._output.write(json.dumps(document, ensure_ascii=False))

    def draw(self, runs: Sequence[RunStatus], fleet: FleetStatus | None = None) -> None:
        """Only events are printed."""

    def end(self, document: Mapping[str, object]) -> None:
        self._output.write(json.dumps(document, ensure_ascii=False))
