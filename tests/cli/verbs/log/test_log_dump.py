"""`kohort log dump`: formats, filters, and what cannot be read."""

import csv
import io
import json
import random
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.verbs.log import texts
from cli.verbs.log.chunks import Chunk, RecordFilter, chunks_of
from cli.verbs.log.segments import SegmentData
from cli.verbs.log.writers import record_lines
from tests.cli.command import Answer, Kohort
from tests.cli.coordinator_log import PARTITION, START_MS, UNKNOWN_TYPE, commit, pairs, save_log, small_log
from tests.cli.schemas import load
from tests.coordinator.store.logs import Written
from tests.wire.log.random_records import damaged, random_records
from wire.log.batch_writer import encode_batch
from wire.messages.record_codec import json_key, json_value

RECORDS = 14
FIRST, SECOND = "00000000000000000000.log", "00000000000000000007.log"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return save_log(small_log(), tmp_path)


def _records(answer: Answer) -> list[dict[str, Any]]:
    return [json.loads(line) for line in answer.stdout.split("\n")[:-1]]


def _dump(kohort: Kohort, *args: str | Path, output: str = "ndjson") -> Answer:
    answer = kohort.quick("log dump", *args, "--output", output)
    assert not answer.traceback, answer.stderr
    return answer


# What is shown


def test_records_are_shown_in_order_with_all_that_is_known(kohort: Kohort, directory: Path) -> None:
    answer = _dump(kohort, directory).succeeded(stderr="")
    records = _records(answer)
    assert [record["offset"] for record in records] == list(range(RECORDS))
    file = str(directory / PARTITION / FIRST)
    data = {"offset": 20, "leaderEpoch": 0, "metadata": "", "commitTimestamp": START_MS + 20}
    assert records[1] == {
        "file": file, "base_offset": 0, "producer_id": None, "producer_epoch": None, "transactional": False,
        "timestamp_type": "CreateTime", "offset": 1, "timestamp": START_MS, "key_size": 19, "value_size": 24,
        "sequence": None, "header_keys": [], "control": None,
        "key": {"type": "1", "data": {"group": "pay", "topic": "orders", "partition": 1}},
        "payload": {"version": "4", "data": data}, "error": None, "raw": None,
    }  # fmt: skip
    assert records[4]["payload"]["data"]["metadata"] == 'a"b\\\n'
    assert [records[6][name] for name in ("producer_id", "producer_epoch", "transactional", "sequence")] == [
        7, 0, True, 1,
    ]  # fmt: skip
    nothing = dict.fromkeys(("key", "payload", "error"))
    mark = {"control": {"type": "COMMIT", "coordinator_epoch": 0}, **nothing}
    assert {name: records[7][name] for name in mark} == mark
    assert records[9]["control"]["type"] == "ABORT"
    assert (records[10]["payload"], records[10]["value_size"]) == (None, None)


def test_what_cannot_be_read_says_why_and_shows_its_bytes(kohort: Kohort, directory: Path) -> None:
    unknown, malformed = _records(_dump(kohort, directory))[-2:]
    assert unknown["key"] == {"type": str(UNKNOWN_TYPE), "data": None}
    assert unknown["error"] == f"unknown record type {UNKNOWN_TYPE}"
    assert unknown["raw"] == {"key": "AGM/", "payload": "IQ=="}
    assert malformed["key"] == {"type": "1", "data": None}
    assert "partition" in malformed["error"]
    assert malformed["payload"] is None


@pytest.mark.parametrize("batches", [[], ["--batches"]], ids=["records", "batches"])
def test_documents_fit_the_schema_and_the_lines(kohort: Kohort, directory: Path, batches: list[str]) -> None:
    lines = _records(_dump(kohort, directory, *batches))
    document = _dump(kohort, directory, *batches, output="json").document
    assert document["batches" if batches else "records"] == lines
    assert yaml.safe_load(_dump(kohort, directory, *batches, output="yaml").stdout) == document


