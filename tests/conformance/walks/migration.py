"""Members of both protocols in one group, which is converted as they join and leave."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer.group import ConsumerGroup
from tests.conformance.walks.classic import ClassicWalk
from tests.conformance.walks.consumer import ConsumerWalk
from tests.conformance.walks.walk import LONG_MS, Move, NotNow
from wire.messages.embedded_protocol import read_assignment
from wire.messages.reader import DecodeError

NAMES = (("range", "roundrobin"), ("range", "roundrobin"), ("roundrobin", "range"))
"""All list both: the broker fails if a member no longer lists the protocol of an upgraded group."""
SUBSCRIPTIONS = (["$t"], ["$t"], ["$t", "$u"])


@dataclass(slots=True, kw_only=True)
class ClassicClient:
    """The state of a consumer of the classic protocol; without an id until it gets one."""

    instance: str | None = None
    id: str = ""
    generation: int = -1
    protocol: str = "range"
    owned: dict[str, list[int]] = field(default_factory=dict)


class MigrationWalk(ConsumerWalk):
    """See the module. Behavior that works on a broker only by mistake is omitted; comments name it."""

    # A full group would be refused an upgrade when its parked requests are already answered.
    most_members: ClassVar[int] = 20
    visits: ClassVar[frozenset[str]] = ClassicWalk.visits | ConsumerWalk.visits
    # Once a member has changed its instance id, the broker refuses classic members its old one: differences.yaml
    other_instances: ClassVar[Sequence[str | None]] = (None,)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.classics = [ClassicClient(instance=instance) for instance in ("i", "j", None, None)]

    def moves(self) -> Mapping[Move, float]:
        return {
            self.join: 2.5,
            self.beat: 9,
            self.subscribe: 1,
            self.leave: 2,
            self.go_away: 1,
            self.commit: 1,
            self.classic_join: 7,
            self.classic_sync: 7,
            self.classic_beat: 4,
            self.classic_leave: 2,
            self.classic_commit: 1,
            self.delete: 0.5,
        }

    # What there is

    @property
    def classic_group(self) -> ClassicGroup | None:
        group = self.pair.group
        return group if isinstance(group, ClassicGroup) else None

    def waits(self, member: str) -> bool:
        group = self.classic_group
        return group is not None and bool(member) and (member in group.joining or member in group.syncing)

    # What may be done

    async def classic_join(self) -> None:
        client = self.often(*self.classics)
        group = self.pair.group
        if isinstance(group, ConsumerGroup) and group.is_empty():
            client.id = ""  # with an id the broker forgets the group until it is started again
        if client.instance is not None and self.often(True, False, False):
            client.id = ""
        if self.waits(client.id) or (client.instance is not None and self._instance_waits(client.instance)):
            raise NotNow
        names, version = self.often(*NAMES), self.often(0, 1, 2, 3)
        subscription = {
            "topics": self.often(*SUBSCRIPTIONS),
            "version": version,
            "owned": self.often(client.owned, {}) if version >= 1 else {},
        }
        answer = await self.pair.send(
            f"JoinGroup {self.often(5, 8, 9)}",
            session_timeout=LONG_MS,
            rebalance_timeout=LONG_MS,
            member_id=client.id,
            group_instance_id=client.instance,
            protocols=[{"name": name, "metadata": {"subscribed": subscription}} for name in names],
        )
        self._joined(client, answer)

    async def classic_sync(self) -> None:
        client = self.often(*self.classics)
        self._catch_up(client)
        if not client.id or self.waits(client.id):
            raise NotNow
        answer = await self.pair.send(
            "SyncGroup 5",
            generation_id=self.often(*[client.generation] * 5, client.generation + 1),
            member_id=client.id,
            group_instance_id=self.often(client.instance, client.instance, None),
            protocol_name=client.protocol,
            assignments=self._assignments(),
        )
        if answer is not None and not answer["error_code"]:
            client.owned = self._owned(answer["assignment"])

    async def classic_beat(self) -> None:
        client = self.often(*self.classics)
        self._catch_up(client)
        if not client.id:
            raise NotNow
        await self.pair.send(
            "Heartbeat 4",
            generation_id=self.often(*[client.generation] * 5, client.generation - 1),
            member_id=client.id,
            group_instance_id=self.often(client.instance, None),
        )

    async def classic_leave(self) -> None:
        client = self.often(*self.classics)
        group = self.classic_group
        # A SyncGroup of a member that is removed is never answered.
        if not client.id or (group is not None and client.id in group.syncing):
            raise NotNow
        members = [{"member_id": client.id, "group_instance_id": self.often(client.instance, None)}]
        await self.pair.send("LeaveGroup 5", members=members)

    async def classic_commit(self) -> None:
        client = self.often(*self.classics)
        await self.pair.send(
            f"OffsetCommit {self.often(8, 9)}",
            generation_id_or_member_epoch=self.often(client.generation, client.generation - 1),
            member_id=client.id,
            topics=[{"name": "$t", "partitions": [{"partition_index": 0, "committed_offset": 1}]}],
        )

    # How it is said and heard

    def _instance_waits(self, instance: str) -> bool:
        group = self.classic_group
        return group is not None and self.waits(group.static.get(instance, ""))

    def _joined(self, client: ClassicClient, answer: Mapping[str, Any] | None) -> None:
        if answer is not None and answer["member_id"]:
            client.id = answer["member_id"]
        if answer is not None and not answer["error_code"]:
            client.generation, client.protocol = answer["generation_id"], answer["protocol_name"]

    def _catch_up(self, client: ClassicClient) -> None:
        """A parked join was answered meanwhile; Kohort knows the member and the answer."""
        group = self.classic_group
        if group is None:
            return
        client.id = group.static.get(client.instance or "", client.id)
        if client.id in group.members and client.id not in group.joining:
            client.generation, client.protocol = group.generation, group.protocol or "range"

    def _assignments(self) -> Sequence[Mapping[str, Any]]:
        group = self.classic_group
        members = [] if group is None else list(group.members)
        return [
            {"member_id": member, "assignment": {"assigned": {"$t": list(range(i, 6, len(members)))}}}
            for i, member in enumerate(members)
        ]

    def _owned(self, shown: str) -> dict[str, list[int]]:
        try:
            read = read_assignment(bytes.fromhex(shown.removeprefix("hex:")))
        except (ValueError, DecodeError):
            return {}
        return {topic: list(numbers) for topic, numbers in read.partitions.items()}
