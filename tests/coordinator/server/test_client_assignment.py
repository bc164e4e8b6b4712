"""Client-side assignors, which Kafka never shipped, on the wire."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import pytest

from cli.render.document import Table
from cli.verbs.describe.view import DescribeMode, describe_document
from groups.described import as_group
from groups.listing import GroupType
from groups.model import AssignorAnswer, Group
from tests.cli.schemas import faults
from tests.coordinator.server.running import WireClient, played_in, running_cluster
from wire.errors import ErrorCode
from wire.messages.schemas.cluster import API_VERSIONS
from wire.messages.schemas.consumer_groups import (
    CONSUMER_GROUP_DESCRIBE,
    CONSUMER_GROUP_HEARTBEAT,
    CONSUMER_GROUP_INSTALL_ASSIGNMENT,
    CONSUMER_GROUP_PREPARE_ASSIGNMENT,
)

APIS = {CONSUMER_GROUP_PREPARE_ASSIGNMENT.key, CONSUMER_GROUP_INSTALL_ASSIGNMENT.key}
ASSIGNOR = {
    "name": "reversed",
    "minimum_version": 0,
    "maximum_version": 1,
    "reason": 3,
    "metadata_version": 1,
}
SOFTWARE = {"client_software_name": "member", "client_software_version": "1"}


class Members:
    """Members with a client-side assignor of a group that subscribes to six partitions."""

    def __init__(self, client: WireClient, topic: UUID) -> None:
        self._client, self.topic = client, topic
        self._epochs: dict[str, int] = {}

    async def listed(self) -> set[int]:
        return {api.api_key for api in (await self._client.ask(API_VERSIONS, SOFTWARE, 3)).api_keys}

    async def beat(self, member: str, *owned: int) -> Any:
        first = {
            "rebalance_timeout_ms": 60_000,
            "subscribed_topic_names": ["foo"],
            "client_assignors": [{**ASSIGNOR, "metadata_bytes": b"of " + member.encode()}],
        }
        fields = {**self._asked(member), **({} if member in self._epochs else first)}
        answer = await self._client.ask(
            CONSUMER_GROUP_HEARTBEAT, {**fields, "topic_partitions": self.partitions(*owned)}
        )
        if not answer.error_code:
            self._epochs[member] = answer.member_epoch
        return answer

    async def prepare(self, member: str) -> Any:
        return await self._client.ask(CONSUMER_GROUP_PREPARE_ASSIGNMENT, self._asked(member))

    async def described(self) -> Group:
        fields = {"group_ids": ["g"], "include_authorized_operations": False}
        answered = await self._client.ask(CONSUMER_GROUP_DESCRIBE, fields)
        return as_group(GroupType.CONSUMER, answered.groups[0], None)[0]

    async def install(
        self, member: str, epoch: int, shares: Mapping[str, tuple[int, ...]], error: int = 0
    ) -> Any:
        members = [
            {
                "member_id": owner,
                "partitions": self.partitions(*numbers),
                "metadata_version": 1,
                "metadata_bytes": b"for " + owner.encode(),
            }
            for owner, numbers in shares.items()
        ]
        fields = {**self._asked(member), "group_epoch": epoch, "error": error, "members": members}
        return await self._client.ask(CONSUMER_GROUP_INSTALL_ASSIGNMENT, fields)

    def partitions(self, *numbers: int) -> list[dict[str, Any]]:
        return [{"topic_id": self.topic, "partitions": numbers}] if numbers else []

    def _asked(self, member: str) -> dict[str, Any]:
        return {"group_id": "g", "member_id": member, "member_epoch": self._epochs.get(member, 0)}


@asynccontextmanager
async def members(enabled: bool = True) -> AsyncIterator[Members]:
    settings = {"group.consumer.client.assignors.enable": str(enabled).lower()}
    async with running_cluster(settings) as cluster:
        cluster.topics.create("foo", 6)
        cluster.topics_changed()
        client = await WireClient.connect(cluster.controller.port)
        try:
            yield Members(client, cluster.topics.image.topics["foo"].id)
        finally:
            client.close()


def assigned(answer: Any) -> tuple[list[int], bytes]:
    (topic,) = answer.assignment.topic_partitions
    return list(topic.partitions), answer.assignment.metadata_bytes


@played_in(members)
async def test_a_member_computes_the_assignment_of_all(group: Members) -> None:
    assert await group.listed() >= APIS
    await group.beat("a")
    asked = await group.beat("b")
    chosen = "b" if asked.should_compute_assignment else "a"
    prepared = await group.prepare(chosen)
    assert (prepared.error_code, prepared.assignor_name) == (ErrorCode.NONE, "reversed")
    assert [(one.topic_id, one.topic_name, one.num_partitions) for one in prepared.topics] == [
        (group.topic, "foo", 6)
    ]
    shown = [(one.member_id, one.subscribed_topic_ids, one.assignor) for one in prepared.members]
    assert [
        (*one[:2], one[2].reason, one[2].metadata_version, one[2].metadata_bytes) for one in sorted(shown)
    ] == [("a", (group.topic,), 3, 1, b"of a"), ("b", (group.topic,), 3, 1, b"of b")]
    shares = {"a": (1, 3, 5), "b": (0, 2, 4)}
    assert (await group.install(chosen, prepared.group_epoch, shares)).error_code == ErrorCode.NONE
    assert assigned(await group.beat("a")) == ([1, 3, 5], b"for a")
    assert assigned(await group.beat("b")) == ([0, 2, 4], b"for b")
    described = await group.described()
    answers = {
        member.id: (member.assignor_answer, member.target_assignor_answer) for member in described.members
    }
    assert answers == {name: (answer_for(name), answer_for(name)) for name in "ab"}


def answer_for(member: str, error: int = 0) -> AssignorAnswer:
    return AssignorAnswer(error=error, metadata_version=1, metadata=b"for " + member.encode())


@played_in(members)
async def test_describe_shows_the_error_and_metadata_of_an_assignor(group: Members) -> None:
    """C43: MemberAssignment.error() and metadata() of KIP-848. A member that waits for partitions has neither yet."""
    assert (await group.beat("a")).should_compute_assignment
    prepared = await group.prepare("a")
    assert not (await group.install("a", prepared.group_epoch, {"a": tuple(range(6))}, error=7)).error_code
    await group.beat("a")
    await group.beat("b")
    shown = describe_document([await group.described()], {}, DescribeMode.MEMBERS, verbose=True)
    written = {"error": 7, "metadata_version": 1, "metadata": "Zm9yIGE="}
    by_id = {member["id"]: member for member in shown.as_data()["groups"][0]["members"]}
    assert (by_id["a"]["assignor_answer"], by_id["a"]["target_assignor_answer"]) == (written, written)
    assert not {"assignor_answer", "target_assignor_answer"} & by_id["b"].keys()
    assert faults(shown.as_data()) == []
    (table,) = shown.blocks
    assert isinstance(table, Table)
    first = [column.name for column in table.columns].index("ASSIGNOR-ERROR")
    assert {row[1]: row[first : first + 3] for row in table.rows} == {
        "a": [7, 1, "Zm9yIGE="],
        "b": [None, None, None],
    }


@played_in(lambda: members(enabled=False))
async def test_without_the_setting_the_apis_are_not_listed(group: Members) -> None:
    assert not await group.listed() & APIS
    assert (await group.beat("a")).error_code == ErrorCode.INVALID_REQUEST
    with pytest.raises(asyncio.IncompleteReadError):
        await group.prepare("a")
