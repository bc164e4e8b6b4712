"""Members of classic groups, as tests play them."""

from __future__ import annotations

from dataclasses import dataclass, field
from dataclasses import replace as changed

from coordinator.engine.classic.heartbeat import Heartbeat, HeartbeatAnswer
from coordinator.engine.classic.join_group import JoinGroup
from coordinator.engine.classic.leave_group import LeaveGroup, LeaveGroupAnswer
from coordinator.engine.classic.rebalance import JoinGroupAnswer, SyncGroupAnswer
from coordinator.engine.classic.sync_group import SyncGroup
from coordinator.engine.groups import Described, DescribeGroups, DescribeGroupsAnswer
from coordinator.engine.records import JoinProtocol
from tests.coordinator.engine.driver import Driver
from wire.errors import ErrorCode
from wire.messages.embedded_protocol import EmbeddedSubscription, write_subscription

GROUP = "g"


def protocols(*names: str, topics: tuple[str, ...] = ("t1",), version: int = 1) -> tuple[JoinProtocol, ...]:
    metadata = write_subscription(EmbeddedSubscription(version=version, topics=topics))
    return tuple(JoinProtocol(name=name, metadata=metadata) for name in names)


RANGE = protocols("range")


@dataclass
class Member:
    """One consumer: what it would send next. `join` parks and leaves a ticket, `joined` reads the answer."""

    driver: Driver
    id: str = ""
    instance: str | None = None
    protocols: tuple[JoinProtocol, ...] = RANGE
    protocol_type: str = "consumer"
    session_timeout_ms: int = 10_000
    rebalance_timeout_ms: int = 60_000
    group: str = GROUP
    generation: int = -1
    protocol: str | None = None
    ticket: int = field(default=0)

    def request(self) -> JoinGroup:
        return JoinGroup(
            group=self.group,
            session_timeout_ms=self.session_timeout_ms,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            member=self.id,
            instance=self.instance,
            protocol_type=self.protocol_type,
            protocols=self.protocols,
        )

    def join(self) -> Member:
        """Send JoinGroup; a dynamic member without an id rejoins with the assigned one."""
        self.ticket = self.driver.send(self.request())
        answer = self.driver.answers.get(self.ticket)
        if isinstance(answer, JoinGroupAnswer) and answer.error is ErrorCode.MEMBER_ID_REQUIRED:
            self.id = answer.member
            self.ticket = self.driver.send(self.request())
        return self

    def joined(self) -> JoinGroupAnswer:
        answer = self.driver.answer(self.ticket, JoinGroupAnswer)
        if answer.error is ErrorCode.NONE:
            self.id, self.generation, self.protocol = answer.member, answer.generation, answer.protocol
        return answer

    def waits(self) -> bool:
        return self.driver.waits(self.ticket)

    def sync(self, assignments: dict[str, bytes] | None = None) -> int:
        request = SyncGroup(
            group=self.group,
            generation=self.generation,
            member=self.id,
            instance=self.instance,
            protocol_type=self.protocol_type,
            protocol=self.protocol,
            assignments=tuple((assignments or {}).items()),
        )
        return self.driver.send(request)

    def synced(self, assignments: dict[str, bytes] | None = None) -> SyncGroupAnswer:
        return self.driver.answer(self.sync(assignments), SyncGroupAnswer)

    def heartbeat(self) -> ErrorCode:
        request = Heartbeat(
            group=self.group, generation=self.generation, member=self.id, instance=self.instance
        )
        return self.driver.ask(request, HeartbeatAnswer).error

    def leave(self) -> LeaveGroupAnswer:
        leaving = (self.id, self.instance)
        return self.driver.ask(LeaveGroup(group=self.group, members=(leaving,)), LeaveGroupAnswer)

    def but(self, **changes: object) -> Member:
        return changed(self, **changes)  # type: ignore[arg-type]


def together(driver: Driver, *members: Member) -> list[Member]:
    """Bring the members into one generation (CompletingRebalance); the leader first."""
    for member in members:
        member.join()
    for member in members:
        if not member.waits() and state(driver, members[0].group) == "PreparingRebalance":
            member.joined()
            member.join()
    return sorted(members, key=lambda member: not member.joined().members)


def stable(driver: Driver, *members: Member) -> list[Member]:
    """Bring the members together into a Stable group, each assigned its own id; the leader first."""
    ordered = together(driver, *members)
    tickets = [member.sync() for member in ordered[1:]]
    tickets.append(ordered[0].sync({member.id: member.id.encode() for member in members}))
    for ticket in tickets:
        assert driver.answer(ticket, SyncGroupAnswer).error is ErrorCode.NONE
    return ordered


def state(driver: Driver, group: str = GROUP) -> str:
    return driver.engine.state.groups[group].state.value


def described(driver: Driver) -> Described:
    return driver.ask(DescribeGroups(groups=(GROUP,)), DescribeGroupsAnswer).groups[0]


def shown(driver: Driver) -> tuple[str, str | None, str | None]:
    group = described(driver).group
    assert group is not None
    return group.state.value, group.protocol_type, group.protocol


def refused(error: ErrorCode, member: str = "") -> JoinGroupAnswer:
    return JoinGroupAnswer(
        error=error, generation=-1, protocol_type=None, protocol=None, leader="", member=member
    )
