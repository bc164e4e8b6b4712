"""What changing a cluster goes through."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.errors import CommandError
from wire.client.client import Client

if TYPE_CHECKING:
    from cli.sources.live import LiveSource


def client_of(source: LiveSource, instead: str) -> Client:
    """The wire client of a cluster; `instead` is what can do the same where there is none.

    :raises CommandError: librdkafka alone can log in there, and it does not tell what is needed here
    """
    if source.client is None:
        raise CommandError(
            f"this is not done on {source.name}, where librdkafka alone can log in "
            f"(sasl.mechanism={source.settings.sasl_mechanism}): {instead} does it"
        )
    return source.client
