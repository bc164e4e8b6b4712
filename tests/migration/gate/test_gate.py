"""Gates of the plans that `kohort plan` makes, on groups at every point of their way."""

from dataclasses import replace
from typing import Any

import pytest

from groups.classic_streams import Rebalancing
from groups.model import Client, Cluster, Group, GroupState, GroupType, Member, Subscription, UserData
from migration.gate.checks import check_condition
from migration.gate.judge import check_steady
from migration.gate.observation import Check, GateObservation
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
    StreamsRebalancing,
    StreamsRelease,
    TypeIs,
)
from tests.groups.streams_groups import application, thread
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
from tests.support.golden import assert_recorded

BEFORE = classic(1, 1, 1)
COOPERATIVE = "cooperative-sticky"
BOUNCES = plan_for(BEFORE, Destination.COOPERATIVE)
ROLL = plan_for(BEFORE, Destination.CONSUMER)
ONCE = classic(2, 2, 2, protocol=COOPERATIVE)  # After the first bounce
TWICE = classic(3, 3, 3, protocol=COOPERATIVE)
CONVERTED = consumer((2, CONSUMER), (1, CLASSIC), (1, CLASSIC))
ROLLED = consumer((2, CONSUMER), (2, CONSUMER), (2, CONSUMER))


def namesakes(group: Group) -> Group:
    """The members of one program on one host: rounds name them by the ids that they had when the plan was made."""
    same = Client(id="m", host="/10.0.0.1")
    return replace(group, members=tuple(replace(one, client=same) for one in group.members))


OF_NAMESAKES = plan_for(namesakes(BEFORE), Destination.CONSUMER)
REJOINED = namesakes(consumer((2, CONSUMER), (2, CLASSIC), (1, CLASSIC)))
"""One was converted; of the others, one lost its session, so that the plan does not have its id."""
BACK = plan_for(ROLLED, Destination.CLASSIC)
OFFLINE = plan_for(BEFORE, Destination.COOPERATIVE, "librdkafka:2.5.0")
EMPTY = classic(0, 0, 0)
IN_PAIRS = plan_for(BEFORE, Destination.COOPERATIVE, concurrency=2)


def with_first(group: Group, **fields: Any) -> Group:
    return replace(group, members=(replace(group.members[0], **fields), *group.members[1:]))


IDLE = with_first(BEFORE, owned={})  # Its gaps existed before, and are not of the migration
FOURTH = classic(2, 2, 2, 2, protocol=COOPERATIVE)
"""One came after the plan: no round names it, it was let in with the drift accepted."""
TWO_ROLLED = consumer((2, CONSUMER), (2, CONSUMER), (1, CLASSIC))
EARLY = consumer((2, CONSUMER), (1, CLASSIC), (2, CONSUMER))
REPORTED = consumer((2, CONSUMER), (1, CONSUMER), (1, CONSUMER))
SUBSCRIBED = replace(
    ONCE,
    members=tuple(replace(one, subscription=Subscription(topics=(TOPIC, "more"))) for one in ONCE.members),
)
BRIDGES = [replace(member("kohort-bridge", run), owned={}) for run in (1, 2)]
WITH_BRIDGE = (MemberCount(at_least=4), Present(client_id="kohort-bridge"))


def gated(plan: Plan, *gate: Condition, steps: int = 1) -> Plan:
    return replace(plan, steps=(Step(title="t", actions=(), gate=gate),) * steps)


def without_strays(plan: Plan) -> Plan:
    return replace(plan, steps=tuple(replace(step, strays=()) for step in plan.steps))


