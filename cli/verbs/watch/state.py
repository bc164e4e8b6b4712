"""The state of a watch: what an observation shows of its groups, what is believed after it, and what only time shows.

How long partitions have been without an owner, how fast a group consumes. Times are told as bounds: between two looks
nobody was looking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cli.sources.source import Source
from cli.verbs.watch.events import EventKind, Place, WatchEvent, believed, events, owners_of
from groups.lag import topics_read
from groups.model import Cause, Group, GroupState, GroupType, Problem, Topic
from groups.waits import labels_of

RATE_WINDOW_MS = 30_000
"""What rates are told from: consumers commit every 5 s unless told otherwise."""
LEAST_RATE_MS = 5_000
"""From less no rate is told: nobody may have committed yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What one look showed."""

    asked_ms: int
    """When the question was sent, in milliseconds since 1970 by the watcher's clock."""
    at_ms: int
    """When the groups had been described: what is shown was so at some moment between these two."""
    groups: Mapping[str, Group | None] = field(default_factory=dict)
    """By id. None: there is no such group. A group that could not be read is missing."""
    topics: Mapping[str, Topic] = field(default_factory=dict)
    """Of what the groups read: numbers of partitions and end offsets."""
    problems: tuple[Problem, ...] = ()


def observe(source: Source, names: Sequence[str], clock_ms: Callable[[], int]) -> Observation:
    """Look once."""
    asked_ms = clock_ms()
    described = source.describe(names, offsets=True)
    at_ms = clock_ms()
    found: dict[str, Group | None] = {group.id: group for group in described.items}
    gone = [problem for problem in described.problems if problem.cause is Cause.ABSENT]
    for problem in gone:
        found.setdefault(problem.subject, None)
    topics = source.topics(topics_read(described.items), end_offsets=True)
    unread = [problem for problem in described.problems if problem not in gone]
    return Observation(
        asked_ms=asked_ms,
        at_ms=at_ms,
        groups={name: found[name] for name in names if name in found},
        topics={topic.name: replace(topic, id=None, racks=None) for topic in topics.items},
        problems=(*unread, *topics.problems),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A duration of which only bounds are known."""

    least_ms: int
    most_ms: int | None
    """None: since before anybody looked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedEvent:
    """An event, when it was seen, and what the course adds to it."""

    event: WatchEvent
    since_ms: int
    """The look before, after which it happened."""
    at_ms: int
    """The look that showed it."""
    span: Gap | None = None
    """Of partitions that moved or were assigned: without an owner. Of a group that came to rest: not at rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unowned:
    """A partition that nobody owns though the group reads its topic."""

    owned_until_ms: int | None
    """The last look at which it had an owner, as it began; None: not since the watch began."""
    since_ms: int
    """The first look at which it had none, as it ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedGroup:
    """One group so far."""

    shown: Group | None
    """As the last look that reached it showed it; None: there is no such group."""
    belief: Group | None
    """The same, completed by what was seen before."""
    asked_ms: int
    at_ms: int
    """When that look began and ended."""
    owners_known_ms: int | None = None
    """When the last look began that showed who owns what."""
    wanted: frozenset[Place] = frozenset()
    """Partitions of the topics it reads; those of its last members where it has none."""
    unowned: Mapping[Place, Unowned] = field(default_factory=dict)
    unstable_since: tuple[int, int] | None = None
    """When the last look began at which it was Stable, and the first one ended at which it was not; None while it is
    Stable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchState:
    """All groups so far."""

    groups: Mapping[str, WatchedGroup] = field(default_factory=dict)
    window: tuple[Observation, ...] = ()
    """The looks of the last while, the newest last; those that reached nothing are left out."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """What to call members, those that left among them, by id."""
    last: Observation | None = None
    """The newest look, whatever it reached."""

    def step(self, observation: Observation) -> tuple[WatchState, tuple[ObservedEvent, ...]]:
        """The course after one more look, and what happened since the one before. The first look is where it begins."""
        groups = dict(self.groups)
        labels = dict(self.labels)
        happened: list[ObservedEvent] = []
        for name, shown in observation.groups.items():
            before = groups.get(name)
            groups[name] = after = _after(before, shown, observation)
            if after.belief is not None:
                labels |= labels_of(after.belief)
            if before is not None:
                happened += _observed_events(before, after)
        return (
            WatchState(
                groups=groups, window=_window(self.window, observation), labels=labels, last=observation
            ),
            tuple(happened),
        )


def owners_are_shown(group: Group) -> bool:
    """Whether the look showed who owns what.

    Of a classic group in a rebalance it does not: brokers show what members were given in the one before, or nothing.
    """
    if group.type is GroupType.CLASSIC and group.members and group.state is not GroupState.STABLE:
        return False
    return all(member.owned is not None for member in group.members)


def _after(before: WatchedGroup | None, shown: Group | None, observation: Observation) -> WatchedGroup:
    if shown is None:
        return WatchedGroup(shown=None, belief=None, asked_ms=observation.asked_ms, at_ms=observation.at_ms)
    belief = believed(before.belief if before else None, shown)
    assert belief is not None  # noqa: S101  (mypy)
    wanted = _wanted(belief, observation.topics)
    if not belief.members and before is not None:
        wanted = before.wanted
    known_ms = before.owners_known_ms if before else None
    return WatchedGroup(
        shown=shown,
        belief=belief,
        asked_ms=observation.asked_ms,
        at_ms=observation.at_ms,
        owners_known_ms=observation.asked_ms if owners_are_shown(shown) else known_ms,
        wanted=wanted,
        unowned=_unowned(before, belief, wanted, observation.at_ms),
        unstable_since=_unstable_since(before, shown, observation.at_ms),
    )


def _wanted(group: Group, topics: Mapping[str, Topic]) -> frozenset[Place]:
    """Every partition of the topics that members name, own or are to own."""
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
    before: WatchedGroup | None, belief: Group, wanted: frozenset[Place], at_ms: int
) -> dict[Place, Unowned]:
    """What nobody owns now; of members in a rebalance that do not show what they own, what they had counts."""
    if before is None and not owners_are_shown(belief):
        return {}  # nothing is known yet
    known = before.unowned if before else {}
    had = owners_of(before.belief) if before and before.belief else {}
    until = before.owners_known_ms if before else None
    owned = owners_of(belief)
    return {
        place: known.get(place) or Unowned(owned_until_ms=until if place in had else None, since_ms=at_ms)
        for place in sorted(wanted - owned.keys())
    }


def _unstable_since(before: WatchedGroup | None, shown: Group, at_ms: int) -> tuple[int, int] | None:
    if shown.state is GroupState.STABLE or before is None:
        return None
    if before.unstable_since is not None:
        return before.unstable_since
    if before.shown is not None and before.shown.state is GroupState.STABLE:
        return before.asked_ms, at_ms
    return None


def _observed_events(before: WatchedGroup, after: WatchedGroup) -> Iterator[ObservedEvent]:
    for event in events(before.belief, after.belief):
        yield ObservedEvent(
            event=event, since_ms=before.at_ms, at_ms=after.at_ms, span=_span(event, before, after)
        )


def _span(event: WatchEvent, before: WatchedGroup, after: WatchedGroup) -> Gap | None:
    if event.kind is EventKind.STATE_CHANGED and event.after == GroupState.STABLE.value:
        return _bounds(before.unstable_since, before, after)
    if event.kind is EventKind.PARTITIONS_MOVED and before.owners_known_ms is not None:
        return Gap(least_ms=0, most_ms=max(after.at_ms - before.owners_known_ms, 0))
    if event.kind is EventKind.PARTITIONS_ASSIGNED:
        gaps = [before.unowned.get((event.topic or "", number)) for number in event.partitions]
        spans = [
            _bounds((gap.owned_until_ms, gap.since_ms), before, after) for gap in gaps if gap is not None
        ]
        known = [span for span in spans if span is not None]
        if not known or any(span.most_ms is None for span in known):
            return None
        return Gap(
            least_ms=min(span.least_ms for span in known),
            most_ms=max(span.most_ms or 0 for span in known),
        )
    return None


def _bounds(began: tuple[int | None, int] | None, before: WatchedGroup, after: WatchedGroup) -> Gap | None:
    """Of something that began between two looks, and ended between the last two: bounds that hold in any case."""
    if began is None:
        return None
    earliest, latest = began
    most = None if earliest is None else max(after.at_ms - earliest, 0)
    return Gap(least_ms=max(before.asked_ms - latest, 0), most_ms=most)


def _window(window: tuple[Observation, ...], observation: Observation) -> tuple[Observation, ...]:
    if not observation.groups:
        return window
    return (*(each for each in window if each.at_ms >= observation.at_ms - RATE_WINDOW_MS), observation)
