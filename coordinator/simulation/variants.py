"""The same scenario under another protocol, or with overrides, as in `kohort simulate --set`. A coordinator's setting
is applied to the brokers, a consumer's to every member, whatever a restart changes. The session timeout and heartbeat
interval are applied to both: to classic members, and to brokers (`group.consumer.…`) for others."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from coordinator.configs.settings import Config
from coordinator.consumer.library import MemberSettings
from coordinator.errors import InvalidSetting
from coordinator.simulation.scenario import Event, MemberScript, Restart, Scenario, Subscribe, Variant
from coordinator.simulation.scenario_checks import (
    CLASSIC,
    CLASSIC_SETTINGS,
    check_member,
    check_settings,
    check_subscribe,
    unknown,
)
from groups.trees import Malformed

_ASSIGNORS = {Variant.EAGER: ("range",), Variant.COOPERATIVE: ("cooperative-sticky",)}
_SESSION, _HEARTBEAT = "session.timeout.ms", "heartbeat.interval.ms"
_MOVED = (_SESSION, _HEARTBEAT)
"""Settings of the client in the classic protocol, of the broker (`group.consumer.…`) in the consumer protocol."""
_LATEST_SUBSCRIPTION = MemberScript().subscription_version


def with_variant(scenario: Scenario, variant: Variant) -> Scenario:
    """The scenario with every member, also after each restart, configured for the variant. EAGER is range, COOPERATIVE
    is cooperative-sticky alone, CONSUMER keeps assignors of members that have some; threads of Kafka Streams become
    consumers. If session timeouts or intervals of classic members differ, the broker gets the longest timeout and the
    shortest interval. A restart's changes of the protocol or the assignors are dropped."""
    if variant is Variant.AS_WRITTEN:
        return scenario
    settings = dict(scenario.settings)
    if variant is Variant.CONSUMER:
        settings |= _broker_settings(scenario)
    return replace(
        scenario,
        settings=settings,
        streams=None,
        members={name: _converted(script, scenario, variant) for name, script in scenario.members.items()},
        events=tuple(
            replace(event, script=_converted(event.script, scenario, variant))
            if isinstance(event, Restart)
            else event
            for event in scenario.events
        ),
    )


def _converted(script: MemberScript, scenario: Scenario, variant: Variant) -> MemberScript:
    if variant is Variant.CONSUMER:
        config = {name: value for name, value in script.config.items() if name not in _MOVED}
        changes: dict[str, Any] = {"protocol": "consumer", "assignors": (), "batch_topic_changes_s": 0.0}
    else:
        brokers = {name: scenario.settings.get(f"group.consumer.{name}") for name in _MOVED}
        former = {name: value for name, value in brokers.items() if value and script.protocol == "consumer"}
        config = {**former, **script.config}
        changes = {
            "protocol": "classic",
            "assignors": _ASSIGNORS[variant],
            "remote_assignor": None,
            "local_assignors": (),
        }
    return replace(script, subscription_version=_LATEST_SUBSCRIPTION, config=config, **changes)


def _broker_settings(scenario: Scenario) -> dict[str, str]:
    """The classic members' settings, as settings of the broker, unless it has them."""
    chosen = [
        MemberSettings.parse(script.config)
        for script in scripts_of(scenario)
        if script.protocol == "classic" and any(name in script.config for name in _MOVED)
    ]
    if not chosen:
        return {}
    brokers = Config.parse(scenario.settings)
    session = max(2, *(settings.session_timeout_ms for settings in chosen))  # an interval must fit into it
    if f"group.consumer.{_SESSION}" in scenario.settings:
        session = brokers.group_consumer_session_timeout_ms
    heartbeat = min(settings.heartbeat_interval_ms for settings in chosen)
    if f"group.consumer.{_HEARTBEAT}" in scenario.settings:
        heartbeat = brokers.group_consumer_heartbeat_interval_ms
    if heartbeat >= session:
        heartbeat = max(1, session // 3)
    return of_brokers(_SESSION, session, brokers) | of_brokers(_HEARTBEAT, heartbeat, brokers)


def of_brokers(name: str, value: int, brokers: Config) -> dict[str, str]:
    """The broker's setting for a member's, with the bound that must change with it."""
    least, most = (
        getattr(brokers, f"group_consumer_{bound}_{name.replace('.', '_')}") for bound in ("min", "max")
    )
    settings = {f"group.consumer.{name}": str(value)}
    if value < least:
        settings[f"group.consumer.min.{name}"] = str(value)
    if value > most:
        settings[f"group.consumer.max.{name}"] = str(value)
    return settings


def scripts_of(scenario: Scenario) -> Iterator[MemberScript]:
    yield from scenario.members.values()
    yield from (event.script for event in scenario.events if isinstance(event, Restart))


LIBRARY = "library"
_CHANCES = ("loss", "duplicate")
_OF_MEMBERS = MemberSettings.names()
NAMES = (*Config.names(), *_OF_MEMBERS, LIBRARY, *_CHANCES)  # The names of everything that can be set


def with_settings(scenario: Scenario, settings: Mapping[str, str]) -> Scenario:
    """The scenario with these overrides; InvalidSetting for a name not in NAMES, or a value that Kafka would refuse."""
    before = Config.parse(scenario.settings)
    for name, value in settings.items():
        scenario = _with_setting(scenario, name, value, before)
    if settings:
        check_playable(scenario)
    return scenario


def check_playable(scenario: Scenario, variant: Variant = Variant.AS_WRITTEN) -> None:
    """Raises InvalidSetting: settings of the brokers or of a member conflict under this protocol."""
    played = with_variant(scenario, variant)
    try:
        check_settings(Config, played.settings, "settings")
        for script in scripts_of(played):
            check_member(script)
        for event in played.events:
            if isinstance(event, Subscribe):
                check_subscribe(event, played.members[event.member])
    except Malformed as error:
        raise InvalidSetting(str(error)) from None


def _with_setting(scenario: Scenario, name: str, value: str, before: Config) -> Scenario:
    """`before`: the brokers' settings before all changes, which may be valid only together."""
    if name in _CHANCES:
        try:
            chance = float(value)
        except ValueError:
            chance = -1.0
        if not 0 <= chance <= 1:
            raise InvalidSetting(f"{name} must be a probability from 0 to 1, not {value!r}")
        chances: dict[str, Any] = {name: chance}
        return replace(scenario, faults=replace(scenario.faults, **chances))
    if name == LIBRARY:
        return _with_members(scenario, lambda script: replace(script, library=value))
    if name in CLASSIC_SETTINGS:
        MemberSettings.parse({name: value})
        brokers = of_brokers(name, int(value), before)
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
