"""A broker of the cluster as clients see it, and the sessions of its connections."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from coordinator.partitions.fetch_sessions import FetchSessions
from coordinator.server.security.principals import ANONYMOUS
from coordinator.server.security.sasl import Reply, SaslLogin


class BrokerEndpoint(Protocol):
    @property
    def connections(self) -> int: ...
    async def close(self) -> None: ...
    async def listen(self) -> None: ...


def no_sessions() -> FetchSessions:
    return FetchSessions(partial(random.randrange, 1, 1 << 31))


@dataclass(slots=True, kw_only=True, eq=False)
class Broker:
    """`host` and `port` are the advertised address, known once it listens."""

    node_id: int
    rack: str | None = None
    host: str = ""
    port: int = 0
    endpoint: BrokerEndpoint | None = None
    fetch_sessions: FetchSessions = field(default_factory=no_sessions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The sender of a request: client id ("" for none), host as Kafka shows it (`/127.0.0.1`), and principal."""

    client_id: str
    host: str
    principal: str = ANONYMOUS

    @property
    def address(self) -> str:
        return self.host.removeprefix("/")


@dataclass(frozen=True, slots=True, kw_only=True)
class SteadyAnswer:
    """A heartbeat without its correlation id, and the answer to it after the id as long as `repeat` returns True."""

    before_id: bytes
    after_id: bytes
    repeat: Callable[[], bool]
    answer: bytes


@dataclass(slots=True, kw_only=True, eq=False, weakref_slot=True)
class Session:
    """The state of a connection. `host` and `principal` as in `Caller`. `end` closes the connection at once."""

    host: str
    end: Callable[[], object]
    is_mute: bool = False  # a fault has dropped an answer, so no further ones are sent
    principal: str = ANONYMOUS
    login: SaslLogin | None = None  # None: no login is required
    steady: SteadyAnswer | None = None  # of the last heartbeat
    _caller: Caller = field(init=False)

    def __post_init__(self) -> None:
        self._caller = self._called("")

    @property
    def client_id(self) -> str:
        return self._caller.client_id

    def caller(self, client_id: str) -> Caller:
        if client_id != self._caller.client_id:
            self._caller = self._called(client_id)
        return self._caller

    @property
    def is_open(self) -> bool:
        return self.login is None or self.login.is_complete

    def receive(self, content: bytes, now_ms: int) -> Reply | None:
        """Pass a frame to the login. None: it is a request to answer. Raises DecodeError."""
        if self.login is None:
            return None
        reply = self.login.receive(content, now_ms)
        if reply is not None and self.login.is_complete:
            self.principal = f"User:{self.login.user}"
            self._caller = self._called(self._caller.client_id)
        return reply

    def _called(self, client_id: str) -> Caller:
        return Caller(client_id=client_id, host=self.host, principal=self.principal)
