"""Rules about the members' client library: whether it supports the target, and how to enable it."""

from collections.abc import Iterator

from groups.client_library import NOT_KNOWN, first_with
from groups.counts import counted
from groups.findings import Finding, Level
from groups.listing import shown_id
from groups.model import GroupType, MemberProtocol
from migration.clients import (
    LIBRARIES,
    LibrarySupport,
    MemberClient,
    Version,
    is_surely_older,
    is_surely_since,
    version_text,
)
from migration.frameworks import framework_named
from migration.model import Destination
from migration.rules.assignors import OnlinePath, online_path
from migration.rules.case import Case, members_by, named

NAME_THE_LIBRARY = (
    "Set it with --client LIBRARY[:VERSION], --client MEMBER=LIBRARY, --clients FILE or --client-config FILE. "
    f"Known libraries: {', '.join(LIBRARIES)}."
)
_REPLACED = (
    "does not speak the consumer protocol, in any version: its members must be replaced",
    "The first step needs sarama only and can be done today. Before the second step, prepare programs of another "
    "library (java, librdkafka or franz-go) that replace the members one by one.",
)


def about_unknown(groups: int) -> tuple[str, ...]:
    """What to do about all groups whose members run an unknown library, once."""
    return (
        (f"the client library of {counted(groups, 'group')} is unknown", NAME_THE_LIBRARY) if groups else ()
    )


def library_is_known(case: Case) -> Iterator[Finding]:
    unknown = members_by(case, lambda client: client.known_by if client.library is None else None)
    for why, members in unknown.items():
        subject = "this member" if len(members) == 1 else "these members"
        subject = "the members" if members == [None] else subject
        yield case.blocker(
            "client-library",
            members=members,
            message=f"The client library of {subject} is unknown{'' if why == NOT_KNOWN else f' ({why})'}.",
            remedy=NAME_THE_LIBRARY,
            source="PostHog/posthog pull 94498: the path of Java clients took librdkafka services down",
        )


def library_is_inferred(case: Case) -> Iterator[Finding]:
    def inferred(client: MemberClient) -> tuple[str, str] | None:
        return (client.library.name, client.known_by) if client.library and client.is_inferred else None

    for (library, known_by), members in members_by(case, inferred).items():
        yield case.info(
            "client-library",
            members=members,
            message=f"The plan is for {library}, which is {known_by}: {library} uses such an id by default. Other "
            "clients can have the same id.",
            remedy=f"Check it, and set it with its version: --client {library}:VERSION.",
            source="The default client ids in the libraries' source",
        )


def declared_library_matches_observed(case: Case) -> Iterator[Finding]:
    for (declared, shown, known_by), members in members_by(case, _contradiction).items():
        yield case.warning(
            "client-contradiction",
            members=members,
            message=f"The declared library is {declared}, but the group shows {shown} ({known_by}). The plan is for "
            f"{declared}.",
            remedy=f"Check it; for single members use --client MEMBER={shown}.",
            source="PostHog/posthog pull 94498: the path of Java clients took librdkafka services down",
        )


def _contradiction(client: MemberClient) -> tuple[str, str, str] | None:
    if client.library is None or client.shown is None or client.shown.name is None:
        return None
    return client.library.name, client.shown.name, client.shown.known_by


def library_supports_destination(case: Case) -> Iterator[Finding]:
    judged: dict[tuple[str, Level, str, str], list[str | None]] = {}
    for member, client in case.clients.items():
        if client.library is not None and not is_there(case, member):
            support = _support(client, case.destination)
            if support is not None and support[0] is Level.BLOCKER and _leaves_sarama(case):
                support = (Level.WARNING, *_REPLACED)
            if support is not None:
                judged.setdefault((client.library.name, *support), []).append(member)
    for (library, level, what, remedy), members in judged.items():
        texts = {"message": f"{library} {what}.", "remedy": remedy, "source": LIBRARIES[library].source}
        yield case.finding(level, "client-support", members=members, **texts)


