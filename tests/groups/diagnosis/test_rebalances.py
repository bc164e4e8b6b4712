"""Rules about rebalances."""

from groups.findings import Level
from groups.model import Group, GroupState
from tests.groups.diagnosis.groups import (
    START_MS,
    classic_group,
    classic_member,
    findings,
    group,
    member,
    observations,
)

SETTLED = group(member("a", (0, 1, 2)), member("b", (3, 4, 5)))
MOVING = group(
    member("a", (0, 1, 2), target={"orders": (0, 1)}),
    member("b", (), target={"orders": (2,)}),
    state=GroupState.RECONCILING,
)
PREPARING = classic_group(
    classic_member("a", (0,), is_new=False),
    classic_member("b", is_new=True),
    state=GroupState.PREPARING_REBALANCE,
)


def test_stuck_rebalance_names_who_is_waited_for() -> None:
    reported = findings(observations(SETTLED, MOVING, MOVING, MOVING, MOVING))
    stuck = reported["rebalance-stuck"]
    assert (stuck.level, stuck.member, stuck.since_ms) == (Level.ERROR, "a-id", START_MS + 5_000)
    assert stuck.evidence == {
        "state": "Reconciling",
        "observed_for_s": 15.0,
        "waits_for": ("a: to revoke orders-2",),
    }
    assert "max.poll.interval.ms" in stuck.remedy
    assert "rebalancing" not in reported


def test_short_rebalance_is_a_note() -> None:
    assert findings(observations(MOVING, MOVING))["rebalancing"].level is Level.NOTE
    assert findings(observations(MOVING))["rebalancing"].level is Level.NOTE
    assert findings(observations(MOVING, MOVING, MOVING, MOVING, SETTLED)) == {}


def test_classic_rebalance_names_who_may_not_have_joined() -> None:
    stuck = findings(observations(*[PREPARING] * 4))["rebalance-stuck"]
    assert stuck.member == "a-id"
    assert "does not show which have rejoined" in stuck.message


def test_rebalances_that_follow_each_other_are_not_one_that_is_stuck() -> None:
    def waiting(epoch: int) -> Group:
        """Another member is waited for in each."""
        late = member("a" if epoch % 2 else "b", (0, 1), target={"orders": (0,)})
        return group(late, state=GroupState.RECONCILING, group_epoch=epoch)

    assert findings(observations(*map(waiting, range(5, 10))))["rebalancing"].level is Level.NOTE
    assert "rebalance-stuck" in findings(observations(*[waiting(epoch) for epoch in (5, 7, 9, 11)]))


def test_rebalances_that_take_most_of_the_time_are_an_error() -> None:
    settled = classic_group(classic_member("a", (0,)), classic_member("b", (1,)))
    finding = findings(observations(*([PREPARING] * 3 + [settled]) * 4))["rebalance-stuck"]
    assert (finding.level, finding.evidence["in_rebalances_s"]) == (Level.ERROR, 60.0)
    assert "rebalance-stuck" not in findings(observations(*([PREPARING] + [settled] * 2) * 4))
