"""A member of the consumer protocol made of heartbeats alone: it gives partitions up when a test says so."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID, uuid4

from kio.schema.consumer_group_heartbeat.v1.request import ConsumerGroupHeartbeatRequest, TopicPartitions
from kio.schema.consumer_group_heartbeat.v1.response import ConsumerGroupHeartbeatResponse
from kio.schema.errors import ErrorCode
from kio.schema.types import GroupId, TopicName
from kio.static.primitive import i32, i32Timedelta

from tests.kafka.broker import Broker
from tests.kafka.coordinator import wait_for_coordinator
from tests.kafka.wait import wait_until
from tests.kafka.wire import ask

REBALANCE_TIMEOUT = i32Timedelta.parse(timedelta(minutes=5))
"""Longer than a test: nobody is thrown out for giving nothing up."""
LOADING = (ErrorCode.coordinator_load_in_progress, ErrorCode.not_coordinator)
LEAVE = i32(-1)
STATIC_LEAVE = i32(-2)


@dataclass(slots=True, kw_only=True)
class RawConsumer:
    """See the module. `owned` is what it says it has: what the broker gave it last, once `accept` was called."""

    broker: Broker
    group: str
    topics: tuple[str, ...]
    instance: str | None = None
    id: str = field(default_factory=lambda: str(uuid4()))
    epoch: int = 0
    given: dict[UUID, tuple[int, ...]] = field(default_factory=dict)
    owned: dict[UUID, tuple[int, ...]] = field(default_factory=dict)

    def join(self) -> None:
        """The first heartbeat, as soon as the coordinator has loaded its partitions."""
        request = ConsumerGroupHeartbeatRequest(
            group_id=GroupId(self.group),
            member_id=self.id,
            member_epoch=i32(0),
            instance_id=self.instance,
            rebalance_timeout=REBALANCE_TIMEOUT,
            subscribed_topic_names=tuple(map(TopicName, self.topics)),
            topic_partitions=(),
        )

        def joined() -> ConsumerGroupHeartbeatResponse | None:
            answer = ask(self.broker.port, request, ConsumerGroupHeartbeatResponse)
            return None if answer.error_code in LOADING else answer

        wait_for_coordinator(self.broker)
        self._take(wait_until(joined, "the coordinator has loaded"))

    def heartbeat(self) -> None:
        """One that says what it owns."""
        owned = tuple(
            TopicPartitions(topic_id=topic, partitions=tuple(map(i32, numbers)))
            for topic, numbers in self.owned.items()
        )
        self._take(self._ask(self._request(i32(self.epoch), owned)))

    def accept(self) -> None:
        """Have what the broker gives, nothing else, and say so."""
        self.owned = dict(self.given)
        self.heartbeat()
        if self.given != self.owned:
            self.accept()

    def has(self, count: int) -> bool:
        """Whether it has so many partitions, after taking what there is: a new topic takes a moment."""
        self.accept()
        return sum(map(len, self.owned.values())) == count

    def leave(self, epoch: i32 = LEAVE) -> None:
        """For good, or, static, for a while."""
        self._ask(self._request(epoch, None))

    def _request(
        self, epoch: i32, owned: tuple[TopicPartitions, ...] | None
    ) -> ConsumerGroupHeartbeatRequest:
        return ConsumerGroupHeartbeatRequest(
            group_id=GroupId(self.group),
            member_id=self.id,
            member_epoch=epoch,
            instance_id=self.instance,
            topic_partitions=owned,
        )

    def _take(self, answer: ConsumerGroupHeartbeatResponse) -> None:
        assert answer.error_code is ErrorCode.none, answer
        self.epoch = int(answer.member_epoch)
        if answer.assignment is not None:
            self.given = {
                each.topic_id: tuple(map(int, each.partitions))
                for each in answer.assignment.topic_partitions
                if each.topic_id is not None
            }

    def _ask(self, request: ConsumerGroupHeartbeatRequest) -> ConsumerGroupHeartbeatResponse:
        answer = ask(self.broker.port, request, ConsumerGroupHeartbeatResponse)
        assert answer.error_code is ErrorCode.none, answer
        return answer