def _leaves_sarama(case: Case) -> bool:
    to_consumer = case.destination is Destination.CONSUMER and not case.request.offline
    return to_consumer and len(case.clients) > 1 and online_path(case) is OnlinePath.RANGE_FIRST


def is_there(case: Case, member_id: str | None) -> bool:
    """Whether a member already speaks the protocol of the destination, so that its library supports it."""
    if case.destination is not Destination.CONSUMER or case.group.type is not GroupType.CONSUMER:
        return False
    spoken = {member.id: member.protocol for member in case.group.members}
    return member_id is not None and spoken.get(member_id) is MemberProtocol.CONSUMER


_FEATURES = {True: "cooperative rebalancing", False: "the consumer protocol"}


def _support(client: MemberClient, destination: Destination) -> tuple[Level, str, str] | None:
    library, version = client.library, client.version
    if library is None:
        return None
    if not library.assignors and (destination is not Destination.CONSUMER or library.consumer is None):
        what = "does not speak the classic protocol" if library.consumer else "does not join groups"
        remedy = "Set the library that the members run with --client, or move them to another library first."
        return Level.BLOCKER, f"{what}, in any version", remedy
    if destination in (Destination.EAGER, Destination.CLASSIC):
        return None
    to_cooperative = destination is Destination.COOPERATIVE
    needed = library.cooperative if to_cooperative else library.consumer
    advised = library.cooperative_wanted if to_cooperative else library.consumer_wanted
    if needed is None:
        first = {one.name: one.cooperative if to_cooperative else one.consumer for one in LIBRARIES.values()}
        others = [name for name, release in first.items() if release and name != "connect"]
        what = "has no cooperative assignor" if to_cooperative else "does not speak the consumer protocol"
        remedy = f"Keep the present protocol, or move the members to {' or '.join(others)} first."
        return Level.BLOCKER, f"{what}, in any version", remedy
    since = f"supports {_FEATURES[to_cooperative]} since {version_text(needed)}"
    if version is None or not (is_surely_older(version, needed) or is_surely_since(version, needed)):
        best = version_text(advised or needed)
        remedy = f"Check that it is {best} or later, and set it with --client {library.name}:VERSION."
        if to_cooperative and library.replaced_in_first_bounce:
            remedy += " An older client is replaced in the restart that brings its new list."
        return Level.WARNING, f"{since}; {_uncertain(client)}", remedy
    if to_cooperative and client.is_replaced_in_first_bounce:
        message = f"{since}, and this is {version_text(version)}: one restart brings a newer client and the new list"
        remedy = f"Have the members built with {version_text(needed)} or later before the first step."
        return Level.INFO, message, remedy
    if is_surely_older(version, needed):
        remedy = f"{_upgrade(library, client, advised or needed)} first, in a separate rolling restart."
        return Level.BLOCKER, f"{since}, and this is {version_text(version)}{_bundled_in(client)}", remedy
    if advised is not None and not is_surely_since(version, advised):
        fault = library.cooperative_fault if to_cooperative else library.consumer_fault
        remedy = f"{_upgrade(library, client, advised)} first."
        return Level.WARNING, f"{version_text(version)}{_bundled_in(client)} {fault}", remedy
    return None


def _uncertain(client: MemberClient) -> str:
    if client.version is not None:
        return f"{version_text(client.version)} may be older"
    if client.binding is not None and client.binding_version is not None:
        return f"the librdkafka version of {client.binding.name} {client.binding_version} is unknown"
    return "the version is unknown"


def _bundled_in(client: MemberClient) -> str:
    if client.binding is None or client.binding_version is None:
        return ""
    return f" (bundled in {client.binding.name} {client.binding_version})"


def _upgrade(library: LibrarySupport, client: MemberClient, version: Version) -> str:
    if client.binding is None or client.binding_version is None:
        return f"Upgrade {library.upgraded} to {version_text(version)} or later"
    release = first_with(client.binding, version)
    if release is None:
        known = f" (none is known up to {client.binding.last})" if client.binding.last else ""
        return f"Upgrade {client.binding.name} to a release with librdkafka {version_text(version)} or later{known}"
    later = f"librdkafka {version_text(version)} or later"
    return f"Upgrade {client.binding.name} to {release} or later ({later})"


