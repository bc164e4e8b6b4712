"""The leader epochs of a partition.

The start offset of an epoch is the log end offset when its leader starts. Source: LeaderEpochFileCache.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import replace

from coordinator.store.partition_files import LeaderEpoch

UNDEFINED = -1
"""No epoch, or no offset."""


class LeaderEpochs:
    """The epochs of one partition, ascending."""

    def __init__(self, epochs: Iterable[LeaderEpoch] = ()) -> None:
        self.epochs = list(epochs)

    @property
    def latest(self) -> int:
        """The epoch of the current leader; `UNDEFINED` before the first one."""
        return self.epochs[-1].epoch if self.epochs else UNDEFINED

    def begin(self, epoch: int, offset: int) -> None:
        """Start `epoch` at `offset`, and remove previous epochs without records."""
        if epoch <= self.latest:
            return
        while self.epochs and self.epochs[-1].start_offset >= offset:
            self.epochs.pop()
        self.epochs.append(LeaderEpoch(epoch=epoch, start_offset=offset))

    def of(self, offset: int) -> int:
        """The epoch in which the record at `offset` was written, or would be."""
        place = bisect_right(self.epochs, offset, key=lambda each: each.start_offset)
        return self.epochs[place - 1].epoch if place else UNDEFINED

    def end_of(self, epoch: int, log_end: int) -> tuple[int, int]:
        """The largest epoch up to `epoch` that has records, and the offset after its last record.

        (`UNDEFINED`, `UNDEFINED`) for an epoch that has not started.
        """
        if epoch == UNDEFINED or epoch > self.latest:
            return UNDEFINED, UNDEFINED
        if epoch == self.latest:
            return epoch, log_end
        place = bisect_right(self.epochs, epoch, key=lambda each: each.epoch)
        found = self.epochs[place - 1].epoch if place else epoch
        return found, self.epochs[place].start_offset

    def forget_before(self, log_start: int) -> None:
        """Remove the epochs before the new log start offset; the first remaining epoch starts there."""
        place = bisect_right(self.epochs, log_start, key=lambda each: each.start_offset)
        if place:
            first = replace(
                self.epochs[place - 1], start_offset=max(log_start, self.epochs[place - 1].start_offset)
            )
            self.epochs[:place] = [first]
