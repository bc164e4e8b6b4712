"""Small logs of the coordinator, written by Kohort, for the commands that read logs."""

from pathlib import Path

from coordinator.engine import records as stored
from coordinator.store.records import encode_record
from tests.coordinator.store.logs import Pairs, Written
from wire.log.compression import Codec
from wire.log.control_records import ControlType
from wire.messages.record_codec import encode_key

PARTITION = "__consumer_offsets-0"
START_MS = 1_767_225_600_000
"""2026-01-01T00:00:00Z: the time of the first batch; the next one is a second later."""
UNKNOWN_TYPE = 99


def commit(group: str, topic: str, partition: int, offset: int, *, metadata: str = "") -> stored.OffsetRecord:
    value = stored.StoredOffset(offset=offset, leader_epoch=0, metadata=metadata, commit_ms=START_MS + offset)
    return stored.OffsetRecord(group=group, topic=topic, partition=partition, value=value)


def pairs(*records: stored.Record) -> Pairs:
    return [encode_record(record) for record in records]


def small_log(codec: Codec = Codec.NONE) -> Written:
    """A log in two segments with something of everything: 14 records in 8 batches."""
    log = Written()
    log.batch(
        pairs(commit("pay", "orders", 0, 10), commit("pay", "orders", 1, 20)), timestamp=START_MS, codec=codec
    )
    classic = stored.ClassicGroupValue(
        protocol_type="consumer", generation=4, protocol=None, leader=None, state_since_ms=START_MS
    )
    groups: list[stored.Record] = [
        stored.ConsumerGroupRecord(group="new", value=stored.ConsumerGroupValue(epoch=3)),
        stored.ClassicGroupRecord(group="old", value=classic),
    ]
    log.batch(pairs(*groups), timestamp=START_MS + 1000, codec=codec)
    odd = commit("zahlungen-😀", "größe", 0, 1, metadata='a"b\\\n')
    log.batch(pairs(odd), timestamp=START_MS + 2000, codec=codec)
    opened = pairs(commit("tx", "orders", 0, 5), commit("tx", "orders", 1, 6))
    log.batch(opened, timestamp=START_MS + 3000, transaction_of=7)
    log.roll()
    log.end(7, ControlType.COMMIT, timestamp=START_MS + 4000)
    log.batch(pairs(commit("tx", "orders", 2, 7)), timestamp=START_MS + 5000, transaction_of=8)
    log.end(8, ControlType.ABORT, timestamp=START_MS + 6000)
    gone = stored.OffsetRecord(group="pay", topic="orders", partition=1, value=None)
    strange = [(UNKNOWN_TYPE.to_bytes(2, "big") + b"?", b"!"), (MALFORMED, b"!")]
    log.batch(
        [*pairs(gone, commit("pay", "orders", 0, 11)), *strange], timestamp=START_MS + 7000, codec=codec
    )
    return log


MALFORMED = encode_key(1, {"group": "pay", "topic": "orders", "partition": 2})[:-2]
"""A key of an offset that is cut off."""


def save_log(log: Written, directory: Path) -> Path:
    """Write it as partition 0 of a broker's log directory; the directory."""
    log.save(directory / PARTITION)
    return directory
