"""Log in to a live cluster: the client that can, chosen once."""

from dataclasses import replace
from pathlib import Path

from cli.errors import CommandError
from cli.sources.live import LiveSource
from wire.client.security import ConnectionSettings

LONGEST_TIMEOUT_MS = 3_600_000  # librdkafka's maximum timeout; longer timeouts are reduced to an hour


def log_in(settings: ConnectionSettings) -> LiveSource:
    """The cluster over Kohort's own client, else over the AdminClient; the first request connects. The own client comes
    first: the AdminClient reports neither epochs nor regexes, and takes 60 ms to import. Raises InvalidAddress. Raises
    CommandError: neither client supports the mechanism in the settings."""
    why_not = _why_not_by_wire(settings)
    if why_not is None:
        from cli.sources.wire_source import WireSource

        return WireSource(settings)
    from cli.sources.admin import AdminSource

    try:
        return AdminSource(settings)
    except CommandError:
        raise CommandError(why_not) from None


def open_cluster(
    *,
    bootstrap_server: str | None,
    command_config: Path | None,
    timeout_ms: int,
    settings: ConnectionSettings | None = None,
    cluster_id: str | None = None,
) -> LiveSource:
    """Log in; the named bootstrap servers override the servers in the file. `settings` replace a file. With a
    `cluster_id`, the cluster's id is checked at once. Raises CommandError: the cluster has another id. Raises
    WireError: no broker reports one."""
    settings = settings or ConnectionSettings()
    if command_config is not None:
        from wire.client.config.properties import load_properties

        settings = load_properties(command_config)
    if bootstrap_server:
        servers = tuple(part.strip() for part in bootstrap_server.split(",") if part.strip())
        settings = replace(settings, bootstrap_servers=servers)
    timeout_ms = min(timeout_ms, LONGEST_TIMEOUT_MS)
    source = log_in(replace(settings, api_timeout_ms=timeout_ms, cluster_id=cluster_id))
    if cluster_id is not None:
        source.check_cluster(cluster_id)
    return source


def _why_not_by_wire(settings: ConnectionSettings) -> str | None:
    """Why the wire client cannot log in; None if it can, or if no login is needed."""
    if not settings.security_protocol.sasl:
        return None
    from wire.client.sasl import why_unsupported

    return why_unsupported(settings)
