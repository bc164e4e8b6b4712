"""The login of a client: the answers are a real broker's, word by word."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from coordinator.server.broker import Broker
from coordinator.server.security.access_file import AccessFile
from coordinator.server.security.security import secure as secured
from coordinator.server.security.settings import parse_security
from tests.coordinator.server.running import running
from tests.coordinator.server.security.conversation import CLOSED, Said, Steps, outcomes, plain
from tests.kafka.secure import PASSWORDS, SCRAM_PASSWORDS, SecureBroker
from wire.client.security import Secret, SecurityProtocol
from wire.messages.schemas.cluster import API_VERSIONS, METADATA
from wire.messages.schemas.security import DESCRIBE_ACLS

pytestmark = pytest.mark.kafka

_VERSIONS = (API_VERSIONS, 3, {"client_software_name": "tests", "client_software_version": "1"})
_METADATA = (METADATA, 1, {"topics": ()})
_GOOD = plain("kohort", PASSWORDS["kohort"])
_FIRST = b"n,,n=kohort,r=fyko+d2lbbFgONRv9qkxdawL"
_ANY_ACL = {
    "resource_name_filter": None, "principal_filter": None, "host_filter": None, "operation": 1,
    "permission_type": 1,
}  # fmt: skip

CONVERSATIONS: dict[str, Steps] = {
    "plain": [_VERSIONS, ("handshake", "PLAIN"), ("token", _GOOD), _METADATA],
    "plain, tokens in bare frames": [("handshake", "PLAIN", 0), ("raw", _GOOD), _METADATA],
    "plain, of the same authorization id": [
        ("handshake", "PLAIN"),
        ("token", plain("kohort", PASSWORDS["kohort"], "kohort")),
        _METADATA,
    ],
    "a wrong password": [("handshake", "PLAIN"), ("token", plain("kohort", "wrong")), _METADATA],
    "a wrong password in a bare frame": [("handshake", "PLAIN", 0), ("raw", plain("kohort", "wrong"))],
    "no such user": [("handshake", "PLAIN"), ("token", plain("no-such-user", "x"))],
    "an empty user": [("handshake", "PLAIN"), ("token", plain("", "x"))],
    "an empty password": [("handshake", "PLAIN"), ("token", plain("kohort", ""))],
    "another authorization id": [
        ("handshake", "PLAIN"),
        ("token", plain("kohort", PASSWORDS["kohort"], "admin")),
    ],
    "two tokens": [("handshake", "PLAIN"), ("token", b"kohort\0x")],
    "five tokens": [("handshake", "PLAIN"), ("token", b"\0kohort\0x\0y\0z")],
    "a token that is no text": [("handshake", "PLAIN"), ("token", b"\xff\xfe")],
    "scram of an unknown user": [("handshake", "SCRAM-SHA-512"), ("token", b"n,,n=no-such-user,r=abcdefgh")],
    "malformed scram": [("handshake", "SCRAM-SHA-512"), ("token", b"hello")],
    "scram without a proof": [("handshake", "SCRAM-SHA-256"), ("token", _FIRST), ("token", b"c=biws,r=x,p=eA==")],
    "scram of a bad encoding": [("handshake", "SCRAM-SHA-256"), ("token", b"\xff\xff")],
    "an unknown mechanism": [("handshake", "GSSAPI"), _METADATA],
    "a request before the login": [_METADATA],
    "a request after asking for versions": [_VERSIONS, _METADATA],
    "a token before the handshake": [("token", _GOOD)],
    "a handshake after the login": [("handshake", "PLAIN"), ("token", _GOOD), ("handshake", "PLAIN")],
    "a token after the login": [("handshake", "PLAIN"), ("token", _GOOD), ("token", _GOOD), _METADATA],
    "an ACL of a type that is not known": [
        ("handshake", "PLAIN"),
        ("token", _GOOD),
        (DESCRIBE_ACLS, 1, {**_ANY_ACL, "resource_type_filter": 99}),
        (DESCRIBE_ACLS, 1, {**_ANY_ACL, "resource_type_filter": 0}),
    ],
    "a frame that is no request": [("raw", b"abc")],
    "a handshake of the future": [(_VERSIONS[0], 3, _VERSIONS[2]), ("raw", b"\0\x11\0\x63\0\0\0\1\0\0\0\0")],
}  # fmt: skip


@asynccontextmanager
async def served(files: Path, **settings: str) -> AsyncIterator[Broker]:
    properties = {
        "ssl.keystore.location": str(files / "broker.store.pem"),
        "ssl.keystore.type": "PEM",
        "connection.failed.authentication.delay.ms": "10",
        **{name.replace("_", "."): value for name, value in settings.items()},
    }
    passwords = {name: Secret(password) for name, password in {**PASSWORDS, **SCRAM_PASSWORDS}.items()}
    file = AccessFile(passwords=passwords)
    security = secured(parse_security(SecurityProtocol.SASL_SSL, properties), file)
    async with running(properties, security) as broker:
        yield broker


def test_a_login_is_answered_as_a_broker_does(secure: SecureBroker) -> None:
    authority = str(secure.files / "ca.pem")

    async def ours() -> list[list[Said]]:
        async with served(secure.files) as broker:
            talks = (
                asyncio.to_thread(outcomes, broker.port, authority, steps) for steps in CONVERSATIONS.values()
            )
            return await asyncio.gather(*talks)

    mine = asyncio.run(ours())
    theirs = [outcomes(secure.ports["SASL_SSL"], authority, steps) for steps in CONVERSATIONS.values()]
    assert dict(zip(CONVERSATIONS, mine, strict=True)) == dict(zip(CONVERSATIONS, theirs, strict=True))
    assert sum(said[-1] == CLOSED for said in mine) > 5
