"""Rules about groups of known programs: Kafka Streams, sink tasks of Kafka Connect, and others by their group ids.

A broker does not show Streams' protocol: eager before 2.4; cooperative up to 3.9 unless `upgrade.from` is 2.3 or lower
(KIP-429), which 4.0 refuses (KAFKA-18839, tried).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from assignors.registry import STREAMS
from groups.findings import Finding
from groups.listing import shown_id
from groups.model import GroupType
from migration.client_config import OVERRIDE_POLICY
from migration.clients import Version, is_surely_older, is_surely_since
from migration.model import Destination
from migration.rules.case import Case, members_by

COOPERATIVE_SINCE: Version = (2, 4)
EAGER_UNTIL: Version = (4, 0)
_KIP = "KIP-429, Compatibility and Upgrade Path: Streams; KAFKA-18839 (apache/kafka pull 18988)"


def is_streams(case: Case) -> bool:
    return case.group.type is GroupType.CLASSIC and case.group.protocol == STREAMS


def has_arrived(case: Case) -> bool:
    """Whether the application's release alone shows that it is at its destination."""
    versions = _versions(case)
    if case.destination is Destination.COOPERATIVE:
        return all(version is not None and is_surely_since(version, EAGER_UNTIL) for version in versions)
    return case.destination is Destination.EAGER and all(map(is_always_eager, versions))


def is_always_eager(version: Version | None) -> bool:
    return version is not None and is_surely_older(version, COOPERATIVE_SINCE)


def _versions(case: Case) -> set[Version | None]:
    return {client.version for client in case.clients.values()}


def streams_is_not_converted(case: Case) -> Iterator[Finding]:
    if is_streams(case) and case.destination is Destination.CONSUMER:
        yield case.blocker(
            "streams",
            message=f"{shown_id(case.group.id)} is a Kafka Streams application (its assignor is {STREAMS!r}): it "
            f"moves tasks by its own rules, and the broker refuses to convert it.{_faulty(case)}",
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
    fault = "move from classic to streams groups has a critical fault (KAFKA-20254)"
    return f" {which} {fault}. Upgrade them to 4.2.1 first."


def streams_support_the_change(case: Case) -> Iterator[Finding]:
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
            message=f"{shown_id(case.group.id)} is a Kafka Streams application, and its release is unknown: before "
            "2.4 it is eager, from 4.0 on it is cooperative, and in between upgrade.from decides.",
            remedy="Set it: --client java:VERSION (of kafka-streams).",
            source=_KIP,
        )
    elif not all(map(is_always_eager, versions)):
        yield case.info(
            "streams",
            message=f"{shown_id(case.group.id)} is a Kafka Streams application. It is cooperative unless "
            "upgrade.from is 2.3 or lower; a broker does not show which.",
            remedy="Check upgrade.from of every instance. Never configure another assignor in Streams.",
            source=_KIP,
        )


def queries_are_affected(case: Case) -> Iterator[Finding]:
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


_ALL = "All"
_REFUSING = ("None", "Principal")
"""Policies that refuse every setting that a migration changes; their classes are named after them."""
_OVERRIDES = "KIP-458; KIP-722: All since Kafka 3.0; KIP-1188: Allowlist since 4.2, and the default of 5.0"


def connector_may_override(case: Case) -> Iterator[Finding]:
    sinks = members_by(case, lambda it: it.library.name if it.library else None).get("connect")
    if sinks is None:
        return
    settings = filter(None, (config.setting(OVERRIDE_POLICY) for config in case.request.configs))
    names = (setting.value.rpartition(".")[2] for setting in settings)
    policy = next((name.removesuffix("ConnectorClientConfigOverridePolicy") for name in names), None)
    if policy == _ALL:
        return
    if policy in _REFUSING:
        yield case.warning(
            "connect-override",
            members=sinks,
            message=f"{OVERRIDE_POLICY} of the Connect workers is {policy}: it refuses the consumer.override settings "
            "of a connector.",
            remedy=f"Set it to {_ALL} on every worker (a rolling restart). Or set the lines of the steps on the "
            "workers, with consumer. instead of consumer.override.: they apply to all sink connectors.",
            source=_OVERRIDES,
        )
        return
    known = f"is {policy}" if policy else "is unknown (All by default since Kafka 3.0, None before)"
    yield case.info(
        "connect-override",
        members=sinks,
        message="The members are tasks of a Kafka Connect sink connector. The connector's configuration accepts the "
        f"lines of the steps if {OVERRIDE_POLICY} of the workers allows them. It {known}.",
        remedy="Check the policy; an allow list must contain group.protocol, group.remote.assignor and "
        "partition.assignment.strategy. Settings of the workers under consumer. apply to all sink connectors.",
        source=_OVERRIDES,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A program, inferred from the ids of its groups (others may have such ids), and its migration."""

    name: str
    group: re.Pattern[str]
    protocol_type: str = "consumer"
    what: str
    way: str
    source: str


_TOOLS = (
    Tool(
        name="ksqlDB",
        group=re.compile(r"_confluent-ksql-.+"),
        what="each query is a Kafka Streams application, and ksqlDB's servers run its members",
        way="The same applies as for Kafka Streams. Its settings are ksql.streams.… of the servers; a change restarts "
        "all servers.",
        source="ReservedInternalTopics and KsqlConfig of confluentinc/ksql",
    ),
    Tool(
        name="Spark",
        group=re.compile(r"spark-kafka-(?:source|relation)-.+"),
        what="Spark assigns partitions to its tasks itself and keeps offsets in its checkpoint; the group id is new in "
        "every run",
        way="There is nothing to migrate. Options of the source that start with kafka. reach its clients.",
        source="KafkaSourceProvider of apache/spark, uniqueGroupId",
    ),
    Tool(
        name="MirrorMaker 2",
        group=re.compile(r".+-mm2"),
        protocol_type="connect",
        what="its workers form a Connect group, and its source tasks assign partitions to themselves",
        way="It has no consumer group to migrate. It syncs offsets of a group to the target only while that group is "
        "Empty there (sync.group.offsets.enabled).",
        source="MirrorMakerConfig, MirrorSourceTask and MirrorCheckpointTask of connect/mirror",
    ),
)


def group_is_of_a_tool(case: Case) -> Iterator[Finding]:
    kind = case.group.protocol_type or "consumer"
    for tool in _TOOLS:
        if tool.group.fullmatch(case.group.id) and tool.protocol_type == kind:
            kind = f"a group of {tool.name} (inferred from the group id)"
            message = f"{shown_id(case.group.id)} looks like {kind}: {tool.what}."
            yield case.info("tool", message=message, remedy=tool.way, source=tool.source)
