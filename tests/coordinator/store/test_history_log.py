"""Histories of groups in a partition's log: fast and slow reading agree, and what is missing is known."""

from pathlib import Path
from random import Random

import numpy as np
import pytest

from coordinator.engine import records as stored
from coordinator.store.cleaner import CompactionSettings, compact
from coordinator.store.history_log import GroupChoice, GroupLog, PartitionLog
from coordinator.store.records import decode_record, encode_record
from groups.history.events import Place
from tests.coordinator.store.logs import Pairs, Written, read_log
from wire.log.blocks import Block
from wire.log.compression import Codec
from wire.log.control_records import ControlType, control_type
from wire.log.segments import base_offset_of, list_segments, read_segment
from wire.messages.record_codec import encode_key, encode_value

GROUPS = ("pay", "payments", "größe-😀", "")


def record(draw: Random, number: int) -> tuple[bytes, bytes | None]:
    group, place = draw.choice(GROUPS), (draw.choice(("orders", "pay")), draw.randrange(3))
    if draw.random() < 0.2:
        return encode_record(
            stored.ConsumerGroupRecord(group=group, value=stored.ConsumerGroupValue(epoch=number))
        )
    value = stored.StoredOffset(offset=number, leader_epoch=0, metadata="pay", commit_ms=0)
    key, encoded = encode_record(
        stored.OffsetRecord(group=group, topic=place[0], partition=place[1], value=value)
    )
    if draw.random() < 0.1:  # as very old brokers wrote it
        fields = {"offset": number, "metadata": "", "commitTimestamp": 0}
        key, encoded = bytes(2) + key[2:], encode_value(0, 0, fields)
    return key, None if draw.random() < 0.1 else encoded


def made(seed: int, *, skips: bool = True) -> Written:
    draw, log = Random(seed), Written()
    for number in range(120):
        if number in (40, 80):
            log.roll()
        pairs = [record(draw, number) for _ in range(draw.randrange(1, 5))]
        commits: Pairs = [pair for pair in pairs if pair[0][1] < 2]
        producer = draw.randrange(2)
        match draw.randrange(8):
            case 0 | 1 if commits:
                log.batch(commits, timestamp=number, transaction_of=producer)
            case 2:
                log.end(producer, draw.choice([ControlType.COMMIT, ControlType.ABORT]), timestamp=number)
            case 3 if skips:
                log.skip(draw.randrange(3))
            case _:
                log.batch(pairs, timestamp=number, codec=draw.choice([Codec.NONE, Codec.GZIP]))
    return log


def read(directory: Path, choice: GroupChoice) -> PartitionLog:
    log = PartitionLog(choice)
    for path in list_segments(directory):
        assert log.read(Block(batches=read_segment(path).batches, base=0)) == []
    return log


def slowly(directory: Path, group: str) -> tuple[list[int], dict[Place, list[tuple[int, int, int]]]]:
    """Offsets of the records that are not commits; time, committed offset and offset of each commit by place."""
    others: list[int] = []
    commits: dict[int, tuple[Place, tuple[int, int, int]]] = {}
    pending: dict[int, dict[int, tuple[Place, tuple[int, int, int]]]] = {}
    for batch, records in read_log(directory):
        for entry in records:
            if batch.is_control:
                ended = pending.pop(batch.producer_id, {})
                commits |= ended if control_type(entry) is ControlType.COMMIT else {}
                continue
            decoded = decode_record(entry.key or b"", entry.value)
            if not isinstance(decoded, stored.OffsetRecord):
                others += [entry.offset] * (decoded.group == group)  # type: ignore[union-attr]
            elif decoded.group == group and decoded.value is not None:
                numbers = entry.timestamp * 1000, decoded.value.offset, entry.offset
                commit = {entry.offset: ((decoded.topic, decoded.partition), numbers)}
                if batch.is_transactional:
                    pending.setdefault(batch.producer_id, {}).update(commit)
                else:
                    commits |= commit
    by_place: dict[Place, list[tuple[int, int, int]]] = {}
    for _, (place, numbers) in sorted(commits.items()):
        by_place.setdefault(place, []).append(numbers)
    return others, by_place


