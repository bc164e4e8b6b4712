"""The notes of gates: the members of the group when a gate opened, which the gate of the next step compares with."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from groups.trees import Malformed, Trees, count_values, named
from migration.model import Plan, PlannedMember
from migration.plan_file import plan_to_data

FORMAT_VERSION = 1
SUFFIX = ".gates"  # Of the file with the notes, next to the plan: `PLAN.yaml.gates`
MAX_VALUES = 1_000_000  # Enough for a hundred gates of a group of 2,000 members


class NotesError(Exception):
    """The file is not a file of notes, or has the notes of another plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedGate:
    at: str  # When, in UTC: `2026-03-01T12:00:00Z`
    next_started: bool = field(default=False, metadata=named("went_on"))
    """Whether a gate of the next step has been checked since: then this gate is not recorded again."""
    epoch: int | None = None
    members: tuple[PlannedMember, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredStep:
    rebalances: int | None  # Generations or group epochs; None if an epoch is unknown, or was reset
    lasted_s: int  # Seconds from the opening of the previous gate to the opening of the step's own


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """Opened gates by the number of the step, from 1; 0 is the gate before the first step."""

    plan: str
    opened: Mapping[int, OpenedGate] = field(default_factory=dict)

    def members_at(self, position: int, plan: Plan) -> tuple[PlannedMember, ...] | None:
        if position in self.opened:
            return self.opened[position].members
        if position <= 0 and plan.baseline is not None:
            return plan.baseline.members
        return None

    def next_step(self, steps: int) -> int:
        """The number of the step after the last gate that has opened, of a plan with this many steps; 0: none has."""
        return min(max(self.opened, default=-1) + 1, steps)

    def with_opened(
        self, number: int, at: str, members: tuple[PlannedMember, ...], epoch: int | None = None
    ) -> Notes:
        """The notes with a gate that opened now; once the next step has started, the earlier note is kept."""
        before = self.opened.get(number)
        if before is not None and before.next_started:
            return self
        return replace(self, opened={**self.opened, number: OpenedGate(at=at, members=members, epoch=epoch)})

    def measured(self, number: int) -> MeasuredStep | None:
        """The figures of a step, from its gate and the gate before; None if either has not opened."""
        before, after = self.opened.get(number - 1), self.opened.get(number)
        if before is None or after is None:
            return None
        known = before.epoch is not None and after.epoch is not None and after.epoch >= before.epoch
        try:
            lasted = datetime.fromisoformat(after.at) - datetime.fromisoformat(before.at)
        except (ValueError, TypeError):  # anyone can edit the file
            return None
        return MeasuredStep(
            rebalances=(after.epoch or 0) - (before.epoch or 0) if known else None,
            lasted_s=int(lasted.total_seconds()),
        )

    def without_from(self, number: int) -> Notes:
        """Notes without this gate and later ones: members restarted in the rollback do not count for later steps."""
        return replace(self, opened={opened: one for opened, one in self.opened.items() if opened < number})

    def with_step_started(self, number: int) -> Notes:
        before = self.opened.get(number - 1)
        if before is None or before.next_started:
            return self
        return replace(self, opened={**self.opened, number - 1: replace(before, next_started=True)})


def fingerprint(plan: Plan) -> str:
    """Identifies a plan by its group, its baseline and its steps; editing the texts of steps does not change it."""
    data = plan_to_data(plan)
    essence = [data["group"], data["baseline"], [step["id"] or step["title"] for step in data["steps"]]]
    return hashlib.sha256(json.dumps(essence, sort_keys=True).encode()).hexdigest()[:32]


def notes_to_data(notes: Notes) -> dict[str, object]:
    """The notes as plain values; of a member only its id, instance id, client id and host."""
    data = _TREES.write(Notes, notes)
    opened = data.pop("opened", {})
    for one in opened.values():
        members = one["members"]
        one["members"] = [{name: member[name] for name in _NOTED if name in member} for member in members]
    return {"kohort": FORMAT_VERSION, **data, "opened": {str(number): one for number, one in opened.items()}}


def notes_from_data(data: object, plan: Plan) -> Notes:
    """The notes that `notes_to_data` wrote for this plan; NotesError for anything else."""
    if not isinstance(data, dict):
        raise NotesError("this is not a file of gate notes")
    if str(data.get("kohort", FORMAT_VERSION)) != str(FORMAT_VERSION):
        raise NotesError("another version of Kohort wrote these notes")
    if count_values(data, MAX_VALUES + 1) > MAX_VALUES:
        raise NotesError(f"this is not a file of gate notes: more than {MAX_VALUES} values")
    try:
        notes: Notes = _TREES.read(Notes, data, [])
    except Malformed as error:
        raise NotesError(f"this is not a file of gate notes: {error}") from None
    if notes.plan != fingerprint(plan):
        raise NotesError("these notes belong to another plan")
    if not all(0 <= number <= len(plan.steps) for number in notes.opened):
        raise NotesError("this is not a file of gate notes: it has more steps than the plan")
    return notes


_NOTED = ("id", "instance", "client_id", "host")
_TREES = Trees(sparse=True, extra={Notes: ("kohort",)})
