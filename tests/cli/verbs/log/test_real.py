"""`kohort log dump` says of every batch and record what Kafka's own dump tool says."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coordinator.store.loader import load
from tests.cli.command import Kohort
from tests.cli.coordinator_log import START_MS, commit, pairs, save_log, small_log
from tests.coordinator.store.client_side_records import with_client_side
from tests.coordinator.store.real_log import RealLog, segments_of
from tests.coordinator.store.state_records import state_records
from tests.kafka.tool_host import DUMP_LOG, ToolHost
from tests.wire.log.batch_headers import read_batch_headers
from tests.wire.log.random_records import random_records
from wire.log.batch_writer import encode_batch, rewrite_batch
from wire.log.compression import Codec
from wire.log.log_records import records_of

pytestmark = pytest.mark.kafka

Shown = Mapping[str, Any]
ESCAPE = re.compile(r"\\\\|\\u[0-9A-F]{4}")  # a backslash, or a character by its number


def _reported(tools: ToolHost, files: Sequence[Path]) -> dict[str, list[str]]:
    """What the tool prints of each file: a line per batch and per record."""
    done = tools.run(DUMP_LOG, "--offsets-decoder", "--files", ",".join(map(str, files)))
    assert done.returncode == 0, done.stderr
    reported = {}
    for part in done.stdout.split("Dumping ")[1:]:
        file, *lines = part.split("\n")
        reported[file] = [line for line in lines if line.startswith(("| ", "baseOffset"))]
    return reported


def _shown(kohort: Kohort, *args: str | Path) -> list[dict[str, Any]]:
    answer = kohort.quick("log dump", *args, "--output", "ndjson").succeeded(stderr="")
    return [json.loads(line) for line in answer.stdout.split("\n")[:-1]]


def _lines(batches: Sequence[Shown], records: Sequence[Shown]) -> Iterator[str]:
    for batch in batches:
        yield _batch_line(batch)
        yield from (
            _record_line(record) for record in records if record["base_offset"] == batch["base_offset"]
        )


def _batch_line(batch: Shown) -> str:
    horizon = batch["delete_horizon_ms"]
    return (
        f"baseOffset: {batch['base_offset']} lastOffset: {batch['last_offset']} count: {batch['count']} "
        f"baseSequence: {_number(batch['base_sequence'])} lastSequence: {_number(batch['last_sequence'])} "
        f"producerId: {_number(batch['producer_id'])} producerEpoch: {_number(batch['producer_epoch'])} "
        f"partitionLeaderEpoch: {_number(batch['leader_epoch'])} isTransactional: {_json(batch['transactional'])} "
        f"isControl: {_json(batch['control'])} "
        f"deleteHorizonMs: OptionalLong{'.empty' if horizon is None else f'[{horizon}]'} "
        f"position: {batch['position']} {batch['timestamp_type']}: {batch['max_timestamp']} size: {batch['size']} "
        f"magic: {batch['magic']} compresscodec: {batch['codec']} crc: {batch['crc']} isvalid: true"
    )


def _record_line(record: Shown) -> str:
    line = (
        f"| offset: {record['offset']} {record['timestamp_type']}: {record['timestamp']} "
        f"keySize: {_number(record['key_size'])} valueSize: {_number(record['value_size'])} "
        f"sequence: {_number(record['sequence'])} headerKeys: [{','.join(record['header_keys'])}]"
    )
    mark = record["control"]
    if mark is not None:
        return f"{line} endTxnMarker: {mark['type']} coordinatorEpoch: {mark['coordinator_epoch']}"
    if record["error"] is not None:
        kind = record["error"] if record["error"].startswith("unknown") else None
        known = f"Unknown record type {record['key']['type']} at" if kind else "Error at"
        return f"{line} key: {known} offset {record['offset']}, skipping."
    payload = "<DELETE>" if record["value_size"] is None else _json(record["payload"])
    return f"{line} key: {_json(record['key'])} payload: {payload}"


def _number(value: int | None) -> int:
    return -1 if value is None else value


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _comparable(lines: Sequence[str]) -> list[str]:
    """The tool's lines without Java's reasons, and with control characters escaped in small letters."""
    shortened = [
        line.partition(" skipping.")[0] + " skipping." if " skipping." in line else line for line in lines
    ]
    return [ESCAPE.sub(lambda match: match[0].lower(), line) for line in shortened]


def _compare(kohort: Kohort, tools: ToolHost, files: Sequence[Path]) -> None:
    reported = _reported(tools, files)
    for file in files:
        batches, records = _shown(kohort, file, "--batches"), _shown(kohort, file)
        assert {row["file"] for row in (*batches, *records)} <= {str(file)}
        assert list(_lines(batches, records)) == _comparable(reported[str(file)])


@pytest.mark.parametrize("log", ["whole", "compacted"])
def test_every_record_of_a_real_log(
    kohort: Kohort, tools: ToolHost, real_log: RealLog, compacted_log: Path, log: str
) -> None:
    files = segments_of(real_log.data if log == "whole" else compacted_log)
    assert len(files) > 5
    _compare(kohort, tools, files)


@pytest.mark.parametrize("codec", Codec, ids=lambda codec: codec.name.lower())
def test_every_codec(kohort: Kohort, tools: ToolHost, tmp_path: Path, codec: Codec) -> None:
    log = small_log(codec)
    _compare(kohort, tools, sorted(save_log(log, tmp_path).glob("*/*.log")))


def test_records_of_every_type_and_version(kohort: Kohort, tools: ToolHost, tmp_path: Path) -> None:
    file = tmp_path / "00000000000000000000.log"
    records = [(key, value) for _, _, key, value in random_records(seed=5, count=4)]
    file.write_bytes(encode_batch(records, base_offset=0, timestamp=START_MS))
    _compare(kohort, tools, [file])


def test_client_side_assignors_that_kafka_has_no_fields_for(
    kohort: Kohort, tools: ToolHost, real_log: RealLog, tmp_path: Path
) -> None:
    records = dict(state_records(load([real_log.data]).state))["consumer"]
    plain, tagged = pairs(*records), pairs(*map(with_client_side, records))
    assert sum(one != other for one, other in zip(plain, tagged, strict=True)) == 3
    file = tmp_path / "00000000000000000000.log"
    file.write_bytes(encode_batch(tagged, base_offset=0, timestamp=START_MS))
    _compare(kohort, tools, [file])


def test_what_other_writers_may_write(kohort: Kohort, tools: ToolHost, tmp_path: Path) -> None:
    file = tmp_path / "00000000000000000007.log"
    some = pairs(commit("g", "t", 0, 1), commit("g", "t", 1, 2), commit("g", "t", 2, 3))
    brokers_time = encode_batch(some, base_offset=7, timestamp=START_MS, log_append_time=True)
    plain = encode_batch(
        some, base_offset=10, timestamp=START_MS, producer_id=5, producer_epoch=2, base_sequence=2**31 - 2
    )
    (batch,) = read_batch_headers(plain, "plain")
    with_headers = [
        replace(record, headers=(("trace", b"1"), ("größe", None)) if record.offset != 11 else ())
        for record in records_of(batch, plain)
    ]
    file.write_bytes(brokers_time + rewrite_batch(batch, with_headers))
    _compare(kohort, tools, [file])
    assert [row["header_keys"] for row in _shown(kohort, file)] == [
        [], [], [], ["trace", "größe"], [], ["trace", "größe"],
    ]  # fmt: skip
