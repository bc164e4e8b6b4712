"""Decoded rows as files: what a task writes, and what its manifest says."""

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from cli.verbs.demo.action import fill
from pipeline.writing import Target, write_decoded
from tests.coordinator.store.logs import Written
from tests.coordinator.store.offset_logs import committed
from tests.pipeline.decoded import decoded_batches
from tests.pipeline.tables.random_commits import START_MS, RandomCommits

DAY_MS = 24 * 3600 * 1000


def _manifest(batches: Any, target: Target) -> list[dict[str, Any]]:
    return [row for batch in write_decoded(batches, target) for row in batch.to_pylist()]


def _ends(manifest: list[dict[str, Any]]) -> list[tuple[int, int]]:
    return [(row["number"], row["count"]) for row in manifest if row["what"] == "partition"]


def _stretches(manifest: list[dict[str, Any]]) -> list[tuple[int, int, int]]:
    return [(row["number"], row["begin"], row["count"]) for row in manifest if row["what"] == "stretch"]


def _written(out: Path, table: str, run: int = 1) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for file in sorted((out / table / f"run={run}").rglob("*.parquet")):
        rows += pq.ParquetFile(file).read().to_pylist()
    return sorted(rows, key=lambda row: (row["offset"] if "offset" in row else row["begin"]) or -1)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    made = RandomCommits(Random(5))
    made.write(120)
    return made.log.save(tmp_path / "log" / "__consumer_offsets-3")


def test_every_row_is_written_once(log: Path, tmp_path: Path) -> None:
    rows = [row for batch in decoded_batches(log) for row in batch.to_pylist()]
    manifest = _manifest(decoded_batches(log), Target(out=str(tmp_path / "out"), run=1))
    written = _written(tmp_path / "out", "events")
    assert [row["offset"] for row in written] == sorted(row["offset"] for row in rows)
    for name in ("kind", "group", "topic", "topic_partition", "committed", "time", "producer_id"):
        by_place = {row["offset"]: row[name] for row in rows}
        assert {row["offset"]: row[name] for row in written} == by_place
    counts = {row["number"]: row["count"] for row in manifest if row["what"] == "records"}
    assert counts == Counter(row["key_version"] for row in rows)
    assert _ends(manifest) == [(3, max(by_place) + 1)]


def test_the_manifest_has_the_ranges_and_order_of_commits(tmp_path: Path) -> None:
    log = Written()
    for index in range(6):
        log.batch([committed("a", index)], timestamp=START_MS)
    (batch,) = decoded_batches(log.save(tmp_path / "__consumer_offsets-3"))
    target = Target(out=str(tmp_path / "out"), run=1)
    first, second = batch.slice(0, 2), batch.slice(4, 2)
    assert _stretches(_manifest([first, second], target)) == [(3, 0, 6)]
    assert _stretches(_manifest([second, first], target)) == [(3, 4, 6), (3, 0, 2)]


def test_the_manifest_names_the_files_and_their_rows(log: Path, tmp_path: Path) -> None:
    manifest = _manifest(decoded_batches(log), Target(out=str(tmp_path), run=4))
    result = {row["name"]: row["count"] for row in manifest if row["what"] == "file"}
    counts = {
        str(file.relative_to(tmp_path)).replace("run=4/", ""): pq.read_metadata(file).num_rows
        for file in tmp_path.rglob("run=4/**/*.parquet")
    }
    assert result == counts
    assert {name.split("/")[0] for name in counts} == {"events", "commit_runs"}


def test_offsets_and_other_kinds_are_in_separate_files(tmp_path: Path) -> None:
    fill(tmp_path / "sample")
    for directory in (tmp_path / "sample").glob("__consumer_offsets-*"):
        _manifest(decoded_batches(directory), Target(out=str(tmp_path / directory.name), run=1))
    kinds = [
        frozenset(pc.unique(pq.ParquetFile(file).read(["kind"]).column("kind")).to_pylist())
        for file in tmp_path.rglob("events/**/*.parquet")
    ]
    assert frozenset({"offset"}) in kinds
    assert all(kind == {"offset"} or "offset" not in kind for kind in kinds)


def test_files_say_the_version_of_their_schema(log: Path, tmp_path: Path) -> None:
    _manifest(decoded_batches(log), Target(out=str(tmp_path), run=1))
    for file in tmp_path.rglob("run=1/**/*.parquet"):
        assert pq.read_metadata(file).metadata == {b"kohort.schema": b"1"}


@pytest.mark.parametrize("after", [0, 1, 37, 10_000])
def test_existing_records_are_not_written_again(log: Path, tmp_path: Path, after: int) -> None:
    offsets = [row["offset"] for batch in decoded_batches(log) for row in batch.to_pylist()]
    target = Target(out=str(tmp_path), run=2, after={3: after, 4: 10_000})
    manifest = _manifest(decoded_batches(log), target)
    fresh = sorted(offset for offset in offsets if offset >= after)
    assert [row["offset"] for row in _written(tmp_path, "events", 2)] == fresh
    assert sum(row["count"] for row in manifest if row["what"] == "records") == len(fresh)


def test_a_log_that_jumps_between_many_days_holds_few_files_open(tmp_path: Path) -> None:
    log = Written()
    for index in range(200):
        log.batch([committed("a", index)], timestamp=START_MS + (index % 50) * DAY_MS)
    directory = log.save(tmp_path / "__consumer_offsets-0")
    _manifest(decoded_batches(directory), Target(out=str(tmp_path / "out"), run=1))
    days = list((tmp_path / "out" / "events" / "run=1").iterdir())
    assert len(days) == 50
    assert len(_written(tmp_path / "out", "events")) == 200


def test_unreadable_records_go_to_quarantine(tmp_path: Path) -> None:
    log = Written()
    log.batch([committed("a", 1), (b"\x00\x63", b"unknown"), (None, b"no key")], timestamp=START_MS)
    directory = log.save(tmp_path / "__consumer_offsets-0")
    manifest = _manifest(decoded_batches(directory), Target(out=str(tmp_path / "out"), run=1))
    rows = _written(tmp_path / "out", "quarantine")
    assert [(row["offset"], row["reason"]) for row in rows] == [
        (1, "unknown record type 99"),
        (2, "the record has no key with a type"),
    ]
    assert _ends(manifest) == [(0, 3)]


def test_no_rows_make_no_file(tmp_path: Path) -> None:
    assert _manifest([], Target(out=str(tmp_path), run=1)) == []
    assert list(tmp_path.iterdir()) == []


def test_batches_of_texts_and_of_dictionaries_make_one_file(log: Path, tmp_path: Path) -> None:
    batches = list(decoded_batches(log))
    plain = [
        pa.RecordBatch.from_pylist(
            batch.to_pylist(), schema=batch.schema.set(1, pa.field("source", pa.string()))
        )
        for batch in batches
    ]
    both = [batch for pair in zip(batches, plain, strict=True) for batch in pair]
    _manifest(both, Target(out=str(tmp_path), run=1))
    written = [row["offset"] for row in _written(tmp_path, "events")]
    assert len(written) == 2 * sum(batch.num_rows for batch in batches)
