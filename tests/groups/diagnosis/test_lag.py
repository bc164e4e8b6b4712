"""Rules about lag and committed offsets: each finds its case, and is silent where all is well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from uuid import UUID

import pytest

from groups.diagnosis.case import Observation, Thresholds
from groups.diagnosis.diagnose import diagnose
from groups.findings import Finding, Level
from groups.model import Cluster, CommittedOffset, Group, GroupState, OpenTransaction, Topic
from groups.progress import NEVER
from tests.groups.diagnosis.groups import START_MS, findings, group, member

EVERY_MS = 6_000
NAME = "orders"


def look(
    position: int,
    committed: Mapping[int, int],
    ends: Mapping[int, int],
    *,
    starts: Mapping[int, int] | None = None,
    of: Group | None = None,
    commit_ms: int | None = START_MS,
    **more: object,
) -> Observation:
    """A look at the group, whose two members own partitions 0 and 1, 2 and 3 unless it is another one."""
    seen = group(member("a", [0, 1]), member("b", [2, 3])) if of is None else of
    commits = {number: CommittedOffset(offset=at, timestamp=commit_ms) for number, at in committed.items()}
    kept = dict.fromkeys(range(4), 0) if starts is None else dict(starts)
    topic = Topic(
        name=NAME, partitions=4, start_offsets=kept, end_offsets=dict(ends), stable_offsets=dict(ends)
    )
    return Observation(
        at_ms=START_MS + position * EVERY_MS,
        group=replace(seen, offsets={NAME: commits}),
        topics={NAME: topic},
        topic_names=frozenset({NAME}),
        **more,  # type: ignore[arg-type]
    )


EMPTY = group(state=GroupState.EMPTY)
ABOUT_OFFSETS = {
    "open-transaction", "pending-offsets", "aborted-records", "topic-recreated", "records-lost", "beyond-end",
    "stalled-member", "stalled-partition", "stopped", "overtaken", "falling-behind", "slow-catch-up", "rewound",
    "hot-partition", "never-committed", "offsets-expiring", "left-over-offsets",
}  # fmt: skip


def found(*seen: Observation, **limits: object) -> dict[str, Finding]:
    return {rule: finding for rule, finding in findings(seen, **limits).items() if rule in ABOUT_OFFSETS}


def transaction(begun_ms: int) -> OpenTransaction:
    return OpenTransaction(
        start_offset=50, producer_id=4, producer_epoch=0, coordinator_epoch=0, last_write_ms=begun_ms,
        transactional_id="till", begun_ms=begun_ms,
    )  # fmt: skip


def unchecked(*seen: Observation) -> dict[str, float | None]:
    """Rules that are not checked, with the time that they need in seconds."""
    result = diagnose("payments", seen, Thresholds())
    return {
        rule: None if check.least_ms is None else check.least_ms / 1000
        for check in result.not_checked
        for rule in check.rules
    }


def test_rules_are_not_checked_in_less_than_their_time() -> None:
    ends = {0: 110, 1: 10, 2: 70, 3: 10}
    short = [look(at, {0: 10 + at, 1: 10, 2: 70, 3: 10}, {**ends, 0: 110 + at}) for at in (0, 1)]
    never = {"topic-missing": None, "open-transaction": None}
    assert unchecked(*short) == {
        "rebalance-storm": 60, "poll-interval": 60, "member-evicted": 60, "overtaken": 600, "falling-behind": 30,
        "slow-catch-up": 30, "rewound": 30, **never,
    }  # fmt: skip
    assert unchecked(*short, look(100, {0: 110, 1: 10, 2: 70, 3: 10}, {**ends, 0: 210})) == never
    assert {"stalled-member": 15, "stalled-partition": 15}.items() <= unchecked(
        *[look(at, {0: 10, 1: 10, 2: 70, 3: 10}, ends) for at in (0, 1)]
    ).items()
    assert unchecked(short[0])["falling-behind"] is None  # one observation has no trend at all


def test_a_member_that_owns_and_does_not_consume() -> None:
    ends = {0: 500, 1: 10, 2: 70, 3: 10}
    often = group(member("a", [0, 1]), member("b", [2, 3]), commit_gap_ms=5_000)
    seen = [look(at, {0: 10, 1: 10, 2: 20 + at, 3: 10}, ends, of=often) for at in range(4)]
    reported = found(*seen)["stalled-member"]
    assert (reported.level, reported.member, reported.since_ms) == (Level.ERROR, "a-id", START_MS)
    assert reported.evidence["partitions"] == ("orders-0",)
    assert (reported.evidence["lag"], reported.evidence["still_for_s"]) == (490, 18.0)
    # Two looks 12 s apart are not enough; a member that commits every 10 s would not have to have committed.
    assert "stalled-member" not in found(*seen[:3])
    assert "stalled-member" not in found(*seen, commit_interval_ms=10_000)
    # Nor is a partition that the member has only just got, or a group in a rebalance.
    before = look(0, {0: 10, 1: 10, 2: 20, 3: 10}, ends, of=group(member("a", [1]), member("b", [0, 2, 3])))
    assert "stalled-member" not in found(before, *seen[1:])
    # It is known at once when the record and the last commit are old.
    since = {(NAME, 0): START_MS - 600_000}
    assert found(seen[0], replace(seen[1], waiting_since_ms=since))["stalled-member"].since_ms == (
        START_MS - 600_000
    )
    # Only the marker of a transaction is left to read.
    assert found(seen[0], replace(seen[3], waiting_since_ms={(NAME, 0): None}), hot=NEVER).keys() == {
        "slow-catch-up"
    }


@pytest.mark.parametrize(
    ("position", "other", "level"),
    [(3, 100, Level.WARNING), (10, 100, Level.ERROR), (100, 100_000, Level.WARNING)],
    ids=["a minute has not passed", "nothing else to read", "it reads another partition first"],
)
def test_partition_behind_others_is_a_warning_first(position: int, other: int, level: Level) -> None:
    seen = [
        look(at, {0: 10, 1: 10 + at, 2: 5, 3: 5}, {0: 50, 1: 10 + at if other == 100 else other, 2: 5, 3: 5})
        for at in (0, position)
    ]
    reported = findings(seen)["stalled-partition"]
    assert reported.level is level
    assert ("Wait until orders-1 has caught up" in reported.remedy) == (other > 100)
    assert "offsets reset" not in reported.remedy  # it would lose a record


def test_stillness_is_the_shortest_and_counts_since_the_assignment() -> None:
    ends = {0: 50, 1: 50, 2: 5, 3: 5}
    since = {(NAME, 0): START_MS - 700_000, (NAME, 1): START_MS - 100_000}
    still = [look(at, {0: 10, 1: 10, 2: 5, 3: 5}, ends, waiting_since_ms=since) for at in (0, 1)]
    reported = found(*still)["stalled-member"]
    assert "nothing for at least 1 min 46 s in orders-0, orders-1" in reported.message
    assert (reported.evidence["still_for_s"], reported.since_ms) == (106, START_MS - 100_000)
    # The member has had orders-0 since the second observation, or the third is of another generation.
    before = look(0, {0: 10, 1: 5, 2: 5, 3: 5}, ends, of=group(member("a", [1]), member("b", [0, 2, 3])))
    del since[NAME, 1]
    got = [look(at, {0: 10, 1: 5 + at, 2: 5, 3: 5}, ends, waiting_since_ms=since) for at in range(1, 5)]
    assert found(before, *got)["stalled-partition"].evidence["still_for_s"] == 18
    assert "stalled-partition" not in found(before, *got[:-1])
    again = [
        replace(observation, group=replace(observation.group or EMPTY, generation=7 + (at > 1)))
        for at, observation in enumerate(got)
    ]
    assert "stalled-partition" not in found(*again)
    assert "stalled-partition" in unchecked(*again)


def test_a_group_that_stopped() -> None:
    seen = [look(at, {0: 10, 1: 10}, {0: 10 + at, 1: 10}, of=EMPTY) for at in range(1, 6)]
    reported = found(*seen)
    assert {rule: finding.level for rule, finding in reported.items()} == {"stopped": Level.ERROR}
    # One look cannot tell, and old commits tell that no member uses the group.
    assert found(seen[-1])["stopped"].level is Level.WARNING
    old = replace(
        seen[-1],
        group=replace(
            EMPTY, offsets={NAME: {0: CommittedOffset(offset=10, timestamp=START_MS - 30 * 86_400_000)}}
        ),
    )
    reported = found(*seen[:-1], old)
    assert reported["stopped"].level is Level.WARNING
    assert "30 days ago" in reported["stopped"].message
    one = [look(at, {0: 10}, {0: 11}, of=EMPTY) for at in range(1, 6)]
    assert "1 record is unread in 1 partition" in found(*one)["stopped"].message
    # Consumers without a membership commit too; and a group that has read everything has not stopped.
    assert found(look(0, {0: 1}, {0: 9}, of=EMPTY), look(9, {0: 5}, {0: 9}, of=EMPTY)) == {}
    assert found(look(0, {0: 9}, {0: 9}, of=EMPTY), look(9, {0: 9}, {0: 9}, of=EMPTY)) == {}


def test_lag_that_grows_and_lag_that_shrinks() -> None:
    rest = {1: 0, 2: 0, 3: 0}
    reported = found(look(0, {0: 0, **rest}, {0: 1000, **rest}), look(5, {0: 300, **rest}, {0: 4000, **rest}))
    one = reported["falling-behind"]
    assert one.level is Level.WARNING
    assert (one.evidence["produced_per_s"], one.evidence["committed_per_s"]) == (100, 10)
    assert one.evidence["lag_grown_by"] == 2700
    shrinks = [
        look(0, {0: 0, **rest}, {0: 90_000, **rest}),
        look(5, {0: 30_000, **rest}, {0: 90_000, **rest}),
    ]
    reported = found(*shrinks, hot=NEVER)
    assert {rule: finding.level for rule, finding in reported.items()} == {"slow-catch-up": Level.NOTE}
    assert reported["slow-catch-up"].evidence["catch_up_s"] == 60
    assert found(*shrinks, hot=NEVER, catch_up_ms=10_000)["slow-catch-up"].level is Level.WARNING


def test_records_that_are_deleted_before_they_are_read() -> None:
    ends = dict.fromkeys(range(4), 1000)
    committed = {0: 500, 1: 1000, 2: 1000, 3: 1000}
    lost = found(*[look(at, committed, ends, starts={0: 600}) for at in (0, 1)])["records-lost"]
    assert (lost.level, lost.evidence["records_lost"]) == (Level.ERROR, 100)
    # The start has passed the offset since the first look, and the offset may have moved since.
    moves = look(0, committed, ends, starts={0: 400}), look(1, {**committed, 0: 550}, ends, starts={0: 600})
    assert set(found(*moves)) <= {"overtaken", "slow-catch-up"}
    soon = found(*[look(at, committed, {**ends, 0: 1000 + 90 * at}, starts={0: 60 * at}) for at in (1, 2)])
    assert soon["overtaken"].evidence["lost_in_s"] == 38.0
    # Retention deletes in steps: a step counts at most for what is produced, or for the time between two checks.
    step = found(*[look(at, committed, ends, starts={0: 60 * at}) for at in (1, 2)])["overtaken"]
    assert step.evidence["lost_in_s"] == 380 / (60 / 300)


def test_offsets_beyond_the_end_and_of_a_topic_that_is_gone() -> None:
    ends = dict.fromkeys(range(4), 7)
    committed = {0: 500, 1: 7, 2: 7, 3: 7}
    (reported,) = found(look(0, committed, ends), look(1, committed, ends)).values()
    assert (reported.rule, reported.level, reported.evidence["above_the_end_by"]) == (
        "beyond-end",
        Level.ERROR,
        493,
    )
    now = look(1, committed, ends)
    topic = replace((now.topics or {})[NAME], id=UUID(int=2))
    mine = {
        0: CommittedOffset(offset=500, topic_id=UUID(int=1)),
        1: CommittedOffset(offset=7, topic_id=UUID(int=2)),
    }
    proved = replace(now, topics={NAME: topic}, group=replace(EMPTY, offsets={NAME: mine}))
    (reported,) = found(proved).values()
    assert (reported.rule, reported.evidence["partitions"]) == ("topic-recreated", ("orders-0",))
    # The topic's own id has changed between the looks.
    before = replace(now, topics={NAME: replace(topic, id=UUID(int=1))})
    assert found(before, replace(now, topics={NAME: topic}))["topic-recreated"].level is Level.ERROR


def test_partitions_that_were_never_committed() -> None:
    ends = {0: 5, 1: 5, 2: 5, 3: 40}
    committed = {0: 5, 1: 5, 2: 5}
    reported = found(look(0, committed, ends), look(1, committed, ends))
    assert {rule: finding.level for rule, finding in reported.items()} == {"never-committed": Level.WARNING}
    assert reported["never-committed"].evidence["records"] == 40
    assert found(look(0, committed, {**ends, 3: 0}), look(1, committed, {**ends, 3: 0})) == {}
    # A group that commits nothing keeps its offsets elsewhere: its lag is not known.
    nothing = look(0, {}, ends), look(100, {}, ends)
    assert found(*nothing) == {}
    assert {"stalled-member", "stalled-partition", "falling-behind"} <= unchecked(*nothing).keys()


def test_offsets_that_expire() -> None:
    cluster = Cluster(settings={"offsets.retention.minutes": str(7 * 24 * 60)})

    def idle(days: float) -> Observation:
        commit = CommittedOffset(offset=9, timestamp=round(START_MS - days * 86_400_000))
        return replace(
            look(0, {}, {0: 9}), group=replace(EMPTY, offsets={NAME: {0: commit}}), cluster=cluster
        )

    reported = found(idle(6.5))["offsets-expiring"]
    assert "in 12 h" in reported.message
    assert found(idle(5)) == {}
    assert set(found(idle(5), expiry_ms=3 * 86_400_000)) == {"offsets-expiring"}


def test_offsets_of_topics_that_no_member_reads() -> None:
    seen = look(0, {0: 5, 1: 5, 2: 5, 3: 5}, dict.fromkeys(range(4), 5))
    assert seen.group is not None
    old = {
        **(seen.group.offsets or {}),
        **{name: {0: CommittedOffset(offset=3)} for name in ("bills", "refunds")},
    }
    ends = {name: Topic(name=name, partitions=1, end_offsets={0: 10}) for name in ("bills", "refunds")}
    reported = found(
        replace(seen, group=replace(seen.group, offsets=old), topics={**(seen.topics or {}), **ends})
    )
    assert {rule: finding.evidence["lag"] for rule, finding in reported.items()} == {"left-over-offsets": 14}
    assert "--topic bills,refunds. This" in reported["left-over-offsets"].remedy


@pytest.mark.parametrize(("open_s", "level"), [(10, Level.NOTE), (600, Level.ERROR)])
def test_a_transaction_that_consumers_wait_for(open_s: int, level: Level) -> None:
    ends = {0: 60, 1: 5, 2: 5, 3: 5}
    committed = {0: 50, 1: 5, 2: 5, 3: 5}
    one = transaction(START_MS + 5 * EVERY_MS - open_s * 1000)
    seen = [look(at, committed, ends, transactions={(NAME, 0): (one,)}) for at in (0, 5)]
    topics = {NAME: replace((seen[0].topics or {})[NAME], stable_offsets={**ends, 0: 50})}
    reported = found(*[replace(observation, topics=topics) for observation in seen])
    # It explains why the offset stands still.
    assert {rule: finding.level for rule, finding in reported.items()} == {"open-transaction": level}
    assert "--topic orders --partition 0 --start-offset 50" in reported["open-transaction"].remedy
    # Consumers that do not wait get past it.
    assert "open-transaction" not in found(*seen)


SELDOM = [
    # the time between the last two commits, the last observation, whether the last commit can be read, the level
    (60_000, 5, True, Level.NOTE), (60_000, 29, True, Level.NOTE), (60_000, 30, True, Level.ERROR),
    (5_000, 3, True, Level.ERROR), (None, 9, True, Level.WARNING), (None, 10, True, Level.ERROR),
    (60_000, 3, False, Level.WARNING), (None, 10, False, Level.ERROR),
]  # fmt: skip


@pytest.mark.parametrize(("gap_ms", "position", "is_read", "level"), SELDOM)
@pytest.mark.parametrize("rule", ["stalled-member", "stopped"])
def test_stall_of_a_group_that_commits_seldom_is_no_error(
    rule: str, gap_ms: int | None, position: int, is_read: bool, level: Level
) -> None:
    of = group(member("a", [0, 1])) if rule == "stalled-member" else replace(EMPTY, protocol_type="")
    of, commit_ms = replace(of, commit_gap_ms=gap_ms), START_MS if is_read else None
    seen = [look(at, {0: 10, 1: 10}, {0: 60, 1: 60}, of=of, commit_ms=commit_ms) for at in (0, position)]
    assert found(*seen)[rule].level is level


@pytest.mark.parametrize(
    ("position", "rebalanced_s", "level"), [(5, 60, Level.NOTE), (5, 180, Level.ERROR), (10, 60, Level.ERROR)]
)
def test_stall_after_a_rebalance_is_a_note_for_a_minute(
    position: int, rebalanced_s: int, level: Level
) -> None:
    at_ms = START_MS + position * EVERY_MS
    of = group(member("a", [0, 1]), commit_gap_ms=100, rebalanced_ms=at_ms - rebalanced_s * 1000)
    seen = [look(at, {0: 10, 1: 10}, {0: 60, 1: 60}, of=of) for at in (0, position)]
    assert found(*seen)["stalled-member"].level is level
    assert found(*seen, commit_interval_ms=4_000)["stalled-member"].level is Level.ERROR


def test_group_whose_last_member_left_meanwhile_has_stopped() -> None:
    seen = [look(0, {0: 10}, {0: 10}), look(5, {0: 40}, {0: 60}, of=EMPTY)]
    assert found(*seen)["stopped"].level is Level.WARNING
    assert "stopped" not in found(look(0, {0: 10}, {0: 10}, of=EMPTY), seen[1])
