"""How far the group is in a step: who is as the round leaves them, who has returned, whether the gate is open."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from groups.model import Group, MemberProtocol
from migration.execution.events import GroupSighting, Place
from migration.execution.gates import judge_back, judge_round
from migration.execution.hands import Hands
from migration.execution.rounds import START, PlanRounds
from migration.execution.seats import Seats
from migration.gate.observation import GateResult
from migration.model import PlannedMember


@dataclass(frozen=True, slots=True, kw_only=True)
class StepProgress:
    """A view of the state of an execution, which changes nothing. Members are called by the ids of the plan."""

    rounds: PlanRounds
    place: Place
    seats: Seats
    hands: Hands
    opened: Mapping[int, Sequence[PlannedMember]]  # The members when the gate of each step opened

    @property
    def began_with(self) -> Sequence[PlannedMember]:
        """The members when the step began; before the first step, those of the plan."""
        baseline = self.rounds.plan.baseline
        return self.opened.get(self.place[0] - 1, baseline.members if baseline else ())

    def is_done(self, seat: str, group: Group | None) -> bool:
        return self.is_done_at(self.place, seat, group)

    def is_done_at(self, place: Place, seat: str, group: Group | None) -> bool:
        hooked = self.hands.began(place[0])
        return self.rounds.is_done(place, seat, self.seats, group, self.began_with, hooked)

    def has_returned(self, seat: str) -> bool:
        """Whether the member is in the group under an id that it did not have when the step, or its hook, began."""
        hooked = (self.hands.began(self.place[0]) or {}).get(seat, "")
        former = {hooked, *(member.id for member in self.began_with)}
        return self.seats.is_present(seat) and self.seats[seat].id not in former

    def judge(self, seen: GroupSighting, *, accept_drift: bool) -> GateResult:
        members = [seat for seat in self.rounds.members(self.place) if seat in self.seats]
        undone = [self.seats[seat] for seat in members if not self.is_done(seat, seen.group)]
        undone += [self.seats[seat] for seat in self._fallen_back(seen.group) if seat not in members]
        if self.rounds.is_rollback:
            return judge_back(self.rounds, self.place, seen, self.seats, undone)
        then = self.opened, tuple(self._awaiting_turn(seen.group))
        return judge_round(self.rounds, self.place, seen, *then, undone, accept_drift=accept_drift)

    def _fallen_back(self, group: Group | None) -> Iterator[str]:
        """Members of earlier rounds that do not speak the protocol with which their last one has started them."""
        started: dict[str, MemberProtocol] = {}
        for place in self.rounds.places[: self.rounds.places.index(self.place)]:
            rollout = self.rounds.rollout(place)
            if rollout is not None and rollout.start is not None:
                started |= dict.fromkeys(self.rounds.members(place), rollout.start.protocol)
        spoken = {member.id: member.protocol for member in group.members} if group else {}
        for seat in self.seats:
            protocol = spoken.get(self.seats[seat].id)
            if protocol is not None and protocol is not started.get(seat, protocol):
                yield seat

    def _awaiting_turn(self, group: Group | None) -> Iterator[PlannedMember]:
        """The members when the step began. One that has a new id, is not as planned, and has not returned from a hook
        of this step, has that id: a gate would take it for restarted, and the group for off the plan."""
        hooked = self.hands.began(self.place[0])
        for member in self.began_with:
            seat = self.seats.seat_of(member.id)
            if seat is None or hooked is None or self.place == START or self.is_done(seat, group):
                yield member
            else:
                latest = self.seats[seat].id
                yield replace(member, id=latest) if hooked.get(seat, latest) == latest else member