def test_a_document_of_nothing(kohort: Kohort, directory: Path) -> None:
    document = _dump(kohort, directory, "--group", "missing", output="json").document
    assert document == {"kohort": 1, "command": "log dump", "records": [], "errors": []}
    assert yaml.safe_load(_dump(kohort, directory, "--group", "missing", output="yaml").stdout) == document
    for output in ("ndjson", "table"):
        assert _dump(kohort, directory, "--group", "missing", output=output).stdout == ""


def test_the_schema_wants_all_of_a_record(kohort: Kohort, directory: Path) -> None:
    (record, *_) = _records(_dump(kohort, directory))
    assert set(load("log-dump")["$defs"]["record"]["required"]) == set(record)


def test_csv_has_a_row_per_record(kohort: Kohort, directory: Path) -> None:
    lines = _records(_dump(kohort, directory))
    rows = list(csv.DictReader(io.StringIO(_dump(kohort, directory, output="csv").stdout)))
    assert [(row["FILE"], int(row["OFFSET"])) for row in rows] == [
        (line["file"], line["offset"]) for line in lines
    ]
    assert [json.loads(row["KEY"]) for row in rows if row["KEY"]] == [
        line["key"] for line in lines if line["key"]
    ]
    assert rows[0]["TIMESTAMP"] == "2026-01-01T00:00:00.000Z"
    assert rows[10]["PAYLOAD"] == "<DELETE>"


def test_a_table_per_file(kohort: Kohort, directory: Path) -> None:
    first, second = _dump(kohort, directory, output="table").stdout.split("\n\n")
    assert first.splitlines()[0] == str(directory / PARTITION / FIRST)
    assert second.splitlines()[0] == str(directory / PARTITION / SECOND)
    heading = "OFFSET TIMESTAMP KEY-SIZE VALUE-SIZE PRODUCER SEQUENCE TYPE KEY PAYLOAD"
    assert first.splitlines()[1].split() == heading.split()
    assert len(first.splitlines()) + len(second.splitlines()) == RECORDS + 4
    words = [line.split()[:9] for line in second.splitlines()[2:]]
    assert words[0][:7] == ["7", "2026-01-01T00:00:04.000Z", "4", "6", "7:0", "transactional", "-"]
    assert "COMMIT" in second.splitlines()[2]
    assert f"unknown ({UNKNOWN_TYPE})" in second
    assert "cannot be read: " in second


def test_files_without_rows_have_no_table(kohort: Kohort, directory: Path) -> None:
    shown = _dump(kohort, directory, "--from", "12", output="table").stdout
    assert shown.splitlines()[0] == str(directory / PARTITION / SECOND)
    assert len(shown.splitlines()) == 4


def test_a_table_in_parts_keeps_its_columns(kohort: Kohort, tmp_path: Path) -> None:
    log = Written()
    for number in range(120):
        log.batch(pairs(*(commit("group", "topic", number, 10 * index) for index in range(100))))
    lines = _dump(kohort, save_log(log, tmp_path), output="table").stdout.splitlines()
    assert len(lines) == 12_002
    assert sum("OFFSET" in line.split() for line in lines) == 1
    places = {line.index("OffsetCommit") for line in lines[2:]}
    # Offsets become longer behind the first part, and the columns with them.
    assert len(places) <= 2


# Which records


def _offsets(kohort: Kohort, directory: Path, *args: str) -> list[int]:
    return [record["offset"] for record in _records(_dump(kohort, directory, *args))]


