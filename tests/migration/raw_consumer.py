"""A member of the consumer protocol made of heartbeats alone: it gives partitions up when a test says so."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from kio.schema.errors import ErrorCode

from tests.kafka.broker import RunningBroker
from tests.kafka.coordinator import wait_for_coordinator
from tests.kafka.wait import wait_until
from tests.kafka.wire import ask

REBALANCE_TIMEOUT_MS = timedelta(minutes=5) // timedelta(milliseconds=1)
"""Longer than a test: no member is removed for revoking nothing."""
LOADING = (ErrorCode.coordinator_load_in_progress, ErrorCode.not_coordinator)
LEAVE = -1
STATIC_LEAVE = -2


@dataclass(slots=True, kw_only=True)
class RawConsumer:
    """See the module. `owned` is what it says it has: what the broker gave it last, once `accept` was called."""

    broker: RunningBroker
    group: str
    topics: tuple[str, ...] = ()
    regex: str | None = None
    instance: str | None = None
    rebalance_timeout_ms: int = REBALANCE_TIMEOUT_MS
    id: str = field(default_factory=lambda: str(uuid4()))
    epoch: int = 0
    given: dict[UUID, tuple[int, ...]] = field(default_factory=dict)
    owned: dict[UUID, tuple[int, ...]] = field(default_factory=dict)

    def join(self) -> None:
        """The first heartbeat, which must be answered with an epoch."""
        self._take(self.try_to_join())

    def try_to_join(self) -> Any:
        """The answer to the first heartbeat, sent as soon as the coordinator has loaded its partitions."""

        def joined() -> Any:
            asked = {"subscribed_topic_names": self.topics, "subscribed_topic_regex": self.regex}
            answer = self._ask(0, topic_partitions=(), rebalance_timeout=self.rebalance_timeout_ms, **asked)
            return None if answer.error_code in LOADING else answer

        wait_for_coordinator(self.broker)
        return wait_until(joined, "the coordinator has loaded")

    def heartbeat(self) -> None:
        owned = [{"topic_id": topic, "partitions": numbers} for topic, numbers in self.owned.items()]
        self._take(self._ask(self.epoch, topic_partitions=owned))

    def listen(self) -> None:
        """Learn of the target without giving up anything: from now on the rebalance timeout runs."""
        self._take(self._ask(self.epoch, topic_partitions=None))

    def accept(self) -> None:
        """Have what the broker gives, nothing else, and say so."""
        self.owned = dict(self.given)
        self.heartbeat()
        if self.given != self.owned:
            self.accept()

    def has(self, count: int) -> bool:
        """Whether it has this many partitions, after taking what there is: a new topic takes a moment."""
        self.accept()
        return sum(map(len, self.owned.values())) == count

    def leave(self, epoch: int = LEAVE) -> None:
        """For good, or, static, for a while."""
        answer = self._ask(epoch, topic_partitions=None)
        assert answer.error_code is ErrorCode.none, answer

    def _take(self, answer: Any) -> None:
        assert answer.error_code is ErrorCode.none, answer
        self.epoch = int(answer.member_epoch)
        if answer.assignment is not None:
            given = [one for one in answer.assignment.topic_partitions if one.topic_id is not None]
            self.given = {one.topic_id: tuple(map(int, one.partitions)) for one in given}

    def _ask(self, epoch: int, **fields: Any) -> Any:
        member = {"group_id": self.group, "member_id": self.id, "instance_id": self.instance}
        return ask(self.broker.port, "ConsumerGroupHeartbeat", 1, **member, member_epoch=epoch, **fields)
