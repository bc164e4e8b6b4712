"""Slices of Arrow's binary arrays, without a copy of each in Python."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from wire.log.varints import Ints, Octets


def bounds_of(array: pa.Array) -> tuple[Octets, Ints, Ints]:
    """The bytes behind an array of type binary, and where in them each element begins and ends; null is empty."""
    _, offsets, data = array.buffers()
    bounds = np.frombuffer(offsets, dtype=np.int32)[array.offset : array.offset + len(array) + 1].astype(
        np.int64
    )
    octets = np.frombuffer(data if data is not None else b"", dtype=np.uint8)
    return octets, bounds[:-1], bounds[1:]


def slices(array: pa.Array, *bounds: tuple[Ints, Ints]) -> list[pa.Array]:
    """Slices of the elements, as binary arrays; starts and ends count in the array's bytes (`bounds_of`).

    Within an element the slices stand one behind the other, none overlaps the one before it.
    """
    count, parts = len(array), 2 * len(bounds)
    if not count:
        return [pa.array([], pa.binary()) for _ in bounds]
    # The slices and what is between them are elements of one array over the same bytes.
    all_bounds = np.empty((count, parts), dtype=np.int32)
    for number, (starts, ends) in enumerate(bounds):
        all_bounds[:, 2 * number], all_bounds[:, 2 * number + 1] = starts, ends
    data = array.buffers()[2] or pa.py_buffer(b"")
    pieces = pa.Array.from_buffers(pa.binary(), parts * count - 1, [None, pa.py_buffer(all_bounds), data])
    lanes = np.arange(count, dtype=np.int64) * parts
    return [pieces.take(pa.array(lanes + 2 * number)) for number in range(len(bounds))]
