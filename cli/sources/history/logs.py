"""The past of groups in the log directories of brokers, which are only read and may be in use.

A group's records are in one partition of `__consumer_offsets`, that of its hash. The number of partitions is known if
the directories have all of them or the cluster's metadata; otherwise every partition is searched. A partition is read
whole, also what is older than the time of interest: who was a member then may have been written days before, and
batches without a record of the groups cost little. Of several copies of a partition the most complete one is read; if
it is damaged, another that is not.
"""

import os
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import BinaryIO
from uuid import UUID

from cli.progress import Progress
from cli.sources.history.read import GroupHistoryRead, HistoryReading, LookedUpNames
from coordinator.store.copies import Notice, failure, find_copies, rank
from coordinator.store.history_log import GroupChoice, PartitionLog
from coordinator.store.partition_files import OFFSETS_TOPIC, partitions_for, read_topic_id
from coordinator.store.topic_names import KnownTopics, known_topics
from groups.history.departures import NOTHING, Knowledge
from groups.listing import Problem
from wire.log.blocks import Damage, blocks_of
from wire.log.errors import DamagedLog
from wire.log.segments import base_offset_of, open_segments
from wire.log.timestamps import US_PER_MS
from wire.uuids import format_uuid


def read_log_history(
    directories: Sequence[Path],
    groups: Sequence[str],
    *,
    since_ms: int,
    has_name: Callable[[str], bool] | None = None,
    names: Mapping[UUID, str] | None = None,
    stated: Knowledge = NOTHING,
) -> GroupHistoryRead:
    """The past of the named groups, or of all that `has_name` accepts. `names` of topics by id add to those that the
    directories have; `stated` is knowledge of every group. Nothing is raised for the content of the directories."""
    return _Directories(directories, names or {}).read(
        GroupChoice(groups, has_name), groups, since_ms, stated
    )


class _Directories:
    def __init__(self, directories: Sequence[Path], names: Mapping[UUID, str]) -> None:
        self._directories, self._named = directories, names

    @cached_property
    def _topics(self) -> KnownTopics:
        return known_topics(self._directories, {})

    def read(
        self, choice: GroupChoice, groups: Sequence[str], since_ms: int, stated: Knowledge
    ) -> GroupHistoryRead:
        source = ", ".join(map(str, self._directories))
        reading = HistoryReading(
            source=source, since=since_ms * US_PER_MS, stated=stated, settings_of=self._settings
        )
        all_copies, unlisted = find_copies(self._directories, OFFSETS_TOPIC)
        reading.problems += map(_problem, unlisted)
        copies = _of_one_cluster(all_copies, reading)
        first = self._partitions_of(groups, copies.keys()) if groups else list(copies)
        self._read_partitions(first, copies, choice, reading)
        if groups and not all(group in reading.courses for group in groups):
            # The guess of the number of partitions may be wrong.
            self._read_partitions([n for n in copies if n not in first], copies, choice, reading)
        return reading.result(groups)

    def _partitions_of(self, groups: Sequence[str], present: Collection[int]) -> list[int]:
        count = len(present)
        if set(present) != set(range(count)):
            topic = self._topics.topics.get(OFFSETS_TOPIC)
            count = topic.partitions or 0 if topic is not None and topic.is_whole else 0
        return sorted({*partitions_for(groups, count)} & {*present}) if count else sorted(present)

    def _read_partitions(
        self,
        numbers: Sequence[int],
        copies: Mapping[int, Sequence[Path]],
        choice: GroupChoice,
        reading: HistoryReading,
    ) -> None:
        for number in numbers:
            copy = _best_copy(copies[number], choice, reading)
            if copy is not None:
                names = LookedUpNames(copy.log.names | dict(self._named), lambda: self._topics.names)
                reading.add(copy.log, copy.log.groups(), number, names, str(copy.path))

    def _settings(self, group: str) -> Mapping[str, str]:
        return (self._topics.group_configs or {}).get(group, {})


