"""A broker of the cluster, as clients see it."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from coordinator.partitions.fetch_sessions import FetchSessions


class Endpoint(Protocol):
    """The listener of a broker."""

    @property
    def connections(self) -> int:
        """The number of open connections."""

    async def close(self) -> None:
        """Stop listening, and close every connection."""

    async def listen(self) -> None:
        """Listen again at the same address. :raises OSError:"""


def _no_sessions() -> FetchSessions:
    return FetchSessions(partial(random.randrange, 1, 1 << 31))


@dataclass(slots=True, kw_only=True, eq=False)
class Broker:
    """`host` and `port` are the advertised address, known once it listens."""

    node_id: int
    rack: str | None = None
    host: str = ""
    port: int = 0
    endpoint: Endpoint | None = None
    fetch_sessions: FetchSessions = field(default_factory=_no_sessions)

    def forget(self) -> None:
        """Drop everything that a broker keeps only in memory."""
        self.fetch_sessions = _no_sessions()

    def advertise(self, host: str, port: int | None) -> None:
        """Set the address that clients connect to; port None: the port that it listens on."""
        self.host, self.port = host, self.port if port is None else port
