"""Actions on the processes of a group's members: a round of a plan, its rollback, and an operator's mistakes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from coordinator.simulation.scenario import MemberScript
from migration.model import Plan
from migration.rehearsal.simulated_members import started
from migration.rollout import Rollout, RoundAction

StepRound = tuple[int, int]
"""A step and a round of it, both from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberAction:
    """A start, stop or restart of a member's process."""

    member: str
    script: MemberScript | None
    """The script with which it is started; None: it is stopped, and stays away."""
    at_s: float = 0.0
    """When, from the beginning of the round."""
    away_s: float = 0.0
    """From the end of the old process to the start of the new one; negative: the new one starts that long before the
    old one is stopped. If the member does not run, the new process starts at once."""

    is_ahead: bool = False
    """Whether it is an action of the plan's next round, done too early."""

    def delayed(self, by_s: float) -> MemberAction:
        """The same action, but the started process is up `by_s` seconds later."""
        if self.script is None:
            return self
        return (
            replace(self, away_s=self.away_s + by_s) if self.away_s else replace(self, at_s=self.at_s + by_s)
        )


def round_actions(
    plan: Plan, step: int, round_: int, scripts: Mapping[str, MemberScript]
) -> tuple[MemberAction, ...]:
    """The actions of a round of a step, both from 1; `scripts` are the members' present ones. Temporary members
    (`bridge.py`) are left out: they act by themselves."""
    rollout = plan.steps[step - 1].rollout
    if rollout is None:
        return ()
    members = [member for member in rollout.rounds[round_ - 1] if member in scripts]
    if rollout.action is RoundAction.STOP or rollout.start is None:
        return tuple(MemberAction(member=member, script=None) for member in members)
    away_s = plan.bounce_s if rollout.action is RoundAction.RESTART else 0.0
    return tuple(
        MemberAction(member=member, script=started(scripts[member], rollout.start), away_s=away_s)
        for member in members
    )


def rollback_of(
    rollout: Rollout, actions: Sequence[MemberAction], scripts: Mapping[str, MemberScript]
) -> tuple[MemberAction, ...]:
    """The rollback of `actions` to the `scripts` of before; no action for a member whose script did not change."""
    if rollout.action is RoundAction.START:
        return tuple(MemberAction(member=action.member, script=None) for action in actions)
    return tuple(
        MemberAction(member=action.member, script=scripts[action.member], away_s=action.away_s)
        for action in actions
        if action.script != scripts[action.member]
    )
