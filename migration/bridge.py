"""The bridge: a member of Kohort's that leads a classic group for a while. Whether it may join, and what comes next.

Theory of operation. A leader of librdkafka's cooperative-sticky or of sarama's sticky writes user data into the
assignments, and a broker converts no such group online. The bridge subscribes to nothing and so is assigned nothing;
once it leads, its assignments carry no user data. It comes to lead when all that precede it in the order of succession
(`groups.succession`) have left. A member that restarts gets a new id, and with it a new place: after each restart the
order is looked at again.

Decisions only: whoever holds the connection asks after each look at the group, and acts.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from assignors.assignor import Leader, Side
from assignors.registry import known
from groups.model import Group, GroupState, GroupType
from groups.succession import succession
from migration.paths.path import BRIDGE

CONSUMER = "consumer"
"""The protocol type of consumers, which `connect` and others are not."""


class Move(Enum):
    """What the bridge does next."""

    WAIT = "wait"
    """A rebalance is going on, or the order cannot be told: look again."""
    REJOIN = "rejoin"
    """Leave and join again, under a new id, whose place is drawn by chance."""
    RESTART = "restart"
    """It stays; somebody restarts the members that precede it."""
    LEAD = "lead"
    """It leads, and stays until the group has been converted."""
    LEAVE = "leave"
    """Nothing is left to be done for it, or something is not as expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A move, and what it rests on."""

    move: Move
    why: str
    restart: tuple[str, ...] = ()
    """Ids of the members to restart, the first one first: the leader, and whoever else precedes the bridge."""


def objection(group: Group) -> str | None:
    """Why the bridge does not join this group; None when it may."""
    if group.type is not GroupType.CLASSIC:
        return f"it is a group of type {group.type.value}, and only a classic group is led by a member"
    if not group.members:
        return "it has no members: without a leader nothing has to be bridged"
    if group.protocol_type != CONSUMER:
        return f"its protocol type is {group.protocol_type or 'not known'}, not {CONSUMER}"
    if any(member.client.id == BRIDGE for member in group.members):
        return f"a bridge is there already: a member with the client id {BRIDGE}"
    if group.state is not GroupState.STABLE:
        return f"it is {group.state.value}: the bridge joins a group that has come to rest"
    if group.protocol not in known(Side.CLIENT, Leader.JAVA):
        return f"its assignor, {group.protocol or 'not known'}, is none that Kohort can compute"
    return None


def next_step(group: Group, member_id: str, tries_left: int) -> Step:
    """What the bridge does, as the member `member_id`, now that the group was seen so.

    `tries_left` is how often it may still leave and join again for a better place.
    """
    if group.type is GroupType.CONSUMER:
        return Step(move=Move.LEAVE, why="the group has been converted")
    found = succession(group)
    if found is None or all(member.id != member_id for member in group.members):
        return Step(move=Move.LEAVE, why="the bridge is no member of the group any more")
    others = [member.id for member in group.members if member.client.id == BRIDGE and member.id != member_id]
    if others:
        return Step(move=Move.LEAVE, why=f"another bridge has joined: {', '.join(others)}")
    if len(group.members) == 1:
        return Step(move=Move.LEAVE, why="all other members have left")
    if group.state is not GroupState.STABLE:
        return Step(move=Move.WAIT, why=f"the group is {group.state.value}")
    if found.leader == member_id:
        return Step(move=Move.LEAD, why="the bridge leads")
    if found.leader is None or not found.certain:
        return Step(move=Move.WAIT, why=found.why)
    ahead = found.order[: found.order.index(member_id)]
    if ahead and tries_left > 0:
        return Step(move=Move.REJOIN, why=f"{ahead[0]} comes before the bridge")
    why = (
        "the bridge comes next"
        if not ahead
        else f"no better place was drawn; {ahead[0]} comes before the bridge"
    )
    return Step(move=Move.RESTART, why=why, restart=(found.leader, *ahead))
