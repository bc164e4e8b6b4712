"""The rounds of a plan in order, whether a group shows that one is complete, and where a group is when an execution
stops."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from groups.counts import counted
from groups.model import Group, Member, usual_protocol
from migration.bridge import BRIDGE
from migration.execution.events import Place
from migration.execution.seats import Seats
from migration.model import MemberStart, Plan, PlannedMember, Rollout, RoundAction, Step

START: Place = (0, 0)  # Before the first step


def place_text(place: Place, *, is_rollback: bool) -> str:
    """`Step 2, round 3`."""
    text = f"step {place[0]}, round {place[1]}" if place[0] else "before the first step"
    text = f"rollback, {text}" if is_rollback else text
    return f"{text[0].upper()}{text[1:]}"


class PlanRounds:
    """The places of a plan."""

    def __init__(self, plan: Plan, *, is_rollback: bool = False) -> None:
        """`is_rollback`: every member is restarted: what a hook that failed has done to it is unknown."""
        self.plan, self.is_rollback = plan, is_rollback
        self.places: list[Place] = [START]
        for number, step in enumerate(plan.steps, 1):
            count = len(step.rollout.rounds) if step.rollout else 0
            self.places += [(number, round_) for round_ in range(1, count + 1)]

    def step(self, place: Place) -> Step | None:
        return self.plan.steps[place[0] - 1] if place[0] else None

    def rollout(self, place: Place) -> Rollout | None:
        step = self.step(place)
        return step.rollout if step else None

    def members(self, place: Place) -> tuple[str, ...]:
        """The members of a round, by the ids of the plan, with temporary ones."""
        rollout = self.rollout(place)
        return rollout.rounds[place[1] - 1] if rollout and place[1] else ()

    def after(self, place: Place) -> Place | None:
        position = self.places.index(place) + 1
        return self.places[position] if position < len(self.places) else None

    def before(self, place: Place) -> Place:
        return self.places[self.places.index(place) - 1]

    def ends_step(self, place: Place) -> bool:
        following = self.after(place)
        return following is None or following[0] != place[0]

    def of_step(self, step: int) -> list[Place]:
        return [place for place in self.places if place[0] == step]

    def steps_of(self, seat: str, last: int) -> list[Step]:
        """The steps up to the number `last` that start this member."""
        return [
            step
            for step in self.plan.steps[:last]
            if step.rollout and step.rollout.start and any(seat in seats for seats in step.rollout.rounds)
        ]

    def away(self, place: Place) -> frozenset[str]:
        """The members that need not be in the group when the round of `place` is complete: the plan has stopped them,
        or it is a rollback that has yet to restart them."""
        away = {seat for other in self.places for seat in self.members(other)} if self.is_rollback else set()
        for former in self.places[: self.places.index(place) + 1]:
            rollout = self.rollout(former)
            if rollout is not None:
                changed = set(self.members(former))
                away = away | changed if rollout.action is RoundAction.STOP else away - changed
        return frozenset(away)

    def is_done(
        self,
        place: Place,
        seat: str,
        seats: Seats,
        group: Group | None,
        began_with: Sequence[PlannedMember],
        hooked: Mapping[str, str] | None,
    ) -> bool:
        """Whether the group shows the member as this round leaves it. `began_with`: the members when the step began;
        `hooked`: those on which a hook began in this step, with their ids then. Without a hook a new id does not mean a
        restart: a member that lost its session has a new one too; None: not known."""
        rollout = self.rollout(place)
        if rollout is None or rollout.action is RoundAction.STOP:
            return not seats.is_present(seat)
        member = _member(group, seats[seat].id)
        if member is None or (rollout.start is not None and not runs_as(member, rollout.start)):
            return False
        if rollout.action is RoundAction.START and not self.is_rollback:
            return True
        if not self.is_rollback and self._shows_change(place, member):
            return True
        if rollout.action is RoundAction.START:  # It can be there still, until its session expires
            return hooked is None or seat in hooked
        is_new = all(member.id != former.id for former in began_with)
        return is_new and (hooked is None or hooked.get(seat, member.id) != member.id)

    def _shows_change(self, place: Place, member: Member) -> bool:
        """Whether the member speaks the protocol of this step, and members spoke another one before it."""
        baseline, rollout = self.plan.baseline, self.rollout(place)
        if baseline is None or rollout is None or rollout.start is None:
            return False
        rollouts = (step.rollout for step in self.plan.steps[: place[0] - 1])
        starts = [former.start for former in rollouts if former and former.start]
        before = starts[-1].protocol if starts else usual_protocol(baseline.type)
        return member.protocol is rollout.start.protocol is not before


def runs_as(member: Member, start: MemberStart) -> bool:
    """Whether nothing that is shown of the member speaks against this configuration."""
    if member.protocol not in (start.protocol, None):
        return False
    return not (start.assignors and member.protocols) or tuple(member.protocols) == start.assignors


def _member(group: Group | None, id_: str) -> Member | None:
    return next((member for member in group.members if member.id == id_), None) if group else None


def standing(
    rounds: PlanRounds,
    place: Place,
    group: Group | None,
    seats: Seats,
    is_done: Callable[[Place, str, Group | None], bool],
) -> Iterator[str]:
    """`group`: as it was last seen; `is_done`: whether a member is as a round leaves it."""
    total = len(list(seats))
    present = [seat for seat in seats if seats.is_present(seat)]
    if group is None:
        yield "The group does not exist."
    else:
        protocol = f" ({group.protocol})" if group.protocol else ""
        members = f"{len(present)} of its {counted(total, 'member')}"
        yield f"The group is {group.type.value}{protocol}, {group.state.value}, with {members}."
    absent = [seat for seat in seats if not seats.is_present(seat)]
    stopped = [seat for seat in absent if seat in rounds.away(place) and not rounds.is_rollback]
    if missing := [seat for seat in absent if seat not in stopped]:
        yield f"Not in the group: {seats.names(missing)}."
    if stopped:
        yield f"Stopped by the plan: {seats.names(stopped)}."
    if group is not None and any(member.client.id == BRIDGE for member in group.members):
        yield f"{BRIDGE} is still a member."
    if not place[0]:
        return
    of_step = {
        seat: is_done(other, seat, group)
        for other in rounds.of_step(place[0])
        for seat in rounds.members(other)
        if seat in seats
    }
    early = [seat for seat, done in of_step.items() if done]
    late = [seat for seat, done in of_step.items() if not done]
    where = f"Step {place[0]}{' of the rollback' if rounds.is_rollback else ''}"
    if early:
        yield f"{where}, as planned: {seats.names(early)}."
    if late:
        yield f"{where}, not yet as planned: {seats.names(late)}."
