"""Kafka's own classes for record batches and segments, asked through a Java process (`Batches.java`)."""

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.kafka.programs import SILENT, Answerer
from tests.wire.log.random_batches import Made
from wire.log.batches import Codec


class JavaRefused(Exception):
    """What Kafka's class threw."""


class JavaBatches(Answerer):
    """One process, started with the first question."""

    def __init__(self, jars: Path) -> None:
        """Start nothing yet."""
        super().__init__(jars, "Batches", options=[SILENT])

    def write(self, batches: list[dict[str, Any]]) -> bytes:
        """Batches as Java writes them; see `as_json` and `Batches.java` for what one is."""
        return base64.b64decode(self.answer({"write": batches})["bytes"])

    def read(self, data: bytes) -> list[dict[str, Any]]:
        """All batches with their records; keys and values in base64. JavaRefused if one is not right."""
        batches: list[dict[str, Any]] = self.answer({"read": base64.b64encode(data).decode()})["batches"]
        return batches

    def recover(self, directory: Path, base_offset: int) -> int:
        """Recover the segment in `directory`, which makes its index files anew; the bytes cut off its end."""
        return int(self.answer({"recover": str(directory), "base_offset": base_offset})["truncated"])

    def answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Ask it; JavaRefused where Kafka's class threw."""
        answer = super().answer(question)
        if "error" in answer:
            raise JavaRefused(answer["error"])
        return answer


def as_json(made: Made) -> dict[str, Any]:
    """The batch as `Batches.java` is told to write it."""
    batch = made.batch
    common = {
        "base_offset": batch.base_offset,
        "leader_epoch": batch.leader_epoch,
        "producer_id": batch.producer_id,
        "producer_epoch": batch.producer_epoch,
        "base_sequence": batch.base_sequence,
        "transactional": batch.is_transactional,
        "last_offset_delta": batch.last_offset_delta,
        "timestamp": batch.max_timestamp,
    }
    return common | {
        "kind": "records",
        "codec": codec_name(batch.codec),
        "log_append_time": batch.log_append_time,
        "delete_horizon": -1 if batch.delete_horizon_ms is None else batch.delete_horizon_ms,
        "records": [
            {
                "offset": record.offset,
                "timestamp": record.timestamp,
                "key": in_base64(record.key),
                "value": in_base64(record.value),
                "headers": [[name, in_base64(value)] for name, value in record.headers],
            }
            for record in made.records
        ],
    }


def shown(made: Made) -> dict[str, Any]:
    """The batch as `JavaBatches.read` gives it."""
    batch = made.batch
    return {
        "base_offset": batch.base_offset,
        "last_offset": batch.last_offset,
        "leader_epoch": batch.leader_epoch,
        "codec": codec_name(batch.codec),
        "log_append_time": batch.log_append_time,
        "transactional": batch.is_transactional,
        "control": batch.is_control,
        "delete_horizon_ms": batch.delete_horizon_ms,
        "max_timestamp": batch.max_timestamp,
        "producer_id": batch.producer_id,
        "producer_epoch": batch.producer_epoch,
        "base_sequence": batch.base_sequence,
        "last_sequence": batch.last_sequence,
        "count": batch.count,
        "size": batch.size or len(made.encoded),
        "records": [
            {
                "offset": record.offset,
                "timestamp": record.timestamp,
                "sequence": record.sequence,
                "key": in_base64(record.key),
                "value": in_base64(record.value),
                "headers": [[name, in_base64(value)] for name, value in record.headers],
            }
            for record in made.records
        ],
    }


def codec_name(codec: Codec) -> str:
    """As Java calls it."""
    return codec.name.lower()


def in_base64(content: bytes | None) -> str | None:
    """Null stays null."""
    return None if content is None else base64.b64encode(content).decode()