Row = tuple[Plan, int, Group | None, dict[str, Any]]
GATES: dict[str, Row] = {
    "nothing is done yet": (BOUNCES, 1, BEFORE, {}),
    "the first bounce": (BOUNCES, 1, ONCE, {}),
    "the second bounce": (BOUNCES, 2, TWICE, {"began": ONCE}),
    "the second bounce without notes": (BOUNCES, 2, TWICE, {}),
    "a skipped bounce: INCONSISTENT_GROUP_PROTOCOL keeps it out": (BOUNCES, 1, classic(1, 0, 1), {"round": 1}),
    "half of a round of two": (IN_PAIRS, 1, classic(2, 1, 1), {"round": 1}),
    "a round of two": (IN_PAIRS, 1, classic(2, 2, 1), {"round": 1}),
    **{
        f"restarted {lives}, asked of {f'round {number}' if number else 'the step'}": (
            BOUNCES, 1, classic(*lives), {"round": number},
        )
        for lives in ((1, 1, 1), (2, 1, 1), (1, 2, 1), (2, 2, 1), (2, 2, 2))
        for number in (1, 2, 3, None)
    },
    **{
        f"lives {lives} after the first bounce": (
            BOUNCES, 2, classic(*lives, protocol=COOPERATIVE), {"began": ONCE},
        )
        for lives in ((3, 2, 2), (3, 3, 2), (2, 3, 3))
    },
    "a member that came after the plan is restarted like the others": (
        BOUNCES, 2, classic(3, 3, 3, 2, protocol=COOPERATIVE), {"began": FOURTH},
    ),
    "and then it opens": (BOUNCES, 2, classic(3, 3, 3, 3, protocol=COOPERATIVE), {"began": FOURTH}),
    "what is false counts more than what is not known": (BOUNCES, 2, classic(3, 3, 0, protocol=COOPERATIVE), {}),
    **{
        f"{count} are noted, fewer than the step restarts": (
            BOUNCES, 2, classic(*(3,) * count, *(2,) * (3 - count), protocol=COOPERATIVE),
            {"began": replace(ONCE, members=ONCE.members[:count])},
        )
        for count in (0, 1, 2)
    },
    "Stable between two rebalances: a cooperative member has revoked partitions that have no new owner yet": (
        BOUNCES, 1, with_first(ONCE, owned={TOPIC: (0,)}), {},
    ),
    "holes that were there before": (plan_for(IDLE, Destination.COOPERATIVE), 1, with_first(ONCE, owned={}), {}),
    **{
        f"in {state.value}": (BOUNCES, 1, replace(ONCE, state=state, protocol=None), {})
        for state in (GroupState.PREPARING_REBALANCE, GroupState.COMPLETING_REBALANCE)
    },
    **{
        f"reconciling: {change}": (ROLL, 2, with_first(ROLLED, **change), {"began": CONVERTED})
        for change in ({"epoch": 4}, {"owned": {TOPIC: (0,)}}, {"target": {TOPIC: (0, 1, 2)}})
    },
    "the roll is not begun": (ROLL, 1, BEFORE, {}),
    "converted": (ROLL, 1, CONVERTED, {}),
    "rolled in round 1": (ROLL, 2, TWO_ROLLED, {"began": CONVERTED, "round": 1}),
    "not in round 2": (ROLL, 2, TWO_ROLLED, {"began": CONVERTED, "round": 2}),
    "one is left": (ROLL, 2, TWO_ROLLED, {"began": CONVERTED}),
    "all rolled": (ROLL, 2, ROLLED, {"began": CONVERTED}),
    "restarted with the old configuration: no new id hides that": (
        ROLL, 2, consumer((2, CONSUMER), (2, CLASSIC), (1, CLASSIC)), {"began": CONVERTED, "round": 1},
    ),
    "another member converted the group, and the member of the round rejoined unchanged": (
        ROLL, 1, consumer((2, CLASSIC), (2, CONSUMER), (1, CLASSIC)), {},
    ),
    "m3 crashed, and has not had its turn": (ROLL, 1, consumer((2, CONSUMER), (1, CLASSIC), (2, CLASSIC)), {}),
    "who speaks the new protocol is early": (ROLL, 1, EARLY, {}),
    "the others are not": (ROLL, 2, EARLY, {"began": EARLY}),
    "it needs no second restart for the round": (ROLL, 2, EARLY, {"began": EARLY, "round": 1}),
    "a namesake that an earlier step restarted does not count for a round": (
        OF_NAMESAKES, 2, REJOINED, {"began": REJOINED, "round": 1},
    ),
    "of namesakes, that of the round is restarted": (
        OF_NAMESAKES, 2, namesakes(consumer((2, CONSUMER), (3, CONSUMER), (1, CLASSIC))),
        {"began": REJOINED, "round": 1},
    ),
    "nor for the step": (ROLL, 2, ROLLED, {"began": EARLY}),
    "who speaks the new protocol needs no notes": (ROLL, 2, ROLLED, {}),
    "who does not is waited for without notes": (ROLL, 2, CONVERTED, {}),
    **{
        f"a snapshot without protocols, with {' and '.join(more) or 'nothing else'}": (ROLL, 2, REPORTED, more)
        for more in ({}, {"round": 1}, {"began": REPORTED}, {"began": REPORTED, "round": 1})
    },
    "a settled mixed group": (
        ROLL, 2, consumer((2, CONSUMER), (2, CONSUMER), (2, CLASSIC)), {"began": CONVERTED},
    ),
    "fell back to classic": (ROLL, 2, classic(3, 1, 1), {"began": CONVERTED}),
    "fell back, which the plan does not list": (without_strays(ROLL), 2, classic(3, 1, 1), {"began": CONVERTED}),
    "fell back to range": (without_strays(BOUNCES), 2, classic(2, 2, 2), {"began": ONCE}),
    "the next step had begun": (BOUNCES, 1, TWICE, {"was_open": True}),
    "fell back after that": (BOUNCES, 1, classic(3, 3, 3), {"was_open": True}),
    "the next step of a roll had begun": (ROLL, 1, ROLLED, {"was_open": True}),
    "an old member is back after the end": (
        without_strays(ROLL), 2, consumer((2, CONSUMER), (2, CONSUMER), (3, CLASSIC)),
        {"began": CONVERTED, "was_open": True},
    ),
    "a stranger, which may be one that was killed": (
        BOUNCES, 2, replace(ONCE, members=(*ONCE.members, replace(member("other", index=9), owned={}))),
        {"began": ONCE},
    ),
    "a consumer member in a plan without any": (BOUNCES, 1, CONVERTED, {}),
    "back without notes": (BACK, 2, classic(3, 3, 3), {}),
    "one is not back": (BACK, 2, consumer((3, CLASSIC), (3, CLASSIC), (2, CONSUMER)), {}),
    "one is not stopped": (OFFLINE, 1, classic(0, 1, 0), {}),
    "all are stopped": (OFFLINE, 1, EMPTY, {}),
    "an empty group without offsets is removed": (OFFLINE, 1, None, {}),
    "a snapshot written by hand": (OFFLINE, 1, replace(BEFORE, state=GroupState.EMPTY), {}),
    "none is started": (OFFLINE, 2, EMPTY, {"began": EMPTY}),
    "none is started, and the group is removed": (OFFLINE, 2, None, {"began": EMPTY}),
    "all are started": (OFFLINE, 2, ONCE, {"began": EMPTY}),
    "one is not started": (OFFLINE, 2, classic(2, 0, 2, protocol=COOPERATIVE), {"began": EMPTY}),
    "a killed member whose successor is there: its old id stays until its session ends": (
        BOUNCES, 2, replace(ONCE, members=(*ONCE.members, replace(member("m1", 3), owned={}))), {"began": ONCE},
    ),
    "a pod with a new name is no stranger": (
        BOUNCES, 1, with_first(ONCE, id="n", client=Client(id="pod-x", host="/10.0.0.99")), {},
    ),
    "who was stopped in the step before is no stranger": (
        gated(BOUNCES, MemberCount(at_least=3), steps=2), 2, classic(1, 2, 1), {"began": classic(1, 0, 1)},
    ),
    "but another one is": (
        gated(BOUNCES, MemberCount(at_least=3), steps=2), 2,
        replace(BEFORE, members=(*classic(1, 2, 1).members, member("m9", 1, index=3))),
        {"began": classic(1, 0, 1)},
    ),
    "two bridges do not hide that a member is missing": (
        gated(ROLL, *WITH_BRIDGE), 1, replace(BEFORE, members=(*BRIDGES, *classic(1, 1, 0).members)), {},
    ),
    "one bridge": (gated(ROLL, *WITH_BRIDGE), 1, replace(BEFORE, members=(BRIDGES[0], *BEFORE.members)), {}),
    "a gate cut out of the file by hand": (gated(BOUNCES), 1, BEFORE, {}),
    "a plan without a baseline": (replace(BOUNCES, baseline=None), 1, ONCE, {}),
    # Plans that are not, or no longer, the group's.
    "another cluster": (BOUNCES, 1, BEFORE, {"cluster": Cluster(id="c2")}),
    "another cluster without the group": (BOUNCES, 1, None, {"cluster": Cluster(id="c2")}),
    "an unknown cluster": (BOUNCES, 1, BEFORE, {"cluster": Cluster()}),
    "more partitions": (BOUNCES, 1, ONCE, {"partitions": {TOPIC: 12}}),
    "a deleted topic": (BOUNCES, 1, ONCE, {"partitions": {TOPIC: 0}}),
    "another topic": (BOUNCES, 1, SUBSCRIBED, {}),
    "another topic, accepted": (BOUNCES, 1, SUBSCRIBED, {"accept_drift": True}),
    "another type": (BOUNCES, 1, ROLLED, {}),
    "a share group": (ROLL, 1, replace(BEFORE, type=GroupType.SHARE), {}),
    "another assignor": (BOUNCES, 1, classic(1, 1, 1, protocol="roundrobin"), {}),
    **{
        f"before the first step: {name}": (BOUNCES, 0, group, {})
        for name, group in {
            "as found": BEFORE, "restarted since": classic(2, 2, 2), "no group": None, "m2 is gone": classic(1, 0, 1),
            "a rebalance": replace(BEFORE, state=GroupState.PREPARING_REBALANCE), "cooperative": ONCE,
        }.items()
    },
}  # fmt: skip
"""A plan, a step, the group at its gate, and what else is known."""


