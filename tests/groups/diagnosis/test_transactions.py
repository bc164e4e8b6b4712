"""Rules about what can be read: open transactions that hold records or offsets, aborted records, deleted ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from groups.diagnosis.case import Observation
from groups.findings import Level
from groups.lag import NextRecord
from groups.model import PendingOffsets
from tests.groups.diagnosis.groups import START_MS, group, member
from tests.groups.diagnosis.test_lag import EMPTY, NAME, found, look, transaction

PLACE = (NAME, 0)
REST = {1: 5, 2: 5, 3: 5}


def held(position: int, end: int, stable: int = 50) -> Observation:
    seen = look(position, {0: 50, **REST}, {0: end, **REST}, transactions={PLACE: (transaction(START_MS),)})
    topic = replace((seen.topics or {})[NAME], stable_offsets={0: stable, **REST})
    return replace(seen, topics={NAME: topic})


@pytest.mark.parametrize(
    ("first", "last", "level"),
    [
        (held(0, 60), held(5, 90), Level.WARNING),
        (held(0, 60), held(5, 60), Level.NOTE),  # no record came
        (held(0, 60, stable=40), held(5, 90), Level.NOTE),  # an earlier transaction has ended meanwhile
        (held(0, 60), held(11, 90), Level.ERROR),  # open for a minute
    ],
)
def test_a_held_last_stable_offset_is_a_warning_once_records_came(
    first: Observation, last: Observation, level: Level
) -> None:
    reported = found(first, last)
    assert {rule: finding.level for rule, finding in reported.items()} == {"open-transaction": level}


def test_aborted_records_before_an_open_transaction_explain_a_stall_too() -> None:
    seen = [
        look(at, {0: 40, **REST}, {0: 60, **REST}, transactions={PLACE: (transaction(START_MS),)})
        for at in (0, 5)
    ]
    topic = replace((seen[0].topics or {})[NAME], stable_offsets={0: 50, **REST})
    after = {PLACE: NextRecord(51, START_MS, aborted=9)}
    last = replace(seen[1], topics={NAME: topic}, next_records=after)
    assert found(replace(seen[0], topics={NAME: topic}), last).keys() == {"open-transaction"}
    readable = replace(last, next_records={PLACE: NextRecord(45, START_MS)})
    assert found(replace(seen[0], topics={NAME: topic}), readable).keys() == {"stalled-member"}


def pending(position: int, *partitions: int, begun_ms: int | None = START_MS - 1_000) -> Observation:
    offsets = PendingOffsets(
        partitions={NAME: partitions} if partitions else {},
        transactions={} if begun_ms is None else {("__consumer_offsets", 7): (transaction(begun_ms),)},
    )
    # No member has committed for 30 s, with records to read: a stall, but for the transaction.
    of = replace(group(member("a", [0])), pending=offsets)
    return look(position, {0: 10}, {0: 60}, of=of)


@pytest.mark.parametrize(
    ("seen", "level"),
    [
        ((pending(0, 0), pending(5, 0)), Level.WARNING),
        ((pending(0, 0), pending(11, 0)), Level.ERROR),
        ((pending(0, 0, begun_ms=None), pending(5, 0, begun_ms=None)), Level.WARNING),
        ((pending(0), pending(5, 0, begun_ms=START_MS + 29_000)), Level.NOTE),
        ((pending(0, 0), pending(5, 0, begun_ms=START_MS + 29_000)), Level.NOTE),  # the next transaction
    ],
)
def test_offsets_in_an_open_transaction_explain_a_stall(seen: tuple[Observation, ...], level: Level) -> None:
    reported = found(*seen)
    assert {rule: finding.level for rule, finding in reported.items()} == {"pending-offsets": level}
    assert "orders-0" in reported["pending-offsets"].message
    after = found(pending(0, 0), pending(5))
    assert "pending-offsets" not in after
    assert "stalled-member" in after


@pytest.mark.parametrize(
    ("record", "rules"),
    [
        (NextRecord(None, aborted=5, searched_to=60), {"aborted-records"}),
        (NextRecord(None, searched_to=60), set()),  # only markers and gaps
        (NextRecord(None, aborted=5, searched_to=40, is_unknown=True), {"aborted-records"}),
        (NextRecord(12, START_MS), {"stalled-member"}),
        (None, {"stalled-member"}),  # not searched
    ],
)
def test_a_member_without_a_readable_record_has_not_stalled(
    record: NextRecord | None, rules: set[str]
) -> None:
    seen = [look(at, {0: 10}, {0: 60}, of=group(member("a", [0]))) for at in (0, 5)]
    last = seen[-1] if record is None else replace(seen[-1], next_records={PLACE: record})
    assert found(seen[0], last).keys() == rules
    if record is not None and record.aborted:
        message = found(seen[0], last)["aborted-records"].message
        assert ("at least 5 records" in message) is record.is_unknown


def test_partitions_that_were_not_searched_do_not_accuse_a_member_alone() -> None:
    committed, ends = dict.fromkeys(range(4), 10), dict.fromkeys(range(4), 60)
    seen = [look(at, committed, ends) for at in (0, 5)]
    none, some = NextRecord(None, searched_to=60), NextRecord(12, START_MS)
    assert found(seen[0], replace(seen[1], next_records={PLACE: none, (NAME, 2): none})) == {}
    both = found(seen[0], replace(seen[1], next_records={PLACE: none, (NAME, 2): some}))
    assert both["stalled-member"].evidence["partitions"] == ("orders-2", "orders-3")


def test_retention_may_pass_an_offset_during_the_observation() -> None:
    ends = {0: 300, **REST}
    seen = [
        look(at, {0: 100, **REST}, ends, starts={0: start}, of=EMPTY) for at, start in ((0, 50), (5, 250))
    ]
    reported = found(*seen)
    assert reported["records-lost"].evidence["records_lost"] == 150
    assert reported["stopped"].evidence["lag"] == 50
    # A member may have read on.
    with_members = [look(at, {0: 100, **REST}, ends, starts={0: start}) for at, start in ((0, 50), (5, 250))]
    assert "records-lost" not in found(*with_members)
    # Nothing is left: neither is anything unread.
    gone = [look(at, {0: 100, **REST}, ends, starts={0: 300}, of=EMPTY) for at in (0, 5)]
    assert found(*gone).keys() == {"records-lost"}
