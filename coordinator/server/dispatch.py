"""The dispatch of a request: bytes to fields, fields to the handler, and the handler's answer to bytes."""

import asyncio
from collections.abc import Callable, Mapping
from typing import NamedTuple

from coordinator.configs.release import Release
from coordinator.faults import AnswerError, Drop, Dropped
from coordinator.server.broker import Broker, Session, SteadyAnswer
from coordinator.server.cluster import Cluster
from coordinator.server.exchange import Exchange, PeerFault, SteadyFields
from coordinator.server.faults.error_answers import error_answer
from coordinator.server.faults.rules import IncomingRequest
from coordinator.server.security.principals import UnknownPrincipal, principal_of
from coordinator.server.served import OWN, SERVED, ServedApi
from wire.messages.definition import API_VERSIONS_KEY, HEAD
from wire.messages.reader import Frame
from wire.messages.schemas.faults import FAULT_CLIENT

LONG_BYTES = 64 * 1024  # a longer request is handled in a thread
ORDINARY_BYTES = 16 * 1024  # longer requests for answers that grow with them are answered one after the other
MOST_ELEMENTS = 250_000  # of arrays in a request: handling that many takes some tenths of a second


LONGEST_REPEATED = 256  # the longest heartbeat that is remembered, in bytes
ID_BYTES = 4
BEFORE_ID, ID, AFTER_ID = slice(4), slice(4, 8), slice(8, None)  # where a request has its correlation id


class Incoming(NamedTuple):
    """A request of `size` bytes. `message` is None for an ApiVersions of an unknown version (KIP-511). `content`:
    its bytes, if they are few."""

    served: ServedApi
    version: int
    correlation_id: int
    client_id: str
    message: object
    size: int
    content: bytes


def parse_request(content: bytes, release: Release) -> Incoming:
    """Parse a frame. Raises PeerFault or DecodeError: it is not a request that can be answered."""
    size = len(content)
    if size < HEAD.size:
        raise PeerFault(f"the request has only {size} bytes")
    key, version, correlation_id = HEAD.unpack_from(content)
    served = SERVED.get(key) or OWN.get(key)
    if served is None:
        raise PeerFault(f"API {key} is not served")
    message = None
    if served.serves(version, release):
        # An element takes at least one byte.
        frame = Frame.of(content, MOST_ELEMENTS) if size > MOST_ELEMENTS else content
        client_id, message = served.api.decode_request(version, frame)
    elif key == API_VERSIONS_KEY:
        client_id, _ = served.api.decode_client_id(min(max(version, 0), served.newest), content)
        version = 0
    else:
        raise PeerFault(f"{served.api.name} {version} is not served")
    short = content if size <= LONGEST_REPEATED else b""
    return Incoming(served, version, correlation_id, client_id, message, size, short)


class Dispatcher:
    def __init__(self, cluster: Cluster, broker: Broker) -> None:
        self._cluster = cluster
        self._faults = cluster.faults
        self._broker = broker

    def session(self, host: str, end: Callable[[], object], peercert: Mapping[str, object] | None) -> Session:
        """The session of a new connection, which `end` closes. Raises PeerFault: the certificate has no principal."""
        security = self._cluster.security
        try:
            principal = principal_of(peercert, security.settings.principal_rules)
        except UnknownPrincipal as error:
            raise PeerFault(str(error)) from None
        session = Session(host=host, end=end, principal=principal, login=security.login())
        self._cluster.sessions.add(session)
        return session

    def parse(self, content: bytes) -> Incoming:
        """As `parse_request`, of the release that this server answers like."""
        return parse_request(content, self._cluster.config.kohort_release)

    @property
    def failure_delay_s(self) -> float:
        return self._cluster.security.settings.failure_delay_ms / 1000

    def repeat(self, content: bytes, session: Session) -> bytes | None:
        """The whole response to a heartbeat like the session's last one, if nothing has changed; None: `parse` it."""
        steady = session.steady
        if (
            steady is None
            or steady.after_id != content[AFTER_ID]
            or steady.before_id != content[BEFORE_ID]
            or self._faults.active
            or session.is_mute
            or not steady.repeat()
        ):
            return None
        self._cluster.requests += 1
        return content[ID] + steady.answer

    async def respond(self, incoming: Incoming, session: Session) -> bytes | None:
        """The whole response, None if the client wants none. Raises PeerFault: the connection must be closed."""
        served = incoming.served
        self._cluster.requests += 1
        if session.is_mute:
            return None
        if self._faults.active:
            end = await self._apply_faults(incoming)
            if isinstance(end, AnswerError):
                return _composed(incoming, _erroneous(incoming, end))
            if end is not None and end.what is Dropped.CONNECTION:
                raise PeerFault(f"a fault drops the connection at {served.api.name}")
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
            limits = self._cluster.limits
            is_ordinary = not served.grows or incoming.size <= ORDINARY_BYTES
            compose = limits.run if is_ordinary else limits.run_slowly
            return await compose(_composed, incoming, fields)
        answer = _composed(incoming, fields)
        if isinstance(fields, SteadyFields) and incoming.content:
            session.steady = SteadyAnswer(
                before_id=incoming.content[BEFORE_ID],
                after_id=incoming.content[AFTER_ID],
                repeat=fields.repeat,
                answer=answer[ID_BYTES:],
            )
        return answer

    async def _apply_faults(self, incoming: Incoming) -> AnswerError | Drop | None:
        """Wait for the delays of matching rules. Returns the fault that replaces the answer, if any."""
        if incoming.client_id == FAULT_CLIENT or incoming.message is None:
            return None
        request = IncomingRequest(
            api=incoming.served.api,
            version=incoming.version,
            client_id=incoming.client_id,
            message=incoming.message,
            name_of=self._cluster.topics.name_of,
        )
        verdict = self._faults.judge(request, self._cluster.now_ms())
        if verdict is None:
            return None
        if verdict.delay_ms:
            await asyncio.sleep(verdict.delay_ms / 1000)
        return verdict.end


def _erroneous(incoming: Incoming, rule: AnswerError) -> Mapping[str, object]:
    """Raises PeerFault: the response has no field for the error, or the client wants no answer."""
    api = incoming.served.api
    if getattr(incoming.message, "acks", None) == 0:
        raise PeerFault(f"a producer with acks=0 cannot be sent {rule.error}")
    fields = error_answer(api, incoming.version, incoming.message, rule.code)
    if fields is None:
        raise PeerFault(f"the answer to this {api.name} has no field for {rule.error}")
    return fields


def _composed(incoming: Incoming, fields: Mapping[str, object]) -> bytes:
    """Raises PeerFault: the answer is longer than a frame, or a name derived from the client's is too long."""
    api, version = incoming.served.api, incoming.version
    try:
        return api.encode_response(version, incoming.correlation_id, fields)
    except ValueError as error:
        raise PeerFault(f"the answer to {api.name} cannot be written: {error}") from None
