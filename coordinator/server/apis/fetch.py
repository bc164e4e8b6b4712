"""Fetch: reading records."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from coordinator.engine.topics import TopicInfo
from coordinator.errors import RequestRefused
from coordinator.partitions.fetch_sessions import NO_SESSION, PartitionKey, Result, Results
from coordinator.partitions.partition import Partition
from coordinator.server.apis import leadership
from coordinator.server.exchange import AnswerFields, Exchange
from wire.acls import Operation
from wire.errors import ErrorCode

if TYPE_CHECKING:
    from wire.messages.schemas.log_records import FetchRequest, FetchRequestTopicPartition


BY_ID = 13
SHOWS_LEADER = 16
COMMITTED = 1
MOST_BYTES = 55 << 20  # `fetch.max.bytes`: the limit of an answer, unless its first batch is larger
LONGEST_WAIT_MS = 2**31 - 1
NONE = -1
UNKNOWN = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID})


async def fetch(exchange: Exchange[FetchRequest]) -> AnswerFields:
    """Fetch v4–v18: sessions v7 (KIP-227), leader epochs v9 and v12, topic ids v13 (KIP-516), leaders v16 (KIP-951)."""
    request, sessions = exchange.request, exchange.broker.fetch_sessions
    by_id = exchange.version >= BY_ID
    begun = sessions.begin(request, exchange.cluster.now_ms(), by_id=by_id)
    if begun.error:
        return {"error_code": begun.error, "session_id": NO_SESSION, "responses": ()}
    results = await _results(exchange, begun.partitions)
    session_id, kept = begun.finish(results)
    return {
        "error_code": ErrorCode.NONE,
        "session_id": session_id,
        "responses": [
            {"topic": topic, "topic_id": topic_id, "partitions": [result for _, result in of_topic]}
            for (topic, topic_id), of_topic in groupby(kept.items(), key=lambda entry: entry[0][:2])
        ],
        "node_endpoints": leadership.endpoints(exchange, kept.values()),
    }


async def _results(
    exchange: Exchange[FetchRequest], requested: Sequence[tuple[PartitionKey, FetchRequestTopicPartition]]
) -> Results:
    loop = asyncio.get_running_loop()
    end = loop.time() + min(max(0, exchange.request.max_wait_ms), LONGEST_WAIT_MS) / 1000
    reading = _Reading(exchange)
    reading.read(requested)
    while requested and not reading.is_enough and loop.time() < end:
        await _change_of(reading.partitions, end)
        reading = _Reading(exchange)
        reading.read(requested)
    return reading.results


async def _change_of(partitions: Sequence[Partition], end: float) -> None:
    """Wait until one of the partitions has new records, at most until the loop's time `end`."""
    changed = asyncio.get_running_loop().create_future()

    def wake() -> None:
        if not changed.done():
            changed.set_result(None)

    alarm = asyncio.get_running_loop().call_at(end, wake)
    for partition in partitions:
        partition.watchers.add(wake)
    try:
        await changed
    finally:
        alarm.cancel()
        for partition in partitions:
            partition.watchers.discard(wake)


class _Reading:
    """One attempt to read the request's partitions, in their order."""

    def __init__(self, exchange: Exchange[FetchRequest]) -> None:
        self._exchange = exchange
        self._left = min(exchange.request.max_bytes, MOST_BYTES, exchange.cluster.limits.answer_bytes)
        self._wanted = min(exchange.request.min_bytes, self._left)
        self._bytes = 0
        self._is_urgent = False
        self.results: Results = {}
        self.partitions: list[Partition] = []  # the partitions without an error

    @property
    def is_enough(self) -> bool:
        return self._is_urgent or self._bytes >= self._wanted

    def read(self, requested: Sequence[tuple[PartitionKey, FetchRequestTopicPartition]]) -> None:
        for key, one in requested:
            result = self._partition(key, one)
            self.results[key] = result
            self._bytes += len(result["records"] or b"")
            self._left -= len(result["records"] or b"")
            self._is_urgent |= bool(result["error_code"]) or "diverging_epoch" in result

    def _partition(self, key: PartitionKey, requested: FetchRequestTopicPartition) -> Result:
        exchange, request = self._exchange, self._exchange.request
        topic: TopicInfo | None = None
        try:
            topic = leadership.topic_named(
                exchange, key.topic, key.topic_id, Operation.READ, by_id=exchange.version >= BY_ID
            )
            partition = leadership.led_partition(
                exchange, topic, key.partition, requested.current_leader_epoch
            )
            read = partition.read(
                requested.fetch_offset,
                min(requested.partition_max_bytes, self._left),
                committed=request.isolation_level == COMMITTED,
                at_least_one=not self._bytes,
                last_fetched_epoch=requested.last_fetched_epoch,
            )
        except (RequestRefused, OSError) as error:
            return self._refused(topic, key.partition, leadership.refusal(error))
        self.partitions.append(partition)

        result: Result = {
            "partition_index": key.partition,
            "error_code": ErrorCode.NONE,
            "high_watermark": read.high_watermark,
            "last_stable_offset": read.last_stable_offset,
            "log_start_offset": read.log_start_offset,
            "aborted_transactions": None
            if read.aborted is None
            else [{"producer_id": one.producer_id, "first_offset": one.first_offset} for one in read.aborted],
            "preferred_read_replica": NONE,
            "records": read.records,
        }
        if read.diverging is not None:
            epoch, end_offset = read.diverging
            result["diverging_epoch"] = {"epoch": epoch, "end_offset": end_offset}
        return result

    def _refused(self, topic: TopicInfo | None, number: int, error: RequestRefused) -> Result:
        refused: Result = {
            "partition_index": number,
            "error_code": error.code,
            "high_watermark": NONE,
            "last_stable_offset": NONE,
            "log_start_offset": NONE,
            "aborted_transactions": () if error.code in UNKNOWN else None,
            "preferred_read_replica": NONE,
            "records": b"",
        }
        if topic is not None and error.code in leadership.MOVED and self._exchange.version >= SHOWS_LEADER:
            refused["current_leader"] = leadership.current_leader(self._exchange, topic, number)
        return refused
