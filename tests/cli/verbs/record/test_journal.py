"""The journal's file: who may write it, what a full disk, damage and other formats do, and what is deleted."""

import sqlite3
from contextlib import suppress
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.sources.history.journal import read_journal_history, running_journal
from cli.sources.journal.packed import COMMITS, PROGRESS, pack, unpack
from cli.sources.journal.schema import FORMAT, JournalError, default_journal
from cli.sources.journal.writer import CannotWrite, JournalWriter
from cli.verbs.record.following import Lost
from groups.history.course import Course
from tests.cli.verbs.record.offset_logs import (
    START_MS,
    Batches,
    Rig,
    commits,
    generation,
    pairs,
    rebalancing_log,
)
from tests.cli.verbs.record.test_recorder import commits_of, count_commits, of_journal, of_log
from tests.coordinator.store.logs import Written
from tests.coordinator.store.small_disk import fill, small_disk
from tests.support.long import cases


def recorded(file: Path, log: Written) -> Rig:
    rig = Rig(file, log)
    rig.read()
    rig.flush()
    rig.kill()
    return rig


def test_a_full_disk_damages_nothing_and_recording_continues(tmp_path: Path) -> None:
    log = rebalancing_log(1)
    with small_disk(tmp_path / "disk", kilobytes=2_048) as disk:
        rig = Rig(disk / "j.db", log)
        rig.read(50)
        rig.flush()
        ballast = fill(disk, leave=8_192)
        rig.read()
        for _ in range(2):
            with pytest.raises(CannotWrite, match="cannot be written"):
                rig.flush()
        assert of_journal(rig.file).problems == ()
        ballast.unlink()
        rig.flush()
        rig.kill()
        assert count_commits(rig.file) == commits_of(dict(of_log(log, tmp_path / "log").courses))


@pytest.mark.parametrize("loss", ["compacted", "deleted"])
def test_what_was_taken_away_meanwhile_is_a_row_and_a_notice(tmp_path: Path, loss: str) -> None:
    log = rebalancing_log(2, seconds=60)
    rig = recorded(tmp_path / "j.db", log)
    before = log.next_offset
    if loss == "deleted":
        log = Written(next_offset=before)
    log.skip(100)
    log.batch(pairs(*commits("pay", 7)), timestamp=START_MS + 90_000)
    rig = Rig(rig.file, log)
    if loss == "deleted":
        rig.recorder.lose(Lost(log_partition=0, position=before, resumed=before + 100))
    rig.read()
    rig.flush()
    rig.kill()
    read = of_journal(rig.file)
    end = log.next_offset - 1 if loss == "compacted" else before + 99
    assert f"offsets {before} to {end}, of" in read.notices[0]
    assert f"not in the journal: {loss} before they were read" in read.notices[0]
    assert read.courses["pay"].complete_since == (START_MS + 90_000) * 1000


def test_a_log_that_was_compacted_before_the_first_start_has_no_gap(tmp_path: Path) -> None:
    log = Written()
    log.skip(100)
    log.batch(pairs(*commits("pay", 7)), timestamp=START_MS + 5_000)
    recorded(tmp_path / "j.db", log)
    read = of_journal(tmp_path / "j.db")
    assert read.notices == ()
    assert read.courses["pay"].complete_since == (START_MS + 5_000) * 1000


def test_a_second_writer_of_the_file_is_refused(tmp_path: Path) -> None:
    journal = JournalWriter(tmp_path / "j.db", {"cluster": "c"})
    with pytest.raises(JournalError, match=r"is written by another kohort record \(process \d+\); stop it"):
        JournalWriter(tmp_path / "j.db", {"cluster": "c"})
    journal.close()
    JournalWriter(tmp_path / "j.db", {"cluster": "c"}).close()


def test_what_is_no_journal_of_this_format_is_refused(tmp_path: Path) -> None:
    recorded(tmp_path / "newer.db", rebalancing_log(1, seconds=5))
    with sqlite3.connect(tmp_path / "newer.db") as database:
        database.execute(f"PRAGMA user_version = {FORMAT + 1}")
    with sqlite3.connect(tmp_path / "other.db") as database:
        database.execute("CREATE TABLE t (a)")
    (tmp_path / "text.db").write_text("no database " * 100)
    for name, reason in {
        "newer.db": f"a journal of format {FORMAT + 1}, written by a newer Kohort",
        "other.db": "a SQLite database, but no journal",
        "text.db": "not a SQLite database",
        "none.db": "no such file",
    }.items():
        with pytest.raises(JournalError, match=reason):
            of_journal(tmp_path / name)
        if name != "none.db":
            with pytest.raises(JournalError, match=reason):
                JournalWriter(tmp_path / name, {})


@pytest.mark.parametrize("seed", range(cases("KOHORT_JOURNAL_FUZZ", 8, many=2_000)))
def test_of_a_damaged_journal_the_readable_part_is_answered(tmp_path: Path, seed: int) -> None:
    draw, file = Random(seed), tmp_path / "j.db"
    recorded(file, rebalancing_log(3, seconds=90))
    whole = of_journal(file).courses.keys()
    data = bytearray(file.read_bytes())
    if draw.random() < 0.5:
        del data[draw.randrange(100, len(data)) :]
    else:
        for _ in range(draw.randrange(1, 20)):
            data[draw.randrange(100, len(data))] = draw.randrange(256)
    file.write_bytes(data)
    with suppress(JournalError):
        read = of_journal(file)
        assert read.problems or read.courses.keys() == whole


