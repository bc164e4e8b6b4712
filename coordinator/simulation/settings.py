"""Overrides of a scenario's settings, as in `kohort simulate --set`.

A coordinator's setting is applied to the brokers; a consumer's setting is applied to every member, whatever a restart
changes. The session timeout and the heartbeat interval are applied to both: to classic members, and to the brokers
(`group.consumer.…`) for other members. `library` applies to every member; `loss` and `duplicate` to the network.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from coordinator.configs.settings import Config
from coordinator.consumer.settings import MemberSettings
from coordinator.errors import InvalidSetting
from coordinator.simulation.scenario import Event, Faults, MemberScript, Restart, Scenario, Variant
from coordinator.simulation.scenario_checks import (
    CLASSIC,
    CLASSIC_SETTINGS,
    check_member,
    check_settings,
    unknown,
)
from coordinator.simulation.seeds import ScenarioOf
from coordinator.simulation.variants import of_brokers, with_variant
from groups.trees import Malformed

LIBRARY = "library"
_CHANCES = ("loss", "duplicate")
_OF_MEMBERS = MemberSettings.names()
NAMES = (*Config.names(), *_OF_MEMBERS, LIBRARY, *_CHANCES)
"""The names of everything that can be set."""


def with_settings(scenario: Scenario, settings: Mapping[str, str]) -> Scenario:
    """The scenario with these overrides.

    :raises InvalidSetting: a name that is not in NAMES, or a value that its library or Kafka would refuse
    """
    for name, value in settings.items():
        scenario = _with_setting(scenario, name, value)
    if settings:
        check_playable(scenario)
    return scenario


def check_playable(scenario: Scenario, variant: Variant = Variant.AS_WRITTEN) -> None:
    """:raises InvalidSetting: settings of the brokers or of a member conflict under this protocol"""
    played = with_variant(scenario, variant)
    restarted = [event.script for event in played.events if isinstance(event, Restart)]
    try:
        check_settings(Config, played.settings, "settings")
        for script in (*played.members.values(), *restarted):
            check_member(script)
    except Malformed as error:
        raise InvalidSetting(str(error)) from None


def set_for_all(scenario_of: ScenarioOf, settings: Mapping[str, str]) -> ScenarioOf:
    """The same scenarios with these settings."""
    return partial(_set, scenario_of, dict(settings)) if settings else scenario_of


def _set(scenario_of: ScenarioOf, settings: Mapping[str, str], seed: int) -> Scenario:
    return with_settings(scenario_of(seed), settings)


def _with_setting(scenario: Scenario, name: str, value: str) -> Scenario:
    if name in _CHANCES:
        return replace(scenario, faults=_with_chance(scenario.faults, name, value))
    if name == LIBRARY:
        return _with_members(scenario, lambda script: replace(script, library=value))
    if name in CLASSIC_SETTINGS:
        brokers = of_brokers(name, _milliseconds(name, value), Config.parse(scenario.settings))
        return _with_members(
            replace(scenario, settings={**scenario.settings, **brokers}),
            lambda script: _configured(script, name, value) if script.protocol == CLASSIC else script,
        )
    if name in _OF_MEMBERS:
        return _with_members(scenario, lambda script: _configured(script, name, value))
    if name in Config.names():
        return replace(scenario, settings={**scenario.settings, name: value})
    raise InvalidSetting(unknown("setting", name, NAMES))


def _with_members(scenario: Scenario, changed: Callable[[MemberScript], MemberScript]) -> Scenario:
    def of_event(event: Event) -> Event:
        return replace(event, script=changed(event.script)) if isinstance(event, Restart) else event

    return replace(
        scenario,
        members={name: changed(script) for name, script in scenario.members.items()},
        events=tuple(map(of_event, scenario.events)),
    )


def _configured(script: MemberScript, name: str, value: str) -> MemberScript:
    return replace(script, config={**script.config, name: value})


def _milliseconds(name: str, value: str) -> int:
    MemberSettings.parse({name: value})
    return int(value)


def _with_chance(faults: Faults, name: str, value: str) -> Faults:
    try:
        chance = float(value)
    except ValueError:
        chance = -1.0
    if not 0 <= chance <= 1:
        raise InvalidSetting(f"{name} must be a probability from 0 to 1, not {value!r}")
    return replace(faults, loss=chance) if name == "loss" else replace(faults, duplicate=chance)
