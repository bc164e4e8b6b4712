"""Where groups stand, and what their members wait for: tables of the states that a broker goes through."""

import json
import time
from typing import Any

import pytest
from hypothesis import given

from cli.render.document import Heading
from cli.verbs.describe.migration import migration_blocks, migration_data
from groups.model import Client, Group, GroupState, GroupType, Member, MemberProtocol, Partitions, UserData
from groups.waits import Wait, WaitKind, labels_of, waits_of
from migration.inspection import inspect, standing
from tests.groups.test_snapshot import group_named

CLASSIC, CONSUMER = MemberProtocol.CLASSIC, MemberProtocol.CONSUMER


def modern(
    member_id: str, epoch: int, owned: Partitions, target: Partitions, protocol: MemberProtocol = CONSUMER
) -> Member:
    return Member(id=member_id, protocol=protocol, epoch=epoch, owned=owned, target=target)


def consumer_group(*members: Member, epoch: int = 5, assigned: int = 5) -> Group:
    return Group(
        id="g",
        type=GroupType.CONSUMER,
        state=GroupState.RECONCILING,
        protocol_type="consumer",
        group_epoch=epoch,
        assignment_epoch=assigned,
        members=members,
    )


def classic_group(*members: Member, state: GroupState = GroupState.STABLE, **fields: Any) -> Group:
    return Group(
        id="g", type=GroupType.CLASSIC, state=state, protocol_type="consumer", members=members, **fields
    )


def classic(member_id: str, client_id: str | None = None, **fields: Any) -> Member:
    return Member(id=member_id, client=Client(id=client_id), protocol=CLASSIC, **fields)


HAS = {"t": (0, 1)}
ONE, OTHER, SWAPPED = {"t": (0,)}, {"t": (1,)}, {"u": (3,)}


def wait(kind: WaitKind, partitions: Partitions | None = None, member: str | None = None) -> Wait:
    return Wait(kind=kind, partitions=partitions or {}, member=member)


WAITS: dict[str, tuple[list[Member], list[Wait]]] = {
    "nothing": ([modern("a", 5, HAS, HAS)], []),
    "revoke": ([modern("a", 4, HAS, ONE)], [wait(WaitKind.REVOKE, OTHER)]),
    "a classic member revokes by rejoining": (
        [modern("a", 4, HAS, ONE, CLASSIC)], [wait(WaitKind.REJOIN, OTHER)],
    ),
    "behind": ([modern("a", 4, HAS, HAS)], [wait(WaitKind.HEARTBEAT)]),
    "a classic member is behind": ([modern("a", 4, HAS, HAS, CLASSIC)], [wait(WaitKind.REJOIN)]),
    "another has them": (
        [modern("a", 5, {}, HAS), modern("b", 4, HAS, {})], [wait(WaitKind.RELEASE, HAS, "b")],
    ),
    "another has some of them": (
        [modern("a", 5, {}, HAS), modern("b", 4, OTHER, {})],
        [wait(WaitKind.HEARTBEAT, ONE), wait(WaitKind.RELEASE, OTHER, "b")],
    ),
    "a classic member must rejoin once all are free": (
        [modern("a", 5, {}, HAS, CLASSIC), modern("b", 4, OTHER, {})], [wait(WaitKind.RELEASE, OTHER, "b")],
    ),
    "a classic member rejoins for more": ([modern("a", 5, {}, HAS, CLASSIC)], [wait(WaitKind.REJOIN)]),
    "two that swap: each gives up first": (
        [modern("a", 4, SWAPPED, HAS), modern("b", 4, HAS, SWAPPED)],
        [wait(WaitKind.REVOKE, SWAPPED), wait(WaitKind.RELEASE, HAS, "b")],
    ),
    "static and away": ([modern("a", -2, HAS, HAS)], [wait(WaitKind.RETURN)]),
}  # fmt: skip


