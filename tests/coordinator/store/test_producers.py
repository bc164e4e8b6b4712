"""Producers of a partition: repeated, reordered and fenced batches, and the last stable offset."""

import random
from dataclasses import replace

import pytest

from coordinator.errors import RequestRefused
from coordinator.store.producers import EndTransactionMarker, Producer, Producers
from wire.errors import ErrorCode
from wire.log.batch_header import Batch
from wire.log.batch_scan import scan
from wire.log.batch_writer import encode_batch
from wire.log.control_records import ControlType, end_of_transaction
from wire.log.indexes import AbortedTransaction

P, Q = 7, 8


class Partition:
    def __init__(self) -> None:
        self.log = bytearray()
        self.end = 0
        self.producers = Producers()

    def batch(
        self, producer: int, epoch: int, sequence: int, count: int = 1, *, transactional: bool = False
    ) -> bytes:
        return encode_batch(
            [(b"k", b"v")] * count,
            base_offset=self.end,
            timestamp=1000 + self.end,
            producer_id=producer,
            producer_epoch=epoch,
            base_sequence=sequence,
            transactional=transactional,
        )

    def produce(
        self, producer: int, epoch: int, sequence: int, count: int = 1, *, transactional: bool = False
    ) -> int:
        content = self.batch(producer, epoch, sequence, count, transactional=transactional)
        (batch,) = scan(content, "").batches
        duplicate = self.producers.check(batch)
        if duplicate is not None:
            return duplicate.first_offset
        self._append(content)
        self.producers.append(batch)
        return batch.base_offset

    def finish(self, producer: int, epoch: int, *, committed: bool) -> None:
        end = EndTransactionMarker(producer, epoch, committed)
        self.producers.check_end(end)
        offset, timestamp = self.end, 1000 + self.end
        kind = ControlType.COMMIT if committed else ControlType.ABORT
        self._append(
            encode_batch(
                [end_of_transaction(kind, 0)],
                base_offset=offset,
                timestamp=timestamp,
                producer_id=producer,
                producer_epoch=epoch,
                transactional=True,
                control=True,
            )
        )
        self.producers.end(end, offset, timestamp)

    def refusal(self, *args: int, transactional: bool = False) -> ErrorCode:
        with pytest.raises(RequestRefused) as refused:
            self.produce(*args, transactional=transactional)
        return refused.value.code

    def loaded(self) -> Producers:
        producers = Producers()
        producers.load(scan(bytes(self.log), "").batches)
        return producers

    @property
    def stable(self) -> int:
        return self.producers.last_stable_offset(self.end)

    def _append(self, content: bytes) -> None:
        (batch,) = scan(content, "").batches
        self.log += content
        self.end = batch.next_offset


def known(producers: Producers) -> dict[int, Producer]:
    return dict(producers.known())


def test_the_last_five_batches_of_a_producer_are_deduplicated() -> None:
    partition = Partition()
    offsets = [partition.produce(P, 0, sequence, 2) for sequence in range(0, 12, 2)]
    assert offsets == [0, 2, 4, 6, 8, 10]
    assert [partition.produce(P, 0, sequence, 2) for sequence in range(2, 12, 2)] == offsets[1:]
    assert partition.end == 12
    assert partition.refusal(P, 0, 0, 2) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert partition.refusal(P, 0, 10, 1) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_gap_is_refused_and_changes_nothing() -> None:
    partition = Partition()
    partition.produce(P, 0, 0, 3)
    assert partition.refusal(P, 0, 4) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert partition.produce(P, 0, 3) == 3


def test_numbers_begin_again_behind_the_last_one() -> None:
    partition = Partition()
    partition.produce(P, 0, 2**31 - 2, 2)
    assert partition.produce(P, 0, 0) == 2
    partition.produce(Q, 0, 2**31 - 1, 3)
    assert partition.produce(Q, 0, 2) == 6


def test_an_unknown_producer_continues_with_any_sequence() -> None:
    partition = Partition()
    assert partition.produce(P, 3, 17) == 0
    assert partition.produce(P, 3, 18) == 1


def test_a_new_epoch_begins_at_0_and_fences_the_old_one() -> None:
    partition = Partition()
    partition.produce(P, 0, 0)
    assert partition.refusal(P, 1, 1) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert partition.produce(P, 1, 0) == 1
    assert partition.refusal(P, 0, 0) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_marker_of_a_new_epoch_fences_the_old_one() -> None:
    partition = Partition()
    partition.produce(P, 0, 0, transactional=True)
    partition.finish(P, 1, committed=False)
    assert partition.refusal(P, 0, 1, transactional=True) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert partition.produce(P, 1, 0, transactional=True) == 2


