"""What changing a cluster goes through."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.errors import CommandError
from coordinator.wire.client import Client

if TYPE_CHECKING:
    from cli.cluster.live import LiveSource


def client_of(source: LiveSource) -> Client:
    """The wire client of a cluster.

    :raises CommandError: librdkafka alone can log in there, and it does not tell what is needed here
    """
    if source.client is None:
        raise CommandError(
            f"offsets cannot be changed on {source.name} here: that needs a login that librdkafka alone knows "
            f"(sasl.mechanism={source.settings.sasl_mechanism}); kohort offsets reset can do it"
        )
    return source.client
