"""Compaction against an obvious oracle: the state after reading the whole log."""

import struct
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator.store.cleaner import CompactionSettings, compact, finish_interrupted, write_missing_indexes
from tests.coordinator.store.kills import is_killed
from tests.coordinator.store.logs import Written, data_records, read_log, visible
from tests.support.long import cases
from wire.log.compression import Codec
from wire.log.control_records import ControlType
from wire.log.errors import DamagedLog
from wire.log.indexes import INDEX_SUFFIXES
from wire.log.log_records import records_of
from wire.log.segments import list_segments, read_segment

NOW_MS = 1_700_000_000_000
DAY_MS = 86_400_000

KEYS = st.sampled_from([b"a", b"b", b"c", b"\x00\x0f share", b"\x7f\xff unknown"])
VALUES = st.one_of(st.none(), st.binary(max_size=4))
RECORDS = st.lists(st.tuples(st.one_of(st.none(), KEYS), VALUES), min_size=1, max_size=4)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("plain"), RECORDS, st.sampled_from(Codec)),
        st.tuples(st.just("transaction"), RECORDS, st.integers(0, 2)),
        st.tuples(
            st.just("end"), st.sampled_from([ControlType.COMMIT, ControlType.ABORT]), st.integers(0, 2)
        ),
        st.tuples(st.just("roll")),
        st.tuples(st.just("skip")),
    ),
    max_size=30,
)


def write(steps: list[tuple[object, ...]]) -> Written:
    log = Written()
    for step in steps:
        match step:
            case ("plain", list(records), Codec() as codec):
                log.batch(records, timestamp=NOW_MS, codec=codec)
            case ("transaction", list(records), int(producer)):
                log.batch(records, timestamp=NOW_MS, transaction_of=producer)
            case ("end", ControlType() as kind, int(producer)):
                log.end(producer, kind, timestamp=NOW_MS)
            case ("roll",):
                log.roll()
            case ("skip",):
                log.skip(3)
    log.roll()
    log.batch([(b"a", b"active")], timestamp=NOW_MS)
    return log


def run(directory: Path, *, now_ms: int = NOW_MS, first_dirty: int = 0, **changes: int) -> int:
    return compact(
        directory,
        CompactionSettings(**changes),
        first_dirty=first_dirty,
        active=int(list_segments(directory)[-1].stem),
        now_ms=now_ms,
    )


def open_records(directory: Path) -> dict[int, bytes | None]:
    running: dict[int, dict[int, bytes | None]] = {}
    for batch, records in read_log(directory):
        if batch.is_control:
            running.pop(batch.producer_id, None)
        elif batch.is_transactional:
            values = {record.offset: record.value for record in records}
            running.setdefault(batch.producer_id, {}).update(values)
    return {offset: value for values in running.values() for offset, value in values.items()}


@settings(max_examples=cases("KOHORT_EXAMPLES", 25, many=1_000))
@given(steps=STEPS, segment_bytes=st.sampled_from([1, 300, 1 << 20]))
def test_compaction_changes_nothing_but_removed_records(
    steps: list[tuple[object, ...]], segment_bytes: int
) -> None:
    with TemporaryDirectory() as name:
        directory = write(steps).save(Path(name))
        known, records = visible(read_log(directory)), data_records(directory)
        pending = open_records(directory)
        active = list_segments(directory)[-1].read_bytes()
        first_dirty = 0
        for now_ms in (NOW_MS, NOW_MS + 1, NOW_MS + 2 * DAY_MS, NOW_MS + 4 * DAY_MS, NOW_MS + 6 * DAY_MS):
            first_dirty = run(directory, now_ms=now_ms, first_dirty=first_dirty, segment_bytes=segment_bytes)
            assert visible(read_log(directory)) == known
            assert open_records(directory) == pending
            left = data_records(directory)
            # keys, values, times and offsets as before.
            assert {offset: records[offset] for offset in left} == left
            offsets = [batch.base_offset for batch, _ in read_log(directory)]
            assert offsets == sorted(set(offsets))
            assert list_segments(directory)[-1].read_bytes() == active
        size = sum(path.stat().st_size for path in list_segments(directory))
        run(directory, now_ms=NOW_MS + 8 * DAY_MS, first_dirty=first_dirty, segment_bytes=segment_bytes)
        assert sum(path.stat().st_size for path in list_segments(directory)) <= size


