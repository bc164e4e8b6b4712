"""The state of a watch: observations of its groups, and facts from several, such as durations without an owner.
Durations have bounds, because events between two observations have no exact time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cli.sources.source import Source
from cli.verbs.watch.events import EventKind, Place, WatchEvent, events, merge_observed, owners_of
from groups.lag import each_once, partition_lags, records_between, topics_read, total_lag
from groups.model import Cause, Group, GroupState, GroupType, Problem, Topic
from groups.waits import labels_of

RATE_WINDOW_MS = 30_000  # The window of rates: consumers commit every 5 s by default
LEAST_RATE_MS = 5_000  # The minimum window of a rate: in a shorter one, consumers may not have committed yet


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchObservation:
    """One observation of all groups."""

    asked_ms: int  # When the request was sent, in milliseconds since 1970 by the local clock
    at_ms: int  # When the groups had been described: the observed state is from a time between these two
    groups: Mapping[str, Group | None] = field(default_factory=dict)
    """Groups by id. None means that there is no such group. A group that could not be read is missing."""
    topics: Mapping[str, Topic] = field(default_factory=dict)
    """Topics of the groups: numbers of partitions and end offsets."""
    problems: tuple[Problem, ...] = ()


def observe(source: Source, names: Sequence[str], clock_ms: Callable[[], int]) -> WatchObservation:
    asked_ms = clock_ms()
    described = source.describe(names, offsets=True)
    at_ms = clock_ms()
    groups: dict[str, Group | None] = {group.id: group for group in described.items}
    gone = [problem for problem in described.problems if problem.cause is Cause.ABSENT]
    for problem in gone:
        groups.setdefault(problem.subject, None)
    topics = source.topics(topics_read(described.items), end_offsets=True, start_offsets=True)
    unread = [problem for problem in described.problems if problem not in gone]
    return WatchObservation(
        asked_ms=asked_ms,
        at_ms=at_ms,
        groups={name: groups[name] for name in names if name in groups},
        topics={topic.name: replace(topic, id=None, racks=None) for topic in topics.items},
        problems=(*unread, *topics.problems),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A duration with bounds."""

    least_ms: int
    most_ms: int | None  # None if it started before the watch


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedEvent:
    """An event, when it was observed, and its duration."""

    event: WatchEvent
    since_ms: int  # Time of the previous observation, after which it happened
    at_ms: int  # Time of the observation that showed it
    span: Gap | None = None
    """Time without an owner, for partitions that moved or were assigned; time until Stable, for a group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unowned:
    """A partition without an owner although the group reads its topic."""

    owned_until_ms: int | None
    """Start of the last observation at which it had an owner; None if it had none since the watch started."""
    since_ms: int  # End of the first observation at which it had no owner


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedGroup:
    shown: Group | None  # The group in the last observation that read it; None if there is no such group
    merged: Group | None  # The same group, completed from earlier observations
    asked_ms: int
    at_ms: int  # `asked_ms` and `at_ms` are the start and end of that observation
    owners_known_ms: int | None = None  # Start of the last observation that showed the owners
    wanted: frozenset[Place] = frozenset()
    """Partitions of the topics it reads; if it has no members, of the topics that its last members read."""
    unowned: Mapping[Place, Unowned] = field(default_factory=dict)
    unstable_since: tuple[int, int] | None = None
    """From the last observation at which it was Stable to the first at which it was not; None while it is Stable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchState:
    groups: Mapping[str, WatchedGroup] = field(default_factory=dict)
    window: tuple[WatchObservation, ...] = ()
    """Recent observations, the newest last, without those that read nothing."""
    labels: Mapping[str, str] = field(default_factory=dict)  # Labels of members, including former ones, by id
    last: WatchObservation | None = None  # The newest observation, even if it read nothing

    def step(self, observation: WatchObservation) -> "tuple[WatchState, tuple[ObservedEvent, ...]]":
        """The state after another observation, and the events since the previous one; the first one has no events."""
        groups = dict(self.groups)
        labels = dict(self.labels)
        happened: list[ObservedEvent] = []
        for name, shown in observation.groups.items():
            before = groups.get(name)
            groups[name] = after = _after(before, shown, observation)
            if after.merged is not None:
                labels |= labels_of(after.merged)
            if before is not None:
                times = {"since_ms": before.at_ms, "at_ms": after.at_ms}
                happened += [
                    ObservedEvent(event=event, span=_span(event, before, after), **times)
                    for event in events(before.merged, after.merged)
                ]
        window = self.window
        if observation.groups:
            oldest_ms = observation.at_ms - RATE_WINDOW_MS
            window = (*(earlier for earlier in window if earlier.at_ms >= oldest_ms), observation)
        return WatchState(groups=groups, window=window, labels=labels, last=observation), tuple(happened)


