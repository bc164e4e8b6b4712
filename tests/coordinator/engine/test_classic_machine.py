"""Random requests to classic groups, and time: whatever comes, the groups stay consistent and no member waits
forever."""

from dataclasses import replace
from typing import Any, TypeAlias

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, rule

from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.classic.heartbeat import Heartbeat
from coordinator.engine.classic.join_group import JoinGroup
from coordinator.engine.classic.leave_group import LeaveGroup
from coordinator.engine.classic.rebalance import JoinGroupAnswer
from coordinator.engine.classic.sync_group import SyncGroup
from coordinator.engine.engine import Engine
from coordinator.engine.groups import DeleteGroups, DescribeGroups, ListGroups
from coordinator.engine.offsets.commit import Offset, OffsetCommit
from coordinator.engine.offsets.fetch import OffsetFetch, OffsetQuery
from coordinator.engine.offsets.removal import OffsetDelete
from coordinator.engine.timers import TimerKey, TimerKind
from groups.model import GroupState
from tests.coordinator.engine.classic import protocols
from tests.coordinator.engine.driver import Driver
from tests.support.long import cases
from wire.errors import ErrorCode

GROUPS = st.sampled_from(["g", "g", "g", "h"])
INSTANCES = st.sampled_from([None, None, None, "a", "b", ""])
LISTS = st.sampled_from(
    [
        *(
            protocols(*names.split())
            for names in ("range", "range sticky", "sticky range", "range range", "")
        ),
        protocols("sticky", topics=("t2",)),
    ]
)
Named: TypeAlias = tuple[str, str, str | None]
"""Group, member id and instance id."""
MEMBERS = Bundle("members")
HOUR_MS = 3_600_000


class ClassicGroups(RuleBasedStateMachine):
    """`members` are ids that were given out, with the group."""

    members = MEMBERS

    def __init__(self) -> None:
        super().__init__()
        self.driver = Driver(
            group_initial_rebalance_delay_ms="1500",
            group_max_size="4",
            offsets_retention_check_interval_ms="60000",
        )

    def group(self, name: str) -> ClassicGroup | None:
        group = self.driver.engine.state.groups.get(name)
        assert group is None or isinstance(group, ClassicGroup)
        return group

    def generation(self, group: str, shift: int) -> int:
        known = self.group(group)
        return (0 if known is None else known.generation) + shift

    def join(self, member: Named, listed: Any, **fields: Any) -> int:
        group, id_, instance = member
        values = {"protocol_type": "consumer", "rebalance_timeout_ms": 20_000, **fields}
        request = JoinGroup(
            group=group, member=id_, instance=instance, session_timeout_ms=10_000, protocols=listed, **values
        )
        return self.driver.send(request)

    @rule(
        target=MEMBERS,
        group=GROUPS,
        instance=INSTANCES,
        listed=LISTS,
        version=st.sampled_from([0, 3, 5, 8, 9, 9]),
        timeout_ms=st.sampled_from([-1, 0, 2_000, 20_000]),
    )
    def join_new(
        self, group: str, instance: str | None, listed: Any, version: int, timeout_ms: int
    ) -> object:
        ticket = self.join((group, "", instance), listed, rebalance_timeout_ms=timeout_ms, version=version)
        answer = self.driver.answers.get(ticket)
        if isinstance(answer, JoinGroupAnswer) and answer.member:
            return group, answer.member, instance
        known = self.group(group)
        parked = [] if known is None else [id_ for id_, other in known.joining.items() if other == ticket]
        return (group, parked[0], instance) if parked else multiple()

    @rule(
        member=MEMBERS,
        listed=LISTS,
        protocol_type=st.sampled_from(["consumer", "consumer", "consumer", "connect", ""]),
        with_instance=st.booleans(),
    )
    def join_again(self, member: Named, listed: Any, protocol_type: str, with_instance: bool) -> None:
        group, id_, instance = member
        self.join((group, id_, instance if with_instance else None), listed, protocol_type=protocol_type)

    @rule(group=GROUPS, absent=st.sampled_from([None, None, 0, 1]))
    def rebalance(self, group: str, absent: int | None) -> None:
        """All pending and known members rejoin, except perhaps one."""
        known = self.group(group)
        for i, id_ in enumerate([] if known is None else [*sorted(known.pending), *known.members]):
            if known is not None and i != absent:
                member = known.members.get(id_)
                instance = None if member is None else member.instance
                listed = protocols("range", "sticky") if member is None else member.protocols
                self.join((group, id_, instance), listed, protocol_type=known.protocol_type or "consumer")

    @rule(group=GROUPS, absent=st.sampled_from([None, None, 0, 1]))
    def all_sync(self, group: str, absent: int | None) -> None:
        known = self.group(group)
        for i, id_ in enumerate([] if known is None else list(known.members)):
            if i != absent:
                self.sync((group, id_, None), 0, True)

    @rule(member=MEMBERS, shift=st.sampled_from([0, 0, 0, -1]), assigns=st.booleans())
    def sync(self, member: Named, shift: int, assigns: bool) -> None:
        group, id_, instance = member
        request = SyncGroup(
            group=group,
            generation=self.generation(group, shift),
            member=id_,
            instance=instance,
            protocol_type=None,
            protocol=None,
            assignments=((id_, b"x"), ("stranger", b"y")) if assigns else (),
            version=4,
        )
        self.driver.send(request)

    @rule(member=MEMBERS, shift=st.sampled_from([0, 0, 0, 1]))
    def heartbeat(self, member: Named, shift: int) -> None:
        group, id_, instance = member
        generation = self.generation(group, shift)
        self.driver.send(Heartbeat(group=group, generation=generation, member=id_, instance=instance))

    @rule(member=MEMBERS, by_instance=st.booleans())
    def leave(self, member: Named, by_instance: bool) -> None:
        group, id_, instance = member
        leaving = ("" if by_instance else id_, instance)
        self.driver.send(LeaveGroup(group=group, members=(leaving, leaving)))

    @rule(
        member=MEMBERS,
        simple=st.booleans(),
        topic=st.sampled_from(["t1", "t2", "t9"]),
        retention_ms=st.sampled_from([None, 5_000]),
    )
    def commit(self, member: Named, simple: bool, topic: str, retention_ms: int | None) -> None:
        group, id_, instance = member
        request = OffsetCommit(group=group, offsets=(Offset(topic, None, 0, 1),), retention_ms=retention_ms)
        named = replace(request, generation_or_epoch=self.generation(group, 0), member=id_, instance=instance)
        self.driver.send(request if simple else named)

    @rule(group=GROUPS)
    def look(self, group: str) -> None:
        self.driver.send(DescribeGroups(groups=(group, "")))
        self.driver.send(ListGroups(states=("stable",)))
        self.driver.send(OffsetFetch(groups=(OffsetQuery(group=group), OffsetQuery(group=""))))

    @rule(group=GROUPS)
    def delete_offsets(self, group: str) -> None:
        self.driver.send(OffsetDelete(group=group, partitions=(("t1", 0), ("t2", 0), ("t9", 0))))

    @rule(group=GROUPS)
    def delete(self, group: str) -> None:
        self.driver.send(DeleteGroups(groups=(group,)))

    @rule(group=GROUPS)
    def move(self, group: str) -> None:
        self.driver.move(group)

    @rule(ms=st.sampled_from([1, 1_500, 1_500, 3_000, 9_000, 20_000]))
    def pass_time(self, ms: int) -> None:
        self.driver.advance(ms)

    @invariant()
    def nothing_fails(self) -> None:
        codes = {getattr(answer, "error", ErrorCode.NONE) for answer in self.driver.answers.values()}
        assert ErrorCode.UNKNOWN_SERVER_ERROR not in codes

    @invariant()
    def waiting_members_are_parked(self) -> None:
        parked = [
            ticket
            for group in self.driver.engine.state.groups.values()
            if isinstance(group, ClassicGroup)
            for ticket in (*group.joining.values(), *group.syncing.values())
        ]
        waiting = set(range(1, self.driver.tickets + 1)) - self.driver.answers.keys()
        assert sorted(parked) == sorted(waiting)

    @invariant()
    def groups_are_whole(self) -> None:
        for name in self.driver.engine.state.groups:
            group = self.group(name)
            assert group is not None
            check(group)
            check_timers(group, self.driver.engine)

    @invariant()
    def replaying_all_records_gives_the_same_hard_state(self) -> None:
        fresh = Engine(self.driver.engine.config, self.driver.engine.topics)
        for record in self.driver.records:
            fresh.replay(record)
        assert hard_state(fresh) == hard_state(self.driver.engine)

    def teardown(self) -> None:
        """No member sends requests any more: all waiting ends, and all members are removed."""
        self.driver.advance(HOUR_MS)
        self.waiting_members_are_parked()
        assert len(self.driver.answers) == self.driver.tickets
        for group in self.driver.engine.state.groups.values():
            assert group.is_empty()


