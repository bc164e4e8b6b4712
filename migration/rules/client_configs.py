"""Findings from the members' configuration files."""

from collections.abc import Iterator
from functools import partial
from shlex import quote

from coordinator.configs.settings import Config
from groups.findings import Finding, Level
from groups.model import Member
from migration.client_config import (
    HEARTBEAT_INTERVAL,
    LOCAL_ASSIGNORS,
    PROTOCOL,
    REMOTE_ASSIGNOR,
    SESSION_TIMEOUT,
    STRATEGY,
    ClientConfig,
)
from migration.model import Destination
from migration.rules.case import Case

_REFUSES = "ConsumerConfig of kafka-clients 4.3.1 and librdkafka 2.16.0, tried; JasperFx/wolverine pull 3486"
_MIXES = "librdkafka issues 4368 and 3589"
_GROUP_CONFIGS = "KIP-848, Group Configurations"


def configs_are_of_the_group(case: Case) -> Iterator[Finding]:
    for config in case.request.configs:
        group = config.setting("group.id")
        if group is not None and not group.is_placeholder and group.value != case.group.id:
            yield case.blocker(
                "client-config-group",
                members=owners_of(case, config),
                message=f"{config.name}: {group.place} names another group, {group.value!r}.",
                remedy=f"Give the configuration of the members of {case.group.id}.",
                source="A plan depends on the client libraries and files that it is given",
            )


def configs_are_read(case: Case) -> Iterator[Finding]:
    for config in case.request.configs:
        unread = config.unread
        if not config.is_recognized:
            unread += ("No setting of a Kafka client was recognized in it: it is not used.",)
        if unread:
            yield case.warning(
                "client-config-unread",
                members=owners_of(case, config),
                message=f"{config.name}: {' '.join(unread)}",
                remedy="Give the settings of one consumer as properties, YAML, JSON or environment variables.",
                source="docs/readiness.md, Configuration files",
            )


def configs_fit_their_library(case: Case) -> Iterator[Finding]:
    for config in case.request.configs:
        if not config.is_recognized:
            continue
        clients = _clients_of(case, config)
        if config.library is not None and clients and config.library not in clients:
            yield case.finding(
                Level.BLOCKER if config.is_for_library else Level.WARNING,
                "client-config-library",
                members=owners_of(case, config),
                message=f"{config.name} is a file for {config.library} ({config.known_by}), but its members run "
                f"{' and '.join(sorted(clients))}.",
                remedy="Set the library of each member (--client MEMBER=LIBRARY), and the owner of the file "
                "(--client-config MEMBER=FILE or LIBRARY=FILE).",
                source="A plan depends on the client libraries and files that it is given",
            )
        elif config.library is None:
            yield case.info(
                "client-config-library",
                members=owners_of(case, config),
                message=f"The library that {config.name} is for is unknown ({config.known_by}): it is used for all "
                "members.",
                remedy="Set it: --client-config LIBRARY=FILE.",
                source="A plan depends on the client libraries and files that it is given",
            )


def owners_of(case: Case, config: ClientConfig) -> list[str]:
    """Ids of the members that a file is for by name; empty if it is for all members, or for a library."""
    return [member.id for member in case.group.members if config.member in _names(member)]


def _names(member: Member) -> tuple[str, ...]:
    return tuple(name for name in (member.id, member.instance, member.client.id) if name is not None)


def _clients_of(case: Case, config: ClientConfig) -> set[str]:
    libraries = set()
    members = {member.id: member for member in case.group.members}
    for member_id, client in case.clients.items():
        member = members.get(member_id or "")
        names = _names(member) if member else ()
        if client.library is not None and (config.member is None or config.member in names):
            libraries.add(client.library.name)
    return libraries


