"""Can the members' library do it, and in which way?"""

from __future__ import annotations

from collections.abc import Iterator

from migration.clients import LIBRARIES, Library, Version, version_text
from migration.model import Destination, Finding, Level
from migration.rules.case import Case


def library_is_known(case: Case) -> Iterator[Finding]:
    """Without the library there is no plan: what is right for one takes another down."""
    for member, client in case.clients.items():
        if client.library is None:
            yield Finding(
                rule="client-library",
                level=Level.BLOCKER,
                member=member,
                message=f"Which client library {_who(member)} run? It cannot be told ({client.known_by}).",
                remedy=f"Say it: --client LIBRARY[:VERSION] or --client MEMBER=LIBRARY, of {', '.join(LIBRARIES)}.",
                source="PostHog/posthog pull 94498: Java's way took librdkafka services down",
            )


def _who(member: str | None) -> str:
    return "will the members" if member is None else "does this member"


def library_supports_destination(case: Case) -> Iterator[Finding]:
    """Some libraries cannot at all, some only from a version on."""
    for member, client in case.clients.items():
        if client.library is None:
            continue
        judged = _support(client.library, client.version, case.destination)
        if judged is not None:
            level, message, remedy = judged
            yield Finding(
                rule="client-support",
                level=level,
                member=member,
                message=f"{client.library.name} {message}.",
                remedy=remedy,
                source=client.library.source,
            )


def _support(
    library: Library, version: Version | None, destination: Destination
) -> tuple[Level, str, str] | None:
    """Level, message and remedy; None when there is nothing to say."""
    needed = _needed(library, destination)
    if needed is None:
        return Level.BLOCKER, f"cannot do {destination.value}", "Another library, or stay where the group is."
    since = f"can do {destination.value} since {version_text(needed)}"
    if version is None:
        remedy = "Check it, and say it with --client LIBRARY:VERSION."
        return Level.WARNING, f"{since}; the version is not known", remedy
    if version < needed:
        remedy = (
            f"Upgrade the client to {version_text(needed)} or later first, in a rolling restart of its own."
        )
        return Level.BLOCKER, f"{since}, and this is {version_text(version)}", remedy
    wanted = library.consumer_wanted
    if destination is Destination.CONSUMER and wanted is not None and version < wanted:
        message = f"{version_text(version)} loops on GROUP_ID_NOT_FOUND, the answer to a refused upgrade"
        return Level.WARNING, message, f"Upgrade the client to {version_text(wanted)} or later first."
    return None


def _needed(library: Library, destination: Destination) -> tuple[int, ...] | None:
    return library.cooperative if destination is Destination.COOPERATIVE else library.consumer


def library_mixes_assignors(case: Case) -> Iterator[Finding]:
    """The two bounces need a list with an eager and a cooperative assignor; librdkafka refuses one."""
    if case.destination is not Destination.COOPERATIVE or not case.group.members:
        return
    for member, client in case.clients.items():
        library = client.library
        if library is not None and library.cooperative is not None and not library.two_bounces:
            yield Finding(
                rule="two-bounces",
                level=Level.WARNING,
                member=member,
                message=f"{library.name} refuses a list that mixes eager and cooperative assignors.",
                remedy="The plan stops all members and starts them again; or go straight to the consumer protocol.",
                source="librdkafka issues 4368 and 3589",
            )


def callbacks_change(case: Case) -> Iterator[Finding]:
    """Incremental callbacks carry what was added or taken, not the full set."""
    libraries = sorted({client.library.name for client in case.clients.values() if client.library})
    eager = case.group.protocol in ("range", "roundrobin", "sticky")
    if eager and libraries:
        call = (
            "incremental_assign() in place of assign()" if "librdkafka" in libraries else "onPartitionsLost"
        )
        yield Finding(
            rule="rebalance-listener",
            level=Level.WARNING,
            message="Rebalance callbacks become incremental: partitions added or taken, not the full set.",
            remedy=f"Review every rebalance listener before the first step ({call}).",
            source="KIP-429, Compatibility and Upgrade Path",
        )
