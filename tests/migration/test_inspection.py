"""Where groups stand, and what their members wait for: tables of the states that a broker goes through."""

import json
import time
from dataclasses import replace
from typing import Any

from hypothesis import given

from cli.render.document import Heading
from cli.verbs.describe.migration import migration_blocks, migration_data
from groups.model import Client, Group, GroupState, GroupType, Member, MemberProtocol, Partitions, UserData
from groups.waits import Wait, WaitKind, labels_of, waits_of
from migration.inspection import inspect, standing
from tests.groups.test_snapshot import built
from tests.support.golden import assert_recorded

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


def lists(*protocols: str) -> Member:
    return Member(id="-".join(protocols), protocol=CLASSIC, protocols=protocols)


STABLE = modern("a", 5, {}, {})
COOPERATIVE = "cooperative-sticky"
PREPARING, COMPLETING = GroupState.PREPARING_REBALANCE, GroupState.COMPLETING_REBALANCE
WAITS: dict[str, Group] = {
    "nothing": consumer_group(modern("a", 5, HAS, HAS)),
    "revoke": consumer_group(modern("a", 4, HAS, ONE)),
    "a classic member revokes by rejoining": consumer_group(modern("a", 4, HAS, ONE, CLASSIC)),
    "behind": consumer_group(modern("a", 4, HAS, HAS)),
    "a classic member is behind": consumer_group(modern("a", 4, HAS, HAS, CLASSIC)),
    "another has them": consumer_group(modern("a", 5, {}, HAS), modern("b", 4, HAS, {})),
    "another has some of them": consumer_group(modern("a", 5, {}, HAS), modern("b", 4, OTHER, {})),
    "a classic member must rejoin once all are free": consumer_group(
        modern("a", 5, {}, HAS, CLASSIC), modern("b", 4, OTHER, {})
    ),
    "a classic member rejoins for more": consumer_group(modern("a", 5, {}, HAS, CLASSIC)),
    "two that swap: each gives up first": consumer_group(modern("a", 4, SWAPPED, HAS), modern("b", 4, HAS, SWAPPED)),
    "static and away": consumer_group(modern("a", -2, HAS, HAS)),
    "the group is ahead of its target": consumer_group(modern("a", 5, HAS, HAS), modern("b", 4, {}, {}), epoch=6),
    "owners or targets are not known": consumer_group(
        modern("a", 5, {}, HAS), Member(id="b", protocol=CONSUMER, epoch=5)
    ),
    "in a rebalance only new members are known to have joined": classic_group(
        classic("old"), classic("new", is_new=True), state=PREPARING, leader="old"
    ),
    "when all have joined they wait for the leader": classic_group(
        classic("a"), classic("b"), state=COMPLETING, leader="b"
    ),
    "under an unknown leader": classic_group(classic("a"), classic("b"), state=COMPLETING),
    "a stable classic group": classic_group(classic("a")),
    "an unknown state": classic_group(classic("a"), state=GroupState.UNKNOWN),
}  # fmt: skip
STANDINGS: dict[str, Group] = {
    "empty": classic_group(),
    "one on range": classic_group(classic("a"), protocol="range"),
    "two on cooperative-sticky": classic_group(classic("a"), classic("b"), protocol=COOPERATIVE),
    "in the first bounce": classic_group(lists("range"), lists(COOPERATIVE, "range"), protocol="range"),
    "in the second bounce": classic_group(
        lists(COOPERATIVE), lists(COOPERATIVE, "range"), protocol=COOPERATIVE
    ),
    "after both": classic_group(lists(COOPERATIVE), protocol=COOPERATIVE),
    "in a rebalance": classic_group(classic("a"), state=PREPARING),
    "mixed": consumer_group(STABLE, modern("b", 5, {}, {}, CLASSIC), modern("c", 5, {}, {}, CLASSIC)),
    "consumer": consumer_group(STABLE),
    "consumer of a classic member": consumer_group(modern("a", 5, {}, {}, CLASSIC)),
    "of Connect": replace(classic_group(classic("a")), protocol_type="connect"),
    "share": Group(id="g", type=GroupType.SHARE, state=GroupState.STABLE, protocol_type="share"),
}


def waits_text(group: Group) -> str:
    """Of each member: what it waits for, on which partitions, and whose."""
    return "\n".join(
        f"{member}: {'not known' if waits is None else ', '.join(map(wait_text, waits)) or 'nothing'}"
        for member, waits in waits_of(group).items()
    )


def wait_text(wait: Wait) -> str:
    partitions = [f"{topic}-{number}" for topic, numbers in wait.partitions.items() for number in numbers]
    return " ".join(filter(None, (wait.kind.value, *partitions, wait.member and f"of {wait.member}")))


def test_what_members_wait_for_and_where_groups_stand_is_as_recorded() -> None:
    waits = {f"waits: {name}": waits_text(group) for name, group in WAITS.items()}
    assert_recorded("inspections.txt", waits | {name: standing(group) for name, group in STANDINGS.items()})


def test_user_data_in_assignments_block_an_online_upgrade() -> None:
    heavy = Member(id="a", protocol=CLASSIC, user_data=UserData(assignment=b"12345"))
    light = Member(id="b", protocol=CLASSIC, user_data=UserData(subscription=b"1"))
    inspection = inspect(classic_group(heavy, light))
    assert [member.user_data_bytes for member in inspection.members] == [5, 0]
    groups = (
        *(
            classic_group(*members)
            for members in ((heavy, light), (heavy, classic("c")), (light, classic("c")))
        ),
        consumer_group(),
    )
    assert [inspect(group).upgrade_blocked_by for group in groups] == [("a",), ("a",), None, None]


def test_whose_leader_writes_user_data_is_known_of_known_libraries() -> None:
    def writes(assignor: str, library: str | None) -> bool | None:
        member = Member(id="a", client=Client(library=library), protocol=CLASSIC)
        return inspect(classic_group(member, protocol=assignor)).members[0].writes_user_data

    assert [writes(COOPERATIVE, "librdkafka"), writes("range", "librdkafka"), writes("range", None)] == [
        True, False, None,
    ]  # fmt: skip


def test_labels_name_one_member_each() -> None:
    static = Member(id="s-1", instance="s", client=Client(id="app"))
    group = classic_group(static, classic("m-1", "app"), classic("m-2", "worker"), classic("m-3", "worker"))
    assert labels_of(group) == {"s-1": "s", "m-1": "app", "m-2": "m-2", "m-3": "m-3"}
    assert labels_of(classic_group(classic("x", "y"), classic("y", "x"))) == {"x": "x", "y": "y"}


@given(built(Group, "g"))
def test_whatever_a_source_tells_there_is_an_answer_that_can_be_shown(group: Group) -> None:
    inspection = inspect(group)
    assert len({member.label for member in inspection.members}) == len(group.members)
    ranks = [member.rank for member in inspection.members if member.rank is not None]
    assert len(set(ranks)) == len(ranks)
    blocks = [*migration_blocks([inspection], verbose=True)]
    assert blocks[0] == Heading(group.id)
    json.dumps(migration_data(inspection))


def test_a_large_group_is_inspected_at_once() -> None:
    members = [modern(f"m{i}", 4, {"t": (i * 2, i * 2 + 1)}, {"t": (i * 2, i * 2 + 3)}) for i in range(5000)]
    began = time.perf_counter()
    inspection = inspect(consumer_group(*members))
    assert time.perf_counter() - began < 4
    assert [wait.kind for wait in inspection.members[0].waits or ()] == [WaitKind.REVOKE, WaitKind.RELEASE]
