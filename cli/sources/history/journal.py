"""The past of groups from a journal of `kohort record`."""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from cli.sources.history.read import GroupHistoryRead, HistoryReading
from cli.sources.journal.packed import Table
from cli.sources.journal.reader import LATEST_MS, JournalReader
from cli.sources.journal.schema import TRUNCATED, JournalError, default_journal
from cli.sources.journal.writer import GapRow
from coordinator.store.history_events import GroupRecord
from coordinator.store.history_log import GroupLog
from groups.history.commits import PlaceCommits
from groups.history.departures import NOTHING, Knowledge
from groups.listing import Problem
from groups.times import format_moment
from wire.log.timestamps import US_PER_MS
from wire.log.varints import Ints
from wire.uuids import parse_uuid

LOOK_BACK_MS = 3_600_000  # commits before the span tell how long a partition made no progress
CURRENT_MS = 60_000  # a recorder that wrote within this time is running


def read_journal_history(
    file: Path,
    names: Collection[str],
    *,
    since_ms: int,
    until_ms: int | None = None,
    has_name: Callable[[str], bool] | None = None,
    stated: Knowledge = NOTHING,
) -> GroupHistoryRead:
    """Courses of the named groups, or of all that `has_name` accepts, as complete as the journal is. `stated` is
    knowledge of every group, and takes precedence over what was observed. Raises JournalError: the file is no journal,
    or of a newer format."""
    chosen = frozenset(names)
    with JournalReader(file) as journal:
        known = {parse_uuid(topic_id): name for topic_id, name in journal.topics().items()}
        gaps_of_partitions = journal.gaps()
        last_ms = journal.until_ms()
        end_ms = (last_ms or since_ms) if until_ms is None else until_ms
        groups = journal.groups(chosen.__contains__ if has_name is None else has_name)
        by_name = {group.name: group for group in groups}
        reading = HistoryReading(source=str(file), since=since_ms * US_PER_MS)
        for group in groups:
            gaps = gaps_of_partitions.get(group.log_partition, [])
            commits = journal.commits(group.number, since_ms - LOOK_BACK_MS, end_ms)
            begins, ends = _spans(journal, gaps, since_ms - LOOK_BACK_MS, end_ms)
            log = GroupLog(
                records=[
                    GroupRecord(record.log_offset, record.time_ms * US_PER_MS, record.key, record.value)
                    for record in journal.records(group.number)
                ],
                commits=_by_place(_without_lost(commits, gaps), journal.places(group.number)),
            )
            statements = {name: value for name, value in asdict(stated).items() if value}
            knowledge = replace(journal.knowledge(group.number), **statements)
            whole_from = max(since_ms * US_PER_MS, int(ends[-1]))
            for offset, reason in reading.add_group(
                group.name, log, group.log_partition, known, knowledge, whole_from, ends, begins
            ):
                message = f"the record at offset {offset} was skipped: {reason}"
                reading.problems.append(Problem(subject=group.name, message=message, group=group.name))
        for partition in sorted({group.log_partition for group in groups}):
            for _, start, end, from_ms, to_ms, reason in gaps_of_partitions.get(partition, []):
                if start and (to_ms is None or to_ms >= since_ms):  # the others are before `complete_since`
                    times = " to ".join(
                        "an unknown time" if at is None else format_moment(at) for at in (from_ms, to_ms)
                    )
                    reading.notices.append(
                        f"__consumer_offsets-{partition}: offsets {start} to {end - 1}, of {times}, are not in the "
                        f"journal: {reason}"
                    )
        reading.problems += [Problem(subject=str(file), message=problem) for problem in journal.problems]
        reading.until = None if last_ms is None else last_ms * US_PER_MS
        return reading.result([name for name in names if name not in by_name])


def running_journal(directory: Path, cluster: str, now_ms: int) -> tuple[Path, int] | None:
    """The default journal of a cluster if its recorder runs, and since when nothing is missing in it. `directory`:
    Kohort's data directory."""
    file = default_journal(directory, cluster)
    with suppress(JournalError), JournalReader(file) as journal:
        ends = [now_ms if row[4] is None else row[4] for gaps in journal.gaps().values() for row in gaps]
        since_ms = max([journal.noted_ms("kept_since_ms"), *ends])
        if now_ms - journal.noted_ms("current_ms") <= CURRENT_MS and not journal.problems:
            return file, since_ms
    return None


def _spans(journal: JournalReader, gaps: Sequence[GapRow], loaded_ms: int, end_ms: int) -> tuple[Ints, Ints]:
    """The spans of time, in order, in which commits may be missing: their begins and ends in µs. `loaded_ms`: commits
    from before it were not read."""
    spans = [(0, max(journal.noted_ms("kept_since_ms"), loaded_ms))]
    spans += [
        (0 if from_ms is None else from_ms + 1, end_ms if to_ms is None else to_ms)
        for _, _, _, from_ms, to_ms, _ in gaps
    ]
    begins, ends = np.clip(np.array(sorted(spans), dtype=np.int64).T, 0, LATEST_MS) * US_PER_MS
    return begins, np.maximum.accumulate(ends)


def _without_lost(commits: Table, gaps: Sequence[GapRow]) -> Table:
    """The commits without those that the cluster lost."""
    for _, start, end, from_ms, _, reason in gaps:
        if reason == TRUNCATED:
            is_lost = (commits["log_offset"] >= start) & (commits["log_offset"] < end)
            commits = commits[~(is_lost & (commits["time_ms"] <= (from_ms or 0)))]
    return commits


def _by_place(commits: Table, places: dict[int, tuple[str, int]]) -> dict[tuple[str, int], PlaceCommits]:
    commits = commits[np.argsort(commits["place"], kind="stable")]
    numbers, starts = np.unique(commits["place"], return_index=True)
    return {
        places[number]: PlaceCommits(
            rows["time_ms"] * US_PER_MS, rows["committed"].copy(), rows["log_offset"].copy()
        )
        for number, rows in zip(numbers.tolist(), np.split(commits, starts)[1:], strict=True)
        if number in places
    }
