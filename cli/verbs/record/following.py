"""Follows every partition of `__consumer_offsets`: the bytes after the positions, and the gaps in between. The client
is opened again after errors, until a signal stops it."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias
from uuid import UUID

from cli.errors import CommandError
from cli.output import notice
from cli.selection import ReusableSource
from cli.sources.wire_source import WireSource
from cli.stopping import StopFlag
from wire.client.cluster import Ask, KafkaClient
from wire.client.connection import Connection
from wire.client.errors import Answers, WireError
from wire.client.log_searches import NO_EPOCH, fetch
from wire.client.metadata import OFFSETS_TOPIC, ClusterMetadata, TopicPartition
from wire.client.offsets import EARLIEST, LATEST, OffsetsAtTimes, list_offsets, offsets_at
from wire.client.sasl import why_unsupported
from wire.client.steps import Deadline, Replies
from wire.errors import ErrorCode, Failure

PAUSES_S = (1.0, 2.0, 5.0, 10.0, 30.0)  # between attempts to reach the cluster
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


@dataclass(frozen=True, slots=True)
class Lost:
    """The log starts after the position, ends before it, or has other records before it, of other leaders; reading
    continues at `resumed`, after a record of `epoch`."""

    log_partition: int
    position: int
    resumed: int
    epoch: int = NO_EPOCH  # unknown


Answer: TypeAlias = Fetched | Lost | Failure


class Follower:
    """The positions are those of the caller: a call returns what is after them. Raises WireError."""

    def __init__(self, client: KafkaClient) -> None:
        self.client = client
        self._metadata: ClusterMetadata | None = None

    def partitions(self) -> int | Failure:
        """The number of partitions of the log: 0 before the first group of a cluster."""
        self._metadata = metadata = self.client.metadata([OFFSETS_TOPIC])
        failure = metadata.failed.get(OFFSETS_TOPIC)
        if failure is not None and failure.code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            return failure
        topic = metadata.topics.get(OFFSETS_TOPIC)
        return 0 if topic is None else len(topic.partitions)

    def starts(self, partitions: Collection[int], time_ms: Mapping[int, int]) -> dict[int, int | Failure]:
        """The first offset of each partition, or that of its time."""
        times = {(OFFSETS_TOPIC, number): time_ms.get(number, 0) for number in partitions}
        answers = offsets_at(self.client, times, [EARLIEST, OffsetsAtTimes(times), LATEST])
        starts: dict[int, int | Failure] = {key[1]: failure for key, failure in answers.failed.items()}
        for (_, number), (begin, offset, end) in answers.found.items():
            starts[number] = begin if number not in time_ms else end if offset < 0 else offset
        return starts

    def fetch(self, positions: Mapping[int, tuple[int, int]]) -> Iterator[tuple[int, Answer]]:
        """What each partition has after its position, an offset and the epoch of the record before it. Waits for
        `WAIT_MS` if there is nothing."""
        keyed = {(OFFSETS_TOPIC, number): position for number, position in positions.items()}
        answers: Answers[TopicPartition, Fetched | Lost] = self.client.ask_leaders(
            keyed, self._asking(keyed), known=self._metadata
        )
        if answers.failed:
            self._metadata = None
        for (_, number), answer in {**answers.found, **answers.failed}.items():
            yield number, answer

    def _asking(
        self, positions: Mapping[TopicPartition, tuple[int, int]]
    ) -> Ask[TopicPartition, Fetched | Lost]:
        def ask(
            leader: Connection, partitions: Collection[TopicPartition], deadline: Deadline
        ) -> Replies[TopicPartition, Fetched | Lost]:
            offsets = {key: positions[key][0] for key in partitions}
            epochs = {key: positions[key][1] for key in partitions}
            answers = yield from fetch(
                leader, offsets, PARTITION_BYTES, deadline, max_wait_ms=WAIT_MS, epochs=epochs
            )
            replies: dict[TopicPartition, Fetched | Lost | Failure] = {}
            outside = []
            for key, offset in offsets.items():
                answer = answers.get(key)
                if isinstance(answer, Failure):
                    replies[key] = answer
                    if answer.code == ErrorCode.OFFSET_OUT_OF_RANGE:
                        outside.append(key)
                elif answer is not None and (end := answer.diverging_epoch.end_offset) >= 0:
                    replies[key] = Lost(key[1], offset, min(end, offset), answer.diverging_epoch.epoch)
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
                        # Within the bounds, only the epoch is unknown to the leader.
                        resumed = min(max(offsets[key], begin), end)
                        replies[key] = Lost(key[1], offsets[key], resumed)
            return replies

        return ask


class RecordedCluster:
    """The client of a cluster, opened again after an error that may pass."""

    def __init__(self, opened: ReusableSource, stop: StopFlag) -> None:
        self._opened, self._stop = opened, stop
        self._failures, self._problem = 0, ""
        self._follower: Follower | None = None

    def get(self) -> Follower:
        """Raises WireError. Raises CommandError: only librdkafka can log in."""
        if self._follower is None:
            source = self._opened.get()
            if not isinstance(source, WireSource):
                settings = getattr(source, "settings", None)
                why = "" if settings is None else why_unsupported(settings)
                raise CommandError(f"{source.name}: kohort record needs Kohort's own client. {why}")
            self._follower = Follower(source.client)
        return self._follower

    def cluster_id(self) -> str | None:
        """The id of the cluster, once it answers; None if a signal comes first. Raises as `get`."""
        while not self._stop.is_set:
            try:
                return self.get().client.metadata([]).cluster_id or "unknown"
            except WireError as error:
                self.fail(error)
        return None

    def topic_names(self) -> dict[UUID, str]:
        try:
            topics = self.get().client.metadata(None).topics
        except WireError:
            return {}
        return {topic.topic_id: name for name, topic in topics.items() if topic.topic_id is not None}

    def fail(self, error: WireError) -> None:
        """Report an error and wait; an error that will not pass is raised again."""
        self._opened.close()
        self._follower = None
        if self._stop.is_set:
            return
        if not self._opened.may_pass(error):
            raise error
        if str(error) != self._problem:
            self._problem = str(error)
            notice(f"{self._problem.rstrip('.')}; this is tried again")
        self._stop.wait(PAUSES_S[min(self._failures, len(PAUSES_S) - 1)])
        self._failures += 1

    def succeed(self) -> None:
        if self._problem:
            notice("the cluster answers again")
        self._failures, self._problem = 0, ""
