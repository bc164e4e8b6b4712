"""The choice of a path, by the client library, the user data in the assignments, and the brokers' policy."""

from dataclasses import replace

from groups.model import Group, GroupType, MemberProtocol
from migration import commands
from migration.clients import LibrarySupport
from migration.model import Alternative, Destination, Step
from migration.paths.bridge_leader import START as BRIDGE_STARTS
from migration.paths.bridge_leader import bridge_leader, stop_leftover_bridge
from migration.paths.path import EAGER, Path, PathContext
from migration.paths.rolling import remove_user_data, rolling_downgrade, rolling_upgrade
from migration.paths.stop_and_start import start, stop_and_start
from migration.paths.streams import by_upgrade_from
from migration.paths.two_bounces import one_bounce, to_cooperative, to_eager
from migration.rules.assignors import ALSO_KNOWN, OnlinePath, members_with_data, online_path
from migration.rules.case import Case
from migration.rules.streams import has_arrived as streams_has_arrived
from migration.rules.streams import is_streams

COOPERATIVE = "cooperative-sticky"
UPGRADES = ("bidirectional", "upgrade")
DOWNGRADES = ("bidirectional", "downgrade")


def choose_path(context: PathContext) -> Path:
    """The path for a case that no rule blocks; without steps if the group is already at its destination."""
    if has_arrived(context.case):
        return Path(name="nothing to do")
    choose = {
        Destination.COOPERATIVE: _to_cooperative,
        Destination.EAGER: _to_eager,
        Destination.CONSUMER: _to_consumer,
        Destination.CLASSIC: _to_classic,
    }
    if is_streams(context.case):
        path = by_upgrade_from(context)
    elif context.is_empty:
        path = start(context)
    elif context.connector is not None:
        path = stop_and_start(context, _TASK_BY_TASK)
    else:
        path = choose[context.case.destination](context)
    if context.has_bridge and not any(step.id == BRIDGE_STARTS for step in path.steps):
        others = tuple(step for step in path.steps if step.rounds or context.is_empty)
        path = replace(path, steps=(stop_leftover_bridge(context), *others))
    steps = tuple(_with_commands(context, number, step) for number, step in enumerate(path.steps, 1))
    return replace(path, steps=steps)


def has_arrived(case: Case) -> bool:
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
    """Whether a path may name the leader, as the path with a bridge leader does."""
    return (
        destination is Destination.CONSUMER
        and group.type is GroupType.CLASSIC
        and group.protocol == COOPERATIVE
        and len(group.members) > 1
    )


def _to_cooperative(context: PathContext) -> Path:
    if not _all_mix(context):
        return stop_and_start(context, _no_bounces(context), _TO_CONSUMER_INSTEAD)
    if context.case.request.offline:
        return stop_and_start(context, _online("Two bounces"))
    first, *others = [member.protocols or () for member in context.members]
    listed = [name for name in first if all(name in other for other in others)]
    used = context.old_assignor or "range"  # It is known, as otherwise a rule has blocked the plan
    if COOPERATIVE in listed:
        return one_bounce(context, next((name for name in listed if name != COOPERATIVE), used))
    return to_cooperative(context, used)


def _to_eager(context: PathContext) -> Path:
    title = "Two bounces in reverse"
    if not _all_mix(context):
        return stop_and_start(context, _no_bounces(context))
    if "franz-go" in context.libraries:
        why = (
            "franz-go does not support it: it logs `downgrading from cooperative group to eager group, this is not "
            "supported per KIP-429!`; versions before its pull 1367 have a race."
        )
        return stop_and_start(context, Alternative(title=title, why_not=why))
    return stop_and_start(context, _online(title)) if context.case.request.offline else to_eager(context)


def _to_consumer(context: PathContext) -> Path:
    if context.case.request.offline:
        return stop_and_start(context, _member_by_member(context, "upgrade", UPGRADES))
    if context.case.group.type is GroupType.CONSUMER:
        return rolling_upgrade(context)
    way = online_path(context.case)
    if context.size == 1:
        # While its only member is away, the group is Empty, and a broker converts it even with user data. A static
        # member is away only after its session has expired.
        waits = context.has_static and members_with_data(context.case)
        instead = _member_by_member(context, "upgrade", UPGRADES)
        return stop_and_start(context, instead) if waits else rolling_upgrade(context)
    if way is OnlinePath.BRIDGE_LEADER:
        return bridge_leader(context)
    return remove_user_data(context) if way is OnlinePath.RANGE_FIRST else rolling_upgrade(context)


def _to_classic(context: PathContext) -> Path:
    if context.case.request.offline:
        return stop_and_start(context, _member_by_member(context, "downgrade", DOWNGRADES))
    if not context.speaking(MemberProtocol.CONSUMER):
        return stop_and_start(context, _LAST_MEMBER_LEFT)
    return rolling_downgrade(context)


_TASK_BY_TASK = Alternative(
    title="One member at a time, while the group keeps consuming",
    why_not="The members are the tasks of one connector. They share its configuration, and Connect restarts all of "
    "them when it changes.",
)


_LAST_MEMBER_LEFT = Alternative(
    title="One member at a time, while the group keeps consuming",
    why_not="The group turns classic when its last member of the consumer protocol leaves. That member has left "
    "already, when group.consumer.migration.policy did not allow it.",
)


def _libraries(context: PathContext) -> list[LibrarySupport]:
    return [client.library for client in context.case.clients.values() if client.library]


def _all_mix(context: PathContext) -> bool:
    """Whether every member can list an eager and a cooperative assignor at once."""
    return all(library.two_bounces for library in _libraries(context))


def _with_commands(context: PathContext, number: int, step: Step) -> Step:
    """The step with its check commands, which contain its number, and with the action of its rounds."""
    connection = context.case.request.connection
    action = step.rollout.action if step.rollout and step.rounds else step.round_action
    of_step = (commands.gate(number, connection), commands.describe_migration(context.group, connection))
    of_round = commands.gate_round(number, connection) if len(step.rounds) > 1 else ""
    return replace(step, round_action=action, commands=of_step, round_command=of_round)


def _no_bounces(context: PathContext) -> Alternative:
    unable = sorted({library.name for library in _libraries(context) if not library.two_bounces})
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
    why_not = "A plan that stops all members was requested (--offline). This path is possible too."
    return Alternative(title=title, why_not=why_not)


def _member_by_member(context: PathContext, direction: str, policies: tuple[str, ...]) -> Alternative:
    """The online path between the protocols, and its known obstacle."""
    why = "A plan that stops all members was requested (--offline)."
    if context.policy is not None and context.policy not in policies:
        why = (
            f"The brokers' group.consumer.migration.policy is {context.policy}, which allows no online {direction}: "
            "every broker must have it set to bidirectional first."
        )
    elif direction == "upgrade" and members_with_data(context.case):
        why = (
            "The assignments carry user data, and the broker refuses to convert such a group while it has members "
            "(GROUP_ID_NOT_FOUND)."
        )
    return Alternative(title="One member at a time, while the group keeps consuming", why_not=why)
