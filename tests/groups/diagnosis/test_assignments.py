"""Rules about who owns what, what is subscribed to, and the coordinator."""

from dataclasses import replace

import pytest

from groups.diagnosis.case import Thresholds
from groups.diagnosis.diagnose import diagnose
from groups.findings import Level
from groups.model import CommittedOffset, GroupState, GroupType, Problem, Subscription
from tests.groups.diagnosis.groups import (
    classic_group,
    classic_member,
    findings,
    group,
    member,
    observations,
    topics,
)

EVEN = group(
    member("a", (0, 1, 2)),
    member("b", (3, 4, 5)),
    offsets={"orders": {number: CommittedOffset(offset=0) for number in range(6)}},
)
NONE: frozenset[str] = frozenset()


def test_healthy_group_has_no_finding() -> None:
    seen = observations(EVEN, EVEN, missing_topics=NONE, every_ms=60_000)
    diagnosis = diagnose("payments", seen, Thresholds())
    assert (diagnosis.verdict.value, diagnosis.findings, diagnosis.not_checked) == ("ok", (), ())


def test_partition_without_owner_is_an_error_once_it_lasts() -> None:
    partial = group(member("a", (0, 1, 2)), member("b", (3, 4)))
    assert findings(observations(partial))["partition-without-owner"].level is Level.WARNING
    lasting = findings(observations(partial, partial))["partition-without-owner"]
    assert (lasting.level, lasting.evidence["partitions"]) == (Level.ERROR, 1)
    assert "orders-5" in lasting.message
    moving = replace(partial, state=GroupState.RECONCILING)
    assert "partition-without-owner" not in findings(observations(moving, moving))


def test_partitions_between_two_parts_of_a_rebalance_are_not_judged() -> None:
    before = classic_group(classic_member("a", (0, 1, 2, 3, 4, 5)))
    between = classic_group(classic_member("a", (0, 1, 2)), classic_member("b"))
    seen = observations(before, between, between, every_ms=1_000)
    assert findings(seen).keys() == {"idle-members"}
    lasting = findings(observations(before, *[between] * 4))
    assert {name: finding.level for name, finding in lasting.items()} == {
        "partition-without-owner": Level.ERROR,
        "skew": Level.WARNING,
        "idle-members": Level.NOTE,
    }


@pytest.mark.parametrize(("every_s", "level"), [(6, Level.WARNING), (300, Level.ERROR)])
def test_partitions_that_may_be_new_are_a_warning_at_first(every_s: int, level: Level) -> None:
    committed = {"orders": {number: CommittedOffset(offset=0) for number in range(4)}}
    two = group(member("a", (0, 1)), member("b", (2, 3)), offsets=committed)
    finding = findings(observations(two, two, every_ms=every_s * 1000))["partition-without-owner"]
    assert finding.level is level
    old = replace(two, members=two.members[:1])
    assert findings(observations(old, old))["partition-without-owner"].level is Level.ERROR


def test_partitions_of_a_connect_group_are_not_judged() -> None:
    assert findings(observations(classic_group(classic_member("a"), protocol_type="connect"))) == {}


def test_idle_members_are_a_note_and_skew_a_warning() -> None:
    two = topics(orders=2)
    spare = group(member("a", (0,)), member("b", (1,)), member("c"))
    assert {name: finding.level for name, finding in findings(observations(spare, topics=two)).items()} == {
        "idle-members": Level.NOTE
    }
    uneven = group(member("a", (0, 1, 2, 3, 4)), member("b", (5,)))
    assert findings(observations(uneven))["skew"].evidence == {
        "most": 5,
        "least": 1,
        "members": 2,
        "partitions": 6,
        "uneven_topics": ("orders",),
    }
    assert "skew" not in findings(observations(uneven), skew=6.0)
    other = member("b", (5,), subscription=Subscription(topics=("orders", "other")))
    assert "skew" not in findings(observations(group(member("a", (0, 1, 2, 3, 4)), other)))


def test_share_group_that_does_not_reach_its_target() -> None:
    shared = group(member("a", epoch=4), type=GroupType.SHARE)
    finding = findings(observations(*[shared] * 4))["target-not-reached"]
    assert (finding.level, finding.member) == (Level.ERROR, "a-id")
    assert "target-not-reached" not in findings(
        observations(*[shared] * 3, group(member("a"), type=GroupType.SHARE))
    )


def test_missing_topic_is_a_warning_where_it_is_known() -> None:
    wanting = group(member("a", (0, 1, 2, 3, 4, 5), subscription=Subscription(topics=("orders", "gone"))))
    finding = findings(observations(wanting, missing_topics=frozenset({"gone"})))["topic-missing"]
    assert (finding.level, finding.evidence["topics"]) == (Level.WARNING, ("gone",))
    unknown = diagnose("payments", observations(wanting, missing_topics=None), Thresholds())
    assert [check for check in unknown.not_checked if "topic-missing" in check.rules]


def test_regex_that_matches_no_topic_is_a_warning() -> None:
    def with_regex(pattern: str) -> dict[str, object]:
        reader = member("a", (0, 1, 2, 3, 4, 5), subscription=Subscription(regex=pattern))
        return dict(findings(observations(group(reader))))

    assert "regex-matches-nothing" in with_regex("order")
    assert "regex-matches-nothing" not in with_regex("order.*")


def test_coordinator_that_is_not_available_explains_the_unread_group() -> None:
    problem = Problem(subject="payments", message="no", group="payments", error="COORDINATOR_NOT_AVAILABLE")
    finding = findings(observations(None, None, problem=problem))["coordinator-unavailable"]
    assert (finding.level, finding.evidence["failed_observations"]) == (Level.ERROR, 2)
    assert findings(observations(None, problem=replace(problem, error="GROUP_AUTHORIZATION_FAILED"))) == {}