def check(group: ClassicGroup) -> None:
    members = group.members
    assert (group.leader in members) if members else group.leader is None
    assert group.static == {
        member.instance: member.id for member in members.values() if member.instance is not None
    }
    assert group.joining.keys() | group.syncing.keys() <= members.keys()
    assert group.pending.isdisjoint(members)
    assert group._supported.keys() == {
        name for member in members.values() for name in member.protocol_names()
    }
    assert all(group.supports(group.protocol_type, member.protocols) for member in members.values())
    if group.state is GroupState.EMPTY:
        assert not members
    if group.state is not GroupState.PREPARING_REBALANCE:
        assert not group.joining
    if group.state is not GroupState.COMPLETING_REBALANCE:
        assert not group.syncing
    if group.state is GroupState.STABLE:
        assert group.stored is not None
        assert group.stored.generation == group.generation
        assert {member.member for member in group.stored.members} == members.keys()


def check_timers(group: ClassicGroup, engine: Engine) -> None:
    """Somebody is always waited for: a member's session, its id, the rebalance."""

    def runs(kind: TimerKind, member: str = "") -> bool:
        return engine._ctx.timers.deadline(TimerKey(kind, group.id, member)) is not None

    for member in group.members:
        assert runs(TimerKind.SESSION, member) or member in group.joining or member in group.syncing
    assert all(runs(TimerKind.PENDING_MEMBER, member) for member in group.pending)
    preparing = group.state is GroupState.PREPARING_REBALANCE
    assert (runs(TimerKind.JOIN) or runs(TimerKind.INITIAL_DELAY)) == preparing
    if group.state is GroupState.COMPLETING_REBALANCE:
        assert runs(TimerKind.SYNC)


def hard_state(engine: Engine) -> object:
    groups = {
        group.id: group.stored
        for group in engine.state.groups.values()
        if isinstance(group, ClassicGroup) and (group.stored or group.id in engine.state.offsets)
    }
    return groups, engine.state.offsets


ClassicGroups.TestCase.settings = settings(
    max_examples=cases("KOHORT_EXAMPLES", 30, many=1_000),
    stateful_step_count=50,
    suppress_health_check=list(HealthCheck),
)
TestClassicGroups = ClassicGroups.TestCase