@pytest.mark.parametrize("seed", range(12))
def test_what_is_read_is_what_slow_reading_finds(seed: int, tmp_path: Path) -> None:
    directory = made(seed).save(tmp_path / "log")
    for choice in (GroupChoice(GROUPS[:2]), GroupChoice((), lambda _: True)):
        logs = read(directory, choice).groups()
        assert set(logs) <= set(GROUPS if choice.wants("größe-😀") else GROUPS[:2])
        for group, log in logs.items():
            commits = {
                place: list(zip(*(column.tolist() for column in columns), strict=True))
                for place, columns in log.commits.items()
            }
            assert ([entry.offset for entry in log.records], commits) == slowly(directory, group)


@pytest.mark.parametrize("seed", range(6))
def test_compaction_takes_nothing_from_where_the_log_is_whole(seed: int, tmp_path: Path) -> None:
    directory = made(seed, skips=False).save(tmp_path / "log")
    choice = GroupChoice((), lambda _: True)
    before = read(directory, choice)
    assert before.whole_from == (0, 0)
    active = base_offset_of(list_segments(directory)[-1])
    compact(directory, CompactionSettings(), first_dirty=0, active=active, now_ms=1 << 40)
    after = read(directory, choice)
    start, _ = after.whole_from
    assert 0 < start < before.next_offset
    groups = after.groups()
    for group, log in before.groups().items():
        kept = groups.get(group, GroupLog())
        assert [r for r in kept.records if r.offset >= start] == [r for r in log.records if r.offset >= start]
        for place, commits in log.commits.items():
            late = commits.positions[commits.positions >= start].tolist()
            kept_places = kept.commits[place].positions if place in kept.commits else np.zeros(0)
            assert kept_places[kept_places >= start].tolist() == late


def test_after_the_last_gap_nothing_is_missing(tmp_path: Path) -> None:
    log = Written()
    for number, gap in enumerate([0, 0, 7, 0]):
        log.skip(gap)
        log.batch([encode_record(commit(number))] * 2, timestamp=1000 + number)
    whole = read(log.save(tmp_path / "log"), GroupChoice(("pay",)))
    assert whole.whole_from == (11, 1002)
    assert whole.gap_times.tolist() == [1_002_000]
    assert whole.backward == []
    log.batch([encode_record(commit(9))], timestamp=1_000)
    log.batch([encode_record(commit(9))], timestamp=100_000)
    log.batch([encode_record(commit(9))], timestamp=2_000)
    assert read(log.save(tmp_path / "log"), GroupChoice(("pay",))).backward == [(17, 100_000, 2_000)]


def test_records_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    log = Written()
    cut_off = encode_key(1, {"group": "pay", "topic": "orders", "partition": 2})[:-2]
    of_later_kafka = (99).to_bytes(2) + encode_key(3, {"groupId": "pay"})[2:]
    other = encode_key(1, {"group": "other", "topic": "orders", "partition": 2})[:-2]
    log.batch([(cut_off, b"!"), (of_later_kafka, b"!"), (other, b"!"), (None, None)], timestamp=1)
    key, value = encode_record(commit(1))
    log.batch([(key, b"\0\x63" + (value or b"")[2:])], timestamp=1 << 60)
    log.batch([(key, b"\0\x63" + (value or b"")[2:])], timestamp=1)
    result = read(log.save(tmp_path / "log"), GroupChoice(("pay",)))
    assert [offset for offset, _ in result.malformed] == [0, 4, 5]
    assert dict(result.unknown) == {99: 1}


def commit(number: int) -> stored.OffsetRecord:
    value = stored.StoredOffset(offset=number, leader_epoch=0, metadata="", commit_ms=0)
    return stored.OffsetRecord(group="pay", topic="orders", partition=0, value=value)
