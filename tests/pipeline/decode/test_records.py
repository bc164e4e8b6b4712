"""Records to rows without Spark: the columns say what the plain decoders say, of any bytes; nothing is lost."""

import json
from random import Random
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest

from coordinator.engine import records as engine
from coordinator.store.history_events import named
from coordinator.store.records import decode_record, encode_record
from pipeline.decode import records
from pipeline.decode.raw import raw_records
from pipeline.decode.records import decode, records_to_arrow
from pipeline.tables.schemas import KINDS, decoded_arrow
from tests.pipeline.decoded import plain
from wire.log.batch_scan import scan
from wire.log.batch_writer import encode_batch
from wire.log.columns import columns_of
from wire.log.compression import Codec
from wire.log.offset_columns import read_offset_key, read_offset_value
from wire.messages.embedded_protocol import (
    EmbeddedAssignment,
    EmbeddedSubscription,
    write_assignment,
    write_subscription,
)
from wire.messages.reader import DecodeError
from wire.messages.record_codec import RECORD_TYPES, UnknownKeyType, encode_key, encode_value
from wire.uuids import format_uuid

NOW_MS = 1_700_000_000_000
YEAR_1_MS, YEAR_10000_MS = -62_135_596_800_000, 253_402_300_800_000
ORDERS = UUID("00000000-0000-4000-8000-000000000001")
AGAIN = UUID("00000000-0000-4000-8000-000000000002")
Pair = tuple[bytes | None, bytes | None]


def rows_of(
    pairs: list[Pair], *, names: dict[UUID, str] | None = None, codec: Codec = Codec.NONE
) -> list[dict[str, Any]]:
    data = encode_batch(pairs, base_offset=0, timestamp=NOW_MS, codec=codec)
    rows: list[dict[str, Any]] = []
    for columns in columns_of(scan(data, "f").batches):
        for raw in raw_records(columns, source="__consumer_offsets-4", partition=4, file="f", base=100):
            for batch in plain(decode(raw, names or {})):
                assert batch.schema == decoded_arrow()
                batch.validate(full=True)
                rows += batch.to_pylist(maps_as_pydicts="strict")
    return sorted(rows, key=lambda row: row["offset"])


def row_of(record: Any, names: dict[UUID, str] | None = None) -> dict[str, Any]:
    (row,) = rows_of([encode_record(record)], names=names)
    return row


def refusal(key: bytes, value: bytes | None) -> str | None:
    try:
        decode_record(key, value)
    except (DecodeError, UnknownKeyType) as error:
        return str(error)
    return None


def offset_pairs(draw: Random, count: int) -> list[Pair]:
    texts = ["orders", "g", "zahlungen-für-Łódź-😀", "", "x" * 200]
    pairs: list[Pair] = []
    for _ in range(count):
        number = draw.choice([0, 1, 1, 1])
        key = encode_key(
            number, {"group": draw.choice(texts), "topic": draw.choice(texts), "partition": draw.randrange(9)}
        )
        fields = {
            "offset": draw.randrange(1 << 40),
            "leaderEpoch": draw.randrange(-1, 5),
            "metadata": draw.choice(texts),
            "commitTimestamp": draw.choice([NOW_MS, -1, (1 << 63) - 1]),
            "expireTimestamp": draw.choice([-1, NOW_MS]),
            "topicId": draw.choice([UUID(int=0), ORDERS]),
        }
        version = draw.randrange(RECORD_TYPES[number].value.newest + 1)
        value = encode_value(number, version, fields) if draw.random() < 0.9 else None
        if value is not None and draw.random() < 0.3:
            changed = bytearray(value)
            changed[draw.randrange(len(changed))] = draw.randrange(256)
            value = bytes(changed[: draw.choice([len(changed), draw.randrange(len(changed) + 1)])])
        if draw.random() < 0.1:
            broken = bytearray(key)
            broken[draw.randrange(len(broken))] = draw.randrange(256)
            key = bytes(broken)
        pairs.append((key, value))
    return pairs


