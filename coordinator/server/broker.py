"""A broker of the cluster, as clients see it."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from coordinator.partitions.fetch_sessions import FetchSessions


class Endpoint(Protocol):
    """Where a broker can be reached: what listens for it."""

    @property
    def connections(self) -> int:
        """How many are open."""

    async def close(self) -> None:
        """Stop listening, and close every connection."""

    async def listen(self) -> None:
        """Listen again, where it did before. :raises OSError:"""


def _no_sessions() -> FetchSessions:
    return FetchSessions(partial(random.randrange, 1, 1 << 31))


@dataclass(slots=True, kw_only=True, eq=False)
class Broker:
    """`host` and `port` are what clients are told to connect to; they are known once it listens."""

    node_id: int
    rack: str | None = None
    host: str = ""
    port: int = 0
    endpoint: Endpoint | None = None
    fetch_sessions: FetchSessions = field(default_factory=_no_sessions)

    def forget(self) -> None:
        """Lose what a broker has in memory alone."""
        self.fetch_sessions = _no_sessions()

    def advertise(self, host: str, port: int | None) -> None:
        """Have clients told to connect there; None: to the same port."""
        self.host, self.port = host, self.port if port is None else port
