"""Gates of the plans that `kohort plan` makes, on groups at every point of their way."""

from dataclasses import replace
from typing import Any

import pytest

from groups.model import Client, Cluster, Group, GroupState, GroupType, Member, Subscription, UserData
from migration.gate.checks import check_condition
from migration.gate.judge import check_steady, judge_gate
from migration.gate.observation import Check, GateObservation, GateResult, ObservedDeviation
from migration.model import (
    Condition,
    Destination,
    Leads,
    MemberCount,
    NoUserData,
    Plan,
    Precedes,
    Present,
    Speaking,
    StateIn,
    Step,
    TypeIs,
)
from tests.migration.gate.groups import (
    CLASSIC,
    CONSUMER,
    TOPIC,
    ask,
    classic,
    consumer,
    member,
    plan_for,
    waiting,
)

BEFORE = classic(1, 1, 1)
COOPERATIVE = "cooperative-sticky"
BOUNCES = plan_for(BEFORE, Destination.COOPERATIVE)
ROLL = plan_for(BEFORE, Destination.CONSUMER)
ONCE = classic(2, 2, 2, protocol=COOPERATIVE)
"""After the first bounce."""
TWICE = classic(3, 3, 3, protocol=COOPERATIVE)
CONVERTED = consumer((2, CONSUMER), (1, CLASSIC), (1, CLASSIC))
ROLLED = consumer((2, CONSUMER), (2, CONSUMER), (2, CONSUMER))
BACK = plan_for(ROLLED, Destination.CLASSIC)
OFFLINE = plan_for(BEFORE, Destination.COOPERATIVE, "librdkafka:2.5.0")
EMPTY = classic(0, 0, 0)
IN_PAIRS = plan_for(BEFORE, Destination.COOPERATIVE, concurrency=2)


def with_first(group: Group, **fields: Any) -> Group:
    return replace(group, members=(replace(group.members[0], **fields), *group.members[1:]))


IDLE = with_first(BEFORE, owned={})
"""Its gaps existed before, and are not of the migration."""
FOURTH = classic(2, 2, 2, 2, protocol=COOPERATIVE)
"""One came after the plan: no round names it, it was let in with the drift accepted."""
TWO_ROLLED = consumer((2, CONSUMER), (2, CONSUMER), (1, CLASSIC))
EARLY = consumer((2, CONSUMER), (1, CLASSIC), (2, CONSUMER))
ALL = ["m1", "m2", "m3"]

