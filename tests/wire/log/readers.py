"""Both readers of batches, many at once and one by one, in one form."""

from collections.abc import Callable

from wire.log.batch_header import Batches
from wire.log.columns import columns_of
from wire.log.errors import DamagedLog
from wire.log.log_records import LogRecord, records_of

Plain = tuple[int, int, bytes | None, bytes | None]
Read = list[tuple[int, Plain]]  # number of the batch, and offset, time, key and value of each record


def by_columns(batches: Batches) -> Read:
    return [
        (
            int(chunk.batch_of[i]),
            (int(chunk.offsets[i]), int(chunk.timestamps[i]), chunk.key(i), chunk.value(i)),
        )
        for chunk in columns_of(batches)
        for i in range(len(chunk))
    ]


def one_by_one(batches: Batches) -> Read:
    return [
        (index, plain(record))
        for index, batch in enumerate(batches)
        for record in records_of(batch, batches.data)
    ]


def plain(record: LogRecord) -> Plain:
    return record.offset, record.timestamp, record.key, record.value


def outcome(read: Callable[[Batches], Read], batches: Batches) -> Read | str:
    try:
        return read(batches)
    except DamagedLog as error:
        return str(error)