@pytest.mark.parametrize(("members", "waits"), WAITS.values(), ids=WAITS.keys())
def test_a_consumer_groups_member_waits_for(members: list[Member], waits: list[Wait]) -> None:
    assert waits_of(consumer_group(*members))["a"] == tuple(waits)


def test_all_wait_for_the_assignor_while_the_group_is_ahead_of_its_target() -> None:
    group = consumer_group(modern("a", 5, HAS, HAS), modern("b", 4, {}, {}), epoch=6)
    assert waits_of(group) == {
        "a": (Wait(kind=WaitKind.ASSIGNOR),),
        "b": (Wait(kind=WaitKind.HEARTBEAT), Wait(kind=WaitKind.ASSIGNOR)),
    }


def test_nothing_is_said_where_owners_or_targets_are_not_known() -> None:
    unknown = Member(id="b", protocol=CONSUMER, epoch=5)
    assert waits_of(consumer_group(modern("a", 5, {}, HAS), unknown)) == {"a": None, "b": None}


def test_in_a_rebalance_only_new_members_are_known_to_have_joined() -> None:
    group = classic_group(
        classic("old"), classic("new", is_new=True), state=GroupState.PREPARING_REBALANCE, leader="old"
    )
    assert waits_of(group) == {
        "old": (Wait(kind=WaitKind.MAYBE_REJOIN),),
        "new": (Wait(kind=WaitKind.JOINS),),
    }


def test_when_all_have_joined_they_wait_for_the_leader() -> None:
    members = (classic("a"), classic("b"))
    completing = GroupState.COMPLETING_REBALANCE
    assert waits_of(classic_group(*members, state=completing, leader="b")) == {
        "a": (Wait(kind=WaitKind.LEADER, member="b"),),
        "b": (Wait(kind=WaitKind.ASSIGN),),
    }
    unknown: tuple[Wait, ...] = (Wait(kind=WaitKind.LEADER),)
    assert waits_of(classic_group(*members, state=completing)) == {"a": unknown, "b": unknown}


def test_a_stable_classic_group_waits_for_nothing() -> None:
    assert waits_of(classic_group(classic("a"))) == {"a": ()}
    assert waits_of(classic_group(classic("a"), state=GroupState.UNKNOWN)) == {"a": None}


def lists(*protocols: str) -> Member:
    return Member(id="-".join(protocols), protocol=CLASSIC, protocols=protocols)


@pytest.mark.parametrize(
    ("group", "words"),
    [
        (classic_group(), "Empty: the group takes the protocol of the first member that joins."),
        (
            classic_group(classic("a"), protocol="range"),
            "Classic: its one member speaks the classic protocol and lists range, which is in use. A broker does not "
            "show what else is listed.",
        ),
        (
            classic_group(classic("a"), classic("b"), protocol="cooperative-sticky"),
            "Classic: both members speak the classic protocol and list cooperative-sticky, which is in use: the first "
            "of two bounces to it is complete, if not both. A broker does not show what else is listed.",
        ),
        (
            classic_group(lists("range"), lists("cooperative-sticky", "range"), protocol="range"),
            "Classic: both members speak the classic protocol; range is in use; 1 of 2 lists cooperative-sticky: the "
            "first of two bounces to it is in progress.",
        ),
        (
            classic_group(
                lists("cooperative-sticky"),
                lists("cooperative-sticky", "range"),
                protocol="cooperative-sticky",
            ),
            "Classic: both members speak the classic protocol; cooperative-sticky is in use; all list "
            "cooperative-sticky, 1 alone: the first of two bounces to it is complete.",
        ),
        (
            classic_group(lists("cooperative-sticky"), protocol="cooperative-sticky"),
            "Classic: its one member speaks the classic protocol; cooperative-sticky is in use; all list "
            "cooperative-sticky alone: both bounces to it are complete.",
        ),
        (
            classic_group(classic("a"), state=GroupState.PREPARING_REBALANCE),
            "Classic: its one member speaks the classic protocol; a rebalance is in progress, and the assignor that "
            "it will use is unknown.",
        ),
        (
            consumer_group(
                modern("a", 5, {}, {}), modern("b", 5, {}, {}, CLASSIC), modern("c", 5, {}, {}, CLASSIC)
            ),
            "Mixed: 1 of 3 members speaks the consumer protocol, 2 speak the classic one.",
        ),
        (consumer_group(modern("a", 5, {}, {})), "Consumer: its one member speaks the consumer protocol."),
        (
            consumer_group(modern("a", 5, {}, {}, CLASSIC)),
            "Type consumer, although its one member speaks the classic protocol: the brokers' migration policy does "
            "not turn it back.",
        ),
        (
            Group(
                id="g",
                type=GroupType.CLASSIC,
                state=GroupState.STABLE,
                protocol_type="connect",
                members=(classic("a"),),
            ),
            "A group of protocol type connect, not of consumers.",
        ),
        (
            Group(id="g", type=GroupType.SHARE, state=GroupState.STABLE, protocol_type="share"),
            "A share group: it uses neither the classic nor the consumer protocol.",
        ),
    ],
)
def test_where_it_stands(group: Group, words: str) -> None:
    assert standing(group) == words