@pytest.mark.parametrize(
    ("args", "offsets"),
    [
        (["--group", "pay"], [0, 1, 10, 11]),
        (["--group", "pay", "--group", "old"], [0, 1, 3, 10, 11]),
        (["--group", "zahlungen-😀"], [4]),
        (["--key-type", "2"], [3]),
        (["--key-type", "GroupMetadata,3"], [2, 3]),
        (["--key-type", "groupmetadata", "--key-type", "99"], [3, 12]),
        (["--key-type", "OffsetCommit", "--group", "tx"], [5, 6, 8]),
        (["--from", "11"], [11, 12, 13]),
        (["--to", "1"], [0, 1]),
        (["--from", "6", "--to", "8"], [6, 7, 8]),
        (["--from", "20"], []),
        (["--from", "8", "--to", "6"], []),
        (["--from", "2026-01-01T00:00:06Z"], [9, 10, 11, 12, 13]),
        (["--to", "2026-01-01T01:00:01+01:00"], [0, 1, 2, 3]),
        (["--from", "2026-01-01T00:00:01", "--to", "3"], [2, 3]),
        (["--from", "-15m"], []),
    ],
    ids=str,
)
def test_records_are_chosen(kohort: Kohort, directory: Path, args: list[str], offsets: list[int]) -> None:
    assert _offsets(kohort, directory, *args) == offsets


def test_batches_are_chosen(kohort: Kohort, directory: Path) -> None:
    def bases(*args: str) -> list[int]:
        return [record["base_offset"] for record in _records(_dump(kohort, directory, "--batches", *args))]

    assert bases() == [0, 2, 4, 5, 7, 8, 9, 10]
    assert bases("--from", "3", "--to", "7") == [2, 4, 5, 7]
    assert bases("--to", "2026-01-01T00:00:01Z") == [0, 2]


# Which files


def test_files_partitions_and_log_directories(kohort: Kohort, directory: Path, tmp_path: Path) -> None:
    partition = directory / PARTITION
    elsewhere = tmp_path / "copied" / "by hand"
    elsewhere.mkdir(parents=True)
    (elsewhere / FIRST).write_bytes((partition / FIRST).read_bytes())
    expected = list(range(RECORDS))
    assert _offsets(kohort, partition) == expected
    assert _offsets(kohort, partition / FIRST) == expected[:7]
    assert _offsets(kohort, partition / SECOND, str(partition / FIRST)) == [*expected[7:], *expected[:7]]
    assert _offsets(kohort, elsewhere) == expected[:7]


def test_a_partition_being_deleted_counts_if_it_is_named(kohort: Kohort, directory: Path) -> None:
    deleted = directory / f"__consumer_offsets-3.{'0' * 32}-delete"
    deleted.mkdir()
    (deleted / FIRST).write_bytes((directory / PARTITION / FIRST).read_bytes())
    assert _offsets(kohort, directory) == list(range(RECORDS))
    assert _offsets(kohort, deleted) == list(range(7))


def test_what_is_no_log_of_the_coordinator(kohort: Kohort, directory: Path, tmp_path: Path) -> None:
    other = directory / "orders-0"
    other.mkdir()
    (other / FIRST).write_bytes(b"")
    index = directory / PARTITION / "00000000000000000000.index"
    index.write_bytes(b"")
    empty = tmp_path / "empty"
    empty.mkdir()
    for path, reason in {
        other: "contains records of orders",
        other / FIRST: "contains records of orders",
        index: f"its segment is {directory / PARTITION / FIRST}",
        empty: f"contains no __consumer_offsets-N directory, it is empty; did you mean {directory}?",
        tmp_path / "nowhere": "is not a segment",
    }.items():
        _dump(kohort, path).assert_refused(reason, status=3)
    answer = _dump(kohort, directory / PARTITION / "00000000000000000009.log")
    answer.assert_refused("00000000000000000009.log: cannot be read: No such file", status=3)


# What cannot be read


def test_a_torn_tail_is_named_and_the_rest_is_shown(kohort: Kohort, directory: Path) -> None:
    file = directory / PARTITION / SECOND
    data = file.read_bytes()
    file.write_bytes(data[:-5])
    position = len(data) - len(small_log().segments[1][1][-1])
    answer = _dump(kohort, directory, output="json")
    assert answer.status == 3
    assert [record["offset"] for record in answer.document["records"]] == list(range(10))
    (error,) = answer.document["errors"]
    assert error["subject"] == f"{file}, byte {position}"
    assert error["message"].startswith("torn tail: a batch of ")
    assert f"kohort: {error['subject']}: {error['message']}\n" == answer.stderr