GATES: dict[str, tuple[Plan, int, Group | None, dict[str, Any], bool, list[str], str]] = {
    "nothing is done yet": (BOUNCES, 1, BEFORE, {}, False, ALL, ""),
    "the first bounce": (BOUNCES, 1, ONCE, {}, True, [], ""),
    "the second bounce": (BOUNCES, 2, TWICE, {"began": ONCE}, True, [], ""),
    "a skipped bounce: INCONSISTENT_GROUP_PROTOCOL keeps it out": (
        BOUNCES, 1, classic(1, 0, 1), {"round": 1}, False, ["m2"], "no member replaced m2 (id m2-1",
    ),
    "due in round 2": (BOUNCES, 1, classic(2, 1, 1), {"round": 2}, False, ["m2"], ""),
    "due in round 1": (BOUNCES, 1, BEFORE, {"round": 1}, False, ["m1"], ""),
    "half of a round of two": (IN_PAIRS, 1, classic(2, 1, 1), {"round": 1}, False, ["m2"], ""),
    "a round of two": (IN_PAIRS, 1, classic(2, 2, 1), {"round": 1}, True, [], ""),
    "a member that came after the plan is restarted like the others": (
        BOUNCES, 2, classic(3, 3, 3, 2, protocol=COOPERATIVE), {"began": FOURTH}, False, ["m4"], "",
    ),
    "and then it opens": (BOUNCES, 2, classic(3, 3, 3, 3, protocol=COOPERATIVE), {"began": FOURTH}, True, [], ""),
    "all restarted, and the list the wrong way round": (
        BOUNCES, 1, classic(2, 2, 2), {}, False, [], "the assignor in use is range, not cooperative-sticky",
    ),
    "what is false counts more than what is not known": (
        BOUNCES, 2, classic(3, 3, 0, protocol=COOPERATIVE), {}, False, ["m3"], "",
    ),
    "Stable between two rebalances: a cooperative member has revoked partitions that have no new owner yet": (
        BOUNCES, 1, with_first(ONCE, owned={TOPIC: (0,)}), {}, False, [],
        "no member owns orders-1: another rebalance is expected",
    ),
    "holes that were there before": (
        plan_for(IDLE, Destination.COOPERATIVE), 1, with_first(ONCE, owned={}), {}, True, [], "",
    ),
    "the roll is not begun": (ROLL, 1, BEFORE, {}, False, ["m1"], ""),
    "converted": (ROLL, 1, CONVERTED, {}, True, [], ""),
    "rolled in round 1": (ROLL, 2, TWO_ROLLED, {"began": CONVERTED, "round": 1}, True, [], ""),
    "not in round 2": (ROLL, 2, TWO_ROLLED, {"began": CONVERTED, "round": 2}, False, ["m3"], ""),
    "one is left": (ROLL, 2, TWO_ROLLED, {"began": CONVERTED}, False, ["m3"], ""),
    "all rolled": (ROLL, 2, ROLLED, {"began": CONVERTED}, True, [], ""),
    "restarted with the old configuration: no new id hides that": (
        ROLL, 2, consumer((2, CONSUMER), (2, CLASSIC), (1, CLASSIC)), {"began": CONVERTED, "round": 1}, False, ["m2"],
        "rejoined without the consumer protocol",
    ),
    "another member converted the group, and the member of the round rejoined unchanged": (
        ROLL, 1, consumer((2, CLASSIC), (2, CONSUMER), (1, CLASSIC)), {}, False, ["m1"], "",
    ),
    "m3 crashed, and has not had its turn": (
        ROLL, 1, consumer((2, CONSUMER), (1, CLASSIC), (2, CLASSIC)), {}, True, [], "",
    ),
    "who speaks the new protocol is early": (ROLL, 1, EARLY, {}, True, [], ""),
    "the others are not": (ROLL, 2, EARLY, {"began": EARLY}, False, ["m2"], ""),
    "it needs no second restart for the round": (ROLL, 2, EARLY, {"began": EARLY, "round": 1}, True, [], ""),
    "nor for the step": (ROLL, 2, ROLLED, {"began": EARLY}, True, [], ""),
    "who speaks the new protocol needs no notes": (ROLL, 2, ROLLED, {}, True, [], ""),
    "who does not is waited for without notes": (ROLL, 2, CONVERTED, {}, False, ["m2", "m3"], ""),
    "back without notes": (BACK, 2, classic(3, 3, 3), {}, True, [], ""),
    "one is not back": (BACK, 2, consumer((3, CLASSIC), (3, CLASSIC), (2, CONSUMER)), {}, False, [], ""),
    "one is not stopped": (OFFLINE, 1, classic(0, 1, 0), {}, False, ["m2"], ""),
    "all are stopped": (OFFLINE, 1, EMPTY, {}, True, [], ""),
    "an empty group without offsets is removed": (OFFLINE, 1, None, {}, True, [], ""),
    "a snapshot written by hand": (OFFLINE, 1, replace(BEFORE, state=GroupState.EMPTY), {}, False, ALL, ""),
    "none is started": (OFFLINE, 2, EMPTY, {"began": EMPTY}, False, ALL, ""),
    "none is started, and the group is removed": (OFFLINE, 2, None, {"began": EMPTY}, False, ALL, ""),
    "all are started": (OFFLINE, 2, ONCE, {"began": EMPTY}, True, [], ""),
    "one is not started": (
        OFFLINE, 2, classic(2, 0, 2, protocol=COOPERATIVE), {"began": EMPTY}, False, ["m2"], "",
    ),
    "a killed member whose successor is there: its old id stays until its session ends": (
        BOUNCES, 2, replace(ONCE, members=(*ONCE.members, replace(member("m1", 3), owned={}))), {"began": ONCE},
        False, ALL, "",
    ),
    "a pod with a new name is no stranger": (
        BOUNCES, 1, with_first(ONCE, id="n", client=Client(id="pod-x", host="/10.0.0.99")), {}, True, [], "",
    ),
}  # fmt: skip
"""Step and group of a gate; whether it opens, the members that it waits for, and its message."""


