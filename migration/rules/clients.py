"""Can the members' library do it, and in which way?"""

from __future__ import annotations

from collections.abc import Iterator

from groups.model import GroupType
from migration.clients import (
    LIBRARIES,
    Library,
    MemberClient,
    Version,
    surely_before,
    surely_since,
    version_text,
)
from migration.model import Destination, Finding, Level
from migration.rules.case import Case, members_by, named
from migration.rules.user_data import OnlineWay, libraries_of, online_way

_REPLACED = (
    "does not speak the consumer protocol, in any version: its members cannot move, they are replaced",
    "The first step is sarama's own and can be taken today. Before the second one, have programs of another library "
    "ready (java, librdkafka or franz-go) that take the members' places one by one.",
)
"""Of a library that the plan leaves behind on the way."""


def library_is_known(case: Case) -> Iterator[Finding]:
    """Without the library there is no plan: what is right for one takes another down."""
    unknown = members_by(case, lambda client: client.known_by if client.library is None else None)
    for why, members in unknown.items():
        yield case.blocker(
            "client-library",
            members=members,
            message=f"Which client library {_who(members)} run? It cannot be told ({why}).",
            remedy=f"Say it: --client LIBRARY[:VERSION] or --client MEMBER=LIBRARY, of {', '.join(LIBRARIES)}; "
            "or --clients FILE, or --client-config FILE.",
            source="PostHog/posthog pull 94498: Java's way took librdkafka services down",
        )


def _who(members: list[str | None]) -> str:
    if members == [None]:
        return "will the members"
    return "does this member" if len(members) == 1 else "do these members"


def declared_library_matches_observed(case: Case) -> Iterator[Finding]:
    """A plan for another library than the members run is the very mistake that rules are for."""
    for (told, shown, known_by), members in members_by(case, _contradiction).items():
        yield case.warning(
            "client-contradiction",
            members=members,
            message=f"{told} was told, but it looks like {shown} ({known_by}). The plan is for {told}.",
            remedy=f"Make sure. For single members say --client MEMBER={shown}.",
            source="PostHog/posthog pull 94498: Java's way took librdkafka services down",
        )


def _contradiction(client: MemberClient) -> tuple[str, str, str] | None:
    """The library declared, the one observed and how; None where they do not contradict each other."""
    if client.library is None or client.shown is None or client.shown.name is None:
        return None
    return client.library.name, client.shown.name, client.shown.known_by


def library_supports_destination(case: Case) -> Iterator[Finding]:
    """Some libraries cannot at all, some only from a version on."""
    judged: dict[tuple[str, Level, str, str], list[str | None]] = {}
    for member, client in case.clients.items():
        if client.library is not None and not _is_there(case, member):
            said = _support(client.library, client.version, case.destination)
            if said is not None and said[0] is Level.BLOCKER and _leaves_sarama(case):
                said = (Level.WARNING, *_REPLACED)
            if said is not None:
                judged.setdefault((client.library.name, *said), []).append(member)
    for (library, level, message, remedy), members in judged.items():
        yield case.finding(
            level,
            "client-support",
            members=members,
            message=f"{library} {message}.",
            remedy=remedy,
            source=LIBRARIES[library].source,
        )


def _leaves_sarama(case: Case) -> bool:
    """Whether the plan is the one that replaces sarama's members on the way."""
    to_consumer = case.destination is Destination.CONSUMER and not case.offline
    return to_consumer and len(case.clients) > 1 and online_way(case) is OnlineWay.RANGE_FIRST


def _is_there(case: Case, member: str | None) -> bool:
    """Whether a member speaks the protocol of the destination already: its library can."""
    if case.destination is not Destination.CONSUMER or case.group.type is not GroupType.CONSUMER:
        return False
    return any(
        each.id == member and each.protocol is not None and each.protocol.value == "consumer"
        for each in case.group.members
    )


def _support(
    library: Library, version: Version | None, destination: Destination
) -> tuple[Level, str, str] | None:
    """Level, message and remedy; None when there is nothing to say."""
    if destination in (Destination.EAGER, Destination.CLASSIC):
        return None
    to_cooperative = destination is Destination.COOPERATIVE
    needed = library.cooperative if to_cooperative else library.consumer
    wanted = library.cooperative_wanted if to_cooperative else library.consumer_wanted
    if needed is None:
        other = [
            each.name
            for each in LIBRARIES.values()
            if (each.cooperative if to_cooperative else each.consumer)
        ]
        what = "has no cooperative assignor" if to_cooperative else "does not speak the consumer protocol"
        remedy = f"Stay where the group is, or move its members to {' or '.join(other)} first."
        return Level.BLOCKER, f"{what}, in any version", remedy
    since = f"can do {destination.value} since {version_text(needed)}"
    if version is None or not (surely_before(version, needed) or surely_since(version, needed)):
        best = version_text(wanted or needed)
        remedy = f"Check that it is {best} or later, and say it with --client {library.name}:VERSION."
        known = "the version is not known" if version is None else f"{version_text(version)} may be older"
        return Level.WARNING, f"{since}; {known}", remedy
    if surely_before(version, needed):
        remedy = f"Upgrade the client to {version_text(wanted or needed)} or later first, in a "
        "rolling restart of its own."
        return Level.BLOCKER, f"{since}, and this is {version_text(version)}", remedy
    if wanted is not None and not surely_since(version, wanted):
        fault = library.cooperative_fault if to_cooperative else library.consumer_fault
        remedy = f"Upgrade the client to {version_text(wanted)} or later first."
        return Level.WARNING, f"{version_text(version)} {fault}", remedy
    return None


