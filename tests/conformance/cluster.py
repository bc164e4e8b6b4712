"""Topics of a server under test, created and changed over the wire."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from tests.conformance.messages import plain, request, response_type
from tests.conformance.peer import Peer

TIMEOUT_MS = 30_000
# The metadata that a client is shown and those the group coordinator works with change one after the other.
SETTLED_S = 0.2
# Groups enough to fall on every partition of __consumer_offsets.
PROBES = 20


class Cluster:
    """A connection for requests that concern no group."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def ask(self, api: str, version: int, **fields: Any) -> Any:
        return plain(await self._peer.send(request(api, version, **fields), response_type(api, version)))

    async def close(self) -> None:
        await self._peer.close()

    async def create(self, partitions: Mapping[str, int]) -> None:
        topics = [
            {"name": name, "num_partitions": count, "replication_factor": 1}
            for name, count in partitions.items()
        ]
        if topics:
            answer = await self.ask("CreateTopics", 7, topics=topics, timeout=TIMEOUT_MS)
            _check(answer["topics"])
            await self._shown(partitions)

    async def wait_for_coordinator(self, partitions: Mapping[str, int]) -> None:
        """Wait until the group coordinator knows the topics: each of its partitions learns of them separately."""
        total = sum(partitions.values())
        for number in range(PROBES):
            group = f"probe-{number}"
            fields = {"group_id": group, "member_id": "probe"}
            joining = {"rebalance_timeout": TIMEOUT_MS, "subscribed_topic_names": list(partitions)}
            for _ in range(600):
                answer = await self.ask("ConsumerGroupHeartbeat", 1, **fields, **joining, topic_partitions=[])
                assigned = (answer["assignment"] or {"topic_partitions": ()})["topic_partitions"]
                if sum(len(one["partitions"]) for one in assigned) == total:
                    break
                await asyncio.sleep(0.05)
            await self.ask("ConsumerGroupHeartbeat", 1, **fields, member_epoch=-1)
            await self.ask("DeleteGroups", 2, groups_names=[group])

    async def grow(self, partitions: Mapping[str, int]) -> None:
        topics = [{"name": name, "count": count, "assignments": None} for name, count in partitions.items()]
        answer = await self.ask("CreatePartitions", 3, topics=topics, timeout=TIMEOUT_MS)
        _check(answer["results"])
        await self._shown(partitions)

    async def drop(self, names: Iterable[str]) -> None:
        gone = list(names)
        topics = [{"name": name, "topic_id": None} for name in gone]
        answer = await self.ask("DeleteTopics", 6, topics=topics, timeout=TIMEOUT_MS)
        _check(answer["responses"])
        await self._shown(dict.fromkeys(gone, 0))

    async def ids(self, names: Iterable[str]) -> dict[str, UUID]:
        topics = [{"name": name, "topic_id": None} for name in names]
        if not topics:
            return {}
        answer = await self.ask("Metadata", 12, topics=topics)
        return {one["name"]: one["topic_id"] for one in answer["topics"] if not one["error_code"]}

    async def _shown(self, partitions: Mapping[str, int]) -> None:
        for _ in range(600):
            topics = [{"name": name, "topic_id": None} for name in partitions]
            answer = await self.ask("Metadata", 12, topics=topics)
            counts = {
                one["name"]: sum(partition["leader_id"] >= 0 for partition in one["partitions"])
                for one in answer["topics"]
            }
            if all(counts.get(name, 0) == count for name, count in partitions.items()):
                await asyncio.sleep(SETTLED_S)
                return
            await asyncio.sleep(0.05)
        raise TimeoutError(f"the server does not show {dict(partitions)}")


def _check(results: list[dict[str, Any]]) -> None:
    refused = {one["name"]: one["error_code"] for one in results if one["error_code"]}
    if refused:
        raise RuntimeError(f"topics were refused: {refused}")
