"""What the screens show: the facts that polls have brought, as one immutable value that each poll replaces."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from cli.polls.history import PolledHistory
from cli.polls.reading import PolledGroup, PollResult
from cli.verbs.top.ownership import Tracks, tracks_after
from cli.verbs.watch.event_text import event_lines
from cli.verbs.watch.events import Place
from cli.verbs.watch.state import WatchObservation, WatchState
from groups.diagnosis.rebalances import UNSETTLED
from groups.listing import Cause, GroupListing, Problem
from groups.model import Cluster, Topic

HOUR_MS = 3_600_000
LONGEST_LOG = 500  # Events of the group on screen
SAMPLES = 120  # Of a partition
SOON_MS = 10_000
SELDOM_MS = 60_000  # A group that is not in sight is read this often


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
    since_ms: int  # When it was read first
    rebalanced_ms: tuple[int, ...] = ()  # Of the last hour: the polls that showed a rebalance
    samples: Mapping[Place, tuple[Sample, ...]] = field(default_factory=dict)
    """Each partition at the last polls, of the group on screen only."""
    story: str | None = None  # Of the past: why it rebalanced last


@dataclass(frozen=True, slots=True, kw_only=True)
class Recent:
    """Rebalances that the records show: when each began, by group, of the groups whose records are complete since a
    time that is known."""

    until_ms: int = 0  # Of the last record; later ones are seen by polls
    since_ms: Mapping[str, int] = field(default_factory=dict)
    began_ms: Mapping[str, Sequence[int]] = field(default_factory=dict)


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
    log_of: str | None = None  # The group whose events they are
    past_ms: int | None = None  # The moment shown; None: now
    said: tuple[str, ...] = ()  # What the records of the past say of the group on screen at that moment
    recent: Recent = field(default_factory=Recent)

    def listed(self, listings: Sequence[GroupListing], at_ms: int, problems: tuple[Problem, ...]) -> "Sight":
        by_id = {listing.id: listing for listing in listings}
        if any(problem.cause is not Cause.ABSENT for problem in problems):
            # A broker that does not answer lists none of its groups, but they still exist
            by_id = {**self.listings, **by_id}
        groups = {name: seen for name, seen in self.groups.items() if name in by_id}
        return replace(self, at_ms=at_ms, listings=by_id, groups=groups, problems=problems)

    def events_of(self, group: str) -> tuple[LogLine, ...]:
        """The events of a group since its screen was opened; in the past, until the moment shown."""
        return self.log if self.log_of == group else ()

    def failed(self, why: str, at_ms: int) -> "Sight":
        return replace(self, failure=why, failing_ms=self.failing_ms or at_ms)

    def read(
        self, result: PollResult, opened: str | None, asked_ms: int, *, is_still: bool = False
    ) -> "Sight":
        """With what a poll of some groups has brought; `opened` is the group on screen. `is_still`: the source shows
        one moment, and reading it again proves nothing."""
        groups = dict(self.groups)
        for name, polled in result.groups.items():
            groups[name] = _after(
                groups.get(name), polled, result, is_opened=name == opened, is_still=is_still
            )
        sight = replace(self, groups=groups)
        return sight if opened is None else sight.with_events(result, opened, asked_ms)

    def read_past(self, result: PollResult, story: Callable[[str], str | None]) -> "Sight":
        """With groups of the past: without a verdict, which the records do not prove."""
        seen = {
            name: SeenGroup(
                at_ms=self.past_ms or result.at_ms,
                since_ms=result.at_ms,
                polled=polled,
                history=PolledHistory(last=polled.group),
                story=story(name),
            )
            for name, polled in result.groups.items()
        }
        return replace(self, groups={**self.groups, **seen}, topics={**self.topics, **result.topics})

    def with_events(self, result: PollResult, opened: str, asked_ms: int) -> "Sight":
        """With what happened to a group that was polled; it is not in the result if it does not exist."""
        polled = result.groups.get(opened, PolledGroup(id=opened))
        known = (self.watched, self.owners, self.log)
        state, owners, log = known if self.log_of == opened else (WatchState(), {}, ())
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
            log_of=opened,
            topics=result.topics,
        )


def _after(
    before: SeenGroup | None, polled: PolledGroup, result: PollResult, *, is_opened: bool, is_still: bool
) -> SeenGroup:
    rows = polled.rows()  # Screens need them again and again
    polled = replace(polled, rows=lambda: rows)
    earlier = before.history if before else PolledHistory()
    history = PolledHistory.of_one(polled, result) if is_still else earlier.after(polled, result)
    rebalanced = tuple(ms for ms in (before.rebalanced_ms if before else ()) if result.at_ms - ms <= HOUR_MS)
    began = max(history.rebalances - earlier.rebalances, 0)
    samples: dict[Place, tuple[Sample, ...]] = {}
    if is_opened:
        known = before.samples if before else {}
        samples = {
            place: (
                *known.get(place, ())[1 - SAMPLES :],
                Sample(result.at_ms, row.committed, row.end, row.lag),
            )
            for row in rows
            for place in [(row.topic, row.partition)]
        }
    return SeenGroup(
        at_ms=result.at_ms,
        since_ms=before.since_ms if before else result.at_ms,
        polled=polled,
        history=history,
        rebalanced_ms=(*rebalanced, *([result.at_ms] * began)),
        samples=samples,
    )


def rebalances_of_hour(sight: Sight, name: str) -> tuple[int, bool] | None:
    """How many rebalances began in the hour before the group was read, and whether there may have been more, which
    nothing shows; None: nothing is known of that hour."""
    seen = sight.groups.get(name)
    if seen is None:
        return None
    begin_ms = seen.at_ms - HOUR_MS
    since_ms = sight.recent.since_ms.get(name)
    until_ms = 0 if since_ms is None else sight.recent.until_ms
    recorded = sum(begin_ms < ms <= seen.at_ms for ms in sight.recent.began_ms.get(name, ()))
    count = recorded + sum(ms > until_ms for ms in seen.rebalanced_ms)
    known_ms = seen.since_ms if since_ms is None else min(since_ms, seen.since_ms)
    if known_ms > begin_ms and not count:
        return None
    return count, known_ms > begin_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class Focus:
    """What is on screen: its groups are read first."""

    visible: tuple[str, ...] = ()  # Groups of the list
    opened: str | None = None  # The group whose screen, or a screen below it, is open
    others: bool = True  # Whether the screen also needs all others: their sums, their order


def in_turn(sight: Sight, focus: Focus) -> tuple[list[str], list[str]]:
    """The groups on screen; and all others that it needs: those that were never read first, then those that were read
    longest ago."""
    if focus.opened is not None:
        return [focus.opened], []
    visible = [name for name in focus.visible if name in sight.listings]
    if not focus.others:
        return visible, []
    shown = frozenset(visible)
    ages = [(seen.at_ms if (seen := sight.groups.get(name)) else 0, name) for name in sight.listings]
    return visible, [name for _, name in sorted(ages) if name not in shown]


def is_old(sight: Sight, name: str, now_ms: int) -> bool:
    """Whether a group that is not in sight must be read again: soon if it has no verdict, for which two readings are
    needed, or if it rebalances, as the list shows."""
    seen, listing = sight.groups.get(name), sight.listings[name]
    if seen is None:
        return True
    group = seen.polled.group
    is_moving = listing.state in UNSETTLED or (group is not None and group.state is not listing.state)
    soon = seen.history.diagnosis is None or is_moving
    return now_ms - seen.at_ms >= (SOON_MS if soon else SELDOM_MS)
