"""Records and batches as JSON, one object a line."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import Any

from cli.log_dump.chunks import Chunk
from cli.log_dump.texts import NULL, json_text
from coordinator.storage.batch_header import MAGIC, Batch, Batches

TIMESTAMP_TYPES = ("CreateTime", "LogAppendTime")


def record_lines(chunk: Chunk) -> list[str]:
    """A JSON object per record, without a line's end: docs/schemas/log-dump.json, `record`.

    Put together by hand: a log has millions of them, and they differ in little.
    """
    begins = _begins(chunk)
    lines = [
        f'{begins[batch]}"offset":{offset},"timestamp":{timestamp},"key_size":{key_size},'
        f'"value_size":{value_size},"sequence":{sequence},'
        f'"header_keys":[],"control":null,"key":{key.text},"payload":{payload},"error":null,"raw":null}}'
        for batch, offset, timestamp, key_size, value_size, sequence, key, payload in zip(
            chunk.batch_of,
            chunk.offsets,
            chunk.timestamps,
            chunk.key_sizes,
            _or_null(chunk.value_sizes),
            _or_null(chunk.sequences),
            chunk.keys,
            chunk.payloads,
            strict=True,
        )
    ]
    for place in chunk.odd:
        lines[place] = _odd_line(chunk, place, begins[chunk.batch_of[place]])
    return lines


def _or_null(numbers: Sequence[int]) -> Sequence[int | str]:
    """The numbers, and null for -1."""
    if min(numbers, default=0) >= 0:
        return numbers
    return [NULL if number < 0 else number for number in numbers]


def _begins(chunk: Chunk) -> dict[int, str]:
    """What the lines of the records of each batch begin with, by the batch's place."""
    file = json_text(chunk.file)
    return {place: _begin(file, chunk.batches[place]) for place in dict.fromkeys(chunk.batch_of)}


def _begin(file: str, batch: Batch) -> str:
    fields = _producer(batch)
    return f'{{"file":{file},"base_offset":{batch.base_offset},{json_text(fields)[1:-1]},'


def _producer(batch: Batch) -> dict[str, Any]:
    return {
        "producer_id": _number(batch.producer_id),
        "producer_epoch": _number(batch.producer_epoch),
        "transactional": batch.is_transactional,
        "timestamp_type": TIMESTAMP_TYPES[batch.log_append_time],
    }


def _odd_line(chunk: Chunk, place: int, begin: str) -> str:
    marker, raw = chunk.markers.get(place), chunk.raw.get(place)
    front = {
        "offset": chunk.offsets[place],
        "timestamp": chunk.timestamps[place],
        "key_size": _number(chunk.key_sizes[place]),
        "value_size": _number(chunk.value_sizes[place]),
        "sequence": _number(chunk.sequences[place]),
        "header_keys": chunk.header_keys.get(place, ()),
        "control": marker and marker._asdict(),
    }
    back = {
        "error": chunk.errors.get(place),
        "raw": raw and {"key": _base64(raw[0]), "payload": _base64(raw[1])},
    }
    texts = f'"key":{chunk.keys[place].text},"payload":{chunk.payloads[place]}'
    return f"{begin}{json_text(front)[1:-1]},{texts},{json_text(back)[1:]}"


def _base64(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def _number(value: int) -> int | None:
    """Kafka's -1 is nothing."""
    return None if value == -1 else value


def batch_lines(batches: Batches) -> Iterator[str]:
    """A JSON object per batch: docs/schemas/log-dump.json, `batch`."""
    checksums = batches.headers["crc"].tolist()
    for batch, checksum in zip(batches, checksums, strict=True):
        yield json_text(batch_data(batch, checksum))


def batch_data(batch: Batch, checksum: int) -> dict[str, Any]:
    """What kafka-dump-log prints of a batch."""
    return {
        "file": batch.file,
        "base_offset": batch.base_offset,
        "last_offset": batch.last_offset,
        "count": batch.count,
        "base_sequence": _number(batch.base_sequence),
        "last_sequence": _number(batch.last_sequence),
        **_producer(batch),
        "leader_epoch": _number(batch.leader_epoch),
        "control": batch.is_control,
        "delete_horizon_ms": batch.delete_horizon_ms,
        "position": batch.position,
        "max_timestamp": batch.max_timestamp,
        "size": batch.size,
        "magic": MAGIC,
        "codec": batch.codec.name.lower(),
        "crc": checksum,
    }