@pytest.mark.parametrize(
    ("plan", "step", "group", "more", "opens", "waits", "said"), GATES.values(), ids=GATES.keys()
)
def test_a_gate(
    plan: Plan, step: int, group: Group | None, more: dict[str, Any], opens: bool, waits: list[str], said: str
) -> None:
    result = ask(plan, step, group, **more)
    assert (result.open, result.strayed, waiting(result)) == (opens, None, waits)
    assert said in " ".join(result.reasons)
    assert bool(result.reasons) is not opens


def test_the_plans_are_what_these_tests_take_them_for() -> None:
    assert [step.id for step in BOUNCES.steps] == ["first-bounce", "second-bounce"]
    assert [step.id for step in BACK.steps] == ["all-but-one", "last-member"]
    assert [step.id for step in ROLL.steps] == ["first-member", "other-members"]
    assert [step.id for step in OFFLINE.steps] == ["stop-all", "start-all"]
    assert [len(names) for names in IN_PAIRS.steps[0].rounds] == [2, 1]


def test_without_notes_no_gate_can_tell() -> None:
    result = ask(BOUNCES, 2, TWICE)
    assert (result.open, result.is_final) == (None, True), "no waiting helps"
    assert "run that gate again (--step 1)" in result.reasons[0]


@pytest.mark.parametrize("lives", [(2, 1, 1), (2, 2, 1), (1, 2, 2)])
def test_a_forgotten_member_is_named(lives: tuple[int, ...]) -> None:
    for group, step, began in (
        (classic(*lives), 1, None),
        (classic(*(life + 1 for life in lives), protocol=COOPERATIVE), 2, ONCE),
    ):
        result = ask(BOUNCES, step, group, began=began)
        assert result.open is False
        assert waiting(result) == [f"m{number}" for number, life in enumerate(lives, 1) if life == 1]
        assert not result.is_final


@pytest.mark.parametrize(
    ("lives", "done"), [((1, 1, 1), 0), ((2, 1, 1), 1), ((1, 2, 1), 1), ((2, 2, 1), 2), ((2, 2, 2), 3)]
)
def test_a_round_opens_when_this_many_were_restarted(lives: tuple[int, ...], done: int) -> None:
    for number in (1, 2, 3):
        assert ask(BOUNCES, 1, classic(*lives), round=number).open is (number <= done)


@pytest.mark.parametrize("lives", [(), (2,), (2, 2)])
def test_fewer_are_noted_than_the_step_restarts(lives: tuple[int, ...]) -> None:
    """Notes that lost members: that those who are left were restarted says nothing of the others."""
    began = replace(ONCE, members=ONCE.members[: len(lives)])
    group = classic(*(3,) * len(lives), *(2,) * (3 - len(lives)), protocol=COOPERATIVE)
    assert ask(BOUNCES, 2, group, began=began).open is not True


# Rest.


@pytest.mark.parametrize("state", [GroupState.PREPARING_REBALANCE, GroupState.COMPLETING_REBALANCE])
def test_a_rebalance_keeps_a_gate_shut(state: GroupState) -> None:
    result = ask(BOUNCES, 1, replace(ONCE, state=state, protocol=None))
    assert result.open is False
    assert any(state.value in reason for reason in result.reasons)


