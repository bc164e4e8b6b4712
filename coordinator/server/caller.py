"""Who sends requests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who sent a request: the client id, "" for none, and the host as Kafka shows it (`/127.0.0.1`)."""

    client_id: str
    host: str


@dataclass(slots=True, kw_only=True, eq=False, weakref_slot=True)
class Session:
    """What is known of a connection while it lasts. `host` as in `Caller`; `end` closes the connection at once."""

    host: str
    end: Callable[[], object]
    is_mute: bool = False
    """A fault has lost an answer: there are no more."""
    _caller: Caller = field(init=False)

    def __post_init__(self) -> None:
        self._caller = Caller(client_id="", host=self.host)

    @property
    def client_id(self) -> str:
        """Of the last request."""
        return self._caller.client_id

    def caller(self, client_id: str) -> Caller:
        """Who sends a request on it."""
        if client_id != self._caller.client_id:
            self._caller = Caller(client_id=client_id, host=self.host)
        return self._caller