def configs_have_no_leftovers(case: Case) -> Iterator[Finding]:
    protocols = {Destination.CONSUMER: "consumer", Destination.CLASSIC: "classic"}
    protocol = protocols.get(case.destination)
    if protocol is None:
        return
    for config in case.request.configs:
        left = config.leftovers(protocol)
        if not left:
            continue
        is_new, places = config.protocol == protocol, ", ".join(setting.place for setting in left)
        has_timeouts = any(setting.key in (SESSION_TIMEOUT, HEARTBEAT_INTERVAL) for setting in left)
        moved = " The timeouts then belong to the group (see group-timeouts)."
        moved = moved if has_timeouts and protocol == "consumer" else ""
        yield case.finding(
            Level.BLOCKER if is_new else Level.WARNING,
            "client-config-leftover",
            members=owners_of(case, config),
            message=f"{config.name}: with {PROTOCOL}={protocol} the client refuses to start while the file contains "
            f"{places}.{' It contains both now.' if is_new else ''}",
            remedy=f"Remove {places} in the same change that sets {PROTOCOL}={protocol}.{moved}",
            source=_REFUSES,
        )


def configs_do_not_mix(case: Case) -> Iterator[Finding]:
    for config in case.request.configs:
        names, listed = config.assignors, config.setting(STRATEGY)
        if config.library != "librdkafka" or names is None or listed is None:
            continue
        refused = partial(case.blocker, "client-config-mixed", members=owners_of(case, config))
        if "cooperative-sticky" in names and len(set(names)) > 1:
            yield refused(
                message=f"{config.name}: {listed.place} lists {', '.join(names)}. librdkafka refuses to start with "
                "eager and cooperative assignors in one list ('must have the same protocol type').",
                remedy="Two bounces are not possible with librdkafka: list one kind only. Stop all members and start "
                "them, or go directly to the consumer protocol.",
                source=_MIXES,
            )
        unknown = sorted(set(names) - {"range", "roundrobin", "cooperative-sticky"})
        if unknown:
            yield refused(
                message=f"{config.name}: {listed.place} lists {', '.join(unknown)}, which librdkafka does not have "
                "('Unsupported partition.assignment.strategy').",
                remedy="Use range, roundrobin or cooperative-sticky.",
                source="librdkafka 2.16.0, tried",
            )


def configs_speak_the_right_protocol(case: Case) -> Iterator[Finding]:
    if case.destination not in (Destination.COOPERATIVE, Destination.EAGER):
        return
    for config in case.request.configs:
        entry = config.setting(PROTOCOL)
        if entry is not None and config.protocol == "consumer":
            yield case.blocker(
                "client-config-protocol",
                members=owners_of(case, config),
                message=f"{config.name}: {entry.place} is consumer: a member that starts with it converts the group to "
                "the consumer protocol.",
                remedy="Remove it, or plan --to consumer.",
                source="KIP-848, Compatibility, Deprecation, and Migration Plan",
            )


def configs_use_released_settings(case: Case) -> Iterator[Finding]:
    for config in case.request.configs:
        owners = owners_of(case, config)
        entry = config.setting(PROTOCOL)
        if entry is not None and config.protocol not in _PROTOCOLS and not entry.is_placeholder:
            generic = " KIP-848 calls it generic; clients call it classic."
            meant = generic if config.protocol == "generic" else ""
            yield case.blocker(
                "client-config-protocol",
                members=owners,
                message=f"{config.name}: {entry.place} is {entry.value!r}: the client refuses to start with it.{meant}",
                remedy=f"Write {PROTOCOL}=classic or {PROTOCOL}=consumer.",
                source=_REFUSES,
            )
        listed = next((setting for setting in config.settings if setting.key == LOCAL_ASSIGNORS), None)
        if listed is not None:
            refuses = config.library == "librdkafka"
            effect = "Java ignores it and logs a warning; librdkafka refuses to start with it."
            if refuses:
                effect = "librdkafka refuses to start with it ('No such configuration property')."
            yield case.finding(
                Level.BLOCKER if refuses else Level.WARNING,
                "client-config-local-assignors",
                members=owners,
                message=f"{config.name}: {listed.place} exists in no release. {effect}",
                remedy=f"Remove it. Under the consumer protocol the broker assigns ({REMOTE_ASSIGNOR}); a client-side "
                f"assignor needs {PROTOCOL}=classic and {STRATEGY}.",
                source="KIP-848, Consumer Configurations; kafka-clients 4.3.1 and librdkafka 2.16.0, tried",
            )


