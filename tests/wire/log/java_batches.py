"""Kafka's own classes for record batches and segments, asked through a Java process (`Batches.java`)."""

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.kafka.programs import SILENT, Answerer
from tests.wire.log.random_batches import Made
from wire.log.batch_header import Batch
from wire.log.log_records import LogRecord


class JavaRefused(Exception):
    """What Kafka's class threw."""


class JavaBatches(Answerer):
    def __init__(self, jars: Path) -> None:
        super().__init__(jars, "Batches", options=[SILENT])

    def write(self, batches: list[dict[str, Any]]) -> bytes:
        return base64.b64decode(self.answer({"write": batches})["bytes"])

    def read(self, data: bytes) -> list[dict[str, Any]]:
        batches: list[dict[str, Any]] = self.answer({"read": base64.b64encode(data).decode()})["batches"]
        return batches

    def recover(self, directory: Path, base_offset: int) -> int:
        return int(self.answer({"recover": str(directory), "base_offset": base_offset})["truncated"])

    def answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        answer = super().answer(question)
        if "error" in answer:
            raise JavaRefused(answer["error"])
        return answer


def as_json(made: Made) -> dict[str, Any]:
    batch = made.batch
    return _common(batch) | {
        "kind": "records",
        "last_offset_delta": batch.last_offset_delta,
        "timestamp": batch.max_timestamp,
        "delete_horizon": -1 if batch.delete_horizon_ms is None else batch.delete_horizon_ms,
        "records": [_record(record) for record in made.records],
    }


def shown(made: Made) -> dict[str, Any]:
    batch = made.batch
    same = ("last_offset", "delete_horizon_ms", "max_timestamp", "last_sequence", "count")
    return _common(batch) | {
        **{name: getattr(batch, name) for name in same},
        "control": batch.is_control,
        "size": batch.size or len(made.encoded),
        "records": [_record(record) | {"sequence": record.sequence} for record in made.records],
    }


def _common(batch: Batch) -> dict[str, Any]:
    same = (
        "base_offset",
        "leader_epoch",
        "producer_id",
        "producer_epoch",
        "base_sequence",
        "log_append_time",
    )
    return {name: getattr(batch, name) for name in same} | {
        "codec": batch.codec.name.lower(),
        "transactional": batch.is_transactional,
    }


def _record(record: LogRecord) -> dict[str, Any]:
    return {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key": in_base64(record.key),
        "value": in_base64(record.value),
        "headers": [[name, in_base64(value)] for name, value in record.headers],
    }


def in_base64(content: bytes | None) -> str | None:
    return None if content is None else base64.b64encode(content).decode()
