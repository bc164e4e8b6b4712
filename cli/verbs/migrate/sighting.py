"""Looks at a group while its plan is carried out: what gates need each time; less often offsets, and what
`kohort diagnose` finds in them."""

import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from cli.errors import CommandError
from cli.selection import ReusableSource
from cli.sources.source import Source
from groups.diagnosis import assignments, classic_streams, offsets
from groups.diagnosis.case import Observation, Thresholds
from groups.diagnosis.diagnose import diagnose
from groups.findings import Level
from groups.lag import each_once, partition_lags, topics_read, total_lag
from groups.listing import Cause
from groups.model import Cluster, Group, Topic
from migration.execution.events import GroupSighting
from migration.gate.judge import needs_leader
from migration.model import Plan, Step
from wire.client.errors import AuthenticationFailed
from wire.errors import WireError

OFFSETS_S = 10.0  # Between two readings of offsets: they cost a request for each leader of a partition
RULES = (
    classic_streams.streams_error,
    assignments.without_owner,
    assignments.topic_missing,
    assignments.regex_matches_nothing,
    offsets.topic_recreated,
    offsets.records_lost,
    offsets.beyond_end,
)
"""The rules of `kohort diagnose` whose errors a restart does not cause, and that need no more than what is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Offsets:
    """What is read less often. None: not known."""

    lag: int | None = None
    written: int | None = None
    errors: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Lookout:
    plan: Plan
    source: ReusableSource
    with_offsets: bool = True
    _topics: frozenset[str] = field(init=False)
    _read_s: float | None = None  # When offsets were read
    _observations: deque[Observation] = field(default_factory=lambda: deque(maxlen=2))
    _errors: Mapping[str, str] = field(default_factory=dict)
    _suspected: Mapping[str, str] | None = None  # The errors of the last reading; None before the first

    def __post_init__(self) -> None:
        baseline = self.plan.baseline
        self._topics = frozenset(baseline.partitions if baseline else ())

    def look(self, at_s: float, step: Step | None) -> GroupSighting:
        """The group as it is now; `step`: the one whose gate is awaited."""
        try:
            return self._seen(self.source.get(), at_s, step)
        except (WireError, CommandError) as error:
            is_refused = getattr(error, "is_refusal", False) or isinstance(error, AuthenticationFailed)
            self.source.close()
            return GroupSighting(at_s=at_s, cluster=Cluster(), problem=str(error), is_refused=is_refused)

    def _seen(self, source: Source, at_s: float, step: Step | None) -> GroupSighting:
        is_due = self.with_offsets and (self._read_s is None or at_s - self._read_s >= OFFSETS_S)
        source.is_followed = True
        described = source.describe([self.plan.group], offsets=is_due)
        cluster = source.cluster()
        group: Group | None = described.items[0] if described.items else None
        if group is None and not all(problem.cause is Cause.ABSENT for problem in described.problems):
            return GroupSighting(
                at_s=at_s,
                cluster=cluster,
                problem="; ".join(problem.message for problem in described.problems),
                is_refused=any(problem.cause is Cause.FORBIDDEN for problem in described.problems),
            )
        if group is not None and needs_leader(step):
            (group,) = source.with_leaders([group])
        read = _Offsets(errors=self._errors)
        if is_due and group is not None:
            self._read_s = at_s
            read = self._offsets(source, group)
        return GroupSighting(
            at_s=at_s,
            group=group,
            cluster=cluster,
            partitions=self._partitions(source),
            lag=read.lag,
            written=read.written,
            errors=read.errors,
        )

    def _partitions(self, source: Source) -> dict[str, int]:
        """Partition counts of the plan's topics; a topic that was deleted has none."""
        if not self._topics:
            return {}
        read = source.topics(self._topics, end_offsets=False)
        counts = {topic.name: topic.partitions for topic in read.items}
        if self.source.is_live and not read.problems:
            counts |= dict.fromkeys(self._topics - counts.keys(), 0)
        return counts

    def _offsets(self, source: Source, group: Group) -> _Offsets:
        """Lag, end offsets and errors. An error that was not there at the first reading counts when the next reading
        shows it too."""
        names = frozenset(topics_read([group])) | self._topics
        read = source.topics(names, end_offsets=True, start_offsets=True)
        topics = {topic.name: topic for topic in read.items}
        unread = frozenset(name for problem in read.problems for name in problem.topics)
        missing = names - topics.keys() - unread if self.source.is_live else None
        seen = Observation(
            at_ms=time.time_ns() // 1_000_000, group=group, topics=topics, missing_topics=missing
        )
        self._observations.append(seen)
        found = diagnose(group.id, tuple(self._observations), Thresholds(), RULES).findings
        errors = {f"{one.rule} {one.member or ''}": one.message for one in found if one.level is Level.ERROR}
        before = errors if self._suspected is None else {**self._errors, **self._suspected}
        self._errors = {key: text for key, text in errors.items() if key in before}
        self._suspected = errors
        lag = total_lag(row.lag for row in each_once(partition_lags(group, topics)))
        return _Offsets(lag=lag, written=self._written(topics), errors=self._errors)

    def _written(self, topics: Mapping[str, Topic]) -> int | None:
        """The records that the plan's topics ever had; None if an end offset is not known."""
        ends = [topics[name].end_offsets for name in self._topics if name in topics]
        if (
            not ends
            or len(ends) < len(self._topics)
            or any(of_topic is None or None in of_topic.values() for of_topic in ends)
        ):
            return None
        return sum(end or 0 for of_topic in ends for end in (of_topic or {}).values())
