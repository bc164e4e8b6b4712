"""Rules about the group's type, state and members: whether it can be migrated at all, and now."""

from collections.abc import Iterator

from groups.counts import first_names
from groups.findings import Finding
from groups.listing import shown_id
from groups.model import GroupState, GroupType
from groups.times import duration_text
from groups.transactions import pending_remedy, pending_text
from migration.client_config import SESSION_TIMEOUT
from migration.model import Destination
from migration.rules.case import Case
from migration.rules.client_configs import timeout_now


def type_fits_destination(case: Case) -> Iterator[Finding]:
    group = case.group
    kind = f"{shown_id(group.id)} is a {group.type.value} group"
    is_of_assignors = case.destination in (Destination.COOPERATIVE, Destination.EAGER)
    if group.type in (GroupType.SHARE, GroupType.STREAMS, GroupType.UNKNOWN):
        yield case.blocker(
            "group-type",
            message=f"{kind}; it has no consumer group protocol to migrate.",
            remedy=_OTHER_WAYS.get(group.type, "Nothing to do with this tool."),
            source=_KIP_848,
        )
    elif group.type is GroupType.CONSUMER and is_of_assignors:
        yield case.blocker(
            "group-type",
            message=f"{shown_id(group.id)} is on the consumer protocol already; it rebalances incrementally by itself.",
            remedy="Nothing to do. To leave the consumer protocol: --to classic, then plan again from there.",
            source="KIP-848, Rebalance Process",
        )


_KIP_848 = "KIP-848, Compatibility, Deprecation, and Migration Plan"
_OTHER_WAYS = {
    GroupType.SHARE: "Nothing to do: a share group (KIP-932) has one protocol only.",
    GroupType.STREAMS: "Nothing to do: a streams group (KIP-1071) is on the newest protocol.",
}


def protocol_type_is_consumer(case: Case) -> Iterator[Finding]:
    kind = case.group.protocol_type
    if kind in (None, "consumer") or case.group.type is not GroupType.CLASSIC:
        return
    if not kind:
        yield case.info(
            "protocol-type",
            message=f"{shown_id(case.group.id)} has committed offsets only: no member has joined it. The first "
            "member decides the protocol, and continues at the committed offsets.",
            remedy="Flink's KafkaSource and other consumers that assign partitions to themselves commit like this, and "
            "have nothing to migrate; so do kohort offsets reset, import and clone, whose members are yet to come.",
            source="Kafka 4.3.1, tried: the group becomes one of type consumer when a member of that protocol joins",
        )
        return
    path = {
        "connect": "Connect workers have their own protocols: connect.protocol=sessioned (the default) rebalances "
        "incrementally. To leave eager, set it in one rolling restart of the workers (KIP-415)."
    }.get(kind, "See its own documentation.")
    yield case.blocker(
        "protocol-type",
        message=f"{shown_id(case.group.id)} is not a consumer group: its protocol type is {kind!r}.",
        remedy=path,
        source="Kafka 4.3: an upgrade needs the embedded consumer protocol",
    )


def group_is_alive(case: Case) -> Iterator[Finding]:
    if case.group.state is GroupState.DEAD:
        yield case.blocker(
            "group-state",
            message=f"{shown_id(case.group.id)} is dead.",
            remedy="There is nothing to migrate.",
            source="DescribeGroups of a running 4.3.1",
        )


def group_is_stable(case: Case) -> Iterator[Finding]:
    """A step that starts during a rebalance is judged by a temporary state."""
    state = case.group.state
    if state not in (GroupState.STABLE, GroupState.EMPTY):
        yield case.warning(
            "group-state",
            message=f"{shown_id(case.group.id)} is {state.value}, not Stable.",
            remedy="Wait until it is Stable before the first step.",
            source="Field trial on 4.3.1: only Stable is a safe sign",
        )


