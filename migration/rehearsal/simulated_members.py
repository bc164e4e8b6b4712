"""The members of the simulation: the known facts of each member of a group, and assumptions for the rest."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

from assignors.assignor import Side
from assignors.registry import known
from assignors.streams import STREAMS
from assignors.streams.assignor import StreamsGroupSpec
from coordinator.configs.settings import Config
from coordinator.consumer import library as simulated
from coordinator.consumer.library import MemberSettings
from coordinator.errors import InvalidSetting
from coordinator.simulation.scenario import MemberScript, StreamsScript
from coordinator.simulation.scenario_checks import CLASSIC_SETTINGS, unknown
from coordinator.simulation.topics import SimulatedClient
from coordinator.simulation.variants import of_brokers
from groups.client_library import library_of
from groups.group_spec import current_of
from groups.model import Cluster, Group, GroupType, Member, MemberProtocol, Topic, usual_protocol
from groups.streams_releases import ThreadRelease
from migration.client_config import ClientConfig, configs_of_member
from migration.model import MemberStart, Plan, PlannedMember, Rollout, RoundAction, round_names

NEAREST = "java"  # Replaces libraries that the simulation does not have: most are modeled on Java's consumer

_DRAWN = re.compile(r".+-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""A classic member id as a broker draws it: the client id or the instance id, and a UUID."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundGroup:
    group: Group
    cluster: Cluster
    topics: Mapping[str, Topic]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedMember:
    name: str  # Its name in the plan's rounds
    script: MemberScript
    client: SimulatedClient
    id: str | None
    """The member id that it was found with; None if a coordinator does not draw ids of this form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedApplication:
    """An application of Kafka Streams, whose threads all members are (`applications`)."""

    script: StreamsScript
    observed: StreamsGroupSpec  # Its threads have the names of members


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedMembers:
    """All simulated members, by the id that each had when the plan was made."""

    members: Mapping[str, SimulatedMember]
    remarks: tuple[str, ...]
    application: SimulatedApplication | None = None

    def instance_of(self, member: str) -> str:
        """What restarts as a whole: the process of a thread of Kafka Streams, else the member."""
        processes = self.application.script.processes if self.application is not None else {}
        name = self.members[member].name
        return next((process for process, threads in processes.items() if name in threads), member)


def simulated_members(
    group: Group, planned: Sequence[PlannedMember], configs: Sequence[ClientConfig] = ()
) -> SimulatedMembers:
    """Members of the present group; `planned` are those of the plan. Raises CannotRehearseError: one is unknown."""
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
            client=SimulatedClient(id=member.client.id or name, host=member.client.host or "/127.0.0.1"),
            id=member.id
            if member.protocol is MemberProtocol.CONSUMER or _DRAWN.fullmatch(member.id)
            else None,
        )
    remarks = [
        f"{library} ({taken[library][0]}{f' and {more} more' if (more := len(taken[library]) - 1) else ''}) cannot "
        f"be simulated: simulated as {NEAREST}, the closest one"
        for library in sorted(taken)
    ]
    return SimulatedMembers(members=members, remarks=tuple(remarks))


def started(script: MemberScript, start: MemberStart) -> MemberScript:
    return replace(
        script,
        protocol=start.protocol.value,
        assignors=start.assignors if start.protocol is MemberProtocol.CLASSIC else (),
        remote_assignor=start.remote_assignor,
        release=start.release or script.release,
        upgrade_from=start.upgrade_from,
    )


def _script(group: Group, member: Member, library: str | None) -> MemberScript:
    protocol = member.protocol or usual_protocol(group.type)
    if protocol is None:
        raise CannotRehearseError(f"the group is of type {group.type.value}: only consumers are rehearsed")
    subscription = member.subscription
    # If a classic client matches a regular expression itself, describe shows the matched topics.
    topics = subscription.topics if subscription is not None else tuple(sorted(current_of(group, member)))
    regex = subscription.regex if subscription is not None else None
    if not topics and not regex:
        raise CannotRehearseError(f"the subscription of {member.id} is unknown")
    assignors = member.protocols or ((group.protocol,) if group.protocol else ())
    if protocol is MemberProtocol.CLASSIC and not assignors:
        raise CannotRehearseError(f"the assignors of {member.id} are unknown")
    for name in assignors if protocol is MemberProtocol.CLASSIC else ():
        if name != STREAMS and name not in known(Side.CLIENT):
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
        name: setting.value
        for config in configs_of_member(configs, names, library)
        for name in MemberSettings.names()
        if (setting := config.setting(name)) is not None and not setting.is_placeholder
    }


class CannotRehearseError(Exception):
    """The plan cannot be rehearsed; the message explains to the operator why."""