def test_a_truncated_journal_has_what_its_first_pages_have(tmp_path: Path) -> None:
    file = tmp_path / "j.db"
    recorded(file, rebalancing_log(3))
    whole = of_journal(file)
    file.write_bytes(file.read_bytes()[: -3 * 4096])
    read = of_journal(file)
    assert read.courses.keys() <= whole.courses.keys()
    assert any("cannot be read" in problem.message for problem in read.problems)


def later(course: Course, cut_ms: int) -> list[tuple[object, ...]]:
    """The rebalances that started after a time, as far as they do not depend on commits before it."""
    return [
        (one.offset, one.epoch, one.start, one.members_before, one.joined, one.left, one.moved, one.revoked)
        for one in course.rebalances
        if (one.start or 0) > cut_ms * 1000
    ]


def test_old_rows_are_deleted_and_the_state_of_groups_stays(tmp_path: Path) -> None:
    log = rebalancing_log(4)
    rig = Rig(tmp_path / "j.db", log)
    rig.read()
    rig.flush()
    cut_ms = START_MS + 120_000
    whole = of_journal(rig.file).courses
    assert rig.journal.prune(cut_ms, 0, None) == cut_ms
    assert rig.journal.prune(cut_ms, 0, None) is None
    rig.flush()
    rig.kill()
    rig.start()
    records = [generation(group, 99, ["m0"], START_MS + 240_000) for group in whole]
    log.batch(pairs(*records), timestamp=START_MS + 240_000)
    rig.batches = Batches(log)
    rig.read()
    rig.recorder.settle(START_MS + 300_000)
    assert rig.flush()
    rig.kill()
    with sqlite3.connect(rig.file) as database:  # what was deleted is not found again
        (oldest,) = database.execute("SELECT min(coalesce(end_ms, start_ms)) FROM rebalances").fetchone()
    assert oldest >= cut_ms
    left = of_journal(rig.file)
    for group, course in left.courses.items():
        assert course.complete_since == cut_ms * 1000
        assert later(course, cut_ms)[:-1] == later(whole[group], cut_ms)
    assert min(minute for _, _, minute in count_commits(rig.file)) >= cut_ms // 60_000


def test_a_file_that_is_too_large_loses_its_oldest_part(tmp_path: Path) -> None:
    rig = Rig(tmp_path / "j.db", rebalancing_log(5))
    rig.read()
    rig.flush()
    most = rig.journal.size - 1
    assert rig.journal.prune(START_MS + 4 * 3_600_000, 1 << 40, most + 1) is None
    assert rig.journal.prune(START_MS + 4 * 3_600_000, 1 << 40, most) == START_MS + 3_600_000
    rig.kill()
    assert count_commits(rig.file) == {}


def test_a_journal_is_used_while_its_recorder_runs(tmp_path: Path) -> None:
    file = default_journal(tmp_path, "c")
    file.parent.mkdir()
    rig = Rig(file, rebalancing_log(6, seconds=30))
    rig.read()
    rig.recorder.flush(START_MS + 30_000)
    assert running_journal(tmp_path, "c", START_MS + 60_000) == (file, 0)
    assert running_journal(tmp_path, "c", START_MS + 120_000) is None
    assert running_journal(tmp_path, "other", START_MS + 60_000) is None
    rig.journal.prune(START_MS + 60_000, 0, None)
    rig.recorder.flush(START_MS + 60_000)
    assert running_journal(tmp_path, "c", START_MS + 60_000) == (file, START_MS + 60_000)
    rig.kill()


def test_a_group_that_the_journal_has_not_is_a_problem(tmp_path: Path) -> None:
    recorded(tmp_path / "j.db", rebalancing_log(1, seconds=5))
    read = read_journal_history(tmp_path / "j.db", ["pay", "none"], since_ms=START_MS)
    assert [(problem.subject, problem.group) for problem in read.problems] == [("none", "none")]
    assert read.courses.keys() == {"pay"}


@given(
    st.sampled_from([COMMITS, PROGRESS]),
    st.lists(st.lists(st.integers(0, 2**31 - 1), min_size=8, max_size=8), max_size=20),
)
def test_what_is_packed_is_unpacked(kind: np.dtype[np.void], rows: list[list[int]]) -> None:
    table = np.array([tuple(row[: len(kind.names or ())]) for row in rows], dtype=kind)
    assert unpack(pack(table), kind).tolist() == table.tolist()


@given(st.binary(max_size=60), st.booleans())
def test_no_bytes_of_a_table_are_more_than_an_error(data: bytes, is_cut: bool) -> None:
    octets = pack(np.zeros(9, dtype=COMMITS))[:-5] if is_cut else data
    with pytest.raises(ValueError, match=r"."):
        unpack(octets, COMMITS)