def test_damage_in_the_middle_is_named_and_the_rest_is_shown(kohort: Kohort, directory: Path) -> None:
    file = directory / PARTITION / FIRST
    data = bytearray(file.read_bytes())
    position = len(small_log().segments[0][1][0])
    data[position + 70] ^= 1
    file.write_bytes(data)
    answer = _dump(kohort, directory)
    assert answer.status == 3
    assert [record["offset"] for record in _records(answer)] == [0, 1, *range(4, RECORDS)]
    assert f"{file}, byte {position}: the batch's checksum is " in answer.stderr


def test_any_bytes_end_in_an_answer(kohort: Kohort, tmp_path: Path) -> None:
    chance = random.Random(20)
    whole = b"".join(batch for _, batches in small_log().segments for batch in batches)
    file = tmp_path / FIRST
    for _ in range(400):
        data = bytearray(whole)
        for _ in range(chance.randrange(1, 4)):
            at = chance.randrange(len(data))
            action = chance.randrange(3)
            if action == 0:
                data[at] ^= 1 << chance.randrange(8)
            elif action == 1:
                del data[at : at + chance.randrange(1, 40)]
            else:
                data[at:at] = data[: chance.randrange(200)]
        file.write_bytes(data)
        for output in ("ndjson", "table"):
            answer = _dump(kohort, file, *chance.choice(([], ["--batches"])), output=output)
            assert answer.status in (0, 3)
            assert (answer.status == 3) == bool(answer.stderr)


# The fast ways and the plain one


def _lines(tmp_path: Path, records: Sequence[tuple[bytes, bytes | None]]) -> list[dict[str, Any]]:
    file = tmp_path / FIRST
    file.write_bytes(encode_batch(records, base_offset=0, timestamp=START_MS))
    parts = list(chunks_of(SegmentData.read(file), RecordFilter()))
    return [json.loads(line) for chunk in parts if isinstance(chunk, Chunk) for line in record_lines(chunk)]


def _plain(key: bytes, value: bytes | None) -> dict[str, Any]:
    """What the schemas say, record by record."""
    shown: dict[str, Any] = {"key": None, "payload": None}
    try:
        shown["key"] = json_key(key)
        if value is not None:
            shown["payload"] = json_value(int(shown["key"]["type"]), value)
    except ValueError as error:
        return {**shown, "error": str(error)}
    return {**shown, "error": None}


def test_all_types_versions_and_broken_bytes_read_as_by_the_schemas(tmp_path: Path) -> None:
    chance = random.Random(3)
    whole = [(key, value) for _, _, key, value in random_records(seed=11, count=30, tags=True)]
    records = [*whole, *((damaged(chance, key), damaged(chance, value)) for key, value in whole)]
    for key, value in whole:
        records += (key, damaged(chance, value)), (damaged(chance, key), value)
    shown = _lines(tmp_path, records)
    for line, (key, value) in zip(shown, records, strict=True):
        expected = _plain(key, value)
        if expected["key"] is None:
            expected["key"] = line["key"]
            assert line["key"] is None or line["key"]["data"] is None
        assert {name: line[name] for name in expected} == expected, (key, value)
    assert {line["error"] is None for line in shown} == {True, False}


def test_keys_are_forgotten_before_they_take_all_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begins = lru_cache(maxsize=100)(texts._key_begin.__wrapped__)
    monkeypatch.setattr(texts, "_key_begin", begins)
    names = [f"g{number % 700}" for number in range(3000)]
    commits = [
        commit(name, "t", index % 7, index, metadata="m" * (index % 2)) for index, name in enumerate(names)
    ]
    records = pairs(*commits)
    shown = _lines(tmp_path, [(key or b"", value) for key, value in records])
    assert [line["key"]["data"]["group"] for line in shown] == names
    assert [line["key"]["data"]["partition"] for line in shown] == [number % 7 for number in range(3000)]
    assert begins.cache_info().currsize == 100
    assert {cache.cache_info().maxsize for cache in (texts._topic_id, texts.key_text)} == {texts.MOST_KEYS}