def _of_one_cluster(
    copies: Mapping[int, Sequence[Path]], reading: HistoryReading
) -> dict[int, Sequence[Path]]:
    """The copies without those of another cluster, whose topic has another id: of several ids, the one with most
    copies counts."""
    ids: dict[Path, UUID | None] = {}
    for path in (path for paths in copies.values() for path in paths):
        try:
            ids[path] = read_topic_id(path)
        except (DamagedLog, OSError):
            ids[path] = None
    known = Counter(topic_id for topic_id in ids.values() if topic_id is not None).most_common()
    if len(known) < 2:
        return dict(copies)
    main = known[0][0]
    kept = {number: [path for path in paths if ids[path] in (None, main)] for number, paths in copies.items()}
    for topic_id, count in known[1:]:
        example = next(path for path, other in ids.items() if other == topic_id)
        message = (
            f"is of another cluster, and was not read: its topic id is {format_uuid(topic_id)}, and that of most "
            f"partitions {format_uuid(main)}"
        )
        more = f" and {count - 1} more" if count > 1 else ""
        reading.problems.append(Problem(subject=f"{example}{more}", message=message))
    return {number: paths for number, paths in kept.items() if paths}


@dataclass(slots=True)
class _Copy:
    """A copy of a partition that was read, with what could not be read in it."""

    path: Path
    log: PartitionLog
    failures: list[Notice] = field(default_factory=list)
    torn: Notice | None = None


def _best_copy(paths: Sequence[Path], choice: GroupChoice, reading: HistoryReading) -> _Copy | None:
    """The first copy that is not damaged, or the best damaged one; None if none can be read."""
    ranking = rank(paths)
    failures = {path: [notice] for path, notice in ranking.failures.items()}
    damaged: list[_Copy] = []
    for path in ranking.copies:
        try:
            copy = _read_copy(path, choice)
        except (DamagedLog, OSError) as error:
            failures[path] = [failure(path, error)]
            continue
        if not copy.failures:
            failures.pop(path, None)
            instead = f"{path} is read instead"
            reading.notices += [str(n.with_consequence(instead)) for ns in failures.values() for n in ns]
            reading.notices += [] if copy.torn is None else [str(copy.torn)]
            return copy
        failures[path] = copy.failures
        damaged.append(copy)
    best = damaged[0] if damaged else None
    lost = [n for ns in failures.values() for n in ns] if best is None else best.failures
    reading.problems += map(_problem, lost)
    return best


def _problem(notice: Notice) -> Problem:
    position = "" if notice.position is None else f", byte {notice.position}"
    return Problem(subject=f"{notice.file}{position}", message=notice.message)


@dataclass(frozen=True, slots=True)
class _File:
    stream: BinaryIO

    def read_at(self, nbytes: int, offset: int) -> bytes:
        return os.pread(self.stream.fileno(), nbytes, offset)


def _read_copy(directory: Path, choice: GroupChoice) -> _Copy:
    """Read the log in a partition's directory. Raises DamagedLog. Raises OSError: it cannot be listed or opened."""
    copy = _Copy(directory, PartitionLog(choice))
    with ExitStack() as opened:
        files = open_segments(directory, opened)
        sizes = [os.fstat(stream.fileno()).st_size for _, stream in files]
        with Progress(f"reading {directory.name}", sum(sizes), before_data=True) as progress:
            for (path, stream), size in zip(files, sizes, strict=True):
                try:
                    _read_segment(path, _File(stream), size, copy, progress)
                except OSError as error:
                    copy.failures.append(failure(path, error))
                if copy.torn is not None and path != files[-1][0]:
                    copy.failures.append(copy.torn)
                    copy.torn = None
    return copy


def _read_segment(path: Path, file: _File, size: int, copy: _Copy, progress: Progress) -> None:
    log = copy.log
    base_offset = max(base_offset_of(path), 0)
    for part in blocks_of(file, str(path), start=0, end=size, size=size, base_offset=base_offset):
        if isinstance(part, Damage):
            if part.torn:
                message = f"ends with an incomplete batch ({part.reason}): torn, or being written"
                copy.torn = Notice(path, message, part.position)
            else:
                copy.failures.append(
                    Notice(path, f"{part.reason}; what is there was not read", part.position)
                )
            continue
        for damage in log.read(part):
            copy.failures.append(Notice(path, f"{damage.reason}; it was not read", damage.position))
        progress.advance(part.batches.end)
