"""Faults on demand over the wire: rules match requests, and immediate faults are injected."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from coordinator.server.security.access_file import AccessFile
from coordinator.server.security.security import Security
from coordinator.server.security.security import secure as secured
from coordinator.server.security.settings import parse_security
from tests.coordinator.server.running import WireClient, played_in, running
from wire.client.security import SecurityProtocol
from wire.errors import ErrorCode
from wire.messages.schemas.classic_groups import HEARTBEAT, JOIN_GROUP, SYNC_GROUP
from wire.messages.schemas.cluster import API_VERSIONS, METADATA
from wire.messages.schemas.consumer_groups import CONSUMER_GROUP_HEARTBEAT
from wire.messages.schemas.faults import DO, FAULT_CLIENT, KOHORT_FAULT, LIST
from wire.messages.schemas.log_records import FETCH, PRODUCE

HEART = {"group_id": "billing", "generation_id": 1, "member_id": "m-1"}
PROTOCOL = {"protocol_type": "consumer", "protocol_name": "range"}
SOFTWARE = {"client_software_name": "tests", "client_software_version": "1"}


class Scene:
    """A server, a client that requests faults, and other clients."""

    operator: WireClient

    def __init__(self, port: int) -> None:
        self._port = port
        self._clients: list[WireClient] = []

    async def client(self, client_id: str = "app-1") -> WireClient:
        client = await WireClient.connect(self._port, client_id)
        self._clients.append(client)
        return client

    async def fault(self, **event: Any) -> Any:
        return await self.operator.ask(KOHORT_FAULT, {"operation": DO, "event": json.dumps(event)})

    async def close(self) -> None:
        for client in self._clients:
            client.close()


@asynccontextmanager
async def faulty(security: Security | None = None) -> AsyncIterator[Scene]:
    async with running(security=security) as broker:
        scene = Scene(broker.port)
        try:
            scene.operator = await scene.client(FAULT_CLIENT)
            yield scene
        finally:
            await scene.close()


played = played_in(faulty)


@played
async def test_an_error_to_a_producer_without_acks_closes_its_connection(scene: Scene) -> None:
    await scene.fault(error="NOT_LEADER_OR_FOLLOWER", api="Produce", times=1)
    with pytest.raises(asyncio.IncompleteReadError):
        await (await scene.client()).ask(PRODUCE, {"acks": 0, "timeout_ms": 1, "topic_data": []}, 9)


@played
async def test_a_delay_holds_the_request_of_that_client_alone(scene: Scene) -> None:
    await scene.fault(delay=0.3, api="Heartbeat", client="app-1")
    slow, other = await scene.client("app-1"), await scene.client("app-2")
    began = time.monotonic()
    late = asyncio.create_task(slow.ask(HEARTBEAT, HEART))
    assert (await other.ask(HEARTBEAT, HEART)).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert not late.done()
    assert (await late).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert time.monotonic() - began >= 0.3


@played
async def test_a_dropped_connection_is_closed(scene: Scene) -> None:
    await scene.fault(drop="connection", client="app-1", times=1)
    with pytest.raises(asyncio.IncompleteReadError):
        await (await scene.client()).ask(HEARTBEAT, HEART)
    assert (await (await scene.client()).ask(HEARTBEAT, HEART)).error_code


@played
async def test_after_a_dropped_answer_there_is_none_on_that_connection(scene: Scene) -> None:
    await scene.fault(drop="answer", api="Heartbeat", times=1)
    client = await scene.client()
    waiting = asyncio.create_task(client.ask(HEARTBEAT, HEART))
    await asyncio.wait({waiting}, timeout=0.1)
    content = METADATA.encode_request(0, 7, "app-1", {"topics": []})
    client.writer.write(len(content).to_bytes(4, "big") + content)
    assert (await (await scene.client()).ask(HEARTBEAT, HEART)).error_code
    assert not waiting.done()
    waiting.cancel()


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ('{"delay": 1, "api": "KohortFault"}', "there is no API"),
        ('{"topic": "orders", "partitions": 2}', "there is no topic orders"),
        ("{", "Expecting"),
        ("[" * 10_000, "recursion"),
        (None, "expected a mapping"),
    ],
)
@played
async def test_what_cannot_be_done_is_refused_with_the_reason(
    scene: Scene, event: str | None, said: str
) -> None:
    answer = await scene.operator.ask(KOHORT_FAULT, {"operation": DO, "event": event})
    assert answer.error_code == ErrorCode.INVALID_REQUEST
    assert said in answer.error_message
    answer = await scene.operator.ask(KOHORT_FAULT, {"operation": 9})
    assert (answer.error_code, answer.error_message) == (ErrorCode.INVALID_REQUEST, "unknown operation 9")


@played
async def test_an_error_of_partitions_is_answered_to_a_fetch_in_a_session(scene: Scene) -> None:
    await scene.fault(topic="orders", create=1)
    partition = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1024}
    session = {"max_wait_ms": 0, "min_bytes": 0, "session_id": 0, "session_epoch": 0}
    topics = [{"topic": "orders", "partitions": [partition]}]
    full: dict[str, Any] = {**session, "topics": topics, "forgotten_topics_data": []}
    client = await scene.client()
    begun = await client.ask(FETCH, full, 12)
    assert (begun.error_code, begun.session_id > 0) == (ErrorCode.NONE, True)
    within = {**full, "session_id": begun.session_id, "session_epoch": 1, "topics": []}
    await scene.fault(error="OFFSET_OUT_OF_RANGE", api="Fetch", times=1)
    assert (await client.ask(FETCH, within, 12)).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    answer = await client.ask(FETCH, full, 12)
    assert answer.error_code == ErrorCode.NONE
    assert answer.responses[0].partitions[0].error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    answer = await client.ask(FETCH, full, 12)
    assert answer.responses[0].partitions[0].error_code == ErrorCode.NONE


@pytest.mark.parametrize(("client_id", "is_listed"), [(FAULT_CLIENT, True), ("app-1", False), ("", False)])
@played
async def test_the_api_is_listed_to_its_own_client_alone(
    scene: Scene, client_id: str, is_listed: bool
) -> None:
    answer = await (await scene.client(client_id)).ask(API_VERSIONS, SOFTWARE, 3)
    assert (KOHORT_FAULT.key in {api_key.api_key for api_key in answer.api_keys}) is is_listed


@played
async def test_who_asks_for_faults_meets_none(scene: Scene) -> None:
    await scene.fault(drop="connection")
    assert (await scene.operator.ask(KOHORT_FAULT, {"operation": LIST})).rules


@played_in(lambda: faulty(secured(parse_security(SecurityProtocol.PLAINTEXT, {}), AccessFile(acls=()))))
async def test_faults_need_alter_on_the_cluster(scene: Scene) -> None:
    assert (await scene.fault(drop="connection")).error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED


@played
async def test_the_connections_of_a_client_are_closed(scene: Scene) -> None:
    clients = [await scene.client("app-1"), await scene.client("app-1"), await scene.client("app-2")]
    for client in clients:
        await client.ask(HEARTBEAT, HEART)
    assert (await scene.fault(disconnect="app-1")).outcome == "closed 2 connections of app-1"
    for client in clients[:2]:
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await client.ask(HEARTBEAT, HEART)
    assert (await clients[2].ask(HEARTBEAT, HEART)).error_code


@played
async def test_topics_are_created_grown_recreated_and_deleted(scene: Scene) -> None:
    async def partitions() -> dict[str, tuple[int, Any]]:
        fields = {"topics": None, "include_topic_authorized_operations": False}
        answer = await scene.operator.ask(METADATA, fields, 12)
        return {topic.name: (len(topic.partitions), topic.topic_id) for topic in answer.topics}

    assert (await scene.fault(topic="orders", create=2)).error_code == 0
    first = (await partitions())["orders"]
    assert (await scene.fault(topic="orders", create=2)).error_code
    await scene.fault(topic="orders", partitions=3)
    assert (await partitions())["orders"] == (3, first[1])
    await scene.fault(topic="orders", recreate=4)
    count, topic_id = (await partitions())["orders"]
    assert (first[0], count) == (2, 4)
    assert topic_id != first[1]
    await scene.fault(topic="orders", delete=True)
    assert not await partitions()


@played
async def test_a_coordinator_that_moves_loads_its_groups(scene: Scene) -> None:
    client = await scene.client()
    heart = await _stable_classic_member(client, None)
    done = await scene.fault(coordinator="move", group="billing", **{"for": 0.5})
    assert done.outcome == "the coordinator of billing is now broker 1, which loads for 500 ms"
    code = (await client.ask(HEARTBEAT, heart)).error_code
    assert code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    while code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        await asyncio.sleep(0.05)
        code = (await client.ask(HEARTBEAT, heart)).error_code
    assert code == ErrorCode.NONE
    assert (await scene.fault(coordinator="move", group="billing", to=7)).error_code
    assert not (await scene.fault(coordinator="move")).error_code
    assert (await client.ask(HEARTBEAT, heart)).error_code == ErrorCode.NONE


JOINING = {
    "group_id": "billing",
    "session_timeout_ms": 45_000,
    "rebalance_timeout_ms": 60_000,
    "protocol_type": "consumer",
    "protocols": [{"name": "range", "metadata": b""}],
}


async def _stable_classic_member(client: WireClient, instance: str | None) -> dict[str, Any]:
    """Create a classic group with one member. Returns the fields of its heartbeats."""
    fields = {**JOINING, "group_instance_id": instance, "member_id": ""}
    joined = await client.ask(JOIN_GROUP, fields)
    if joined.error_code == ErrorCode.MEMBER_ID_REQUIRED:
        joined = await client.ask(JOIN_GROUP, {**fields, "member_id": joined.member_id})
    heart = {"group_id": "billing", "group_instance_id": instance, "member_id": joined.member_id}
    heart["generation_id"] = joined.generation_id
    assignments = [{"member_id": joined.member_id, "assignment": b"all"}]
    synced = await client.ask(SYNC_GROUP, {**heart, **PROTOCOL, "assignments": assignments})
    assert synced.error_code == ErrorCode.NONE
    assert (await client.ask(HEARTBEAT, heart)).error_code == ErrorCode.NONE
    return heart


@pytest.mark.parametrize("by", ["member id", "client id"])
@pytest.mark.parametrize("verb", ["expire", "fence"])
@played
async def test_a_dynamic_classic_member_is_put_out(scene: Scene, verb: str, by: str) -> None:
    client = await scene.client()
    heart = await _stable_classic_member(client, None)
    name = heart["member_id"] if by == "member id" else "app-1"
    done = await scene.fault(**{verb: name, "group": "billing"})
    assert (done.error_message, done.error_code) == (None, ErrorCode.NONE)
    assert (await client.ask(HEARTBEAT, heart)).error_code == ErrorCode.UNKNOWN_MEMBER_ID


@played
async def test_a_static_classic_member_is_fenced(scene: Scene) -> None:
    client = await scene.client()
    heart = await _stable_classic_member(client, "instance-1")
    done = await scene.fault(fence="instance-1", group="billing")
    assert (done.error_message, done.error_code) == (None, ErrorCode.NONE)
    assert (await client.ask(HEARTBEAT, heart)).error_code == ErrorCode.FENCED_INSTANCE_ID
    assert (await scene.fault(expire="stranger", group="billing")).error_code


@pytest.mark.parametrize(
    ("verb", "instance", "code"),
    [
        ("expire", None, ErrorCode.UNKNOWN_MEMBER_ID),
        ("expire", "instance-1", ErrorCode.UNKNOWN_MEMBER_ID),
        ("fence", None, ErrorCode.FENCED_MEMBER_EPOCH),
        ("fence", "instance-1", ErrorCode.FENCED_INSTANCE_ID),
    ],
)
@played
async def test_a_member_of_a_consumer_group_is_put_out(
    scene: Scene, verb: str, instance: str | None, code: ErrorCode
) -> None:
    client = await scene.client()
    heart: dict[str, Any] = {"group_id": "billing", "member_id": "m-1", "instance_id": instance}
    joining = {"rebalance_timeout_ms": 60_000, "subscribed_topic_names": ["orders"], "topic_partitions": []}
    joined = await client.ask(CONSUMER_GROUP_HEARTBEAT, {**heart, "member_epoch": 0, **joining})
    assert joined.error_code == ErrorCode.NONE
    heart |= {"member_epoch": joined.member_epoch, "topic_partitions": None}
    done = await scene.fault(**{verb: "m-1", "group": "billing"})
    assert (done.error_message, done.error_code) == (None, ErrorCode.NONE)
    assert (await client.ask(CONSUMER_GROUP_HEARTBEAT, heart)).error_code == code
