"""Members of the consumer protocol: joining, confirming revocations, or not, and leaving temporarily."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from coordinator.engine.consumer.group import ConsumerGroup
from tests.conformance.walks.walk import LONG_MS, Move, NotNow, Walk
from wire.uuids import format_uuid

MANY = ("$t", "$u", "$v", "$w", "$x", "$y", "$z")
"""Enough for some ids to share a bin of a map, where the order of insertion matters."""
TOPICS = (("$t",), ("$t",), ("$t", "$u"), ("$t", "$u", "$v"), MANY, ("$v", "nowhere"), ("$u",), MANY[2:], ())
"""Topics that members subscribe to."""


@dataclass(slots=True, kw_only=True)
class Client:
    """The state of a consumer."""

    id: str
    instance: str | None = None
    epoch: int = 1
    owned: list[dict[str, Any]] = field(default_factory=list)
    before: list[dict[str, Any]] = field(default_factory=list)
    """Its partitions before the last answer: it revokes late."""


class ConsumerWalk(Walk):
    """One group of up to six members, two of them static, with requested assignors and racks."""

    topics: ClassVar[Mapping[str, int]] = {"t": 6, "u": 3, "v": 5, "w": 2, "x": 1, "y": 4, "z": 2}
    most_members: ClassVar[int] = 5
    visits: ClassVar[frozenset[str]] = frozenset({"Empty", "Assigning", "Reconciling", "Stable"})
    other_instances: ClassVar[Sequence[str | None]] = (None, "k")  # the ids with which a member may rejoin

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.clients = [Client(id=self.fresh_id(), instance=instance) for instance in ("i", "j", *[None] * 4)]
        self._all_alike = self.often(True, False)
        self._topics = self.often(*TOPICS)
        # Members that want different ones: differences.yaml, a tie of assignors.
        self._assignor = self.often("range", "uniform")

    def moves(self) -> Mapping[Move, float]:
        return {
            self.join: 4,
            self.beat: 14,
            self.subscribe: 2,
            self.leave: 1.5,
            self.go_away: 1.5,
            self.remove: 0.5,
            self.commit: 2,
            self.fetch: 1,
            self.delete: 0.5,
        }

    # What there is

    @property
    def group(self) -> ConsumerGroup | None:
        group = self.pair.group
        return group if isinstance(group, ConsumerGroup) else None

    def fresh_id(self) -> str:
        return format_uuid(self.uuid())

    def subscription(self) -> Sequence[str]:
        return self._topics if self._all_alike else self.often(*TOPICS)  # type: ignore[no-any-return]

    # What may be done

    async def join(self) -> None:
        client = self.often(*self.clients)
        if client.instance is not None and self.often(True, False):
            client.id = self.fresh_id()
        await self._say(
            client,
            member_epoch=0,
            rebalance_timeout=LONG_MS,
            # A joiner without subscription may get partitions from a broker: differences.yaml
            subscribed_topic_names=self.subscription() or ("$t",),
            server_assignor=self.often(None, None, self._assignor),
            rack_id=self.often(None, "r"),
            instance_id=self._joins_as(client),
            topic_partitions=[],
        )

    async def beat(self) -> None:
        """Mostly with its present partitions; otherwise late, silent, or with an old epoch."""
        client = self.often(*self.clients)
        if self._is_pointless(client):
            raise NotNow
        owned = self.often(client.owned, client.owned, client.owned, client.before, [], None)
        epoch = self.often(*[client.epoch] * 9, client.epoch + 1, max(1, client.epoch - 1))
        await self._say(client, member_epoch=epoch, topic_partitions=owned)

    async def subscribe(self) -> None:
        client = self.often(*self.clients)
        if self._is_pointless(client):
            raise NotNow
        full = {"rebalance_timeout": LONG_MS, "topic_partitions": client.owned}
        await self._say(
            client,
            member_epoch=client.epoch,
            subscribed_topic_names=self.subscription(),
            server_assignor=self.often(None, None, self._assignor, "other"),
            **self.often({}, full),
        )

    async def leave(self) -> None:
        await self._say(self.often(*self.clients), member_epoch=-1)

    async def go_away(self) -> None:
        await self._say(self.often(*self.clients[:3]), member_epoch=-2)

    async def remove(self) -> None:
        client = self.often(*self.clients)
        named = self.often(("", client.instance), (client.id, None), (client.id, client.instance))
        members = [{"member_id": named[0], "group_instance_id": named[1]}]
        await self.pair.send("LeaveGroup 5", members=members)

    async def commit(self) -> None:
        client = self.often(*self.clients)
        topic, version = self.often("$t", "$u"), self.often(8, 9, 10)
        partitions = [{"partition_index": self.often(0, 1, 2, 9), "committed_offset": 5} for _ in range(2)]
        named = {"topic_id": f"{topic}.id"} if version >= 10 else {"name": topic}
        await self.pair.send(
            f"OffsetCommit {version}",
            generation_id_or_member_epoch=self.often(client.epoch, client.epoch - 1, client.epoch - 2, -1),
            member_id=self.often(client.id, client.id, client.id, ""),
            topics=[{**named, "partitions": partitions[: self.often(1, 2)]}],
        )

    async def fetch(self) -> None:
        client = self.often(*self.clients)
        group = {
            "group_id": "$g",
            "member_id": self.often(client.id, None),
            "member_epoch": self.often(client.epoch, -1),
            "topics": None,
        }
        if group["member_id"] is None:
            group["member_epoch"] = -1  # else the broker fails: differences.yaml
        await self.pair.look("OffsetFetch 9", groups=[group])

    async def delete(self) -> None:
        await self.pair.send("DeleteGroups 2", groups_names=["$g"])

    def _is_pointless(self, client: Client) -> bool:
        """A client that is not a member, which is refused; occasionally."""
        return (self.group is None or not self.group.has_member(client.id)) and self.random.random() < 0.8

    def _joins_as(self, client: Client) -> str | None:
        instance: str | None = self.often(
            client.instance, client.instance, client.instance, *self.other_instances
        )
        member = self.group.members.get(client.id) if self.group else None
        holder = self.group.static_member(instance) if self.group else None
        if member is None or holder is None or holder is member:
            return instance
        return member.instance  # else partitions of a broker's may be left without an owner: differences.yaml

    # How it is said

    async def _say(self, client: Client, **fields: Any) -> None:
        asked = {"member_id": client.id, "instance_id": client.instance, **fields}
        answer = await self.pair.send("ConsumerGroupHeartbeat 1", **asked)
        if answer is None or answer["error_code"]:
            return
        client.instance = asked["instance_id"] or client.instance
        client.epoch = max(answer["member_epoch"], 1)
        if answer["assignment"] is not None:
            client.before, client.owned = client.owned, answer["assignment"]["topic_partitions"]
