"""Logs for tests, and the slow, obvious way of reading them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wire.log.batch_header import Batch
from wire.log.batch_writer import encode_batch
from wire.log.compression import Codec
from wire.log.control_records import ControlType, control_type, end_of_transaction
from wire.log.log_records import LogRecord, records_of
from wire.log.segments import list_segments, read_segment

Pairs = Sequence[tuple[bytes | None, bytes | None]]


@dataclass(slots=True)
class Written:
    segments: list[tuple[int, list[bytes]]] = field(default_factory=lambda: [(0, [])])
    next_offset: int = 0

    def batch(
        self, records: Pairs, *, timestamp: int = 0, codec: Codec = Codec.NONE, transaction_of: int = -1
    ) -> None:
        self._add(
            len(records),
            encode_batch(
                records, base_offset=self.next_offset, timestamp=timestamp, codec=codec,
                producer_id=transaction_of, producer_epoch=-1 if transaction_of < 0 else 0,
                base_sequence=-1 if transaction_of < 0 else 0, transactional=transaction_of >= 0,
            ),
        )  # fmt: skip

    def end(self, producer_id: int, kind: ControlType, *, timestamp: int = 0) -> None:
        mark = end_of_transaction(kind, 0)
        self._add(
            1,
            encode_batch(
                [mark], base_offset=self.next_offset, timestamp=timestamp, producer_id=producer_id,
                producer_epoch=0, transactional=True, control=True,
            ),
        )  # fmt: skip

    def roll(self) -> None:
        if self.segments[-1][1]:
            self.segments.append((self.next_offset, []))

    def skip(self, offsets: int) -> None:
        self.next_offset += offsets

    def save(self, directory: Path) -> Path:
        directory.mkdir(parents=True, exist_ok=True)
        for base_offset, batches in self.segments:
            (directory / f"{base_offset:020d}.log").write_bytes(b"".join(batches))
        return directory

    def _add(self, count: int, batch: bytes) -> None:
        self.segments[-1][1].append(batch)
        self.next_offset += count


def read_log(directory: Path) -> list[tuple[Batch, list[LogRecord]]]:
    batches = []
    for path in list_segments(directory):
        segment = read_segment(path)
        assert segment.torn is None
        batches += [(batch, records_of(batch, segment.data)) for batch in segment.batches]
    return batches


def data_records(directory: Path) -> dict[int, LogRecord]:
    return {
        record.offset: record
        for batch, records in read_log(directory)
        if not batch.is_control
        for record in records
    }


def visible(log: Iterable[tuple[Batch, list[LogRecord]]]) -> dict[bytes, bytes]:
    """The state after reading everything: the last committed value of every key."""
    counted = sorted(_counted(log), key=lambda record: record.offset)
    values = {record.key: record.value for record in counted if record.key is not None}
    return {key: value for key, value in values.items() if value is not None}


def _counted(log: Iterable[tuple[Batch, list[LogRecord]]]) -> Iterator[LogRecord]:
    open_transactions: dict[int, list[LogRecord]] = {}
    for batch, records in log:
        if batch.is_control:
            for mark in records:
                ended = open_transactions.pop(batch.producer_id, [])
                if control_type(mark) is ControlType.COMMIT:
                    yield from ended
        elif batch.is_transactional:
            open_transactions.setdefault(batch.producer_id, []).extend(records)
        else:
            yield from records
