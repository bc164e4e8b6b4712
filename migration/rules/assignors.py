"""Rules about assignors, and the user data of librdkafka's cooperative-sticky and sarama's sticky (nineteen tried)."""

from collections.abc import Iterator
from enum import Enum

from assignors.rebalance import owners_in
from groups.counts import first_names
from groups.findings import Finding, Level
from groups.group_spec import current_of
from groups.model import GroupState, GroupType
from migration.model import Destination
from migration.rules.case import Case

MOST_SHARED = 5
KAFKAS_OWN = {"range": "range", "roundrobin": "uniform", "sticky": "uniform", "cooperative-sticky": "uniform"}
"""Client-side assignors, each with the closest assignor of the broker."""
ALSO_KNOWN = {"RoundRobinAssigner": "uniform"}  # KafkaJS's own round robin, which writes no user data


def assignor_is_known(case: Case) -> Iterator[Finding]:
    group = case.group
    leaves = case.destination is not Destination.CLASSIC and not case.request.offline
    if leaves and group.type is GroupType.CLASSIC and group.members and not group.protocol:
        yield case.blocker(
            "assignor-unknown",
            message=f"The assignor in use is not known: {group.id} is {group.state.value}, and the source does not "
            "show it.",
            remedy="Plan again when the group is Stable: the broker shows the assignor then.",
            source="DescribeGroups of a running 4.3.1",
        )


def lists_are_known(case: Case) -> Iterator[Finding]:
    """A group that uses cooperative-sticky may be between the two bounces, with members that are still eager."""
    group = case.group
    mixing = []
    for member in group.members:
        client = case.clients.get(member.id)
        # A member of an unknown library may list eager and cooperative assignors.
        may_mix = client is None or client.library is None or client.library.two_bounces
        mixing += [member.id] if member.protocols is None and may_mix else []
    if case.destination is Destination.COOPERATIVE and group.protocol == "cooperative-sticky" and mixing:
        yield case.info(
            "assignor-lists",
            members=mixing,
            message="A group does not show which other assignors its members list. A member that lists an eager one "
            "too, as after the first of two bounces, is still eager: it revokes all its partitions in each rebalance.",
            remedy="Check partition.assignment.strategy of each member (its log prints it at the start). If it lists "
            "more than cooperative-sticky, plan with --client-config FILE: the plan is then the second bounce.",
            source="KIP-429, Compatibility and Upgrade Path",
        )


def partitions_have_one_owner(case: Case) -> Iterator[Finding]:
    if not case.upgrades:
        return
    owners = owners_in({member.id: current_of(case.group, member) for member in case.group.members})
    shared = {partition: members for partition, members in owners.items() if len(members) > 1}
    if shared:
        named = [f"{topic}-{number}" for topic, number in sorted(shared)]
        whose = {member for members in shared.values() for member in members}
        online = ", and the broker answers the online upgrade with UNKNOWN_SERVER_ERROR"
        yield case.blocker(
            "shared-partitions",
            members=[member.id for member in case.group.members if member.id in whose],
            message=f"Partitions have several owners ({first_names(named, MOST_SHARED)}). Under the consumer protocol "
            f"a partition belongs to one member{online if case.converts_online else ''}.",
            remedy="Stay on the classic protocol, or give each reader its own group. If no assignor shares partitions "
            "on purpose, wait until the group is Stable and plan again.",
            source="KIP-848, Target Assignment; Kafka 4.3.1, tried",
        )


def assignor_is_kafkas_own(case: Case) -> Iterator[Finding]:
    group = case.group
    if group.type is not GroupType.CLASSIC or group.protocol_type not in (None, "consumer"):
        return
    listed = {name for config in case.request.configs for name in config.assignors or ()}
    custom = sorted({group.protocol or "", *listed} - {"", *KAFKAS_OWN, *ALSO_KNOWN})
    if custom:
        uses, names = "uses" if group.protocol in custom else "lists", ", ".join(custom)
        own = (
            ", or your own assignor on the brokers (group.consumer.assignors)" if case.converts_online else ""
        )
        yield case.warning(
            "custom-assignor",
            message=f"The group {uses} an assignor that is not Kafka's: {names}. The migration replaces it.",
            remedy=f"Find out what it is for before the first step; one of Kafka's assignors must replace it{own}.",
            source="apache/kafka pull 18046: user data of such an assignor also blocks the upgrade",
        )


def metadata_can_be_read(case: Case) -> Iterator[Finding]:
    members = [member for member in case.group.members if member.unreadable is not None]
    if case.converts_online and members:
        reasons = sorted({member.unreadable or "" for member in members})
        yield case.blocker(
            "malformed-metadata",
            members=[member.id for member in members],
            message=f"The embedded consumer protocol cannot be read ({'; '.join(reasons[:3])}): the broker would "
            "refuse the online upgrade with GROUP_ID_NOT_FOUND.",
            remedy=STOP_ALL,
            source="Kafka 4.3.1: 'because the embedded consumer protocol is malformed'",
        )


def offered_assignors(case: Case) -> tuple[str, ...] | None:
    """The brokers' assignors by their names, the default first; None if unknown. Brokers may list their own classes."""
    listed = case.setting_list("group.consumer.assignors")
    package = "org.apache.kafka.coordinator.group.assignor."
    names = {f"{package}UniformAssignor": "uniform", f"{package}RangeAssignor": "range"}
    return None if listed is None else tuple(names.get(name, name) for name in listed)