def offsets_are_not_pending(case: Case) -> Iterator[Finding]:
    pending = case.group.pending
    if pending is not None and pending.partitions:
        yield case.warning(
            "pending-offsets",
            message=pending_text(pending),
            remedy=pending_remedy(pending),
            source="KIP-447, UNSTABLE_OFFSET_COMMIT",
        )


def static_members_stop_first(case: Case) -> Iterator[Finding]:
    if case.destination not in (Destination.CONSUMER, Destination.CLASSIC):
        return
    static = [member for member in case.group.members if member.instance]
    instances = sorted(_in_files(case, "group.instance.id"))
    if not static and not instances:
        return
    if static:
        single = f"It is static (instance id {static[0].instance!r})."
        whose = single if len(static) == 1 else "Static members keep their instance ids."
    else:
        whose = f"The members' configuration makes them static ({', '.join(instances[:5])})."
    killed = "; a member killed on 4.3.1, java and librdkafka"
    yield case.warning(
        "static-member",
        members=[member.id for member in static],
        message=whose,
        remedy="Stop each before its successor with the same instance id starts; otherwise the two fence each other "
        f"(UNRELEASED_INSTANCE_ID, FENCED_INSTANCE_ID), or both consume.{_crash_note(case)}",
        source="Field trial on 4.3.1: start before stop ended in fencing in 16 of 16 runs; PostHog/posthog pull 65809"
        f"{killed if case.destination is Destination.CONSUMER else ''}",
    )


def _in_files(case: Case, key: str) -> set[str]:
    return {entry.value for config in case.request.configs if (entry := config.setting(key)) is not None}


def _crash_note(case: Case) -> str:
    if case.destination is not Destination.CONSUMER:
        return ""
    session = timeout_now(case, SESSION_TIMEOUT)
    how_long = duration_text(int(session)) if session.isdigit() else session
    return (
        " Under the consumer protocol the same holds after a crash: a killed member keeps its instance id until its "
        f"session expires ({how_long}). Until then its successor fails with UNRELEASED_INSTANCE_ID, where the classic "
        "protocol lets it join at once: expect CrashLoopBackOff of its pod until then, restart members that fail, and "
        "give members time to close cleanly."
    )


def racks_are_lost(case: Case) -> Iterator[Finding]:
    if case.destination is not Destination.CONSUMER:
        return
    of_members = {member.rack for member in case.group.members if member.rack}
    racks = sorted(of_members | _in_files(case, "client.rack"))
    if racks:
        yield case.warning(
            "rack-awareness",
            message=f"The members have racks ({first_names(racks, 5)}); the broker's assignors do not use them.",
            remedy="Expect more traffic between racks, or stay on a rack-aware client-side assignor. Fetching from "
            "the nearest replica is not affected. Do not copy the rack-aware broker-side assignor from Kafka's tests: "
            "it is not made for production.",
            source="apache/kafka pulls 19856 and 20000",
        )


def group_has_members(case: Case) -> Iterator[Finding]:
    if case.group.state is GroupState.EMPTY and not case.group.members:
        yield case.info(
            "no-members",
            message="The group is Empty: the assignors, instance ids and racks of its members cannot be checked.",
            remedy="Check their configuration with --client-config FILE.",
            source="An Empty group has no metadata of members",
        )


def members_subscribe_alike(case: Case) -> Iterator[Finding]:
    """Members with different topics often belong to different services, which are deployed separately."""
    sets: dict[frozenset[str], list[str]] = {}
    for member in case.group.members:
        if member.subscription is not None and not member.subscription.regex:
            sets.setdefault(frozenset(member.subscription.topics), []).append(member.id)
    if len(sets) > 1:
        few = min(sets.values(), key=len)
        yield case.info(
            "shared-group",
            members=few,
            message=f"The members subscribe to {len(sets)} different sets of topics: they may belong to several "
            "services.",
            remedy="Involve the owners of every service: no service of a group can move alone.",
            source="PostHog/posthog pull 94498",
        )
