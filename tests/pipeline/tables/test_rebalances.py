"""The tables of rebalances and of ownership, made of real decoded records."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa

from coordinator.engine.records import in_group
from pipeline.decode.records import LogReader
from pipeline.history import run_history
from pipeline.store import Store, read_catalog
from pipeline.tasks import numbers
from tests.coordinator.engine.consumer import Consumer, settled
from tests.groups.history.test_classic import gone_classic, two
from tests.groups.history.written import Clock, Written, clock, commit, course_of
from tests.groups.history.written import decoded as decoded_records
from tests.pipeline.decoded import plain

AWAY = -2


def tables(
    written: Iterable[Written], driver: Clock, out: Path, *, copies: int = 1
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The tables of rebalances and of ownership; of several copies of a log in no order."""
    records = pa.Table.from_batches(list(plain(decoded_records(written, driver.engine.topics))) * copies)
    if copies > 1:
        records = records.take(Random(7).sample(range(len(records)), len(records)))
    reader = LogReader(tasks=numbers(None, 1), read=lambda _: iter(records.to_batches(max_chunksize=5)))
    run_history(None, reader, str(out))
    store = Store(None, str(out), read_catalog(None, str(out)))
    rows = (store.arrow(name) for name in ("rebalances", "ownership"))
    orders = ("group", "epoch", "end"), ("group", "topic", "topic_partition", "since", "epoch")
    rebalances, ownership = (
        table.sort_by([(name, "ascending") for name in order]).to_pylist()
        for table, order in zip(rows, orders, strict=True)
    )
    return rebalances, ownership


def test_the_table_equals_the_walk(tmp_path: Path) -> None:
    made = two()
    made.members["b"].leave()
    made.rebalance({"a": {"foo": [0, 1, 2, 3]}})
    result = course_of(made.driver).rebalances
    rows, _ = tables(made.driver.written(), made.driver, tmp_path)
    columns = "epoch", "cause", "joined", "left", "moved", "revoked"
    assert [[row[name] for name in columns] for row in rows] == [
        [row.epoch, row.causes[0], [*row.joined], [*row.left], row.moved, row.revoked] for row in result
    ]
    assert [row["duration_s"] for row in rows] == [0, 0, 0]


def gone_consumer(before_s: Sequence[float], *, progress: bool = True) -> list[Written]:
    """A consumer group that b is gone from, and commits of a partition that it had so long before, and one after."""
    driver = clock(("foo", 4))
    a, b = Consumer(driver, "a"), Consumer(driver, "b")
    a.join()
    b.join()
    settled(a, b)
    for _ in range(3):
        driver.advance(20_000)
        settled(a, b)
    number = b.owned["foo"][0]
    b.leave()
    gone_ms = driver.now_ms
    driver.advance(1_000)
    settled(a)
    read = [int(1000 * (before_s[0] - seconds)) for seconds in (*before_s, 0)] if before_s else [0]
    commits = [
        commit(gone_ms - int(seconds * 1000), offset, number)
        for seconds, offset in zip(before_s, read, strict=False)
    ]
    return [*driver.written(), *commits, commit(gone_ms + 3_000, read[-1 if progress else -2], number)]


SILENCES: Mapping[str, list[Written]] = {
    "leave": gone_consumer((30, 25, 20, 15, 10, 5, 0.01)),
    "expiry": gone_consumer((65, 60, 55, 50, 45)),
    "unknown": gone_consumer((65, 60, 55, 50, 45), progress=False),
    "expiry of a classic member": gone_classic(),
}
"""Logs by the cause that the silence before the departure proves."""


def test_members_that_fell_silent_expired(tmp_path: Path) -> None:
    log: list[Written] = []
    for name, written in SILENCES.items():
        for line in written:
            log.append(replace(line, offset=len(log), record=in_group(line.record, name)))
    driver = clock(("foo", 4))
    table, owned = tables(log, driver, tmp_path / "once")
    rows = [row for row in table if row["left"]]
    assert {row["group"]: (row["cause"], row["causes"], len(row["expired"])) for row in rows} == {
        name: (cause := name.split()[0], [cause], int(cause == "expiry")) for name in SILENCES
    }
    # Neither the order of rows nor a second copy of the log matters.
    assert tables(log, driver, tmp_path / "twice", copies=2) == (table, owned)


def test_hostile_records_do_not_stop_the_others(tmp_path: Path) -> None:
    made = two()
    log = made.driver.written()
    # The log of another group ends in the middle of everything, with times that go back.
    other = [
        replace(entry, offset=entry.offset + 100, time_ms=entry.time_ms - 3_600_000 * index)
        for index, entry in enumerate(reversed(log))
    ]
    rows, _ = tables([*log, *other], made.driver, tmp_path)
    assert {row["group"] for row in rows} == {"g"}
    assert all(row["duration_s"] is None or row["duration_s"] >= 0 for row in rows)