@pytest.mark.parametrize("seed", range(6))
def test_offsets_of_any_bytes(seed: int) -> None:
    pairs = offset_pairs(Random(seed), 800)
    rows = rows_of(pairs, codec=Codec(seed % 5))
    assert [row["offset"] for row in rows] == list(range(800))
    for row, (key, value) in zip(rows, pairs, strict=True):
        assert key is not None
        number = int.from_bytes(key[:2], signed=True)
        if number not in (0, 1):
            continue
        refused = refusal(key, value)
        assert row["reason"] == refused
        if refused is not None:
            assert (row["file"], row["position"]) == ("f", 100)
            continue
        expected = read_offset_key(key)
        said = None if value is None else read_offset_value(value, number)
        assert (row["key_version"], row["kind"]) == (number, "offset")
        assert (row["group"], row["topic"], row["topic_partition"]) == expected
        assert row["tombstone"] == (value is None)
        fields = tuple(
            row[name] for name in ("value_version", "committed", "leader_epoch", "metadata", "topic_id")
        )
        if said is None:
            assert fields == (None,) * 5
            assert row["commit_time"] is None
        else:
            version, offset, epoch, metadata, commit_ms, _, topic_id = said
            name = None if topic_id is None else format_uuid(UUID(bytes=topic_id))
            assert fields == (version, offset, None if epoch < 0 else epoch, metadata, name)
            is_unknown = commit_ms == -1 or not YEAR_1_MS <= commit_ms < YEAR_10000_MS
            assert (row["commit_time"] is None) == is_unknown


def test_every_type_has_a_kind_and_every_kind_a_row() -> None:
    assert set(KINDS) == set(RECORD_TYPES)


@pytest.mark.parametrize("seed", range(4))
def test_any_bytes_under_any_key_are_rows_or_quarantined(seed: int) -> None:
    draw = Random(seed)
    pairs: list[Pair] = []
    for _ in range(1500):
        kind = draw.choice([-1, *range(26)]).to_bytes(2, signed=True)
        key = kind + b"\x00\x01g\x00\x01m"[: draw.randrange(7)]
        pairs.append((key, draw.choice([None, b"", b"\x00\x00" + draw.randbytes(draw.randrange(30))])))
    rows = rows_of(pairs)
    for row, (key, value) in zip(rows, pairs, strict=True):
        assert key is not None
        refused = refusal(key, value)
        assert row["reason"] == refused
        assert refused is not None or row["kind"] == KINDS[row["key_version"]]


def classic_row(kind: str, members: dict[str, tuple[bytes, bytes]], state_since_ms: int) -> dict[str, Any]:
    same: dict[str, Any] = {"instance": None, "client_id": "c", "host": "/10.0.0.1"}
    same |= {"rebalance_timeout_ms": 300, "session_timeout_ms": 45}
    values = tuple(
        engine.ClassicMemberValue(member=name, subscription=subscribed, assignment=assigned, **same)
        for name, (subscribed, assigned) in members.items()
    )
    fields: dict[str, Any] = {"protocol_type": kind, "generation": 7, "protocol": "range", "leader": "a"}
    value = engine.ClassicGroupValue(**fields, state_since_ms=state_since_ms, members=values)
    return row_of(engine.ClassicGroupRecord(group="g", value=value))


def test_a_classic_group() -> None:
    subscription = write_subscription(EmbeddedSubscription(version=1, topics=("orders", "payments")))
    assignment = write_assignment(EmbeddedAssignment(version=1, partitions={"orders": (2, 0)}))
    members = {"a": (subscription, assignment), "b": (subscription, b""), "c": (b"\x00", b"\x00")}
    row = classic_row("consumer", members, NOW_MS)
    assert (row["kind"], row["epoch"], row["assignor"], row["leader"]) == ("group", 7, "range", "a")
    assert [(entry["member"], entry["topics"], entry["assignment"]) for entry in row["members"]] == [
        ("a", ["orders", "payments"], {"orders": [0, 2]}),
        ("b", ["orders", "payments"], {}),
        ("c", None, None),
    ]
    assert row["state_since"].timestamp() * 1000 == NOW_MS