def test_a_plain_batch_within_a_transaction_is_refused() -> None:
    partition = Partition()
    partition.produce(P, 0, 0, transactional=True)
    assert partition.refusal(P, 0, 1) is ErrorCode.INVALID_TXN_STATE


def test_the_oldest_open_transaction_bounds_what_is_stable() -> None:
    partition = Partition()
    partition.produce(P, 0, 0, transactional=True)
    partition.produce(Q, 0, 0, 2, transactional=True)
    partition.produce(P, 0, 1, transactional=True)
    assert (partition.stable, partition.end) == (0, 4)
    partition.finish(P, 0, committed=True)
    assert partition.stable == 1
    partition.finish(Q, 0, committed=False)
    assert partition.stable == partition.end == 6


def test_a_fetch_is_given_the_aborted_transactions_within_its_range() -> None:
    partition = Partition()
    partition.produce(P, 0, 0, transactional=True)  # 0
    partition.produce(Q, 0, 0, transactional=True)  # 1
    partition.finish(Q, 0, committed=False)  # 2
    partition.finish(P, 0, committed=False)  # 3
    partition.produce(P, 0, 1, transactional=True)  # 4
    partition.finish(P, 0, committed=True)  # 5
    of_q = AbortedTransaction(producer_id=Q, first_offset=1, last_offset=2, last_stable_offset=0)
    of_p = AbortedTransaction(producer_id=P, first_offset=0, last_offset=3, last_stable_offset=4)
    for start, end, expected in (
        (0, 6, [of_q, of_p]),
        (0, 1, [of_p]),
        (2, 3, [of_q, of_p]),
        (3, 6, [of_p]),
        (4, 6, []),
    ):
        assert partition.producers.aborted(start, end) == expected, (start, end)
    partition.producers.forget_below(3)
    assert partition.producers.aborted(0, 6) == [of_p]


def test_a_quiet_producer_is_forgotten_unless_its_transaction_is_open() -> None:
    partition = Partition()
    partition.produce(P, 0, 0)
    partition.produce(Q, 0, 0, transactional=True)
    partition.producers.expire(1999, 1000)
    assert set(known(partition.producers)) == {P, Q}
    partition.producers.expire(9999, 1000)
    assert set(known(partition.producers)) == {Q}


@pytest.mark.parametrize("seed", range(20))
def test_a_log_that_is_opened_gives_the_same_as_appending_it(seed: int) -> None:
    chance = random.Random(seed)
    partition = Partition()
    now: dict[int, tuple[int, int, bool]] = {}
    for _ in range(120):
        producer = chance.randrange(4)
        epoch, sequence, is_open = now.get(producer, (0, 0, False))
        if is_open and chance.random() < 0.3:
            partition.finish(producer, epoch, committed=chance.random() < 0.5)
            now[producer] = epoch, sequence, False
            continue
        if not is_open and chance.random() < 0.1:
            epoch, sequence = epoch + 1, 0
        is_open = is_open or (producer % 2 == 0 and chance.random() < 0.5)
        count = chance.randrange(1, 4)
        partition.produce(producer, epoch, sequence, count, transactional=is_open)
        now[producer] = epoch, sequence + count, is_open
    loaded = partition.loaded()
    assert known(loaded) == known(partition.producers)
    every = partition.producers.aborted(0, partition.end)
    assert loaded.aborted(0, partition.end) == every
    for _ in range(20):
        start, end = sorted(chance.randrange(partition.end + 1) for _ in range(2))
        within = [one for one in every if one.last_offset >= start and one.first_offset < end]
        assert loaded.aborted(start, end) == within
    assert loaded.last_stable_offset(partition.end) == partition.producers.last_stable_offset(partition.end)


def test_only_the_last_batches_of_plain_producers_are_looked_at() -> None:
    partition = Partition()
    for sequence in range(50):
        partition.produce(P, 0, sequence)
    (batch, *_) = scan(bytes(partition.log), "").batches
    loaded = partition.loaded()
    assert len(known(loaded)[P].batches) == 5
    assert loaded.check(_like(batch, 49)) is not None


def _like(batch: Batch, sequence: int) -> Batch:
    return replace(batch, base_sequence=sequence)
