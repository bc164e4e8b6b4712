"""All partitions of an internal topic, which its coordinator appends to: `__consumer_offsets`, `__transaction_state`.
A hash modulo the partition count determines a record's partition, so the count never changes: it is the number of
directories. The highest number is created first, so that the count is right even if a kill interrupts this.
Records that are appended together become one batch per partition, all of them or none."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Self, TypeAlias
from uuid import UUID, uuid4

from coordinator.store import partition_files
from coordinator.store.cleaner import finish_interrupted, write_missing_indexes
from coordinator.store.disk import side_by_side, sync
from coordinator.store.log import Log, SegmentLimits
from coordinator.store.log_compaction import LogCompaction
from coordinator.store.log_files import LogFiles, StoredLog, create_segment
from coordinator.store.producers import EndTransactionMarker
from wire.log.batch_header import Batch, ProducerIdentity
from wire.log.batch_writer import encode_batch
from wire.log.control_records import ControlType, end_of_transaction
from wire.log.errors import StorageFailed, Unusable
from wire.log.segments import Segment, list_segments, read_log

MOST_PARTITIONS = 10_000

KeyAndValue: TypeAlias = tuple[bytes, bytes | None]


class TopicLog:
    def __init__(
        self, topic_id: UUID, limits: SegmentLimits, files: LogFiles, partitions: Mapping[Path, StoredLog]
    ) -> None:
        self.topic_id = topic_id
        self._limits = limits
        self._files = files
        self._directories = tuple(partitions)
        self._partitions = tuple(partitions.values())
        self.torn = tuple(partition.torn for partition in self._partitions if partition.torn is not None)
        """The tails that were cut off when the logs were opened."""
        self.unsynced = files.unsynced
        self.appended: Callable[[Collection[int]], object] = lambda _: None
        """Called with the partitions that were written to."""

    @classmethod
    def open(
        cls,
        root: Path,
        topic: str,
        partitions: int,
        limits: SegmentLimits,
        see: Callable[[int, Segment], None],
        *,
        was_clean: bool = False,
        new_id: UUID | None = None,
    ) -> Self:
        """Read the partitions in a log directory, or create them with `new_id` if there are none. `see` gets the
        segments of each partition, by number. Raises DamagedLog. Raises StorageFailed. Raises Unusable."""
        files = LogFiles(ordered=True)
        opened: dict[Path, StoredLog] = {}
        try:
            existing = partitions_of(root, topic)
            if max(existing, default=0) >= MOST_PARTITIONS:
                raise Unusable(
                    f"{existing[max(existing)]}: a partition number of {topic} must be below {MOST_PARTITIONS}"
                )
            topic_id = (
                next(filter(None, map(partition_files.read_topic_id, existing.values())), None)
                or new_id
                or uuid4()
            )
            *others, last = (
                root / f"{topic}-{number}" for number in range(max(existing, default=partitions - 1) + 1)
            )
            _prepare(last, topic_id)
            side_by_side(partial(_prepare, topic_id=topic_id), others)
            sync(root)
            for number, directory in enumerate((*others, last)):
                segments = _seen(directory, partial(see, number))
                opened[directory] = files.open(directory, segments, was_clean=was_clean)
        except OSError as error:
            raise StorageFailed("opening", error.filename or root, error) from error
        return cls(topic_id, limits, files, opened)

    def __len__(self) -> int:
        return len(self._partitions)

    def directory(self, number: int) -> Path:
        return self._directories[number]

    def stored(self, number: int) -> StoredLog:
        return self._partitions[number]

    def append(
        self,
        records: Mapping[int, Sequence[KeyAndValue]],
        now_ms: int,
        producer: ProducerIdentity | None = None,
    ) -> None:
        """Write records by partition, all of them or none, to the operating system, not yet the disk. Records of a
        `producer` belong to its transaction. Raises StorageFailed."""
        for number, batch in self._write(records, now_ms, producer).items():
            if producer is not None:
                self._partitions[number].producers.append(batch)
        self.appended(records)

    def end_transaction(
        self, producer: ProducerIdentity, partitions: Collection[int], now_ms: int, *, committed: bool
    ) -> None:
        """Write the marker that ends a transaction to each of the partitions. Raises StorageFailed."""
        marker = end_of_transaction(ControlType.COMMIT if committed else ControlType.ABORT, epoch=0)
        records = {number: [marker] for number in partitions}
        for number, batch in self._write(records, now_ms, producer, control=True).items():
            end = EndTransactionMarker(*producer, committed)
            self._partitions[number].producers.end(end, batch.base_offset, now_ms)
        self.appended(partitions)

    def compactions(self) -> Iterator[LogCompaction]:
        return (partition.compaction for partition in self._partitions)

    def close(self) -> None:
        """Synchronize and close everything. Raises StorageFailed. Raises DamagedLog."""
        try:
            if (unsynced := self.unsynced()) is not None:
                unsynced()
            side_by_side(partial(write_missing_indexes, before=1 << 63), self._directories)
        except OSError as error:
            raise StorageFailed("closing", error.filename or self._directories[0], error) from error
        finally:
            self.abandon()

    def abandon(self) -> None:
        self._files.opened.close()

    def _write(
        self,
        records: Mapping[int, Sequence[KeyAndValue]],
        now_ms: int,
        producer: ProducerIdentity | None,
        *,
        control: bool = False,
    ) -> dict[int, Batch]:
        """Write one batch to each partition. Raises StorageFailed: nothing is written."""
        identity = producer or ProducerIdentity()
        written: list[Log] = []
        batches: dict[int, Batch] = {}
        for number, encoded in records.items():
            log, epochs = self._partitions[number][:2]
            batch = encode_batch(
                encoded,
                base_offset=log.end_offset,
                timestamp=now_ms,
                leader_epoch=epochs.latest,
                producer_id=identity.id,
                producer_epoch=identity.epoch,
                transactional=producer is not None,
                control=control,
            )
            try:
                batches[number] = log.write(batch, self._limits)
            except OSError as error:
                for earlier in written:
                    earlier.take_back()
                raise StorageFailed("writing to", self.directory(number), error) from error
            written.append(log)
        for number, header in batches.items():
            self._partitions[number].log.add(header)
        return batches


def partitions_of(root: Path, topic: str) -> dict[int, Path]:
    """The directories of a topic's partitions, by number. Raises OSError."""
    return {
        name.partition: path
        for path, name in partition_files.partition_directories(root)
        if name.topic == topic and name.suffix is partition_files.DirectorySuffix.NONE
    }


def _prepare(directory: Path, topic_id: UUID) -> None:
    """Create missing files of a partition, and complete a compaction. Raises DamagedLog. Raises OSError."""
    directory.mkdir(exist_ok=True)
    if partition_files.read_topic_id(directory) is None:
        partition_files.write_topic_id(directory, topic_id)
    if not partition_files.read_leader_epochs(directory):
        partition_files.write_leader_epochs(directory, [partition_files.LeaderEpoch(epoch=0, start_offset=0)])
    finish_interrupted(directory)
    if not list_segments(directory):
        create_segment(directory, 0)
        sync(directory)


def _seen(directory: Path, see: Callable[[Segment], None]) -> Iterator[Segment]:
    for segment in read_log(directory):
        see(segment)
        yield segment
