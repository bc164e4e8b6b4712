"""Errors of partitions that refuse records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coordinator.errors import RequestRefused
from wire.errors import ErrorCode


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedRecord:
    """A rejected record: its index in the batch, and the reason."""

    index: int
    message: str


class RecordsRefused(RequestRefused):
    """A batch is not appended; the rejected records are sent to the client too."""

    def __init__(
        self, code: ErrorCode, message: str | None = None, records: Sequence[RefusedRecord] = ()
    ) -> None:
        super().__init__(code, message)
        self.records = records
