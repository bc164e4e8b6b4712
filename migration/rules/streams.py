"""Rules about Kafka Streams on the classic protocol, whose StreamsPartitionAssignor moves tasks by its own rules.

Releases before 2.4 are eager. From 2.4 to 3.9 an application is cooperative unless `upgrade.from` is 2.3 or lower
(KIP-429, Compatibility and Upgrade Path: Streams). From 4.0 on it is always cooperative, and refuses such an
`upgrade.from` (KAFKA-18839; kafka-streams 4.3.1, tried). The name of the assignor is the same everywhere, so a broker
does not show which it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assignors.registry import STREAMS
from groups.findings import Finding
from groups.listing import shown_id
from groups.model import GroupType
from migration.clients import Version, is_surely_older, is_surely_since
from migration.model import Destination
from migration.rules.case import Case

COOPERATIVE_SINCE: Version = (2, 4)
EAGER_UNTIL: Version = (4, 0)
"""The first release without eager rebalancing."""
_KIP = "KIP-429, Compatibility and Upgrade Path: Streams; KAFKA-18839 (apache/kafka pull 18988)"


def is_streams(case: Case) -> bool:
    """Whether the group is a Kafka Streams application on the classic protocol."""
    return case.group.type is GroupType.CLASSIC and case.group.protocol == STREAMS


def has_arrived(case: Case) -> bool:
    """Whether the application's release alone shows that it is at its destination."""
    versions = _versions(case)
    if case.destination is Destination.COOPERATIVE:
        return all(version is not None and is_surely_since(version, EAGER_UNTIL) for version in versions)
    return case.destination is Destination.EAGER and all(map(is_always_eager, versions))


def is_always_eager(version: Version | None) -> bool:
    """Whether a release is known to have no cooperative rebalancing."""
    return version is not None and is_surely_older(version, COOPERATIVE_SINCE)


def _versions(case: Case) -> set[Version | None]:
    return {client.version for client in case.clients.values()}


def streams_is_not_converted(case: Case) -> Iterator[Finding]:
    """Streams has its own protocol, and does not use the consumer protocol."""
    if is_streams(case) and case.destination is Destination.CONSUMER:
        yield case.blocker(
            "streams",
            message=f"{shown_id(case.group.id)} "
            f"is a Kafka Streams application (its assignor is {STREAMS!r}): it moves tasks by "
            f"its own rules, and the broker refuses to convert it.{_faulty(case)}",
            remedy="Never configure another assignor in Streams. To move to the streams protocol, stop all instances "
            "and set group.protocol=streams, on brokers 4.2.1 or later (KIP-1071).",
            source="KIP-1071; KAFKA-20254 (apache/kafka pulls 21638 and 21641); apache/kafka pull 18046",
        )


def _faulty(case: Case) -> str:
    """A note on the fault of brokers 4.2.0; the feature level shows 4.2 for every patch release."""
    match = re.match(r"4\.2(\.\d+)?(?!\d)", case.cluster.kafka or "")
    if match is None or match.group(1) not in (None, ".0"):
        return ""
    which = "The brokers are 4.2.0: their" if match.group(1) else "If the brokers are 4.2.0, their"
    return (
        f" {which} move from classic to streams groups has a critical fault (KAFKA-20254). Upgrade them to 4.2.1 "
        "first."
    )


def streams_support_the_change(case: Case) -> Iterator[Finding]:
    """The requested change needs certain releases, which a broker cannot show."""
    versions = _versions(case)
    newest = sorted(version for version in versions if version and is_surely_since(version, EAGER_UNTIL))
    if case.destination is Destination.EAGER and newest:
        yield case.blocker(
            "streams",
            message=f"{shown_id(case.group.id)} is a Kafka Streams application, and releases from 4.0 on have no eager "
            "rebalancing: they refuse to start with upgrade.from=2.3 or lower.",
            remedy="Stay cooperative. Only Kafka Streams 2.4 to 3.9 can go back to eager.",
            source=_KIP,
        )
        return
    if newest and any(map(is_always_eager, versions)):
        yield case.blocker(
            "streams",
            message="Some instances run Kafka Streams before 2.4, others 4.0 or later: they cannot work together.",
            remedy="Move all instances to a release from 3.5 to 3.9 first; from there, 4.0 is one rolling restart.",
            source=_KIP,
        )
    if None in versions:
        yield case.warning(
            "streams",
            message=f"{shown_id(case.group.id)} "
            "is a Kafka Streams application, and its release is unknown: before 2.4 it is "
            "eager, from 4.0 on it is cooperative, and in between upgrade.from decides.",
            remedy="Set it: --client java:VERSION (of kafka-streams).",
            source=_KIP,
        )
    elif not all(map(is_always_eager, versions)):
        yield case.info(
            "streams",
            message=f"{shown_id(case.group.id)} "
            "is a Kafka Streams application. It is cooperative unless upgrade.from is 2.3 or "
            "lower; a broker does not show which.",
            remedy="Check upgrade.from of every instance. Never configure another assignor in Streams.",
            source=_KIP,
        )


def queries_are_affected(case: Case) -> Iterator[Finding]:
    """The change affects interactive queries and state listeners."""
    if case.destination is Destination.COOPERATIVE:
        yield case.info(
            "streams-queries",
            message="Streams spends less time in the state REBALANCING: it enters it only at the end of a rebalance. "
            "Stores stay open for interactive queries, and the restoration of tasks continues.",
            remedy="Review every StateListener that treats REBALANCING as the start of a rebalance.",
            source=_KIP,
        )
    else:
        yield case.warning(
            "streams-queries",
            message="Streams is in the state REBALANCING from the start of each rebalance to its end. All tasks are "
            "revoked, and stores are closed to interactive queries meanwhile.",
            remedy="Have callers of interactive queries retry; review every StateListener.",
            source=_KIP,
        )
