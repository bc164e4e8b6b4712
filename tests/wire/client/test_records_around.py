"""The records around an offset: logs that are made up, read in pieces, next to a reader that has the whole log."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.long import cases
from wire.client import records_around as module
from wire.client.offsets import READ_COMMITTED
from wire.client.records_around import RecordsRequest, TransactionEnd, _Search
from wire.errors import Failure
from wire.log.batch_writer import encode_batch
from wire.log.compression import Codec
from wire.log.control_records import ControlType, end_of_transaction
from wire.messages.framing import MAX_FRAME_BYTES

COMMITTED, ABORTED, UNDECIDED = TransactionEnd
PLAIN = -1
PRODUCERS = st.sampled_from((PLAIN, 7, 8))


@dataclass(slots=True)
class Made:
    """A batch: its first offset, how many records it has, and how their transaction ended."""

    base: int
    count: int
    end: TransactionEnd | None
    data: bytes


@dataclass(frozen=True, slots=True)
class Log:
    """`aborted`: producer id, first offset and marker's offset of transactions."""

    batches: list[Made]
    aborted: list[tuple[int, int, int]]
    stable: int
    end: int

    def read(self, request: RecordsRequest) -> tuple[list[int], list[tuple[int, TransactionEnd | None]], int]:
        """Offsets before, offsets after with their ends, and how many aborted records were skipped."""
        limit = self.stable if request.skips_undecided else self.end
        records = [
            (offset, made.end)
            for made in self.batches
            for offset in range(made.base, made.base + made.count)
            if made.base < limit
        ]
        kept = [one for one in records if one[1] is not ABORTED or not request.skips_aborted]
        before = [offset for offset, _ in kept if offset < request.offset]
        after = [one for one in kept if one[0] >= request.offset][: request.after]
        last = after[-1][0] if len(after) == request.after else self.end
        skipped = [one for one in records if one not in kept and request.offset <= one[0] < last]
        return before[len(before) - min(request.before, len(before)) :], after, len(skipped)


def log_of(steps: Sequence[tuple[int, int | bool]]) -> Log:
    """A batch of some records, or the end of a producer's transaction: committed (True) or not."""
    batches: list[Made] = []
    opened: dict[int, list[Made]] = {}
    aborted: list[tuple[int, int, int]] = []
    offset = 0
    for producer, what in steps:
        if isinstance(what, bool):
            if producer not in opened:
                continue
            its = opened.pop(producer)
            for made in its:
                made.end = COMMITTED if what else ABORTED
            if not what:
                aborted.append((producer, its[0].base, offset))
            marker = end_of_transaction(ControlType.COMMIT if what else ControlType.ABORT, 0)
            batches.append(Made(offset, 0, None, batch(offset, [marker], producer, control=True)))
            offset += 1
            continue
        records = [(b"k", b"v" * number) for number in range(what)]
        made = Made(offset, what, None, batch(offset, records, producer))
        batches.append(made)
        offset += what
        if producer != PLAIN:
            made.end = UNDECIDED
            opened.setdefault(producer, []).append(made)
    stable = min((its[0].base for its in opened.values()), default=offset)
    for made in batches:  # after the last stable offset no end is known
        if made.end is not None and made.base >= stable:
            made.end = UNDECIDED
    return Log(batches, aborted, stable, offset)


def batch(
    offset: int,
    records: Sequence[tuple[bytes | None, bytes]],
    producer: int = PLAIN,
    *,
    control: bool = False,
) -> bytes:
    codec = Codec.NONE if control else Codec.LZ4
    return encode_batch(
        records, base_offset=offset, timestamp=0, codec=codec, producer_id=producer,
        transactional=producer != PLAIN, control=control,
    )  # fmt: skip


def searched(log: Log, request: RecordsRequest) -> _Search:
    """Read as a leader's answers come: one batch, then the next ones."""
    search: _Search | None = _Search(("t", 0), request)
    for _ in range(40 * len(log.batches) + 40):
        assert search is not None
        if search.is_done:
            later = search.earlier()
            if later is None:
                return search
            search = later
            continue
        search.high_watermark = log.end
        limit = log.stable if search.isolation_level == READ_COMMITTED else log.end
        rest = [
            one for one in log.batches if one.base < limit and one.base + max(one.count, 1) > search.position
        ]
        is_committed = search.isolation_level == READ_COMMITTED
        known = [one[:2] for one in log.aborted if one[2] >= search.position] if is_committed else []
        search.take(rest[0].data if rest else b"", limit, known)
    raise AssertionError("it does not end")


