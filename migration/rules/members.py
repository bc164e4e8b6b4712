"""What single members bring along."""

from __future__ import annotations

from collections.abc import Iterator

from groups.model import GroupState
from migration.model import Destination, Finding, Level
from migration.rules.about import about_members
from migration.rules.case import Case


def static_members_stop_first(case: Case) -> Iterator[Finding]:
    """Two members with one instance id fence each other."""
    if case.destination not in (Destination.CONSUMER, Destination.CLASSIC):
        return
    static = [member for member in case.group.members if member.instance]
    told = sorted({each.value for config in case.configs if (each := config.setting("group.instance.id"))})
    if not static and not told:
        return
    if static:
        single = f"It is static (instance id {static[0].instance!r})."
        whose = single if len(static) == 1 else "Static members keep their instance ids."
    else:
        whose = f"The members' configuration makes them static ({', '.join(told[:5])})."
    yield about_members(
        case,
        [member.id for member in static],
        rule="static-member",
        level=Level.WARNING,
        message=whose,
        remedy="Stop each before its successor with the same instance id starts; otherwise the two fence each other "
        "(UNRELEASED_INSTANCE_ID, FENCED_INSTANCE_ID), or both consume.",
        source="Field trial on 4.3.1: start before stop ended in fencing in 16 of 16 runs; PostHog/posthog pull 65809",
    )


def racks_are_lost(case: Case) -> Iterator[Finding]:
    """The broker's assignors do not look at racks."""
    if case.destination is not Destination.CONSUMER:
        return
    in_files = {each.value for config in case.configs if (each := config.setting("client.rack")) is not None}
    racks = sorted({member.rack for member in case.group.members if member.rack} | in_files)
    if racks:
        shown = ", ".join(racks[:5]) + (f" and {len(racks) - 5} more" if len(racks) > 5 else "")
        yield Finding(
            rule="rack-awareness",
            level=Level.WARNING,
            message=f"Members name racks ({shown}); the broker's assignors do not use them.",
            remedy="Expect more traffic between racks, or stay on a rack-aware client-side assignor. Fetching from the "
            "nearest replica is not affected.",
            source="apache/kafka pull 20000",
        )


def group_has_members(case: Case) -> Iterator[Finding]:
    """Of members that are not there nothing can be checked."""
    if case.group.state is GroupState.EMPTY and not case.group.members:
        yield Finding(
            rule="no-members",
            level=Level.INFO,
            message="The group is Empty: which assignors, instance ids and racks its members bring cannot be checked.",
            remedy="Give their configuration with --client-config FILE to have it checked.",
            source="An Empty group has no metadata of members",
        )


def members_want_the_same(case: Case) -> Iterator[Finding]:
    """Members that want different topics are often of different services, which deploy on their own."""
    wanted: dict[frozenset[str], list[str]] = {}
    for member in case.group.members:
        if member.subscription is not None and not member.subscription.regex:
            wanted.setdefault(frozenset(member.subscription.topics), []).append(member.id)
    if len(wanted) > 1:
        few = min(wanted.values(), key=len)
        yield about_members(
            case,
            few,
            rule="shared-group",
            level=Level.INFO,
            message=f"The members want {len(wanted)} different sets of topics: they may be of several services.",
            remedy="Make sure that whoever runs each of them takes part: no service of a group can move alone.",
            source="PostHog/posthog pull 94498",
        )
