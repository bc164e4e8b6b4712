"""An error has a field in the answer of every API."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from coordinator.server.faults.error_answers import error_answer
from coordinator.server.served import SERVED
from wire.errors import ErrorCode
from wire.messages.definition import Api
from wire.messages.layout import Array, Scalar, Struct, Type
from wire.messages.reader import DICTIONARIES, message_reader, snake
from wire.messages.writer import message_writer

VALUES = {Scalar.STRING: "name", Scalar.BYTES: b"bytes", Scalar.UUID: UUID(int=7), Scalar.BOOL: True}
OF_THE_REQUEST, OF_A_PARTITION = ErrorCode.NOT_COORDINATOR, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
VERSIONS = [
    pytest.param(served.api, version, id=f"{served.api.name}-{version}")
    for served in SERVED.values()
    for version in range(served.api.versions[0], served.newest + 1)
]


def sample(of: Type, version: int) -> Any:
    if isinstance(of, Array):
        return [sample(of.of, version)]
    if isinstance(of, Struct):
        fields = [field for field in of.fields if field.in_version(version)]
        return {snake(field.name): sample(field.type, version) for field in fields}
    return VALUES.get(of, 3)


def answered(api: Api, version: int, code: ErrorCode) -> Any:
    """The answer with the error to this request, encoded and decoded again."""
    fields = sample(api.request.struct, version)
    _, request = api.decode_request(version, api.encode_request(version, 1, "client", fields))
    answer = error_answer(api, version, request, code)
    assert answer is not None
    out = bytearray()
    message_writer(api.response, version)(out, answer)
    body, end = message_reader(api.response, version, DICTIONARIES)(bytes(out), 0)
    assert end == len(out)
    return body


def errors_in(body: Any, depth: int = 0) -> Iterator[tuple[int, int]]:
    for name, value in body.items():
        if name in ("errorCode", "partitionErrorCode"):
            yield depth, value
        elif isinstance(value, list):
            for element in value:
                if isinstance(element, dict):
                    yield from errors_in(element, depth + 1)


@pytest.mark.parametrize(("api", "version"), VERSIONS)
def test_an_error_of_a_partition_is_in_one_place(api: Api, version: int) -> None:
    codes = [code for _, code in errors_in(answered(api, version, OF_A_PARTITION)) if code]
    assert codes == [OF_A_PARTITION]


def test_fetch_answers_the_errors_of_partitions_in_partitions() -> None:
    api = next(served.api for served in SERVED.values() if served.api.name == "Fetch")
    body = answered(api, 13, ErrorCode.OFFSET_OUT_OF_RANGE)
    (topic,) = body["responses"]
    (partition,) = topic["partitions"]
    assert (body["errorCode"], topic["topicId"]) == (ErrorCode.NONE, UUID(int=7))
    assert (partition["partitionIndex"], partition["errorCode"]) == (3, ErrorCode.OFFSET_OUT_OF_RANGE)
    assert answered(api, 13, ErrorCode.FETCH_SESSION_ID_NOT_FOUND)["errorCode"]


@pytest.mark.parametrize(
    ("name", "version", "array", "key"),
    [
        ("OffsetCommit", 9, "topics", {"name": "name"}),
        ("Produce", 9, "responses", {"name": "name"}),
        ("FindCoordinator", 4, "coordinators", {"key": "name"}),
        ("OffsetFetch", 9, "groups", {"groupId": "name"}),
        ("DescribeGroups", 6, "groups", {"groupId": "name"}),
        ("DeleteGroups", 2, "results", {"groupId": "name"}),
        ("DeleteTopics", 5, "responses", {"name": "name"}),
        ("DeleteTopics", 6, "responses", {"name": "name", "topicId": UUID(int=7)}),
        ("CreatePartitions", 3, "results", {"name": "name"}),
        ("DescribeConfigs", 4, "results", {"resourceType": 3, "resourceName": "name"}),
    ],
)
def test_elements_have_the_names_of_the_request(
    name: str, version: int, array: str, key: dict[str, Any]
) -> None:
    api = next(served.api for served in SERVED.values() if served.api.name == name)
    (element,) = answered(api, version, OF_THE_REQUEST)[array]
    assert {field: element[field] for field in key} == key


def test_there_may_be_no_room_for_an_error() -> None:
    api = next(served.api for served in SERVED.values() if served.api.name == "OffsetCommit")
    fields = {"group_id": "billing", "member_id": "", "topics": []}
    _, request = api.decode_request(9, api.encode_request(9, 1, "client", fields))
    assert error_answer(api, 9, request, OF_THE_REQUEST) is None
