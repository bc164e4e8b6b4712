"""Equality of states: two are equal if no future behavior of members or coordinator can distinguish them.

Times are omitted (names that end in `_ms`: only the existence of a deadline matters), and so are numbers that only
match answers with requests: a message is described by its effect on the receiver.
"""

from __future__ import annotations

from typing import Any

from coordinator.consumer.consumer_member import ConsumerMember
from coordinator.consumer.member import Member
from coordinator.simulation.exploration.forms import ATOMS, canonical
from coordinator.simulation.exploration.state import State
from coordinator.simulation.exploration.steps import LONG_MS, Message

_OMITTED = frozenset(
    {
        *(
            "identity",
            "settings",
            "_behavior",
            "image",
            "position",
            "metrics",
            "outputs",
            "_numbers",
            "_waiting",
        ),
        *("_assignments", "_fields", "_beat", "_missing_since_ms"),
    }
)
"""Attributes of a member that never change, do not matter, or are covered elsewhere (as by `_heartbeats`)."""


def fingerprint(world: State) -> int:
    """64 bits, equal for equal states. In one of 40 million runs with a million states two different states
    collide."""
    members = tuple([_member_fingerprint(world, name) for name in world.members])
    network = frozenset(_connections(world).items())
    calling = tuple((name, call.kind, call.partitions) for name, call in world.calling.items())
    state = (
        world.coordinator_fingerprint(),
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
    """The messages in flight on each connection, in order."""
    found: dict[tuple[str, int, bool], tuple[Any, ...]] = {}
    for message in world.network:
        connection = message.member, message.process, message.is_answer
        found[connection] = (*found.get(connection, ()), _message(world, message))
    return found


def _member_fingerprint(world: State, name: str) -> int:
    """The fingerprint of a member, cached until it changes."""
    known = world.prints.get(name)
    if known is None:
        member = world.members[name]
        known = world.prints[name] = hash(None if member is None else _member(member))
    return known


def _member(member: Member) -> tuple[Any, ...]:
    plain, deadlines = _names(member)
    values = vars(member)
    facts = [value if type(value := values[name]) in ATOMS else canonical(value) for name in plain]
    facts += [values[name] >= LONG_MS for name in deadlines]
    if isinstance(member, ConsumerMember):
        facts.append(_heartbeats(member))
    return tuple(facts)


_NAMES: dict[type, tuple[tuple[str, ...], tuple[str, ...]]] = {}


def _names(member: Member) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The attributes of a class of members that count: those that are no deadlines, and the deadlines."""
    kind = type(member)
    if kind not in _NAMES:
        facts = [name for name in vars(member) if name not in _OMITTED]
        _NAMES[kind] = (
            tuple(name for name in facts if not name.endswith("_ms")),
            tuple(name for name in facts if name.endswith("_ms")),
        )
    return _NAMES[kind]


def _heartbeats(member: ConsumerMember) -> tuple[Any, ...]:
    """The facts that the next heartbeat depends on; whether a heartbeat is in flight, but not its number."""
    assignments, sent = member._assignments, member._fields._sent
    return (
        member._beat is None,
        canonical((assignments.owned, assignments._target, assignments._number, assignments._target_number)),
        sent is not None and (canonical(sent[:-1]), sent.owned == assignments.version),
    )


def _message(world: State, message: Message) -> tuple[Any, ...]:
    member = world.members[message.member]
    is_current = member is not None and message.process == world.processes[message.member]
    handler = None
    if is_current and member is not None:
        handler = canonical(member._waiting.get(message.number))
    return message.member, is_current, handler, message.is_answer, message.print
