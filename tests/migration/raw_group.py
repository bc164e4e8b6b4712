"""A classic group made of requests alone: its members rejoin, keep silent and leave when a test says so."""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from kio.schema.errors import ErrorCode

from tests.kafka.broker import RunningBroker
from tests.kafka.coordinator import wait_for_coordinator
from tests.kafka.groups import describe
from tests.kafka.members import fresh_name
from tests.kafka.wait import wait_until
from tests.kafka.wire import ask
from wire.messages.embedded_protocol import (
    EmbeddedAssignment,
    EmbeddedSubscription,
    write_assignment,
    write_subscription,
)

SESSION_MS = timedelta(minutes=5) // timedelta(milliseconds=1)
"""Longer than a test: no member sends heartbeats."""


@dataclass(slots=True, kw_only=True)
class RawGroup:
    """See the module. `members` are the ids of those that follow, `static` the instance ids of some of them."""

    broker: RunningBroker
    id: str = field(default_factory=lambda: fresh_name("raw"))
    rebalance_timeout_s: float = 300.0
    topic: str = "orders"
    members: list[str] = field(default_factory=list)
    static: dict[str, str] = field(default_factory=dict)
    leader: str = ""
    generation: int = -1
    user_data: bytes | None = None  # What the leader puts into every assignment
    metadata: Callable[[str], bytes] | None = (
        None  # What a member joins with, in place of a subscription to `topic`
    )
    protocol_type: str = "consumer"
    assignor: str = "range"

    def new_id(self) -> str:
        """An id that the broker gave out; the group waits for it to join."""

        def given() -> str | None:
            # A broker that has just started may not coordinate yet; every other error shows as the time running out.
            answer = self._join("", None)
            return answer.member_id if answer.error_code is ErrorCode.member_id_required else None

        return wait_until(given, f"a member of {self.id} gets an id")

    def grow(self, count: int) -> None:
        """New members, and a rebalance in which everybody joins. The very first one joins alone: a broker does not
        wait for others then."""
        if not self.members:
            wait_for_coordinator(self.broker)
            self.rebalance([self.new_id()])
            count -= 1
        if count:
            self.rebalance([*self.members, *(self.new_id() for _ in range(count))])

    def rebalance(self, joining: Iterable[str] | None = None) -> None:
        """These members, by default all, join; the leader assigns, and the group is Stable."""
        self.finish(self.start_joining(self.members if joining is None else joining))

    def start_joining(self, members: Iterable[str]) -> list[Future[Any]]:
        """JoinGroup of each; the broker answers when the rebalance may continue. A new member or the leader is
        first: in a Stable group a follower's request begins no rebalance."""
        first, *others = sorted(members, key=lambda member: member in self.members and member != self.leader)
        pool = ThreadPoolExecutor(1 + len(others))
        started = [pool.submit(self._join, first, self.static.get(first))]
        if others:
            wait_until(self._rebalances, f"{self.id} rebalances")
        started += [pool.submit(self._join, other, self.static.get(other)) for other in others]
        pool.shutdown(wait=False)
        return started

    def _rebalances(self) -> bool:
        seen = describe(self.broker, self.id)
        return seen is not None and seen.state != "Stable"

    def joined(self, started: Iterable[Future[Any]]) -> None:
        """Wait for the answers, and know who leads."""
        answers = [future.result() for future in started]
        assert {answer.error_code for answer in answers} == {ErrorCode.none}, answers
        (self.leader,) = {answer.leader for answer in answers}
        (self.generation,) = {int(answer.generation_id) for answer in answers}
        self.members = [answer.member_id for answer in answers]

    def finish(self, started: Iterable[Future[Any]]) -> None:
        self.joined(started)
        self.assign({member: {} for member in self.members})

    def assign(self, assignments: Mapping[str, Mapping[str, tuple[int, ...]]]) -> None:
        shares = {
            member: EmbeddedAssignment(version=1, partitions=dict(partitions), user_data=self.user_data)
            for member, partitions in assignments.items()
        }
        self.send({member: write_assignment(share) for member, share in shares.items()})

    def send(self, assignments: Mapping[str, bytes]) -> None:
        """The leader's SyncGroup: its member gets these bytes, and so do the others when they ask."""
        written = [{"member_id": member, "assignment": data} for member, data in assignments.items()]
        protocol = {"protocol_type": self.protocol_type, "protocol_name": self.assignor}
        leader = {"member_id": self.leader, "group_instance_id": self.static.get(self.leader)}
        state = {"generation_id": self.generation, "assignments": written}
        synced = self._ask("SyncGroup", 5, **state, **leader, **protocol)
        assert synced.error_code is ErrorCode.none, synced

    def leave(self, member: str) -> None:
        """LeaveGroup: the broker removes it at once."""
        left = self._ask("LeaveGroup", 5, members=[{"member_id": member}])
        assert left.error_code is ErrorCode.none, left
        self.members.remove(member)

    def join_static(self, instance: str) -> Any:
        """A static member joins, or rejoins under a new id."""
        answer = self._join("", instance)
        self.static = {member_id: name for member_id, name in self.static.items() if name != instance}
        self.static[answer.member_id] = instance
        return answer

    def _join(self, member: str, instance: str | None) -> Any:
        subscription = write_subscription(EmbeddedSubscription(version=1, topics=(self.topic,)))
        metadata = subscription if self.metadata is None else self.metadata(member)
        return self._ask(
            "JoinGroup",
            9,
            session_timeout=SESSION_MS,
            rebalance_timeout=round(self.rebalance_timeout_s * 1000),
            member_id=member,
            group_instance_id=instance,
            protocol_type=self.protocol_type,
            protocols=[{"name": self.assignor, "metadata": metadata}],
        )

    def _ask(self, api: str, version: int, **fields: Any) -> Any:
        return ask(self.broker.port, api, version, group_id=self.id, **fields)