_PROTOCOLS = ("classic", "consumer", "streams")
"""The values that clients accept for `group.protocol`, in upper or lower case; `streams` only in Kafka Streams."""


def remote_assignor_is_offered(case: Case) -> Iterator[Finding]:
    offered = case.setting_list("group.consumer.assignors")
    if case.destination is not Destination.CONSUMER or offered is None:
        return
    for config in case.request.configs:
        asked = config.setting(REMOTE_ASSIGNOR)
        if asked is not None and asked.value not in offered and "." not in "".join(offered):
            yield case.blocker(
                "client-config-assignor",
                members=owners_of(case, config),
                message=f"{config.name}: {asked.place} requests {asked.value!r}, but the brokers offer "
                f"{', '.join(offered)}: the member is refused with UNSUPPORTED_ASSIGNOR.",
                remedy="Request one of those, or remove the setting.",
                source="KIP-848, Assignment Process",
            )


def timeouts_become_the_groups(case: Case) -> Iterator[Finding]:
    if case.destination is not Destination.CONSUMER:
        return
    timeouts: dict[str, dict[str, str]] = {SESSION_TIMEOUT: {}, HEARTBEAT_INTERVAL: {}}
    for config in case.request.configs:
        for key, places in timeouts.items():
            entry = config.setting(key)
            if entry is not None:
                places.setdefault(entry.value, f"{config.name}, {entry.place}")
    for key, places in timeouts.items():
        if len(places) > 1:
            shown = "; ".join(f"{value} ({place})" for value, place in sorted(places.items()))
            message = f"The files have different values of {key}: {shown}. A group has one value."
            choose = "Choose one for the group."
            yield case.warning("group-timeouts", message=message, remedy=choose, source=_GROUP_CONFIGS)
    values = {key: next(iter(places)) for key, places in timeouts.items() if len(places) == 1}
    moving = {key: value for key, value in values.items() if value != timeout_now(case, key)}
    if moving:
        yield _timeouts(case, moving)


def timeout_now(case: Case, key: str) -> str:
    """The timeout for members of the consumer protocol now: the group's own, the brokers', or Kafka's default."""
    name = f"group.consumer.{key}"
    default = str(getattr(Config(), name.replace(".", "_")))
    return case.settings.get(f"consumer.{key}") or case.setting(name) or default


def _timeouts(case: Case, moving: dict[str, str]) -> Finding:
    problems = [problem for key, value in moving.items() if (problem := _problem(case, key, value))]
    values = {key: value if _is_number(value) else "MILLISECONDS" for key, value in moving.items()}
    settings = ",".join(f"consumer.{key}={value}" for key, value in values.items())
    command = (
        "kafka-configs.sh --bootstrap-server … --alter --entity-type groups "
        f"--entity-name {quote(case.group.id)} --add-config {settings}"
    )
    timeouts = ", ".join(f"{key} {value} (now {timeout_now(case, key)})" for key, value in moving.items())
    if problems:
        return case.warning(
            "group-timeouts",
            message=f"The group cannot keep the timeouts of its clients: {'; '.join(problems)}.",
            remedy="Choose values within the bounds, or change the bounds on every broker (restart each). Then run: "
            f"{command}",
            source="GroupConfig and GroupCoordinatorConfig of Kafka 4.3.1",
        )
    return case.warning(
        "group-timeouts",
        message="Under the consumer protocol the group has the timeouts, not the clients. The clients have "
        f"{timeouts}.",
        remedy=f"Before the first step, run: {command}",
        source=_GROUP_CONFIGS,
    )


def _problem(case: Case, key: str, value: str) -> str | None:
    if not _is_number(value):
        return f"{key}={value} is not a number of milliseconds"
    for side, where in (("min", "below"), ("max", "above")):
        name = f"group.consumer.{side}.{key}"
        number = case.setting_number(name)
        bound = int(getattr(Config(), name.replace(".", "_"))) if number is None else number
        if int(value) < bound if side == "min" else int(value) > bound:
            default = "" if case.setting(name) is not None else ", unless the brokers are set otherwise"
            return f"{key}={value} is {where} {name}={bound}{default}"
    return None


def _is_number(value: str) -> bool:
    return value.isascii() and value.isdigit()
