"""The recorder: what it writes equals what the log has, wherever it is stopped, and each thing is there once."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from random import Random

import pytest

from cli.sources.history.journal import read_journal_history
from cli.sources.history.logs import read_log_history
from cli.sources.history.read import GroupHistoryRead
from cli.sources.journal.packed import PROGRESS, unpack
from groups.history.course import Course
from tests.cli.verbs.record.offset_logs import START_MS, Rig, rebalancing_log
from tests.coordinator.store.logs import Written
from tests.support.long import cases


def of_log(log: Written, directory: Path) -> GroupHistoryRead:
    log.save(directory / "__consumer_offsets-0")
    return read_log_history([directory], [], since_ms=START_MS, has_name=lambda _: True)


def of_journal(file: Path) -> GroupHistoryRead:
    return read_journal_history(file, [], since_ms=START_MS, has_name=lambda _: True)


def count_commits(file: Path) -> dict[tuple[str, int, int], int]:
    """The number of commits by group, partition and minute."""
    with sqlite3.connect(file) as database:
        names = {
            number: (name, partition)
            for number, name, partition in database.execute(
                "SELECT places.id, name, partition FROM places JOIN groups ON group_id = groups.id"
            )
        }
        counted: dict[tuple[str, int, int], int] = {}
        for minute, data in database.execute("SELECT minute, data FROM progress"):
            for row in unpack(data, PROGRESS):
                key = *names[int(row["place"])], minute  # a group may have several topics
                counted[key] = counted.get(key, 0) + int(row["commits"])
        return counted


def commits_of(courses: dict[str, Course]) -> dict[tuple[str, int, int], int]:
    counted: dict[tuple[str, int, int], int] = {}
    for group, course in courses.items():
        for place in course.commits.places:
            for at in course.commits.between(place, 0, 1 << 62).times.tolist():
                key = group, place[1], at // 60_000_000
                counted[key] = counted.get(key, 0) + 1
    return counted


@pytest.mark.parametrize("seed", range(cases("KOHORT_RECORDER_SEEDS", 2, many=60)))
def test_wherever_it_is_killed_everything_is_there_once(tmp_path: Path, seed: int) -> None:
    draw, log = Random(seed), rebalancing_log(seed)
    rig = Rig(tmp_path / "j.db", log)
    new: list[int] = []
    while rig.position < log.next_offset:
        rig.read(draw.randrange(1, 30))
        if draw.random() < 0.3:
            new += rig.flush()
        if draw.random() < 0.15:
            rig.kill()
            rig.start()
    new += rig.flush()
    rig.kill()
    expected, recorded = of_log(log, tmp_path / "log"), of_journal(rig.file)
    assert sorted(new) == sorted(set(new))
    assert count_commits(rig.file) == commits_of(dict(expected.courses))
    assert (*recorded.problems, *recorded.notices, *rig.lines) == ()
    for group, course in expected.courses.items():
        assert recorded.courses[group].rebalances == course.rebalances
        assert recorded.courses[group].holdings == course.holdings
        assert recorded.courses[group].complete_since == course.complete_since
    verdicts = {
        (group, rebalance.offset): ",".join(rebalance.causes)
        for group, course in expected.courses.items()
        for rebalance in course.rebalances
        if (rebalance.end or 0) < (START_MS + 220_000) * 1000
    }
    with sqlite3.connect(rig.file) as database:
        rows = database.execute(
            "SELECT name, log_offset, causes FROM rebalances JOIN groups ON id = group_id"
        ).fetchall()
    stored = {(name, offset): causes for name, offset, causes in rows}
    assert len(stored) == len(rows)
    assert stored.items() >= verdicts.items()
