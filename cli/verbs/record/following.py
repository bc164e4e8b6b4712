"""Follows every partition of `__consumer_offsets`: the bytes after the positions, and the gaps in between."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from wire.client.cluster import Ask, KafkaClient
from wire.client.connection import Connection
from wire.client.errors import Answers
from wire.client.log_searches import fetch
from wire.client.metadata import OFFSETS_TOPIC, ClusterMetadata, TopicPartition
from wire.client.offsets import EARLIEST, LATEST, OffsetsAtTimes, list_offsets, offsets_at
from wire.client.steps import Deadline, Replies
from wire.errors import ErrorCode, Failure

WAIT_MS = 500  # the time that a broker waits for records, if there are none
PARTITION_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """Whole batches, and perhaps the beginning of another one, at a position of a partition."""

    log_partition: int
    position: int
    records: bytes
    end: int  # the high watermark

    @property
    def name(self) -> str:
        return f"{OFFSETS_TOPIC}-{self.log_partition}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """The log starts after the position, or ends before it; reading continues at `resumed`."""

    log_partition: int
    position: int
    resumed: int

    @property
    def reason(self) -> str:
        if self.resumed > self.position:
            return "deleted before they were read"
        return "the cluster lost them again: the log was truncated"


Answer: TypeAlias = Fetched | Lost | Failure


class Follower:
    """The positions are those of the caller: a call returns what is after them. Raises WireError."""

    def __init__(self, client: KafkaClient) -> None:
        self._client = client
        self._metadata: ClusterMetadata | None = None

    def partitions(self) -> int | Failure:
        """The number of partitions of the log: 0 before the first group of a cluster."""
        self._metadata = metadata = self._client.metadata([OFFSETS_TOPIC])
        failure = metadata.failed.get(OFFSETS_TOPIC)
        if failure is not None and failure.code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            return failure
        topic = metadata.topics.get(OFFSETS_TOPIC)
        return 0 if topic is None else len(topic.partitions)

    def starts(self, partitions: Collection[int], time_ms: Mapping[int, int]) -> dict[int, int | Failure]:
        """The first offset of each partition, or that of its time."""
        keys = [(OFFSETS_TOPIC, number) for number in partitions]
        begins = offsets_at(self._client, keys, [EARLIEST])
        timed = {(OFFSETS_TOPIC, number): at for number, at in time_ms.items() if number in partitions}
        at_times = offsets_at(self._client, timed, [OffsetsAtTimes(timed), LATEST])
        starts: dict[int, int | Failure] = {key[1]: failure for key, failure in begins.failed.items()}
        starts |= {key[1]: begin for key, (begin,) in begins.found.items()}
        starts |= {key[1]: failure for key, failure in at_times.failed.items()}
        for key, (offset, end) in at_times.found.items():
            starts[key[1]] = end if offset < 0 else offset
        return starts

    def fetch(self, positions: Mapping[int, int]) -> Iterator[tuple[int, Answer]]:
        """What each partition has after its position. Waits for `WAIT_MS` if there is nothing."""
        answers: Answers[TopicPartition, Fetched | Lost] = self._client.ask_leaders(
            [(OFFSETS_TOPIC, number) for number in positions], self._asking(positions), known=self._metadata
        )
        if answers.failed:
            self._metadata = None
        for (_, number), answer in {**answers.found, **answers.failed}.items():
            yield number, answer

    def _asking(self, positions: Mapping[int, int]) -> Ask[TopicPartition, Fetched | Lost]:
        def ask(
            leader: Connection, partitions: Collection[TopicPartition], deadline: Deadline
        ) -> Replies[TopicPartition, Fetched | Lost]:
            offsets = {key: positions[key[1]] for key in partitions}
            answers = yield from fetch(leader, offsets, PARTITION_BYTES, deadline, max_wait_ms=WAIT_MS)
            replies: dict[TopicPartition, Fetched | Lost | Failure] = {}
            outside = []
            for key, offset in offsets.items():
                answer = answers.get(key)
                if isinstance(answer, Failure):
                    replies[key] = answer
                    if answer.code == ErrorCode.OFFSET_OUT_OF_RANGE:
                        outside.append(key)
                else:
                    replies[key] = Fetched(
                        log_partition=key[1],
                        position=offset,
                        records=(answer and answer.records) or b"",
                        end=offset if answer is None else answer.high_watermark,
                    )
            if outside:
                bounds = yield from list_offsets([EARLIEST, LATEST], leader, outside, deadline)
                for key in outside:
                    bound = bounds.get(key)
                    if isinstance(bound, tuple):
                        begin, end = bound
                        resumed = begin if begin > offsets[key] else end
                        replies[key] = Lost(log_partition=key[1], position=offsets[key], resumed=resumed)
            return replies

        return ask
