"""Looks at a group while its plan is carried out: what gates need each time, the lag less often."""

from dataclasses import dataclass, field

from cli.errors import CommandError
from cli.selection import ReusableSource
from cli.sources.source import Source
from groups.listing import Cause
from groups.model import Cluster, Group
from migration.execution.events import GroupSighting
from migration.gate.judge import needs_leader
from migration.model import Plan, Step
from wire.client.errors import WireError


@dataclass(slots=True, kw_only=True)
class Lookout:
    plan: Plan
    source: ReusableSource
    _topics: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        baseline = self.plan.baseline
        self._topics = frozenset(baseline.partitions if baseline else ())

    def look(self, at_s: float, step: Step | None) -> GroupSighting:
        """The group as it is now; `step`: the one whose gate is awaited."""
        try:
            return self._seen(self.source.get(), at_s, step)
        except (WireError, CommandError) as error:
            lasting = not self.source.may_pass(error)
            self.source.close()
            return GroupSighting(at_s=at_s, cluster=Cluster(), problem=str(error), is_refused=lasting)

    def _seen(self, source: Source, at_s: float, step: Step | None) -> GroupSighting:
        described = source.describe([self.plan.group], offsets=False)
        cluster = source.cluster()
        group: Group | None = described.items[0] if described.items else None
        if group is None and not all(problem.cause is Cause.ABSENT for problem in described.problems):
            causes = {problem.cause for problem in described.problems}
            return GroupSighting(
                at_s=at_s,
                cluster=cluster,
                problem="; ".join(problem.message for problem in described.problems),
                is_refused=Cause.FORBIDDEN in causes,
            )
        if group is not None and needs_leader(step):
            (group,) = source.with_leaders([group])
        return GroupSighting(at_s=at_s, group=group, cluster=cluster, partitions=self._partitions(source))

    def _partitions(self, source: Source) -> dict[str, int]:
        """Partition counts of the plan's topics; a topic that was deleted has none."""
        if not self._topics:
            return {}
        read = source.topics(self._topics, end_offsets=False)
        counts = {topic.name: topic.partitions for topic in read.items}
        if self.source.is_live and not read.problems:
            counts |= dict.fromkeys(self._topics - counts.keys(), 0)
        return counts
