"""The decoder of many offsets at once says what the plain one says, or leaves it to that one."""

import random
from uuid import UUID

import numpy as np
import pytest

from wire.java_text import JAVA
from wire.log.offset_columns import (
    NO_TOPIC_ID,
    NO_TYPE,
    key_types,
    read_offset_key,
    read_offset_keys,
    read_offset_value,
    read_offset_values,
)
from wire.log.varints import Ints, Octets
from wire.messages.reader import UNKNOWN_TAGS, DecodeError
from wire.messages.record_codec import UnknownKeyType, encode_key, encode_value

SEED = 848
TEXTS = ("", "orders", "zahlungen-für-Łódź-😀", "x" * 126, "y" * 127, "z" * 300, "w" * 32767)


def packed(parts: list[bytes]) -> tuple[Octets, Ints, Ints]:
    data, starts = bytearray(b"\x01\x02"), []
    for part in parts:
        starts.append(len(data))
        data += part + b"\x00\x7f"
    lengths = np.array([len(part) for part in parts], dtype=np.int64)
    begins = np.array(starts, dtype=np.int64)
    return np.frombuffer(bytes(data), dtype=np.uint8), begins, begins + lengths


def text(octets: Octets, start: int, end: int) -> str:
    return octets[start:end].tobytes().decode("utf-8", JAVA)


def values() -> list[bytes]:
    draw = random.Random(SEED)
    made = []
    for version in range(5):
        for metadata in TEXTS:
            for topic_id in (UUID(int=0), UUID(int=draw.getrandbits(128))):
                fields = {
                    "offset": draw.choice([0, -1, 5, (1 << 63) - 1, -(1 << 63)]),
                    "leaderEpoch": draw.choice([-1, 0, 7, (1 << 31) - 1]),
                    "metadata": metadata,
                    "commitTimestamp": draw.choice([0, -1, 1_700_000_000_000, (1 << 63) - 1]),
                    "expireTimestamp": draw.choice([-1, 1_800_000_000_000]),
                    "topicId": topic_id,
                }
                made.append(encode_value(1, version, fields))
                if version == 4:
                    made.append(encode_value(1, version, fields | {UNKNOWN_TAGS: [(9, b"what is new")]}))
    return made


def mutated(parts: list[bytes], count: int) -> list[bytes]:
    draw = random.Random(SEED + 1)
    made = []
    for _ in range(count):
        part = bytearray(draw.choice(parts))
        for _ in range(draw.randrange(3)):
            if part:
                part[draw.randrange(min(len(part), 40))] = draw.choice(
                    [0, 1, 2, 3, 4, 0x10, 0x7F, 0x80, 0xFF]
                )
        del part[draw.choice([len(part), len(part), draw.randrange(len(part) + 1)]) :]
        made.append(bytes(part) + draw.choice([b"", b"", b"\x00", bytes(40)]))
    return made


def test_values_equal_those_of_the_plain_decoder() -> None:
    parts = values() + mutated([part for part in values() if len(part) < 400], 20_000)
    octets, starts, ends = packed(parts)
    columns = read_offset_values(octets, starts, ends)
    for lane, part in enumerate(parts):
        if not columns.quick[lane]:
            continue
        version, offset, epoch, metadata, commit_ms, expire_ms, topic_id = read_offset_value(part)
        id_start = int(columns.id_start[lane])
        named = None if id_start == NO_TOPIC_ID else octets[id_start : id_start + 16].tobytes()
        assert (
            columns.version[lane],
            columns.offset[lane],
            columns.leader_epoch[lane],
            text(octets, columns.metadata_start[lane], columns.metadata_end[lane]),
            columns.commit_ms[lane],
            -1,
            named,
        ) == (version, offset, epoch, metadata, commit_ms, expire_ms, topic_id)


def test_values_that_brokers_write_are_read_at_once() -> None:
    fields = {"offset": 7, "leaderEpoch": 3, "metadata": "", "commitTimestamp": 5, "topicId": UUID(int=1)}
    parts = [
        encode_value(1, 3, fields),
        encode_value(1, 4, fields),
        encode_value(1, 4, fields | {"topicId": UUID(int=0)}),
        encode_value(1, 4, fields | {"metadata": "m" * 126}),
        encode_value(1, 4, fields | {"metadata": "m" * 127}),
        encode_value(1, 4, fields | {"metadata": "m" * 4096}),
    ]
    assert read_offset_values(*packed(parts)).quick.all()


def test_keys_equal_those_of_the_plain_decoder() -> None:
    draw = random.Random(SEED)
    keys = [
        encode_key(
            draw.choice([0, 1]), {"group": group, "topic": topic, "partition": draw.randrange(-3, 1 << 31)}
        )
        for group in TEXTS
        for topic in TEXTS
    ]
    parts = keys + mutated([key for key in keys if len(key) < 400], 20_000)
    octets, starts, ends = packed(parts)
    columns = read_offset_keys(octets, starts, ends)
    assert columns.quick[: len(keys)].all()
    for lane, part in enumerate(parts):
        if columns.quick[lane]:
            assert read_offset_key(part) == (
                text(octets, columns.group_start[lane], columns.group_end[lane]),
                text(octets, columns.topic_start[lane], columns.topic_end[lane]),
                columns.partition[lane],
            )
        else:
            with pytest.raises((DecodeError, UnknownKeyType)):
                read_offset_key(part)


def test_bounds_ascend_in_every_lane() -> None:
    parts = mutated(values(), 5_000)
    octets, starts, ends = packed(parts)
    columns = read_offset_values(octets, starts, ends)
    keys = read_offset_keys(octets, starts, ends)
    assert (starts <= columns.metadata_start).all()
    assert (columns.metadata_start <= columns.metadata_end).all()
    assert (columns.metadata_end <= ends).all()
    assert (starts <= keys.group_start).all()
    assert (keys.group_start <= keys.group_end).all()
    assert (keys.group_end <= keys.topic_start).all()
    assert (keys.topic_start <= keys.topic_end).all()
    assert (keys.topic_end <= ends).all()


def test_a_key_of_another_type_is_refused() -> None:
    with pytest.raises(DecodeError, match=r"^a key of type 2 is not that of an offset$"):
        read_offset_key(encode_key(2, {"group": "g"}))
    with pytest.raises(UnknownKeyType):
        read_offset_key(b"\0\x63\0\1g\0\1t\0\0\0\0")


def test_types_of_keys() -> None:
    octets, starts, ends = packed([b"", b"\x00", b"\x00\x01", b"\x00\x17zz", b"\xff\xff", b"\x80\x00"])
    assert key_types(octets, starts, ends).tolist() == [NO_TYPE, NO_TYPE, 1, 23, -1, -(1 << 15)]
