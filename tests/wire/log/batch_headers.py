"""The batches of some bytes, in order, up to the first that is not one."""

from collections.abc import Iterator

from wire.log.batch_header import Batch
from wire.log.batch_scan import scan
from wire.log.errors import DamagedLog


def read_batch_headers(data: bytes, file: str) -> Iterator[Batch]:
    result = scan(data, file)
    yield from result.batches
    if result.fault is not None:
        raise DamagedLog(file, result.fault.position, result.fault.reason)
