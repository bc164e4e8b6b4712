"""Who sends requests."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who sent a request: the client id, "" for none, and the host as Kafka shows it (`/127.0.0.1`)."""

    client_id: str
    host: str


@dataclass(slots=True, kw_only=True)
class Session:
    """What is known of a connection while it lasts. `host` as in `Caller`."""

    host: str
    _caller: Caller = field(init=False)

    def __post_init__(self) -> None:
        self._caller = Caller(client_id="", host=self.host)

    def caller(self, client_id: str) -> Caller:
        """Who sends a request on it."""
        if client_id != self._caller.client_id:
            self._caller = Caller(client_id=client_id, host=self.host)
        return self._caller
