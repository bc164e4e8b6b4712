"""Rules about groups of known programs: sink tasks of Kafka Connect, and others by their group ids."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from groups.findings import Finding
from groups.listing import shown_id
from migration.client_config import OVERRIDE_POLICY
from migration.rules.case import Case, members_by

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
