"""The tables of a group are functions of what polls have brought."""

from dataclasses import replace
from functools import partial

from cli.polls.reading import PolledGroup, PollResult
from cli.render.cells import cell_text
from cli.render.lines import plain
from cli.verbs.top.group_summary import summary_lines
from cli.verbs.top.group_tables import members_table, partitions_table, topics_table
from cli.verbs.top.ownership import lanes_of
from cli.verbs.top.past_group import from_recording
from cli.verbs.top.screens.partition import commits_table
from cli.verbs.top.sight import Sight
from cli.verbs.top.tables import GridTable
from cli.verbs.watch.state import WatchObservation
from groups.connect import ConnectMember, Work
from groups.lag import lag_columns
from groups.model import (
    Client,
    CommittedOffset,
    Group,
    GroupState,
    GroupType,
    Member,
    Subscription,
    Topic,
)
from groups.streams import StreamsMember, Tasks

AT_MS = 1_772_334_420_000
A = Member(
    id="id-a",
    client=Client(id="a", host="/10.0.0.1"),
    epoch=4,
    subscription=Subscription(topics=("orders",)),
    owned={"orders": (0, 1)},
    target={"orders": (0,)},
)
B = replace(A, id="id-b", client=Client(id="b", host="/10.0.0.2"), owned={}, target={"orders": (1,)}, epoch=5)


def group(state: GroupState = GroupState.RECONCILING, committed: int = 100, *members: Member) -> Group:
    return Group(
        id="billing",
        type=GroupType.CONSUMER,
        state=state,
        group_epoch=5,
        assignment_epoch=5,
        protocol="uniform",
        members=members or (A, B),
        offsets={"orders": {0: CommittedOffset(offset=committed), 1: CommittedOffset(offset=committed)}},
    )


def polled(sight: Sight, at_ms: int, seen: Group | None, end: int = 400) -> Sight:
    """With a poll of the group on screen; None: it does not exist."""
    topics = {"orders": Topic(name="orders", partitions=3, end_offsets=dict.fromkeys(range(3), end))}
    groups = {}
    if seen is not None:
        groups = {seen.id: PolledGroup.of(seen, partial(lag_columns, seen, topics))}
    return sight.read(PollResult(at_ms=at_ms, groups=groups, topics=topics), "billing", at_ms - 10)


def values(table: GridTable, heading: str) -> list[str]:
    number = [column.name for column in table.columns].index(heading)
    return [cell_text(row.cells[number], heading) for row in table.rows]


def test_the_topics_of_a_group_have_lag_rates_and_time_to_zero() -> None:
    sight = polled(Sight(), AT_MS, group())
    assert values(topics_table(sight, "billing"), "READ/S") == ["-"]  # Not known after one poll
    table = topics_table(polled(sight, AT_MS + 10_000, group(committed=300), end=500), "billing")
    shown = {column.name: values(table, column.name) for column in table.columns}
    assert shown == {
        "TOPIC": ["orders"],
        "#PARTITIONS": ["3"],
        "LAG": ["400"],
        "LAG-TIME": ["-"],
        "READ/S": ["40"],
        "WRITTEN/S": ["30"],
        "ZERO-IN": ["40 s"],
        "UNOWNED": ["1"],
        "#LAG-UNKNOWN": ["1"],
    }


def test_rates_begin_with_the_first_commit_that_was_seen() -> None:
    sight = polled(Sight(), AT_MS, replace(group(), offsets={"orders": {0: CommittedOffset(offset=None)}}))
    for second, committed in ((10, 100), (20, 200)):
        sight = polled(sight, AT_MS + second * 1_000, group(committed=committed))
    assert values(topics_table(sight, "billing"), "READ/S") == ["20"]
    assert values(partitions_table(sight, "billing"), "READ/S") == ["10", "10"]


def test_members_show_what_they_gain_revoke_and_wait_for() -> None:
    table = members_table(polled(Sight(), AT_MS, group()), "billing")
    assert values(table, "MEMBER") == ["a", "b"]
    assert values(table, "EPOCH") == ["4", "5"]
    assert values(table, "REVOKES") == ["orders:1", "-"]
    assert values(table, "GAINS") == ["-", "orders:1"]
    assert values(table, "WAITS-FOR") == ["itself: to revoke orders:1", "orders:1, which a still has"]


def test_each_partition_has_rates_and_a_trend() -> None:
    sight = polled(polled(Sight(), AT_MS, group()), AT_MS + 10_000, group(committed=350), end=500)
    table = partitions_table(sight, "billing")
    assert values(table, "READ/S") == ["25", "25"]
    assert values(table, "WRITTEN/S") == ["10", "10"]
    assert values(table, "TREND") == ["█▄", "█▄"]


def test_a_partition_without_an_owner_is_in_the_summary_with_its_time() -> None:
    sight = polled(polled(Sight(), AT_MS, group()), AT_MS + 7_000, group())
    lines = [plain(line) for line in summary_lines(sight, "billing", 80)]
    assert lines[0] == "consumer  Reconciling  epoch 5  uniform  2 members  3 partitions"
    assert "Without an owner for 6.9 s: orders:2" in lines
    assert "b waits for orders:1, which a still has" in lines


def test_a_group_that_was_deleted_is_said_to_be_gone() -> None:
    sight = polled(polled(Sight(at_ms=AT_MS), AT_MS, group()), AT_MS + 2_000, None)
    assert [plain(line) for line in summary_lines(sight, "billing", 80)] == ["There is no such group."]
    assert [line.text for line in sight.log] == ["the group no longer exists"]


