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
    """A broker's view of a group, without the single members; `type` None: there is no group."""

    type: GroupType | None
    protocol: str | None
    state: GroupState | None
    members: int
    upgraded: int
    """Of these, those that speak the consumer protocol."""

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
    """A result of a gate that differs from the one before, or for another state of the group."""

    at_s: float
    place: StepRound
    """After which it was checked."""
    round: int | None
    """None: it was the gate of the whole step."""
    judged: GateResult
    shown: GroupSummary

    @property
    def closed_by(self) -> tuple[str, ...]:
        """The names of what keeps the gate closed: `strayed`, `plan` where the group does not match the plan, or
        checks."""
        judged = self.judged
        if judged.differences:
            return ("plan",)
        strayed = ("strayed",) if judged.strayed is not None else ()
        return (*strayed, *(check.check for check in judged.checks if check.holds is not True))

    def repeats(self, before: GatePoll) -> bool:
        """Whether it shows what an earlier one has shown."""
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
    """Since the end of the previous round."""
    began_s: float
    """The first stop or start."""
    gate_open_after_s: float | None
    """Since `began_s`; None: it stayed closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackResult:
    """Back to the start, after a round, by undoing one round after the other."""

    step: int
    round: int
    costs: Costs
    lasted_s: float
    arrived: bool
    """Whether the group has settled, with the type and the assignor that it was found with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsed:
    """A plan played from a seed."""

    seed: int
    rounds: tuple[RoundPlayed, ...]
    back: RollbackResult | None
    """Where the rehearsal went back."""
    polls: tuple[GatePoll, ...]
    """In the order of time."""
    opened_wrongly: tuple[str, ...]
    """Gates that opened although members were away, not settled or not as planned; among `unsafe`."""
    refusals: tuple[Refusal, ...]
    """Error responses to members; empty unless the story was requested."""
    misplaced: int
    """Partitions that started with another owner than observed."""
    violations: tuple[Violation, ...]
    unsafe: tuple[str, ...]
    """Why the plan is not safe: gates that opened too early or stayed closed, invariants that fell."""
    story: tuple[str, ...]
    """Events, a line each; empty unless requested."""
    result: Result | None
    """The same as a run of the simulation, for a picture; None unless the story was requested."""

    @property
    def is_safe(self) -> bool:
        return not self.unsafe
