"""A rehearsal with other settings than the group was found with; the plan and its gates are unchanged.

A coordinator's setting applies to the brokers, and replaces the group's own; a consumer's setting applies to every
member, whenever it is started. The session timeout and the heartbeat interval apply to both: to the members under the
classic protocol, and to the brokers (`group.consumer.…`, with the limiting bound) under the consumer protocol.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from coordinator.configs.settings import Config
from coordinator.consumer.settings import MemberSettings
from coordinator.errors import InvalidSetting
from coordinator.simulation.scenario_checks import CLASSIC_SETTINGS, unknown
from coordinator.simulation.variants import of_brokers
from migration.rehearsal.simulated_members import SimulatedMembers
from migration.rehearsal.simulation import FoundGroup

_OF_MEMBERS = tuple(each.name.replace("_", ".") for each in fields(MemberSettings))
NAMES = (*Config.names(), *_OF_MEMBERS)
"""The names of all settings that can be changed."""
OF_PLANS = ("concurrency", "bounce-seconds")
"""Options of `kohort plan` that rehearsals of many plans can also vary."""
_OF_GROUP = "group."
"""The prefix that turns the name of a group's own setting into the name of the brokers' setting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    """Changed settings of the brokers and of the members."""

    brokers: Mapping[str, str]
    members: Mapping[str, str]


def overrides_from(settings: Mapping[str, str], given: Mapping[str, str] | None = None) -> Overrides:
    """The overrides of these settings; `given` are the brokers' present settings.

    :raises InvalidSetting: a name is not in NAMES, or a value is invalid for a consumer
    """
    brokers: dict[str, str] = {}
    members: dict[str, str] = {}
    for name, value in settings.items():
        if name in _OF_MEMBERS:
            MemberSettings.parse({name: value})
            members[name] = value
            if name in CLASSIC_SETTINGS:
                brokers |= of_brokers(name, int(value), Config.parse(given or {}))
        elif name in Config.names():
            brokers[name] = value
        else:
            raise InvalidSetting(unknown("setting", name, NAMES))
    return Overrides(brokers=brokers, members=members)


def with_settings(
    found: FoundGroup, simulated: SimulatedMembers, settings: Mapping[str, str]
) -> tuple[FoundGroup, SimulatedMembers]:
    """The same group and members with these settings, which replace existing ones.

    :raises InvalidSetting: as `overrides_from`; values that brokers refuse are only found when the plan is played
    """
    if not settings:
        return found, simulated
    theirs = found.cluster.settings or {}
    own = found.group.settings or {}
    new = overrides_from(settings, {name: value for name, value in theirs.items() if name in Config.names()})
    cluster = replace(found.cluster, settings={**theirs, **new.brokers})
    kept = {name: value for name, value in own.items() if f"{_OF_GROUP}{name}" not in new.brokers}
    members = {
        member: replace(each, script=replace(each.script, config={**each.script.config, **new.members}))
        for member, each in simulated.members.items()
    }
    group = replace(found.group, settings=kept)
    return replace(found, cluster=cluster, group=group), replace(simulated, members=members)
