"""The options of `kohort dry-run` for hypothetical changes, and for groups of Kafka Streams."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cli.options import option


@dataclass(frozen=True, slots=True, kw_only=True)
class HypotheticalOptions:
    add: Annotated[int, option("--add", "As if N members joined.", "N", min=0)] = 0
    remove: Annotated[
        list[str] | None,
        option("--remove", "As if this member left (member, instance or client id).", "MEMBER"),
    ] = None
    subscribe: Annotated[
        list[str] | None,
        option("--subscribe", "As if this member subscribed to these topics.", "MEMBER=TOPIC,…"),
    ] = None
    topic_partitions: Annotated[
        list[str] | None, option("--topic-partitions", "As if this topic had N partitions.", "TOPIC=N")
    ] = None
    rack: Annotated[
        list[str] | None, option("--rack", "As if this member were in this rack.", "MEMBER=RACK")
    ] = None
    fail_rack: Annotated[
        list[str] | None,
        option("--fail-rack", "As if this rack failed, with its members and replicas.", "RACK"),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationOptions:
    topology: Annotated[
        Path | None, option("--topology", "Kafka Streams: the text of Topology#describe.", "FILE")
    ] = None
    setting: Annotated[
        list[str] | None, option("--setting", "Kafka Streams: a setting of the application.", "NAME=VALUE")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsOptions(ApplicationOptions):
    as_joined: Annotated[
        bool, option("--as-joined", "Kafka Streams: as if no state were restored since.")
    ] = False
