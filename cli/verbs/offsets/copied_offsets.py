"""Find the offsets of a group in a copy of its topics: read and compare the records around them in both clusters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from cli.sources.live_answers import READING_RECORDS
from cli.sources.permissions import with_missing_operations
from cli.sources.positions import positions_of
from cli.sources.source import Source
from groups.model import Group, Problem, TopicPartition, partition_name
from groups.offsets import proof as proving
from groups.offsets.model import Positions, TopicScope
from wire.client.cluster import KafkaClient
from wire.client.errors import Answers
from wire.client.offsets import OffsetsAtTimes, offsets_at
from wire.client.record_windows import record_windows
from wire.client.records_around import RecordsRequest
from wire.log.log_records import RecordWindow

T = TypeVar("T")
_AROUND = 16  # Number of records compared on each side of an offset
_ANCHORED = 512
"""Number of records with the same time that are read in the source to find a record of the target."""
_MAY_BE_COMPACTED = (
    proving.ProofVerdict.DIFFERS,
    proving.ProofVerdict.SAME_TIME,
    proving.ProofVerdict.MISSING,
)
_NO_TIMESTAMP = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyRequest:
    """The group and topics to copy, and how many records to search."""

    origin: str
    target: str
    scopes: tuple[TopicScope, ...]
    names: proving.TopicNames
    search: int  # Maximum number of records read in a target partition to find the match
    unproved: bool  # Whether offsets that are not proved are set too


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyResult:
    """The results: every partition has either a proof or a problem."""

    proved: Mapping[TopicPartition, proving.ProvedOffset]
    positions: Positions  # Positions in the target
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class OffsetCopier:
    """Reads and compares the records around each offset on both sides."""

    source: Source
    target: Source
    originals: KafkaClient
    copies: KafkaClient
    request: CopyRequest

    def prove(self, original: Group, places: Sequence[TopicPartition]) -> CopyResult:
        """The offsets in the target for the offsets of a group in these partitions."""
        in_target, problems = self.request.names.in_target, _Problems(original.id)
        begins = positions_of(self.source, places, None)
        ends = positions_of(self.target, [in_target(partition) for partition in places], None)
        offsets = _usable(original, places, (begins, ends), in_target, problems)
        requests = {
            partition: RecordsRequest(offset=offset, before=_AROUND, after=_AROUND)
            for partition, offset in offsets.items()
        }
        around = problems.kept(record_windows(self.originals, requests), "in the source")
        logs = self._logs(offsets, around, ends, problems)
        proofs = self._proofs(offsets, around, logs, problems)
        proved = {}
        for partition, proof in sorted(proofs.items()):
            lost = max(begins.earliest[partition] - offsets[partition], 0)
            proved[partition] = proving.ProvedOffset(
                proof=proof, time_ms=_time_of(around[partition]), lost=lost
            )
        return CopyResult(proved=proved, positions=ends, problems=tuple(problems.found.values()))

    def _logs(
        self,
        offsets: Mapping[TopicPartition, int],
        around: Mapping[TopicPartition, RecordWindow],
        ends: Positions,
        problems: _Problems,
    ) -> dict[TopicPartition, proving.TargetLog]:
        """The logs of the target, with the offsets at the records' times."""
        in_target = self.request.names.in_target
        times = {
            in_target(partition): time_ms
            for partition, window in around.items()
            if (time_ms := _time_of(window)) is not None
        }
        at_time = problems.kept(offsets_at(self.copies, times, [OffsetsAtTimes(times)]), "in the target")
        return {
            partition: proving.TargetLog(
                earliest=ends.earliest[copy],
                end=ends.end[copy],
                # Without a time, only the offset itself can be used.
                at_time=at_time[copy][0] if copy in times else min(offsets[partition], ends.end[copy]),
            )
            for partition in around
            if (copy := in_target(partition)) not in times or copy in at_time
        }

    def _proofs(
        self,
        offsets: Mapping[TopicPartition, int],
        around: Mapping[TopicPartition, RecordWindow],
        logs: Mapping[TopicPartition, proving.TargetLog],
        problems: _Problems,
    ) -> dict[TopicPartition, proving.Proof]:
        """Proofs by partition. Most need a few records of the target; the others, up to `search` records."""
        proofs: dict[TopicPartition, proving.Proof] = {}
        windows: dict[TopicPartition, RecordWindow] = {}
        pending = list(logs)
        for depth in (2 * _AROUND, self.request.search):
            starts = {
                partition: logs[partition].end if logs[partition].at_time < 0 else logs[partition].at_time
                for partition in pending
            }
            windows |= self._target_windows(starts, around, depth, problems)
            pending = [partition for partition in pending if partition in windows]
            for partition in pending:
                window, target, log = around[partition], windows[partition], logs[partition]
                proofs[partition] = proving.prove(window, target, log, offset=offsets[partition])
            pending = [  # those of which the target was not read as far as is useful
                place
                for place in pending
                if proofs[place].verdict is not proving.ProofVerdict.PROVED
                and not (windows[place].to_end and (windows[place].from_start or not _is_late(around[place])))
            ]
        unsure = [partition for partition, proof in proofs.items() if proof.verdict in _MAY_BE_COMPACTED]
        wider = self._wider({partition: around[partition] for partition in unsure}, windows, logs, offsets)
        for partition, window in wider.items():
            target, log = windows[partition], logs[partition]
            proof = proving.prove(window, target, log, offset=offsets[partition], is_whole=False)
            if proof.verdict is proving.ProofVerdict.PROVED:
                proofs[partition] = proof
        return proofs

    def _target_windows(
        self,
        starts: Mapping[TopicPartition, int],
        around: Mapping[TopicPartition, RecordWindow],
        depth: int,
        problems: _Problems,
    ) -> dict[TopicPartition, RecordWindow]:
        """Records of the target by partition of the source, `depth` of them after each start.
        As many before it if a broker set the time in the source, which is later than the producer's."""
        copies = {self.request.names.in_target(partition): partition for partition in starts}
        requests = {}
        for copy, place in copies.items():
            before = depth if _is_late(around[place]) else _AROUND
            requests[copy] = RecordsRequest(offset=starts[place], before=before, after=depth)
        windows = problems.kept(record_windows(self.copies, requests), "in the target")
        return {copies[copy]: window for copy, window in windows.items()}

    def _wider(
        self,
        around: Mapping[TopicPartition, RecordWindow],
        windows: Mapping[TopicPartition, RecordWindow],
        logs: Mapping[TopicPartition, proving.TargetLog],
        offsets: Mapping[TopicPartition, int],
    ) -> dict[TopicPartition, RecordWindow]:
        """The windows with more records of the source, from times around the target's offset: compaction left gaps."""
        wider = dict(around)
        for side in (0, 1):
            neighbors = {place: proving.near_time(windows[place], logs[place])[side] for place in around}
            times = {place: record.timestamp_ms for place, record in neighbors.items() if record is not None}
            starts = offsets_at(self.originals, times, [OffsetsAtTimes(times)]).found
            requests = {
                partition: RecordsRequest(offset=start, before=_AROUND, after=_ANCHORED)
                for partition, (start,) in starts.items()
                if start >= 0
            }
            for partition, window in record_windows(self.originals, requests).found.items():
                wider[partition] = proving.merged(wider[partition], [window], offsets[partition])
        return wider


