"""What the screens show: the facts that polls have brought, as one immutable value that each poll replaces."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from cli.polls.history import PolledHistory
from cli.polls.reading import PolledGroup, PollResult
from cli.verbs.top.ownership import Tracks, tracks_after
from cli.verbs.watch.event_text import event_lines
from cli.verbs.watch.events import Place
from cli.verbs.watch.state import WatchObservation, WatchState
from groups.lag import each_once
from groups.listing import Cause, GroupListing, Problem
from groups.model import Cluster, Topic

HOUR_MS = 3_600_000
LONGEST_LOG = 500  # Events of the group on screen
SAMPLES = 120  # Of a partition


class Sample(NamedTuple):
    """A partition at a poll; None: not known."""

    at_ms: int
    committed: int | None
    end: int | None
    lag: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenGroup:
    """A group whose offsets have been read."""

    at_ms: int
    polled: PolledGroup
    history: PolledHistory
    rebalanced_ms: tuple[int, ...] = ()  # Of the last hour: the polls that showed a rebalance
    samples: Mapping[Place, tuple[Sample, ...]] = field(default_factory=dict)
    """Each partition at the last polls, of the group on screen only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    at_ms: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    source: str = ""
    at_ms: int | None = None  # When the list was read; None: not yet
    listings: Mapping[str, GroupListing] = field(default_factory=dict)
    groups: Mapping[str, SeenGroup] = field(default_factory=dict)  # Those of `listings` that have been read
    topics: Mapping[str, Topic] = field(
        default_factory=dict
    )  # Of the last poll that read the group on screen
    cluster: Cluster | None = None
    problems: tuple[Problem, ...] = ()
    failure: str = ""  # Why the source does not answer; what is known from before is kept
    failing_ms: int | None = None  # Since when
    watched: WatchState = field(default_factory=WatchState)  # The group on screen, since it was opened
    owners: Tracks = field(default_factory=dict)  # Of its partitions, since then
    log: tuple[LogLine, ...] = ()
    past_ms: int | None = None  # The moment shown; None: now

    def listed(self, listings: Sequence[GroupListing], at_ms: int, problems: tuple[Problem, ...]) -> "Sight":
        by_id = {listing.id: listing for listing in listings}
        if any(problem.cause is not Cause.ABSENT for problem in problems):
            # A broker that does not answer lists none of its groups, but they still exist
            by_id = {**self.listings, **by_id}
        groups = {name: seen for name, seen in self.groups.items() if name in by_id}
        return replace(
            self, at_ms=at_ms, listings=by_id, groups=groups, problems=problems, failure="", failing_ms=None
        )

    def failed(self, why: str, at_ms: int) -> "Sight":
        return replace(self, failure=why, failing_ms=self.failing_ms or at_ms)

    def read(self, result: PollResult, opened: str | None, asked_ms: int) -> "Sight":
        """With what a poll of some groups has brought; `opened` is the group on screen."""
        groups = dict(self.groups)
        for name, polled in result.groups.items():
            groups[name] = _after(groups.get(name), polled, result, is_opened=name == opened)
        sight = replace(self, groups=groups)
        return sight if opened is None else sight.with_events(result, opened, asked_ms)

    def with_events(self, result: PollResult, opened: str, asked_ms: int) -> "Sight":
        """With what happened to a group that was polled; it is not in the result if it does not exist."""
        polled = result.groups.get(opened, PolledGroup(id=opened))
        known = (self.watched, self.owners, self.log)
        state, owners, log = known if opened in self.watched.groups else (WatchState(), {}, ())
        if polled.group is None and polled.error is not None:
            return self
        observation = WatchObservation(
            asked_ms=asked_ms,
            at_ms=result.at_ms,
            groups={opened: polled.group},
            topics=result.topics,
            problems=result.problems,
        )
        state, happened = state.step(observation)
        lines = tuple(
            LogLine(at_ms=at_ms, text=text) for at_ms, _, text in event_lines(happened, state.labels)
        )
        return replace(
            self,
            watched=state,
            owners=tracks_after(owners, state, opened),
            log=(*log, *lines)[-LONGEST_LOG:],
            topics=result.topics,
        )


def _after(
    before: SeenGroup | None, polled: PolledGroup, result: PollResult, *, is_opened: bool
) -> SeenGroup:
    history = (before.history if before else PolledHistory()).after(polled, result)
    rebalanced = tuple(ms for ms in (before.rebalanced_ms if before else ()) if result.at_ms - ms <= HOUR_MS)
    began = history.rebalances - (before.history.rebalances if before else 0)
    samples: dict[Place, tuple[Sample, ...]] = {}
    if is_opened:
        known = before.samples if before else {}
        samples = {
            place: (
                *known.get(place, ())[1 - SAMPLES :],
                Sample(result.at_ms, row.committed, row.end, row.lag),
            )
            for row in each_once(polled.rows)
            for place in [(row.topic, row.partition)]
        }
    return SeenGroup(
        at_ms=result.at_ms,
        polled=polled,
        history=history,
        rebalanced_ms=(*rebalanced, *([result.at_ms] * began)),
        samples=samples,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Focus:
    """What is on screen: its groups are read first."""

    visible: tuple[str, ...] = ()  # Groups of the list
    opened: str | None = None  # The group whose screen, or a screen below it, is open


def due(sight: Sight, focus: Focus, most: int) -> list[str]:
    """The groups to read next: the one on screen alone; else those in sight, and as many others as `most` allows, the
    ones that were never read first, then those that were read longest ago."""
    if focus.opened is not None:
        return [focus.opened]
    visible = [name for name in focus.visible if name in sight.listings]
    rest = _longest_ago(sight, frozenset(visible))
    return [*visible, *rest[: max(most - len(visible), 0)]]


def _longest_ago(sight: Sight, others: Collection[str]) -> list[str]:
    ages = [(seen.at_ms if (seen := sight.groups.get(name)) else 0, name) for name in sight.listings]
    return [name for _, name in sorted(ages) if name not in others]
