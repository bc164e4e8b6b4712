"""The results of playing a plan."""

from __future__ import annotations

from dataclasses import dataclass

from coordinator.simulation.result import Result, Violation
from groups.model import Group, GroupState, GroupType, MemberProtocol
from migration.gate.answers import GateResult
from migration.rehearsal.actions import StepRound
from migration.rehearsal.simulation import Costs, Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSummary:
    """A broker's view of a group, without its single members; `type` None: there is no group."""

    type: GroupType | None
    protocol: str | None
    state: GroupState | None
    members: int
    upgraded: int
    """The number of members that speak the consumer protocol."""

    @classmethod
    def of(cls, group: Group | None) -> GroupSummary:
        if group is None:
            return cls(type=None, protocol=None, state=None, members=0, upgraded=0)
        spoken = [member.protocol for member in group.members]
        return cls(
            type=group.type,
            protocol=group.protocol,
            state=group.state,
            members=len(spoken),
            upgraded=spoken.count(MemberProtocol.CONSUMER),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GatePoll:
    """A result of a gate; recorded if the result or the group differs from the previous poll."""

    at_s: float
    place: StepRound
    """The round after which the gate was checked."""
    round: int | None
    """None: the gate of the whole step."""
    judged: GateResult
    shown: GroupSummary

    @property
    def closed_by(self) -> tuple[str, ...]:
        """The names of what keeps the gate closed: `strayed` and checks, or only `plan` if the group does not match
        the plan."""
        judged = self.judged
        if judged.differences:
            return ("plan",)
        strayed = ("strayed",) if judged.strayed is not None else ()
        return (*strayed, *(check.check for check in judged.checks if check.holds is not True))

    def repeats(self, before: GatePoll) -> bool:
        """Whether an earlier poll has shown the same."""
        mine, its = ((each.place, each.round, each.closed_by, each.shown) for each in (self, before))
        return mine == its


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundPlayed:
    """A round that was done."""

    step: int
    """From 1."""
    round: int
    """From 1."""
    costs: Costs
    """The costs since the end of the previous round."""
    began_s: float
    """The time of the first stop or start."""
    gate_open_after_s: float | None
    """Seconds from `began_s` until the gate opened; None: it stayed closed, or opened wrongly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackResult:
    """A rollback to the start after a round, by undoing one round after the other."""

    step: int
    round: int
    costs: Costs
    lasted_s: float
    arrived: bool
    """Whether the group has settled with the type, assignor and state from before the first round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsed:
    """The result of playing a plan from a seed."""

    seed: int
    rounds: tuple[RoundPlayed, ...]
    back: RollbackResult | None
    """None if no rollback was played."""
    polls: tuple[GatePoll, ...]
    """In chronological order."""
    opened_wrongly: tuple[str, ...]
    """Gates that opened although members were away, not settled or not as planned; among `unsafe`."""
    refusals: tuple[Refusal, ...]
    """Error responses to members; empty unless the story was requested."""
    misplaced: int
    """The number of partitions that had another owner than observed when the plan started."""
    violations: tuple[Violation, ...]
    unsafe: tuple[str, ...]
    """Why the plan is not safe: a gate opened too early or stayed closed, an invariant was violated."""
    story: tuple[str, ...]
    """Events, one line each; empty unless requested."""
    result: Result | None
    """The rehearsal as a run of the simulation, for a picture; None unless the story was requested."""

    @property
    def is_safe(self) -> bool:
        return not self.unsafe
