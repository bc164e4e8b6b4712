"""Assignors by name, side and leader: the built-in ones, and custom ones of installed packages.
An entry point of the group `kohort.assignors` is an `Assignor`, or a function without arguments that returns one; it is
imported on first use, and its results are checked (`assignors.guard`)."""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points

from assignors.assignor import Assignor, Leader, RebalanceProtocol, Side
from assignors.broker import range as broker_range
from assignors.broker import uniform as broker_uniform
from assignors.conversation import ApplicationState, MemberAssignor
from assignors.errors import BrokenAssignorError, NoCommonProtocolError, UnknownAssignorError
from assignors.guard import guarded
from assignors.java import range as java_range
from assignors.java import roundrobin as java_roundrobin
from assignors.java import sticky as java_sticky
from assignors.librdkafka import cooperative_sticky as librdkafka_cooperative_sticky
from assignors.librdkafka import range as librdkafka_range
from assignors.librdkafka import roundrobin as librdkafka_roundrobin
from assignors.model import Claim, DenseGroup, Result
from assignors.sticky_user_data import CooperativeMember, StickyMember, read_claim
from assignors.streams import STREAMS

ENTRY_POINT_GROUP = "kohort.assignors"

_EAGER = frozenset({RebalanceProtocol.EAGER})
_COOPERATIVE = frozenset({RebalanceProtocol.COOPERATIVE})


def _client(
    name: str,
    leader: Leader,
    protocols: frozenset[RebalanceProtocol],
    assign: Callable[[DenseGroup], Result],
    at_member: Callable[[ApplicationState], MemberAssignor] = MemberAssignor,
    claim: Callable[[bytes], Claim] | None = None,
) -> Assignor:
    return Assignor(
        name=name,
        side=Side.CLIENT,
        leader=leader,
        protocols=protocols,
        assign=assign,
        at_member=at_member,
        claim=claim,
    )


def _broker(name: str, assign: Callable[[DenseGroup], Result]) -> Assignor:
    return Assignor(name=name, side=Side.BROKER, leader=None, protocols=frozenset(), assign=assign)


BUILT_IN = (
    _client("range", Leader.JAVA, _EAGER, java_range.assign),
    _client("roundrobin", Leader.JAVA, _EAGER, java_roundrobin.assign),
    _client("sticky", Leader.JAVA, _EAGER, java_sticky.assign, StickyMember, read_claim),
    _client(
        "cooperative-sticky",
        Leader.JAVA,
        _COOPERATIVE | _EAGER,
        java_sticky.assign_cooperatively,
        CooperativeMember,
    ),
    _broker("uniform", broker_uniform.assign),
    _broker("range", broker_range.assign),
    _client("range", Leader.LIBRDKAFKA, _EAGER, librdkafka_range.assign),
    _client("roundrobin", Leader.LIBRDKAFKA, _EAGER, librdkafka_roundrobin.assign),
    _client(
        "cooperative-sticky",
        Leader.LIBRDKAFKA,
        _COOPERATIVE,
        librdkafka_cooperative_sticky.assign,
        StickyMember,
    ),
)


def known(side: Side, leader: Leader | None = None) -> tuple[str, ...]:
    """Names of the assignors of a side and leader (client side: Java by default), custom ones included."""
    names = {assignor.name for assignor in BUILT_IN if _fits(assignor, side, leader)}
    points = entry_points(group=ENTRY_POINT_GROUP)
    return tuple(sorted(names | {point.name for point in points if _may_fit(point, side, leader)}))


def _may_fit(point: EntryPoint, side: Side, leader: Leader | None) -> bool:
    """True also for one that cannot be imported: its use reports why."""
    try:
        return _fits(_loaded(point), side, leader)
    except BrokenAssignorError:
        return True


def find(name: str, side: Side, leader: Leader | None = None) -> Assignor:
    """The assignor of that name. `leader` counts on the client side: None means Java. Raises UnknownAssignorError:
    there is none. Raises BrokenAssignorError: a package offers it and cannot be imported."""
    for assignor in BUILT_IN:
        if assignor.name == name and _fits(assignor, side, leader):
            return assignor
    for point in entry_points(group=ENTRY_POINT_GROUP, name=name):
        custom = _loaded(point)
        if _fits(custom, side, leader):
            return guarded(custom)
    raise UnknownAssignorError(_message(name, side, leader))


def _loaded(point: EntryPoint) -> Assignor:
    try:
        offered = point.load()
        custom = offered() if callable(offered) and not isinstance(offered, Assignor) else offered
    except Exception as error:  # The code is not Kohort's: it may raise anything.
        message = f"{point.value} cannot be imported: {type(error).__name__}: {error}"
        raise BrokenAssignorError(point.name, message) from error
    if not isinstance(custom, Assignor):
        raise BrokenAssignorError(point.name, f"{point.value} is {custom!r}, not an Assignor")
    if custom.name != point.name:
        raise BrokenAssignorError(
            point.name, f"{point.value} is an Assignor of another name, {custom.name!r}"
        )
    return custom


def rebalance_protocol(names: Sequence[str], leader: Leader | None = None) -> RebalanceProtocol:
    """The highest protocol that all assignors of a list support; an unknown one is assumed to be eager. Raises
    NoCommonProtocolError: none, for which Java and librdkafka refuse to construct the consumer
    (ConsumerCoordinator)."""
    if not names:
        raise NoCommonProtocolError("a member needs at least one assignor")
    common = frozenset.intersection(*(_protocols_of(name, leader) for name in names))
    if not common:
        message = f"the assignors {', '.join(names)} support no rebalance protocol in common"
        raise NoCommonProtocolError(message)
    return max(common, key=lambda protocol: protocol.value)


def _protocols_of(name: str, leader: Leader | None) -> frozenset[RebalanceProtocol]:
    if name == STREAMS:
        return _COOPERATIVE | _EAGER
    try:
        return find(name, Side.CLIENT, leader).protocols
    except UnknownAssignorError:
        return _EAGER


def _fits(assignor: Assignor, side: Side, leader: Leader | None) -> bool:
    if assignor.side is not side:
        return False
    return side is Side.BROKER or assignor.leader in (None, leader or Leader.JAVA)


def _message(name: str, side: Side, leader: Leader | None) -> str:
    if name == STREAMS and side is Side.CLIENT:
        return (
            f"{STREAMS!r} is the assignor of Kafka Streams: it assigns tasks, which its dry run computes, and "
            "a scenario under `streams`"
        )
    names = known(side, leader)
    message = f"{_place(side, leader)} has no assignor {name!r}"
    if nearest := get_close_matches(name.lower().replace("_", "-"), names, n=1):
        return f"{message}; did you mean {nearest[0]}?"
    elsewhere = sorted({_place(a.side, a.leader) for a in BUILT_IN if a.name == name})
    hint = f". {name!r} exists for {' and '.join(elsewhere)}." if elsewhere else ""
    return f"{message}; it has {', '.join(names)}{hint}"


def _place(side: Side, leader: Leader | None) -> str:
    return "the broker" if side is Side.BROKER else f"a {(leader or Leader.JAVA).value} leader"
