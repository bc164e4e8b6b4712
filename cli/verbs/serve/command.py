"""`kohort serve`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cli.options import option
from coordinator.store.disk import FsyncPolicy

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from wire.client.address import Address


def serve(
    *,
    listen: Annotated[
        str,
        option(
            "--listen",
            "Listen address; port 0 picks a free port. For other machines, SASL_SSL:// is required.",
            "HOST:PORT",
        ),
    ] = "127.0.0.1:9092",
    advertise: Annotated[
        str | None, option("--advertise", "Address that clients connect to.", "HOST[:PORT]")
    ] = None,
    access: Annotated[
        Path | None, option("--access", "Users with passwords, and ACLs: docs/security.md.", "FILE")
    ] = None,
    brokers: Annotated[
        int, option("--brokers", "Number of brokers, on consecutive ports.", "N", min=1, max=100)
    ] = 1,
    config: Annotated[
        list[str] | None,
        option("--config", "A broker setting, such as group.max.size=100; repeatable.", "NAME=VALUE"),
    ] = None,
    config_file: Annotated[
        Path | None, option("--config-file", "A broker's server.properties; --config overrides it.", "FILE")
    ] = None,
    topic: Annotated[
        list[str] | None, option("--topic", "Topic to create at startup; repeatable.", "NAME[:PARTITIONS]")
    ] = None,
    data: Annotated[
        Path | None,
        option(
            "--data", "Keep records, groups, offsets and topics in DIR; restarts continue from it.", "DIR"
        ),
    ] = None,
    metrics: Annotated[
        str | None,
        option("--metrics", "Address for metrics (OpenMetrics), on this machine only.", "HOST:PORT"),
    ] = None,
    fsync: Annotated[
        FsyncPolicy | None,
        option(
            "--fsync",
            "With --data: sync to disk before each answer (the default), or once a second.",
        ),
    ] = None,
    faults: Annotated[
        Path | None, option("--faults", "Inject the faults listed in FILE, at the times it gives.", "FILE")
    ] = None,
    scenario: Annotated[
        str | None,
        option(
            "--scenario",
            "Play the topic and coordinator events of a kohort simulate scenario.",
            "SCENARIO",
        ),
    ] = None,
) -> None:
    """Run the embedded coordinator as a Kafka broker.

    Real clients connect to it, produce and consume. Without --data, records, groups, offsets and topics are in
    memory and are lost when the process exits.

    \b
    Examples:
      kohort serve --topic orders:6
      kohort serve --listen 127.0.0.1:9092 --data broker-data
    """
    from time import monotonic

    from cli.output import notice, write_out
    from cli.verbs.serve.action import (
        acl_notices,
        given_settings,
        listen_address,
        metrics_address,
        metrics_served,
        prepare_cluster,
        prepare_security,
        recovery_notices,
        settings_without_effect,
        state_reports,
    )
    from coordinator.server.listener import serve as serve_clients

    place = listen_address(listen, brokers)
    readers = None if metrics is None else metrics_address(metrics)
    given = given_settings(config_file, config or [])
    timeline = None
    if faults is not None or scenario is not None:
        from cli.verbs.serve.timeline import read_timeline

        timeline = read_timeline(faults, scenario)
        given = {**timeline.settings, **given}
        topic = [*timeline.topics, *(topic or [])]
    security, advertised, warnings = prepare_security(place, advertise, given, access)
    began = monotonic()
    cluster = prepare_cluster(given, topic or [], data, fsync, security, brokers)
    for line in [*warnings, *settings_without_effect(given), *(timeline.remarks if timeline else ())]:
        notice(line)
    if data is None or cluster.recovered is None:
        notice("records, groups, offsets and topics are in memory only, and are lost when this process exits")
    else:
        for line in recovery_notices(data, cluster.recovered, monotonic() - began):
            notice(line)
    for line in acl_notices(cluster):
        notice(line)

    def listening(places: Sequence[Address]) -> None:
        write_out(lambda out: out.write(f"Listening on {','.join(map(str, places))}\n"))
        if timeline is not None:
            timeline.begin(cluster, notice)

    alongside: list[AbstractAsyncContextManager[object]] = [state_reports(cluster, notice)]
    if readers is not None:
        alongside.append(metrics_served(cluster, readers))
    serve_clients(cluster, place.host, place.port, listening, advertised, alongside)
    notice("stopped")