def test_lanes_show_who_owned_a_partition_and_when_it_had_no_owner() -> None:
    sight = Sight()
    free = replace(A, owned={"orders": (0,)}), B
    moved = replace(A, owned={"orders": (0,)}), replace(B, owned={"orders": (1,)})
    for second, members in ((0, ()), (4, ()), (10, free), (14, free), (20, moved), (30, moved)):
        sight = polled(sight, AT_MS + second * 1_000, group(GroupState.RECONCILING, 100, *members))
    lanes = lanes_of(sight.owners, AT_MS + 30_000, 30)
    assert lanes is not None
    assert {key: values(lanes.table(), key) for key in ("PARTITIONS", "OWNERS", "OWNER")} == {
        "PARTITIONS": ["orders:0", "orders:1", "orders:2"],
        "OWNERS": ["A" * 30, "A" * 10 + "·" * 11 + "B" * 9, "·" * 30],
        "OWNER": ["a", "b", "-"],
    }
    assert lanes.legend().startswith("the last 30 s until 03:07:30Z, 1 s a mark:  A=a  B=b")


def test_what_ended_long_ago_is_not_in_the_lanes() -> None:
    sight = polled(Sight(), AT_MS, group())
    for second in (1_000, 2_000, 3_000):
        owner = A if second % 2_000 else replace(A, owned={"orders": (1,)})
        sight = polled(sight, AT_MS + second * 1_000, group(GroupState.RECONCILING, 100, owner))
    assert [at_ms - AT_MS for at_ms, _ in sight.owners["orders", 0]] == [2_000_000, 3_000_000]
    other = replace(A, owned={"new": (0,)}, target=None, subscription=Subscription(topics=("new",)))
    for second in (4_000, 5_000):
        sight = polled(sight, AT_MS + second * 1_000, group(GroupState.STABLE, 100, other))
    assert [*sight.owners] == [("new", 0)]


def test_a_partition_shows_each_commit_that_was_seen() -> None:
    sight = Sight()
    for second, committed in ((0, 100), (2, 100), (4, 160), (6, 150)):
        sight = polled(sight, AT_MS + second * 1_000, group(committed=committed))
    table = commits_table(sight.groups["billing"].samples["orders", 0])
    assert values(table, "SEEN-AT") == ["03:07:06.000", "03:07:04.000", "03:07:00.000"]
    assert values(table, "STEP") == ["-10", "60", "-"]


def test_each_type_of_group_has_the_columns_that_apply_to_it() -> None:
    shared = replace(A, target=None), replace(B, owned={"orders": (0, 1)}, target=None)
    tasks, fewer = Tasks(active={"0": (0, 1)}), Tasks(active={"0": (0,)})
    thread = replace(A, target=None, streams=StreamsMember(process="p", tasks=tasks, target_tasks=fewer))
    worker = replace(A, owned=None, target=None, connect=ConnectMember(runs=Work(connectors=("sink",))))
    groups = {
        GroupType.CONSUMER: group(),
        GroupType.SHARE: replace(group(), type=GroupType.SHARE, members=shared),
        GroupType.STREAMS: replace(group(), type=GroupType.STREAMS, members=(thread,)),
        GroupType.CLASSIC: replace(
            group(), type=GroupType.CLASSIC, members=(worker,), protocol_type="connect"
        ),
    }
    names = {
        kind: [column.name for column in members_table(polled(Sight(), AT_MS, seen), "billing").columns]
        for kind, seen in groups.items()
    }
    assert names == {
        GroupType.CONSUMER: [
            *("MEMBER", "EPOCH", "#PARTITIONS", "LAG", "WAITS-FOR", "GAINS", "REVOKES", "OWNS"),
            *("TARGET", "PROTOCOL", "HOST"),
        ],
        GroupType.SHARE: ["MEMBER", "EPOCH", "#PARTITIONS", "OWNS", "HOST"],
        GroupType.STREAMS: [
            *("MEMBER", "EPOCH", "#PARTITIONS", "LAG", "TASKS", "TARGET-TASKS", "PROCESS"),
            *("TOPOLOGY-EPOCH", "OWNS", "HOST"),
        ],
        GroupType.CLASSIC: ["MEMBER", "LEADS", "URL", "CONNECTORS", "CONNECTOR-TASKS", "HOST"],
    }
    both = polled(Sight(), AT_MS, groups[GroupType.SHARE])
    assert values(partitions_table(both, "billing"), "OWNER") == ["a, b", "a, b"]


def test_a_recording_shows_owners_lag_and_events_until_the_moment() -> None:
    topics = {"orders": Topic(name="orders", partitions=2, end_offsets={0: 400, 1: 400})}
    moved = replace(A, owned={"orders": (0,)}), replace(B, owned={"orders": (1,)})
    seen = [
        WatchObservation(asked_ms=AT_MS + ms, at_ms=AT_MS + ms, groups={"billing": shown}, topics=topics)
        for ms, shown in ((0, group()), (2_000, group(GroupState.STABLE, 150, *moved)))
    ]
    known = Sight(groups=polled(Sight(), AT_MS, group()).groups, past_ms=AT_MS + 2_000)
    sight = from_recording(known, "billing", seen)
    assert [sample.lag for sample in sight.groups["billing"].samples["orders", 1]] == [300, 250]
    assert [owner for _, owner in sight.owners["orders", 1]] == ["a", "b"]
    assert sight.events_of("billing")[-1].text == "Reconciling → Stable"