def owners_are_shown(group: Group) -> bool:
    """Whether a group's owners are known; brokers do not report those of a classic group in a rebalance."""
    if group.type is GroupType.CLASSIC and group.members and group.state is not GroupState.STABLE:
        return False
    return all(member.owned is not None for member in group.members)


def _after(before: WatchedGroup | None, shown: Group | None, observation: WatchObservation) -> WatchedGroup:
    if shown is None:
        return WatchedGroup(shown=None, merged=None, asked_ms=observation.asked_ms, at_ms=observation.at_ms)
    merged = merge_observed(before.merged if before else None, shown)
    assert merged is not None  # noqa: S101  (mypy)
    partitions = _wanted(merged, observation.topics)
    if not merged.members and before is not None:
        partitions = before.wanted
    known_ms = before.owners_known_ms if before else None
    return WatchedGroup(
        shown=shown,
        merged=merged,
        asked_ms=observation.asked_ms,
        at_ms=observation.at_ms,
        owners_known_ms=observation.asked_ms if owners_are_shown(shown) else known_ms,
        wanted=partitions,
        unowned=_unowned(before, merged, partitions, observation.at_ms),
        unstable_since=_unstable_since(before, shown, observation.at_ms),
    )


def _wanted(group: Group, topics: Mapping[str, Topic]) -> frozenset[Place]:
    """Every partition of the topics that members subscribe to, own or are assigned."""
    places: set[Place] = set()
    names: set[str] = set()
    for member in group.members:
        names |= set(member.subscription.topics) if member.subscription else set()
        for owned in (member.owned or {}, member.target or {}):
            names |= owned.keys()
            places |= {(topic, number) for topic, numbers in owned.items() for number in numbers}
    places |= {
        (name, number) for name in names if name in topics for number in range(topics[name].partitions)
    }
    return frozenset(places)


def _unowned(
    before: WatchedGroup | None, merged: Group, partitions: frozenset[Place], at_ms: int
) -> dict[Place, Unowned]:
    """Partitions without an owner; while a rebalance hides the owners, the previous ones count."""
    if before is None and not owners_are_shown(merged):
        return {}  # nothing is known yet
    known = before.unowned if before else {}
    had = owners_of(before.merged) if before and before.merged else {}
    until = before.owners_known_ms if before else None
    owned = owners_of(merged)
    return {
        partition: known.get(partition)
        or Unowned(owned_until_ms=until if partition in had else None, since_ms=at_ms)
        for partition in sorted(partitions - owned.keys())
    }


def _unstable_since(before: WatchedGroup | None, shown: Group, at_ms: int) -> tuple[int, int] | None:
    if shown.state is GroupState.STABLE or before is None:
        return None
    if before.unstable_since is not None:
        return before.unstable_since
    if before.shown is not None and before.shown.state is GroupState.STABLE:
        return before.asked_ms, at_ms
    return None


def _span(event: WatchEvent, before: WatchedGroup, after: WatchedGroup) -> Gap | None:
    if event.kind is EventKind.STATE_CHANGED and event.after == GroupState.STABLE.value:
        return before.unstable_since and _bounds(before.unstable_since, before, after)
    if event.kind is EventKind.PARTITIONS_MOVED and before.owners_known_ms is not None:
        return Gap(least_ms=0, most_ms=max(after.at_ms - before.owners_known_ms, 0))
    if event.kind is EventKind.PARTITIONS_ASSIGNED:
        gaps = [before.unowned.get((event.topic or "", number)) for number in event.partitions]
        spans = [
            _bounds((gap.owned_until_ms, gap.since_ms), before, after) for gap in gaps if gap is not None
        ]
        if not spans or any(span.most_ms is None for span in spans):
            return None
        return Gap(
            least_ms=min(span.least_ms for span in spans), most_ms=max(span.most_ms or 0 for span in spans)
        )
    return None