@pytest.mark.parametrize("change", [{"epoch": 4}, {"owned": {TOPIC: (0,)}}, {"target": {TOPIC: (0, 1, 2)}}])
def test_a_member_on_its_way(change: dict[str, object]) -> None:
    late = replace(ROLLED.members[0], **change)  # type: ignore[arg-type]
    result = ask(ROLL, 2, replace(ROLLED, members=(late, *ROLLED.members[1:])), began=CONVERTED)
    assert result.open is False
    assert waiting(result) == ["m1"]


def test_two_looks_that_differ() -> None:
    assert check_steady(BEFORE, BEFORE).holds is True
    assert check_steady(BEFORE, ONCE).holds is False


# To the consumer protocol.


def test_an_id_of_the_classic_group_never_speaks_the_consumer_protocol() -> None:
    """A snapshot that leaves out what members speak: those of a consumer group are taken to speak its protocol."""
    reported = consumer((2, CONSUMER), (1, CONSUMER), (1, CONSUMER))
    for began in (reported, None):
        assert ask(ROLL, 2, reported, began=began).open is not True
        assert ask(ROLL, 2, reported, began=began, round=1).open is not True
    assert waiting(ask(ROLL, 2, reported, began=reported)) == ["m2", "m3"]


def test_a_settled_mixed_group() -> None:
    result = ask(ROLL, 2, consumer((2, CONSUMER), (2, CONSUMER), (2, CLASSIC)), began=CONVERTED)
    assert (result.open, _strayed(result).back_to) == (False, 1)
    assert "m3" in " ".join(result.reasons)


def test_the_group_fell_back_to_classic() -> None:
    result = ask(ROLL, 2, classic(3, 1, 1), began=CONVERTED)
    assert (result.open, _strayed(result).back_to, result.is_final) == (False, 0, True)


def _strayed(result: GateResult) -> ObservedDeviation:
    assert result.strayed is not None
    return result.strayed


def _without_strays(plan: Plan) -> Plan:
    return replace(plan, steps=tuple(replace(step, strays=()) for step in plan.steps))


def test_fallen_back_needs_no_stray_in_the_plan() -> None:
    strayed = _strayed(ask(_without_strays(ROLL), 2, classic(3, 1, 1), began=CONVERTED))
    assert (strayed.back_to, "reverted" in strayed.message) == (0, True)
    assert _strayed(ask(_without_strays(BOUNCES), 2, classic(2, 2, 2), began=ONCE)).back_to == 0


def test_fallen_back_after_the_next_step_had_begun() -> None:
    assert ask(BOUNCES, 1, TWICE, was_open=True).open is True
    strayed = _strayed(ask(BOUNCES, 1, classic(3, 3, 3), was_open=True))
    assert (strayed.back_to, "reverted" in strayed.message) == (0, True)
    assert ask(ROLL, 1, ROLLED, was_open=True).strayed is None


def test_an_old_member_is_back_after_the_end() -> None:
    mixed = consumer((2, CONSUMER), (2, CONSUMER), (3, CLASSIC))
    strayed = _strayed(ask(_without_strays(ROLL), 2, mixed, began=CONVERTED, was_open=True))
    assert (strayed.back_to, "m3 (id m3-3, host /10.0.0.2)" in strayed.message) == (1, True)


def test_a_stranger() -> None:
    group = replace(ONCE, members=(*ONCE.members, replace(member("other", index=9), owned={})))
    result = ask(BOUNCES, 2, group, began=ONCE)
    assert "other (id other-1" in _strayed(result).message
    assert not result.is_final, "it may be one that was killed, whose session has not ended"


def test_a_consumer_member_in_a_plan_without_any() -> None:
    assert "m1" in _strayed(ask(BOUNCES, 1, CONVERTED)).message


# Plans that are not, or no longer, the group's.


def test_another_cluster() -> None:
    result = ask(BOUNCES, 1, BEFORE, cluster=Cluster(id="c2"))
    assert result.open is None
    assert [(one.what, one.plan, one.now) for one in result.differences] == [("cluster id", "c1", "c2")]
    assert ask(BOUNCES, 1, None, cluster=Cluster(id="c2")).differences
    assert not ask(BOUNCES, 1, BEFORE, cluster=Cluster()).differences, "not known is not different"


