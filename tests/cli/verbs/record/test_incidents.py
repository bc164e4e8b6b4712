"""Incidents of real consumers: the recorder, its journal and the log directory name the same causes."""

import sqlite3
from pathlib import Path

import pytest

from cli.sources.history.journal import read_journal_history
from cli.sources.history.logs import read_log_history
from cli.sources.journal.writer import JournalWriter
from cli.verbs.record.following import Fetched
from cli.verbs.record.reading import LogReading
from cli.verbs.record.recorder import LogRecorder
from groups.history.departures import Knowledge
from tests.incidents.record import recording
from tests.support.long import LONG
from wire.log.segments import list_segments, read_segment

STATED = Knowledge(session_timeout_ms=15_000)
LATER_MS = 1 << 50


def record(data: Path, file: Path) -> None:
    """Record a log directory, a few batches at a time."""
    journal = JournalWriter(file, {"cluster": "c"})
    recorder = LogRecorder(journal, dict, report=print)
    recorder.watches.knowledge = lambda _: STATED
    for directory in sorted(data.glob("__consumer_offsets-*")):
        number = int(directory.name.rpartition("-")[2])
        reading = LogReading(number=number, position=0)
        recorder.start(reading)
        for path in list_segments(directory):
            segment = read_segment(path)
            for start in range(0, len(segment.batches), 20):
                batches = segment.batches[start : start + 20]
                octets = segment.data[int(batches.positions[0]) : batches.end]
                end = int(segment.batches.last_offsets[-1]) + 1
                fetched = Fetched(log_partition=number, position=reading.position, records=octets, end=end)
                recorder.take(fetched, 0)
                recorder.settle(0)
    recorder.settle(LATER_MS)
    recorder.flush(0)
    journal.close()


@pytest.mark.parametrize("run", ["coordinator-moved", "deployments", pytest.param("causes", marks=LONG)])
def test_recorder_journal_and_log_directory_name_the_same_causes(run: str, tmp_path: Path) -> None:
    with recording(run) as (data, _):
        record(data, tmp_path / "j.db")
        of_log = read_log_history([data], [], since_ms=0, has_name=lambda _: True, stated=STATED).courses
    of_journal = read_journal_history(
        tmp_path / "j.db", [], since_ms=0, has_name=lambda _: True, stated=STATED
    ).courses
    expected = {
        (group, rebalance.offset): (*rebalance.causes, *(verdict.cause for verdict in rebalance.verdicts))
        for group, course in of_log.items()
        for rebalance in course.rebalances
    }
    assert expected
    assert expected == {
        (group, rebalance.offset): (*rebalance.causes, *(verdict.cause for verdict in rebalance.verdicts))
        for group, course in of_journal.items()
        for rebalance in course.rebalances
    }
    with sqlite3.connect(tmp_path / "j.db") as database:
        rows = database.execute("SELECT name, log_offset, cause FROM rebalances JOIN groups ON id = group_id")
        stored = {(name, offset): cause for name, offset, cause in rows}
    assert stored.items() <= {key: causes[0].value for key, causes in expected.items()}.items()
    assert len(stored) >= len(expected) - len(of_log)
