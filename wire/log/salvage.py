"""All whole batches of a segment, whatever bytes are between them: to inspect a log, never to continue one."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from wire.log.batch_header import Batches
from wire.log.batch_scan import BatchFault, BatchSearch, scan
from wire.log.columns import Columns, columns_of
from wire.log.errors import DamagedLog

MOST_FAULTS = 100  # the limit per file; nothing is read after the last of them


@dataclass(frozen=True, slots=True, kw_only=True)
class IntactRun:
    """Whole batches and the fault after them; `last`: nothing follows; `torn`: a cut-off write, or zeros."""

    batches: Batches
    fault: BatchFault | None = None
    last: bool = True
    torn: bool = False


def parts_of(data: bytes, file: str) -> Iterator[IntactRun]:
    """The parts of a segment, from its start; positions count from there. `file` is for messages."""
    start = 0
    search = BatchSearch(data)
    for number in range(MOST_FAULTS):
        rest = scan(data[start:] if start else data, file)
        batches = Batches(data, file, rest.batches.positions + start, rest.batches.headers)
        if rest.fault is None:
            yield IntactRun(batches=batches)
            return
        fault = replace(rest.fault, position=rest.fault.position + start)
        searched = number + 1 < MOST_FAULTS
        following = search.next_batch(fault.position + 1) if searched else None
        torn = searched and following is None and not search.given_up and fault.unfinished
        yield IntactRun(batches=batches, fault=fault, last=following is None, torn=torn)
        if following is None:
            return
        start = following


def readable_columns(batches: Batches) -> Iterator[Columns | DamagedLog]:
    """A part's records; a fault replaces a batch that cannot be read, up to `MOST_FAULTS`."""
    for _ in range(MOST_FAULTS):
        returned = 0
        try:
            for columns in columns_of(batches):
                yield columns
                returned = int(columns.batch_of[-1]) + 1 if len(columns) else returned
            return
        except DamagedLog as error:
            bad = int(np.searchsorted(batches.positions, error.position))
            yield from columns_of(batches[returned:bad])
            yield error
        batches = batches[bad + 1 :]
