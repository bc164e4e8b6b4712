"""The options of `kohort serve`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cli.options import option
from coordinator.configs.release import Release
from coordinator.store.disk import FsyncPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    listen: Annotated[
        str,
        option(
            "--listen",
            "Listen address; port 0 picks a free port. For other machines, SASL_SSL:// is required.",
            "HOST:PORT",
        ),
    ] = "127.0.0.1:9092"
    advertise: Annotated[
        str | None, option("--advertise", "Address that clients connect to.", "HOST[:PORT]")
    ] = None
    access: Annotated[
        Path | None, option("--access", "Users with passwords, and ACLs: docs/security.md.", "FILE")
    ] = None
    brokers: Annotated[
        int, option("--brokers", "Number of brokers, on consecutive ports.", "N", min=1, max=100)
    ] = 1
    config: Annotated[
        list[str] | None,
        option("--config", "A broker setting, such as group.max.size=100; repeatable.", "NAME=VALUE"),
    ] = None
    config_file: Annotated[
        Path | None, option("--config-file", "A broker's server.properties; --config overrides it.", "FILE")
    ] = None
    release: Annotated[
        Release | None, option("--release", "Release of Kafka to answer like; by default the newest.")
    ] = None
    topic: Annotated[
        list[str] | None, option("--topic", "Topic to create at startup; repeatable.", "NAME[:PARTITIONS]")
    ] = None
    data: Annotated[
        Path | None,
        option(
            "--data", "Keep records, groups, offsets and topics in DIR; restarts continue from it.", "DIR"
        ),
    ] = None
    metrics: Annotated[
        str | None,
        option("--metrics", "Address for metrics (OpenMetrics), on this machine only.", "HOST:PORT"),
    ] = None
    fsync: Annotated[
        FsyncPolicy | None,
        option("--fsync", "With --data: sync to disk before each answer (the default), or once a second."),
    ] = None
    faults: Annotated[
        Path | None, option("--faults", "Inject the faults listed in FILE, at the times it gives.", "FILE")
    ] = None
    scenario: Annotated[
        str | None,
        option(
            "--scenario", "Play the topic and coordinator events of a kohort simulate scenario.", "SCENARIO"
        ),
    ] = None
