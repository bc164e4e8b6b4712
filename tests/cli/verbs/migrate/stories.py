"""The event documents of runs, as a run writes them at fixed times."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from cli.verbs.migrate import event_documents as documents
from cli.verbs.migrate.event_documents import EventDocument, Facts
from migration.execution.costs import StepCosts
from migration.execution.events import (
    GateChecked,
    Happening,
    HookResult,
    MemberReturned,
    Place,
    RollbackBegan,
    RoundBegan,
    RunHook,
    StepEnded,
)
from migration.execution.settings import SettingsChange
from migration.execution.stops import ExecutionStop, StopRule
from migration.gate.observation import GateResult, yes
from migration.model import Plan, PlannedMember, RoundAction
from tests.cli.verbs.migrate.statuses import BEGAN, CLOSED, MISSING, costs, two_bounces

OPEN = GateResult(checks=tuple(yes(check.check, "it holds") for check in CLOSED.checks))
CHANGE = SettingsChange(lines={"partition.assignment.strategy": "cooperative-sticky"}, removed=("group.id",))
WHO = "ops@jump-1"
COMMANDS = ("kohort gate PLAN.yaml --step 1 --round 2", "kohort migrate PLAN.yaml --execute")


def order_of(
    seat: PlannedMember,
    place: Place = (1, 1),
    change: SettingsChange = CHANGE,
    action: RoundAction = RoundAction.RESTART,
    *,
    is_rollback: bool = False,
) -> RunHook:
    """A hook that acts on one member."""
    ids = (seat.id,)
    return RunHook(
        place=place, members=ids, ids=ids, seat=seat, action=action, change=change, is_rollback=is_rollback
    )


class Story:
    """A run of a plan; each event is some seconds after the one before."""

    def __init__(self, plan: Plan | None = None, at_s: float = 0.0) -> None:
        self.plan, self.at_s = plan or two_bounces(), at_s
        self.costs: dict[int, StepCosts] = {}
        self.documents: list[EventDocument] = []
        self.lag_s, self.is_rollback = 1.0, False

    @property
    def members(self) -> Sequence[PlannedMember]:
        assert self.plan.baseline is not None
        return self.plan.baseline.members

    def tell(self, after_s: float, facts: Facts) -> None:
        self.at_s += after_s
        at = f"{BEGAN + timedelta(seconds=self.at_s):%Y-%m-%dT%H:%M:%SZ}"
        self.documents.append({**documents.event_document(self.plan.group, "p1", facts), "at": at})

    def happen(self, after_s: float, happening: Happening) -> None:
        known = self.plan.steps, self.costs, self.lag_s
        self.tell(after_s, documents.of_happening(happening, *known, rollback=self.is_rollback))

    def begin(self, found: Sequence[str] = ()) -> None:
        facts = documents.run_began(self.plan, found, resumed=bool(found))
        self.tell(0, {**facts, "who": WHO})
        if not found:
            self.happen(2, GateChecked(at_s=0, place=(0, 0), result=OPEN))
            self.happen(1, StepEnded(at_s=0, step=0, members=(), epoch=7))

    def round(self, step: int, number: int, *, problem: str = "", returns: bool = True) -> None:
        """A member is restarted, and its gate opens; or its command has a `problem`, or it does not return."""
        seat, place = self.members[number - 1], (step, number)
        order = order_of(seat, place)
        self.happen(1, RoundBegan(at_s=0, place=place, members=(seat.label,)))
        self.tell(0, documents.hook_began(order))
        self.tell(0, documents.hook_runs(order, 4711, "99"))
        result = HookResult(at_s=0, member=seat.id, problem=problem)
        self.tell(4, documents.hook_ended(order, result, 4.2))
        if problem or not returns:
            return
        self.lag_s += 3.0
        new = replace(seat, id=f"{seat.label}-new-{step}")
        self.happen(1, GateChecked(at_s=0, place=place, result=CLOSED))
        self.happen(2, MemberReturned(at_s=0, place=place, member=seat.id, seat=new))
        self.happen(6, GateChecked(at_s=0, place=place, result=OPEN))
        self.lag_s = 1.0

    def step(self, number: int) -> None:
        for round_ in (1, 2, 3):
            self.round(number, round_)
        self.costs[number] = costs()
        self.happen(1, StepEnded(at_s=0, step=number, members=(), epoch=9))

    def stop(self) -> None:
        self.costs[1] = costs(140.0, 66.0)
        known = COMMANDS, self.plan.steps, self.costs
        self.tell(120, documents.stopped(MISSING, (1, 2), *known, rollback=False))


def begun(*rounds: int) -> Story:
    """It has begun, and these rounds of the first step are complete."""
    story = Story()
    story.begin()
    for round_ in rounds:
        story.round(1, round_)
    return story


def finished() -> Story:
    story = begun()
    story.step(1)
    story.step(2)
    story.tell(45, documents.finished(145.0))
    return story


def resumed() -> Story:
    """A run that stopped, one that continued, was interrupted, and was killed, and one that finished."""
    story = stopped()
    story.at_s += 3600
    story.begin(("step 1, round 2: m2 is in the group again",))
    story.happen(2, GateChecked(at_s=0, place=(1, 2), result=OPEN))
    story.tell(1, documents.interrupted(1))
    story.at_s += 60
    story.begin(("step 1, round 2 is complete",))
    story.round(1, 3)
    story.happen(1, StepEnded(at_s=0, step=1, members=(), epoch=9))
    story.step(2)
    story.tell(45, documents.finished(101.0))
    return story


def rolled_back() -> Story:
    """The command fails, and the rollback is carried out."""
    story = begun(1)
    story.round(1, 2, problem="exit status 3: unit kafka-app@2.service not found")
    story.costs[1] = costs(30.0, 12.0)
    stop = ExecutionStop(rule=StopRule.HOOK, message="The command for m2 failed: exit status 3.", at_s=22.0)
    story.happen(1, RollbackBegan(at_s=0, stop=stop, begun={1: ("m1", "m2")}, absent=(), members=()))
    story.is_rollback = True
    story.happen(1, RoundBegan(at_s=0, place=(1, 1), members=("m1", "m2"), is_rollback=True))
    for seat in story.members[:2]:
        order = order_of(seat, is_rollback=True)
        story.tell(0, documents.hook_began(order))
        story.tell(3, documents.hook_ended(order, HookResult(at_s=0, member=seat.id), 3.1))
    story.happen(9, StepEnded(at_s=0, step=1, members=(), epoch=11, is_rollback=True))
    story.tell(45, documents.rolled_back(84.0))
    return story


def stopped() -> Story:
    story = begun(1)
    story.round(1, 2, returns=False)
    story.stop()
    return story


def others() -> Iterator[EventDocument]:
    """Events of another version, and documents that are damaged."""
    at = {"at": "2026-03-01T22:09:00Z", "group": "payments", "plan": "p1"}
    yield {**at, "event": "bridge", "text": "lead: the bridge leads"}
    yield {**at, "event": "interrupted", "times": 2}
    yield {**at, "event": "moon-rose", "phase": "full"}
    yield {**at, "event": "gate", "step": "one", "round": None, "open": "yes", "reasons": "none", "checks": 7}
    yield {**at, "event": "stopped"}
    yield {**at, "event": 7}
    yield {}


STORIES = {"finished": finished, "stopped": stopped, "resumed": resumed, "rolled back": rolled_back}
