"""Sizes of groups read quickly are what kio makes of the same bytes."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from tests.coordinator.server.extremes import extreme
from tests.wire.client.peer import peer
from tests.wire.client.scripted import broker
from tests.wire.client.test_client import ALL, client, listed, metadata, schema
from wire.client.answers import Failure, refusal
from wire.client.calls.group_sizes import GroupSize, read_sizes, sizes_request
from wire.messages.apis import (
    CONSUMER_GROUP_DESCRIBE,
    DESCRIBE_GROUPS,
    SHARE_GROUP_DESCRIBE,
    STREAMS_GROUP_DESCRIBE,
    Api,
)
from wire.messages.decode import DecodeError, decode
from wire.messages.encode import encode

ANSWERS = [
    (DESCRIBE_GROUPS, 5),
    (DESCRIBE_GROUPS, 6),
    (CONSUMER_GROUP_DESCRIBE, 0),
    (CONSUMER_GROUP_DESCRIBE, 1),
    (SHARE_GROUP_DESCRIBE, 1),
    (STREAMS_GROUP_DESCRIBE, 0),
]
every_answer = pytest.mark.parametrize(("api", "version"), ANSWERS, ids=lambda of: getattr(of, "name", of))


def obvious(response: Any) -> dict[str, GroupSize | Failure]:
    """The same from kio's objects."""
    return {group.group_id: _size(group) for group in response.groups}


def _size(group: Any) -> GroupSize | Failure:
    if group.error_code:
        return refusal(group.error_code, getattr(group, "error_message", None))
    protocol = getattr(group, "protocol_data", getattr(group, "assignor_name", ""))
    return GroupSize(protocol=protocol, members=len(group.members))


def written(api: Api, version: int, seed: int) -> bytes:
    """Some answer, behind the empty header of flexible versions."""
    chance = random.Random(seed)
    while len(answer := b"\0" + encode(extreme(api.response_type(version), chance))) < 40:
        pass
    return answer


@every_answer
def test_as_kio_reads_them(api: Api, version: int) -> None:
    sizes: list[GroupSize | Failure] = []
    for seed in range(25):
        answer = written(api, version, seed)
        wanted, _ = decode(api.response_type(version), answer, 1)
        told, end = read_sizes(api, version, answer)
        assert (told, end) == (obvious(wanted), len(answer))
        sizes += told.values()
    members = {size.members for size in sizes if isinstance(size, GroupSize)}
    assert len(members) > 2
    assert any(isinstance(size, Failure) for size in sizes)


@every_answer
def test_what_is_cut_off_is_refused(api: Api, version: int) -> None:
    answer = written(api, version, 0)
    for end in {*range(60), *random.Random(1).sample(range(len(answer)), 40)}:
        with pytest.raises(DecodeError):
            read_sizes(api, version, answer[:end])


@every_answer
def test_wrong_bytes_are_read_as_kio_s_reader_reads_them(api: Api, version: int) -> None:
    chance = random.Random(3)
    answers = [written(api, version, seed) for seed in range(3)]
    for turn in range(45):
        answer = bytearray(answers[turn % 3])
        answer[chance.randrange(1, 40)] = chance.choice((0, 1, 2, 127, 128, 255))
        try:
            wanted, end = decode(api.response_type(version), bytes(answer), 1)
        except DecodeError:
            with pytest.raises(DecodeError):
                read_sizes(api, version, bytes(answer))
        else:
            assert read_sizes(api, version, bytes(answer)) == (obvious(wanted), end)


@every_answer
def test_asked_as_kio_asks(api: Api, version: int) -> None:
    groups = ("", "größe", "x" * 300)
    names = {"groups" if api is DESCRIBE_GROUPS else "group_ids": groups}
    theirs = api.request_type(version)(**names, include_authorized_operations=False)
    header = theirs.__header_schema__(
        request_api_key=api.key, request_api_version=version, correlation_id=2**31 - 1, client_id="kohört"
    )
    ours = sizes_request(version, groups).encoded(api.key, 2**31 - 1, "kohört")
    assert ours == encode(header) + encode(theirs)


def test_what_does_not_fit_is_not_written() -> None:
    request = sizes_request(6, ["g"])
    with pytest.raises(ValueError, match="a client id of 32768 bytes"):
        request.encoded(DESCRIBE_GROUPS.key, 0, "x" * 32_768)
    with pytest.raises(ValueError, match="a string of 32768 bytes"):
        sizes_request(6, ["x" * 32_768]).encoded(DESCRIBE_GROUPS.key, 0, "")


@pytest.mark.parametrize("newest", [6, 5, 4, 0])
def test_brokers_of_every_age_are_asked(newest: int) -> None:
    def respond(version: int) -> Any:
        response = schema("describe_groups", version)
        member = response.DescribedGroupMember(
            member_id="m", client_id="c", client_host="h", member_metadata=b"1", member_assignment=b""
        )
        group = response.DescribedGroup(
            error_code=ErrorCode.none, group_id="g", group_state="Stable", protocol_type="consumer",
            protocol_data="range", members=(member, member),
        )  # fmt: skip
        refused = replace(group, error_code=ErrorCode.group_authorization_failed, group_id="h")
        late = {"throttle_time": timedelta(0)} if version >= 1 else {}
        return response.DescribeGroupsResponse(groups=(group, refused), **late)

    answers: dict[str, Any] = {"DescribeGroups": respond, "ListGroups": listed("g", "h")}
    with peer(broker(answers, ALL | {"DescribeGroups": (0, newest)})) as address:
        answers["Metadata"] = metadata(address)
        with client(address) as asking:
            asking.list_groups()
            told = asking.group_sizes(DESCRIBE_GROUPS, ["g", "h"])
    assert told.found == {"g": GroupSize(protocol="range", members=2)}
    assert told.failed["h"].name == "GROUP_AUTHORIZATION_FAILED"


def test_every_version_that_is_spoken_is_read() -> None:
    """Only classic groups of brokers before 2.4 are told by kio."""
    newer = (CONSUMER_GROUP_DESCRIBE, SHARE_GROUP_DESCRIBE, STREAMS_GROUP_DESCRIBE)
    spoken = [(api, version) for api in newer for version in range(api.minimum, api.maximum + 1)]
    classic = [(DESCRIBE_GROUPS, version) for version in range(5, DESCRIBE_GROUPS.maximum + 1)]
    assert classic + spoken == ANSWERS