def _time_of(window: RecordWindow) -> int | None:
    key = proving.key_record(window)
    return None if key is None or key.timestamp_ms == _NO_TIMESTAMP else key.timestamp_ms


def _is_late(window: RecordWindow) -> bool:
    """Whether the searched time may be later than the time of the copied record."""
    key = proving.key_record(window)
    return key is not None and key.is_append_time


@dataclass(frozen=True, slots=True)
class _Problems:
    """Reasons why partitions have no new offset, by partition and message."""

    group: str
    found: dict[tuple[TopicPartition, str], Problem] = field(default_factory=dict)

    def add(self, partition: TopicPartition, message: str) -> None:
        subject = f"{self.group}, {partition_name(partition)}"
        self.found.setdefault((partition, message), Problem(subject=subject, message=message))

    def kept(self, answers: Answers[TopicPartition, T], where: str) -> Mapping[TopicPartition, T]:
        """The found results; failures are added to the problems."""
        for partition, failure in answers.failed.items():
            message = with_missing_operations(failure.name, failure.message, READING_RECORDS)
            self.add(partition, f"{where}: {message}")
        return answers.found


def _usable(
    original: Group,
    places: Sequence[TopicPartition],
    ends: tuple[Positions, Positions],
    in_target: Callable[[TopicPartition], TopicPartition],
    problems: _Problems,
) -> dict[TopicPartition, int]:
    """The committed offset of every partition with known log end offsets on both sides."""
    begins, targets = ends
    offsets: dict[TopicPartition, int] = {}
    for partition in places:
        offset = (original.offsets or {})[partition[0]][partition[1]].offset
        copy = in_target(partition)
        if offset is None or offset < 0:
            problems.add(partition, f"its committed offset is {'not known' if offset is None else offset}")
        elif partition in begins.unread:
            problems.add(partition, f"in the source: {begins.unread[partition]}")
        elif copy in targets.unread:
            problems.add(copy, f"in the target: {targets.unread[copy]}")
        elif offset > begins.end[partition]:
            message = f"its committed offset {offset} is beyond the end of the source's log, {begins.end[partition]}"
            problems.add(partition, f"{message}; the topic may have been deleted and created again")
        else:
            offsets[partition] = offset
    return offsets
