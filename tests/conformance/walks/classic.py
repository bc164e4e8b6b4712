"""Members of a classic group: joining, syncing, leaving and committing, in turn and out of it."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from coordinator.engine.classic.group import ClassicGroup
from tests.conformance.walks.walk import LONG_MS, Move, NotNow, Walk

STRANGER = "stranger"


def listed(*names: str, topic: str = "$t") -> list[dict[str, Any]]:
    return [{"name": name, "metadata": {"subscribed": [topic]}} for name in names]


LISTS = (
    listed("range"),
    listed("range", "sticky"),
    listed("sticky", "range"),
    listed("range", "sticky", topic="$u"),
)
FEW: tuple[list[dict[str, Any]], ...] = (listed("sticky"), [])


class ClassicWalk(Walk):
    """One group, with static members too. Requests that Kafka never answers are omitted: see differences.yaml."""

    topics: ClassVar[Mapping[str, int]] = {"t": 4, "u": 4}
    most_members: ClassVar[int] = 5
    visits: ClassVar[frozenset[str]] = frozenset(
        {"Empty", "PreparingRebalance", "CompletingRebalance", "Stable"}
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._gone: list[tuple[str, str | None]] = [(STRANGER, None)]

    def moves(self) -> Mapping[Move, float]:
        return {
            self.join: 4,
            self.rebalance: 7,
            self.sync_all: 7,
            self.rejoin: 3,
            self.sync: 2,
            self.heartbeat: 3,
            self.leave: 2,
            self.commit: 2,
            self.fetch: 1,
            self.delete_offsets: 1,
            self.delete: 1,
        }

    # What there is

    @property
    def group(self) -> ClassicGroup | None:
        group = self.pair.group
        assert group is None or isinstance(group, ClassicGroup)
        return group

    def generation(self, shift: int = 0) -> int:
        return (0 if self.group is None else self.group.generation) + shift

    def somebody(self) -> tuple[str, str | None]:
        """Id and instance id, mostly of a member; otherwise of a former or an unknown one."""
        group = self.group
        there = [] if group is None else [(member.id, member.instance) for member in group.members.values()]
        pending = [] if group is None else [(member_id, None) for member_id in sorted(group.pending)]
        return self.often(*there, *there, *pending, *self._gone[-3:])  # type: ignore[no-any-return]

    def waits(self, member: str) -> bool:
        group = self.group
        return group is not None and (member in group.joining or member in group.syncing)

    # What may be done

    async def join(self) -> None:
        await self._join("", self.often(None, None, "a", "b"), self.often(*LISTS), self.often(5, 8, 9, 9))

    async def rebalance(self) -> None:
        group = self.group
        if group is None:
            raise NotNow
        absent = self.often(None, None, None, 0, 1)
        for i, member in enumerate([*sorted(group.pending), *group.members]):
            now = self.group
            if i == absent or now is None or self.waits(member):
                continue
            known = now.members.get(member)
            if known is not None:
                protocols = [{"name": one.name, "metadata": one.metadata} for one in known.protocols]
                await self._join(member, known.instance, protocols)
            elif member in now.pending:
                await self._join(member, None, self.often(*LISTS[:3]))

    async def sync_all(self) -> None:
        group = self.group
        if group is None or not group.members:
            raise NotNow
        absent = self.often(None, None, None, 0, 1)
        for i, member in enumerate(list(group.members)):
            now = self.group
            if i != absent and now is not None and member in now.members and not self.waits(member):
                await self._sync(member, now.generation, "consumer", now.protocol or "range")

    async def rejoin(self) -> None:
        member, instance = self.somebody()
        group = self.group
        pending = group is not None and member in group.pending
        if self.waits(member):
            raise NotNow
        await self._join(
            member,
            None if pending else self.often(instance, instance, instance, None),
            self.often(*LISTS, *FEW),
            protocol_type=self.often("consumer", "consumer", "consumer", "connect", ""),
        )

    async def sync(self) -> None:
        member, _ = self.somebody()
        if self.waits(member):
            raise NotNow
        generation = self.generation(self.often(0, 0, 1))
        protocol_type = self.often("consumer", "consumer", "connect", None)
        await self._sync(
            member, generation, protocol_type, self.often("range", "sticky", None), assigns=False
        )

    async def heartbeat(self) -> None:
        member, instance = self.somebody()
        await self.pair.send(
            "Heartbeat 4",
            generation_id=self.generation(self.often(0, 0, 0, -1, 1)),
            member_id=member,
            group_instance_id=self.often(instance, instance, None, "a", "stranger"),
        )

    async def leave(self) -> None:
        member, instance = self.somebody()
        leaving = self.random.sample([(member, instance), ("", "a"), (STRANGER, None)], self.often(1, 1, 2))
        group = self.group
        named = {"" if group is None else group.static.get(one or "", "") for _, one in leaving}
        # A SyncGroup of a member that is removed is never answered.
        if group is not None and group.syncing.keys() & {*named, *(one for one, _ in leaving)}:
            raise NotNow
        members = [{"member_id": one, "group_instance_id": other} for one, other in leaving]
        await self.pair.send("LeaveGroup 5", members=members)

    async def commit(self) -> None:
        member, instance = self.somebody()
        partition = {
            "partition_index": self.often(0, 1, 9),
            "committed_offset": self.often(1, 7, -1),
            "committed_metadata": self.often("", None, "x"),
        }
        await self.pair.send(
            f"OffsetCommit {self.often(8, 9)}",
            generation_id_or_member_epoch=self.often(
                self.generation(), self.generation(), -1, self.generation(1)
            ),
            member_id=self.often(member, member, ""),
            group_instance_id=self.often(None, None, instance, "a"),
            topics=[{"name": self.often("$t", "$u", "nowhere"), "partitions": [partition]}],
        )

    async def fetch(self) -> None:
        topics = [{"name": "$t", "partition_indexes": [0, 1]}, {"name": "nowhere", "partition_indexes": [0]}]
        await self.pair.look(
            "OffsetFetch 9",
            groups=[
                {"group_id": "$g", "member_id": None, "topics": None},
                {"group_id": "$g2", "member_id": "x", "member_epoch": 3, "topics": topics},
            ],
        )

    async def delete_offsets(self) -> None:
        partitions = [{"partition_index": number} for number in (0, 1, 9)]
        topics = [{"name": name, "partitions": partitions} for name in ("$t", "$u", "nowhere")]
        await self.pair.send("OffsetDelete 0", topics=topics)

    async def delete(self) -> None:
        await self.pair.send("DeleteGroups 2", groups_names=["$g", "stranger"])

    # How it is said

    async def _join(
        self,
        member: str,
        instance: str | None,
        protocols: Sequence[Mapping[str, Any]],
        version: int = 9,
        protocol_type: str = "consumer",
    ) -> None:
        answer = await self.pair.send(
            f"JoinGroup {version}",
            session_timeout=LONG_MS,
            rebalance_timeout=LONG_MS,
            member_id=member,
            group_instance_id=instance,
            protocol_type=protocol_type,
            protocols=protocols,
        )
        if answer is not None and answer["member_id"]:
            self._gone.append((answer["member_id"], instance))

    async def _sync(
        self,
        member: str,
        generation: int,
        protocol_type: str | None,
        protocol: str | None,
        *,
        assigns: bool = True,
    ) -> None:
        group = self.group
        members = [*(() if group is None else group.members), STRANGER]
        await self.pair.send(
            "SyncGroup 5",
            generation_id=generation,
            member_id=member,
            protocol_type=protocol_type,
            protocol_name=protocol,
            assignments=self._assignments(members) if assigns else [],
        )

    def _assignments(self, members: Sequence[str]) -> list[dict[str, Any]]:
        """The leader's assignment; the group does not interpret it."""
        return [{"member_id": member, "assignment": member[-4:]} for member in members]
