"""Our reader and writer of kio's messages against kio's own, for every API and version the client speaks."""

import subprocess
import sys
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kio.schema.api_versions.v3.response import ApiVersionsResponse
from kio.schema.errors import ErrorCode
from kio.schema.list_groups.v5.response import ListGroupsResponse
from kio.serial import entity_reader, entity_writer
from kio.static.primitive import Records, i32Timedelta

from tests.conformance.messages import build, request_type
from wire.messages.apis import ALL_APIS, LIST_OFFSETS, Api
from wire.messages.decode import DecodeError, Frame, decode
from wire.messages.encode import encode, write_uvarint

VERSIONS = [(api, version) for api in ALL_APIS for version in range(api.minimum, api.maximum + 1)]
TOO_LONG = "a duration that kio cannot read"
NO_TIME = i32Timedelta.parse(timedelta(0))
# What a fetched partition holds is bytes to the codec, and to hypothesis a type it cannot make up.
st.register_type_strategy(Records, st.binary().map(Records.parse))
slow = settings(max_examples=6, suppress_health_check=list(HealthCheck))


class Buffer(bytearray):
    """What kio's writers want of a file."""

    def write(self, data: bytes) -> None:
        self.extend(data)


def kio_bytes(message: Any) -> bytes:
    out = Buffer()
    entity_writer(type(message))(out, message)  # type: ignore[arg-type]
    return bytes(out)


def kio_reads(kind: Any, written: bytes) -> Any:
    """What kio reads; TOO_LONG for the longest durations, which it writes and does not read back."""
    try:
        return entity_reader(kind)(written, 0)
    except ValueError as error:
        if "timedelta" in str(error):
            return TOO_LONG
        raise


@pytest.mark.parametrize(("api", "version"), VERSIONS, ids=lambda value: getattr(value, "name", value))
@slow
@given(st.data())
def test_same_bytes_and_same_objects_as_kio(api: Api, version: int, data: st.DataObject) -> None:
    for kind in (api.request_type(version), api.response_type(version)):
        message = data.draw(st.from_type(kind))
        written = kio_bytes(message)
        assert encode(message) == written
        assert decode(kind, written) == (message, len(written))
        assert kio_reads(kind, written) in (TOO_LONG, (message, len(written)))


@slow
@given(st.sampled_from(VERSIONS), st.binary(max_size=300))
def test_any_bytes_are_a_message_or_a_decode_error(which: tuple[Api, int], data: bytes) -> None:
    api, version = which
    with suppress(DecodeError):
        decode(api.response_type(version), data)


@slow
@given(st.data())
def test_damaged_answers_are_a_message_or_a_decode_error(data: st.DataObject) -> None:
    api, version = data.draw(st.sampled_from(VERSIONS))
    written = bytearray(kio_bytes(data.draw(st.from_type(api.response_type(version)))))
    position = data.draw(st.integers(0, len(written) - 1))
    written[position] = data.draw(st.integers(0, 255))
    with suppress(DecodeError):
        decode(api.response_type(version), bytes(written))
    with pytest.raises(DecodeError):
        decode(api.response_type(version), bytes(written[: data.draw(st.integers(0, 1))]))


# ErrorCode 0, then an array (ApiVersions: of api keys) that announces 2^32 - 2 elements.
LIE = bytes.fromhex("0000feffffff0f") + bytes(50)


@pytest.mark.parametrize(
    ("length", "what"),
    [
        ("feffffff07", "2147483645 elements are announced at byte 7, 50 bytes are left"),
        ("34", "51 elements are announced at byte 3, 50 bytes are left"),
        ("feffffff0f", "a null at byte 7 where none may be"),  # -2 to Java, and any negative length is a null
        ("00", "a null at byte 3 where none may be"),
        ("ffffffffff0f", "a varint at byte 6 does not end"),
    ],
)
def test_a_lying_array_length_is_an_error(length: str, what: str) -> None:
    with pytest.raises(DecodeError, match=what):
        decode(ApiVersionsResponse, b"\0\0" + bytes.fromhex(length) + bytes(50))


def test_a_frame_gives_no_more_elements_than_it_is_allowed() -> None:
    kind = request_type("OffsetCommit", 9)
    partitions = [{"partition_index": number, "committed_metadata": None} for number in range(3)]
    content = encode(build(kind, {"topics": [{"name": "t", "partitions": partitions}] * 2}))
    assert decode(kind, Frame.of(content, 8)) == decode(kind, content)
    with pytest.raises(DecodeError, match="its arrays have 1 elements more than are read"):
        decode(kind, Frame.of(content, 7))