def lost_partitions_are_committed(case: Case) -> Iterator[Finding]:
    members = [member for member, client in case.clients.items() if _is(client, "librdkafka")]
    if case.destination in (Destination.COOPERATIVE, Destination.EAGER) and members:
        yield case.info(
            "lost-partitions",
            members=members,
            message="librdkafka commits offsets of partitions that it has lost, if max.poll.interval.ms or the session "
            "expires while a rebalance waits for the next poll. No release fixes it.",
            remedy="Keep the time between polls well below max.poll.interval.ms during the restarts.",
            source="librdkafka pull 5604 (open, September 2026)",
        )


def librdkafka_leaves_permanently(case: Case) -> Iterator[Finding]:
    """Under the consumer protocol librdkafka leaves permanently where Java leaves temporarily (KIP-848, epoch -2)."""
    static = {member.id for member in case.group.members if member.instance}
    in_files = any(config.setting("group.instance.id") for config in case.request.configs)
    of_it = [member for member, client in case.clients.items() if _is(client, "librdkafka")]
    members = of_it if in_files else [member for member in of_it if member in static]
    if case.destination is Destination.CONSUMER and members:
        yield case.warning(
            "static-member",
            members=members,
            message="Under the consumer protocol librdkafka releases the partitions of a static member when it "
            "closes: every restart moves them to the other members and back. Under the classic protocol it keeps them.",
            remedy="Restart few members at a time, or keep the group on the classic protocol if it depends on static "
            "membership.",
            source="librdkafka 2.16.0 on Kafka 4.3.1, tried; librdkafka pull 4994 (open)",
        )


def library_mixes_assignors(case: Case) -> Iterator[Finding]:
    if case.destination not in (Destination.COOPERATIVE, Destination.EAGER) or not case.group.members:
        return
    for name, members in members_by(case, _library).items():
        library = LIBRARIES[name]
        if library.cooperative is not None and not library.two_bounces:
            yield case.warning(
                "two-bounces",
                members=members,
                message=f"{name} refuses a list that mixes eager and cooperative assignors.",
                remedy="The plan stops all members and starts them again. Or go directly to the consumer protocol.",
                source=library.source,
            )


def _library(client: MemberClient) -> str | None:
    return client.library.name if client.library else None


def library_has_the_assignor(case: Case) -> Iterator[Finding]:
    assignor = case.request.assignor
    for name, members in members_by(case, _library).items():
        known = LIBRARIES[name].assignors
        if assignor is not None and assignor not in known:
            yield case.blocker(
                "assignor-of-library",
                members=members,
                message=f"--assignor {assignor}: {name} has no such assignor.",
                remedy=f"Request one of {', '.join(known)}, or none." if known else "Request none.",
                source="librdkafka's CONFIGURATION.md; sarama, aiokafka and KafkaJS assignors",
            )


def members_share_a_library(case: Case) -> Iterator[Finding]:
    by_library = sorted(members_by(case, _library).items())
    if len(by_library) < 2:
        return
    who = "; ".join(f"{name}: {named(case, [m for m in members if m])}" for name, members in by_library)
    yield case.warning(
        "mixed-libraries",
        message=f"The members run different libraries ({who}).{_leader(case)}",
        remedy="Move all of them in one plan: the services of a group cannot move separately. Every step has lines "
        "for each library.",
        source="PostHog/posthog pull 94498; field study on 4.3.1: the leader's library writes all assignments",
    )


def _leader(case: Case) -> str:
    if case.group.type is not GroupType.CLASSIC:
        return ""
    leader = case.group.leader
    client = case.clients.get(leader) if leader is not None else None
    if leader is None or client is None or client.library is None:
        return " The leader's library computes the assignments of all members; it changes when the leader restarts."
    return (
        f" {named(case, [leader])} ({client.library.name}) leads, and its library computes the assignments of all "
        "members until it restarts."
    )


