"""Requests and responses as kio writes and reads them, for every API and version; and requests that no client sends."""

import random
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from coordinator.server.served import SERVED
from tests.conformance.messages import build, encode, encoded, request_type, response_type, versions_of_kio
from tests.coordinator.server.extremes import extreme
from wire.messages.definition import HEAD, Api
from wire.messages.reader import DecodeError, Frame
from wire.messages.schemas.classic_groups import DESCRIBE_GROUPS, HEARTBEAT
from wire.messages.schemas.cluster import API_VERSIONS, METADATA
from wire.messages.schemas.groups import DELETE_GROUPS, LIST_GROUPS
from wire.messages.schemas.log_records import FETCH
from wire.messages.schemas.offsets import OFFSET_COMMIT, OFFSET_FETCH
from wire.messages.schemas.security import (
    CREATE_ACLS,
    DELETE_ACLS,
    DESCRIBE_ACLS,
    SASL_AUTHENTICATE,
    SASL_HANDSHAKE,
)
from wire.messages.schemas.share_groups import (
    ALTER_SHARE_GROUP_OFFSETS,
    DELETE_SHARE_GROUP_OFFSETS,
    DESCRIBE_SHARE_GROUP_OFFSETS,
    SHARE_GROUP_DESCRIBE,
    SHARE_GROUP_HEARTBEAT,
)
from wire.messages.schemas.streams_groups import STREAMS_GROUP_DESCRIBE, STREAMS_GROUP_HEARTBEAT
from wire.messages.writer import write_varint

if TYPE_CHECKING:
    from wire.messages.schemas.log_records import FetchRequestFields

ONLY_SENT = (
    CREATE_ACLS, DELETE_ACLS, DESCRIBE_ACLS, SASL_HANDSHAKE, SASL_AUTHENTICATE, SHARE_GROUP_DESCRIBE,
    SHARE_GROUP_HEARTBEAT, STREAMS_GROUP_DESCRIBE, STREAMS_GROUP_HEARTBEAT, DESCRIBE_SHARE_GROUP_OFFSETS,
    ALTER_SHARE_GROUP_OFFSETS, DELETE_SHARE_GROUP_OFFSETS,
)  # fmt: skip
APIS = (*(served.api for served in SERVED.values()), *ONLY_SENT)
VERSIONS = [(api, version) for api in APIS for version in versions_of_kio(api.name, *api.versions)]
EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
RENAMED = {("TxnOffsetCommitRequest", "generation_id"): "generation_id_or_member_epoch"}
"""Fields that Kafka 4.4 has renamed (KIP-1319), by kio's message and name."""
each_version = pytest.mark.parametrize(("api", "version"), VERSIONS, ids=str)


def plain(message: Any) -> Any:
    """A message of kio's as our writer takes it: mappings with Kafka's names in snake case, times in ms."""
    if is_dataclass(message):
        return dict(_plain_fields(message))
    if isinstance(message, tuple):
        return [plain(item) for item in message]
    if isinstance(message, timedelta):
        return message // timedelta(milliseconds=1)
    if isinstance(message, datetime):
        return (message - EPOCH) // timedelta(milliseconds=1)
    return message


def _plain_fields(message: Any) -> Iterator[tuple[str, Any]]:
    for field in fields(message):
        kind, value = field.metadata.get("kafka_type") or "", getattr(message, field.name)
        if kind.startswith(("timedelta", "datetime")):
            # "no time" is -1 in Kafka
            yield f"{field.name}_ms", -1 if value is None else plain(value)
        else:
            yield RENAMED.get((type(message).__name__, field.name), field.name), plain(value)


def read(message: Any, like: Any) -> Any:
    """A message that our reader read, in the form of `like`: tagged fields of later versions are left out."""
    if hasattr(message, "names"):
        values = dict(zip(message.names, message, strict=True))
        return {name: read(values[name], value) for name, value in like.items()}
    if isinstance(message, tuple) and len(message) == len(like):
        return [read(item, one) for item, one in zip(message, like, strict=True)]
    return message


@each_version
def test_same_bytes_and_same_fields_as_kio(api: Api, version: int) -> None:
    for seed in range(8):
        chance = random.Random(seed)
        request = extreme(request_type(api.name, version), chance)
        written = encoded(request, 7, None, "größe")
        assert api.encode_request(version, 7, "größe", plain(request)) == written
        client_id, message = api.decode_request(version, written)
        assert (client_id, read(message, plain(request))) == ("größe", plain(request))
        response = extreme(response_type(api.name, version), chance)
        answer = encode(response.__header_schema__(correlation_id=7)) + encode(response)
        assert api.encode_response(version, 7, plain(response)) == answer
        assert read(api.decode_response(version, answer[4:]), plain(response)) == plain(response)


