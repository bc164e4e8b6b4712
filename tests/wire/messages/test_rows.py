"""Arrays of structs of a fixed width, read as a whole: the same as one by one, whatever the bytes are."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire.messages.reader import OBJECTS, DecodeError, message_reader
from wire.messages.rows import StructRows, columns_of
from wire.messages.schemas.offsets import LIST_OFFSETS, OFFSET_FETCH
from wire.messages.writer import message_writer

ONE_BY_ONE = replace(OBJECTS, rows=False)
INT32, INT64 = st.integers(-(2**31), 2**31 - 1), st.integers(-(2**63), 2**63 - 1)
VERSIONS = (1, 5, 6, 7)
"""Of OffsetFetch, with and without leader epochs, before and after compact strings."""


@st.composite
def answers(draw: st.DrawFn) -> tuple[int, bytes]:
    """An answer to OffsetFetch in a version, mostly of partitions without metadata."""
    version = draw(st.sampled_from(VERSIONS))
    metadata = st.just("") if draw(st.booleans()) else st.sampled_from(["", "", "m", None])
    partition = st.fixed_dictionaries(
        {
            "partition_index": INT32,
            "committed_offset": INT64,
            "committed_leader_epoch": INT32,
            "metadata": metadata,
            "error_code": st.sampled_from([0, 0, 14]),
        }
    )
    topic = st.fixed_dictionaries({"name": st.just("t"), "partitions": st.lists(partition, max_size=30)})
    out = bytearray()
    message_writer(OFFSET_FETCH.response, version)(out, {"topics": draw(st.lists(topic, max_size=3))})
    return version, bytes(out)


def read(version: int, content: bytes, *, rows: bool) -> Any:
    try:
        return message_reader(OFFSET_FETCH.response, version, OBJECTS if rows else ONE_BY_ONE)(content, 0)
    except DecodeError as error:
        return str(error)


@given(answers())
def test_rows_equal_structs(answer: tuple[int, bytes]) -> None:
    fast, slow = (read(*answer, rows=rows) for rows in (True, False))
    assert fast == slow
    names = ("partition_index", "committed_offset", "committed_leader_epoch", "metadata", "error_code")
    for one, other in zip(fast[0].topics, slow[0].topics, strict=True):
        assert columns_of(one.partitions, *names) == columns_of(other.partitions, *names)
        assert repr(one.partitions) == repr(other.partitions)
        for at, partition in enumerate(other.partitions):
            assert one.partitions[at] == partition
            assert one.partitions[at].metadata == partition.metadata
        assert one.partitions[1:4] == other.partitions[1:4]
        assert hash(one.partitions) == hash(other.partitions)


@given(answers(), st.data())
def test_broken_bytes_are_refused_alike(answer: tuple[int, bytes], data: st.DataObject) -> None:
    version, content = answer
    at = data.draw(st.integers(0, len(content) - 1))
    broken = content[:at] + data.draw(st.binary(max_size=3)) + content[at + data.draw(st.integers(0, 3)) :]
    assert read(version, broken, rows=True) == read(version, broken, rows=False)


@pytest.mark.parametrize("version", [1, 6])
def test_ends_of_logs_are_rows(version: int) -> None:
    partitions = [
        {"partition_index": p, "error_code": 0, "timestamp": -1, "offset": p * 7, "leader_epoch": -1}
        for p in range(50)
    ]
    out = bytearray()
    answer = {"throttle_time_ms": 0, "topics": [{"name": "t", "partitions": partitions}]}
    message_writer(LIST_OFFSETS.response, version)(out, answer)
    read, end = message_reader(LIST_OFFSETS.response, version, OBJECTS)(bytes(out), 0)
    assert end == len(out)
    assert isinstance(read.topics[0].partitions, StructRows)
    assert columns_of(read.topics[0].partitions, "offset") == [tuple(range(0, 350, 7))]
