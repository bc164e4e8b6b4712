"""The results of playing a plan."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from statistics import median

from coordinator.simulation.result import MemberMetrics, RunResult, Violation
from groups.findings import Finding, Level
from groups.model import Group, GroupState, GroupType, MemberProtocol
from migration.gate.observation import GateResult
from migration.model import Plan, PlanRehearsal, RehearsedStep, StepFigures
from migration.rehearsal.simulated_members import StepRound
from migration.rehearsal.simulation import Refusal, RehearsalCosts


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSummary:
    """A broker's view of a group, without its single members; `type` None: there is no group."""

    type: GroupType | None
    protocol: str | None
    state: GroupState | None
    members: int
    upgraded: int

    @classmethod
    def of(cls, group: Group | None) -> "GroupSummary":
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
    place: StepRound  # The round after which the gate was checked
    round: int | None  # None: the gate of the whole step
    judged: GateResult
    shown: GroupSummary

    @property
    def closed_by(self) -> tuple[str, ...]:
        """The names of what keeps the gate closed; only `plan` if the group does not match the plan."""
        judged = self.judged
        if judged.differences:
            return ("plan",)
        strayed = ("strayed",) if judged.strayed is not None else ()
        return (*strayed, *(check.check for check in judged.checks if check.holds is not True))

    def repeats(self, before: "GatePoll") -> bool:
        mine, its = ((poll.place, poll.round, poll.closed_by, poll.shown) for poll in (self, before))
        return mine == its


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundPlayed:
    step: int  # From 1
    round: int  # From 1
    costs: RehearsalCosts
    began_s: float  # The time of the first stop or start
    gate_open_after_s: float | None
    """Seconds from `began_s` until the gate opened; None: it stayed closed, or opened wrongly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackResult:
    step: int
    round: int
    costs: RehearsalCosts
    lasted_s: float
    arrived: bool
    """Whether the group has settled with the type, assignor and state from before the first round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsed:
    seed: int
    rounds: tuple[RoundPlayed, ...]
    back: RollbackResult | None  # None if no rollback was played
    polls: tuple[GatePoll, ...]
    opened_wrongly: tuple[str, ...]
    """Gates that opened although members were away, not settled or not as planned; among `unsafe`."""
    refusals: tuple[Refusal, ...]  # Error responses to members; empty unless the story was requested
    misplaced: int  # The number of partitions that had another owner than observed when the plan started
    metrics: MemberMetrics  # Of the members, by their names in the story, after the last round
    violations: tuple[Violation, ...]
    unsafe: tuple[str, ...]
    """Why the plan is not safe: a gate opened too early or stayed closed, an invariant was violated."""
    story: tuple[str, ...]  # Events, one line each; empty unless requested
    result: RunResult | None
    """The rehearsal as a run of the simulation, for a picture; None unless the story was requested."""

    @property
    def is_safe(self) -> bool:
        return not self.unsafe


MOST_LINES = 60  # Maximum lines of a story in a plan; the last ones are kept


def figures_of(played: Sequence[Rehearsed], step: int) -> RehearsedStep | None:
    """The figures of a step (from 1) over all seeds; None if no round of it was played."""
    runs = [of_run for run in played if (of_run := _of_run(run, step)) is not None]
    if not runs:
        return None
    return RehearsedStep(median=_over(median, runs), worst=_over(max, runs))


def _of_run(run: Rehearsed, step: int) -> StepFigures | None:
    rounds = [played for played in run.rounds if played.step == step]
    if not rounds:
        return None
    costs = sum((played.costs for played in rounds[1:]), rounds[0].costs)
    known = [time_s for played in rounds if (time_s := played.gate_open_after_s) is not None]
    return StepFigures(**asdict(costs), lasted_s=sum(known) if len(known) == len(rounds) else None)


def _over(of: Callable[[Sequence[float]], float], runs: Sequence[StepFigures]) -> StepFigures:
    """`of` applied to each figure separately; None for a figure that is missing in some seed."""
    figures: dict[str, float | None] = {}
    for name in (figure.name for figure in fields(StepFigures)):
        values = [getattr(run, name) for run in runs]
        figures[name] = None if None in values else as_number(of(values))
    return StepFigures(**figures)  # type: ignore[arg-type]


def as_number(value: float) -> float | int:
    """The number as it is printed: whole, or with one decimal."""
    return int(value) if float(value).is_integer() else round(value, 1)


def with_rehearsal(
    plan: Plan, at: str, played: Sequence[Rehearsed], back: Iterable[Rehearsed], detailed: Rehearsed | None
) -> Plan:
    """The plan with the figures of its rehearsals; a plan that is not safe is blocked, and has no steps."""
    runs = [*played, *back]
    unsafe = [(run.seed, reason) for run in runs for reason in run.unsafe]
    rehearsal = PlanRehearsal(
        at=at,
        seed=played[0].seed,
        seeds=len(played),
        safe=not unsafe,
        unsafe=tuple(dict.fromkeys(reason for _, reason in unsafe)),
        story=detailed.story[-MOST_LINES:] if detailed is not None and unsafe else (),
    )
    if unsafe:
        seed, reason = unsafe[0]
        finding = _finding(
            Level.BLOCKER,
            f"A rehearsal on the present group shows that the plan is not safe. Seed {seed}: {reason}.",
            "Read the events of that seed. Fix the cause, or choose another path (--offline, --concurrency 1).",
        )
        findings = (finding, *plan.findings)
        return replace(plan, findings=findings, steps=(), settled_groups=(), rehearsal=rehearsal)
    numbered = enumerate(plan.steps, 1)
    steps = tuple(replace(step, rehearsed=figures_of(played, number)) for number, step in numbered)
    return replace(plan, steps=steps, rehearsal=rehearsal)


def not_rehearsed(plan: Plan, why: str) -> Plan:
    message, remedy = f"The plan was not rehearsed: {why}.", "The costs of its steps are computed only."
    finding = _finding(Level.INFO, message, remedy)
    return replace(plan, findings=(*plan.findings, finding))


def _finding(level: Level, message: str, remedy: str) -> Finding:
    source = "kohort rehearse: docs/rehearsal.md"
    return Finding(rule="rehearsal", level=level, message=message, remedy=remedy, source=source)
