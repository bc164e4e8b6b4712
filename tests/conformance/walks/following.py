"""Kohort's server in this process, with the ids that a real broker has given: to topics, and to members. What a broker
decides by the order of a hash map, who leads, who gets which partition, hangs on these ids. Where both have the same
ones, both decide alike, and can be compared to the last detail."""

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from unittest.mock import patch
from uuid import UUID

from coordinator.configs.properties import parse_settings
from coordinator.engine.calls import Call, CoordinatorResult, RegexRefresh
from coordinator.engine.engine import Engine
from coordinator.engine.records import Record
from coordinator.server import cluster as cluster_module
from coordinator.server import topics as topics_module
from coordinator.server.cluster import Cluster
from coordinator.server.listener import Listener, close_all
from tests.conformance.play import Server
from tests.kafka.ports import HOST


class FollowingEngine(Engine):
    """An engine that gives the next new member of a client id a chosen id, and keeps its records."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._ids: dict[str, UUID] = {}
        self.written: dict[str, list[Record]] = {}  # by group
        self.heard: Counter[str] = Counter()  # Handled calls, by client id

    def follow(self, client_id: str, fresh_id: UUID) -> None:
        """Choose the member id that the next call of this client creates."""
        self._ids[client_id] = fresh_id

    def handle(self, call: Call) -> CoordinatorResult:
        followed = call._replace(fresh_id=self._ids.pop(call.client_id, call.fresh_id))
        self.heard[call.client_id] += 1
        return self._noted(super().handle(followed))

    def expire(self, now_ms: int) -> CoordinatorResult:
        return self._noted(super().expire(now_ms))

    def regexes_matched(
        self, refresh: RegexRefresh, matched: Mapping[str, tuple[str, ...]], now_ms: int
    ) -> CoordinatorResult:
        return self._noted(super().regexes_matched(refresh, matched, now_ms))

    def _noted(self, result: CoordinatorResult) -> CoordinatorResult:
        for record in result.records:
            self.written.setdefault(record.group, []).append(record)
        return result


class Following:
    """Listening brokers; their state: `engine`."""

    def __init__(self, cluster: Cluster, engine: FollowingEngine) -> None:
        self._cluster = cluster
        self.engine = engine

    def coordinator(self, group: str) -> Server:
        broker = self._cluster.coordinator_of(group) or self._cluster.controller
        return Server(name="Kohort", host=HOST, port=broker.port)

    def create(self, topics: Mapping[str, tuple[UUID, int]]) -> None:
        """Create topics: id and number of partitions by name."""
        for name, (topic_id, partitions) in topics.items():
            with patch.object(topics_module, "uuid4", return_value=topic_id):
                self._cluster.topics.create(name, partitions)
        self._cluster.topics_changed()


@asynccontextmanager
async def following(settings: Mapping[str, str], brokers: int) -> AsyncIterator[Following]:
    engines: list[FollowingEngine] = []

    def make(*args: Any, **settings: Any) -> FollowingEngine:
        engines.append(FollowingEngine(*args, **settings))
        return engines[-1]

    with patch.object(cluster_module, "Engine", make):
        cluster = Cluster(*parse_settings(settings), brokers=brokers)
    cluster.start()
    try:
        for broker in cluster.brokers.values():
            await Listener.open(cluster, broker, HOST, 0)
        yield Following(cluster, engines[-1])
    finally:
        await close_all(cluster)
        await cluster.close()
