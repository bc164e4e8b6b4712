"""The hooks of an execution: those that are running, have ended and ever began; and those that are due: with which a
round begins, and those that follow."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from groups.model import Group, GroupState
from migration.execution.events import GroupSighting, Order, Place, RunHook
from migration.execution.rollback import BACK
from migration.execution.rounds import START, PlanRounds
from migration.execution.seats import Seats
from migration.execution.settings import SettingsChange, settings_after
from migration.model import Plan, RoundAction


class Hands:
    """Members are called by the ids of the plan. Members of one process share a hook."""

    def __init__(self, began: Mapping[tuple[int, str], str] | None, processes: Mapping[str, str]) -> None:
        """`began`: the hooks of former executions, by step and member, with the member's id then; None: not known."""
        self._processes = processes
        self.is_known = began is not None
        self._began: dict[int, dict[str, str]] = {}
        for (step, member), id_ in (began or {}).items():
            self._began.setdefault(step, {})[member] = id_
        self.running: dict[str, RunHook] = {}
        self.ended: dict[str, float] = {}  # Members of the round whose hook has ended, and when
        self.since_s: float | None = None  # When the first of these began
        self.again: set[str] = set()
        """Members whose hook began in a former execution, which may have had any effect, or none."""
        self.rest: tuple[str, ...] = ()  # Members to be started when the first of their round runs as planned
        self.errand: str | None = None
        """The member that was stopped for the bridge, to be started when it has left."""

    def process(self, seat: str) -> str:
        return self._processes.get(seat, seat)

    def by_process(self, seats: Iterable[str]) -> tuple[tuple[str, ...], ...]:
        members: dict[str, list[str]] = {}
        for seat in seats:
            members.setdefault(self.process(seat), []).append(seat)
        return tuple(map(tuple, members.values()))

    def in_turn(self, seats: Iterable[str]) -> frozenset[str]:
        """Those of these members that are being restarted, with all members of their processes."""
        processes = {self.process(seat) for seat in (*self.running, *self.ended)}
        return frozenset(seat for seat in seats if self.process(seat) in processes)

    def began(self, step: int) -> Mapping[str, str] | None:
        """The members on which a hook began in this step, with their ids then; None: not known."""
        return self._began.get(step, {}) if self.is_known else None

    def begun_until(
        self, rounds: PlanRounds, place: Place, outside: Mapping[int, Collection[str]]
    ) -> Mapping[int, tuple[str, ...]]:
        """By step up to this place, the members that may run otherwise than before it: those on which a hook began, all
        of its rounds if that is not known, and those that were restarted although it was not their turn (`outside`)."""
        begun = {step: {*members} for step, members in self._began.items()}
        if not self.is_known:
            for other in rounds.places:
                if START < other <= place:
                    begun.setdefault(other[0], set()).update(rounds.members(other))
        for step, members in outside.items():
            begun.setdefault(step, set()).update(members)
        return {step: tuple(sorted(members)) for step, members in begun.items() if members}

    @property
    def hooks(self) -> tuple[RunHook, ...]:
        return tuple({hook.member: hook for hook in self.running.values()}.values())

    def begin(self, hook: RunHook, at_s: float) -> None:
        self.since_s = at_s if self.since_s is None else self.since_s
        self.running |= dict.fromkeys(hook.members, hook)
        self.ended = {seat: at_s for seat, at_s in self.ended.items() if seat not in hook.members}
        if hook.is_of_round:
            self._began.setdefault(hook.place[0], {}).update(zip(hook.members, hook.ids, strict=True))

    def end(self, member: str, at_s: float) -> RunHook:
        hook = self.running[member]
        for seat in hook.members:
            del self.running[seat]
            self.ended[seat] = at_s
        return hook

    def expect(self, seats: Sequence[str], at_s: float) -> None:
        """Give the members whose hook began in a former execution time to return."""
        self.again = set(seats)
        self.ended, self.since_s = dict.fromkeys(seats, at_s), at_s

    def end_round(self) -> None:
        self.ended, self.again, self.rest, self.since_s = {}, set(), (), None


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
            runs = any(
                self.seats.is_present(seat) for seat in members
            )  # With other lines: to start it does nothing
            order = RoundAction.RESTART if runs and action is RoundAction.START else action
            hook = RunHook(
                place=self.place,
                members=members,
                ids=tuple(self.seats[seat].id for seat in members),
                seat=self.seats[members[0]],
                action=order,
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
