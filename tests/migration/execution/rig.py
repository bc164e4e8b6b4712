"""An execution whose group the test changes by hand."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from groups.model import Group, GroupState, Member
from migration.execution.events import EndHooks, GroupSighting, HookResult, Order, RunHook
from migration.execution.machine import Execution
from migration.execution.stops import ExecutionLimits, StopRule
from migration.model import Plan
from tests.migration.cases import COOPERATIVE, NEW
from tests.migration.rehearsal.groups import PARTITIONS, classic_group, plan_of

LIMITS = ExecutionLimits(accept_drift=True)
READ = {"orders": PARTITIONS}


class Rig:
    def __init__(self, group: Group | None = None, plan: Plan | None = None) -> None:
        group = group or classic_group()
        members = tuple(replace(member, protocols=None) for member in group.members)  # As a broker shows them
        self.group: Group | None = replace(group, members=members)
        self.plan = plan or plan_of(classic_group(), COOPERATIVE)
        self.execution = Execution(self.plan, LIMITS)
        self.at_s = 0.0
        self._ids = count(100)
        self.left: list[Member] = []

    def look(self, after_s: float = 1.0, *, problem: str = "", is_refused: bool = False) -> tuple[Order, ...]:
        self.at_s += after_s
        group = None if problem else self.group
        seen = GroupSighting(
            at_s=self.at_s, cluster=NEW, group=group, problem=problem, is_refused=is_refused, partitions=READ
        )
        return self.execution.observe(seen)

    def looks(self, for_s: float) -> Iterator[Order]:
        """Look every second, until the time has passed or it is over; the orders."""
        end_s = self.at_s + for_s
        while self.at_s < end_s and not self.execution.is_over:
            yield from self.look()

    def next_hooks(self) -> list[RunHook]:
        """Look until the next hooks begin."""
        for _ in range(20):
            if hooks := [order for order in self.look() if isinstance(order, RunHook)]:
                return hooks
        raise AssertionError(f"no hook begins: {self.execution.gate} {self.execution.stop}")

    def end(self, hook: RunHook, problem: str = "") -> tuple[Order, ...]:
        return self.execution.hook_ended(HookResult(at_s=self.at_s, member=hook.member, problem=problem))

    # The group

    def member(self, name: str) -> Member:
        assert self.group is not None
        return next(member for member in self.group.members if member.client.id == name)

    def leave(self, member: Member) -> None:
        assert self.group is not None
        self.left.append(member)
        members = tuple(one for one in self.group.members if one is not member)
        state = self.group.state if members else GroupState.EMPTY
        self.group = replace(self.group, members=members, state=state)

    def join(self, member: Member) -> Member:
        """The member, under a new id."""
        assert self.group is not None
        new = replace(member, id=f"{member.client.id}-{next(self._ids)}")
        self.group = replace(self.group, members=(*self.group.members, new), state=GroupState.STABLE)
        return new

    def restart(self, hook: RunHook) -> None:
        """What the hook is for."""
        assert self.group is not None
        for id_ in hook.ids:
            member = next(one for one in self.group.members if one.id == id_)
            self.leave(member)
            self.join(member)
        self.end(hook)

    @property
    def rule(self) -> StopRule | None:
        return self.execution.stop.rule if self.execution.stop else None


def ends_hooks(orders: tuple[Order, ...]) -> bool:
    return any(isinstance(order, EndHooks) for order in orders)
