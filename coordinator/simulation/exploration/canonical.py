"""When two states are the same: nothing that the members or the coordinator will do can tell them apart.

Times are left out (names that end in `_ms`: of a deadline only whether it comes at all matters), and so are numbers
that only say which answer belongs to which request: a message is described by what its receiver will do with it.
"""

from __future__ import annotations

from typing import Any

from coordinator.consumer.consumer_member import ConsumerMember
from coordinator.consumer.member import Member
from coordinator.simulation.exploration.forms import ATOMS, canonical
from coordinator.simulation.exploration.state import State
from coordinator.simulation.exploration.steps import LONG_MS, Message

_UNTOLD = frozenset(
    {
        *("identity", "settings", "_ways", "image", "position", "metrics", "outputs", "_numbers", "_waiting"),
        *("_assignments", "_fields", "_beat", "_missing_since_ms"),
    }
)
"""Of a member: what does not change, does not matter, or is told otherwise (`_heartbeats`)."""


def fingerprint(world: State) -> int:
    """64 bits that equal states have in common. Two different ones among a million agree once in 40 million runs."""
    members = tuple([_print(world, name) for name in world.members])
    network = frozenset(_connections(world).items())
    calling = tuple((name, call.kind, call.partitions) for name, call in world.calling.items())
    state = (
        world.print_of_coordinator(),
        members,
        network,
        frozenset(calling),
        frozenset(world.idle),
        frozenset(world.is_over),
        tuple([script.next is None for script in world.scripts.values()]),
        tuple(world.processes.items()),
        world.left,
        world.has_broken_rule,
        world.keeps_log and world.last_append == len(world.records),
    )
    return hash(state)


def _connections(world: State) -> dict[tuple[str, int, bool], tuple[Any, ...]]:
    """What is on its way in each, in order."""
    found: dict[tuple[str, int, bool], tuple[Any, ...]] = {}
    for message in world.network:
        connection = message.member, message.process, message.is_answer
        found[connection] = (*found.get(connection, ()), _message(world, message))
    return found


def _print(world: State, name: str) -> int:
    """The fingerprint of a member, kept until it is touched."""
    known = world.prints.get(name)
    if known is None:
        member = world.members[name]
        known = world.prints[name] = hash(None if member is None else _member(member))
    return known


def _member(member: Member) -> tuple[Any, ...]:
    plain, deadlines = _names(member)
    values = vars(member)
    told = [value if type(value := values[name]) in ATOMS else canonical(value) for name in plain]
    told += [values[name] >= LONG_MS for name in deadlines]
    if isinstance(member, ConsumerMember):
        told.append(_heartbeats(member))
    return tuple(told)


_NAMES: dict[type, tuple[tuple[str, ...], tuple[str, ...]]] = {}


def _names(member: Member) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The attributes of a class of members that are told, and those of them that are deadlines."""
    kind = type(member)
    if kind not in _NAMES:
        told = [name for name in vars(member) if name not in _UNTOLD]
        _NAMES[kind] = (
            tuple(name for name in told if not name.endswith("_ms")),
            tuple(name for name in told if name.endswith("_ms")),
        )
    return _NAMES[kind]


def _heartbeats(member: ConsumerMember) -> tuple[Any, ...]:
    """What the next heartbeat depends on; whether one is under way, but not its number."""
    assignments, said = member._assignments, member._fields._said
    return (
        member._beat is None,
        canonical((assignments.owned, assignments._target, assignments._number, assignments._target_number)),
        said is not None and (canonical(said[:-1]), said.owned == assignments.version),
    )


def _message(world: State, message: Message) -> tuple[Any, ...]:
    member = world.members[message.member]
    is_current = member is not None and message.process == world.processes[message.member]
    handler = None
    if is_current and member is not None:
        handler = canonical(member._waiting.get(message.number))
    return message.member, is_current, handler, message.is_answer, message.print
