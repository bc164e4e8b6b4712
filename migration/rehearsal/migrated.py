"""Many executions of one plan, summed up: how they ended, what the group was left as, and those that broke what must
hold."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from groups.counts import counted
from migration.execution.machine import Phase
from migration.rehearsal.as_migrate import Migrated


@dataclass(slots=True, kw_only=True)
class MigrationEnds:
    """The executions that ended in one way, by the rule that stopped the plan."""

    end: Phase
    rule: str  # Empty if it finished
    runs: int = 0
    seed: int  # The first one
    left: Counter[str] = field(default_factory=Counter)  # How many by the group that was left
    back_rules: Counter[str] = field(default_factory=Counter)  # How many by what stopped the rollback


@dataclass(slots=True, kw_only=True)
class MigratedSum:
    runs: int = 0
    hooks: int = 0
    ends: dict[tuple[Phase, str], MigrationEnds] = field(default_factory=dict)
    longest_round: Migrated | None = None
    broken: list[Migrated] = field(default_factory=list)

    def add(self, run: Migrated) -> None:
        rule = run.stop.rule.value if run.stop is not None else ""
        ends = self.ends.setdefault((run.end, rule), MigrationEnds(end=run.end, rule=rule, seed=run.seed))
        ends.runs += 1
        ends.left[left_text(run)] += 1
        if run.rollback_stop is not None:
            ends.back_rules[run.rollback_stop.rule.value] += 1
        self.runs += 1
        self.hooks += run.hooks
        if self.longest_round is None or run.longest_round_s > self.longest_round.longest_round_s:
            self.longest_round = run
        if run.broken:
            self.broken.append(run)

    @property
    def ordered(self) -> Iterator[MigrationEnds]:
        """Finished first, then the most frequent."""
        order = list(Phase)
        ends = self.ends.values()
        yield from sorted(ends, key=lambda one: (order.index(one.end), -one.runs, one.rule))

    def count(self, end: Phase) -> int:
        return sum(one.runs for one in self.ends.values() if one.end is end)


def left_text(run: Migrated) -> str:
    """`classic (range), Stable, 2 members`; of both protocols, `consumer (uniform), Stable, 3 members, 1 upgraded`."""
    left = run.left
    if left.type is None or left.state is None:
        return "no group"
    kind = f"{left.type.value} ({left.protocol})" if left.protocol else left.type.value
    mixed = f", {left.upgraded} upgraded" if 0 < left.upgraded < left.members else ""
    return f"{kind}, {left.state.value}, {counted(left.members, 'member')}{mixed}"
