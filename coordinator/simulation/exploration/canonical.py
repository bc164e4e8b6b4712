"""When two states are the same: nothing that the members or the coordinator will do can tell them apart.

Times are left out (names that end in `_ms`: of a deadline only whether it comes at all matters), and so are numbers
that only say which answer belongs to which request: a message is described by what its receiver will do with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from types import FunctionType, MethodType
from typing import Any
from uuid import UUID

from coordinator.consumer.consumer_member import ConsumerMember
from coordinator.consumer.member import Member
from coordinator.engine.classic.group import ClassicGroup
from coordinator.simulation.exploration.small_world import GROUP, LONG_MS, Message, SmallWorld

_ATOMS = (str, bytes, bool, type(None), float, UUID)
_UNTOLD = frozenset(
    {
        *("identity", "image", "position", "metrics", "outputs", "_numbers", "_waiting"),
        *("_assignments", "_fields", "_beat"),
    }
)
"""Of a member: what does not change, does not matter, or is told otherwise (`_heartbeats`)."""
_TICKETS = frozenset({"joining", "syncing"})
"""Of a classic group: tickets by member; that there is one is what counts."""


def fingerprint(world: SmallWorld) -> int:
    """64 bits that equal states have in common. Two different ones among a million agree once in 40 million runs."""
    members = tuple(
        (name, None if member is None else _member(member)) for name, member in world.members.items()
    )
    network = frozenset(_connections(world).items())
    calling = tuple((name, call.kind, call.partitions) for name, call in world.calling.items())
    state = (
        _print(world, ""),
        members,
        network,
        frozenset(calling),
        frozenset(world.idle),
        frozenset(world.is_over),
        canonical(world.scripts),
        tuple(world.processes.items()),
        world.left,
        world.has_broken_rule,
        world.keeps_log and world.last_append == len(world.records),
    )
    return hash(state)


def _connections(world: SmallWorld) -> dict[tuple[str, int, bool], tuple[Any, ...]]:
    """What is on its way in each, in order."""
    found: dict[tuple[str, int, bool], tuple[Any, ...]] = {}
    for message in world.network:
        connection = message.member, message.process, message.is_answer
        found[connection] = (*found.get(connection, ()), _message(world, message))
    return found


def _print(world: SmallWorld, name: str) -> int:
    """The fingerprint of a member, or of the coordinator (""), kept until it is touched."""
    known = world.prints.get(name)
    if known is None:
        member = world.members[name] if name else None
        known = hash(_coordinator(world) if not name else _member(member) if member is not None else None)
        world.prints[name] = known
    return known


def _coordinator(world: SmallWorld) -> tuple[Any, ...]:
    timers = frozenset((key.kind, key.member) for key in world.engine.timers() if key.group == GROUP)
    return canonical(world.group), timers


def _member(member: Member) -> tuple[Any, ...]:
    told = [
        (name, value >= LONG_MS if name.endswith("_ms") else canonical(value))
        for name, value in vars(member).items()
        if name not in _UNTOLD
    ]
    if isinstance(member, ConsumerMember):
        told.append(("", _heartbeats(member)))
    return tuple(told)


def _heartbeats(member: ConsumerMember) -> tuple[Any, ...]:
    """What the next heartbeat depends on; whether one is under way, but not its number."""
    assignments, said = member._assignments, member._fields._said
    return (
        member._beat is None,
        canonical((assignments.owned, assignments._target, assignments._number, assignments._target_number)),
        said is not None and (canonical(said[:-1]), said.owned == assignments.version),
    )


def _message(world: SmallWorld, message: Message) -> tuple[Any, ...]:
    member = world.members[message.member]
    is_current = member is not None and message.process == world.processes[message.member]
    handler = None
    if is_current and member is not None:
        handler = canonical(member._waiting.get(message.number))
    return message.member, is_current, handler, message.is_answer, canonical(message.content)


def canonical(value: Any) -> Any:
    """The value as something hashable in which neither order nor time is left, where they do not matter."""
    kind: type[object] = type(value)
    if kind in _ATOMS:
        return value
    if kind is int:
        return value if value >= 0 else ("-", -value)  # the hashes of -1 and -2 are the same
    return _form(kind)(value)


_FORMS: dict[type, Callable[[Any], Any]] = {}


def _form(kind: type) -> Callable[[Any], Any]:
    if kind not in _FORMS:
        _FORMS[kind] = _chosen(kind)
    return _FORMS[kind]


def _chosen(kind: type) -> Callable[[Any], Any]:
    if issubclass(kind, Enum):
        return _itself
    if issubclass(kind, tuple | list):
        return _sequence
    if issubclass(kind, dict):
        return _mapping
    if issubclass(kind, set | frozenset):
        return _set
    if kind is MethodType:
        return _method
    if kind is partial:
        return _partial
    if is_dataclass(kind):
        names = tuple(each.name for each in fields(kind) if not each.name.endswith("_ms"))
        return partial(_object, names, kind is ClassicGroup)
    return _attributes


def _itself(value: Any) -> Any:
    return value


def _sequence(value: Any) -> Any:
    return tuple([canonical(each) for each in value])


def _mapping(value: Any) -> Any:
    return frozenset([(canonical(key), canonical(each)) for key, each in value.items()])


def _set(value: Any) -> Any:
    return frozenset([canonical(each) for each in value])


def _method(value: Any) -> Any:
    return value.__func__.__qualname__


def _partial(value: Any) -> Any:
    return canonical(value.func), canonical(value.args)


def _object(names: tuple[str, ...], has_tickets: bool, value: Any) -> Any:
    return tuple(
        [
            frozenset(getattr(value, name))
            if has_tickets and name in _TICKETS
            else canonical(getattr(value, name))
            for name in names
        ]
    )


def _attributes(value: Any) -> Any:
    if isinstance(value, FunctionType):
        return value.__qualname__
    named = vars(value)
    return tuple([(name, canonical(each)) for name, each in named.items() if not name.endswith("_ms")])
