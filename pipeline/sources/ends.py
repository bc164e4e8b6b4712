"""Where a segment ends: its last batch, without reading what is before."""

from __future__ import annotations

from pipeline.sources.blocks import Block, ByteRanges, blocks_of
from pipeline.sources.splits import last_place
from wire.log.batch_header import Batch


def last_batch(file: ByteRanges, name: str, *, size: int, index: bytes, base_offset: int) -> Batch | None:
    """The last whole batch of a segment; None: there is none. `index`: the bytes of its offset index, or none."""
    start = last_place(file, size, index, base_offset)
    last: Batch | None = None
    for found in blocks_of(file, name, start=start, end=size, size=size, base_offset=base_offset):
        if isinstance(found, Block):
            last = found.batches[-1]
    return last