def library_mixes_assignors(case: Case) -> Iterator[Finding]:
    """The two bounces need a list with an eager and a cooperative assignor; librdkafka refuses one."""
    if case.destination not in (Destination.COOPERATIVE, Destination.EAGER) or not case.group.members:
        return
    for name, members in members_by(case, _refuses_a_mix).items():
        yield case.warning(
            "two-bounces",
            members=members,
            message=f"{name} refuses a list that mixes eager and cooperative assignors.",
            remedy="The plan stops all members and starts them again; or go straight to the consumer protocol.",
            source=LIBRARIES[name].source,
        )


def _refuses_a_mix(client: MemberClient) -> str | None:
    """The library's name, where it has a cooperative assignor and takes no eager one beside it."""
    library = client.library
    if library is None or library.cooperative is None or library.two_bounces:
        return None
    return library.name


def library_has_the_assignor(case: Case) -> Iterator[Finding]:
    """No member can list an assignor that its library does not have."""
    if case.assignor is None:
        return
    wanted = case.assignor
    lacking = members_by(
        case, lambda it: it.library.name if it.library and wanted not in it.library.assignors else None
    )
    for name, members in lacking.items():
        yield case.blocker(
            "assignor-of-library",
            members=members,
            message=f"--assignor {case.assignor}: {name} has no such assignor.",
            remedy=f"{name} has {', '.join(LIBRARIES[name].assignors)}; ask for one of those, or for none.",
            source="librdkafka's CONFIGURATION.md; sarama, aiokafka and KafkaJS assignors",
        )


def members_share_a_library(case: Case) -> Iterator[Finding]:
    """A group of several libraries: the leader's computes for all of them, and nobody can move alone."""
    by_library = members_by(case, lambda client: client.library.name if client.library else None)
    if len(by_library) < 2:
        return
    who = "; ".join(
        f"{library}: {named(case, [m for m in members if m])}"
        for library, members in sorted(by_library.items())
    )
    yield case.warning(
        "mixed-libraries",
        message=f"The members run different libraries ({who}).{_leader(case)}",
        remedy="Move all of them in one plan: a group cannot be moved for some of its services alone. Each library "
        "has lines of its own in every step.",
        source="PostHog/posthog pull 94498; field study on 4.3.1: the leader's library writes all assignments",
    )


def _leader(case: Case) -> str:
    """Whose library decides, for a classic group."""
    if case.group.type is not GroupType.CLASSIC:
        return ""
    leader = case.group.leader
    client = case.clients.get(leader) if leader is not None else None
    if leader is None or client is None or client.library is None:
        return " The library of whoever leads computes the assignments of all; it changes when the leader restarts."
    return (
        f" {named(case, [leader])} ({client.library.name}) leads, and its library computes the assignments of all, "
        "until it restarts."
    )


def callbacks_change(case: Case) -> Iterator[Finding]:
    """Incremental callbacks carry what was added or taken, not the full set; and the other way round."""
    libraries = sorted(libraries_of(case))
    if not libraries:
        return
    protocol = case.group.protocol
    if case.destination in (Destination.EAGER, Destination.CLASSIC):
        yield from _full_sets(case, libraries)
    elif protocol in ("range", "roundrobin", "sticky", "RoundRobinAssigner"):
        yield _incremental(case, libraries)


def _incremental(case: Case, libraries: list[str]) -> Finding:
    to_consumer = case.destination is Destination.CONSUMER
    reviews = []
    if "librdkafka" in libraries:
        kind = f"{case.group.id} is on {case.group.protocol}, so this is a change of code"
        reviews.append(
            f"librdkafka: {kind}: assign() in a callback must become incremental_assign(), unassign() "
            "incremental_unassign()"
        )
    if set(libraries) - {"librdkafka"}:
        reviews.append(
            "onPartitionsRevoked no longer means that a rebalance has begun, commitSync may throw "
            "RebalanceInProgressException, and onPartitionsLost is new"
        )
    return case.warning(
        "rebalance-listener",
        message="Rebalance callbacks become incremental: partitions added or taken, not the full set; "
        "their number is not one per rebalance.",
        remedy=f"Review every rebalance listener before the first step ({'; '.join(reviews)}).",
        source="confluent-kafka's KIP-848 migration guide; KIP-429, Compatibility and Upgrade Path"
        if to_consumer
        else "KIP-429, Compatibility and Upgrade Path",
    )


def _full_sets(case: Case, libraries: list[str]) -> Iterator[Finding]:
    call = " (librdkafka: incremental_assign() becomes assign())" if "librdkafka" in libraries else ""
    sure = "become" if case.destination is Destination.EAGER else "become, on an eager assignor,"
    yield case.warning(
        "rebalance-listener",
        message=f"Rebalance callbacks {sure} eager again: everything is revoked, then the full set is assigned.",
        remedy=f"Review every rebalance listener before the first step{call}.",
        source="KIP-429, Compatibility and Upgrade Path",
    )


def rebalances_are_not_enforced(case: Case) -> Iterator[Finding]:
    """`enforceRebalance` does nothing under the consumer protocol."""
    java = [m for m, client in case.clients.items() if _is(client, "java") and not _is_there(case, m)]
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
