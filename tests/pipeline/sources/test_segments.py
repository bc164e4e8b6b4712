"""Segments on Spark: every record of a real log once, as the plain decoders read it, however the files are cut."""

import json
import shutil
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.testing import assertDataFrameEqual

from coordinator.engine.records import OffsetRecord, StoredOffset, TargetMemberRecord
from coordinator.store.records import encode_record
from pipeline.sources import segments as source
from pipeline.sources.segments import reading
from tests.coordinator.store.logs import Written
from tests.coordinator.store.real_log import RealLog
from tests.pipeline.decoded import decoded, events, quarantine, rows_of
from wire.log.compression import Codec
from wire.uuids import format_uuid

NOW_MS = 1_700_000_000_000
TOPIC_ID = UUID("00000000-0000-4000-8000-00000000abcd")


@pytest.fixture(scope="module")
def real_events(spark: SparkSession, real_log: RealLog) -> DataFrame:
    return events(decoded(spark, [str(real_log.data)])).localCheckpoint()


def time(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC).replace(tzinfo=None)


def utc(row: Row, column: str) -> datetime | None:
    """A time of a row: Spark gives them in the machine's zone."""
    value = row[column]
    return None if value is None else value.astimezone(UTC).replace(tzinfo=None)


def test_topics_have_their_names(real_events: DataFrame) -> None:
    rows = real_events.where("kind in ('current', 'target', 'share_target')").collect()
    topics = {topic for row in rows for topic in (row["assignment"] or {})}
    assert {"orders", "orders-late"} <= topics
    assert topics <= {"orders", "orders-late", "payments", "gone"}


def assert_same_events(rows: DataFrame, expected: DataFrame) -> None:
    """Records of groups are compared as a whole; of offsets, most of a log, what tells one from another."""
    columns = ("source", "offset", "time", "group", "topic", "topic_partition", "committed", "producer_id")
    kept = rows.localCheckpoint()
    assertDataFrameEqual(kept.where("kind != 'offset'"), expected.where("kind != 'offset'"))
    assert _offsets(kept, columns) == _offsets(expected, columns)


def _offsets(rows: DataFrame, columns: tuple[str, ...]) -> list[tuple[Any, ...]]:
    collected = rows.where("kind = 'offset'").select(*columns).collect()
    return sorted((tuple(row) for row in collected), key=lambda row: row[:2])


def test_names_are_collected_if_the_segments_are_alone(
    spark: SparkSession, real_events: DataFrame, real_log: RealLog, tmp_path: Path
) -> None:
    for directory in real_log.data.glob("__consumer_offsets-*"):
        shutil.copytree(directory, tmp_path / directory.name)
    assert_same_events(events(decoded(spark, [str(tmp_path)])), real_events)


def test_files_cut_in_small_parts_give_the_same(
    spark: SparkSession, real_events: DataFrame, real_log: RealLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "_LEAST_SPLIT_BYTES", 1)
    reader = reading(spark, [str(real_log.data)], split_bytes=20_000)
    assert reader.tasks.rdd.getNumPartitions() > 2 * len(real_log.segments())
    assert_same_events(events(rows_of(reader)), real_events)