@pytest.mark.parametrize("now", [12, 0])
def test_partitions_have_changed(now: int) -> None:
    result = ask(BOUNCES, 1, ONCE, partitions={TOPIC: now})
    assert [(one.what, one.plan) for one in result.differences] == [("partitions of orders", "6")]
    assert result.open is None
    assert ask(BOUNCES, 1, ONCE, partitions={TOPIC: 6}, accept_drift=True).open is True


def test_topics_have_changed() -> None:
    subscription = Subscription(topics=(TOPIC, "more"))
    group = replace(ONCE, members=tuple(replace(one, subscription=subscription) for one in ONCE.members))
    result = ask(BOUNCES, 1, group)
    assert [(one.what, one.now) for one in result.differences] == [("topic more", "subscribed to")]
    assert ask(BOUNCES, 1, group, accept_drift=True).open is True


def test_another_type() -> None:
    result = ask(BOUNCES, 1, ROLLED)
    assert [(one.what, one.plan, one.now) for one in result.differences] == [
        ("group type", "classic", "consumer")
    ]
    share = replace(BEFORE, type=GroupType.SHARE)
    assert ask(ROLL, 1, share).differences[0].plan == "classic or consumer"


def test_another_assignor() -> None:
    result = ask(BOUNCES, 1, classic(1, 1, 1, protocol="roundrobin"))
    assert [(one.what, one.plan, one.now) for one in result.differences] == [
        ("assignor", "range or cooperative-sticky", "roundrobin")
    ]


@pytest.mark.parametrize(
    "group",
    [BEFORE, CONVERTED, ROLLED, consumer((2, CONSUMER), (1, CLASSIC), (1, CLASSIC), protocol="uniform")],
)
def test_what_a_step_changes_is_no_difference(group: object) -> None:
    for step in (1, 2):
        assert not ask(ROLL, step, group, began=CONVERTED).differences  # type: ignore[arg-type]


def test_before_the_first_step() -> None:
    assert ask(BOUNCES, 0, BEFORE).open is True
    assert ask(BOUNCES, 0, classic(2, 2, 2)).open is True, "restarted since, and otherwise the same"
    assert ask(BOUNCES, 0, replace(BEFORE, state=GroupState.PREPARING_REBALANCE)).open is False
    assert ask(BOUNCES, 0, None).open is False
    assert [one.what for one in ask(BOUNCES, 0, classic(1, 0, 1)).differences] == ["member m2 (m2-1)"]
    assert [one.what for one in ask(BOUNCES, 0, ONCE).differences] == ["assignor"]


# Single conditions.


def _asked(condition: Condition, group: Group) -> Check:
    return check_condition(condition, GateObservation(plan=ROLL, position=0, group=group, cluster=Cluster()))


def _check(condition: Condition, group: Group) -> bool | None:
    return _asked(condition, group).holds


def _with(**fields: object) -> Group:
    return replace(BEFORE, members=tuple(replace(one, **fields) for one in BEFORE.members))  # type: ignore[arg-type]


def test_what_is_not_known_is_neither_true_nor_false() -> None:
    assert _check(TypeIs(type=GroupType.CLASSIC), replace(BEFORE, type=GroupType.UNKNOWN)) is None
    assert _check(StateIn(states=(GroupState.STABLE,)), replace(BEFORE, state=GroupState.UNKNOWN)) is None
    assert _check(Speaking(protocol=CONSUMER), _with(protocol=None)) is None
    assert _check(Present(client_id="x"), _with(client=Client())) is None
    assert _check(Leads(client_id="m1"), BEFORE) is None
    assert _check(Leads(client_id="m1"), replace(BEFORE, leader="m1-1")) is True
    assert _check(Leads(client_id="m1"), replace(BEFORE, leader="m2-1")) is False
    assert _check(Precedes(client_id="m1"), replace(BEFORE, leader="m1-1")) is True


