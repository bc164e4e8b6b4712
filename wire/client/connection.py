"""A connection to one broker: connect, agree on versions, authenticate, then requests and responses in order."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from wire.client import errors
from wire.client.address import Address
from wire.client.security import ConnectionSettings
from wire.client.steps import Deadline, Steps
from wire.client.transport import Transport, connect
from wire.errors import ErrorCode, error_name
from wire.messages.definition import Api, ResponseT
from wire.messages.framing import frame
from wire.messages.reader import DecodeError
from wire.messages.schemas import cluster as schemas
from wire.messages.schemas.cluster import API_VERSIONS, METADATA

Request: TypeAlias = Mapping[str, object]
"""The fields of a request; fields that the version in common does not have are left out."""

SOFTWARE: Request = {"client_software_name": "kohort", "client_software_version": "0"}
"""The fields of ApiVersions that say who asks."""
_PATIENCE_S = 1.0
_SILENT_FOR_MS = 15_000
_SESSION_USED = 0.85
"""The part of a login's lifetime after which it is renewed, the earliest at which Java's clients renew it."""
_BROKER_REGISTRATION = 62  # the key of a request that only controllers answer


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerFeatures:
    """The cluster's finalized features ("group.version": 1), as a broker knows them, and the lowest and highest levels
    that it supports. `epoch`: how often the finalized ones have changed; None: not known."""

    levels: Mapping[str, int] = field(default_factory=dict)
    supported: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    epoch: int | None = None


def features_in(response: schemas.ApiVersionsResponse) -> BrokerFeatures:
    epoch = response.finalized_features_epoch
    return BrokerFeatures(
        levels={feature.name: feature.max_version_level for feature in response.finalized_features},
        supported={
            feature.name: (feature.min_version, feature.max_version)
            for feature in response.supported_features
        },
        epoch=epoch if epoch >= 0 else None,
    )


class Connection:
    """A connection to one broker, opened on first use, reopened if it was closed while idle. Methods are steps."""

    def __init__(
        self,
        address: Address,
        settings: ConnectionSettings,
        *,
        advertised: bool = False,
        node_id: int | None = None,
    ) -> None:
        self.address = address
        self.features = BrokerFeatures()
        self._settings = settings
        self._advertised = advertised
        self._node_id = node_id
        self._transport: Transport | None = None
        self._versions: dict[int, tuple[int, int]] = {}
        self._correlation_id = 0
        self._session: Deadline | None = None  # the time left until the login must be renewed; None: no limit
        self._proven = False  # whether this connection has answered a request since it was opened
        self._silence: tuple[str, Deadline] | None = None
        """What the broker did not answer, and the time until it is asked again."""

    def version(self, api: Api) -> int:
        """The highest common version of `api`; the connection must be open. Raises UnsupportedApi: there is none."""
        known = self._versions.get(api.key)
        if known is None or (agreed := api.agree(*known)) is None:
            raise errors.UnsupportedApi(
                f"{self.address}: this broker does not answer {api.name}; Kafka {api.since} or newer does, unless a "
                "gateway hides it",
                address=self.address,
            )
        return agreed

    def supports(self, api: Api) -> bool:
        known = self._versions.get(api.key)
        return known is not None and api.agree(*known) is not None

    def newest(self, key: int) -> int | None:
        """The newest version of an API that the broker supports, used by this client or not; None: none."""
        known = self._versions.get(key)
        return known and known[1]

    def check_broker(self) -> None:
        """Refuse a KRaft controller, which answers but knows no topics and groups. Raises UnsupportedApi."""
        if METADATA.key not in self._versions and _BROKER_REGISTRATION in self._versions:
            raise errors.UnsupportedApi(
                f"{self.address}: this is the port of a KRaft controller, which knows no groups. Use the port of a "
                "broker: that of its listener for clients, which is in advertised.listeners of its server.properties "
                "and in bootstrap.servers of its clients (often 9092).",
                address=self.address,
            )

    def open(self, deadline: Deadline) -> Steps[None]:
        """Connect and log in, if necessary, or again before the login expires (KIP-368)."""
        if self._transport is not None:
            if self._session is None or self._session.remaining_ms():
                return
            self.close()
        if self._silence is not None and self._silence[1].remaining_ms():
            error = errors.RequestTimedOut(self.address, self._silence[0])
            error.is_unsent = True
            raise error
        began = time.monotonic()
        limit = deadline.within(self._settings.connection_setup_timeout_ms)
        try:
            self._transport = yield from self._connected(limit)
            yield from self._learn_versions(deadline)
            if self._settings.security_protocol.sasl:
                yield from self._authenticate(deadline)
        except BaseException as error:
            self._remember_timeout(error, began)
            self.close()
            if isinstance(error, errors.WireError):
                error.is_unsent = True
            raise

    def ask(
        self, api: Api[object, ResponseT], requests: Sequence[Request], deadline: Deadline
    ) -> Steps[list[ResponseT]]:
        """Send requests that are safe to send twice together, and return their responses in the same order."""
        proven = self._proven
        try:
            return (yield from self.ask_once(api, requests, deadline))
        except errors.NotConnected:
            raise
        except errors.Unreachable as error:
            if not proven:
                raise self._with_hint(error) from None
            broken = error
        try:
            return (yield from self.ask_once(api, requests, deadline))
        except errors.WireError as error:
            if error.is_unsent:  # but the first attempt may have arrived
                raise broken from None
            raise

    def ask_once(
        self,
        api: Api[object, ResponseT],
        requests: Sequence[Request],
        deadline: Deadline,
        limit_ms: int | None = None,
    ) -> Steps[list[ResponseT]]:
        """`ask` for requests that are not safe to send twice. `limit_ms`: another timeout than the settings'."""
        yield from self.open(deadline)
        if Deadline.is_stopping():
            raise errors.NotSent(self.address, api.name)
        began = time.monotonic()
        version = self.version(api)
        try:
            responses = yield from self._ask(api, version, requests, deadline, limit_ms)
        except BaseException as error:
            self._remember_timeout(error, began)
            self.close()
            raise
        self._proven = True
        return responses

    def _remember_timeout(self, error: BaseException, began: float) -> None:
        """Remember a broker that did not answer for a while: a command waits only once."""
        if isinstance(error, errors.RequestTimedOut) and time.monotonic() - began >= _PATIENCE_S:
            self._silence = error.activity, Deadline(_SILENT_FOR_MS)

    def _with_hint(self, error: errors.Unreachable) -> errors.Unreachable:
        """Add a hint: a listener that requires a login answers ApiVersions and closes at the next request."""
        protocol = self._settings.security_protocol
        if protocol.sasl:
            return error
        protocol_name = "SASL_SSL" if protocol.tls else "SASL_PLAINTEXT"
        return errors.Unreachable(
            self.address,
            f"{error.reason}. If the listener requires a login, set security.protocol to {protocol_name}.",
        )

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()
            self._transport = None
            self._proven = False

    def _connected(self, deadline: Deadline) -> Steps[Transport]:
        try:
            sock = yield from connect(self.address, deadline)
        except errors.NotConnected as error:
            if not self._advertised:
                raise
            message = f"{error.reason} The address is the one the cluster advertises (advertised.listeners)."
            raise errors.NotConnected(self.address, message) from None
        except errors.RequestTimedOut as error:
            if not self._advertised:
                raise
            activity = f"{error.activity} to the address that the cluster advertises (advertised.listeners)"
            raise errors.RequestTimedOut(self.address, activity) from None
        if not self._settings.security_protocol.tls:
            return Transport(self.address, sock)
        from wire.client import tls

        try:
            context = tls.context(self._settings.tls)
        except errors.WireError:
            sock.close()
            raise
        encrypted = yield from tls.secure(self.address, sock, context, deadline)
        return Transport(self.address, encrypted)

    def _ask(
        self,
        api: Api[object, ResponseT],
        version: int,
        requests: Sequence[Request],
        deadline: Deadline,
        limit_ms: int | None = None,
    ) -> Steps[list[ResponseT]]:
        answers = yield from self._exchange(api, version, requests, deadline, limit_ms)
        return [self._decoded(api, version, answer) for answer in answers]

    def _exchange(
        self, api: Api, version: int, requests: Sequence[Request], deadline: Deadline, limit_ms: int | None
    ) -> Steps[list[bytes]]:
        """The responses without their correlation ids, but with the tagged fields of flexible headers."""
        if self._transport is None:
            raise RuntimeError("the connection is not open")
        first = self._correlation_id
        self._correlation_id = (first + len(requests)) % 2**31
        try:
            data = b"".join(
                frame(api.encode_request(version, number % 2**31, self._settings.client_id, request))
                for number, request in enumerate(requests, first)
            )
        except ValueError as error:
            message = f"{api.name}Request cannot be written: {error}"
            raise errors.ProtocolError(self.address, message) from None
        limit_ms = limit_ms or self._settings.request_timeout_ms
        activity = f"waiting for the answer to {api.name}"
        answers = yield from self._transport.converse(data, len(requests), deadline, limit_ms, activity)
        if len(answers) > len(requests):
            raise errors.ProtocolError(self.address, f"more responses than requests arrived for {api.name}")
        for number, answer in enumerate(answers, first):
            correlation_id, expected = int.from_bytes(answer[:4], "big", signed=True), number % 2**31
            if len(answer) < 4:
                message = f"the answer to {api.name} has only {len(answer)} bytes"
                raise errors.ProtocolError(self.address, message)
            if correlation_id != expected:
                raise errors.ProtocolError(
                    self.address,
                    f"the answer to {api.name} has correlation id {correlation_id}, expected {expected}: not a Kafka "
                    "broker, or a proxy mixes up answers",
                )
        return [answer[4:] for answer in answers]

    def _decoded(self, api: Api[object, ResponseT], version: int, answer: bytes) -> ResponseT:
        try:
            return api.decode_response(version, answer)
        except DecodeError as error:
            message = f"the answer to {api.name} cannot be read: {error}"
            raise errors.ProtocolError(self.address, message) from None

    def _learn_versions(self, deadline: Deadline) -> Steps[None]:
        """Send ApiVersions with our newest version; an older broker answers with version 0."""
        # Version 5 (KIP-1242) requires both ids, and costs brokers before Kafka 4.4 one more request.
        expected = {"cluster_id": self._settings.cluster_id, "node_id": self._node_id}
        version = API_VERSIONS.sent[1] if None in expected.values() else API_VERSIONS.versions[1]
        answer = yield from self._ask_versions(version, deadline)
        if int.from_bytes(answer[:2], "big", signed=True) == ErrorCode.UNSUPPORTED_VERSION:
            oldest = self._decoded(API_VERSIONS, 0, answer)
            known = {key.api_key: (key.min_version, key.max_version) for key in oldest.api_keys}
            version = API_VERSIONS.agree(*known.get(API_VERSIONS.key, (0, 0))) or 0
            answer = yield from self._ask_versions(version, deadline)
        response = self._decoded(API_VERSIONS, version, answer)
        if response.error_code == ErrorCode.REBOOTSTRAP_REQUIRED:
            raise errors.WrongCluster(
                f"{self.address}: this is not broker {self._node_id} of the cluster {self._settings.cluster_id}. Check "
                "which host the address that the cluster advertises (advertised.listeners) leads to.",
                address=self.address,
            )
        if response.error_code:
            name = error_name(response.error_code)
            raise errors.ProtocolError(self.address, f"ApiVersions was refused: {name}")
        self._versions = {key.api_key: (key.min_version, key.max_version) for key in response.api_keys}
        self.features = features_in(response)

    def _ask_versions(self, version: int, deadline: Deadline) -> Steps[bytes]:
        limit_ms = self._settings.connection_setup_timeout_ms
        try:
            asked = {**SOFTWARE, "cluster_id": self._settings.cluster_id, "node_id": self._node_id}
            answers = yield from self._exchange(API_VERSIONS, version, [asked], deadline, limit_ms)
        except errors.Unreachable as error:
            protocol = self._settings.security_protocol.value
            message = f"{error.reason}. Check that it is a Kafka listener with security.protocol {protocol}."
            raise errors.Unreachable(self.address, message) from None
        return answers[0]

    def _authenticate(self, deadline: Deadline) -> Steps[None]:
        from wire.client.sasl import authenticate

        def ask(api: Api[object, ResponseT], **fields: object) -> Steps[ResponseT]:
            (response,) = yield from self._ask(api, self.version(api), [fields], deadline)
            return response

        lifetime_ms = yield from authenticate(self.address, self._settings, ask, deadline)
        self._session = Deadline(lifetime_ms * _SESSION_USED) if lifetime_ms else None