@settings(max_examples=cases("KOHORT_EXAMPLES", 25, many=1_000))
@given(
    steps=st.lists(
        st.one_of(st.tuples(st.just("plain"), RECORDS, st.just(Codec.NONE)), st.tuples(st.just("roll")))
    )
)
def test_only_the_last_value_of_a_key_is_left(steps: list[tuple[object, ...]]) -> None:
    with TemporaryDirectory() as name:
        directory = write(steps).save(Path(name))
        for now_ms in (NOW_MS, NOW_MS + 2 * DAY_MS):
            run(directory, now_ms=now_ms)
        active = int(list_segments(directory)[-1].stem)
        left = [one for one in data_records(directory).values() if one.offset < active]
        assert len({record.key for record in left}) == len(left)
        assert all(record.key is not None and record.value is not None for record in left)


def test_tombstones_stay_for_a_day_after_the_first_compaction(tmp_path: Path) -> None:
    log = Written()
    log.batch([(b"a", b"1"), (b"b", b"2")], timestamp=5)
    log.batch([(b"a", None)], timestamp=6)
    log.batch([(b"c", b"3")], timestamp=7)
    log.roll()
    directory = log.save(tmp_path)
    run(directory)
    (batch,) = [batch for batch, some in read_log(directory) if any(one.value is None for one in some)]
    assert batch.delete_horizon_ms == NOW_MS + DAY_MS
    left = {(one.offset, one.key, one.value, one.timestamp) for one in data_records(directory).values()}
    assert left == {(1, b"b", b"2", 5), (2, b"a", None, 6), (3, b"c", b"3", 7)}
    run(directory, now_ms=NOW_MS + DAY_MS - 1)
    assert set(data_records(directory)) == {1, 2, 3}
    run(directory, now_ms=NOW_MS + DAY_MS)
    assert set(data_records(directory)) == {1, 3}


def test_a_marker_stays_with_its_transaction_then_like_a_tombstone(tmp_path: Path) -> None:
    log = Written()
    log.batch([(b"a", b"rolled back")], transaction_of=7)
    log.end(7, ControlType.ABORT)
    log.batch([(b"a", b"1")])
    log.batch([(b"b", b"2")])
    log.roll()
    directory = log.save(tmp_path)

    def marks() -> list[int | None]:
        return [batch.delete_horizon_ms for batch, _ in read_log(directory) if batch.is_control]

    run(directory, producer_expiration_ms=0)
    assert (marks(), set(data_records(directory))) == ([None], {2, 3})
    run(directory, producer_expiration_ms=0)
    assert marks() == [NOW_MS + DAY_MS]
    run(directory, producer_expiration_ms=0, now_ms=NOW_MS + DAY_MS)
    assert marks() == []


def test_a_producer_is_known_by_its_last_batch_until_it_is_forgotten(tmp_path: Path) -> None:
    log = Written()
    for _ in range(3):
        log.batch([(b"a", b"1")], transaction_of=7, timestamp=NOW_MS)
        log.end(7, ControlType.COMMIT, timestamp=NOW_MS)
    log.batch([(b"a", b"2"), (b"b", b"3")], timestamp=NOW_MS)
    log.roll()
    directory = log.save(tmp_path)

    def batches_of_producer() -> list[tuple[int, int]]:
        return [
            (batch.base_offset, batch.count)
            for batch, _ in read_log(directory)
            if batch.producer_id == 7 and not batch.is_control
        ]

    run(directory)
    assert batches_of_producer() == [(4, 0)]
    run(directory, now_ms=NOW_MS + DAY_MS + 1)
    assert batches_of_producer() == []


def test_the_last_offset_is_not_lost_with_its_record(tmp_path: Path) -> None:
    log = Written()
    log.batch([(b"a", b"1")])
    log.batch([(None, b"without a key")])
    log.roll()
    directory = log.save(tmp_path)
    run(directory)
    first, _ = list_segments(directory)
    assert read_segment(first).next_offset == 2


def test_small_neighbors_become_one_segment_with_its_indexes(tmp_path: Path) -> None:
    log = Written()
    for number in range(6):
        log.batch([(b"%d" % number, b"x" * 3000)] * 3)
        log.roll()
    directory = log.save(tmp_path)
    run(directory, segment_bytes=20_000)
    assert [int(path.stem) for path in list_segments(directory)] == [0, 6, 12, 18]
    assert [path.with_suffix(".index").exists() for path in list_segments(directory)] == [True] * 3 + [False]
    assert not [path for path in directory.iterdir() if path.suffix not in (".log", *INDEX_SUFFIXES)]


