"""Versions that came with Kafka 4.4, which kio does not know, as Kafka's own classes write them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kafka.programs import SILENT, Answerer
from wire.messages.definition import Api
from wire.messages.reader import snake
from wire.messages.schemas.cluster import API_VERSIONS
from wire.messages.schemas.groups import DELETE_GROUPS
from wire.messages.schemas.streams_groups import STREAMS_GROUP_DESCRIBE
from wire.messages.schemas.transactions import TXN_OFFSET_COMMIT
from wire.uuids import parse_uuid

NODE = {
    "name": "KSTREAM-SOURCE-0",
    "nodeType": 1,
    "sourceTopics": ["orders"],
    "sinkTopic": None,
    "stores": ["s"],
    "successors": ["KSTREAM-SINK-1"],
}
SINK = {**NODE, "nodeType": 3, "sinkTopic": "out"}
TASKS = {"activeTasks": [{"subtopologyId": "0", "partitions": [0, 2]}], "standbyTasks": [], "warmupTasks": []}
MEMBER = {
    "memberId": "m",
    "memberEpoch": 3,
    "instanceId": None,
    "rackId": "a",
    "clientId": "c",
    "clientHost": "/h",
    "topologyEpoch": 0,
    "processId": "p",
    "userEndpoint": {"host": "h", "port": 65535},
    "clientTags": [{"key": "zone", "value": "a"}],
    "taskOffsets": [{"subtopologyId": "0", "partition": 1, "offset": 2**40}],
    "taskEndOffsets": [],
    "assignment": TASKS,
    "targetAssignment": TASKS,
    "isClassic": False,
}
STREAMS_GROUP = {
    "errorCode": 0,
    "errorMessage": None,
    "groupId": "app",
    "groupState": "Stable",
    "groupEpoch": 3,
    "assignmentEpoch": 3,
    "topology": None,
    "members": [MEMBER],
    "authorizedOperations": -(2**31),
    "topologyDescription": {
        "subtopologies": [{"subtopologyId": "0", "nodes": [NODE, SINK]}],
        "globalStores": [{"source": NODE, "processor": NODE}],
    },
    "topologyDescriptionStatus": 3,
    "assignorName": "sticky",
}
DELETIONS = [
    {"groupId": "a", "errorCode": 134, "errorMessage": "the plugin said no"},
    {"groupId": "b", "errorCode": 0, "errorMessage": None},
]
TOPIC = {"topicId": "AAAAAAAAAAEAAAAAAAAAAg", "partitions": [{"partitionIndex": 1, "errorCode": 100}]}
KEYS = [{"apiKey": 18, "minVersion": 0, "maxVersion": 5}]
RESPONSES: list[tuple[Api, int, dict[str, Any]]] = [
    (DELETE_GROUPS, 3, {"throttleTimeMs": 0, "results": DELETIONS}),
    (STREAMS_GROUP_DESCRIBE, 1, {"throttleTimeMs": 0, "groups": [STREAMS_GROUP]}),
    (TXN_OFFSET_COMMIT, 6, {"throttleTimeMs": 0, "topics": [TOPIC]}),
    (API_VERSIONS, 5, {"errorCode": 129, "apiKeys": KEYS, "throttleTimeMs": 0}),
]
OPTIONS = {"includeAuthorizedOperations": False, "includeTopologyDescription": True}
OURS = {"clientSoftwareName": "kohort", "clientSoftwareVersion": "0", "clusterId": "abc", "nodeId": 7}
COMMITTED = {"partitionIndex": 1, "committedOffset": 7, "committedLeaderEpoch": -1, "committedMetadata": None}
TXN_COMMIT = {
    "transactionalId": "t",
    "groupId": "g",
    "producerId": 4,
    "producerEpoch": 1,
    "generationIdOrMemberEpoch": 3,
    "memberId": "m",
    "groupInstanceId": None,
    "topics": [{"topicId": TOPIC["topicId"], "partitions": [COMMITTED]}],
}
REQUESTS: list[tuple[Api, int, dict[str, Any]]] = [
    (DELETE_GROUPS, 3, {"groupsNames": ["a", "b"]}),
    (TXN_OFFSET_COMMIT, 6, TXN_COMMIT),
    (STREAMS_GROUP_DESCRIBE, 1, {"groupIds": ["app"], **OPTIONS}),
    (API_VERSIONS, 5, OURS),
]


@pytest.fixture(scope="module")
def java(kafka_jars: Path) -> Iterator[Answerer]:
    program = Answerer(kafka_jars, "Messages", options=(SILENT,))
    yield program
    program.close()


def written(java: Answerer, name: str, version: int, fields: dict[str, Any]) -> bytes:
    return bytes.fromhex(java.answer({"name": name, "version": version, "fields": fields})["bytes"])


def ours(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            snake(name): parse_uuid(item) if name == "topicId" else ours(item) for name, item in value.items()
        }
    return [ours(item) for item in value] if isinstance(value, list) else value


def fields_of(read: Any, like: Any) -> Any:
    if isinstance(like, dict):
        return {name: fields_of(getattr(read, name), item) for name, item in like.items()}
    if isinstance(like, list):
        return [fields_of(item, one) for item, one in zip(read, like, strict=True)]
    return read


@pytest.mark.kafka
@pytest.mark.parametrize(("api", "version", "fields"), RESPONSES, ids=str)
def test_responses(java: Answerer, api: Api, version: int, fields: dict[str, Any]) -> None:
    theirs = written(java, f"{api.name}Response", version, fields)
    answer = api.encode_response(version, 7, ours(fields))[4:]
    assert answer.endswith(theirs)
    assert len(answer) - len(theirs) == (0 if api is API_VERSIONS else 1)
    assert fields_of(api.decode_response(version, answer), ours(fields)) == ours(fields)


@pytest.mark.kafka
@pytest.mark.parametrize(("api", "version", "fields"), REQUESTS, ids=str)
def test_requests(java: Answerer, api: Api, version: int, fields: dict[str, Any]) -> None:
    theirs = written(java, f"{api.name}Request", version, fields)
    request = api.encode_request(version, 7, "c", ours(fields))
    assert request.endswith(theirs)
    assert fields_of(api.decode_request(version, request)[1], ours(fields)) == ours(fields)
