"""Every version of every API that is listed is answered, in bytes that kio reads."""

import asyncio
from typing import Any

import pytest
from kio.serial import entity_reader

from coordinator.server.served import SERVED
from tests.conformance.messages import build, encoded
from tests.conformance.messages import request_type as kio_request
from tests.conformance.messages import response_type as kio_response
from tests.coordinator.server.running import HOST, running
from wire.messages.definition import Api

DEADLINE_S = 60
VERSIONS = [
    pytest.param(served.api, version, id=f"{served.api.name} {version}")
    for served in SERVED.values()
    for version in range(served.api.versions[0], served.newest + 1)
]
FIELDS: dict[str, dict[str, Any]] = {
    "ApiVersions": {"client_software_name": "tests", "client_software_version": "1"},
    "Produce": {"acks": 1},
    # Kafka closes the connection if a filter has an UNKNOWN value.
    "DescribeAcls": dict.fromkeys(
        ("resource_type_filter", "pattern_type_filter", "operation", "permission_type"), 1
    ),
}
NEW = """Metadata 13, FindCoordinator 6, JoinGroup 9, SyncGroup 5, Heartbeat 4, LeaveGroup 5, OffsetCommit 10,
    OffsetFetch 10, ListOffsets 11, Fetch 18, Produce 13, InitProducerId 5, OffsetForLeaderEpoch 4, CreateTopics 7"""
SENT = {
    "franz-go": f"ApiVersions 4, {NEW}",
    "Java 4.3.1": f"""ApiVersions 4, {NEW}, OffsetCommit 9, DescribeConfigs 4, DeleteTopics 6, CreatePartitions 3,
        ListPartitionReassignments 0, OffsetDelete 0, DescribeCluster 2, DescribeTopicPartitions 0""",
    "sarama": """Metadata 11, FindCoordinator 3, JoinGroup 7, JoinGroup 8, OffsetCommit 8, OffsetFetch 7, OffsetFetch 8,
        ListOffsets 6, Fetch 12, Produce 9, Produce 10""",
    "kafka-python 3": "Metadata 13, JoinGroup 7, OffsetCommit 8, Fetch 12, Produce 9",
    "aiokafka": """ApiVersions 0, Metadata 5, FindCoordinator 1, JoinGroup 5, OffsetCommit 3, ListOffsets 3, Fetch 11,
        Produce 7, CreateTopics 3""",
    "kafkajs": "ApiVersions 2, Metadata 6, OffsetCommit 5, OffsetFetch 4, Fetch 11, Produce 7",
    "librdkafka 2.12": """ApiVersions 3, Metadata 13, FindCoordinator 2, JoinGroup 5, LeaveGroup 1, OffsetCommit 9,
        OffsetFetch 9, ListOffsets 7, Fetch 16, Produce 10""",
    "librdkafka 2.0": "Fetch 11, Produce 7, Metadata 4",
}
"""Versions that clients send to a 4.3.1 broker. franz-go starts with ApiVersions 5, answered in version 0."""


@pytest.mark.parametrize("client", SENT)
def test_versions_that_clients_send_are_listed(client: str) -> None:
    listed = {served.api.name: range(served.oldest, served.newest + 1) for served in SERVED.values()}
    sent = [word.rsplit(maxsplit=1) for word in SENT[client].split(",")]
    assert [one for one in sent if int(one[1]) not in listed.get(one[0].strip(), ())] == []


@pytest.mark.parametrize(("api", "version"), VERSIONS)
def test_a_request_of_zeros_is_answered(api: Api, version: int) -> None:
    asyncio.run(_ask(api, version))


async def _ask(api: Api, version: int) -> None:
    request_type, response_type = kio_request(api.name, version), kio_response(api.name, version)
    known = set(request_type.__dataclass_fields__)
    fields = {name: value for name, value in FIELDS.get(api.name, {}).items() if name in known}
    async with running() as broker:
        reader, writer = await asyncio.open_connection(HOST, broker.port)
        content = encoded(build(request_type, fields), 7, None, "tests")
        writer.write(len(content).to_bytes(4, "big") + content)
        length = int.from_bytes(await asyncio.wait_for(reader.readexactly(4), DEADLINE_S), "big")
        answer = await reader.readexactly(length)
        writer.close()
    header, head = entity_reader(response_type.__header_schema__)(answer, 0)
    _, size = entity_reader(response_type)(answer, head)
    assert header.correlation_id == 7
    assert head + size == len(answer)