@settings(max_examples=cases("KOHORT_FUZZ_CASES", 60, many=5_000), suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.tuples(PRODUCERS, st.integers(1, 3) | st.booleans()), max_size=12),
    st.integers(0, 25), st.integers(0, 4), st.integers(1, 4), st.booleans(),
)  # fmt: skip
def test_all_that_a_reader_with_the_whole_log_has(
    steps: list[tuple[int, int | bool]], offset: int, before: int, after: int, only_committed: bool
) -> None:
    log = log_of(steps)
    request = RecordsRequest(
        offset=min(offset, log.end),
        before=before,
        after=after,
        skips_aborted=only_committed,
        skips_undecided=only_committed,
    )
    result = searched(log, request).result
    assert result.failure is None
    read = (
        [one.record.offset for one in result.before],
        [(one.record.offset, one.transaction) for one in result.after],
    )
    assert (*read, result.aborted) == log.read(request)
    if not only_committed:
        assert result.to_end == (len(result.after) < after)
    assert not result.from_start or len(result.before) == len(log.read(replace(request, before=99))[0])
    assert result.from_start or len(result.before) == before
    if before == 0:
        waits = len(result.after) < after or result.after[-1].record.offset >= log.stable
        assert (result.waits_at is not None) == (waits and max(log.stable, request.offset) < log.end)


@settings(max_examples=cases("KOHORT_FUZZ_CASES", 60, many=20_000), suppress_health_check=list(HealthCheck))
@given(st.binary(max_size=200), st.integers(0, 400), st.integers(-5, 60), st.booleans())
def test_no_bytes_of_a_broker_keep_it_from_ending(
    junk: bytes, cut: int, watermark: int, committed: bool
) -> None:
    good = b"".join(made.data for made in log_of([(7, 2), (PLAIN, 2), (7, False), (8, 1)]).batches)
    search = _Search(
        ("t", 0),
        RecordsRequest(offset=2, before=2, after=50, skips_aborted=committed, skips_undecided=committed),
    )
    for records in (junk, good[:cut] + junk, good[: len(good) - cut]) * 6:
        if not search.is_done:
            search.take(records, watermark, [(7, 0)])
    assert search.is_done
    assert search.result.failure is None or isinstance(search.result.failure, Failure)


@pytest.mark.parametrize("is_alone", [True, False])
def test_a_record_that_expands_too_far_is_cut(is_alone: bool) -> None:
    long: list[tuple[bytes | None, bytes]] = [(b"k", bytes(MAX_FRAME_BYTES))]
    long += [] if is_alone else [(b"k", b"hidden")]
    middle = encode_batch(long, base_offset=1, timestamp=0, codec=Codec.ZSTD)
    last = 1 + len(long)
    before, after = (batch(offset, [(b"k", b"four")]) for offset in (0, last))
    batches = [Made(0, 1, None, before), Made(1, len(long), None, middle), Made(last, 1, None, after)]
    log = Log(batches, [], last + 1, last + 1)
    result = searched(log, RecordsRequest(offset=1, before=1, after=2)).result
    read = [(one.record.offset, one.value_size) for one in (*result.before, *result.after)]
    assert read[:2] == [(0, 4), (1, MAX_FRAME_BYTES)]
    assert len(result.after[0].record.value or b"") <= 65_536
    if is_alone:
        assert (read[2:], result.failure) == ([(2, 4)], None)
    else:
        assert (read[2:], result.limit_at) == ([], last)
        assert "batch with offset 2 expands to more than the 100 MiB" in str(result.failure)


@pytest.mark.parametrize("before", [0, 5])
def test_what_is_kept_has_a_limit(monkeypatch: pytest.MonkeyPatch, before: int) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 1_000)
    log = Log([Made(base, 1, None, batch(base, [(None, b"x" * 600)])) for base in range(9)], [], 9, 9)
    request = RecordsRequest(offset=before, before=before, after=4)
    result = searched(log, request).result
    # One of each: a second one would exceed the limit.
    assert len(result.before) == min(before, 1)
    assert [one.record.offset for one in result.after] == [before]
    assert result.limit_at == before + 1


def test_what_is_skipped_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_SKIPPED", 500)
    log = log_of([*[(7, 3)] * 20, (7, False), (PLAIN, 1)])
    result = searched(log, RecordsRequest(offset=0, before=0, after=1)).result
    assert result.after == []
    assert result.limit_at == result.aborted == 3 * (500 // len(log.batches[0].data) + 1)