@pytest.mark.parametrize(
    ("in_front", "words", "restarted", "by_waiting"),
    [
        ("id-4", "3 in 16 new ids come before it", "restart kohort-bridge", True),
        ("id-3", "0 in 16", "restart m1 with", False),
    ],
)
def test_the_members_before_the_bridge(in_front: str, words: str, restarted: str, by_waiting: bool) -> None:
    """`kohort bridge` joins again by itself where an id may come first. Bins of Java's HashMap of 16: id-3 in 0,
    id-4 in 3, and the bridge's behind them."""
    leader, bridge = Client(id="m0"), Client(id="kohort-bridge")
    members = (
        Member(id=in_front, client=Client(id="m1")),
        Member(id="id-6", client=bridge),
        Member(id="id-8", client=leader),
    )
    check = _asked(Precedes(client_id="kohort-bridge"), replace(BEFORE, members=members, leader="id-8"))
    assert (check.holds, check.by_waiting) == (False, by_waiting)
    assert words in check.text
    assert restarted in check.text


def test_an_order_that_is_not_known_is_not_an_unknown_leader() -> None:
    ids = ("member-7", "member-49", "member-91")
    members = tuple(Member(id=one, client=Client(id=one)) for one in ids)
    check = _asked(Precedes(client_id="member-49"), replace(BEFORE, members=members, leader="member-7"))
    assert check.holds is None
    assert "the members are not listed in a broker's order" in check.text


def test_who_was_stopped_in_the_step_before_is_no_stranger() -> None:
    """m2 was away when the step began, and was there when the plan was made."""
    plan = replace(BOUNCES, steps=(Step(title="t", actions=(), gate=(MemberCount(at_least=3),)),) * 2)
    assert ask(plan, 2, classic(1, 2, 1), began=classic(1, 0, 1)).open is True
    stranger = replace(BEFORE, members=(*classic(1, 2, 1).members, member("m9", 1, index=3)))
    result = ask(plan, 2, stranger, began=classic(1, 0, 1))
    assert result.strayed is not None
    assert "not in the plan" in result.strayed.message


def test_two_bridges_are_one_more_member() -> None:
    """The second one would hide that a member is missing."""
    gate = (MemberCount(at_least=4), Present(client_id="kohort-bridge"))
    plan = replace(ROLL, steps=(Step(title="t", actions=(), gate=gate),))
    bridges = [replace(member("kohort-bridge", run), owned={}) for run in (1, 2)]
    result = ask(plan, 1, replace(BEFORE, members=(*bridges, *classic(1, 1, 0).members)))
    assert (result.open, waiting(result)) == (False, ["m3"])
    assert ask(plan, 1, replace(BEFORE, members=(bridges[0], *BEFORE.members))).open is True


def test_user_data() -> None:
    assert _check(NoUserData(), BEFORE) is None
    assert _check(NoUserData(), _with(user_data=UserData(subscription=b"x"))) is True
    some = replace(BEFORE.members[0], user_data=UserData(assignment=b"xyz"))
    group = replace(BEFORE, members=(some, *BEFORE.members[1:]))
    assert _check(NoUserData(), group) is False
    assert _check(NoUserData(), ROLLED) is True


def test_no_member_speaks_in_an_empty_group() -> None:
    assert _check(Speaking(protocol=CLASSIC), EMPTY) is False


def test_a_step_that_says_nothing_never_opens() -> None:
    """A gate cut out of the file by hand."""
    plan = replace(BOUNCES, steps=(Step(title="t", actions=()),))
    result = ask(plan, 1, BEFORE)
    assert result.open is None
    assert result.is_final


def test_a_plan_without_a_baseline() -> None:
    plan = replace(BOUNCES, baseline=None)
    assert ask(plan, 1, ONCE).open is None
    observed = GateObservation(plan=plan, position=0, group=classic(2, 2, 2), cluster=Cluster())
    assert judge_gate(observed).open is False