def test_members_of_another_protocol_type_are_not_looked_into() -> None:
    row = classic_row("connect", {"a": (bytes(6), bytes(6))}, -1)
    assert [(entry["topics"], entry["assignment"]) for entry in row["members"]] == [(None, None)]
    assert row["state_since"] is None


def test_partitions_by_name_or_id() -> None:
    value = engine.CurrentAssignmentValue(
        epoch=3,
        previous_epoch=2,
        state=engine.MemberState.UNREVOKED_PARTITIONS,
        assigned={ORDERS: (2, 1)},
        revoking={AGAIN: (0,)},
    )
    row = row_of(engine.CurrentAssignmentRecord(group="g", member="m", value=value), {ORDERS: "orders"})
    assert row["assignment"] == {"orders": [1, 2]}
    assert row["revoking"] == {format_uuid(AGAIN): [0]}
    assert (row["state"], row["epoch"], row["previous_epoch"]) == ("unrevoked_partitions", 3, 2)


def test_a_recreated_topic_has_one_name() -> None:
    names = {ORDERS: "orders", AGAIN: "orders"}
    assert named({ORDERS: (2, 0), AGAIN: (1, 0)}, names) == {"orders": [0, 1, 2]}


def test_a_member_of_the_classic_protocol_in_a_consumer_group() -> None:
    value = engine.ConsumerMemberValue(
        instance="i", rack="r", client_id="c", host="/h", topics=("orders",), regex="", rebalance_timeout_ms=5,
        assignor=None,
        classic=engine.ClassicMemberMetadata(session_timeout_ms=45, protocols=(engine.JoinProtocol("range", b"\x01"),)),
    )  # fmt: skip
    row = row_of(engine.ConsumerMemberRecord(group="g", member="m", value=value))
    shown = [row[name] for name in ("member_protocol", "regex", "topics", "rack")]
    assert shown == ["classic", None, ["orders"], "r"]
    fields = {"rebalanceTimeoutMs": 5, "sessionTimeoutMs": 45, "supportedProtocols": ["range"]}
    assert json.loads(row["fields"]) == fields


def test_a_target_of_an_older_broker_has_no_time() -> None:
    for assigned_ms, is_known in ((0, False), (NOW_MS, True)):
        value = engine.TargetEpochValue(epoch=4, assigned_ms=assigned_ms)
        row = row_of(engine.TargetEpochRecord(group="g", value=value))
        assert (row["state_since"] is not None) == is_known


def test_records_that_came_without_batches_are_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "_ROWS", 7)
    draw = Random(5)
    pairs = [*offset_pairs(draw, 200), (b"\x00\x03\x00\x01g", None), (None, None), (b"\x00\x99", b"")]
    batch = pa.RecordBatch.from_pydict(
        {
            "partition": pa.array([4] * len(pairs), pa.int32()),
            "offset": pa.array(range(len(pairs)), pa.int64()),
            "timestamp": pa.array([NOW_MS] * len(pairs), pa.int64()),
            "key": pa.array([key for key, _ in pairs], pa.binary()),
            "value": pa.array([value for _, value in pairs], pa.binary()),
        }
    )
    rows: list[dict[str, Any]] = []
    parts = records_to_arrow([batch.slice(3), batch.slice(0, 3)], source="__consumer_offsets", names={})
    for part in plain(parts):
        rows += part.to_pylist(maps_as_pydicts="strict")
    by_place = {"file": None, "position": None}
    expected = [row | by_place for row in rows_of(pairs)]
    assert sorted(rows, key=lambda row: row["offset"]) == expected
