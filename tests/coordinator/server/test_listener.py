"""Requests in pieces, many clients, idle clients, and clients that do not read."""

import asyncio
import resource
from contextlib import AsyncExitStack
from typing import Any

import pytest

from coordinator.server import connection, limits
from coordinator.server.broker import Broker
from coordinator.server.cluster import Cluster
from coordinator.server.connection import KEPT_FREE, as_java_shows, most_connections
from tests.conformance.messages import encoded, request, response_type
from tests.conformance.peer import Closed, Peer
from tests.coordinator.server.running import DEADLINE_S, HOST, connected, on_cluster, running
from wire.messages.framing import MAX_FRAME_BYTES

VERSIONS = request("ApiVersions", 0)
VERSIONS_REQUEST = encoded(VERSIONS, 1, None, "tests")
FRAME = len(VERSIONS_REQUEST).to_bytes(4, "big") + VERSIONS_REQUEST
JOIN = {
    "group_id": "g",
    "session_timeout": 30_000,
    "rebalance_timeout": 60_000,
    "protocol_type": "consumer",
    "protocols": [{"name": "range", "metadata": b""}],
}


async def versions(peer: Peer) -> Any:
    return await asyncio.wait_for(peer.send(VERSIONS, response_type("ApiVersions", 0)), DEADLINE_S)


async def answer_to(port: int, *chunks: bytes) -> bytes:
    """What is answered until the connection is closed; others must still be served."""
    async with connected(port) as (reader, writer):
        for chunk in chunks:
            writer.write(chunk)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
        try:
            answer = await asyncio.wait_for(reader.read(), DEADLINE_S)
        except ConnectionResetError:
            answer = b""
    peer = await Peer.connect(HOST, port)
    assert not (await versions(peer)).error_code
    await peer.close()
    return answer


@on_cluster()
async def test_a_request_may_come_in_pieces(cluster: Cluster) -> None:
    whole = await answer_to(cluster.controller.port, FRAME)
    assert whole
    for cut in range(1, len(FRAME)):
        assert await answer_to(cluster.controller.port, FRAME[:cut], FRAME[cut:]) == whole, cut


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "IDLE_S", 0.5)
    monkeypatch.setattr(connection, "SWEEP_S", 0.05)


@pytest.mark.parametrize(
    "sent", [b"", b"\0\0", b"\0\0\0\x20half a request"], ids=["nothing", "length", "half"]
)
def test_an_idle_client_is_disconnected(impatient: None, sent: bytes) -> None:
    async def scene() -> bytes:
        async with running() as broker, connected(broker.port) as (reader, writer):
            writer.write(sent)
            try:
                return await asyncio.wait_for(reader.read(), DEADLINE_S)
            except ConnectionResetError:
                return b""

    assert asyncio.run(scene()) == b""


def test_a_client_that_does_not_read_is_disconnected(impatient: None) -> None:
    async def ask(writer: asyncio.StreamWriter) -> None:
        while True:
            writer.write(FRAME * 1000)
            await writer.drain()

    async def scene() -> None:
        async with running() as broker, connected(broker.port, limit=1) as (_, writer):
            with pytest.raises(ConnectionError):
                await asyncio.wait_for(ask(writer), DEADLINE_S)

    asyncio.run(scene())


def test_a_client_that_waits_for_an_answer_is_not(impatient: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "IDLE_S", 2.0)  # long enough to send a request first, on any machine
    answers = response_type("JoinGroup", 3)

    async def scene() -> None:
        async with running() as broker:
            first = await Peer.connect(HOST, broker.port)
            joined = await first.send(request("JoinGroup", 3, **JOIN), answers)
            second = await Peer.connect(HOST, broker.port)
            parked = second.send(request("JoinGroup", 3, **JOIN), answers)
            await asyncio.wait_for(first.ended(), DEADLINE_S)
            witness = await Peer.connect(HOST, broker.port)
            await versions(witness)
            await asyncio.wait_for(witness.ended(), DEADLINE_S)  # as long as a client may be idle
            assert not parked.done()
            again = await Peer.connect(HOST, broker.port)
            await again.send(request("JoinGroup", 3, **JOIN, member_id=joined.member_id), answers)
            assert (await asyncio.wait_for(parked, DEADLINE_S)).generation_id == 2
            for peer in (first, second, again, witness):
                await peer.close()

    asyncio.run(scene())