def test_the_index_of_a_mark_knows_where_its_transaction_began(tmp_path: Path) -> None:
    log = Written()
    log.batch([(b"a", b"1")], transaction_of=7)
    log.roll()
    log.batch([(b"b", b"2")])
    log.end(7, ControlType.ABORT)
    log.roll()
    directory = log.save(tmp_path)
    write_missing_indexes(directory, before=2)
    first, second, _ = list_segments(directory)
    assert not first.with_suffix(".txnindex").exists()
    version, producer_id, first_offset, last_offset = struct.unpack_from(
        ">hqqq", second.with_suffix(".txnindex").read_bytes()
    )
    assert (version, producer_id, first_offset, last_offset) == (0, 7, 0, 2)


def test_what_stays_is_copied_byte_for_byte(tmp_path: Path) -> None:
    log = Written()
    log.batch([(b"a", b"1"), (b"b", b"2")], codec=Codec.ZSTD)
    log.roll()
    directory = log.save(tmp_path)
    before = {path.name: path.read_bytes() for path in list_segments(directory)}
    run(directory)
    assert {path.name: path.read_bytes() for path in list_segments(directory)} == before


def test_a_kill_at_any_step_loses_nothing(tmp_path: Path) -> None:
    log = Written()
    for number in range(9):
        log.batch([(b"a", b"%d" % number), (b"k%d" % (number // 2), b"%d" % number)], timestamp=NOW_MS)
        log.batch([(b"k%d" % (number // 3), None)], timestamp=NOW_MS)
        log.roll()
    log.batch([(b"z", b"active")])
    known = visible(read_log(log.save(tmp_path / "whole")))
    kills = 0
    for first in range(200):
        directory = log.save(tmp_path / f"{first}")
        if not is_killed(partial(run, directory, segment_bytes=600), first):
            break
        assert visible(read_log(directory)) == known  # a reader before the recovery
        for second in range(200):
            if not is_killed(partial(finish_interrupted, directory), second):
                break
            assert visible(read_log(directory)) == known
        assert visible(read_log(directory)) == known
        assert not [path for path in directory.iterdir() if path.suffix not in (".log", *INDEX_SUFFIXES)]
        run(directory)
        assert visible(read_log(directory)) == known
        kills += 1
    assert kills > 20


@pytest.mark.parametrize("old_are_gone", [False, True])
def test_an_interrupted_compaction_of_a_broker_is_finished(tmp_path: Path, old_are_gone: bool) -> None:
    log = Written()
    log.batch([(b"a", b"1"), (b"b", b"1")])
    log.roll()
    log.batch([(b"a", b"2")])
    log.roll()
    log.batch([(b"c", b"active")])
    known = visible(read_log(log.save(tmp_path / "whole")))
    compacted = log.save(tmp_path / "compacted")
    run(compacted)
    directory = log.save(tmp_path / "log")
    for path in list_segments(directory)[:2]:
        path.with_suffix(".index").write_bytes(b"stale")
        if old_are_gone:
            path.rename(path.with_name(path.name + ".deleted"))
    new = list_segments(compacted)[0]
    (directory / f"{new.name}.swap").write_bytes(new.read_bytes())
    (directory / f"{new.stem}.index.swap").write_bytes(b"")
    (directory / f"{2:020d}.log.cleaned").write_bytes(b"half")
    finish_interrupted(directory)
    assert visible(read_log(directory)) == known
    assert sorted(path.name for path in directory.iterdir()) == [f"{0:020d}.log", f"{3:020d}.log"]


def test_a_swap_file_that_is_not_whole_is_refused(tmp_path: Path) -> None:
    log = Written()
    log.batch([(b"a", b"1")])
    directory = log.save(tmp_path)
    whole = list_segments(directory)[0]
    (directory / f"{whole.name}.swap").write_bytes(whole.read_bytes()[:-1])
    with pytest.raises(DamagedLog, match=r"\.swap"):
        finish_interrupted(directory)
    assert records_of(read_segment(whole).batches[0], read_segment(whole).data)
