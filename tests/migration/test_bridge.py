"""What the bridge decides, of groups as a broker lists them: in the order of its map."""

from dataclasses import replace

from groups.model import Client, Group, GroupState, GroupType, Member, UserData
from groups.succession import succession
from migration.bridge import (
    BRIDGE,
    LONGEST_WAIT_MS,
    NO_TOPIC,
    REJOINS,
    STEADY_MS,
    BridgeProgress,
    Move,
    bridge_plan,
    comes_first,
    objection,
    subscribed_to,
    unsettled,
)
from tests.support.golden import assert_recorded

# One letter each: the bin of a map of 16 is the letter's code modulo 16, so "p" comes before "a", "b" and "c".
FIRST, A, B, C = "p", "a", "b", "c"
WRITTEN, NONE = UserData(assignment=b"data"), UserData()


def member(member_id: str, client_id: str = "app", *, instance: str | None = None) -> Member:
    return Member(id=member_id, instance=instance, client=Client(id=client_id), user_data=WRITTEN)


def group(*members: Member, leader: str | None = A) -> Group:
    return Group(
        id="g",
        type=GroupType.CLASSIC,
        state=GroupState.STABLE,
        protocol_type="consumer",
        protocol="cooperative-sticky",
        leader=leader,
        members=members,
    )


def led(state: Group, leader: str) -> Group:
    """With assignments of this leader: a bridge writes no user data."""
    return replace(
        state, leader=leader, members=tuple(replace(peer, user_data=NONE) for peer in state.members)
    )


PLAIN = group(member(A), member(B))
IN_FRONT = group(member(FIRST, BRIDGE), member(A), member(B))
BEHIND = group(member(A), member(B), member(C, BRIDGE))
BEHIND_THE_FIRST = group(member(FIRST), member(A), member(C, BRIDGE))
"""In the way is a member that no id comes before."""
LEADING = led(BEHIND, C)
CONVERTING = replace(LEADING, type=GroupType.CONSUMER, state=GroupState.RECONCILING)
CONVERTED = replace(CONVERTING, state=GroupState.STABLE)
MOVING = replace(BEHIND, state=GroupState.PREPARING_REBALANCE)
LATER = replace(IN_FRONT, generation=9)

GROUPS = {
    "an id may come first": PLAIN,
    "on sticky": replace(PLAIN, protocol="sticky"),
    "a follower in the first bin": group(member(FIRST), member(A)),
    "two of them": group(member(FIRST), member("0"), member(A)),
    "a static leader and a static follower": group(member(FIRST, instance="s1"), member(A, instance="s2")),
    "one member": group(member(A)),
    "an unknown leader": replace(PLAIN, leader=None),
    "a rebalance": replace(PLAIN, state=GroupState.PREPARING_REBALANCE),
    "type consumer": replace(PLAIN, type=GroupType.CONSUMER),
    "no members": replace(PLAIN, members=()),
    "of Connect": replace(PLAIN, protocol_type="connect"),
    "another bridge": IN_FRONT,
    "an unknown assignor": replace(PLAIN, protocol="homemade"),
    "no user data": led(PLAIN, A),
}

