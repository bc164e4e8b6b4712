"""Why a partition refuses records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coordinator.errors import RequestRefused
from wire.errors import ErrorCode


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedRecord:
    """One record at fault: its place in the batch, and why."""

    index: int
    message: str


class RecordsRefused(RequestRefused):
    """A batch is not appended; the records at fault go on the wire too."""

    def __init__(
        self, code: ErrorCode, message: str | None = None, records: Sequence[RefusedRecord] = ()
    ) -> None:
        super().__init__(code, message)
        self.records = records
