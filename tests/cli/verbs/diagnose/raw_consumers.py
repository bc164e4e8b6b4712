"""Members of the consumer protocol made of requests alone, which do what a test says and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.kafka.broker import Broker
from tests.kafka.wire import ask

JOINING, LEAVING, AWAY = 0, -1, -2


@dataclass(slots=True, kw_only=True)
class RawConsumer:
    """A member. It sends no heartbeat by itself: give its group a long session timeout."""

    broker: Broker
    group: str
    id: str
    topics: Sequence[str] = ()
    regex: str | None = None
    instance: str | None = None
    rebalance_timeout_ms: int = 300_000
    epoch: int = JOINING
    owned: list[Mapping[str, Any]] = field(default_factory=list)
    """As requests have it."""

    def join(self) -> None:
        """Join, or join again with the same id."""
        self.epoch, self.owned = JOINING, []
        self._send(
            rebalance_timeout=self.rebalance_timeout_ms,
            subscribed_topic_names=list(self.topics),
            subscribed_topic_regex=self.regex,
            topic_partitions=[],
        )

    def heartbeat(self) -> None:
        """Report what it was given as owned, which gives up everything else."""
        self._send(topic_partitions=self.owned)

    def listen(self) -> None:
        """Learn of the target without giving up anything: from now on the rebalance timeout runs."""
        self._send()

    def leave(self, epoch: int = LEAVING) -> None:
        """Leave for good; or, with AWAY and an instance, for a while."""
        self.epoch = epoch
        self._send()

    def _send(self, **fields: Any) -> None:
        names = (
            "rebalance_timeout",
            "subscribed_topic_names",
            "subscribed_topic_regex",
            "server_assignor",
            "topic_partitions",
        )
        answer = ask(
            self.broker.port,
            "ConsumerGroupHeartbeat",
            1,
            group_id=self.group,
            member_id=self.id,
            member_epoch=self.epoch,
            instance_id=self.instance,
            rack_id=None,
            **{**dict.fromkeys(names), "rebalance_timeout": -1, **fields},
        )
        assert answer.error_code == 0, answer
        self.epoch = answer.member_epoch
        if answer.assignment is not None:
            self.owned = [
                {"topic_id": each.topic_id, "partitions": list(each.partitions)}
                for each in answer.assignment.topic_partitions
            ]
