"""Untrusted log directories: with any content, readable parts are read, and nothing is raised.

KOHORT_FUZZ_CASES is the number of directories, with 100 cases each.
"""

import random
import tracemalloc
from pathlib import Path

from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.store.loader import LoadedLog, load
from tests.coordinator.store.tampering import sealed
from tests.support.long import cases
from tests.wire.log.random_records import damaged, record_of_few
from wire.log import compression
from wire.log.batch_header import HEADER_BYTES
from wire.log.batch_writer import encode_batch
from wire.log.compression import Codec
from wire.log.control_records import ControlType, end_of_transaction

CASES = cases("KOHORT_FUZZ_CASES", 5_000, many=1_000_000)
MOST_BYTES = 2 * compression.MOST_BYTES
"""The memory limit: a batch of any size may decompress to half of it, and is copied behind another one."""


def test_any_directory_can_be_read(tmp_path: Path) -> None:
    rng = random.Random(11)
    groups = problems = 0
    for _ in range(CASES // 100):
        for number in range(2):
            write_log(rng, tmp_path / f"__consumer_offsets-{number}")
        loaded = load([tmp_path], as_of_ms=rng.choice((None, None, 0, 5, 1 << 62)))
        groups += _look_at(loaded)
        problems += len(loaded.problems)
    assert groups > CASES // 100
    assert problems > CASES // 500


def test_memory_is_bounded_by_the_bytes(tmp_path: Path) -> None:
    rng = random.Random(12)
    for _ in range(CASES // 1000):
        write_log(rng, tmp_path / "__consumer_offsets-0")
        tracemalloc.start()
        load([tmp_path])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < MOST_BYTES


def _look_at(loaded: LoadedLog) -> int:
    """Request all values that are derived from records on demand. Returns the number of groups."""
    for group in loaded.state.groups.values():
        assert isinstance(group, ClassicGroup | ConsumerGroup)
        assert len(group.in_order()) == len(group.members)
        assert group.state.value
        group.subscribed_to("t")
        group.tombstones()
    assert all(group.described({}).state for group in loaded.others.values())
    assert loaded.topics.notices == ()
    return len(loaded.state.groups) + len(loaded.others)


def write_log(rng: random.Random, directory: Path) -> None:
    directory.mkdir(exist_ok=True)
    for old in directory.iterdir():
        old.unlink()
    offset = 0
    for _ in range(rng.choice((1, 1, 2))):
        start, out = offset, b""
        for _ in range(rng.randrange(1, 5)):
            batch, count = _batch(rng, offset)
            out += batch
            offset += count
        if rng.random() < 0.2:
            out = damaged(rng, out)
        (directory / f"{start:020d}.log").write_bytes(out)


def _batch(rng: random.Random, offset: int) -> tuple[bytes, int]:
    producer = rng.choice((-1, -1, -1, 3, 4))
    if producer > 0 and rng.random() < 0.5:
        mark = end_of_transaction(rng.choice((ControlType.COMMIT, ControlType.ABORT)), 0)
        batch = encode_batch(
            [mark], base_offset=offset, timestamp=rng.randrange(9), producer_id=producer, control=True
        )
        return _tampered(rng, batch), 1
    records = [_record(rng) for _ in range(rng.randrange(1, 12))]
    batch = encode_batch(
        records,
        base_offset=offset,
        timestamp=rng.randrange(9),
        producer_id=producer,
        codec=rng.choice((Codec.NONE, Codec.NONE, *Codec)),
    )
    return _tampered(rng, batch), len(records)


def _tampered(rng: random.Random, batch: bytes) -> bytes:
    if rng.random() < 0.9:
        return batch
    return sealed(batch[:HEADER_BYTES] + damaged(rng, batch[HEADER_BYTES:]))


def _record(rng: random.Random) -> tuple[bytes | None, bytes | None]:
    key, value = record_of_few(rng)
    if rng.random() < 0.02:
        key = damaged(rng, key)
    if value is not None and rng.random() < 0.02:
        value = damaged(rng, value)
    return key, value
