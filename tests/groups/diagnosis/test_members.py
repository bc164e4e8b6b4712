"""Rules about members that come and go."""

from groups.findings import Level
from groups.model import Client, GroupState
from tests.groups.diagnosis.groups import classic_group, classic_member, findings, group, member, observations

A, B = member("a", (0, 1)), member("b", (2, 3))


def test_restarts_of_one_host_are_a_storm() -> None:
    groups = [
        classic_group(
            classic_member("b", (1,)),
            *(
                [classic_member(f"a{position}", (0,), client=Client(id="a", host="/10.0.0.7"))]
                if position % 2
                else []
            ),
        )
        for position in range(8)
    ]
    finding = findings(observations(*groups, every_ms=1_000))["rebalance-storm"]
    assert finding.level is Level.ERROR
    assert finding.evidence["rebalances"] == 7
    assert finding.evidence["hosts"] == ("10.0.0.7: 3 left, 4 joined",)
    assert "10.0.0.7 restart" in finding.message


def test_members_that_only_join_are_no_storm() -> None:
    groups = [
        group(*(member(f"m{number}", (number,)) for number in range(count)), group_epoch=count)
        for count in range(1, 7)
    ]
    assert "rebalance-storm" not in findings(observations(*groups))


def test_epochs_that_move_without_members_are_a_storm() -> None:
    storm = findings(observations(group(A, B, group_epoch=5), group(A, B, group_epoch=11)))["rebalance-storm"]
    assert (storm.level, storm.evidence["rebalances"]) == (Level.WARNING, 6)


def test_rolling_restart_of_two_members_is_no_storm() -> None:
    c, d = member("c", (0, 1)), member("d", (2, 3))
    groups = [group(A, B), group(B, group_epoch=6), group(B, c, group_epoch=7), group(c, group_epoch=8)]
    assert "rebalance-storm" not in findings(observations(*groups, group(c, d, group_epoch=9)))


def test_static_members_that_restart_one_by_one_rebalance_nothing() -> None:
    names = [("a1", "b1", "c1"), ("a2", "b1", "c1"), ("a2", "b2", "c1"), ("a2", "b2", "c2")]
    groups = [
        classic_group(*(classic_member(name, (at, at + 3), instance=name[0]) for at, name in enumerate(ids)))
        for ids in names
    ]
    assert findings(observations(*groups)) == {}


def test_member_that_returns_with_its_id_exceeded_its_poll_interval() -> None:
    reported = findings(observations(group(A, B), group(A), group(A, B)))
    assert reported["poll-interval"].member == "b-id"
    assert "rebalance-storm" not in reported
    assert "member-evicted" not in reported


def test_member_that_was_waited_for_is_evicted() -> None:
    waiting = group(
        member("a", (0, 1), target={"orders": (0,)}),
        member("b", (), target={"orders": (1,)}, client=Client(id="b", host="/10.0.0.9")),
        state=GroupState.RECONCILING,
    )
    after = group(member("b", (0, 1), client=Client(id="b", host="/10.0.0.9")))
    finding = findings(observations(waiting, waiting, after))["member-evicted"]
    assert (finding.level, finding.member) == (Level.WARNING, "a-id")
    assert finding.evidence["owned"] == ("orders-0, orders-1",)
    left = findings(observations(group(A, B), group(A)))
    assert left["member-evicted"].level is Level.NOTE


def test_restarted_client_is_not_evicted() -> None:
    again = member("a2", (0, 1), client=A.client)
    assert "member-evicted" not in findings(observations(group(A, B), group(B), group(again, B)))


def test_instance_that_changes_hands_again_and_again_is_fenced() -> None:
    hands = [classic_group(classic_member(f"s{position}", (0,), instance="one")) for position in range(4)]
    finding = findings(observations(*hands))["static-fencing"]
    assert (finding.level, finding.evidence["changes"]) == (Level.ERROR, 3)
    assert "static-fencing" not in findings(observations(*hands[:2], hands[1]))


def test_static_member_that_is_away_keeps_its_partitions() -> None:
    away = member("b", (2, 3), instance="two", epoch=-2)
    finding = findings(observations(group(A, B), group(A, away)))["static-member-away"]
    assert finding.evidence["owned"] == ("orders-2, orders-3",)
    assert "members remove payments --instance two" in finding.remedy
