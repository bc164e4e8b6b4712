"""Members of consumer groups, as tests play them."""

from dataclasses import dataclass, field
from typing import Any

from coordinator.engine import records as log
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat, ConsumerGroupHeartbeatAnswer
from coordinator.engine.groups import ConsumerGroupDescribe, Described, DescribeGroupsAnswer
from coordinator.engine.topics import TopicImage, metadata_hash
from groups.model import Group, Member, MemberProtocol, Partitions
from tests.coordinator.engine.driver import Driver, topic
from wire.errors import ErrorCode

GROUP = "g"

Named = dict[str, list[int]]
"""Partitions by topic name."""


@dataclass
class Consumer:
    """One consumer. It owns what it is assigned, and releases the rest at once, unless it should hold on."""

    driver: Driver
    id: str
    topics: tuple[str, ...] | None = ("foo",)
    regex: str | None = None
    instance: str | None = None
    assignor: str | None = None
    rebalance_timeout_ms: int = 60_000
    group: str = GROUP
    epoch: int = 0
    owned: Named = field(default_factory=dict)

    def join(self, **changes: Any) -> ConsumerGroupHeartbeatAnswer:
        """Epoch 0, with everything that a join has to say."""
        fields: dict[str, Any] = {
            "epoch": 0,
            "rebalance_timeout_ms": self.rebalance_timeout_ms,
            "topics": self.topics,
            "regex": self.regex,
            "assignor": self.assignor,
            "owned": {},
        }
        return self.send(**{**fields, **changes})

    def beat(self, **changes: Any) -> ConsumerGroupHeartbeatAnswer:
        return self.send(**{"epoch": self.epoch, "owned": by_id(self.driver, self.owned), **changes})

    def leave(self, epoch: int = -1) -> ConsumerGroupHeartbeatAnswer:
        return self.send(epoch=epoch)

    def send(self, **fields: Any) -> ConsumerGroupHeartbeatAnswer:
        values: dict[str, Any] = {"group": self.group, "member": self.id, "instance": self.instance, **fields}
        request = ConsumerGroupHeartbeat(**values)
        answer = self.driver.ask(request, ConsumerGroupHeartbeatAnswer)
        if answer.error is ErrorCode.NONE:
            self.epoch = answer.epoch
            if answer.assignment is not None:
                self.owned = by_name(self.driver, answer.assignment)
        return answer

    def refused(self, **fields: Any) -> tuple[ErrorCode, str | None]:
        answer = self.beat(**fields)
        assert answer.error is not ErrorCode.NONE
        assert (answer.member, answer.epoch, answer.heartbeat_interval_ms) == (None, 0, 0)
        assert answer.assignment is None
        return answer.error, answer.message


def joined(driver: Driver, name: str, **fields: Any) -> Consumer:
    consumer = Consumer(driver, name, **fields)
    assert consumer.join().error is ErrorCode.NONE
    return consumer


def settled_pair(driver: Driver) -> tuple[Consumer, Consumer]:
    a, b = joined(driver, "a"), joined(driver, "b")
    settled(a, b)
    return a, b


def by_id(driver: Driver, partitions: Named) -> dict[Any, tuple[int, ...]]:
    topics = driver.engine.topics.topics
    return {topics[name].id: tuple(numbers) for name, numbers in partitions.items() if name in topics}


def by_name(driver: Driver, partitions: log.TopicPartitions) -> Named:
    names = driver.engine.topics.by_id
    return {names[topic].name: sorted(numbers) for topic, numbers in partitions.items() if topic in names}


def group_of(driver: Driver) -> ConsumerGroup:
    group = driver.engine.state.groups[GROUP]
    assert isinstance(group, ConsumerGroup)
    return group


def described(driver: Driver) -> Described:
    (answer,) = driver.ask(ConsumerGroupDescribe(groups=(GROUP,)), DescribeGroupsAnswer).groups
    return answer


def described_group(driver: Driver) -> Group:
    group = described(driver).group
    assert group is not None
    return group


def described_member(driver: Driver, member: str) -> Member:
    return next(one for one in described_group(driver).members if one.id == member)


def speaks_classic(driver: Driver, member: str) -> bool:
    return described_member(driver, member).protocol is MemberProtocol.CLASSIC


def lists(partitions: Partitions | None) -> Named:
    return {topic: list(numbers) for topic, numbers in (partitions or {}).items()}


def epochs(driver: Driver) -> tuple[str, int, int]:
    shown = described_group(driver)
    return shown.state.value, shown.group_epoch or 0, shown.assignment_epoch or 0


def targets(driver: Driver) -> dict[str, Named]:
    return {member.id: lists(member.target) for member in described_group(driver).members}


def images(*topics: tuple[str, int], version: int = 1) -> TopicImage:
    return TopicImage.of([topic(name, partitions) for name, partitions in topics], version=version)


def settled(*consumers: Consumer, rounds: int = 8) -> None:
    for _ in range(rounds):
        for consumer in consumers:
            assert consumer.beat().error is ErrorCode.NONE


def seed(
    driver: Driver, epoch: int, assignments: dict[str, Named], topics: tuple[str, ...] = ("foo",)
) -> None:
    """Let a log hold a Stable group at this epoch, in which every member has its target."""
    metadata = log.ConsumerMemberValue(
        client_id="c", host="/127.0.0.1", topics=topics, rebalance_timeout_ms=60_000
    )
    fingerprint = metadata_hash(topics if assignments else (), driver.engine.topics)
    records: list[log.Record] = [
        log.ConsumerGroupRecord(
            group=GROUP, value=log.ConsumerGroupValue(epoch=epoch, metadata_hash=fingerprint)
        ),
        log.TargetEpochRecord(group=GROUP, value=log.TargetEpochValue(epoch=epoch)),
    ]
    for member, named in assignments.items():
        partitions = by_id(driver, named)
        current = log.CurrentAssignmentValue(
            epoch=epoch, previous_epoch=epoch, state=log.MemberState.STABLE, assigned=partitions
        )
        records += [
            log.ConsumerMemberRecord(group=GROUP, member=member, value=metadata),
            log.TargetMemberRecord(group=GROUP, member=member, value=partitions),
            log.CurrentAssignmentRecord(group=GROUP, member=member, value=current),
        ]
    driver.records += records
    driver.restart()
