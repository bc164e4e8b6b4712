"""Untrusted segments: their records, a reported cut or damage, in bounded memory and time. KOHORT_FUZZ_CASES says how
many."""

import resource
import time
from pathlib import Path
from random import Random

from coordinator.store.directory_files import read_meta_properties
from coordinator.store.partition_files import parse_partition_name, read_leader_epochs, read_topic_id
from tests.coordinator.store.tampering import sealed, with_field, with_payload
from tests.support.long import cases
from tests.wire.log.random_batches import Made, made_log
from tests.wire.log.readers import by_columns, one_by_one, outcome
from wire.log.batch_header import HEADER_BYTES
from wire.log.compression import MOST_BYTES, Codec, compress
from wire.log.control_records import MalformedControlRecord, control_type, coordinator_epoch
from wire.log.errors import DamagedLog
from wire.log.indexes import aborted_transactions
from wire.log.log_records import records_of
from wire.log.segments import Segment, list_segments, parse_segment, read_segment, segment_name

CASES = cases("KOHORT_FUZZ_CASES", 1_000, many=1_000_000)
SLOWEST_S = 20.0
MOST_MEGABYTES = 600  # a batch that expands to the limit, its records, and the arrays of a chunk
PATH = Path(segment_name(0))
LOGS = 200
BOMB_EVERY = 5000

_rng = Random(11)
_POOL = [made_log(_rng, _rng.randrange(1, 8), most_records=12) for _ in range(LOGS)]
_BOMBS = {
    codec: compress(codec, bytes(MOST_BYTES + 1))
    for codec in (Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD)
}


def test_nothing_but_damage_and_cuts() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    slowest = 0.0
    whole = torn = damaged = 0
    for seed in range(CASES):
        data = _case(seed)
        started = time.monotonic()
        try:
            segment = parse_segment(PATH, data)
        except DamagedLog as error:
            damaged += 0 <= error.position <= len(data)
        except Exception as error:
            raise AssertionError(f"case {seed}") from error
        else:
            whole += segment.torn is None
            torn += segment.torn is not None
            _read_all(segment, seed)
        slowest = max(slowest, time.monotonic() - started)
    assert whole + torn + damaged == CASES
    assert min(whole, torn, damaged) > CASES // 50
    assert slowest < SLOWEST_S
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown >> 10 < MOST_MEGABYTES


def test_small_untrusted_files(tmp_path: Path) -> None:
    honest = {
        "partition.metadata": (b"version: 0\ntopic_id: rLqC2mAaSwSTp_K8YEvapg", read_topic_id),
        "leader-epoch-checkpoint": (b"0\n2\n0 0\n3 1500\n", read_leader_epochs),
        "meta.properties": (b"#\nversion=1\nnode.id=1\ncluster.id=a\\u0041b\\\n c\n", read_meta_properties),
    }
    refused = 0
    for seed in range(CASES // 10):
        rng = Random(seed)
        name = rng.choice(list(honest))
        content, read = honest[name]
        (tmp_path / name).write_bytes(_changed(rng, content))
        try:
            read(tmp_path)
        except DamagedLog:
            refused += 1
        except Exception as error:
            raise AssertionError(f"case {seed}") from error
    assert refused > CASES // 50


def test_untrusted_directories(tmp_path: Path) -> None:
    endings = (
        ".log",
        ".log.swap",
        ".log.cleaned",
        ".log.deleted",
        ".index",
        ".index.cleaned",
        ".timeindex.swap",
        "",
    )
    for seed in range(CASES // 30):
        rng = Random(seed)
        for path in tmp_path.iterdir():
            path.unlink()
        for _ in range(rng.randrange(6)):
            name = f"{rng.randrange(30):0{rng.choice([20, 20, 20, 19, 21])}d}{rng.choice(endings)}"
            (tmp_path / name).write_bytes(_case(rng.randrange(1 << 30)) if rng.random() < 0.5 else b"")
            parse_partition_name(name)
        try:
            for path in list_segments(tmp_path):
                read_segment(path)
        except DamagedLog:
            continue
        except Exception as error:
            raise AssertionError(f"case {seed}") from error


def _read_all(segment: Segment, seed: int) -> None:
    """Both readers give the same or refuse in the same words; what else goes through batches holds, too."""
    batches = segment.batches
    try:
        fast = outcome(by_columns, batches)
        assert fast == outcome(one_by_one, batches)
        if isinstance(fast, list):
            _index(segment)
    except Exception as error:
        raise AssertionError(f"case {seed}") from error


def _index(segment: Segment) -> None:
    for batch in segment.batches:
        for record in records_of(batch, segment.data) if batch.is_control else ():
            try:
                control_type(record)
                coordinator_epoch(record.value)
            except MalformedControlRecord:
                continue
    list(aborted_transactions([segment.batches]))


def _case(seed: int) -> bytes:
    rng = Random(seed)
    log = rng.choice(_POOL)
    if rng.random() < 0.4:
        return _changed(rng, b"".join(made.encoded for made in log))
    at = rng.randrange(len(log))
    parts = [made.encoded for made in log]
    parts[at] = _lying(rng, log[at]) if rng.randrange(BOMB_EVERY) else _bomb(rng, log[at])
    return b"".join(parts)


def _lying(rng: Random, made: Made) -> bytes:
    batch = made.encoded
    kind = rng.randrange(4)
    if kind == 0:
        field, bits = rng.choice(
            [
                ("attributes", 16),
                ("count", 32),
                ("last_offset_delta", 32),
                ("base_timestamp", 64),
                ("max_timestamp", 64),
                ("base_offset", 64),
                ("base_sequence", 32),
                ("producer_id", 64),
            ]
        )
        return with_field(batch, field, _number(rng, bits))
    if kind == 1 and made.records and not made.batch.codec:
        codec = rng.choice(list(Codec))
        payload = _changed(rng, batch[HEADER_BYTES:])
        return with_payload(
            payload,
            count=len(made.records),
            base_offset=made.batch.base_offset,
            last_offset_delta=made.batch.last_offset_delta,
            codec=codec,
        )
    return sealed(batch[:HEADER_BYTES] + _changed(rng, batch[HEADER_BYTES:]))


def _bomb(rng: Random, made: Made) -> bytes:
    codec = rng.choice(list(_BOMBS))
    return with_payload(
        b"", count=1, base_offset=made.batch.base_offset, codec=codec, compressed=_BOMBS[codec]
    )


def _changed(rng: Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        at = rng.randrange(len(changed) + 1)
        size = rng.choice([1, 1, 2, 4, 8, rng.randrange(1, 100)])
        kind = rng.randrange(7)
        if kind == 0:
            del changed[at:]
        elif kind == 1:
            del changed[at : at + size]
        elif kind == 2:
            changed[at:at] = rng.randbytes(size)
        elif kind == 3:
            changed[at : at + size] = rng.choice([b"\0", b"\xff", b"\x7f", b"\x80", b"\x02"]) * size
        elif kind == 4:
            changed[at:at] = changed[max(0, at - rng.randrange(300)) : at]
        elif kind == 5:
            changed += rng.choice([bytes(size), rng.randbytes(size)])
        elif changed:
            changed[at % len(changed)] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _number(rng: Random, bits: int) -> int:
    """A signed number that some arithmetic might not like."""
    edge = 1 << (bits - 1)
    return rng.choice(
        [0, 1, -1, 2, 5, 7, edge - 1, -edge, edge - 2, rng.randrange(-edge, edge), rng.randrange(300)]
    )