def test_segments_that_are_there_already_are_not_read(
    spark: SparkSession, real_events: DataFrame, real_log: RealLog
) -> None:
    base_offsets = [
        int(path.stem) for path in real_log.segments() if path.parent.name == "__consumer_offsets-1"
    ]
    middle = base_offsets[len(base_offsets) // 2]
    rows = events(rows_of(reading(spark, [str(real_log.data)], after={1: middle + 1})))
    assert_same_events(rows, real_events.where(f"partition != 1 or offset >= {middle}"))


def commit(
    group: str, partition: int, offset: int, topic_id: UUID | None = None
) -> tuple[bytes, bytes | None]:
    value = StoredOffset(offset=offset, leader_epoch=-1, metadata="", commit_ms=NOW_MS, topic_id=topic_id)
    return encode_record(OffsetRecord(group=group, topic="orders", partition=partition, value=value))


def quarantined(rows: DataFrame) -> list[tuple[Any, ...]]:
    table = quarantine(rows).orderBy("source", "file", "position", "offset").collect()
    return [(Path(row["file"]).name, row["position"], row["offset"], row["reason"]) for row in table]


@pytest.mark.parametrize("codec", Codec)
def test_unreadable_records_are_reported_and_the_rest_is_read(
    spark: SparkSession, tmp_path: Path, codec: Codec
) -> None:
    log = Written()
    log.batch([commit("a", number, number) for number in range(50)], timestamp=NOW_MS, codec=codec)
    key, value = commit("b", 0, 1)
    assert value is not None
    log.batch(
        [
            (b"\x00\x63\x00\x00", b"what is new"),
            (None, b"?"),
            (b"\x00", b"?"),
            (key, value[:9]),
            (key[:7], value),
            (key, value),
        ],
        timestamp=NOW_MS,
        codec=codec,
    )
    log.batch([commit("c", 0, 1)], timestamp=NOW_MS, codec=codec)
    directory = log.save(tmp_path / "__consumer_offsets-0")
    path = directory / f"{0:020d}.log"
    data = path.read_bytes()
    at = len(log.segments[0][1][0])
    end = len(data)
    path.write_bytes(data + b"\x00" * 20 + b"garbage")
    rows = decoded(spark, [str(tmp_path)])
    assert Counter(row["group"] for row in events(rows).collect()) == {"a": 50, "b": 1, "c": 1}
    assert [row[:3] for row in quarantined(rows)] == [
        *((path.name, at, offset) for offset in range(50, 55)),
        (path.name, end, None),
    ]
    reasons = [row[3] for row in quarantined(rows)]
    assert reasons[0] == "unknown record type 99"
    assert reasons[1] == reasons[2] == "the record has no key with a type"


def test_damage_in_the_middle_and_files_of_something_else(spark: SparkSession, tmp_path: Path) -> None:
    log = Written()
    for number in range(4):
        log.batch([commit("a", number, number)], timestamp=NOW_MS)
    directory = log.save(tmp_path / "__consumer_offsets-0")
    first = log.segments[0][1][0]
    path = directory / f"{0:020d}.log"
    data = bytearray(path.read_bytes())
    data[len(first) + 30] ^= 1
    path.write_bytes(data)
    (tmp_path / "__consumer_offsets-1").mkdir()
    (tmp_path / "__consumer_offsets-1" / f"{0:020d}.log").write_bytes(json.dumps({"no": "log"}).encode() * 9)
    (tmp_path / "__consumer_offsets-1" / "notes.txt").write_text("mine")
    rows = decoded(spark, [str(tmp_path)])
    assert sorted(row["offset"] for row in events(rows).collect()) == [0, 2, 3]
    assert [row[:3] for row in quarantined(rows)] == [
        (path.name, len(first), None),
        (path.name, 0, None),
        ("notes.txt", None, None),
    ]


def test_times_that_no_table_can_hold(spark: SparkSession, tmp_path: Path) -> None:
    log = Written()
    log.batch([commit("a", 0, 0)], timestamp=(1 << 63) - 1)
    key, value = commit("b", 0, 0)
    assert value is not None
    log.batch([(key, value[:-9] + b"\x7f" + b"\xff" * 7 + value[-1:])], timestamp=NOW_MS)
    log.batch([commit("c", 0, 0)], timestamp=-1)
    log.save(tmp_path / "__consumer_offsets-0")
    rows = decoded(spark, [str(tmp_path)])
    by_group = {row["group"]: row for row in events(rows).collect()}
    assert set(by_group) == {"b", "c"}
    assert by_group["b"]["commit_time"] is None
    assert utc(by_group["c"], "time") == time(-1)
    assert [row[2] for row in quarantined(rows)] == [0]


def test_names_that_are_given_count_most(spark: SparkSession, tmp_path: Path) -> None:
    log = Written()
    record = TargetMemberRecord(group="g", member="m", value={TOPIC_ID: (2, 0, 1)})
    log.batch([encode_record(record), commit("g", 0, 0, TOPIC_ID)], timestamp=NOW_MS)
    log.save(tmp_path / "__consumer_offsets-0")

    def names(**options: Any) -> list[dict[str, list[int]]]:
        rows = events(decoded(spark, [str(tmp_path)], **options)).where("kind = 'target'")
        return [row["assignment"] for row in rows.collect()]

    assert names() == [{"orders": [0, 1, 2]}]
    assert names(names={format_uuid(TOPIC_ID): "renamed"}) == [{"renamed": [0, 1, 2]}]


def test_nothing_at_all(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "__consumer_offsets-0").mkdir()
    (tmp_path / "__consumer_offsets-0" / f"{0:020d}.log").write_bytes(b"")
    rows = decoded(spark, [str(tmp_path)])
    assert rows.count() == 0