def test_user_data_in_assignments_block_an_online_upgrade() -> None:
    heavy = Member(id="a", protocol=CLASSIC, user_data=UserData(assignment=b"12345"))
    light = Member(id="b", protocol=CLASSIC, user_data=UserData(subscription=b"1"))
    inspection = inspect(classic_group(heavy, light))
    assert inspection.upgrade_blocked_by == ("a",)
    assert [member.user_data_bytes for member in inspection.members] == [5, 0]
    assert inspect(classic_group(heavy, classic("c"))).upgrade_blocked_by == ("a",)
    assert inspect(classic_group(light, classic("c"))).upgrade_blocked_by is None
    assert inspect(consumer_group()).upgrade_blocked_by is None


def test_whose_leader_writes_user_data_is_known_of_known_libraries() -> None:
    def librdkafka(assignor: str) -> bool | None:
        member = Member(id="a", client=Client(library="librdkafka"), protocol=CLASSIC)
        return inspect(classic_group(member, protocol=assignor)).members[0].writes_user_data

    assert (librdkafka("cooperative-sticky"), librdkafka("range")) == (True, False)
    assert inspect(classic_group(classic("a"), protocol="range")).members[0].writes_user_data is None


def test_labels_name_one_member_each() -> None:
    static = Member(id="s-1", instance="s", client=Client(id="app"))
    group = classic_group(static, classic("m-1", "app"), classic("m-2", "worker"), classic("m-3", "worker"))
    assert labels_of(group) == {"s-1": "s", "m-1": "app", "m-2": "m-2", "m-3": "m-3"}
    assert labels_of(classic_group(classic("x", "y"), classic("y", "x"))) == {"x": "x", "y": "y"}


@given(group_named("g"))
def test_whatever_a_source_tells_there_is_an_answer_that_can_be_shown(group: Group) -> None:
    inspection = inspect(group)
    assert len({member.label for member in inspection.members}) == len(group.members)
    assert len({member.rank for member in inspection.members if member.rank is not None}) == sum(
        member.rank is not None for member in inspection.members
    )
    blocks = [*migration_blocks([inspection], verbose=True)]
    assert blocks[0] == Heading(group.id)
    json.dumps(migration_data(inspection))


def test_a_large_group_is_inspected_at_once() -> None:
    members = [modern(f"m{i}", 4, {"t": (i * 2, i * 2 + 1)}, {"t": (i * 2, i * 2 + 3)}) for i in range(5000)]
    began = time.perf_counter()
    inspection = inspect(consumer_group(*members))
    assert time.perf_counter() - began < 4
    assert [wait.kind for wait in inspection.members[0].waits or ()] == [WaitKind.REVOKE, WaitKind.RELEASE]
