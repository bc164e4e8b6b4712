"""Groups on their way between the protocols, as tests play them."""

from dataclasses import dataclass, field

from coordinator.engine.classic.heartbeat import Heartbeat, HeartbeatAnswer
from coordinator.engine.classic.join_group import JoinGroup
from coordinator.engine.classic.leave_group import LeaveGroup, LeaveGroupAnswer
from coordinator.engine.classic.rebalance import JoinGroupAnswer, SyncGroupAnswer
from coordinator.engine.classic.sync_group import SyncGroup
from coordinator.engine.records import ClassicGroupRecord, ClassicGroupValue, ClassicMemberValue, JoinProtocol
from tests.coordinator.engine.consumer import GROUP, Named
from tests.coordinator.engine.driver import Driver
from wire.errors import ErrorCode
from wire.messages import embedded_protocol as embedded


def subscription(topics: tuple[str, ...] = ("foo",), owned: Named | None = None, version: int = 1) -> bytes:
    return embedded.write_subscription(
        embedded.EmbeddedSubscription(
            version=version, topics=topics, owned={t: tuple(p) for t, p in (owned or {}).items()}
        )
    )


def assignment(named: Named, user_data: bytes | None = None, version: int = 1) -> bytes:
    return embedded.write_assignment(
        embedded.EmbeddedAssignment(
            version=version, partitions={t: tuple(p) for t, p in named.items()}, user_data=user_data
        )
    )


@dataclass
class ClassicConsumer:
    """A consumer of the classic protocol; a cooperative one says in JoinGroup what it owns, an eager one nothing."""

    driver: Driver
    id: str = ""
    instance: str | None = None
    topics: tuple[str, ...] = ("foo",)
    names: tuple[str, ...] = ("range",)
    version: int = 1  # Of its subscription
    cooperative: bool = False
    session_timeout_ms: int = 10_000
    rebalance_timeout_ms: int = 60_000
    generation: int = -1
    protocol: str | None = "range"
    owned: Named = field(default_factory=dict)
    user_data: bytes | None = None

    def join_request(self) -> JoinGroup:
        owned = self.owned if self.cooperative else None
        metadata = subscription(self.topics, owned, self.version)
        return JoinGroup(
            group=GROUP,
            session_timeout_ms=self.session_timeout_ms,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            member=self.id,
            instance=self.instance,
            protocol_type="consumer",
            protocols=tuple(JoinProtocol(name=name, metadata=metadata) for name in self.names),
        )

    def join(self) -> JoinGroupAnswer:
        answer = self.driver.ask(self.join_request(), JoinGroupAnswer)
        if answer.error is ErrorCode.MEMBER_ID_REQUIRED:
            self.id = answer.member
            answer = self.driver.ask(self.join_request(), JoinGroupAnswer)
        if answer.error is ErrorCode.NONE:
            self.id, self.generation, self.protocol = answer.member, answer.generation, answer.protocol
        return answer

    def sync(self, protocol: str | None = None) -> ErrorCode:
        request = SyncGroup(
            group=GROUP,
            generation=self.generation,
            member=self.id,
            instance=self.instance,
            protocol_type="consumer",
            protocol=protocol or self.protocol,
            assignments=(),
        )
        answer = self.driver.ask(request, SyncGroupAnswer)
        if answer.error is ErrorCode.NONE:
            read = embedded.read_assignment(answer.assignment)
            self.owned = {topic: sorted(numbers) for topic, numbers in read.partitions.items()}
            self.user_data = read.user_data
        return answer.error

    def beat(self) -> ErrorCode:
        request = Heartbeat(group=GROUP, generation=self.generation, member=self.id, instance=self.instance)
        return self.driver.ask(request, HeartbeatAnswer).error

    def leave(self) -> ErrorCode:
        leaving = (self.id, self.instance)
        answer = self.driver.ask(LeaveGroup(group=GROUP, members=(leaving,)), LeaveGroupAnswer)
        ((_, _, error),) = answer.members
        return error


def classic_group(
    driver: Driver, generation: int, *members: ClassicConsumer, user_data: bytes | None = None
) -> None:
    """Let a log hold a Stable classic group: each member has what it `owned`, the first leads."""
    value = ClassicGroupValue(
        protocol_type="consumer",
        generation=generation,
        protocol=members[0].names[0],
        leader=members[0].id,
        state_since_ms=driver.now_ms,
        members=tuple(
            ClassicMemberValue(
                member=member.id,
                instance=member.instance,
                client_id="c",
                host="/127.0.0.1",
                rebalance_timeout_ms=member.rebalance_timeout_ms,
                session_timeout_ms=member.session_timeout_ms,
                subscription=subscription(member.topics, version=member.version),
                assignment=assignment(member.owned, user_data, member.version),
            )
            for member in members
        ),
    )
    driver.records.append(ClassicGroupRecord(group=GROUP, value=value))
    driver.restart()
    for member in members:
        member.generation, member.protocol = generation, member.names[0]
