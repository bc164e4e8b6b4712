"""What happened to one group in a span of time: its rebalances with who caused them and what was not read meanwhile,
storms, repetitions. All of it is computed from its course; times are µs since 1970."""

from bisect import bisect_right
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field

from groups.history.course import Course
from groups.history.events import Holding, PastRebalance
from groups.history.pauses import ReadingPause, Windows, pauses_of
from groups.history.processes import MemberChange, changes_of, process_of
from groups.history.storms import STORM_LEAST, Fold, begin_of, folded, runs, storms

FOLD_GAP_S = 600.0
"""Repetitions are not folded over a longer quiet time: a deployment a day is not one event."""
_SAME_WRITE_US = 1_000_000
_EVER = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """A rebalance and what is known around it."""

    rebalance: PastRebalance
    before: PastRebalance | None  # the one before, if the log has it
    changes: tuple[MemberChange, ...]
    pauses: tuple[ReadingPause, ...]  # those that overlap it; the next rebalance may have them too
    without_owner_us: int  # added over the partitions
    storm: int | None = None  # the index of its storm

    @property
    def kind(self) -> Hashable:
        """What is equal in repetitions: the causes, and whether members joined, returned or departed."""
        kinds = sorted((change.departure is None, change.other is not None) for change in self.changes)
        return self.rebalance.causes, tuple(dict.fromkeys(kinds))


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    group: str
    since: int  # the span that was requested
    until: int
    complete_since: int | None  # the records are complete from here on; None: unknown
    rebalances: tuple[Explained, ...]
    storms: tuple[range, ...]  # indices of `rebalances`
    lines: tuple[Fold, ...]  # all `rebalances`, repetitions folded
    pauses: tuple[ReadingPause, ...]
    holdings: tuple[Holding, ...] = field(repr=False)  # those that overlap the span
    course: Course = field(repr=False)

    @property
    def episodes(self) -> list[range]:
        """Storms, and repetitions that are slower: a crash loop with a long session."""
        slower = (
            fold.indices
            for fold in self.lines
            if fold.times >= STORM_LEAST and not any(fold.indices[0] in storm for storm in self.storms)
        )
        return sorted((*self.storms, *slower), key=lambda span: span.start)

    def has_departures(self, part: range) -> bool:
        return any(change.departure for index in part for change in self.rebalances[index].changes)

    @property
    def empty_since(self) -> int | None:
        """Since when the group has had no members until the end; None: it has members, or did not rebalance."""
        last = self.rebalances[-1].rebalance if self.rebalances else None
        return begin_of(last) if last is not None and not last.members else None

    def name_of(self, member: str) -> str:
        """A member's client id, or instance id, and host."""
        record = self.course.members.get(member)
        return member if record is None else process_of(record).name


def account_of(course: Course, since: int, until: int) -> Account:
    """The account of a group between two times."""
    rebalances = course.rebalances
    changes = changes_of(rebalances, course.members)
    pauses = list(_pauses(course, until))
    vacancies = _vacancies(course.holdings, rebalances, until)
    shown = [index for index, rebalance in enumerate(rebalances) if _overlaps(rebalance, since, until)]
    within = [rebalances[index] for index in shown]
    stormy = storms(within)
    storm_of = {index: number for number, storm in enumerate(stormy) for index in storm}
    explained = tuple(
        Explained(
            rebalance=rebalances[index],
            before=rebalances[index - 1] if index else None,
            changes=changes[index],
            pauses=tuple(pause for pause in pauses if _is_over(pause, rebalances[index])),
            without_owner_us=vacancies.get(index, 0),
            storm=storm_of.get(number),
        )
        for number, index in enumerate(shown)
    )
    kinds = [one.kind for one in explained]
    lines = [fold for run in runs(within, FOLD_GAP_S) for fold in folded(kinds, run)]
    over = {pause: None for one in explained for pause in one.pauses}
    return Account(
        group=course.group,
        since=since,
        until=until,
        complete_since=course.complete_since,
        rebalances=explained,
        storms=tuple(stormy),
        lines=tuple(lines),
        pauses=tuple(over),
        holdings=tuple(
            one for one in course.holdings if one.since <= until and (one.until or until) >= since
        ),
        course=course,
    )


def _overlaps(rebalance: PastRebalance, since: int, until: int) -> bool:
    begin = begin_of(rebalance)
    return begin <= until and (rebalance.end or begin) >= since


def _pauses(course: Course, until: int) -> Iterator[ReadingPause]:
    if not course.rebalances:
        return
    windows = Windows.of(course.rebalances)
    for place in course.commits.places:
        commits = course.commits.between(place, course.complete_since or 0, _EVER)
        yield from pauses_of(place, commits.times, commits.offsets, windows, until)


def _is_over(pause: ReadingPause, rebalance: PastRebalance) -> bool:
    begin = begin_of(rebalance)
    return (pause.until is None or begin <= pause.until) and pause.since <= max(rebalance.end or begin, begin)


def _vacancies(
    holdings: Sequence[Holding], rebalances: Sequence[PastRebalance], until: int
) -> dict[int, int]:
    """The time without an owner, added over partitions, by the index of the rebalance in which, or before which, it
    began: the partitions of a static member that is away wait for its expiry."""
    begins = [begin_of(rebalance) for rebalance in rebalances]
    added: dict[int, int] = {}
    for span in holdings:
        if span.member is not None:
            continue
        end = until if span.until is None else span.until
        index = bisect_right(begins, span.since + _SAME_WRITE_US) - 1
        if index < 0 or span.since > (rebalances[index].end or begins[index]) + _SAME_WRITE_US:
            index += 1
        if index < len(begins) and begins[index] <= end:
            added[index] = added.get(index, 0) + max(end - span.since, 0)
    return added
