"""What might have been: the scenario of a group's past with another protocol, assignor or setting, or with static
members, in every combination."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from assignors.assignor import RebalanceProtocol, Side
from assignors.errors import UnknownAssignorError
from assignors.registry import find, rebalance_protocol
from coordinator.configs.settings import Config
from coordinator.consumer.library import MemberSettings
from coordinator.errors import InvalidSetting
from coordinator.simulation.scenario import MemberScript, Restart, Scenario, Variant
from coordinator.simulation.variants import check_playable, scripts_of, with_settings, with_variant

_OF_BROKERS = ("group.consumer.session.timeout.ms", "group.consumer.heartbeat.interval.ms")
_COOPERATES = {Variant.EAGER: RebalanceProtocol.EAGER, Variant.COOPERATIVE: RebalanceProtocol.COOPERATIVE}


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIfAlternative:
    """What is changed; nothing by default."""

    protocol: Variant = Variant.AS_WRITTEN
    assignor: str | None = None
    static: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The changes in words, such as `consumer, static, session.timeout.ms=10000`."""
        protocol = None if self.protocol is Variant.AS_WRITTEN else self.protocol.value
        settings = (f"{name}={value}" for name, value in self.settings.items())
        parts = (protocol, self.assignor, "static" if self.static else None, *settings)
        return ", ".join(filter(None, parts)) or "as it was"


AS_IT_WAS = WhatIfAlternative()


def combinations(
    *,
    protocols: Sequence[Variant] = (),
    assignors: Sequence[str] = (),
    static: bool = False,
    settings: Sequence[tuple[str, str]] = (),
) -> tuple[WhatIfAlternative, ...]:
    """Every combination of these with what was, except what was. Several values of a setting exclude each other, and so
    do a protocol and an assignor that does not have it."""
    values: dict[str, list[str | None]] = {}
    for name, value in settings:
        values.setdefault(name, [None]).append(value)
    chosen = product(
        dict.fromkeys((Variant.AS_WRITTEN, *protocols)),
        dict.fromkeys((None, *assignors)),
        (False, True) if static else (False,),
        product(*(dict.fromkeys(options) for options in values.values())),
    )
    alternatives = (
        WhatIfAlternative(
            protocol=protocol,
            assignor=assignor,
            static=is_static,
            settings={name: value for name, value in zip(values, some, strict=True) if value is not None},
        )
        for protocol, assignor, is_static, some in chosen
        if assignor is None or _has(protocol, assignor)
    )
    return tuple(alternative for alternative in alternatives if alternative != AS_IT_WAS)


def _has(protocol: Variant, assignor: str) -> bool:
    if protocol is Variant.AS_WRITTEN:
        return True
    if protocol is Variant.CONSUMER:
        return _exists(assignor, Side.BROKER)
    return _exists(assignor, Side.CLIENT) and rebalance_protocol([assignor]) is _COOPERATES[protocol]


def _exists(assignor: str, side: Side) -> bool:
    try:
        find(assignor, side)
    except UnknownAssignorError:
        return False
    return True


def applied(scenario: Scenario, alternative: WhatIfAlternative) -> Scenario:
    """The scenario with these changes. Raises InvalidSetting: it cannot be played with them."""
    changed = _under(scenario, alternative.protocol)
    if (assignor := alternative.assignor) is not None:
        changed = _of_members(changed, lambda _, script: _assigned_by(script, assignor))
    if alternative.static:
        changed = _of_members(changed, lambda name, script: replace(script, instance=script.instance or name))
    changed = with_settings(changed, alternative.settings)
    check_playable(changed)
    _check_sessions(changed)
    return changed


def _check_sessions(scenario: Scenario) -> None:
    """Raises InvalidSetting: classic members would be refused or expire, and try to join forever."""
    brokers = Config.parse(scenario.settings)
    least, most = brokers.group_min_session_timeout_ms, brokers.group_max_session_timeout_ms
    for script in scripts_of(scenario):
        settings = MemberSettings.parse(script.config)
        session_ms = settings.session_timeout_ms
        if script.protocol == "classic" and settings.heartbeat_interval_ms >= session_ms:
            raise InvalidSetting("heartbeat.interval.ms must be less than session.timeout.ms")
        if script.protocol == "classic" and not least <= session_ms <= most:
            raise InvalidSetting(
                f"session.timeout.ms={session_ms} is not within the brokers' group.min.session.timeout.ms={least} "
                f"and group.max.session.timeout.ms={most}: use --assume if they have others"
            )


def _under(scenario: Scenario, variant: Variant) -> Scenario:
    """The scenario under another protocol. Classic members get none of the sessions and heartbeats that the brokers
    have for the consumer protocol."""
    if variant not in _COOPERATES:
        return with_variant(scenario, variant)
    of_members = {name: value for name, value in scenario.settings.items() if name not in _OF_BROKERS}
    return replace(with_variant(replace(scenario, settings=of_members), variant), settings=scenario.settings)


def _assigned_by(script: MemberScript, assignor: str) -> MemberScript:
    side = Side.BROKER if script.protocol == "consumer" else Side.CLIENT
    if not _exists(assignor, side):
        raise InvalidSetting(f"members of the {script.protocol} protocol have no assignor {assignor}")
    if side is Side.BROKER:
        return replace(script, remote_assignor=assignor)
    return replace(script, assignors=(assignor,))


def _of_members(scenario: Scenario, changed: Callable[[str, MemberScript], MemberScript]) -> Scenario:
    return replace(
        scenario,
        members={name: changed(name, script) for name, script in scenario.members.items()},
        events=tuple(
            replace(event, script=changed(event.member, event.script))
            if isinstance(event, Restart)
            else event
            for event in scenario.events
        ),
    )
