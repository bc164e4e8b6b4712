"""The versions of APIs that clients send are among those that are listed."""

import pytest

from coordinator.server.served import SERVED

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
