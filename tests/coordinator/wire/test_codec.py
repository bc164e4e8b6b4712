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
from kio.static.primitive import i32Timedelta

from coordinator.wire.apis import ALL_APIS, Api
from coordinator.wire.decode import DecodeError, decode
from coordinator.wire.encode import encode

VERSIONS = [(api, version) for api in ALL_APIS for version in range(api.minimum, api.maximum + 1)]
TOO_LONG = "a duration that kio cannot read"
NO_TIME = i32Timedelta.parse(timedelta(0))
slow = settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))


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


def test_a_lying_array_length_is_an_error() -> None:
    with pytest.raises(DecodeError, match=r"4294967293 elements are announced at byte 7, 50 bytes are left"):
        decode(ApiVersionsResponse, LIE)


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
    request = ALL_APIS[0].request_schema(9)
    partition = request.ListOffsetsPartition(partition_index=2**40, timestamp=0)
    with pytest.raises(ValueError, match="ListOffsetsPartition has a value out of range"):
        encode(partition)
