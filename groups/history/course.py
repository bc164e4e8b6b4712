"""The course of a group: its rebalances with their causes, and the owners of its partitions over time; of a whole log
at once (`course_of`), or while its log is followed (`GroupHistory`)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from groups.history.commits import Commits, PlaceCommit
from groups.history.departures import LOOK_AHEAD_US, NOTHING, Knowledge, judged, with_verdicts
from groups.history.events import Departure, GroupEvent, Holding, MemberRecord, PastRebalance, Place
from groups.history.replay import GroupReplay


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    group: str
    rebalances: tuple[PastRebalance, ...]  # in the order of their records
    holdings: tuple[Holding, ...]  # by start
    commits: Commits
    members: Mapping[str, MemberRecord]  # everyone who ever was a member, by member id
    knowledge: Knowledge = NOTHING
    complete_since: int | None = None  # None: unknown


def course_of(
    group: str,
    events: Iterable[GroupEvent],
    commits: Commits,
    knowledge: Knowledge = NOTHING,
    *,
    complete_since: int | None = None,
) -> Course:
    """The course of a group. `events`: its records, in the order of its log."""
    rebalances: list[PastRebalance] = []
    holdings: list[Holding] = []
    members: dict[str, MemberRecord] = {}
    replay = GroupReplay(group, on_rebalance=rebalances.append, emit=holdings.append)
    for event in events:
        members |= _members(event)
        replay.add(event)
    replay.finish()
    return Course(
        group=group,
        rebalances=tuple(
            judged(rebalance, commits, knowledge)
            for rebalance in sorted(rebalances, key=lambda rebalance: rebalance.offset)
        ),
        holdings=tuple(sorted(holdings, key=lambda holding: (holding.since, holding.place))),
        commits=commits,
        members=members,
        knowledge=knowledge,
        complete_since=complete_since,
    )


def _members(event: GroupEvent) -> dict[str, MemberRecord]:
    return {record.member: record for record, _ in event.members} | (
        {event.record.member: event.record}
        if event.record is not None and event.record.client_id is not None
        else {}
    )


_Gone: TypeAlias = tuple[str, int]


@dataclass(slots=True)
class _Snapshot:
    """The commits of a departed member's partitions when its departure was written, and the first one after that."""

    before: Mapping[Place, Sequence[PlaceCommit]]
    since: int  # no commit between this time and the departure is missing
    after: dict[Place, PlaceCommit] = field(default_factory=dict)

    def recent(self, place: Place, time: int) -> Sequence[PlaceCommit]:
        return [commit for commit in self.before.get(place, ()) if self.since <= commit.time <= time]

    def first_after(self, place: Place, time: int) -> PlaceCommit | None:
        commits = [*self.before.get(place, ()), *([self.after[place]] if place in self.after else ())]
        return next((commit for commit in commits if commit.time > time), None)

    def whole_since(self, _: int) -> int:
        return self.since


@dataclass(frozen=True, slots=True)
class Settled:
    """What is known for good. `members`: those that the rebalances name, and others, by member id."""

    rebalances: Sequence[PastRebalance]
    holdings: Sequence[Holding]
    members: Mapping[str, MemberRecord]


class GroupHistory:
    """The course of a group whose log is being followed. Records and commits are added in the order of the log.
    `recent` returns the last `RECENT` commits of a partition before the record that is being added."""

    def __init__(
        self,
        group: str,
        recent: Callable[[Place], Sequence[PlaceCommit]],
        knowledge: Knowledge = NOTHING,
    ) -> None:
        self.recent = recent
        self.whole_since = 0  # the time since which no commit is missing, as of the record that is added next
        self.knowledge = knowledge  # may be replaced as more becomes known
        self._members: dict[str, MemberRecord] = {}
        self._rebalances: list[PastRebalance] = []
        self._holdings: list[Holding] = []
        self._replay = GroupReplay(
            group,
            on_rebalance=self._rebalances.append,
            emit=self._holdings.append,
            on_departure=self._departed,
        )
        self._snapshots: dict[_Gone, _Snapshot] = {}
        self._watched: dict[Place, list[_Snapshot]] = {}
        self._last: PastRebalance | None = None  # the last one with departures

    def add(self, event: GroupEvent) -> None:
        self._members |= _members(event)
        self._replay.add(event)

    def commit(self, place: Place, time: int, offset: int) -> None:
        for snapshot in self._watched.get(place, ()):
            snapshot.after.setdefault(place, PlaceCommit(time, offset))

    @property
    def is_settled(self) -> bool:
        """Whether `settled` has returned every rebalance so far."""
        return not self._rebalances and self._replay.is_settled

    def settled(self, now: int) -> Settled:
        """The rebalances and spans that have ended and can be judged, each once. `now`: the time of the log."""
        return self._take([row for row in self._rebalances if _settles(row) <= now])

    def finish(self) -> Settled:
        """All that is left, at the end of the log."""
        self._replay.finish()
        return self._take(self._rebalances)

    def _take(self, rebalances: Sequence[PastRebalance]) -> Settled:
        done = [self._judged(row) for row in rebalances]
        holdings = list(self._holdings)
        self._holdings.clear()
        taken = {row.offset for row in done}
        self._rebalances[:] = [row for row in self._rebalances if row.offset not in taken]
        waiting = {_gone(departure) for row in self._rebalances for departure in row.departures}
        for gone in {_gone(departure) for row in done for departure in row.departures} - waiting:
            snapshot = self._snapshots.pop(gone, None)
            self._watched = {
                place: left
                for place, snapshots in self._watched.items()
                if (left := [other for other in snapshots if other is not snapshot])
            }
        members = self._members
        if self.is_settled:
            self._members = {}
        return Settled(done, holdings, members)

    def _judged(self, row: PastRebalance) -> PastRebalance:
        before = self._last
        if before is not None and row.departures == before.departures:  # they also cause this one
            return with_verdicts(row, before.verdicts)
        result = judged(row, self._view(row), self.knowledge)
        self._last = result if row.departures else before
        return result

    def _departed(self, departure: Departure) -> None:
        places = {*departure.places, *filter(None, departure.others)}
        snapshot = _Snapshot({place: tuple(self.recent(place)) for place in places}, self.whole_since)
        self._snapshots[_gone(departure)] = snapshot
        for place in departure.places:
            self._watched.setdefault(place, []).append(snapshot)

    def _view(self, row: PastRebalance) -> _Snapshot:
        before: dict[Place, Sequence[PlaceCommit]] = {}
        after: dict[Place, PlaceCommit] = {}
        since = 0
        for departure in row.departures:
            snapshot = self._snapshots.get(_gone(departure))
            if snapshot is not None:
                before |= snapshot.before
                after = snapshot.after | after
                since = max(since, snapshot.since)
        return _Snapshot(before, since, after)


def _gone(departure: Departure) -> _Gone:
    """A member id may depart, return, and depart again."""
    return departure.member, departure.at


def _settles(row: PastRebalance) -> int:
    return max((gone.at for gone in row.departures), default=-LOOK_AHEAD_US) + LOOK_AHEAD_US