def assignor_has_a_successor(case: Case) -> Iterator[Finding]:
    successor = (KAFKAS_OWN | ALSO_KNOWN).get(case.group.protocol or "")
    if not case.upgrades or not successor:
        return
    offered = offered_assignors(case)
    names = offered or ()
    if offered is not None and successor not in offered:
        yield case.warning(
            "assignor-successor",
            message=f"The brokers do not offer {successor}, the assignor closest to {case.group.protocol}, only "
            f"{', '.join(names)}.",
            remedy="Add it to group.consumer.assignors of the brokers, or check another one with kohort dry-run. A "
            "member that requests an assignor that the brokers do not offer gets UNSUPPORTED_ASSIGNOR.",
            source="KIP-848, Assignment Process; GroupCoordinatorConfig",
        )
        return
    first = f" ({names[0]})" if names else ""
    yield case.info(
        "assignor-successor",
        message=f"The broker-side assignor closest to {case.group.protocol} is {successor}.",
        remedy=f"Set group.remote.assignor={successor}; otherwise the broker uses its first one{first}.",
        source="KIP-848, Assignment Process",
    )


COOPERATIVE_STICKY = "cooperative-sticky"
STICKY = "sticky"
STOP_ALL = "Plan to stop all members first (--offline): an Empty group converts without conditions."
_FIELD_STUDY = "Field trial on 4.3.1: librdkafka's cooperative-sticky and sarama's sticky leaders write it"


class OnlinePath(Enum):
    """The online paths to the consumer protocol for a group whose assignments carry user data."""

    BRIDGE_LEADER = "bridge leader"
    """A temporary member of another library leads, and its assignments carry no user data."""
    RANGE_FIRST = "one rolling restart with [range, sticky]"
    """For sarama: the group changes to range when the last member has the list."""


def members_with_data(case: Case) -> tuple[str, ...]:
    return tuple(_sizes(case))


def _sizes(case: Case) -> dict[str, int]:
    data = {member.id: member.user_data for member in case.group.members}
    return {member: len(one.assignment) for member, one in data.items() if one and one.assignment}


def data_will_come(case: Case) -> bool:
    """Whether the next rebalance may bring user data that is absent now, as librdkafka or sarama rejoins."""
    group = case.group
    if group.type is not GroupType.CLASSIC or not group.members or members_with_data(case):
        return False
    if group.protocol == STICKY:
        unseen = any(member.user_data is None for member in group.members)
        return unseen and case.libraries == {"sarama"}
    return group.protocol == COOPERATIVE_STICKY and "librdkafka" in case.libraries


def online_path(case: Case) -> OnlinePath | None:
    """The path around user data, present or expected; None if there is none, or no broker has to convert it."""
    group, libraries = case.group, case.libraries
    if group.type is not GroupType.CLASSIC or group.state is GroupState.EMPTY or not group.members:
        return None
    if not members_with_data(case) and not data_will_come(case):
        return None
    if group.protocol == COOPERATIVE_STICKY and "librdkafka" in libraries:
        return OnlinePath.BRIDGE_LEADER
    if group.protocol == STICKY and libraries == {"sarama"}:
        return OnlinePath.RANGE_FIRST
    return None


def no_user_data_in_assignments(case: Case) -> Iterator[Finding]:
    members = members_with_data(case) if case.converts_online else ()
    if not members:
        return
    sizes = sorted(set(_sizes(case).values()))
    size = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    whose = "Its assignment carries" if len(members) == 1 else "The assignments carry"
    way = online_path(case)
    yield case.finding(
        Level.BLOCKER if way is None else Level.WARNING,
        "assignment-user-data",
        members=members,
        message=f"{whose} {size} bytes of user data: the broker would refuse the online upgrade with "
        "GROUP_ID_NOT_FOUND.",
        remedy=_remedy(case, way),
        source=_FIELD_STUDY,
    )


def _remedy(case: Case, way: OnlinePath | None) -> str:
    if way is not None and len(case.clients) == 1:
        return (
            "It is the only member: stop it. While it is stopped the group is Empty and converts, whatever its "
            "assignment contained (with a static member: once its session has expired)."
        )
    first = {
        OnlinePath.BRIDGE_LEADER: "Use a bridge leader (`kohort bridge`): a temporary member becomes the leader, and "
        "its assignments carry no user data.",
        OnlinePath.RANGE_FIRST: "Do one rolling restart with [range, sticky], range first: the group changes to range, "
        "without user data.",
    }
    return (
        STOP_ALL
        if way is None
        else f"{first[way]} Or stop all members and start them on the consumer protocol."
    )


def user_data_may_appear(case: Case) -> Iterator[Finding]:
    if case.converts_online and data_will_come(case):
        known = all(member.user_data is not None for member in case.group.members)
        library = "librdkafka" if case.group.protocol == "cooperative-sticky" else "sarama"
        if known:
            data = (
                "no assignment carries user data yet, but the next rebalance with a librdkafka leader adds it"
            )
            live = ""
        else:
            data = f"it is unknown whether their assignments carry user data, and a {library} leader adds it"
            live = "Plan against the live cluster, with a login that Kohort's own client supports. "
        yield case.warning(
            "user-data-to-come",
            message=f"{library} members on {case.group.protocol}: {data}, and the broker then refuses the online "
            "upgrade.",
            remedy=f"Do not trust a trial on a fresh group. {live}{_remedy(case, online_path(case))}",
            source=_FIELD_STUDY,
        )