@each_version
def test_damaged_messages_are_a_message_or_a_decode_error(api: Api, version: int) -> None:
    chance = random.Random(version)
    written = encode(extreme(response_type(api.name, version), chance))[:2000]
    for _ in range(40):
        junk = chance.randbytes(chance.randrange(1, 300))
        content = bytearray(written if written and chance.random() < 0.7 else junk)
        content[chance.randrange(len(content))] = chance.choice((0, 1, 2, 127, 128, 255))
        with suppress(DecodeError):
            api.decode_response(version, bytes(content))
        with suppress(DecodeError):
            api.decode_request(version, bytes(HEAD.size) + content)


@each_version
def test_cut_off_bytes_are_refused(api: Api, version: int) -> None:
    response = build(response_type(api.name, version), {})
    answer = encode(response.__header_schema__(correlation_id=7)) + encode(response)
    api.decode_response(version, answer[4:])
    for end in range(4, len(answer)):
        with pytest.raises(DecodeError):
            api.decode_response(version, answer[4:end])
    with pytest.raises(DecodeError, match="it has 2 bytes too many"):
        api.decode_response(version, answer[4:] + b"xy")


def answered(api: Api, version: int, **values: Any) -> Any:
    return api.decode_response(version, api.encode_response(version, 1, values)[4:])


def test_fields_of_other_versions_are_left_out_and_have_defaults() -> None:
    fields = {"group_id": "g", "protocol_type": "consumer", "group_state": "Stable", "group_type": "classic"}
    for version, kept in ((2, 2), (4, 3), (5, 4)):
        (group,) = answered(LIST_GROUPS, version, error_code=0, groups=[fields]).groups
        assert [getattr(group, name) for name in fields] == [
            *list(fields.values())[:kept],
            *[""] * (4 - kept),
        ]
    commit = OFFSET_COMMIT.encode_request(
        2, 1, None, {"group_id": "g", "generation_id_or_member_epoch": 1, "member_id": "", "topics": ()}
    )
    assert OFFSET_COMMIT.decode_request(2, commit)[1].group_instance_id is None


def test_a_field_that_must_be_there_is_missed() -> None:
    with pytest.raises(ValueError, match="HeartbeatResponse needs 'error_code'"):
        HEARTBEAT.encode_response(4, 1, {})  # type: ignore[typeddict-item]  # this is what is refused


@pytest.mark.parametrize("letter", ["x", "ü", "😀"])
def test_a_message_that_quotes_a_long_name_is_shortened(letter: str) -> None:
    quoted = "Group " + letter * (32_767 // len(letter.encode())) + " not found."
    group = {"error_code": 69, "error_message": quoted, "group_id": "g", "group_state": "Dead"}
    group |= {"protocol_type": "", "protocol_data": "", "members": ()}
    (shown,) = answered(DESCRIBE_GROUPS, 6, groups=[group]).groups
    assert quoted.startswith(shown.error_message)
    assert 8000 < len(shown.error_message.encode()) <= 32_767


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"member_id": "x" * 32_768}, "a string of 32768 bytes"),
        ({"generation_id": 2**31}, "HeartbeatRequest: "),
    ],
)
def test_a_value_that_does_not_fit_is_not_written(fields: Mapping[str, Any], what: str) -> None:
    untyped: Api = HEARTBEAT
    fits = {"group_id": "g", "generation_id": 1, "member_id": "m"}
    untyped.encode_request(3, 1, None, fits)
    with pytest.raises(ValueError, match=what):
        untyped.encode_request(3, 1, None, {**fits, **fields})
    with pytest.raises(ValueError, match="a string of 32768 bytes"):
        untyped.encode_request(4, 1, "x" * 32_768, fits)


@pytest.mark.parametrize("half", [0xD800, 0xDC80])
def test_half_a_surrogate_pair_is_not_written_as_another_name(half: int) -> None:
    with pytest.raises(ValueError, match="surrogates not allowed"):
        DELETE_GROUPS.encode_request(2, 1, None, {"groups_names": ["g" + chr(half)]})


