"""Which way is right: it depends on the client library, the user data in the assignments, and the brokers' policy."""

from __future__ import annotations

from dataclasses import replace

from groups.model import Group, GroupType, MemberProtocol
from migration import commands
from migration.clients import Library
from migration.model import Alternative, Destination, Step
from migration.paths.bridge_leader import START as BRIDGE_STARTS
from migration.paths.bridge_leader import bridge_leader, stop_left_bridge
from migration.paths.path import EAGER, Path, Trip
from migration.paths.rolling_downgrade import rolling_downgrade
from migration.paths.rolling_upgrade import rolling_upgrade, shed_user_data
from migration.paths.stop_and_start import start, stop_and_start
from migration.paths.streams import by_upgrade_from
from migration.paths.two_bounces import one_bounce, to_cooperative, to_eager
from migration.rules.assignors import ALSO_KNOWN
from migration.rules.case import Case
from migration.rules.streams import has_arrived as streams_has_arrived
from migration.rules.streams import is_streams
from migration.rules.user_data import OnlineWay, members_with_data, online_way

COOPERATIVE = "cooperative-sticky"
UPGRADES = ("bidirectional", "upgrade")
DOWNGRADES = ("bidirectional", "downgrade")


def choose_path(trip: Trip) -> Path:
    """The way for a case that no rule blocks; one without steps when the group has arrived."""
    if has_arrived(trip.case):
        return Path(name="nothing to do")
    choose = {
        Destination.COOPERATIVE: _to_cooperative,
        Destination.EAGER: _to_eager,
        Destination.CONSUMER: _to_consumer,
        Destination.CLASSIC: _to_classic,
    }
    if is_streams(trip.case):
        path = by_upgrade_from(trip)
    elif trip.is_empty:
        path = start(trip)
    elif trip.connector is not None:
        path = stop_and_start(trip, _TASK_BY_TASK)
    else:
        path = choose[trip.case.destination](trip)
    if trip.has_bridge and not any(step.id == BRIDGE_STARTS for step in path.steps):
        others = tuple(step for step in path.steps if step.rounds or trip.is_empty)
        path = replace(path, steps=(stop_left_bridge(trip), *others))
    return replace(path, steps=tuple(_with_commands(trip, n, step) for n, step in enumerate(path.steps, 1)))


def has_arrived(case: Case) -> bool:
    """Whether the group is where it is to go."""
    group = case.group
    if case.destination is Destination.CONSUMER:
        return group.type is GroupType.CONSUMER and all(
            member.protocol is MemberProtocol.CONSUMER for member in group.members
        )
    if group.type is not GroupType.CLASSIC:
        return False
    if case.destination is Destination.CLASSIC:
        return True
    if is_streams(case):
        return streams_has_arrived(case)
    listed = {name for member in group.members for name in member.protocols or ()}
    if case.destination is Destination.COOPERATIVE:
        return group.protocol == COOPERATIVE and listed <= {COOPERATIVE}
    return group.protocol in (*EAGER, *ALSO_KNOWN) and COOPERATIVE not in listed


def leader_matters(group: Group, destination: Destination) -> bool:
    """Whether a path may name the member that leads: the bridge leader's does."""
    return (
        destination is Destination.CONSUMER
        and group.type is GroupType.CLASSIC
        and group.protocol == COOPERATIVE
        and len(group.members) > 1
    )


def _to_cooperative(trip: Trip) -> Path:
    if not _all_mix(trip):
        return stop_and_start(trip, _no_bounces(trip), _TO_CONSUMER_INSTEAD)
    if trip.case.offline:
        return stop_and_start(trip, _online("Two bounces"))
    listed = _listed_by_all(trip)
    if COOPERATIVE in listed:
        return one_bounce(trip, next((name for name in listed if name != COOPERATIVE), _in_use(trip)))
    return to_cooperative(trip, _in_use(trip))


def _to_eager(trip: Trip) -> Path:
    title = "Two bounces in reverse"
    if not _all_mix(trip):
        return stop_and_start(trip, _no_bounces(trip))
    if "franz-go" in trip.libraries:
        why = (
            "franz-go does not support it: it logs `downgrading from cooperative group to eager group, this is not "
            "supported per KIP-429!`; versions before its pull 1367 have a race."
        )
        return stop_and_start(trip, Alternative(title=title, why_not=why))
    return stop_and_start(trip, _online(title)) if trip.case.offline else to_eager(trip)


