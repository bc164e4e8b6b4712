"""Rules about the assignors in use."""

from __future__ import annotations

from collections.abc import Iterator

from assignors.rebalance import owners_in
from groups.counts import first_names
from groups.findings import Finding
from groups.group_spec import current_of
from groups.model import GroupType
from migration.clients import MemberClient
from migration.model import Destination
from migration.rules.broker import setting_list
from migration.rules.case import Case
from migration.rules.user_data import STOP_ALL

MOST_SHARED = 5
"""The most partitions named in a message."""
KAFKAS_OWN = {"range": "range", "roundrobin": "uniform", "sticky": "uniform", "cooperative-sticky": "uniform"}
"""Client-side assignors, each with the closest assignor of the broker."""
ALSO_KNOWN = {"RoundRobinAssigner": "uniform"}
"""KafkaJS's own round robin, which writes no user data."""


def assignor_is_known(case: Case) -> Iterator[Finding]:
    """The lines to change and the expected user data depend on the assignor in use."""
    group = case.group
    leaves = case.destination is not Destination.CLASSIC and not case.offline
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
    mixing = [
        member.id
        for member in group.members
        if member.protocols is None and _may_mix(case.clients.get(member.id))
    ]
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


def _may_mix(client: MemberClient | None) -> bool:
    """Whether a member may list eager and cooperative assignors; True if its library is unknown."""
    return client is None or client.library is None or client.library.two_bounces


def partitions_have_one_owner(case: Case) -> Iterator[Finding]:
    """A group of the consumer protocol gives each partition to one member; a custom assignor may share them."""
    if not case.upgrades:
        return
    owners = owners_in({member.id: current_of(case.group, member) for member in case.group.members})
    shared = {place: members for place, members in owners.items() if len(members) > 1}
    if shared:
        named = [f"{topic}-{number}" for topic, number in sorted(shared)]
        whose = {member for members in shared.values() for member in members}
        yield case.blocker(
            "shared-partitions",
            members=[member.id for member in case.group.members if member.id in whose],
            message=f"Partitions have several owners ({first_names(named, MOST_SHARED)}). Under the consumer protocol "
            "a partition belongs to one member"
            + (
                ", and the broker answers the online upgrade with UNKNOWN_SERVER_ERROR."
                if case.converts_online
                else "."
            ),
            remedy="Stay on the classic protocol, or give each reader its own group. If no assignor shares partitions "
            "on purpose, wait until the group is Stable and plan again.",
            source="KIP-848, Target Assignment; Kafka 4.3.1, tried",
        )


def assignor_is_kafkas_own(case: Case) -> Iterator[Finding]:
    """A custom assignor's name does not block a migration, but the migration replaces the assignor."""
    group = case.group
    if group.type is not GroupType.CLASSIC or group.protocol_type not in (None, "consumer"):
        return
    listed = {name for config in case.configs for name in config.assignors or ()}
    custom = sorted(name for name in {group.protocol or "", *listed} if name and not _is_known(name))
    if custom:
        is_used = group.protocol in custom
        yield case.warning(
            "custom-assignor",
            message=f"The group {'uses' if is_used else 'lists'} an assignor that is not Kafka's: "
            f"{', '.join(custom)}. The migration replaces it.",
            remedy="Find out what it is for before the first step; one of Kafka's assignors must replace it"
            + (
                ", or your own assignor on the brokers (group.consumer.assignors)."
                if case.converts_online
                else "."
            ),
            source="apache/kafka pull 18046: user data of such an assignor also blocks the upgrade",
        )


def _is_known(name: str) -> bool:
    return name in KAFKAS_OWN or name in ALSO_KNOWN


def metadata_can_be_read(case: Case) -> Iterator[Finding]:
    """The broker refuses to convert a group whose embedded protocol it cannot read."""
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
    """The brokers' assignors by their names, the default first; None if unknown."""
    listed = setting_list(case, "group.consumer.assignors")
    return None if listed is None else tuple(_short(name) for name in listed)


def assignor_has_a_successor(case: Case) -> Iterator[Finding]:
    """An assignor of the broker replaces the client's."""
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


def _short(name: str) -> str:
    """The name of an assignor; brokers may list their own assignors by their classes."""
    return {
        "org.apache.kafka.coordinator.group.assignor.UniformAssignor": "uniform",
        "org.apache.kafka.coordinator.group.assignor.RangeAssignor": "range",
    }.get(name, name)