def test_the_gates_are_as_recorded() -> None:
    """Open, closed or unknown, whether waiting can change that, the members that it waits for, and the reasons."""
    answers = {}
    for name, (plan, step, group, more) in GATES.items():
        result = ask(plan, step, group, **more)
        back = f", back to {result.strayed.back_to + 1}" if result.strayed else ""
        final = "final" if result.is_final else "may change"
        head = f"{result.open}, {final}{back}; waits for {' '.join(waiting(result)) or '-'}"
        answers[name] = "\n".join((head, *result.reasons))
    assert_recorded("gates.txt", answers)


def test_the_plans_are_what_these_tests_take_them_for() -> None:
    assert [[step.id for step in plan.steps] for plan in (BOUNCES, BACK, ROLL, OFFLINE)] == [
        ["first-bounce", "second-bounce"],
        ["all-but-one", "last-member"],
        ["first-member", "other-members"],
        ["stop-all", "start-all"],
    ]
    assert [len(names) for names in IN_PAIRS.steps[0].rounds] == [2, 1]


@pytest.mark.parametrize("group", [BEFORE, CONVERTED, ROLLED, replace(CONVERTED, protocol="uniform")])
def test_what_a_step_changes_is_no_difference(group: Group) -> None:
    for step in (1, 2):
        assert not ask(ROLL, step, group, began=CONVERTED).differences


