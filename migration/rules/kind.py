"""Is it a group that can be migrated at all, and is now a good moment?"""

from __future__ import annotations

from collections.abc import Iterator

from groups.model import GroupState, GroupType
from migration.model import Destination, Finding, Level
from migration.rules.case import Case


def type_fits_destination(case: Case) -> Iterator[Finding]:
    """Share and streams groups have no eager, cooperative or classic past."""
    group = case.group
    if group.type in (GroupType.SHARE, GroupType.STREAMS, GroupType.UNKNOWN):
        yield Finding(
            rule="group-type",
            level=Level.BLOCKER,
            message=f"{group.id} is a {group.type.value} group; it has no consumer group protocol to migrate.",
            remedy=_OTHER_WAYS.get(group.type, "Nothing to do with this tool."),
            source=_KIP_848,
        )
    elif group.type is GroupType.CONSUMER and case.destination in (
        Destination.COOPERATIVE,
        Destination.EAGER,
    ):
        yield Finding(
            rule="group-type",
            level=Level.BLOCKER,
            message=f"{group.id} is on the consumer protocol already; it rebalances incrementally by itself.",
            remedy="Nothing to do. To leave the consumer protocol: --to classic, then plan on from there.",
            source="KIP-848, Rebalance Process",
        )


_KIP_848 = "KIP-848, Compatibility, Deprecation, and Migration Plan"
_OTHER_WAYS = {
    GroupType.SHARE: "Nothing to do: a share group (KIP-932) has one protocol only.",
    GroupType.STREAMS: "Nothing to do: a streams group (KIP-1071) is on the newest protocol.",
}


def streams_has_its_own_way(case: Case) -> Iterator[Finding]:
    """Kafka Streams brings its own assignor, and its tasks with it."""
    group = case.group
    if group.type is GroupType.CLASSIC and group.protocol == STREAMS_ASSIGNOR:
        yield Finding(
            rule="streams",
            level=Level.BLOCKER,
            message=f"{group.id} is a Kafka Streams application (its assignor is "
            f"{STREAMS_ASSIGNOR!r}): its tasks move by "
            "rules of its own, and the broker refuses to convert it.",
            remedy="Never plug another assignor into Streams. From eager to cooperative: two "
            "rolling restarts, the first "
            "with upgrade.from set to the old version (2.3 or older), the second without. To the streams protocol: "
            "group.protocol=streams on brokers 4.2 or later, after stopping all instances (KIP-1071).",
            source="KIP-429, Compatibility and Upgrade Path; apache/kafka pull 18046",
        )


STREAMS_ASSIGNOR = "stream"
"""StreamsPartitionAssignor.name()."""


def protocol_type_is_consumer(case: Case) -> Iterator[Finding]:
    """Connect, schema registries and others use the group protocol for something else."""
    kind = case.group.protocol_type
    if kind in (None, "consumer") or case.group.type is not GroupType.CLASSIC:
        return
    path = {
        "connect": "Connect workers have their own: connect.protocol=sessioned (the default) rebalances incrementally; "
        "from eager, one rolling restart of the workers sets it (KIP-415).",
        "": "It only holds committed offsets; there is no member to migrate.",
    }.get(kind, "Its own documentation names the way.")
    yield Finding(
        rule="protocol-type",
        level=Level.BLOCKER,
        message=f"{case.group.id} is not a consumer group: its protocol type is {kind!r}.",
        remedy=path,
        source="Kafka 4.3: an upgrade needs the embedded consumer protocol",
    )


def group_is_alive(case: Case) -> Iterator[Finding]:
    """A dead group is one that does not exist any more."""
    if case.group.state is GroupState.DEAD:
        yield Finding(
            rule="group-state",
            level=Level.BLOCKER,
            message=f"{case.group.id} is dead.",
            remedy="There is nothing to migrate.",
            source="DescribeGroups of a running 4.3.1",
        )


def group_is_at_rest(case: Case) -> Iterator[Finding]:
    """A step that begins during a rebalance is judged by the wrong state."""
    state = case.group.state
    if state not in (GroupState.STABLE, GroupState.EMPTY):
        yield Finding(
            rule="group-state",
            level=Level.WARNING,
            message=f"{case.group.id} is {state.value}, not Stable.",
            remedy="Wait until it is Stable before the first step.",
            source="Field trial on 4.3.1: only Stable is a safe sign",
        )
