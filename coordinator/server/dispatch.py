"""A request on its way through the server: from its bytes to the handler, and from the handler to the answer's bytes.

    incoming = understand(content)                       which API and version, and the fields
    answer = await dispatcher.respond(incoming, session)     None: the client wants no answer

Sockets are the listener's, what is answered the handlers' (`served.SERVED`). What concerns every request belongs here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from functools import lru_cache
from typing import Any, NamedTuple

from coordinator.server.apis.fields import Repeated
from coordinator.server.broker import Broker
from coordinator.server.caller import Session
from coordinator.server.cluster import Cluster
from coordinator.server.exchange import Exchange, PeerFault
from coordinator.server.faults.error_answers import error_answer
from coordinator.server.faults.events import AnswerError, Drop, Dropped
from coordinator.server.faults.rules import Asked
from coordinator.server.security.principals import UnknownPrincipal, principal_of
from coordinator.server.served import OWN, SERVED, ServedApi
from wire.messages.definition import API_VERSIONS_KEY, HEAD
from wire.messages.reader import Frame
from wire.messages.schemas.classic_groups import HEARTBEAT
from wire.messages.schemas.consumer_groups import CONSUMER_GROUP_HEARTBEAT
from wire.messages.schemas.faults import FAULT_CLIENT

LONG_BYTES = 64 * 1024
"""What belongs to a longer request is done in a thread."""
MOST_ELEMENTS = 500_000
"""Of all arrays of one request: a commit of so many partitions keeps the coordinator from others for three seconds."""


REPEATED = frozenset({HEARTBEAT.key, CONSUMER_GROUP_HEARTBEAT.key})
"""What members send again and again, the same to the byte but for the correlation id: it is read once."""
MOST_REPEATED = 8_192
LONGEST_REPEATED = 256
"""Bytes of such a request, where it is to be remembered."""
ID_AT, NO_ID = 4, bytes(4)
"""The correlation id in the header of a request."""


class Incoming(NamedTuple):
    """One request. `message` has the fields of its `version`.

    None stands for an ApiVersions of a version that is not known: the client is told in version 0 which ones
    are (KIP-511). `size` is that of its frame, in bytes.
    """

    served: ServedApi
    version: int
    correlation_id: int
    client_id: str
    message: Any
    size: int


def understand(content: bytes) -> Incoming:
    """Read a frame. :raises PeerFault, DecodeError: when it is no request that is answered"""
    size = len(content)
    if size < HEAD.size:
        raise PeerFault(f"a request has only {size} bytes")
    key, version, correlation_id = HEAD.unpack_from(content)
    served = SERVED.get(key) or OWN.get(key)
    if served is None:
        raise PeerFault(f"API {key} is not served")
    message = None
    if served.serves(version):
        # An element is a byte at least.
        if key in REPEATED and size <= LONGEST_REPEATED:
            client_id, message = _repeated(content[:ID_AT] + NO_ID + content[ID_AT + len(NO_ID) :])
        else:
            frame = Frame.of(content, MOST_ELEMENTS) if size > MOST_ELEMENTS else content
            client_id, message = served.api.decode_request(version, frame)
    elif key == API_VERSIONS_KEY:
        client_id, _ = served.api.decode_client_id(min(max(version, 0), served.newest), content)
        version = 0
    else:
        raise PeerFault(f"{served.api.name} {version} is not served")
    return Incoming(served, version, correlation_id, client_id, message, size)


@lru_cache(maxsize=MOST_REPEATED)
def _repeated(content: bytes) -> tuple[str, Any]:
    """Client id and fields of a request without its correlation id. :raises DecodeError:"""
    key, version, _ = HEAD.unpack_from(content)
    return SERVED[key].api.decode_request(version, content)


class Dispatcher:
    """Has requests to one broker answered."""

    def __init__(self, cluster: Cluster, broker: Broker, aside: Executor) -> None:
        """`aside` runs what takes long."""
        self._cluster = cluster
        self._faults = cluster.faults
        self._broker = broker
        self._aside = aside

    def session(self, host: str, end: Callable[[], object], certificate: Mapping[str, Any] | None) -> Session:
        """That of a new connection, which `end` closes; the certificate is the client's, if it has shown one.

        :raises PeerFault: it does not say who the client is
        """
        security = self._cluster.security
        try:
            principal = principal_of(certificate, security.settings.principal_rules)
        except UnknownPrincipal as error:
            raise PeerFault(str(error)) from None
        session = Session(host=host, end=end, principal=principal, login=security.login())
        self._cluster.sessions.add(session)
        return session

    @property
    def failure_delay_s(self) -> float:
        """How long a client waits for the news that its login failed."""
        return self._cluster.security.settings.failure_delay_ms / 1000

    async def respond(self, incoming: Incoming, session: Session) -> bytes | None:
        """The whole response, None where there is to be none. :raises PeerFault: the connection is to be closed"""
        served = incoming.served
        self._cluster.requests += 1
        if session.is_mute:
            return None
        if self._faults.active:
            end = await self._meet_faults(incoming)
            if isinstance(end, AnswerError):
                return _composed(incoming, _erroneous(incoming, end))
            if end is not None and end.what is Dropped.CONNECTION:
                raise PeerFault(f"a fault drops it at {served.api.name}")
            if end is not None:
                session.is_mute = True
                return None
        exchange = Exchange(
            cluster=self._cluster,
            broker=self._broker,
            request=incoming.message,
            version=incoming.version,
            caller=session.caller(incoming.client_id),
        )
        fields = await served.answer(exchange)
        if fields is None:
            return None
        if served.grows or incoming.size > LONG_BYTES:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._aside, _composed, incoming, fields)
        return _composed(incoming, fields)

    async def _meet_faults(self, incoming: Incoming) -> AnswerError | Drop | None:
        """Wait as long as the rules want; what they end the request with, if they do."""
        if incoming.client_id == FAULT_CLIENT or incoming.message is None:
            return None
        topics = self._cluster.topics
        verdict = self._faults.judge(
            Asked(
                api=incoming.served.api,
                version=incoming.version,
                client_id=incoming.client_id,
                message=incoming.message,
                name_of=topics.name_of,
            ),
            self._cluster.now_ms(),
        )
        if verdict is None:
            return None
        if verdict.delay_ms:
            await asyncio.sleep(verdict.delay_ms / 1000)
        return verdict.end


def _erroneous(incoming: Incoming, rule: AnswerError) -> Mapping[str, Any]:
    """:raises PeerFault: the answer has no room for the error, or the client wants no answer"""
    api = incoming.served.api
    if getattr(incoming.message, "acks", None) == 0:
        raise PeerFault(f"a producer without acks learns of {rule.error} in no other way")
    fields = error_answer(api, incoming.version, incoming.message, rule.code)
    if fields is None:
        raise PeerFault(f"the answer to this {api.name} has no room for {rule.error}")
    return fields


def _composed(incoming: Incoming, fields: Mapping[str, Any]) -> bytes:
    """:raises PeerFault: when the answer is longer than a frame, or names made of the client's are too long"""
    api, version = incoming.served.api, incoming.version
    try:
        if isinstance(fields, Repeated):
            written = fields.written.get(version)
            if written is None:
                fields.written[version] = written = api.encode_response(version, 0, fields)[len(NO_ID) :]
            return incoming.correlation_id.to_bytes(len(NO_ID), "big", signed=True) + written
        return api.encode_response(version, incoming.correlation_id, fields)
    except ValueError as error:
        raise PeerFault(f"the answer to {api.name} cannot be written: {error}") from None
