"""The members of the simulation: the known facts of each member of a group, and assumptions for the rest."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from assignors.assignor import Side
from assignors.registry import known
from coordinator.consumer import library as simulated
from coordinator.consumer.settings import MemberSettings
from coordinator.simulation.initial_state import Client
from coordinator.simulation.scenario import MemberScript
from groups.client_library import library_of
from groups.group_spec import current_of
from groups.model import Group, GroupType, Member, MemberProtocol, usual_protocol
from migration.client_config import ClientConfig, configs_of_member
from migration.model import PlannedMember, round_names
from migration.rehearsal.errors import CannotRehearseError
from migration.rollout import Start

NEAREST = "java"
"""Replaces libraries that the simulation does not have: most are modeled on Java's consumer."""

_DRAWN = re.compile(r".+-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""A classic member id as a broker draws it: the client id or the instance id, and a UUID."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedMember:
    """A member of the simulation."""

    name: str
    """Its name in the plan's rounds."""
    script: MemberScript
    client: Client
    id: str | None
    """The member id that it was found with; None if a coordinator does not draw ids of this form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedMembers:
    """All simulated members, by the id that each had when the plan was made."""

    members: Mapping[str, SimulatedMember]
    remarks: tuple[str, ...]
    """Assumptions in place of unknown facts."""


def simulated_members(
    group: Group, planned: Sequence[PlannedMember], configs: Sequence[ClientConfig] = ()
) -> SimulatedMembers:
    """Simulated members for the present group; `planned` are its members in the plan, `configs` their configuration.

    :raises CannotRehearseError: too little is known of a member to simulate it
    """
    libraries = {one.id: one.library for one in planned}
    names = round_names([PlannedMember.of(member) for member in group.members])
    members: dict[str, SimulatedMember] = {}
    taken: dict[str, list[str]] = {}
    for member in group.members:
        name = names[member.id]
        library = libraries.get(member.id) or library_of(member).name
        if library not in simulated.LIBRARIES:
            taken.setdefault(library or "an unknown library", []).append(name)
        members[member.id] = SimulatedMember(
            name=name,
            script=replace(_script(group, member, library), config=_settings(member, library, configs)),
            client=Client(id=member.client.id or name, host=member.client.host or "/127.0.0.1"),
            id=member.id if _can_be_drawn(member) else None,
        )
    return SimulatedMembers(members=members, remarks=tuple(_remark(*each) for each in sorted(taken.items())))


def started(script: MemberScript, start: Start) -> MemberScript:
    """The script with which a step of a plan starts a member."""
    return replace(
        script,
        protocol=start.protocol.value,
        assignors=start.assignors if start.protocol is MemberProtocol.CLASSIC else (),
        remote_assignor=start.remote_assignor,
    )


def _script(group: Group, member: Member, library: str | None) -> MemberScript:
    protocol = member.protocol or usual_protocol(group.type)
    if protocol is None:
        raise CannotRehearseError(f"the group is of type {group.type.value}: only consumers are rehearsed")
    wanted = member.subscription
    # If a classic client matches a regular expression itself, describe shows the matched topics.
    topics = wanted.topics if wanted is not None else tuple(sorted(current_of(group, member)))
    regex = wanted.regex if wanted is not None else None
    if not topics and not regex:
        raise CannotRehearseError(f"the subscription of {member.id} is unknown")
    assignors = member.protocols or ((group.protocol,) if group.protocol else ())
    if protocol is MemberProtocol.CLASSIC and not assignors:
        raise CannotRehearseError(f"the assignors of {member.id} are unknown")
    for name in assignors if protocol is MemberProtocol.CLASSIC else ():
        if name not in known(Side.CLIENT):
            raise CannotRehearseError(f"{member.id} lists {name}, an assignor that Kohort does not have")
    in_use = group.protocol if group.type is GroupType.CONSUMER else None
    return MemberScript(
        library=library if library in simulated.LIBRARIES else NEAREST,
        protocol=protocol.value,
        assignors=assignors if protocol is MemberProtocol.CLASSIC else (),
        remote_assignor=in_use if protocol is MemberProtocol.CONSUMER else None,
        topics=topics,
        regex=regex,
        instance=member.instance,
        # A member without a rack shows an empty one under the classic protocol; a broker refuses it in a heartbeat.
        rack=member.rack or None,
    )


def _settings(member: Member, library: str | None, configs: Sequence[ClientConfig]) -> dict[str, str]:
    """The settings of the simulated consumer that the files contain; placeholders are left out."""
    names = (member.id, member.instance, member.client.id)
    return {
        name: found.value
        for config in configs_of_member(configs, names, library)
        for name in MemberSettings.names()
        if (found := config.setting(name)) is not None and not found.is_placeholder
    }


def _can_be_drawn(member: Member) -> bool:
    if member.protocol is MemberProtocol.CONSUMER:
        return True
    return _DRAWN.fullmatch(member.id) is not None


def _remark(library: str, names: Sequence[str]) -> str:
    who = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
    return f"{library} ({who}) cannot be simulated: simulated as {NEAREST}, the closest one"
