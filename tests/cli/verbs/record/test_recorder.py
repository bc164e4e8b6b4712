"""The recorder: what it writes equals what the log has, wherever it is stopped, and each thing is there once."""

import sqlite3
from pathlib import Path
from random import Random

import pytest

from cli.sources.history.journal import read_journal_history
from cli.sources.history.logs import read_log_history
from cli.sources.history.read import GroupHistoryRead
from cli.sources.journal.packed import PROGRESS, unpack
from cli.verbs.record.following import Lost
from groups.history.course import Course
from tests.cli.verbs.record.offset_logs import (
    PARTITIONS,
    START_MS,
    Batches,
    Rig,
    commits,
    generation,
    pairs,
    rebalancing_log,
)
from tests.coordinator.store.logs import Written
from tests.support.long import cases
from wire.log.compression import Codec


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


# Seed 13 is killed while a group has had no commit.
@pytest.mark.parametrize("seed", sorted({13, *range(cases("KOHORT_RECORDER_SEEDS", 2, many=60))}))
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


def falling_silent(log: Written, seconds: range) -> Written:
    """A part of the log of static members that commit every second; one is silent from 90 s on, and departs at 97 s."""
    for second in seconds:
        at_ms = START_MS + second * 1000
        if second in (0, 97):
            members = ["m0"] if second else ["m0", "m1"]
            log.batch(pairs(generation("pay", 1 + second, members, at_ms, is_static=True)), timestamp=at_ms)
        partitions = range(0, PARTITIONS, 2 if 90 < second < 98 else 1)
        log.batch(pairs(*commits("pay", second, partitions)), timestamp=at_ms + 1)
    return log


@pytest.mark.parametrize("is_recording", [False, True])
@pytest.mark.parametrize(
    ("loss", "stored", "explained"),
    [
        ("none", "expiry", ["expiry"]),
        ("compacted", "unknown", ["unknown"]),
        ("deleted", "unknown", ["unknown"]),
        ("damaged", "unknown", ["unknown"]),
        ("not read again", "unknown", ["expiry"]),  # the journal has what was counted before the restart
    ],
)
def test_a_silence_that_was_not_read_whole_proves_no_expiry(
    tmp_path: Path, loss: str, stored: str, explained: list[str], is_recording: bool
) -> None:
    before = falling_silent(Written(), range(93))
    cut, missing = before.next_offset, 50 * (loss in ("compacted", "deleted"))
    rig = Rig(tmp_path / "j.db", before)
    if is_recording or loss in ("deleted", "not read again"):
        rig.read()
        rig.flush()
    rig.kill()
    kept = Written(next_offset=cut) if loss in ("deleted", "not read again") else before
    if loss == "damaged":
        kept.batch(pairs(*commits("pay", 93)), timestamp=START_MS + 93_000, codec=Codec.GZIP)
        kept.segments[-1][1][-1] = kept.segments[-1][1][-1][:-20] + bytes(20)
    kept.skip(missing)
    rig = Rig(rig.file, falling_silent(kept, range(93, 120)))
    if loss in ("deleted", "not read again"):
        rig.recorder.lose(Lost(log_partition=0, position=rig.position, resumed=cut + missing))
    while rig.position < kept.next_offset:
        rig.read(1)
    rig.flush()
    rig.kill()
    with sqlite3.connect(rig.file) as database:
        causes = database.execute("SELECT cause FROM rebalances ORDER BY log_offset").fetchall()
    assert causes[1:] == [(stored,)]
    rebalances = of_journal(rig.file).courses["pay"].rebalances
    assert [cause.value for cause in rebalances[1].causes] == explained


def test_after_a_truncation_what_the_log_has_counts_once(tmp_path: Path) -> None:
    rig = Rig(tmp_path / "j.db", falling_silent(Written(), range(100)))
    rig.read()
    rig.flush()
    log = falling_silent(Written(), range(96))
    end = log.next_offset
    at_ms = START_MS + 140_000
    log.batch(pairs(generation("pay", 7, ["m0", "m1", "m2"], at_ms, is_static=True)), timestamp=at_ms)
    falling_silent(log, range(141, 160))
    rig.batches = Batches(log)
    rig.recorder.lose(Lost(log_partition=0, position=rig.position, resumed=end))
    rig.flush()
    rig.kill()
    rig.start()
    rig.read()
    rig.flush()
    rig.kill()
    expected, recorded = of_log(log, tmp_path / "log"), of_journal(rig.file)
    assert recorded.courses["pay"].rebalances == expected.courses["pay"].rebalances
    assert "are not in the journal: the cluster lost them" in recorded.notices[0]
    assert count_commits(rig.file)["pay", 0, at_ms // 60_000] == 19
    with sqlite3.connect(rig.file) as database:
        assert database.execute("SELECT epoch FROM rebalances ORDER BY log_offset").fetchall() == [(1,), (7,)]