def _bounds(began: tuple[int | None, int], before: WatchedGroup, after: WatchedGroup) -> Gap:
    """Bounds of a duration that started between two observations, and ended between the last two."""
    earliest, latest = began
    most = None if earliest is None else max(after.at_ms - earliest, 0)
    return Gap(least_ms=max(before.asked_ms - latest, 0), most_ms=most)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicLag:
    """A topic of a group. None means unknown."""

    topic: str
    lag: int | None  # Total lag of the partitions whose lag is known, 0 beyond the end; None if none is known
    unknown: int
    """Number of partitions that are not in `lag`: nothing is committed, or their log end offset is not known."""
    consumed_per_s: float | None  # Records per second by which the committed offsets advanced
    produced_per_s: float | None  # Records per second by which the end offsets advanced
    unread: int | None = None
    """`lag` without deleted records: those that can be read; 0 if no member reads the topic."""

    @property
    def seconds_to_zero(self) -> float | None:
        """Seconds until the group has caught up at these rates; None if it will not, or if that is not known."""
        if self.unread is not None and self.unread <= 0:
            return 0.0
        if self.unread is None or self.consumed_per_s is None or self.produced_per_s is None:
            return None
        gain = self.consumed_per_s - self.produced_per_s
        return self.unread / gain if gain > 0 else None


def topic_lags(
    name: str, window: Sequence[WatchObservation], partitions: Mapping[str, int]
) -> list[TopicLag]:
    """Every topic, sorted, with offsets or in `partitions` (with its number of partitions)."""
    observations = [(seen, group) for seen in window if (group := seen.groups.get(name)) is not None]
    if not observations:
        return []
    (oldest, _), (newest, group) = observations[0], observations[-1]
    elapsed_ms = newest.at_ms - oldest.at_ms
    topics = sorted((group.offsets or {}).keys() | partitions.keys())
    unread: dict[str, list[int | None]] = {}
    for row in each_once(partition_lags(group, newest.topics)):
        unread.setdefault(row.topic, []).append(row.unread if row.is_subscribed else 0)
    return [
        TopicLag(
            topic=topic,
            lag=total_lag(lags.values()),
            unknown=max(partitions.get(topic, 0), len(lags)) - sum(lag is not None for lag in lags.values()),
            consumed_per_s=_rate(
                _committed(earlier, topic), _committed(group, topic), newest.at_ms - since.at_ms
            ),
            produced_per_s=_rate(_ends(oldest, topic), _ends(newest, topic), elapsed_ms),
            unread=total_lag(unread.get(topic, ())),
        )
        for topic in topics
        for lags in [lags_of(newest, group, topic)]
        for since, earlier in [
            next((one for one in observations if _committed(one[1], topic)), observations[0])
        ]
    ]


def lags_of(observation: WatchObservation, group: Group, topic: str) -> dict[int, int | None]:
    """The lag of every committed partition of a topic; None if it is not known."""
    ends = _ends(observation, topic)
    return {
        number: records_between(commit.offset, ends.get(number)) if commit.lag is None else commit.lag
        for number, commit in (group.offsets or {}).get(topic, {}).items()
    }


def _committed(group: Group, topic: str) -> dict[int, int]:
    partitions = (group.offsets or {}).get(topic, {})
    return {
        number: position for number, commit in partitions.items() if (position := commit.position) is not None
    }


def _ends(observation: WatchObservation, topic: str) -> dict[int, int]:
    known = observation.topics.get(topic)
    ends = (known.end_offsets if known else None) or {}
    return {number: end for number, end in ends.items() if end is not None}


def _rate(before: Mapping[int, int], after: Mapping[int, int], elapsed_ms: int) -> float | None:
    """Records per second of the partitions known at both observations; None if one went back after a reset."""
    steps = [offset - before[number] for number, offset in after.items() if number in before]
    if elapsed_ms < LEAST_RATE_MS or not steps or min(steps) < 0:
        return None
    return sum(steps) * 1000 / elapsed_ms
