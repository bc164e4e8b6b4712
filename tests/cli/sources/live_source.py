"""A broker as a source of groups: over both clients, or over librdkafka's alone."""

from collections.abc import Iterator
from contextlib import contextmanager

from cli.sources.admin import AdminSource
from cli.sources.live import LiveSource
from cli.sources.wire_source import WireSource
from tests.kafka.broker import RunningBroker
from wire.client.security import ConnectionSettings


@contextmanager
def live_source(broker: RunningBroker, timeout_ms: int = 30_000) -> Iterator[WireSource]:
    source = WireSource(ConnectionSettings(bootstrap_servers=(broker.bootstrap,), api_timeout_ms=timeout_ms))
    try:
        yield source
    finally:
        source.close()


@contextmanager
def admin_only(broker: RunningBroker) -> Iterator[LiveSource]:
    """The same as where librdkafka alone can log in (Kerberos): without the wire client."""
    yield AdminSource(ConnectionSettings(bootstrap_servers=(broker.bootstrap,), api_timeout_ms=30_000))