def _to_consumer(trip: Trip) -> Path:
    if trip.case.offline:
        return stop_and_start(trip, _member_by_member(trip, "upgrade", UPGRADES))
    if trip.case.group.type is GroupType.CONSUMER:
        return rolling_upgrade(trip)
    way = online_way(trip.case)
    if trip.size == 1:
        # While its only member is away the group is Empty, and converts whatever its assignments held. A static member
        # is away only when its session has ended.
        waits = trip.has_static and members_with_data(trip.case)
        instead = _member_by_member(trip, "upgrade", UPGRADES)
        return stop_and_start(trip, instead) if waits else rolling_upgrade(trip)
    if way is OnlineWay.BRIDGE_LEADER:
        return bridge_leader(trip)
    return shed_user_data(trip) if way is OnlineWay.RANGE_FIRST else rolling_upgrade(trip)


def _to_classic(trip: Trip) -> Path:
    if trip.case.offline:
        return stop_and_start(trip, _member_by_member(trip, "downgrade", DOWNGRADES))
    if not trip.speaking(MemberProtocol.CONSUMER):
        return stop_and_start(trip, _NOBODY_LEFT)
    return rolling_downgrade(trip)


_TASK_BY_TASK = Alternative(
    title="One member at a time, while the group keeps consuming",
    why_not="The members are the tasks of one connector. They share its configuration, and Connect restarts all of "
    "them when it changes.",
)


_NOBODY_LEFT = Alternative(
    title="One member at a time, while the group keeps consuming",
    why_not="The group turns classic when its last member of the consumer protocol leaves. That member has left "
    "already, when group.consumer.migration.policy did not allow it.",
)


def _libraries(trip: Trip) -> list[Library]:
    return [client.library for client in trip.case.clients.values() if client.library]


def _all_mix(trip: Trip) -> bool:
    """Whether every member can list an eager and a cooperative assignor at once."""
    return all(library.two_bounces for library in _libraries(trip))


def _listed_by_all(trip: Trip) -> tuple[str, ...]:
    """The assignors that every member is known to list, in the order of the first one's list."""
    first, *others = [member.protocols or () for member in trip.members]
    return tuple(name for name in first if all(name in other for other in others))


def _in_use(trip: Trip) -> str:
    """The assignor of a classic group with members: without knowing it a rule has blocked the plan."""
    return trip.old_assignor or "range"


def _with_commands(trip: Trip, number: int, step: Step) -> Step:
    """The step with its checks, which name it by its number, and with what its course says of its rounds."""
    return replace(
        step,
        manner=step.course.manner if step.course and step.rounds else step.manner,
        commands=(
            commands.gate(number, trip.connection),
            commands.describe_migration(trip.group, trip.connection),
        ),
        round_command=commands.gate_round(number, trip.connection) if len(step.rounds) > 1 else "",
    )


def _no_bounces(trip: Trip) -> Alternative:
    unable = sorted({library.name for library in _libraries(trip) if not library.two_bounces})
    return Alternative(
        title="Two bounces, as for Java clients",
        why_not=f"{' and '.join(unable)}: a list of eager and cooperative assignors is refused when the consumer is "
        "constructed, so no member can list the old and the new one together.",
    )


_TO_CONSUMER_INSTEAD = Alternative(
    title="Straight to the consumer protocol (--to consumer)",
    why_not="It needs no stop and is incremental too, if brokers and clients speak it (librdkafka from 2.12, better "
    "2.15). If that is the goal, go there directly: a librdkafka group on cooperative-sticky can be upgraded online "
    "only with a bridge leader, one on range or roundrobin member by member.",
)


def _online(title: str) -> Alternative:
    return Alternative(
        title=title,
        why_not="A plan that stops all members was requested (--offline). This path is possible too.",
    )


def _member_by_member(trip: Trip, direction: str, policies: tuple[str, ...]) -> Alternative:
    """The online way between the protocols, and what closes it, as far as that is known."""
    why = "A plan that stops all members was requested (--offline)."
    if trip.policy is not None and trip.policy not in policies:
        why = (
            f"The brokers' group.consumer.migration.policy is {trip.policy}, which allows no online {direction}: "
            "every broker must have it set to bidirectional first."
        )
    elif direction == "upgrade" and members_with_data(trip.case):
        why = (
            "The assignments carry user data, and the broker refuses to convert such a group while it has members "
            "(GROUP_ID_NOT_FOUND)."
        )
    return Alternative(title="One member at a time, while the group keeps consuming", why_not=why)
