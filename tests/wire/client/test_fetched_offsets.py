"""Answers to OffsetFetch read quickly are what kio makes of the same bytes."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kio.schema.errors import ErrorCode

from groups.model import CommittedOffset
from wire.client.answers import Failure, refusal
from wire.client.calls.fetched_offsets import GroupOffsets, read_fetched_offsets
from wire.messages.decode import DecodeError, decode
from wire.messages.encode import encode

texts = st.text(max_size=20) | st.sampled_from(["größe", "x" * 126, "x" * 127, "x" * 300])
codes = st.sampled_from([ErrorCode.none, ErrorCode.topic_authorization_failed, ErrorCode.not_coordinator])


@st.composite
def responses(draw: st.DrawFn) -> Any:
    module = import_module(f"kio.schema.offset_fetch.v{draw(st.sampled_from([8, 9]))}.response")

    def partition(index: int) -> Any:
        return module.OffsetFetchResponsePartitions(
            partition_index=index,
            committed_offset=draw(st.integers(-1, 2**63 - 1)),
            committed_leader_epoch=draw(st.integers(-1, 2**31 - 1)),
            metadata=draw(texts | st.none()),
            error_code=draw(codes),
        )

    def topic(name: str) -> Any:
        indexes = draw(st.lists(st.integers(0, 2**31 - 1), max_size=4, unique=True))
        return module.OffsetFetchResponseTopics(name=name, partitions=tuple(map(partition, indexes)))

    def group(name: str) -> Any:
        topics = tuple(map(topic, draw(st.lists(texts, max_size=3, unique=True))))
        return module.OffsetFetchResponseGroup(group_id=name, topics=topics, error_code=draw(codes))

    groups = tuple(map(group, draw(st.lists(texts, max_size=3, unique=True))))
    return module.OffsetFetchResponse(throttle_time=timedelta(milliseconds=7), groups=groups)


def obvious(response: Any) -> dict[str, GroupOffsets | Failure]:
    """The same from kio's objects."""
    return {group.group_id: _group(group) for group in response.groups}


def _group(group: Any) -> GroupOffsets | Failure:
    if group.error_code:
        return refusal(group.error_code)
    offsets: dict[str, dict[int, CommittedOffset]] = {}
    failed = {}
    for topic in group.topics:
        for told in topic.partitions:
            if told.error_code:
                failed[topic.name, told.partition_index] = refusal(told.error_code)
            else:
                epoch = told.committed_leader_epoch
                offsets.setdefault(topic.name, {})[told.partition_index] = CommittedOffset(
                    offset=told.committed_offset,
                    leader_epoch=epoch if epoch >= 0 else None,
                    metadata=told.metadata or "",
                )
    return GroupOffsets(offsets=offsets, failed=failed)


@given(responses())
def test_as_kio_reads_them(response: Any) -> None:
    written = b"\0" + encode(response)
    told, end = read_fetched_offsets(written)
    assert (told, end) == (obvious(response), len(written))
    assert list(told) == [group.group_id for group in response.groups]


@given(responses(), st.data())
def test_what_is_cut_off_is_refused(response: Any, data: st.DataObject) -> None:
    written = b"\0" + encode(response)
    cut = written[: data.draw(st.integers(0, len(written) - 1))]
    with pytest.raises(DecodeError):
        read_fetched_offsets(cut)


@given(responses(), st.data())
def test_one_wrong_byte_is_read_as_kio_s_reader_reads_it(response: Any, data: st.DataObject) -> None:
    written = bytearray(b"\0" + encode(response))
    written[data.draw(st.integers(1, len(written) - 1))] = data.draw(st.integers(0, 255))
    try:
        wanted, end = decode(type(response), bytes(written), 1)
    except DecodeError:
        wanted = None
    if wanted is None:
        with pytest.raises(DecodeError):
            read_fetched_offsets(bytes(written))
    else:
        assert read_fetched_offsets(bytes(written)) == (obvious(wanted), end)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    try:
        _, end = read_fetched_offsets(content)
    except DecodeError:
        return
    assert end <= len(content)


def test_tagged_fields_of_a_newer_broker_are_skipped() -> None:
    tags = bytes([2, 0, 1, 9, 5, 2, 8, 8])
    partition = (
        (3).to_bytes(4, "big") + (7).to_bytes(8, "big") + (-1).to_bytes(4, "big", signed=True) + b"\1\0\0"
    )
    topic = b"\7orders" + b"\2" + partition + tags + tags
    group = b"\2g" + b"\2" + topic + b"\0\0" + tags
    answer = tags + bytes(4) + b"\2" + group + tags
    offsets = {"orders": {3: CommittedOffset(offset=7, leader_epoch=None, metadata="")}}
    assert read_fetched_offsets(answer) == ({"g": GroupOffsets(offsets=offsets, failed={})}, len(answer))
