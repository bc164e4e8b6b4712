"""A run of the history: what it adds, and what stays unchanged."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StructType
from pyspark.testing import assertDataFrameEqual, assertSchemaEqual

from coordinator.store.disk import DirectoryLock
from pipeline.decode.records import LogReader
from pipeline.history import (
    DifferentClusters,
    HistoryProgress,
    HistoryRun,
    HistoryStep,
    Logs,
    cluster_of,
    run_history,
)
from pipeline.sources.segments import reading
from pipeline.store import Catalog, NotATableStore, Store, Stored, StoreInUse, read, read_catalog
from pipeline.tables.schemas import TABLES, VERSION
from tests.coordinator.store.logs import Written
from tests.coordinator.store.offset_logs import committed
from tests.coordinator.store.real_log import RealLog
from tests.pipeline.decoded import rows_of
from tests.pipeline.tables.random_commits import START_MS, RandomCommits, commits_table

PARTITION = "__consumer_offsets-3"


def _run(spark: SparkSession, log: Path, out: Path) -> HistoryRun:
    return run_history(spark, Logs(paths=(str(log),)), str(out))


def _random_log(seed: int) -> RandomCommits:
    made = RandomCommits(Random(seed))
    made.write(40)
    return made


@pytest.mark.kafka
def test_all_tables_of_a_real_log(spark: SparkSession, real_log: RealLog, tmp_path: Path) -> None:
    result: list[HistoryProgress] = []
    out = tmp_path / "out"
    run = run_history(spark, Logs(paths=(str(real_log.data),)), str(out), progress=result.append)
    for name, schema in TABLES.items():
        table = read(spark, str(out), name)
        assertSchemaEqual(table.schema, schema)
        assert table.count() == run.tables[name].rows
    assert run.records == run.added == run.tables["events"].rows == sum(run.by_key_version.values())
    assert run.quarantined_total == len(run.quarantined)
    steps = list(dict.fromkeys(row.step for row in result))
    assert steps == list(HistoryStep)
    again = _run(spark, real_log.data, out)
    assert (again.added, again.records) == (0, run.records)
    assert all(table.added == 0 for table in again.tables.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Grown:
    made: RandomCommits
    log: Path
    out: Path
    first: HistoryRun
    second: HistoryRun
    files_of_first: Mapping[Path, int]  # times of their last change


@pytest.fixture(scope="module")
def grown(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Grown:
    made, scratch = _random_log(1), tmp_path_factory.mktemp("grown")
    log, out = scratch / "log", scratch / "out"
    made.log.save(log / PARTITION)
    first = _run(spark, log, out)
    files = {file: file.stat().st_mtime_ns for file in (out / "events").rglob("*.parquet")}
    made.log.roll()
    made.write(40)
    made.log.save(log / PARTITION)
    second = _run(spark, log, out)
    return Grown(made=made, log=log, out=out, first=first, second=second, files_of_first=files)


def test_a_new_segment_only_adds(spark: SparkSession, grown: Grown, tmp_path: Path) -> None:
    assert grown.second.records == grown.first.records + grown.second.added
    assert grown.second.added > 0
    assert grown.files_of_first
    assert {file: file.stat().st_mtime_ns for file in grown.files_of_first} == grown.files_of_first
    run_history(None, Logs(paths=(str(grown.log),)), str(tmp_path))  # without Spark, all at once
    for name in TABLES:
        assertDataFrameEqual(read(spark, str(grown.out), name), read(spark, str(tmp_path), name))
    old = replace(read_catalog(spark, str(grown.out)), run=1, tables={})
    assert old == replace(read_catalog(spark, str(tmp_path)), tables={})


def test_without_spark_the_commits_of_transactions_count_as_they_ended(tmp_path: Path) -> None:
    made, out = _random_log(2), str(tmp_path / "out")
    for _ in range(2):  # the second run adds, and ends transactions that the first saw begin
        made.write(100)
        made.log.save(tmp_path / "log" / PARTITION)
        run_history(None, Logs(paths=(str(tmp_path / "log"),)), out)
        made.log.roll()
    made.close()
    rows = Store(None, out, read_catalog(None, out)).arrow("commits").to_pylist()
    expected = commits_table(made.counted())
    assert sorted(map(repr, map(_in_order, rows))) == sorted(map(repr, map(_in_order, expected)))


def _in_order(row: dict[str, Any]) -> list[tuple[str, Any]]:
    times = {name: row[name].timestamp() for name in ("first", "last")}
    return sorted((row | times).items())


def test_records_in_no_order_make_the_same_tables(spark: SparkSession, grown: Grown, tmp_path: Path) -> None:
    rows = rows_of(reading(spark, [str(grown.log)]))
    mixed = rows.repartition(3, f.xxhash64("offset")).sortWithinPartitions(f.xxhash64("offset"))
    run_history(spark, LogReader(tasks=mixed, read=iter), str(tmp_path))
    for name in ("commits", "rebalances", "groups"):
        assertDataFrameEqual(read(spark, str(tmp_path), name), read(spark, str(grown.out), name))
    runs = spark.read.parquet(str(tmp_path / "commit_runs"))
    assert runs.count() == runs.select("begin").distinct().count() > 0
    assert read_catalog(spark, str(tmp_path)).tables["commit_runs"].rows == runs.count()


def test_a_failure_leaves_the_tables_as_they_were(spark: SparkSession, grown: Grown, tmp_path: Path) -> None:
    log = tmp_path / "log"
    shutil.copytree(grown.log, log)
    more = Written(next_offset=grown.made.log.next_offset, segments=[(grown.made.log.next_offset, [])])
    more.batch([committed("a", 1)], timestamp=START_MS)
    more.save(log / PARTITION)
    before = sorted(grown.out.rglob("*")), (grown.out / "tables.json").read_text()
    steps: list[HistoryStep] = []

    def fail(progress: HistoryProgress) -> None:
        steps.append(progress.step)
        if progress.step is HistoryStep.GROUPS:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_history(spark, Logs(paths=(str(log),)), str(grown.out), progress=fail)
    assert HistoryStep.EVENTS in steps
    assert (sorted(grown.out.rglob("*")), (grown.out / "tables.json").read_text()) == before


def test_files_of_a_killed_run_do_not_count(spark: SparkSession, grown: Grown) -> None:
    left = grown.out / "events" / "run=9" / "day=2020-01-01" / "part-0.parquet"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half")
    assert read(spark, str(grown.out), "events").count() == grown.second.records
    again = _run(spark, grown.log, grown.out)
    assert (again.added, again.records) == (0, grown.second.records)
    assert not left.exists()


def test_a_directory_of_something_else_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    log = _random_log(4).log.save(tmp_path / PARTITION)
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").write_text("years of work")
    with pytest.raises(NotATableStore, match=r"thesis\.txt"):
        _run(spark, log, out)
    assert [path.name for path in out.iterdir()] == ["thesis.txt"]
    (out / "thesis.txt").unlink()
    (out / "tables.json").write_text('{"format": "another"}')
    with pytest.raises(NotATableStore, match="does not describe tables of Kohort"):
        _run(spark, log, out)
    result = json.loads(Catalog().to_json()) | {"schema_version": 99}
    (out / "tables.json").write_text(json.dumps(result))
    with pytest.raises(NotATableStore, match="version 99"):
        _run(spark, log, out)
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(NotATableStore, match="is a file"):
        _run(spark, log, file)
    with pytest.raises(NotATableStore, match="contains no tables"):
        read(spark, str(tmp_path / "nowhere"), "events")


def test_an_empty_log_gives_empty_tables(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "log" / PARTITION).mkdir(parents=True)
    run = _run(spark, tmp_path / "log", tmp_path / "out")
    assert (run.records, run.quarantined) == (0, ())
    for name in TABLES:
        assert read(spark, str(tmp_path / "out"), name).collect() == []


def test_two_processes_do_not_write_into_one_directory(spark: SparkSession, tmp_path: Path) -> None:
    log = _random_log(5).log.save(tmp_path / PARTITION)
    out = tmp_path / "out"
    out.mkdir()
    lock = DirectoryLock.take(out)
    try:
        with pytest.raises(StoreInUse):
            _run(spark, log, out)
    finally:
        lock.release()


def test_logs_of_two_clusters_are_not_mixed(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        text = f"version=1\ncluster.id={name}\nnode.id=1\n"
        (tmp_path / name / "meta.properties").write_text(text)
    (tmp_path / "one" / PARTITION).mkdir()
    assert cluster_of([str(tmp_path / "one" / PARTITION)]) == "one"
    assert cluster_of([str(tmp_path)]) is None
    with pytest.raises(DifferentClusters, match=r"is of one and .* is of two"):
        cluster_of([str(tmp_path / "one"), str(tmp_path / "two")])


def test_tables_of_one_cluster_take_nothing_of_another(spark: SparkSession, tmp_path: Path) -> None:
    log = str(_random_log(6).log.save(tmp_path / PARTITION))
    out = str(tmp_path / "out")
    first = run_history(spark, replace(reading(spark, [log]), cluster="one"), out)
    assert read_catalog(spark, out).cluster == "one"
    with pytest.raises(DifferentClusters, match="is of the cluster one, the logs are of two"):
        run_history(spark, replace(reading(spark, [log]), cluster="two"), out)
    again = run_history(spark, reading(spark, [log]), out)
    assert (again.added, again.records) == (0, first.records)
    assert read_catalog(spark, out).cluster == "one"


def test_the_catalog_describes_the_tables() -> None:
    result = json.loads(Catalog(tables={"rebalances": Stored(runs=(1,), rows=2)}).to_json())
    assert result["schema_version"] == VERSION
    assert StructType.fromJson(result["tables"]["rebalances"]["schema"]) == TABLES["rebalances"]


def test_a_catalog_reads_back() -> None:
    tables = {"events": Stored(runs=(1, 3), rows=6), "commit_runs": Stored(runs=(3,), rows=1)}
    catalog = Catalog(run=3, cluster="c", next_offsets={7: 9}, by_key_version={None: 1, 2: 5}, tables=tables)
    assert Catalog.from_json(catalog.to_json(), "here") == catalog
