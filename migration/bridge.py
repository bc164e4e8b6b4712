"""The bridge, a member run by Kohort that leads a classic group temporarily: whether it can join, and its next step.

A leader with librdkafka's cooperative-sticky or sarama's sticky writes user data into the assignments, and a broker
does not convert a group with user data online. The bridge is assigned no partition, and leads once the leader and all
members before the bridge in the order of succession (`groups.succession`) have left. It chooses its place: a broker
gives a new member its id before it joins (KIP-394), so the bridge requests ids until one precedes every follower. A
follower in the first bin of the broker's map, which no id can precede, must restart; then the order is computed
again.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from assignors.assignor import Leader, Side
from assignors.registry import known
from groups.model import Group, GroupState, GroupType
from groups.succession import first_follower, leader_of, succession
from groups.times import duration_text

BRIDGE = "kohort-bridge"
"""The bridge's client id, by which gates recognize it; a console consumer in its place uses it too."""
CONSUMER = "consumer"  # The protocol type of consumers, as opposed to `connect` and others
LONGEST_WAIT_MS = 360_000
"""How long the bridge waits for a rebalance: max.poll.interval.ms, which delays one, is 5 min by default."""
NO_TOPIC = "kohort-bridge-owns-nothing"  # A topic that does not exist
STEADY_MS = 2_000
"""How long a group must be unchanged before the bridge asks for anything: a cooperative group is Stable for a moment
between two rebalances, and librdkafka joins once a second at most. A process that is stopped while its JoinGroup
waits for a response cannot leave: its partitions have no owner until its session has expired (20.0 s measured)."""
REJOINS = 3  # How often the bridge rejoins for a better place while the other members stay the same


class Move(Enum):
    WAIT = "wait"  # A rebalance is in progress: observe again
    REJOIN = "rejoin"  # Leave and rejoin, under an id that comes first
    RESTART = "restart"  # Stay, while the operator restarts members
    LEAD = "lead"  # Lead, and stay until the first member of the consumer protocol has converted the group
    CONVERTED = "converted"  # The group has been converted: leave
    LEAVE = "leave"  # Leave, because the group is not as expected


class RestartMode(Enum):
    RESTART = "restart"
    STOP = "stop"  # For a static leader, which leads again if it rejoins within its session


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRestart:
    """A member that the operator restarts with its configuration unchanged."""

    member: str
    mode: RestartMode
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeStep:
    move: Move
    why: str
    restart: tuple[MemberRestart, ...] = ()  # In order


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgePlan:
    leader: str | None  # None: unknown
    restart: tuple[MemberRestart, ...] | None  # In order; None: unknown
    places: int | None = None
    bins: int | None = None
    """Of the `bins` bins in the broker's map, `places` come before the first follower; None without a follower."""
    with_user_data: int | None = None  # The number of assignments that carry user data now; None: unknown
    why: str = ""


def objection(group: Group) -> str | None:
    """Why the bridge does not join this group; None if it can."""
    if group.type is not GroupType.CLASSIC:
        return f"it is a group of type {group.type.value}, and only a classic group has a member as leader"
    if not group.members:
        return "it has no members, and a group without members is converted without a bridge"
    if group.protocol_type != CONSUMER:
        return f"its protocol type is {group.protocol_type or 'not known'}, not {CONSUMER}"
    if any(member.client.id == BRIDGE for member in group.members):
        return f"the group already has a bridge: a member with the client id {BRIDGE}"
    if group.protocol not in known(Side.CLIENT, Leader.JAVA):
        return f"its assignor, {group.protocol or 'not known'}, cannot be computed by Kohort"
    if _with_user_data(group) == 0:
        return "no bridge is needed: no assignment carries user data, so a broker can convert the group"
    return None


def unsettled(group: Group) -> str | None:
    """Why the bridge cannot judge or join this group now: a rebalance chooses its assignor."""
    if group.type is not GroupType.CLASSIC or not group.members or group.state is GroupState.STABLE:
        return None
    return f"it is {group.state.value}, and the bridge only joins a Stable group"


def subscribed_to(assignor: str) -> tuple[str, ...]:
    """The topics of the bridge's subscription, chosen so that no leader assigns it a partition. Under a leader of
    librdkafka 2.16 (Kafka 4.3.1) a bridge that subscribed to nothing got an assignment of 0 bytes; a topic that
    does not exist does no harm there. librdkafka has no sticky. A leader of sarama (1.61.1) cannot assign a topic
    that does not exist: the group has no assignments until the leader's session ends, or, if brokers create topics
    automatically, the topic is created and assigned. sarama accepts a member without topics."""
    return () if assignor == "sticky" else (NO_TOPIC,)


def bridge_plan(group: Group) -> BridgePlan:
    with_user_data = _with_user_data(group)
    order = succession(group)
    if order is None or order.leader is None or not order.certain:
        why = "" if order is None else order.why
        leader = leader_of(group)
        return BridgePlan(leader=leader, restart=None, with_user_data=with_user_data, why=why)
    follower = first_follower(group, newcomers=1)
    first = [] if follower is None or follower.places else [follower.member, *follower.others]
    return BridgePlan(
        leader=order.leader,
        restart=_restarts(group, first, order.leader),
        places=None if follower is None else follower.places,
        bins=None if follower is None else follower.bins,
        with_user_data=with_user_data,
    )


def comes_first(group: Group, newcomer: str) -> bool:
    """Whether a bridge with this id would lead next; also True if no id is better than another."""
    follower = first_follower(group, newcomers=1)
    return follower is None or not follower.places or follower.is_preceded_by(newcomer)


def _with_user_data(group: Group) -> int | None:
    if all(member.user_data is None for member in group.members):
        return None
    return sum(member.user_data is not None and bool(member.user_data.assignment) for member in group.members)