def test_a_message_that_no_frame_holds_is_not_written() -> None:
    with pytest.raises(ValueError, match="a message of more than 104857600 bytes"):
        METADATA.encode_request(1, 1, None, {"topics": [{"name": "t" * 32000}] * 4000})


@pytest.mark.parametrize(
    ("length", "what"),
    [
        ("feffffff07", "apiKeys: a length of 2147483645 does not fit the 50 bytes left at byte 7"),
        ("34", "apiKeys: a length of 51 does not fit the 50 bytes left at byte 3"),
        ("feffffff0f", "apiKeys at byte 2 is null"),  # -2 to Java, and any negative length is a null
        ("00", "apiKeys at byte 2 is null"),
        ("ffffffffff0f", "a varint at byte 2 does not end"),
    ],
)
def test_a_lying_array_length_is_an_error(length: str, what: str) -> None:
    with pytest.raises(DecodeError, match=what):
        API_VERSIONS.decode_response(3, b"\0\0" + bytes.fromhex(length) + bytes(50))


def test_a_frame_gives_no_more_elements_than_it_is_allowed() -> None:
    partitions = [{"partition_index": number, "committed_metadata": None} for number in range(3)]
    topics = [{"name": "t", "partitions": partitions}] * 2
    content = encoded(build(request_type("OffsetCommit", 9), {"topics": topics}), 1, None, None)
    allowed = OFFSET_COMMIT.decode_request(9, Frame.of(content, 8))
    assert allowed == OFFSET_COMMIT.decode_request(9, content)
    with pytest.raises(DecodeError, match="its arrays have 1 elements more than are read"):
        OFFSET_COMMIT.decode_request(9, Frame.of(content, 7))
    numbers = [{"name": "t", "partition_indexes": [1, 2, 3]}]
    content = encoded(build(request_type("OffsetFetch", 2), {"topics": numbers}), 1, None, None)
    OFFSET_FETCH.decode_request(2, Frame.of(content, 4))
    with pytest.raises(DecodeError, match="1 elements more"):
        OFFSET_FETCH.decode_request(2, Frame.of(content, 3))


def describe_groups(name: bytes) -> bytes:
    """A request of version 6 for one group, whose name is any bytes."""
    length = bytearray()
    write_varint(length, len(name) + 1)
    request = DESCRIBE_GROUPS.encode_request(
        6, 1, None, {"groups": ["x"], "include_authorized_operations": False}
    )
    return request.replace(b"\x02x", length + name)


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
    for padding in (b"", b"a" * 200):
        _, message = DESCRIBE_GROUPS.decode_request(6, describe_groups(bytes.fromhex(content) + padding))
        assert message.groups == (text + padding.decode(),)


@pytest.mark.parametrize("length", [-1, -2, -(2**31)])
def test_a_negative_length_is_a_null_where_there_may_be_one(length: int) -> None:
    head = HEAD.pack(3, 1, 7) + b"\xff\xff"
    content = head + length.to_bytes(4, "big", signed=True)
    assert METADATA.decode_request(1, content)[1].topics is None
    with pytest.raises(DecodeError, match="groups at byte 10 is null"):
        DESCRIBE_GROUPS.decode_request(0, content)


def test_a_tagged_field_that_leads_backwards_is_an_error() -> None:
    endless = bytes.fromhex("0000" + "01" + "00000000" + "02" + "09" + "f8ffffff0f") + bytes(20)
    with pytest.raises(DecodeError, match="tagged field 9: a length of -8 does not fit"):
        API_VERSIONS.decode_response(3, endless)


def test_an_unknown_tagged_field_is_skipped() -> None:
    answer = LIST_GROUPS.encode_response(5, 1, {"error_code": 0, "groups": ()})
    newer = answer[4:-1] + bytes.fromhex("01" + "8f4e" + "03" + "abcdef")
    assert LIST_GROUPS.decode_response(5, newer).groups == ()


def test_a_tagged_field_of_a_later_version_is_not_written() -> None:
    fetch: FetchRequestFields = {
        "replica_id": -1, "replica_state": {"replica_id": 7}, "max_wait_ms": 0, "min_bytes": 0, "topics": (),
        "forgotten_topics_data": (),
    }  # fmt: skip
    of_13, of_15 = (FETCH.encode_request(version, 1, "c", fetch) for version in (13, 15))
    assert FETCH.decode_request(15, of_15)[1].replica_state.replica_id == 7
    assert of_13.endswith(b"\x01\x01\x01\x00")
