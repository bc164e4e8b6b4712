"""The past of groups from a journal of `kohort record`."""

from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

import numpy as np

from cli.sources.history.read import GroupHistoryRead, HistoryReading
from cli.sources.journal.packed import Table
from cli.sources.journal.reader import JournalReader, StoredGroup
from cli.sources.journal.schema import JournalError, default_journal
from coordinator.store.history_events import GroupRecord
from coordinator.store.history_log import GroupLog
from groups.history.commits import PlaceCommits
from groups.history.departures import NOTHING, Knowledge
from groups.listing import Problem
from groups.times import format_moment
from wire.log.timestamps import US_PER_MS
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
        since_of_partitions = journal.since_ms()
        last_ms = journal.until_ms()
        end_ms = (last_ms or since_ms) if until_ms is None else until_ms
        groups = journal.groups(chosen.__contains__ if has_name is None else has_name)
        by_name = {group.name: group for group in groups}
        reading = HistoryReading(
            source=str(file),
            since=since_ms * US_PER_MS,
        )
        for group in groups:
            whole_ms = since_of_partitions.get(group.log_partition)
            log = GroupLog(
                records=[
                    GroupRecord(record.log_offset, record.time_ms * US_PER_MS, record.key, record.value)
                    for record in journal.records(group.number)
                ],
                commits=_by_place(
                    journal.commits(group.number, since_ms - LOOK_BACK_MS, end_ms),
                    journal.places(group.number),
                ),
            )
            whole_from = max(since_ms, since_ms if whole_ms is None else whole_ms) * US_PER_MS
            for offset, reason in reading.add_group(
                group.name, log, group.log_partition, known, _knowledge(journal, group, stated), whole_from
            ):
                message = f"the record at offset {offset} was skipped: {reason}"
                reading.problems.append(Problem(subject=group.name, message=message, group=group.name))
        for partition in sorted({group.log_partition for group in groups}):
            for start, end, from_ms, to_ms, reason in journal.gaps(partition):
                if to_ms is None or to_ms >= since_ms:
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


def covering_journal(directory: Path, cluster: str, since_ms: int, now_ms: int) -> Path | None:
    """The default journal of a cluster, if its recorder runs, and nothing since then is missing. `directory`: Kohort's
    data directory."""
    file = default_journal(directory, cluster)
    try:
        with JournalReader(file) as journal:
            current_ms = int(journal.about.get("current_ms", "0"))
            since = journal.since_ms().values()
            covers = now_ms - current_ms <= CURRENT_MS and max(since, default=now_ms) <= since_ms
            return file if covers and not journal.problems else None
    except JournalError:
        return None


def _knowledge(journal: JournalReader, group: StoredGroup, stated: Knowledge) -> Knowledge:
    stored = journal.knowledge(group.number)
    session_ms, interval_ms = stated.session_timeout_ms, stated.heartbeat_interval_ms
    return replace(
        stated,
        session_timeout_ms=stored.session_timeout_ms if session_ms is None else session_ms,
        heartbeat_interval_ms=stored.heartbeat_interval_ms if interval_ms is None else interval_ms,
        present_at={member: at * US_PER_MS for member, at in stored.present.items()},
        absent_at={member: at * US_PER_MS for member, at in stored.absent.items()},
    )


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
