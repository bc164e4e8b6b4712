"""Two well-behaved members, which run next to badly behaved clients."""

import asyncio
import time
from typing import Any, Self

from tests.conformance.cluster import Cluster
from tests.conformance.messages import request, response_type
from tests.conformance.peer import Peer
from tests.coordinator.server.running import HOST

BEAT_S = 0.05
SESSION_MS = 20_000
"""Longer than a busy machine makes a heartbeat late, and far shorter than a server that hangs."""
CLASSIC, CONSUMER = "neighbor-classic", "neighbor-consumer"
TOPIC = "neighbor-orders"
PARTITIONS = 4


class Neighbor:
    """A classic member and a member of the consumer protocol; they send heartbeats and check every answer."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._beating: asyncio.Task[None] | None = None
        self._classic: dict[str, Any] = {}
        self._consumer: dict[str, Any] = {}
        self.beats = 0
        self.longest_s = 0.0  # the longest wait for an answer to a heartbeat

    async def __aenter__(self) -> Self:
        await self._join_classic()
        await self._join_consumer()
        self._beating = asyncio.create_task(self._beat())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Check that neither member was affected. :raises AssertionError:"""
        before = self.beats
        async with asyncio.timeout(60):
            while self.beats < before + 2 and self._beating is not None and not self._beating.done():
                await asyncio.sleep(BEAT_S)
        if self._beating is not None:
            self._beating.cancel()
            (outcome,) = await asyncio.gather(self._beating, return_exceptions=True)
            if not isinstance(outcome, asyncio.CancelledError):
                raise AssertionError(f"a heartbeat was not answered as ever: {outcome}")
        await self._leave()
        await self._peer.close()

    @classmethod
    async def at(cls, port: int) -> Self:
        peer = await Peer.connect(HOST, port)
        cluster = Cluster(peer)
        if TOPIC not in await cluster.ids([TOPIC]):
            await cluster.create({TOPIC: PARTITIONS})
        return cls(peer)

    async def _ask(self, api: str, version: int, **fields: Any) -> Any:
        message = request(api, version, **fields)
        return await self._peer.send(message, response_type(api, version), client_id="neighbor")

    async def _join_classic(self) -> None:
        joining = {
            "group_id": CLASSIC,
            "session_timeout": SESSION_MS,
            "rebalance_timeout": SESSION_MS,
            "protocol_type": "consumer",
            "protocols": [{"name": "range", "metadata": b""}],
        }
        assigned_id = await self._ask("JoinGroup", 9, **joining)
        joined = await self._ask("JoinGroup", 9, **joining, member_id=assigned_id.member_id)
        assert not joined.error_code
        self._classic = {"member_id": joined.member_id, "generation_id": joined.generation_id}
        fields = {"group_id": CLASSIC, "protocol_type": "consumer", "protocol_name": "range", **self._classic}
        mine = {"member_id": joined.member_id, "assignment": b"mine"}
        synced = await self._ask("SyncGroup", 5, **fields, assignments=[mine])
        assert (synced.error_code, synced.assignment) == (0, b"mine")

    async def _join_consumer(self) -> None:
        joined = await self._heartbeat(
            member_epoch=0, rebalance_timeout=SESSION_MS, subscribed_topic_names=[TOPIC], topic_partitions=[]
        )
        (assigned,) = joined.assignment.topic_partitions
        assert (joined.error_code, assigned.partitions) == (0, tuple(range(PARTITIONS)))
        self._consumer = {"member_epoch": joined.member_epoch}

    async def _heartbeat(self, **fields: Any) -> Any:
        return await self._ask("ConsumerGroupHeartbeat", 1, group_id=CONSUMER, member_id="neighbor", **fields)

    async def _beat(self) -> None:
        while True:
            sent_s = time.monotonic()
            classic = await self._ask("Heartbeat", 4, group_id=CLASSIC, **self._classic)
            between_s = time.monotonic()
            consumer = await self._heartbeat(**self._consumer)
            self.longest_s = max(self.longest_s, between_s - sent_s, time.monotonic() - between_s)
            assert not classic.error_code
            assert (consumer.error_code, consumer.assignment) == (0, None)
            assert consumer.member_epoch == self._consumer["member_epoch"]
            self.beats += 1
            await asyncio.sleep(BEAT_S)

    async def _leave(self) -> None:
        leaving = [{"member_id": self._classic["member_id"]}]
        left = await self._ask("LeaveGroup", 5, group_id=CLASSIC, members=leaving)
        assert [one.error_code for one in left.members] == [0]
        assert not (await self._heartbeat(member_epoch=-1)).error_code
