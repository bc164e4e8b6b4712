"""What the exporter keeps of the records after committed offsets, from poll to poll."""

from collections.abc import Collection, Mapping

import pytest

import cli.polls.reading as reading
from cli.polls.reading import LagTimes
from cli.sources.saved import SavedSource
from cli.sources.source import FoundRecords
from groups.lag import NextRecord, NextRecords
from groups.model import Problem, Topic

PLACE = ("orders", 0)


class Log(SavedSource):
    """The records after any offset of one partition; of the interface, the exporter's lookup needs only this."""

    def __init__(self, record: NextRecord | None) -> None:
        self.record, self.asked = record, list[int]()

    def next_records(self, offsets: Mapping[tuple[str, int], Collection[int]], /) -> FoundRecords:
        numbers = offsets.get(PLACE, ())
        self.asked += sorted(numbers)
        return FoundRecords(records={PLACE: dict.fromkeys(numbers, self.record)} if self.record else {})


def topics(start: int = 0, stable: int = 100) -> Mapping[str, Topic]:
    topic = Topic(name="orders", partitions=1, start_offsets={0: start}, stable_offsets={0: stable})
    return {"orders": topic}


def poll(
    known: LagTimes, log: Log, seen: Mapping[str, Topic]
) -> tuple[NextRecords, tuple[Problem, ...], int]:
    return known.of(log, {PLACE: {10}}, seen)


@pytest.mark.parametrize(
    ("record", "later", "asked"),
    [
        (NextRecord(12, 7), topics(), [10]),  # it is read once
        (NextRecord(12, 7), topics(start=13), [10, 10]),  # it was deleted
        (NextRecord(12, 7), topics(stable=12), [10, 10]),  # its transaction may be aborted
        (NextRecord(None, aborted=2, searched_to=40), topics(), [10, 40]),
        (NextRecord(None, aborted=2, searched_to=40, is_unknown=True), topics(), [10, 40]),
        (None, topics(), [10, 10]),  # it could not be read
    ],
)
def test_a_record_is_read_again_only_if_it_may_have_changed(
    record: NextRecord | None, later: Mapping[str, Topic], asked: list[int]
) -> None:
    log, known = Log(record), LagTimes()
    first, _, _ = poll(known, log, later)
    assert first == ({} if record is None else {PLACE: {10: record}})
    poll(known, log, later)
    assert log.asked == asked


def test_a_search_continues_and_counts_what_it_has_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    log, known = Log(NextRecord(None, aborted=2, searched_to=40, is_unknown=True)), LagTimes()
    poll(known, log, topics())
    monkeypatch.setattr(reading, "MOST_LAG_TIMES", 0)
    left, _, count = poll(known, log, topics())
    assert (count, left[PLACE][10].is_unknown) == (1, True)  # the next poll continues
    monkeypatch.undo()
    log.record = NextRecord(55, 7, aborted=3)
    records, _, _ = poll(known, log, topics())
    assert records == {PLACE: {10: NextRecord(55, 7, aborted=5)}}
    assert log.asked == [10, 40]
