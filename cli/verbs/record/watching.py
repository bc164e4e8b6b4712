"""Groups whose records are followed: a group with new records is watched, and its commits are kept one by one, until
its rebalances are judged and its partitions make progress again."""

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

import numpy as np

from cli.sources.journal.packed import Table, once
from cli.sources.journal.writer import JournalWriter, StoredRecord
from cli.verbs.record.commits import CommitRings, PlaceTable, commits_of
from cli.verbs.record.reading import LogReading
from coordinator.store.history_events import GroupRecord, Names, event_in
from groups.history.commits import RECENT, PlaceCommit
from groups.history.course import GroupHistory, Settled
from groups.history.departures import NOTHING, Knowledge
from groups.history.events import GROUP_EPOCH, MemberRecord, PastRebalance, Place
from wire.log.timestamps import US_PER_MS
from wire.messages.reader import DecodeError
from wire.messages.record_codec import UnknownKeyType

NamedRebalance: TypeAlias = tuple[PastRebalance, Mapping[str, MemberRecord]]
"""A rebalance, with its members, and others, by member id."""
LATEST_MS = 2**62
WATCHED_MS = 600_000  # the longest time that a partition without commits keeps its group watched
_HISTORIES = 500  # the number of groups whose state is kept in memory


@dataclass(slots=True)
class _Watch:
    name: str  # of the group
    number: int
    history: GroupHistory
    log_partition: int
    last_ms: int  # the time of the last record
    quiet: set[int] = field(default_factory=set)  # the places without a commit since the last record
    fed: int = -1  # the offset of the last record or commit that the history has

    def commits(self, rows: Table, places: Sequence[Place | None]) -> None:
        for place, time_ms, committed, log_offset in rows.tolist():
            if (key := places[place]) is not None:
                self.history.commit(key, time_ms * US_PER_MS, committed)
            self.quiet.discard(place)
            self.fed = max(self.fed, log_offset)