_OF_MEMBERS = tuple(setting.name.replace("_", ".") for setting in fields(MemberSettings))
NAMES = (*Config.names(), *_OF_MEMBERS)
OF_PLANS = ("concurrency", "bounce-seconds")
"""Options of `kohort plan` that rehearsals of many plans can also vary."""
_OF_GROUP = "group."
"""The prefix that turns the name of a group's own setting into the name of the brokers' setting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    brokers: Mapping[str, str]
    members: Mapping[str, str]


def overrides_from(
    settings: Mapping[str, str], broker_settings: Mapping[str, str] | None = None
) -> Overrides:
    """The overrides of these settings. Raises InvalidSetting: a name is not in NAMES, or a value is invalid."""
    brokers: dict[str, str] = {}
    members: dict[str, str] = {}
    for name, value in settings.items():
        if name in _OF_MEMBERS:
            MemberSettings.parse({name: value})
            members[name] = value
            if name in CLASSIC_SETTINGS:
                brokers |= of_brokers(name, int(value), Config.parse(broker_settings or {}))
        elif name in Config.names():
            brokers[name] = value
        else:
            raise InvalidSetting(unknown("setting", name, NAMES))
    return Overrides(brokers=brokers, members=members)


def with_settings(
    found_group: FoundGroup, simulated: SimulatedMembers, settings: Mapping[str, str]
) -> tuple[FoundGroup, SimulatedMembers]:
    """The same group and members with these settings. Raises InvalidSetting: as `overrides_from`."""
    if not settings:
        return found_group, simulated
    theirs = found_group.cluster.settings or {}
    group_settings = found_group.group.settings or {}
    new = overrides_from(settings, {name: value for name, value in theirs.items() if name in Config.names()})
    cluster = replace(found_group.cluster, settings={**theirs, **new.brokers})
    kept = {name: value for name, value in group_settings.items() if f"{_OF_GROUP}{name}" not in new.brokers}
    members = {
        key: replace(member, script=replace(member.script, config={**member.script.config, **new.members}))
        for key, member in simulated.members.items()
    }
    group = replace(found_group.group, settings=kept)
    return replace(found_group, cluster=cluster, group=group), replace(simulated, members=members)


StepRound = tuple[int, int]  # a step and a round of it, both from 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberAction:
    member: str
    script: MemberScript | None  # The script with which it is started; None: it is stopped, and stays away
    at_s: float = 0.0  # When, from the beginning of the round
    away_s: float = 0.0
    """From the old process's end to the new one's start; negative: the new one starts before the old one stops."""

    is_ahead: bool = False  # Whether it is an action of the plan's next round, done too early

    def delayed(self, by_s: float) -> "MemberAction":
        """The same action, but the started process is up `by_s` seconds later."""
        if self.script is None:
            return self
        if self.away_s:
            return replace(self, away_s=self.away_s + by_s)
        return replace(self, at_s=self.at_s + by_s)


def round_actions(
    plan: Plan, step: int, round_: int, scripts: Mapping[str, MemberScript]
) -> tuple[MemberAction, ...]:
    """The actions of a round, both from 1, without temporary members (`bridge.py`), which act by themselves."""
    rollout = plan.steps[step - 1].rollout
    if rollout is None:
        return ()
    members = [member for member in rollout.rounds[round_ - 1] if member in scripts]
    if rollout.action is RoundAction.STOP or rollout.start is None:
        return tuple(MemberAction(member=member, script=None) for member in members)
    away_s = plan.bounce_s if rollout.action is RoundAction.RESTART else 0.0
    return tuple(
        MemberAction(member=member, script=started(scripts[member], rollout.start), away_s=away_s)
        for member in members
    )


def rollback_of(
    rollout: Rollout, actions: Sequence[MemberAction], scripts: Mapping[str, MemberScript]
) -> tuple[MemberAction, ...]:
    """The rollback of `actions` to the `scripts` of before; no action for a member whose script did not change."""
    if rollout.action is RoundAction.START:
        return tuple(MemberAction(member=action.member, script=None) for action in actions)
    return tuple(
        MemberAction(
            member=action.member,
            script=scripts[action.member],
            away_s=max(action.away_s, _session_s(action.script, scripts[action.member])),
        )
        for action in actions
        if action.script != scripts[action.member]
    )


def _session_s(newer: MemberScript | None, older: MemberScript) -> float:
    """How long a static thread of Kafka Streams that gets its old release again must be away: its session, as the old
    release cannot read the assignment of the newer one. 0 for other members."""
    if newer is None or newer.instance is None or newer.release == older.release:
        return 0.0
    usual_ms = ThreadRelease.of(newer.release, newer.upgrade_from).session_timeout_ms
    return (int(newer.config.get("session.timeout.ms", usual_ms)) + 1_000) / 1_000