def test_a_frame_counts_the_elements_of_arrays_of_numbers() -> None:
    kind = request_type("OffsetFetch", 2)
    content = encode(build(kind, {"topics": [{"name": "t", "partition_indexes": [1, 2, 3]}]}))
    decode(kind, Frame.of(content, 4))
    with pytest.raises(DecodeError, match="1 elements more"):
        decode(kind, Frame.of(content, 3))


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("61ff62", "a\ufffdb"),
        ("e282", "\ufffd"),
        ("c080e08080f0808080f5f8", "\ufffd" * 11),
        ("e228a1f09028bcf0288cbcf4908080", "\ufffd(\ufffd\ufffd(\ufffd\ufffd(\ufffd\ufffd" + "\ufffd" * 4),
        ("eda0bdedb880", "\ufffd\ufffd"),  # a surrogate pair as CESU-8 has it: Python's own count is six
        ("eda0", "\ufffd"),
        ("eda041", "\ufffdA"),
        ("ed9f41", "\ufffdA"),
        ("ed9fbf", "\ud7ff"),
    ],
)
def test_broken_utf_8_is_read_as_java_reads_it(content: str, text: str) -> None:
    """Each of them was sent to a broker as the key of a FindCoordinator, and came back so."""
    kind, given = request_type("DescribeGroups", 6), bytes.fromhex(content)
    for padding in (b"", b"a" * 200):
        name = given + padding
        length = bytearray()
        write_uvarint(length, len(name) + 1)
        written = encode(build(kind, {"groups": ["x"]})).replace(b"\x02x", length + name)
        message, end = decode(kind, written)
        assert (message.groups, end) == ((text + padding.decode(),), len(written))


def test_a_string_is_no_longer_than_kafka_reads_it() -> None:
    kind = request_type("DescribeGroups", 6)
    longest, longer = (build(kind, {"groups": ["x" * size]}) for size in (32767, 32768))
    written = encode(longest)
    assert decode(kind, written)[0] == longest
    with pytest.raises(ValueError, match="a string of 32768 bytes"):
        encode(longer)
    with pytest.raises(DecodeError, match="a string of 32768 bytes at byte 1"):
        decode(kind, written.replace(b"\x80\x80\x02", b"\x81\x80\x02") + b"x")


@pytest.mark.parametrize("length", [-1, -2, -(2**31)])
def test_a_negative_length_is_a_null_where_there_may_be_one(length: int) -> None:
    content = length.to_bytes(4, "big", signed=True)
    assert decode(request_type("Metadata", 1), content)[0].topics is None
    with pytest.raises(DecodeError, match="a null at byte 4 where none may be"):
        decode(request_type("DescribeGroups", 0), content)


@pytest.mark.parametrize("retention", [2**63 - 1, -(2**63)])
def test_a_time_beyond_what_python_holds_is_the_longest(retention: int) -> None:
    content = (
        bytes.fromhex("000167" + "ffffffff" + "0000") + retention.to_bytes(8, "big", signed=True) + bytes(4)
    )
    message, _ = decode(request_type("OffsetCommit", 2), content)
    assert abs(message.retention_time) > timedelta(days=999_999_998)
    assert (message.retention_time > timedelta(0)) == (retention > 0)


def test_a_tagged_field_that_leads_backwards_is_an_error() -> None:
    endless = bytes.fromhex("0000" + "01" + "00000000" + "02" + "01" + "f8ffffff0f") + bytes(20)
    with pytest.raises(DecodeError, match="tagged field 1 announces -8 bytes"):
        decode(ApiVersionsResponse, endless)


def test_a_message_that_no_frame_holds_is_not_written() -> None:
    request = build(request_type("Metadata", 1), {"topics": [{"name": "t" * 32000}] * 4000})
    with pytest.raises(ValueError, match="a message of more than 104857600 bytes"):
        encode(request)


def test_kio_itself_would_end_the_process() -> None:
    """The reason for a reader of our own: when kio mends this, it can go."""
    script = (
        "from kio.serial import entity_reader\n"
        "from kio.schema.api_versions.v3.response import ApiVersionsResponse\n"
        "import resource\n"
        "resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))\n"
        f"entity_reader(ApiVersionsResponse)({LIE!r}, 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert done.returncode < 0, "kio no longer aborts: see docs/decisions/own-codec-over-kio-schemas.md"


def test_an_unknown_error_code_keeps_its_number() -> None:
    answer = kio_bytes(ListGroupsResponse(throttle_time=NO_TIME, error_code=ErrorCode.none, groups=()))
    damaged = answer[:4] + b"\x03\xe7" + answer[6:]
    message, _ = decode(ListGroupsResponse, damaged)
    assert (message.error_code, message.error_code.name) == (999, "unknown_999")
    assert not message.error_code.retriable


def test_an_unknown_tagged_field_is_skipped() -> None:
    answer = kio_bytes(ListGroupsResponse(throttle_time=NO_TIME, error_code=ErrorCode.none, groups=()))
    newer = answer[:-1] + bytes.fromhex("01" + "8f4e" + "03" + "abcdef")
    message, end = decode(ListGroupsResponse, newer)
    assert (message.groups, end) == ((), len(newer))


def test_a_tagged_field_must_be_as_long_as_it_says() -> None:
    answer = bytes.fromhex("0000" + "01" + "00000000" + "01" + "01" + "09" + "000000000000000000")
    with pytest.raises(DecodeError, match="tagged field 1 is 8 bytes long, not 9"):
        decode(ApiVersionsResponse, answer)


def test_a_value_out_of_range_is_not_written() -> None:
    request = LIST_OFFSETS.request_schema(9)
    partition = request.ListOffsetsPartition(partition_index=2**40, timestamp=0)
    with pytest.raises(ValueError, match="ListOffsetsPartition has a value out of range"):
        encode(partition)