Seen = tuple[int, Group | None, str, int]
"""At ms, the group, the bridge's id, and the partitions that it withholds."""
WALKS: dict[str, tuple[int, list[Seen]]] = {
    "next in line it asks for a restart of the leader": (0, [(0, IN_FRONT, FIRST, 0)]),
    "it asks for nothing until the group stays unchanged": (
        STEADY_MS,
        [
            (0, IN_FRONT, FIRST, 0),
            (STEADY_MS - 1, IN_FRONT, FIRST, 0),
            (STEADY_MS, LATER, FIRST, 0),
            (2 * STEADY_MS - 1, LATER, FIRST, 0),
            (2 * STEADY_MS, LATER, FIRST, 0),
        ],
    ),
    "where no id comes first it asks for a restart at once": (0, [(0, BEHIND_THE_FIRST, C, 0)]),
    "behind another it draws a new id a few times, and again once a member was restarted": (
        0,
        [*[(0, BEHIND, C, 0)] * (REJOINS + 1), (0, group(*BEHIND.members, member("d")), C, 0)],
    ),
    "it leads until the converted group is stable; the first member may fail": (
        0,
        [(0, LEADING, C, 0), (1, CONVERTING, C, 0), (2, LEADING, C, 0), (3, CONVERTED, C, 0)],
    ),
    "a conversion may begin as soon as it is shown to lead": (
        STEADY_MS,
        [(0, LEADING, C, 0), (1, CONVERTED, C, 0)],
    ),
    "it does not lead while user data is shown": (0, [(0, replace(BEHIND, leader=C), C, 0)]),
    "no conversion between two cooperative rebalances": (0, [(0, LEADING, C, 2), (1, LEADING, C, 0)]),
    **{
        f"it waits {name}": (0, [(0, state, C, 0)])
        for name, state in {
            "in a rebalance": replace(BEHIND, state=GroupState.COMPLETING_REBALANCE),
            "under an unknown leader": replace(BEHIND, leader=None),
            "alone": group(member(C, BRIDGE), leader=C),
            "where the group is converted between its list and its description": None,
        }.items()
    },
    "it waits no longer than a rebalance may take, each time": (
        0,
        [
            (0, MOVING, C, 0),
            (LONGEST_WAIT_MS - 1, MOVING, C, 0),
            (LONGEST_WAIT_MS, IN_FRONT, FIRST, 0),
            (LONGEST_WAIT_MS + 1, MOVING, C, 0),
            (2 * LONGEST_WAIT_MS + 1, MOVING, C, 0),
        ],
    ),
    "it is no member any more": (0, [(0, PLAIN, C, 0)]),
    "another bridge joins": (0, [(0, group(*BEHIND.members, member("d", BRIDGE)), C, 0)]),
    "another leader was converted": (0, [(0, replace(BEHIND, type=GroupType.CONSUMER), C, 0)]),
}


def plan_text(state: Group) -> str:
    if (why_not := unsettled(state) or objection(state)) is not None:
        return why_not
    plan = bridge_plan(state)
    places = (
        f"leader {plan.leader}, {plan.places} of {plan.bins} places, {plan.with_user_data} with user data"
    )
    restarts = [f"{restart.mode.value} {restart.member}: {restart.why}" for restart in plan.restart or ()]
    return "\n".join((places, *restarts, plan.why or ""))


def test_which_groups_it_joins_and_which_restarts_it_needs() -> None:
    assert_recorded("bridge_plans.txt", {name: plan_text(state) for name, state in GROUPS.items()})


def test_its_steps_are_as_recorded() -> None:
    answers = {}
    for name, (steady_ms, seen) in WALKS.items():
        progress, lines = BridgeProgress(steady_ms), []
        for at_ms, state, member_id, withheld in seen:
            step = progress.next_step(state, member_id, at_ms, withheld=withheld)
            restarts = ", ".join(f"{restart.mode.value} {restart.member}" for restart in step.restart)
            lines.append(f"{at_ms} {step.move.value}: {step.why}{restarts and f' ({restarts})'}")
        answers[name] = "\n".join(lines)
    assert_recorded("bridge_steps.txt", answers)


def test_it_subscribes_to_a_topic_only_where_a_leader_needs_one() -> None:
    assert (subscribed_to("sticky"), subscribed_to("cooperative-sticky")) == ((), (NO_TOPIC,))


def test_an_id_comes_first_as_the_broker_would_have_it() -> None:
    assert [name for name in "pqacz" if comes_first(PLAIN, name)] == ["p", "q", "a"]
    # Where no id does, each is as good.
    assert comes_first(group(member(FIRST), member(A)), C)
    assert comes_first(group(member(A)), C)


def test_a_place_is_that_of_the_map_that_the_bridge_makes_grow() -> None:
    """The thirteenth member doubles a map of 16: q moves from bin 1 to bin 17, behind b to m of 0 to 13."""
    twelve = group(*(member(name) for name in "abcdefghijkl"), leader="a")
    assert not comes_first(twelve, "q")  # 17 of 32, and b is in 2
    assert comes_first(twelve, "A")  # 65 is in 1 of both


def test_once_those_to_restart_have_gone_it_leads() -> None:
    step = BridgeProgress(0).next_step(BEHIND_THE_FIRST, C, 0)
    gone = {restart.member for restart in step.restart}
    stayed = tuple(peer for peer in BEHIND_THE_FIRST.members if peer.id not in gone)
    prediction = succession(replace(BEHIND_THE_FIRST, members=stayed))
    assert (step.move, prediction and prediction.leader) == (Move.RESTART, C)
