"""The server's side of a SASL login, without I/O: PLAIN and SCRAM (KIP-43, KIP-152, KIP-368)."""

import hashlib
import hmac
import secrets
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

from wire.client.security import Secret
from wire.errors import ErrorCode
from wire.messages.definition import API_VERSIONS_KEY, HEAD, Api
from wire.messages.reader import DecodeError
from wire.messages.schemas.security import SASL_AUTHENTICATE, SASL_HANDSHAKE

if TYPE_CHECKING:
    from wire.messages.schemas.security import SaslAuthenticateResponseFields
SCRAM_DIGESTS = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
ITERATIONS = 4096  # Kafka's default for both mechanisms (ScramMechanism.minIterations)
SALT_BYTES = 16


ScramCredential: TypeAlias = tuple[bytes, bytes, bytes, int]  # salt, stored and server key, iterations


class Users:
    """Passwords by user name. SCRAM credentials are derived when they are first needed."""

    def __init__(self, passwords: Mapping[str, Secret]) -> None:
        self._passwords = dict(passwords)
        self._credentials: dict[tuple[str, str], ScramCredential] = {}

    def __len__(self) -> int:
        return len(self._passwords)

    def has_password(self, user: str, password: str) -> bool:
        """Whether the user exists and has this password. Takes the same time in every case."""
        known = self._passwords.get(user)
        expected = "" if known is None else known.reveal()
        return hmac.compare_digest(expected.encode(), password.encode()) and known is not None

    def scram_credential(self, user: str, mechanism: str) -> ScramCredential | None:
        password = self._passwords.get(user)
        if password is None:
            return None
        if (user, mechanism) not in self._credentials:
            credential = _scram_credential(password.reveal(), SCRAM_DIGESTS[mechanism])
            self._credentials[user, mechanism] = credential
        return self._credentials[user, mechanism]


def _scram_credential(password: str, digest: str) -> ScramCredential:
    """As in Kafka: from the password's bytes, which are not normalized (ScramFormatter.normalize)."""
    salt = secrets.token_bytes(SALT_BYTES)
    salted = hashlib.pbkdf2_hmac(digest, password.encode(), salt, ITERATIONS)
    client_key = hmac.digest(salted, b"Client Key", digest)
    server_key = hmac.digest(salted, b"Server Key", digest)
    return salt, hashlib.new(digest, client_key).digest(), server_key, ITERATIONS


MIN_REAUTHENTICATION_MS = 1_000  # a handshake this soon after another starts no login (KafkaChannel)
TOKENS_IN_REQUESTS = 1  # the SaslHandshake version after which SaslAuthenticate carries the tokens

Exchange = Generator[bytes, bytes, tuple[str, bytes]]  # tokens in, answers out, then user and last answer


class LoginRefused(Exception):
    """The login failed; the text is sent to the client, and is empty if it would reveal too much."""


