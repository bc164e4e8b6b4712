"""Who sends requests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from coordinator.server.security.principals import ANONYMOUS
from coordinator.server.security.sasl import Login, Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who sent a request: the client id, "" for none, the host as Kafka shows it (`/127.0.0.1`), and the principal."""

    client_id: str
    host: str
    principal: str = ANONYMOUS

    @property
    def address(self) -> str:
        """The host as ACLs have it."""
        return self.host.removeprefix("/")


@dataclass(slots=True, kw_only=True, eq=False, weakref_slot=True)
class Session:
    """What is known of a connection while it lasts. `host` and `principal` as in `Caller`.

    `end` closes the connection at once.
    """

    host: str
    end: Callable[[], object]
    is_mute: bool = False
    """A fault has lost an answer: there are no more."""
    principal: str = ANONYMOUS
    login: Login | None = None
    """None: clients need none."""
    _caller: Caller = field(init=False)

    def __post_init__(self) -> None:
        self._caller = self._called("")

    @property
    def client_id(self) -> str:
        """Of the last request."""
        return self._caller.client_id

    def caller(self, client_id: str) -> Caller:
        """Who sends a request on it."""
        if client_id != self._caller.client_id:
            self._caller = self._called(client_id)
        return self._caller

    @property
    def is_open(self) -> bool:
        """Whether requests are answered."""
        return self.login is None or self.login.is_complete

    def receive(self, content: bytes, now_ms: int) -> Reply | None:
        """Take a frame for the login. None: it is a request to be answered. :raises DecodeError:"""
        if self.login is None:
            return None
        reply = self.login.receive(content, now_ms)
        if reply is not None and self.login.is_complete:
            self.principal = f"User:{self.login.user}"
            self._caller = self._called(self._caller.client_id)
        return reply

    def _called(self, client_id: str) -> Caller:
        return Caller(client_id=client_id, host=self.host, principal=self.principal)