def callbacks_change(case: Case) -> Iterator[Finding]:
    libraries = sorted(case.libraries)
    if not libraries:
        return
    protocol = case.group.protocol
    if case.destination in (Destination.EAGER, Destination.CLASSIC):
        call = " (librdkafka: incremental_assign() becomes assign())" if "librdkafka" in libraries else ""
        sure = "become" if case.destination is Destination.EAGER else "become, on an eager assignor,"
        yield case.warning(
            "rebalance-listener",
            message=f"Rebalance callbacks {sure} eager again: all partitions are revoked, then the full set is "
            "assigned.",
            remedy=f"Review every rebalance listener before the first step{call}.",
            source="KIP-429, Compatibility and Upgrade Path",
        )
    elif protocol in ("range", "roundrobin", "sticky", "RoundRobinAssigner"):
        yield _incremental(case, libraries)


def frameworks_support_it(case: Case) -> Iterator[Finding]:
    for name in case.request.frameworks:
        reports = [report for report in framework_named(name).reports if case.destination in report.to]
        for report in reports:
            texts = {"message": report.message, "remedy": report.remedy, "source": report.source}
            yield case.finding(report.level, "rebalance-listener", **texts)
        if not reports:
            yield case.info(
                "rebalance-listener",
                message=f"{name}: no problems with a migration to {case.destination.value} are known.",
                remedy="Test it with members that join and leave before the first step.",
                source="migration/frameworks.py lists what is known",
            )


def franz_go_is_asked_in_code(case: Case) -> Iterator[Finding]:
    members = [m for m, client in case.clients.items() if _is(client, "franz-go") and not is_there(case, m)]
    if case.destination is Destination.CONSUMER and members:
        yield case.info(
            "client-opt-in",
            members=members,
            message="franz-go (since 1.19.0) enables the consumer protocol only by a context value in the code, not "
            "by a property, and the first balancer must be a sticky one or range. Otherwise it stays on the classic "
            "protocol without an error.",
            remedy="Change the code as shown in the steps. The check after each round shows which protocol the member "
            "speaks.",
            source="franz-go CHANGELOG of 1.19.0, should848() of consumer_group_848.go in 1.21.5; issue 889: its "
            "author does not trust the brokers' side yet",
        )


def _incremental(case: Case, libraries: list[str]) -> Finding:
    kind = f"{shown_id(case.group.id)} is on {case.group.protocol}, so the code must change"
    texts = {
        "librdkafka": f"librdkafka: {kind}: assign() in a callback must become incremental_assign(), unassign() "
        "incremental_unassign()",
        "connect": "Connect: SinkTask.open() and close() of the connector get only the added or revoked partitions",
        "": "onPartitionsRevoked no longer means that a rebalance has started, commitSync may throw "
        "RebalanceInProgressException, and onPartitionsLost is new",
    }
    kinds = {library if library in texts else "" for library in libraries}
    reviews = [text for library, text in texts.items() if library in kinds]
    guide = "confluent-kafka's KIP-848 migration guide; " if case.destination is Destination.CONSUMER else ""
    return case.warning(
        "rebalance-listener",
        message="Rebalance callbacks become incremental. They get the added or revoked partitions, not the full set, "
        "and not once per rebalance.",
        remedy=f"Review every rebalance listener before the first step. The changes: {'; '.join(reviews)}.",
        source=f"{guide}KIP-429, Compatibility and Upgrade Path",
    )


def rebalances_are_not_enforced(case: Case) -> Iterator[Finding]:
    java = [m for m, client in case.clients.items() if _is(client, "java") and not is_there(case, m)]
    if case.destination is Destination.CONSUMER and java:
        yield case.info(
            "enforce-rebalance",
            message="Calls of enforceRebalance() do nothing under the consumer protocol; the client only logs "
            "'Operation not supported in new consumer group protocol'.",
            remedy="Remove them from the application.",
            source="AsyncKafkaConsumer.enforceRebalance of kafka-clients 4.3.1",
        )


def _is(client: MemberClient, library: str) -> bool:
    return client.library is not None and client.library.name == library
