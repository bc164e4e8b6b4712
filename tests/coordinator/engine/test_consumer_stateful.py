"""Random members of both protocols, random topics, random time: what must hold whatever they do. Nothing but
protocol errors; a partition has one owner at most; no member is ahead of its group; a coordinator that replays the
records knows what the one that wrote them knew."""

import logging
from collections import Counter
from typing import Any
from uuid import UUID

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeatAnswer
from coordinator.engine.consumer.member import subscribed_names
from coordinator.engine.engine import Engine
from coordinator.engine.topics import TopicImage, TopicInfo
from tests.coordinator.engine.consumer import GROUP, Consumer, Named
from tests.coordinator.engine.driver import Driver
from tests.coordinator.engine.migrating import ClassicConsumer
from tests.support.long import cases
from wire.errors import ErrorCode

NAMES = ("foo", "bar", "baz")
REGEXES = ("", "ba.*", "foo|bar", "nothing", "(")
SUBSCRIPTIONS = st.lists(st.sampled_from((*NAMES, "missing")), max_size=3).map(tuple)
MEMBERS = 5


class Groups(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.complaints: list[str] = []
        self.version = 1
        self.handler = logging.Handler()
        self.handler.emit = lambda record: self.complaints.append(record.getMessage())  # type: ignore[method-assign]
        logging.getLogger("coordinator.engine.engine").addHandler(self.handler)

    def teardown(self) -> None:
        logging.getLogger("coordinator.engine.engine").removeHandler(self.handler)

    @initialize(
        policy=st.sampled_from(("bidirectional", "upgrade", "downgrade", "disabled")),
        interval=st.sampled_from(("0", "1000")),
        max_size=st.sampled_from(("3", "100")),
    )
    def start(self, policy: str, interval: str, max_size: str) -> None:
        self.topics = {
            name: TopicInfo(name=name, id=UUID(int=i + 1), partitions=3) for i, name in enumerate(NAMES)
        }
        self.driver = Driver(
            TopicImage.of(self.topics.values(), version=1),
            group_consumer_migration_policy=policy,
            group_consumer_assignment_interval_ms=interval,
            group_consumer_max_size=max_size,
        )
        self.consumers = [
            Consumer(self.driver, f"m{i}", instance=f"i{i}" if i in (0, 1) else None) for i in range(MEMBERS)
        ]
        self.classics = [
            ClassicConsumer(
                self.driver,
                instance=f"i{i}" if i == 0 else None,
                cooperative=i == 1,
                version=2 if i == 1 else 0,
            )
            for i in range(3)
        ]

    @rule(
        who=st.integers(0, MEMBERS - 1),
        topics=SUBSCRIPTIONS,
        regex=st.none() | st.sampled_from(REGEXES),
        assignor=st.sampled_from((None, "range", "uniform", "other")),
        new_id=st.booleans(),
        timeout=st.sampled_from((0, 1000, 60_000)),
    )
    def join(self, who: int, new_id: bool, timeout: int, **said: Any) -> None:
        consumer = self.consumers[who]
        if new_id:
            consumer.id += "'"
        vars(consumer).update(said, rebalance_timeout_ms=timeout)
        self.judge(consumer.join())

    @rule(
        who=st.integers(0, MEMBERS - 1),
        holds_on=st.booleans(),
        silent=st.booleans(),
        behind=st.sampled_from((0, 0, 0, 1, -1)),
        topics=st.none() | SUBSCRIPTIONS,
        regex=st.sampled_from((None, None, *REGEXES)),
    )
    def beat(self, who: int, holds_on: bool, silent: bool, behind: int, **said: Any) -> None:
        consumer = self.consumers[who]
        before: Named = dict(consumer.owned)
        changes: dict[str, Any] = {"owned": None} if silent else {}
        epoch = max(consumer.epoch - behind, 1)
        self.judge(consumer.beat(epoch=epoch, **said, **changes))
        if holds_on:
            consumer.owned = before

    @rule(who=st.integers(0, MEMBERS - 1), epoch=st.sampled_from((-1, -2, -3)))
    def leave(self, who: int, epoch: int) -> None:
        self.judge(self.consumers[who].leave(epoch))

    @rule(
        who=st.integers(0, 2),
        topics=SUBSCRIPTIONS,
        forget=st.booleans(),
        names=st.sampled_from((("range",), ("sticky", "range"), ())),
    )
    def classic_join(self, who: int, topics: tuple[str, ...], forget: bool, names: tuple[str, ...]) -> None:
        classic = self.classics[who]
        if forget:
            classic.id = ""
        classic.topics, classic.names = topics, names
        ticket = self.driver.send(classic.join_request())
        answer: Any = self.driver.answers.get(ticket)
        if answer is None:
            return
        assert answer.error is not ErrorCode.UNKNOWN_SERVER_ERROR
        if answer.member:
            classic.id = answer.member
        if answer.error is ErrorCode.NONE:
            classic.generation, classic.protocol = answer.generation, answer.protocol

    @rule(who=st.integers(0, 2), what=st.sampled_from(("beat", "leave")))
    def classic(self, who: int, what: str) -> None:
        error: ErrorCode = getattr(self.classics[who], what)()
        assert error is not ErrorCode.UNKNOWN_SERVER_ERROR

    @rule(who=st.integers(0, 2))
    @precondition(lambda self: isinstance(self.driver.engine.state.groups.get(GROUP), ConsumerGroup))
    def classic_sync(self, who: int) -> None:
        assert self.classics[who].sync() is not ErrorCode.UNKNOWN_SERVER_ERROR

    @rule()
    def move(self) -> None:
        self.driver.move()

    @rule(ms=st.sampled_from((0, 1, 999, 1000, 5000, 10_001, 44_000, 61_000)))
    def wait(self, ms: int) -> None:
        self.driver.advance(ms)

    @rule(name=st.sampled_from(NAMES), partitions=st.sampled_from((None, 1, 3, 5)))
    def change_topic(self, name: str, partitions: int | None) -> None:
        """Delete it, recreate it with a new id, or grow it."""
        self.version += 1
        old = self.topics.pop(name, None)
        if partitions is not None:
            grows = old is not None and old.partitions <= partitions
            id_ = old.id if old is not None and grows else UUID(int=1000 + self.version)
            self.topics[name] = TopicInfo(name=name, id=id_, partitions=partitions)
        image = TopicImage.of(self.topics.values(), version=self.version)
        self.driver.take(self.driver.engine.update_topics(image, self.driver.now_ms))

    def judge(self, answer: ConsumerGroupHeartbeatAnswer) -> None:
        assert answer.error is not ErrorCode.UNKNOWN_SERVER_ERROR, answer.message

    @property
    def group(self) -> ConsumerGroup | None:
        group = self.driver.engine.state.groups.get(GROUP)
        return group if isinstance(group, ConsumerGroup) else None

    @invariant()
    def nothing_unexpected_happened(self) -> None:
        assert not self.complaints

    @invariant()
    def a_partition_has_one_owner_at_most(self) -> None:
        owners: dict[tuple[UUID, int], str] = {}
        for member in self.group.members.values() if self.group else ():
            for partitions in (member.assigned, member.revoking):
                for topic, numbers in partitions.items():
                    for partition in numbers:
                        assert owners.setdefault((topic, partition), member.id) == member.id
                        assert self.group is not None
                        assert self.group.owner(topic, partition) == member.id
                        assert (topic, partition) in member.current.assigned_epochs

    @invariant()
    def no_member_is_ahead_of_its_group(self) -> None:
        if self.group:
            assert self.group.assignment_epoch <= self.group.epoch
            assert all(member.epoch <= self.group.epoch for member in self.group.members.values())
            assert self.group.targets.keys() <= self.group.members.keys()

    @invariant()
    def what_is_counted_is_what_members_subscribe_to(self) -> None:
        if self.group:
            members = self.group.members.values()
            assert self.group.subscribed_topics() == subscribed_names(members, self.group.regexes)
            assert self.group.regex_users == Counter(m.metadata.regex for m in members if m.metadata.regex)

    @invariant()
    def replaying_the_records_gives_the_same_state(self) -> None:
        again = Engine(self.driver.engine.config, self.driver.engine.topics)
        for record in self.driver.records:
            again.replay(record)
        assert hard_state(again) == hard_state(self.driver.engine)


def hard_state(engine: Engine) -> dict[str, Any]:
    return {name: _hard(group) for name, group in engine.state.groups.items()}


def _hard(group: object) -> Any:
    if isinstance(group, ConsumerGroup):
        owners = {
            (topic, partition): group.owner(topic, partition)
            for member in group.members.values()
            for topic, partition in member.current.assigned_epochs
        }
        numbers = group.epoch, group.metadata_hash, group.assignment_epoch, group.assigned_ms
        return numbers, group.members, group.targets, group.regexes, owners
    assert isinstance(group, ClassicGroup)
    return group.stored


TestGroups = Groups.TestCase
TestGroups.settings = settings(max_examples=cases("KOHORT_EXAMPLES", 30, many=1_000), stateful_step_count=40)
