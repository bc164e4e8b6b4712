"""Messages that are written and read without kio's classes are what kio makes of the same fields and bytes."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.coordinator.server.extremes import extreme
from wire.client.api_versions import FIRST_PLAIN, read_versions, versions_request
from wire.client.calls.list_groups import listing_request, read_listing
from wire.client.calls.metadata import PLAIN_VERSIONS, metadata_request, read_metadata
from wire.messages.apis import API_VERSIONS, LIST_GROUPS, METADATA, Api
from wire.messages.decode import DecodeError, decode
from wire.messages.encode import encode
from wire.messages.plain_request import PlainRequest
from wire.messages.schema_fields import schema_fields

Read = Callable[[bytes], tuple[Any, int]]

ANSWERS: list[tuple[Api, int, Read]] = [
    (LIST_GROUPS, 5, read_listing),
    *((METADATA, version, partial(read_metadata, version)) for version in PLAIN_VERSIONS),
    *((API_VERSIONS, version, read_versions) for version in range(FIRST_PLAIN, API_VERSIONS.maximum + 1)),
]
every_answer = pytest.mark.parametrize(
    ("api", "version", "read"), ANSWERS, ids=[f"{api.name}-{version}" for api, version, _ in ANSWERS]
)


def header_of(api: Api) -> bytes:
    """Of an answer in a flexible version: no tagged fields, or not even those."""
    return b"" if api is API_VERSIONS else b"\0"


def written(api: Api, version: int, seed: int) -> bytes:
    """Some answer with its header."""
    chance = random.Random(seed)
    head = header_of(api)
    while len(answer := head + encode(extreme(api.response_type(version), chance))) < 40:
        pass
    return answer


def same(ours: Any, theirs: Any) -> bool:
    """Whether all fields are the same, but for the time of throttling, which ours has as a number."""
    if isinstance(theirs, tuple):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if not hasattr(theirs, "__flexible__"):
        return bool(ours == theirs)
    names = [field.name for field in schema_fields(type(theirs))]
    told = [name for name in names if name != "throttle_time"]
    return set(vars(ours)) == set(names) and all(
        same(getattr(ours, name), getattr(theirs, name)) for name in told
    )


@every_answer
def test_read_as_kio_reads(api: Api, version: int, read: Read) -> None:
    for seed in range(25):
        answer = written(api, version, seed)
        ours, end = read(answer)
        theirs, _ = decode(api.response_type(version), answer, len(header_of(api)))
        assert same(ours, theirs)
        assert end == len(answer)


@every_answer
def test_what_is_cut_off_is_refused(api: Api, version: int, read: Read) -> None:
    answer = written(api, version, 0)
    for end in {*range(40), *random.Random(1).sample(range(len(answer)), 40)}:
        with pytest.raises(DecodeError):
            read(answer[:end])


@every_answer
def test_wrong_bytes_are_read_as_kio_s_reader_reads_them(api: Api, version: int, read: Read) -> None:
    chance = random.Random(3)
    answers = [written(api, version, seed) for seed in range(3)]
    for turn in range(60):
        answer = bytearray(answers[turn % 3])
        answer[chance.randrange(len(header_of(api)), 40)] = chance.choice((0, 1, 2, 127, 128, 255))
        try:
            theirs, wanted_end = decode(api.response_type(version), bytes(answer), len(header_of(api)))
        except DecodeError:
            with pytest.raises(DecodeError):
                read(bytes(answer))
        else:
            ours, end = read(bytes(answer))
            assert same(ours, theirs)
            assert end == wanted_end


def as_kio(api: Api, version: int, **fields: Any) -> bytes:
    request = api.request_type(version)(**fields)
    header = request.__header_schema__(
        request_api_key=api.key, request_api_version=version, correlation_id=7, client_id="kohört"
    )
    return encode(header) + encode(request)


def encoded(api: Api, request: PlainRequest) -> bytes:
    return request.encoded(api.key, 7, "kohört")


@pytest.mark.parametrize("version", PLAIN_VERSIONS)
@pytest.mark.parametrize("topics", [None, (), ("",), ("größe", "x" * 300)])
def test_metadata_is_asked_for_as_kio_asks(version: int, topics: tuple[str, ...] | None) -> None:
    schema = METADATA.request_schema(version)
    names = topics and tuple(schema.MetadataRequestTopic(name=topic, topic_id=None) for topic in topics)
    wanted = as_kio(
        METADATA,
        version,
        topics=names,
        allow_auto_topic_creation=False,
        include_topic_authorized_operations=False,
    )
    assert encoded(METADATA, metadata_request(version, topics)) == wanted


@pytest.mark.parametrize("states", [(), ("Stable", "größe")])
@pytest.mark.parametrize("types", [(), ("x" * 200,)])
def test_groups_are_asked_for_as_kio_asks(states: tuple[str, ...], types: tuple[str, ...]) -> None:
    wanted = as_kio(LIST_GROUPS, 5, states_filter=states, types_filter=types)
    assert encoded(LIST_GROUPS, listing_request(states, types)) == wanted


@pytest.mark.parametrize("version", range(FIRST_PLAIN, API_VERSIONS.maximum + 1))
def test_versions_are_asked_for_as_kio_asks(version: int) -> None:
    wanted = as_kio(API_VERSIONS, version, client_software_name="kohort", client_software_version="0")
    assert encoded(API_VERSIONS, versions_request(version)) == wanted