class LoginState(Enum):
    HANDSHAKE, AUTHENTICATE, COMPLETE, FAILED = range(4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer, if any; with `failed`, the reason, the connection is closed after it."""

    answer: bytes | None = None
    failed: str | None = None


class SaslLogin:
    def __init__(self, users: Users, mechanisms: Sequence[str], max_reauth_ms: int) -> None:
        """`max_reauth_ms`: how long a login is valid; 0: no limit."""
        self._users = users
        self._mechanisms = tuple(mechanisms)
        self._max_reauth_ms = max_reauth_ms
        self._state = LoginState.HANDSHAKE
        self._mechanism = ""
        self._handshake_version = 0
        self._exchange: Exchange | None = None
        self._expires_ms: int | None = None
        self._reauthenticated_ms: int | None = None
        self.user: str | None = None

    @property
    def is_complete(self) -> bool:
        return self._state is LoginState.COMPLETE

    def receive(self, content: bytes, now_ms: int) -> Reply | None:
        """Take a frame. None: it is a request for the server to answer. Raises DecodeError: it is malformed."""
        if self._state is LoginState.COMPLETE:
            return self._during_session(content, now_ms)
        if self._state is LoginState.AUTHENTICATE and self._handshake_version < TOKENS_IN_REQUESTS:
            return self._bare_token(content, now_ms)
        key, version, correlation_id = _head(content)
        if self._state is LoginState.HANDSHAKE:
            if key == API_VERSIONS_KEY:
                return None
            if key == SASL_HANDSHAKE.key:
                return self._handshake(content, version, correlation_id)
        elif self._state is LoginState.AUTHENTICATE and key == SASL_AUTHENTICATE.key:
            return self._token(content, version, correlation_id, now_ms)
        return self._fail(None, f"unexpected request of API {key} during the SASL handshake")

    def _during_session(self, content: bytes, now_ms: int) -> Reply | None:
        if self._expires_ms is None:
            return None
        key, version, correlation_id = _head(content)
        reauthenticated_ms = self._reauthenticated_ms
        just_now = reauthenticated_ms is not None and now_ms - reauthenticated_ms < MIN_REAUTHENTICATION_MS
        if key == SASL_HANDSHAKE.key and not just_now:
            self._reauthenticated_ms = now_ms
            return self._handshake(content, version, correlation_id)
        if now_ms > self._expires_ms:
            return self._fail(None, "the session has expired, and the client has not logged in again")
        return None

    def _handshake(self, content: bytes, version: int, correlation_id: int) -> Reply:
        mechanism = _request(SASL_HANDSHAKE, version, content).mechanism
        is_enabled = mechanism in self._mechanisms
        error = ErrorCode.NONE if is_enabled else ErrorCode.UNSUPPORTED_SASL_MECHANISM
        answer = SASL_HANDSHAKE.encode_response(
            version, correlation_id, {"error_code": error, "mechanisms": self._mechanisms}
        )
        if not is_enabled:
            return self._fail(answer, f"SASL mechanism {mechanism[:40]!r} is not enabled")
        self._state = LoginState.AUTHENTICATE
        self._handshake_version = version
        if self.user is not None and mechanism != self._mechanism:
            return self._fail(answer, "re-authentication requires the same SASL mechanism")
        self._mechanism = mechanism
        self._exchange = MECHANISMS[mechanism](self._users, mechanism)
        next(self._exchange)
        return Reply(answer=answer)

    def _bare_token(self, content: bytes, now_ms: int) -> Reply:
        try:
            return Reply(answer=self._step(content, now_ms))
        except LoginRefused as error:
            return self._fail(None, str(error) or "the credentials are invalid")

    def _token(self, content: bytes, version: int, correlation_id: int, now_ms: int) -> Reply:
        token = _request(SASL_AUTHENTICATE, version, content).auth_bytes
        try:
            fields: SaslAuthenticateResponseFields = {
                "error_code": ErrorCode.NONE,
                "error_message": "",
                "auth_bytes": self._step(token, now_ms),
                "session_lifetime_ms": self._max_reauth_ms if self.is_complete else 0,
            }
            return Reply(answer=SASL_AUTHENTICATE.encode_response(version, correlation_id, fields))
        except LoginRefused as error:
            what = "authentication" if self.user is None else "re-authentication"
            message = str(error) or (
                f"Authentication failed during {what} due to invalid credentials "
                f"with SASL mechanism {self._mechanism}"
            )
            failed = ErrorCode.SASL_AUTHENTICATION_FAILED
            fields = {"error_code": failed, "error_message": message, "auth_bytes": b""}
            return self._fail(SASL_AUTHENTICATE.encode_response(version, correlation_id, fields), message)

    def _step(self, token: bytes, now_ms: int) -> bytes:
        """The mechanism's answer to a token; after the last one the login is complete. Raises LoginRefused."""
        if self._exchange is None:
            raise LoginRefused
        user: str
        last: bytes
        try:
            return self._exchange.send(token)
        except StopIteration as end:
            user, last = end.value
        if self.user not in (None, user):
            change = f"from User.{self.user}: User.{user}"
            raise LoginRefused(f"Cannot change principals during re-authentication {change}")
        self.user, self._exchange, self._state = user, None, LoginState.COMPLETE
        self._expires_ms = now_ms + self._max_reauth_ms if self._max_reauth_ms else None
        return last

    def _fail(self, answer: bytes | None, why: str) -> Reply:
        self._state, self._exchange = LoginState.FAILED, None
        return Reply(answer=answer, failed=why)


def _head(content: bytes) -> tuple[int, int, int]:
    if len(content) < HEAD.size:
        raise DecodeError(f"the request has only {len(content)} bytes")
    return HEAD.unpack_from(content)


def _request(api: Api, version: int, content: bytes) -> Any:
    oldest, newest = api.versions
    if not oldest <= version <= newest:
        raise DecodeError(f"{api.name} {version} is not served")
    return api.decode_request(version, content)[1]


PLAIN_TOKENS = 3  # the authorization id, the user and the password


def _plain(users: Users, _mechanism: str) -> Exchange:
    """RFC 4616, with the refusals of Kafka's `PlainSaslServer`."""
    tokens = (yield b"").decode(errors="replace").split("\0", PLAIN_TOKENS)
    if len(tokens) != PLAIN_TOKENS:
        raise LoginRefused(f"Invalid SASL/PLAIN response: expected {PLAIN_TOKENS} tokens, got {len(tokens)}")
    authorization_id, user, password = tokens
    if not user:
        raise LoginRefused("Authentication failed: username not specified")
    if not password:
        raise LoginRefused("Authentication failed: password not specified")
    if not users.has_password(user, password):
        raise LoginRefused("Authentication failed: Invalid username or password")
    if authorization_id not in ("", user):
        why = "Client requested an authorization id that is different from username"
        raise LoginRefused(f"Authentication failed: {why}")
    return user, b""


def _scram(users: Users, mechanism: str) -> Exchange:
    """RFC 5802, through scramp."""
    from scramp import ScramException, ScramMechanism

    asked: list[str] = []

    def credential(user: str) -> ScramCredential | None:
        asked.append(user)
        return users.scram_credential(user, mechanism)

    server = ScramMechanism(mechanism).make_server(credential)
    first = yield b""
    try:
        server.set_client_first(first.decode())
        final = yield server.get_server_first().encode()
        server.set_client_final(final.decode())
        return asked[0], server.get_server_final().encode()
    except (ScramException, ValueError):
        raise LoginRefused from None


MECHANISMS: Mapping[str, Callable[[Users, str], Exchange]] = {
    "PLAIN": _plain,
    **dict.fromkeys(SCRAM_DIGESTS, _scram),
}
