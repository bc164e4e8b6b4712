"""Commits of transactions: each counts at its own offset, once the marker of its transaction commits it."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from cli.sources.journal.packed import COMMITS, Table
from wire.log.batch_header import CONTROL, TRANSACTIONAL
from wire.log.columns import Columns
from wire.log.control_records import ControlType, MalformedControlRecord, control_type_of

_Producer: TypeAlias = tuple[int, int]  # partition of the log, producer id


class OpenCommits:
    def __init__(self) -> None:
        self._open: dict[_Producer, list[Table]] = {}

    def oldest(self, log_partition: int) -> int | None:
        """The offset of the oldest commit of an open transaction."""
        oldest = (
            int(tables[0]["log_offset"][0])
            for (partition, _), tables in self._open.items()
            if partition == log_partition
        )
        return min(oldest, default=None)

    def decided(
        self, log_partition: int, columns: Columns, lanes: NDArray[np.int64], commits: Table
    ) -> tuple[Table, NDArray[np.int64]]:
        """The commits that count from these records on, and the offsets from which they do, ascending. `lanes`: of
        `commits` in the columns."""
        attributes = columns.batches.headers["attributes"].astype(np.int64)[columns.batch_of]
        is_control = attributes & CONTROL != 0
        is_held = attributes[lanes] & TRANSACTIONAL != 0
        decided = commits["log_offset"].astype(np.int64)
        if not is_control.any() and not is_held.any():
            return commits, decided
        producers = columns.batches.headers["producer_id"].astype(np.int64)[columns.batch_of]
        tables, offsets = [commits[~is_held]], [decided[~is_held]]
        ends = np.flatnonzero(is_control).tolist()
        start = 0
        held_lanes, held = lanes[is_held], commits[is_held]
        for end in [*ends, len(columns)]:
            stop = int(np.searchsorted(held_lanes, end))
            for lane, row in zip(held_lanes[start:stop].tolist(), held[start:stop], strict=True):
                key = log_partition, int(producers[lane])
                self._open.setdefault(key, []).append(row.reshape(1))
            start = stop
            if end == len(columns):
                break
            try:
                kind = control_type_of(columns.key(end) or b"")
            except MalformedControlRecord:
                continue
            if kind in (ControlType.COMMIT, ControlType.ABORT):
                done = self._open.pop((log_partition, int(producers[end])), [])
                if kind is ControlType.COMMIT and done:
                    tables += done
                    offsets.append(np.full(len(done), columns.offsets[end]))
        together, decided = np.concatenate(tables), np.concatenate(offsets)
        order = np.argsort(decided, kind="stable")
        return together[order].astype(COMMITS), decided[order]
