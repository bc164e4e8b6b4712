"""Proofs of offsets against copies whose history is known: shifted, behind, started again, compacted, cut."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from groups.offsets.proof import Proof, ProofVerdict, TargetLog, key_record, merged, near_time, prove, same
from tests.support.golden import assert_recorded
from tests.support.long import cases
from wire.log.log_records import RecordDigest, RecordWindow

AROUND = 4
Log = Sequence[RecordDigest]


def record(offset: int, content: int = 0, *, time_ms: int = 0, key: bytes | None = None) -> RecordDigest:
    return RecordDigest(
        offset=offset, timestamp_ms=time_ms, is_append_time=False, key=key, value=b"%d" % content, headers=()
    )


def window(log: Log, offset: int, before: int, after: int) -> RecordWindow:
    """What a reader would see of a log."""
    low = [entry for entry in log if entry.offset < offset]
    high = [entry for entry in log if entry.offset >= offset]
    low_part, high_part = tuple(low[len(low) - min(before, len(low)) :]), tuple(high[:after])
    is_from_start, is_to_end = before >= len(low), after > len(high)
    return RecordWindow(before=low_part, after=high_part, from_start=is_from_start, to_end=is_to_end)


def proved(source: Log, target: Log, offset: int, *, search: int = 100, end: int | None = None) -> Proof:
    """The proof for an offset of the source."""
    around = window(source, offset, AROUND, AROUND)
    key = key_record(around)
    log_end = (target[-1].offset + 1 if target else 0) if end is None else end
    later = [entry.offset for entry in target if key is not None and entry.timestamp_ms >= key.timestamp_ms]
    earliest = target[0].offset if target else log_end
    log = TargetLog(earliest=earliest, end=log_end, at_time=later[0] if later else -1)
    start = log_end if log.at_time < 0 else log.at_time
    return prove(around, window(target, start, AROUND, search), log, offset=offset)


def copied(log: Log, shift: int) -> list[RecordDigest]:
    return [dataclasses.replace(entry, offset=entry.offset + shift) for entry in log]


LOG = [record(number, number, time_ms=100 + number // 5) for number in range(40)]


def changed(log: Log, **fields: Any) -> list[RecordDigest]:
    return [dataclasses.replace(entry, **fields) for entry in log]


def copies() -> Iterator[tuple[str, Proof]]:
    copy, start = copied(LOG, 7), copied(LOG, 0)
    yield "other values of the same times", proved(LOG, changed(copied(LOG, 3), value=b"other"), 12)
    yield "a copy that ends before 18, two records before the offset", proved(LOG, copy[:18], 20)
    yield "a copy that ends at the offset", proved(LOG, copy[:20], 20)
    timed = changed(LOG, is_append_time=True, timestamp_ms=9000)
    yield "times that a broker set", proved(timed, copy, 10)
    around, whole = window(timed, 10, AROUND, AROUND), window(copy, 47, 100, 100)
    yield "the same, all read", prove(around, whole, TargetLog(earliest=7, end=47, at_time=-1), offset=10)
    yield "a copy that begins after the offset", proved(LOG, start[22:], 20)
    yield "a copy that begins at the offset", proved(LOG, start[20:], 20)
    yield "a compacted source", proved(LOG[:18] + LOG[20:], copy, 20)
    yield "a compacted source, after the offset", proved(LOG[:20] + LOG[23:], copy, 20)
    yield "a compacted copy", proved(LOG, copied(LOG[:18] + LOG[22:], 7), 20)
    alike = [record(number, time_ms=1) for number in range(60)]
    marked = [record(0, 1, time_ms=1), *(record(at, time_ms=1) for at in (1, 2, 3)), record(4, 2)]
    yield "records that are all alike, from the start", proved(alike[:6], copied(alike[:6], 3), 0)
    yield "records that their neighbors distinguish", proved(marked, copied(marked, 3), 2)
    yield "records that are all alike", proved(alike, copied(alike, 3), 30)
    yield "empty logs", proved([], [], 0)
    yield "empty logs and an offset", proved([], [], 9)
    yield "an empty copy", proved(LOG, [], 3, end=5)
    yield "an empty source", proved([], LOG[4:], 9)
    kept = copied([LOG[3], LOG[5], LOG[30], LOG[34]], 7)
    yield "records far from the offset", proved(LOG, kept, 20)
    source, log = window(LOG, 20, AROUND, AROUND), TargetLog(earliest=10, end=42, at_time=37)
    target = window(kept, 37, AROUND, 100)
    assert near_time(target, log) == (kept[1], kept[2])
    wider = merged(source, [window(LOG, 5, 2, 2), window(LOG, 30, 2, 2)], 20)
    yield "the same, with more of the source", prove(wider, target, log, offset=20, is_whole=False)
    for offset in range(41):
        proof = proved(LOG, copy, offset)
        assert (proof.verdict, proof.offset) == (ProofVerdict.PROVED, offset + 7)
        assert (proof.twice, proof.skipped) == (0, 0)


def test_each_copy_has_the_recorded_proof() -> None:
    assert_recorded("offsets/proofs.txt", {about: repr(proof) for about, proof in copies()})


def test_headers_may_be_added_but_not_changed() -> None:
    plain = dataclasses.replace(record(0), headers=(("a", b"1"), ("b", None)))
    more = dataclasses.replace(plain, headers=(("x", b""), ("a", b"1"), ("y", None), ("b", None)))
    assert same(plain, more)
    assert not same(more, plain)
    assert not same(plain, dataclasses.replace(plain, headers=(("b", None), ("a", b"1"))))
    assert not same(plain, dataclasses.replace(plain, timestamp_ms=1))
    assert same(plain, dataclasses.replace(plain, timestamp_ms=1, is_append_time=True))
    assert not same(plain, dataclasses.replace(plain, key=b""))


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[RecordDigest], list[tuple[RecordDigest, int]], int]:
    """A source's log, a copy of it with the source's offset of each record, and a committed offset."""
    time_ms, log = 0, []
    varied = draw(st.booleans())
    for number in range(draw(st.integers(0, 40))):
        time_ms += draw(st.sampled_from([0, 0, 0, 1, 5]))
        content = number if varied else draw(st.integers(0, 2))
        log.append(record(number, content, time_ms=time_ms))
    copy: list[tuple[RecordDigest, int]] = []
    shift = draw(st.integers(0, 9))
    restart = draw(st.integers(0, 40)) if draw(st.booleans()) else None
    order = list(range(len(log)))
    if restart is not None and restart < len(log):
        back = draw(st.integers(0, restart))
        order = [*range(restart), *range(back, len(log))]
    for position, number in enumerate(order):
        copy.append((dataclasses.replace(log[number], offset=shift + position), number))
    copy = copy[: draw(st.integers(len(copy) // 2, len(copy)))] if draw(st.booleans()) else copy
    copy = copy[draw(st.integers(0, len(copy) // 2)) :] if draw(st.booleans()) else copy
    # Of records that are all alike, or copied twice, it is unknown which is gone.
    some = st.sets(st.integers(0, 50), max_size=8 if varied and restart is None else 0)
    gone, lost = draw(some), draw(some)
    copy = [pair for position, pair in enumerate(copy) if position not in gone]
    return [entry for entry in log if entry.offset not in lost], copy, draw(st.integers(0, len(log)))


@settings(max_examples=cases("KOHORT_PROOFS", 125, many=50_000), deadline=None)
@given(histories(), st.sampled_from([1, 5, 20, 100, 100]))
def test_what_is_proved_skips_nothing_and_reads_nothing_again(
    history: tuple[list[RecordDigest], list[tuple[RecordDigest, int]], int], search: int
) -> None:
    source, copy, offset = history
    proof = proved(source, [entry for entry, _ in copy], offset, search=search)
    assert proof.offset <= (copy[-1][0].offset + 1 if copy else 0)
    if proof.verdict is not ProofVerdict.PROVED:
        return
    # What the source has lost can be compared with nothing.
    known = {entry.offset for entry in source}
    there = {number for _, number in copy} & known
    after = {number for entry, number in copy if entry.offset >= proof.offset}
    before = {number for entry, number in copy if entry.offset < proof.offset}
    assert {number for number in there if number >= offset} <= after, (proof, "skipped")
    values = [entry.value for entry in source]
    if search > len(copy) and len(set(values)) == len(values):
        assert {number for number in there if number < offset} <= before, (proof, "twice")