def _restarts(group: Group, ahead: Iterable[str], leader: str) -> tuple[MemberRestart, ...]:
    restarts = [(member, RestartMode.RESTART, "it precedes the bridge") for member in ahead]
    if any(member.id == leader and member.instance is not None for member in group.members):
        why = "it leads, and as a static member it leads again if it rejoins within its session"
        restarts.append((leader, RestartMode.STOP, why))
    else:
        restarts.append((leader, RestartMode.RESTART, "it leads"))
    return tuple(MemberRestart(member=member, mode=mode, why=why) for member, mode, why in restarts)


class BridgeProgress:
    """The progress of a bridge from joining to leaving: its next step after each observation of the group."""

    def __init__(self, steady_ms: int = STEADY_MS) -> None:
        """`steady_ms`: how long the group must be unchanged before the bridge asks for anything."""
        self.has_led = False  # Whether it has led while no assignment carried user data
        self._rejoins_left = REJOINS
        self._others: frozenset[str] = frozenset()
        self._waits_since_ms: int | None = None
        self._steady_ms = steady_ms
        self._shown: Group | None = None
        self._shown_since_ms = 0

    def next_step(self, group: Group | None, member_id: str, now_ms: int, *, withheld: int = 0) -> BridgeStep:
        """The next step of the bridge, which is the member `member_id`. `group` is as described, with the leader
        that the bridge knows from its last JoinGroup; None: not shown. `withheld`: the number of partitions that
        its assignments, as the leader, leave without an owner."""
        if group != self._shown:
            self._shown, self._shown_since_ms = group, now_ms
        step = self._judged(group, member_id, now_ms, withheld)
        if step.move is not Move.WAIT:
            self._waits_since_ms = None
            return step
        if self._waits_since_ms is None:
            self._waits_since_ms = now_ms
        if now_ms - self._waits_since_ms < LONGEST_WAIT_MS:
            return step
        is_consumer = group is not None and group.type is GroupType.CONSUMER
        why = f"{step.why}, for {duration_text(LONGEST_WAIT_MS)}"
        return BridgeStep(move=Move.CONVERTED if is_consumer else Move.LEAVE, why=why)

    def _judged(self, group: Group | None, member_id: str, now_ms: int, withheld: int) -> BridgeStep:
        if group is None:
            # For a moment, if it was converted after the groups were listed by type.
            return BridgeStep(move=Move.WAIT, why="the group is not shown")
        members = group.members
        if all(member.id != member_id for member in members):
            return BridgeStep(move=Move.LEAVE, why="the bridge is no longer a member of the group")
        if group.type is not GroupType.CLASSIC:
            return self._in_consumer_group(group)
        others = frozenset(member.id for member in members) - {member_id}
        bridges = [member.id for member in members if member.client.id == BRIDGE and member.id != member_id]
        if bridges:
            return BridgeStep(move=Move.LEAVE, why=f"another bridge has joined: {', '.join(bridges)}")
        if others != self._others:
            self._others, self._rejoins_left = others, REJOINS
        if not others:
            return BridgeStep(move=Move.WAIT, why="all other members have left")
        if group.state is not GroupState.STABLE:
            return BridgeStep(move=Move.WAIT, why=f"the group is {group.state.value}")
        # Noted at once: the operator may start the conversion as soon as the bridge leads.
        order = succession(group)
        leads = order is not None and order.certain and order.leader == member_id
        self.has_led = self.has_led or (leads and not _with_user_data(group))
        if now_ms - self._shown_since_ms < self._steady_ms:
            return BridgeStep(move=Move.WAIT, why="the group changed a moment ago")
        return self._next_when_settled(group, member_id, withheld)

    def _in_consumer_group(self, group: Group) -> BridgeStep:
        """The bridge stays until the others have rejoined: if a member fails before that, the group reverts."""
        if not self.has_led:
            why = f"the group has become type {group.type.value}, although the bridge did not lead it"
            return BridgeStep(move=Move.LEAVE, why=why)
        if group.state is not GroupState.STABLE:
            return BridgeStep(move=Move.WAIT, why=f"the group has been converted and is {group.state.value}")
        return BridgeStep(move=Move.CONVERTED, why="the group has been converted and is Stable")

    def _next_when_settled(self, group: Group, member_id: str, withheld: int) -> BridgeStep:
        order = succession(group)
        if order is None or order.leader is None or not order.certain:
            return BridgeStep(move=Move.WAIT, why=order.why if order else "the group has no leader")
        if order.leader == member_id:
            if _with_user_data(group):
                why = "the bridge leads, and its assignments are not yet shown"
                return BridgeStep(move=Move.WAIT, why=why)
            if withheld:
                # Between two cooperative rebalances; these partitions may get two owners if the group converts now.
                why = f"{withheld} partitions are revoked first, then assigned"
                return BridgeStep(move=Move.WAIT, why=why)
            return BridgeStep(move=Move.LEAD, why="the bridge leads, and no assignment carries user data")
        ahead = order.order[: order.order.index(member_id)]
        if not ahead:
            restarts = _restarts(group, (), order.leader)
            return BridgeStep(move=Move.RESTART, why="the bridge leads next", restart=restarts)
        follower = first_follower(group)
        if follower is not None and follower.places and self._rejoins_left:
            self._rejoins_left -= 1
            return BridgeStep(move=Move.REJOIN, why=f"{ahead[0]} precedes the bridge")
        why = f"{ahead[0]} precedes the bridge, and no new id comes before it"
        # One before the next observation: after it, the new ids may leave no member before the bridge.
        return BridgeStep(move=Move.RESTART, why=why, restart=_restarts(group, ahead[:1], order.leader))
