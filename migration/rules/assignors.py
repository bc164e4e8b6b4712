"""What the assignors in use mean for the way."""

from __future__ import annotations

from collections.abc import Iterator

from groups.model import GroupState, GroupType
from migration.clients import MemberClient
from migration.model import Destination, Finding, Level
from migration.rules.about import about_members
from migration.rules.broker import setting_list
from migration.rules.case import Case
from migration.user_data import OnlineWay, data_will_come, members_with_data, online_way

KAFKAS_OWN = {
    "range": "range",
    "roundrobin": "uniform",
    "sticky": "uniform",
    "cooperative-sticky": "uniform",
}
"""Client-side assignors, and the broker's that comes nearest."""
ALSO_KNOWN = {"RoundRobinAssigner": "uniform"}
"""KafkaJS's own round robin, which writes no user data."""
_OFFLINE = "Plan to stop all members first (--offline): an Empty group converts as it is."
_FIELD_STUDY = "Field trial on 4.3.1: librdkafka's cooperative-sticky and sarama's sticky leaders write it"


def assignor_is_known(case: Case) -> Iterator[Finding]:
    """Which lines to change, and whether user data is to be expected, depends on the assignor in use."""
    group = case.group
    leaves = case.destination is not Destination.CLASSIC and not case.offline
    if leaves and group.type is GroupType.CLASSIC and group.members and not group.protocol:
        yield Finding(
            rule="assignor-unknown",
            level=Level.BLOCKER,
            message=f"The assignor in use is not known: {group.id} is {group.state.value}, and the source names none.",
            remedy="A broker names it when the group is Stable: plan again then.",
            source="DescribeGroups of a running 4.3.1",
        )


def lists_are_known(case: Case) -> Iterator[Finding]:
    """A group that uses cooperative-sticky may stand between the two bounces: its members are eager still."""
    group = case.group
    mixing = [
        member.id
        for member in group.members
        if member.protocols is None and _may_mix(case.clients.get(member.id))
    ]
    if case.destination is Destination.COOPERATIVE and group.protocol == "cooperative-sticky" and mixing:
        yield about_members(
            case,
            mixing,
            rule="assignor-lists",
            level=Level.INFO,
            message="A group does not show which other assignors its members list. One that lists an eager one too, "
            "as after the first of two bounces, is eager still: it gives up everything in each rebalance.",
            remedy="Look at partition.assignment.strategy of each member (its log prints it at the start). Where it "
            "lists more than cooperative-sticky, give it with --client-config FILE: the plan is the second bounce.",
            source="KIP-429, Compatibility and Upgrade Path",
        )


def _may_mix(client: MemberClient | None) -> bool:
    """Whether a member may list eager and cooperative assignors; of an unknown library it may be."""
    return client is None or client.library is None or client.library.two_bounces


def assignor_is_kafkas_own(case: Case) -> Iterator[Finding]:
    """A custom assignor's name does not stop a migration, but its work is lost on the way."""
    group = case.group
    if group.type is not GroupType.CLASSIC or group.protocol_type not in (None, "consumer"):
        return
    listed = {name for config in case.configs for name in config.assignors or ()}
    custom = sorted(name for name in {group.protocol or "", *listed} if name and not _is_known(name))
    if custom:
        is_used = group.protocol in custom
        yield Finding(
            rule="custom-assignor",
            level=Level.WARNING,
            message=f"The group {'uses' if is_used else 'lists'} an assignor that is not Kafka's: "
            f"{', '.join(custom)}. Its work is lost.",
            remedy="Find out what it is for before the first step; one of Kafka's own must do in its place"
            + (
                ", or one of your own on the brokers (group.consumer.assignors)."
                if _to_consumer(case)
                else "."
            ),
            source="apache/kafka pull 18046: what such an assignor keeps in the assignment also stops the upgrade",
        )


def _is_known(name: str) -> bool:
    return name in KAFKAS_OWN or name in ALSO_KNOWN


def _to_consumer(case: Case) -> bool:
    """Whether a broker would have to convert a classic group with members."""
    group = case.group
    return (
        case.destination is Destination.CONSUMER
        and group.type is GroupType.CLASSIC
        and group.state is not GroupState.EMPTY
        and not case.offline
    )


def no_user_data_in_assignments(case: Case) -> Iterator[Finding]:
    """The broker refuses to convert a group whose assignments carry user data."""
    members = members_with_data(case) if _to_consumer(case) else ()
    if not members:
        return
    sizes = sorted({_size(case, member) for member in members})
    size = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    whose = "Its assignment carries" if len(members) == 1 else "The assignments carry"
    way = online_way(case)
    yield about_members(
        case,
        members,
        rule="assignment-user-data",
        level=Level.BLOCKER if way is None else Level.WARNING,
        message=f"{whose} {size} bytes of user data: the broker would refuse the online upgrade with "
        "GROUP_ID_NOT_FOUND.",
        remedy=_past(case, way),
        source=_FIELD_STUDY,
    )