class GroupWatches:
    """See the module. `settled` has the rebalances since the last transaction."""

    def __init__(self, journal: JournalWriter, places: PlaceTable, rings: CommitRings, names: Names) -> None:
        self.knowledge: Callable[[str], Knowledge] = lambda _: NOTHING  # what was observed of a group
        self.new_consumers: set[str] = set()  # groups of the consumer protocol that appeared
        self.settled: list[NamedRebalance] = []
        self._journal, self._places, self._rings, self._names = journal, places, rings, names
        self._watches: dict[str, _Watch] = {}
        self._watch_of: dict[int, _Watch] = {}  # by the number of the group
        self._idle: OrderedDict[str, _Watch] = OrderedDict()
        self._resumed: dict[int, list[str]] = {}  # groups watched before a restart, by partition
        for name, (log_partition, _) in journal.open_groups.items():
            self._resumed.setdefault(log_partition, []).append(name)

    def learn(self) -> None:
        """Let the histories of watched groups know what was observed."""
        for name, watch in self._watches.items():
            watch.history.knowledge = self.knowledge(name)

    def resume(self, number: int, offset: int, whole_ms: int) -> None:
        """Watch the groups that were watched before a restart."""
        for name in self._resumed.pop(number, ()):
            self._watch(name, number, offset, whole_ms)

    def forget(self, number: int, end: int) -> None:
        """Forget the groups of a partition: the cluster lost its records from `end` on."""
        for watch in [watch for watch in self._watches.values() if watch.log_partition == number]:
            settled = watch.history.settled(LATEST_MS)
            kept = [rebalance for rebalance in settled.rebalances if rebalance.offset < end]
            self._put(watch, replace(settled, rebalances=kept))
            self._unwatch(watch)
        for name in self._resumed.pop(number, ()):
            self._journal.unwritten.open_ms[self._journal.groups[name]] = None
            del self._journal.open_groups[name]
        for name, group in self._journal.groups.items():
            if self._journal.log_partitions[group] == number:
                self._idle.pop(name, None)
                self._rings.forget(self._places.numbers(group))

    def feed(self, commits: Table) -> None:
        """Remember commits, and give those of watched groups to their histories."""
        self._rings.add(commits)
        if not len(commits) or not self._watches:
            return
        groups = self._places.group_of[commits["place"]]
        for number in sorted(self._watch_of.keys() & set(np.unique(groups).tolist())):
            rows = commits[groups == number]
            self._journal.unwritten.commits.append((number, rows))
            self._watch_of[number].commits(rows, self._places.by_number)

    def event(self, name: str, number: int, record: GroupRecord, whole_ms: int) -> None:
        """Add a record of a group. `whole_ms`: the time since which no commit before it is missing. Raises DecodeError.
        Raises UnknownKeyType."""
        group = self._journal.group(name, number)
        self._journal.unwritten.records.append(
            (group, record.offset, record.time // US_PER_MS, record.key, record.value)
        )
        watch = self._watches.get(name)
        if watch is None:
            watch = self._watch(name, number, record.offset, whole_ms, record.time // US_PER_MS)
        if record.key_type == GROUP_EPOCH and record.value and watch.history.knowledge == NOTHING:
            self.new_consumers.add(name)
        event = event_in(record, number, self._names)
        if event is not None and record.offset > watch.fed:
            watch.history.whole_since = whole_ms * US_PER_MS
            watch.history.add(event)
            watch.fed = record.offset
            watch.last_ms = record.time // US_PER_MS
            watch.quiet = set(self._places.numbers(group).tolist())

    def _watch(self, name: str, number: int, offset: int, whole_ms: int, at_ms: int = LATEST_MS) -> _Watch:
        """Watch a group from a record on, by its offset and time: its history is in memory, or starts again from the
        journal's records."""
        group = self._journal.group(name, number)
        places = self._places.numbers(group)
        commits = self._rings.of(places)
        commits = commits[commits["log_offset"] < offset]
        opened_ms = self._journal.open_groups.pop(name, (number, None))[1]
        since_ms = int(commits["time_ms"].min(initial=at_ms)) if opened_ms is None else opened_ms
        if opened_ms is not None:
            commits = once(np.concatenate([self._journal.commits_of(group, opened_ms), commits]))
        elif len(commits):
            self._journal.unwritten.commits.append((group, commits))
        watch = self._idle.pop(name, None)
        if watch is None:
            history = GroupHistory(name, partial(self._recent, group))
            watch = _Watch(name, group, history, number, since_ms)
            watch.history.whole_since = whole_ms * US_PER_MS
            records = [record for record in self._journal.records_of(group) if record.log_offset < offset]
            self._replay(watch, records, commits, LATEST_MS if opened_ms is None else opened_ms)
        watch.quiet = set(places.tolist())
        watch.history.knowledge = self.knowledge(name)
        watch.commits(commits[commits["log_offset"] > watch.fed], self._places.by_number)
        self._watches[name] = self._watch_of[group] = watch
        self._journal.unwritten.open_ms[group] = since_ms
        return watch

    def _replay(
        self, watch: _Watch, records: Sequence[StoredRecord], commits: Table, written_ms: int
    ) -> None:
        """Rebuild a history. What follows from records of before `written_ms` was written already."""
        history, start, is_written = watch.history, 0, False

        def recent(place: Place) -> Sequence[PlaceCommit]:
            number = self._places.known(watch.number, place)
            return commits_of(commits[:start][commits["place"][:start] == number][-RECENT:])

        history.recent, in_memory = recent, history.recent
        for record in records:
            if record.time_ms >= written_ms and not is_written:
                is_written = True
                history.settled(LATEST_MS)
            stop = int(np.searchsorted(commits["log_offset"], record.log_offset))
            watch.commits(commits[start:stop], self._places.by_number)
            start = stop
            stored = GroupRecord(record.log_offset, record.time_ms * US_PER_MS, record.key, record.value)
            with suppress(DecodeError, UnknownKeyType):  # which was reported when it was read
                if (event := event_in(stored, watch.log_partition, self._names)) is not None:
                    history.add(event)
                    watch.fed, watch.last_ms = record.log_offset, record.time_ms
        if not is_written:
            history.settled(LATEST_MS)
        history.recent = in_memory

    def _recent(self, group: int, place: Place) -> Sequence[PlaceCommit]:
        """The last commits of a partition of a group, in memory."""
        return commits_of(self._rings.of(np.array([self._places.known(group, place)])))

    def settle(self, readings: Mapping[int, LogReading], present_ms: int) -> None:
        """Take the rebalances and spans that are final, and stop watching groups that are quiet."""
        for watch in list(self._watches.values()):
            reading = readings.get(watch.log_partition)
            if reading is None or reading.time_ms is None:
                continue
            now_ms = reading.now_ms(present_ms)
            self._put(watch, watch.history.settled(now_ms * US_PER_MS))
            if watch.history.is_settled and (not watch.quiet or now_ms - watch.last_ms > WATCHED_MS):
                self._unwatch(watch)
                self._idle[watch.name] = watch
                if len(self._idle) > _HISTORIES:
                    self._idle.popitem(last=False)

    def _unwatch(self, watch: _Watch) -> None:
        del self._watches[watch.name], self._watch_of[watch.number]
        self._journal.unwritten.open_ms[watch.number] = None

    def _put(self, watch: _Watch, settled: Settled) -> None:
        unwritten = self._journal.unwritten
        for rebalance in settled.rebalances:
            unwritten.rebalances.append(rebalance_row(watch.number, rebalance))
            self.settled.append((rebalance, settled.members))
        for span in settled.holdings:
            place = self._places.number(watch.number, span.place)
            unwritten.owners.append(
                (place, span.since, span.until, span.member, span.client_id, span.host, span.epoch)
            )


def rebalance_row(group: int, rebalance: PastRebalance) -> tuple[object, ...]:
    """A row of the table of rebalances."""
    start, end = rebalance.start, rebalance.end
    verdicts = [{"member": it.member, "cause": it.cause.value, "why": it.why} for it in rebalance.verdicts]
    return (
        group,
        rebalance.offset,
        None if start is None else start // US_PER_MS,
        None if end is None else end // US_PER_MS,
        rebalance.protocol.value,
        rebalance.epoch,
        rebalance.causes[0].value,
        ",".join(cause.value for cause in rebalance.causes),
        rebalance.assignor,
        rebalance.members_before,
        rebalance.members,
        json.dumps(rebalance.joined),
        json.dumps(rebalance.left),
        rebalance.partitions,
        rebalance.moved,
        rebalance.revoked,
        rebalance.skipped,
        json.dumps(verdicts),
    )
