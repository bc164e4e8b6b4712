"""Groups of known programs, recognized by the group ids in their source code; each program has its own migration.

The program is inferred: another program may have been given the same group id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from groups.findings import Finding
from groups.listing import shown_id
from migration.rules.case import Case


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A program, the ids of its groups, and its migration."""

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
    """A known program has its own migration."""
    kind = case.group.protocol_type or "consumer"
    for tool in _TOOLS:
        if tool.group.fullmatch(case.group.id) and tool.protocol_type == kind:
            yield case.info(
                "tool",
                message=f"{shown_id(case.group.id)} "
                f"looks like a group of {tool.name} (inferred from the group id): {tool.what}.",
                remedy=tool.way,
                source=tool.source,
            )