def _size(case: Case, member: str) -> int:
    return next(
        len(each.user_data.assignment) for each in case.group.members if each.id == member and each.user_data
    )


def _past(case: Case, way: OnlineWay | None) -> str:
    if way is not None and len(case.clients) == 1:
        return (
            "It is the only member: stop it, and while it is away the group is Empty and converts whatever its "
            "assignment held (of a static member: when its session has ended)."
        )
    match way:
        case OnlineWay.BRIDGE_LEADER:
            return (
                "A bridge leader: a temporary member of another library comes to lead, and its assignments carry "
                "none. Or stop all members and start them on the consumer protocol."
            )
        case OnlineWay.RANGE_FIRST:
            return (
                "One rolling restart with [range, sticky], range first: the group turns to range, without user data. "
                "Or stop all members and start them on the consumer protocol."
            )
        case None:
            return _OFFLINE


def user_data_may_come(case: Case) -> Iterator[Finding]:
    """A group of librdkafka on cooperative-sticky passes while no member has rejoined, and not a moment longer."""
    if _to_consumer(case) and data_will_come(case):
        known = all(member.user_data is not None for member in case.group.members)
        library = "librdkafka" if case.group.protocol == "cooperative-sticky" else "sarama"
        yield Finding(
            rule="user-data-to-come",
            level=Level.WARNING,
            message=f"{library} members on {case.group.protocol}: "
            + (
                "no assignment carries user data yet, but the next rebalance of a librdkafka leader puts it there"
                if known
                else "whether their assignments carry user data cannot be seen here, and a "
                f"{library} leader puts it there"
            )
            + ", and the broker then refuses the online upgrade.",
            remedy="Do not trust a trial on a fresh group. "
            + ("" if known else "Ask the live cluster with a login that the wire client can use. ")
            + _past(case, online_way(case)),
            source=_FIELD_STUDY,
        )


def metadata_can_be_read(case: Case) -> Iterator[Finding]:
    """The broker refuses to convert a group whose embedded protocol it cannot read."""
    members = [member for member in case.group.members if member.unreadable is not None]
    if _to_consumer(case) and members:
        reasons = sorted({member.unreadable or "" for member in members})
        yield about_members(
            case,
            [member.id for member in members],
            rule="malformed-metadata",
            level=Level.BLOCKER,
            message="The embedded consumer protocol cannot be read "
            f"({'; '.join(reasons[:3])}): the broker would refuse "
            "the online upgrade with GROUP_ID_NOT_FOUND.",
            remedy=_OFFLINE,
            source="Kafka 4.3.1: 'because the embedded consumer protocol is malformed'",
        )


def offered_assignors(case: Case) -> tuple[str, ...] | None:
    """The brokers' assignors by their names, the default first; None where they are not known."""
    listed = setting_list(case, "group.consumer.assignors")
    return None if listed is None else tuple(_short(name) for name in listed)


def assignor_has_a_successor(case: Case) -> Iterator[Finding]:
    """Which assignor of the broker takes over."""
    successor = (KAFKAS_OWN | ALSO_KNOWN).get(case.group.protocol or "")
    if (
        case.destination is not Destination.CONSUMER
        or case.group.type is not GroupType.CLASSIC
        or not successor
    ):
        return
    offered = offered_assignors(case)
    names = offered or ()
    if offered is not None and successor not in offered:
        yield Finding(
            rule="assignor-successor",
            level=Level.WARNING,
            message=f"The brokers do not offer {successor}, the nearest assignor to {case.group.protocol}, "
            f"only {', '.join(names)}.",
            remedy="Add it to group.consumer.assignors of the brokers, or see with a dry run what another one does. "
            "A member that asks for one that is not there gets UNSUPPORTED_ASSIGNOR.",
            source="KIP-848, Assignment Process; GroupCoordinatorConfig",
        )
        return
    first = f" ({names[0]})" if names else ""
    yield Finding(
        rule="assignor-successor",
        level=Level.INFO,
        message=f"The nearest broker-side assignor to {case.group.protocol} is {successor}.",
        remedy=f"Ask for it with group.remote.assignor={successor}; otherwise the broker takes its first one{first}.",
        source="KIP-848, Assignment Process",
    )


def _short(name: str) -> str:
    """The brokers' own assignors may be listed by their classes."""
    return {
        "org.apache.kafka.coordinator.group.assignor.UniformAssignor": "uniform",
        "org.apache.kafka.coordinator.group.assignor.RangeAssignor": "range",
    }.get(name, name)