@pytest.mark.parametrize("end", ["half", "whole"])
def test_a_wait_ends_with_its_client(monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    monkeypatch.setattr(connection, "most_connections", lambda: 3)
    topic = {"topic": "orders", "partitions": [{"partition": 0, "partition_max_bytes": 1}]}
    fetch = request("Fetch", 12, max_wait=2**31 - 1, min_bytes=1, topics=[topic])

    async def scene() -> None:
        async with running() as broker:
            made = await Peer.connect(HOST, broker.port)
            orders = {"name": "orders", "num_partitions": 1, "replication_factor": 1}
            await made.send(request("CreateTopics", 7, topics=[orders]), response_type("CreateTopics", 7))
            for _ in range(10):
                async with connected(broker.port) as (reader, writer):
                    content = encoded(fetch, 1, None, "tests")
                    writer.write(len(content).to_bytes(4, "big") + content)
                    await asyncio.sleep(0.01)
                    if end == "half":
                        writer.write_eof()
                        assert await asyncio.wait_for(reader.read(), DEADLINE_S) == b""
                assert not (await versions(made)).error_code
            peers = [made]
            async with asyncio.timeout(DEADLINE_S):
                while len(peers) < 3:  # all the room there is
                    peers.append(await Peer.connect(HOST, broker.port))
                    try:
                        await versions(peers[-1])
                    except Closed:
                        await peers.pop().close()
            for peer in peers:
                await peer.close()

    asyncio.run(scene())


def test_a_client_too_many_is_refused_and_the_others_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "most_connections", lambda: 3)

    async def refused(broker: Broker) -> bool:
        peer = await Peer.connect(HOST, broker.port)
        try:
            await versions(peer)
        except Closed:
            return True
        finally:
            await peer.close()
        return False

    async def scene() -> None:
        async with running() as broker:
            peers = [await Peer.connect(HOST, broker.port) for _ in range(3)]
            for peer in peers:
                assert not (await versions(peer)).error_code
            assert await refused(broker)
            await peers.pop().close()
            async with asyncio.timeout(DEADLINE_S):
                while await refused(broker):
                    await asyncio.sleep(0.01)
            for peer in peers:
                assert not (await versions(peer)).error_code
                await peer.close()

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("limit", "stalled_s", "ended"), [(1 << 20, 60.0, 3), (1 << 30, 0.1, 8)], ids=["memory", "time"]
)
def test_requests_that_stop_halfway_end(
    monkeypatch: pytest.MonkeyPatch, impatient: None, limit: int, stalled_s: float, ended: int
) -> None:
    monkeypatch.setattr(connection, "IDLE_S", DEADLINE_S)
    monkeypatch.setattr(limits, "MOST_RECEIVED", limit)
    monkeypatch.setattr(limits, "STALLED_S", stalled_s)
    half = MAX_FRAME_BYTES.to_bytes(4, "big") + bytes(200_000)

    async def scene() -> None:
        async with running() as broker, AsyncExitStack() as stack:
            ends = []
            for _ in range(8):
                reader, writer = await stack.enter_async_context(connected(broker.port))
                writer.write(half)
                await writer.drain()
                ends.append(asyncio.create_task(reader.read()))
            async with asyncio.timeout(DEADLINE_S):
                while sum(end.done() for end in ends) < ended:
                    await asyncio.sleep(0.01)
            assert sum(end.done() for end in ends) == ended
            for end in ends:
                end.cancel()
            await asyncio.gather(*ends, return_exceptions=True)

    asyncio.run(scene())


def test_as_many_connections_as_there_are_files() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        assert most_connections() == resource.getrlimit(resource.RLIMIT_NOFILE)[0] - KEPT_FREE
        if hard == resource.RLIM_INFINITY or hard >= KEPT_FREE + 1000:
            assert most_connections() >= 1000
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize(
    ("host", "shown"),
    [("127.0.0.1", "/127.0.0.1"), ("::1", "/0:0:0:0:0:0:0:1"), ("fe80::a0:1%lo", "/fe80:0:0:0:0:0:a0:1")],
)
def test_hosts_are_shown_as_java_shows_them(host: str, shown: str) -> None:
    assert as_java_shows(host) == shown