def test_two_looks_that_differ() -> None:
    assert (check_steady(BEFORE, BEFORE).holds, check_steady(BEFORE, ONCE).holds) == (True, False)


def asked(condition: Condition, group: Group) -> Check:
    return check_condition(condition, GateObservation(plan=ROLL, position=0, group=group, cluster=Cluster()))


def with_all(**fields: object) -> Group:
    return replace(BEFORE, members=tuple(replace(one, **fields) for one in BEFORE.members))  # type: ignore[arg-type]


KNOWS_2_4 = StreamsRelease(knows=5)
COOPERATES = StreamsRebalancing(protocol=Rebalancing.COOPERATIVE)
IS_EAGER = StreamsRebalancing(protocol=Rebalancing.EAGER)
KEPT = {"orders": (0,)}


@pytest.mark.parametrize(
    ("condition", "group", "holds"),
    [
        (TypeIs(type=GroupType.CLASSIC), replace(BEFORE, type=GroupType.UNKNOWN), None),
        (StateIn(states=(GroupState.STABLE,)), replace(BEFORE, state=GroupState.UNKNOWN), None),
        (Speaking(protocol=CONSUMER), with_all(protocol=None), None),
        (Speaking(protocol=CLASSIC), EMPTY, False),
        (Present(client_id="x"), with_all(client=Client()), None),
        (Leads(client_id="m1"), BEFORE, None),
        (Leads(client_id="m1"), replace(BEFORE, leader="m1-1"), True),
        (Leads(client_id="m1"), replace(BEFORE, leader="m2-1"), False),
        (Precedes(client_id="m1"), replace(BEFORE, leader="m1-1"), True),
        (NoUserData(), BEFORE, None),
        (NoUserData(), with_all(user_data=UserData(subscription=b"x")), True),
        (NoUserData(), with_first(BEFORE, user_data=UserData(assignment=b"xyz")), False),
        (NoUserData(), ROLLED, True),
        (KNOWS_2_4, application(thread("a1", used=5, newest=5), thread("b1", used=4, newest=11)), True),
        (KNOWS_2_4, application(thread("a1"), thread("b1", used=4, newest=4)), False),
        (KNOWS_2_4, application(thread("a1"), thread("b1", used=2)), None),
        (KNOWS_2_4, BEFORE, None),
        (COOPERATES, application(thread("a1", kept=KEPT), thread("b1")), True),
        (COOPERATES, application(thread("a1", kept=KEPT), thread("b1", used=2)), False),
        (COOPERATES, application(thread("a1", kept=KEPT), thread("b1", used=4, newest=4)), False),
        (COOPERATES, BEFORE, None),
        (IS_EAGER, application(thread("a1"), thread("b1", used=2)), True),
        (IS_EAGER, application(thread("a1"), thread("b1", kept=KEPT)), False),
    ],
)
def test_a_condition(condition: Condition, group: Group, holds: bool | None) -> None:
    assert asked(condition, group).holds is holds


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
    clients = {in_front: "m1", "id-6": "kohort-bridge", "id-8": "m0"}
    members = tuple(Member(id=name, client=Client(id=client)) for name, client in clients.items())
    check = asked(Precedes(client_id="kohort-bridge"), replace(BEFORE, members=members, leader="id-8"))
    assert (check.holds, check.by_waiting) == (False, by_waiting)
    assert words in check.text
    assert restarted in check.text


def test_an_order_that_is_not_known_is_not_an_unknown_leader() -> None:
    members = tuple(Member(id=one, client=Client(id=one)) for one in ("member-7", "member-49", "member-91"))
    check = asked(Precedes(client_id="member-49"), replace(BEFORE, members=members, leader="member-7"))
    assert (check.holds, "the members are not listed in a broker's order" in check.text) == (None, True)
