"""The hooks that are due: with which a round begins, and those that follow."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from groups.model import Group, GroupState
from migration.execution.events import GroupSighting, Order, Place, RunHook
from migration.execution.hands import Hands
from migration.execution.rollback import BACK
from migration.execution.rounds import PlanRounds
from migration.execution.seats import Seats
from migration.execution.settings import SettingsChange, settings_after
from migration.model import Plan, RoundAction


@dataclass(frozen=True, slots=True, kw_only=True)
class HookMaker:
    """Makes the hooks of a round, and notes them in `hands`."""

    forward: Plan  # The plan, also in its rollback
    rounds: PlanRounds
    place: Place
    seats: Seats
    hands: Hands
    is_done: Callable[[str, Group | None], bool]  # Whether a member is as the round leaves it
    at_s: float

    @property
    def _members(self) -> list[str]:
        return [seat for seat in self.rounds.members(self.place) if seat in self.seats]

    def of_round(self, seats: Sequence[str], group: Group | None) -> tuple[Order, ...]:
        """Of members that are started together, the first must run as planned before the rest is started."""
        rollout = self.rounds.rollout(self.place)
        if rollout is None or rollout.action is not RoundAction.START or not seats:
            return self.hooks(seats)
        if any(self.is_done(seat, group) for seat in self._members):
            return self.hooks(seats)
        has_first = len(seats) < len(self._members)  # Its hook began in a former execution
        first = () if has_first else self.hands.by_process(seats)[0]
        self.hands.rest = tuple(seat for seat in seats if seat not in first)
        return self.hooks(first)

    def following(self, seen: GroupSighting, return_s: float) -> tuple[Order, ...]:
        """Those that are due later: of the rest of members to start, of a member that was stopped for the bridge and
        has left, and of members whose hook of a former execution had no effect."""
        hands = self.hands
        if hands.errand is not None and not self.seats.is_present(hands.errand):
            seat, hands.errand = hands.errand, None
            return self.hooks([seat], RoundAction.START, until=self.place[0] - 1)
        if hands.rest and seen.group is not None and seen.group.state is GroupState.STABLE:
            first = [seat for seat in self._members if seat not in hands.rest]
            if all(self.is_done(seat, seen.group) for seat in first):
                rest, hands.rest = hands.rest, ()
                return self.hooks(rest)
        late = [
            seat
            for seat in sorted(hands.again)
            if seen.at_s - hands.ended[seat] >= return_s and not self.is_done(seat, seen.group)
        ]
        hands.again -= {*late}
        return self.hooks(late)

    def hooks(
        self, seats: Sequence[str], action: RoundAction | None = None, *, until: int | None = None
    ) -> tuple[Order, ...]:
        """One hook for each process of these members: the round's action, or one that leaves them as the step `until`
        has left them."""
        rollout = self.rounds.rollout(self.place)
        action = action or (rollout.action if rollout else RoundAction.RESTART)
        hooks = []
        for members in self.hands.by_process(seats):
            hook = RunHook(
                place=self.place,
                members=members,
                ids=tuple(self.seats[seat].id for seat in members),
                seat=self.seats[members[0]],
                action=action,
                change=self._change(members[0], action, until),
                is_rollback=self.rounds.is_rollback,
                is_of_round=until is None,
            )
            hooks.append(hook)
            self.hands.begin(hook, self.at_s)
        return tuple(hooks)

    def _change(self, seat: str, action: RoundAction, until: int | None) -> SettingsChange:
        """The member's configuration after the round: in the rollback, as before the step that is undone."""
        if action is RoundAction.STOP:
            return SettingsChange()
        last, step = self.place[0] if until is None else until, self.rounds.step(self.place)
        if self.rounds.is_rollback and step is not None:
            last = int(step.id.removeprefix(BACK)) - 1
        return settings_after(PlanRounds(self.forward).steps_of(seat, last), self.seats[seat].library)
