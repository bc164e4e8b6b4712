"""An identity provider on loopback: tokens signed with RS256, and the keys that a broker checks them by (JWKS)."""

import base64
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256

from tests.kafka.http_server import Answer, Asked, http_server

ISSUER, AUDIENCE = "https://login.kohort.test", "kafka"
_KEY_ID = "k1"


@dataclass(frozen=True, kw_only=True)
class IdentityProvider:
    url: str
    key: rsa.RSAPrivateKey

    def token(
        self, *, audience: str = AUDIENCE, life_s: float = 600.0, key: rsa.RSAPrivateKey | None = None
    ) -> str:
        """A token of the user bob, signed with the provider's key or another one."""
        now = int(time.time())
        claims = {
            "iss": ISSUER,
            "aud": audience,
            "sub": "bob",
            "iat": now,
            "exp": now + life_s,
            "scope": "kafka",
        }
        signed = f"{_json({'alg': 'RS256', 'kid': _KEY_ID, 'typ': 'JWT'})}.{_json(claims)}"
        signature = (key or self.key).sign(signed.encode(), padding.PKCS1v15(), SHA256())
        return f"{signed}.{_segment(signature)}"


@contextmanager
def identity_provider() -> Iterator[IdentityProvider]:
    """Serve one: /jwks has its keys, /token gives every client a token."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    numbers = key.public_key().public_numbers()
    jwk = {
        "kty": "RSA",
        "use": "sig",
        "alg": "RS256",
        "kid": _KEY_ID,
        "n": _number(numbers.n),
        "e": _number(numbers.e),
    }
    made: list[IdentityProvider] = []

    def answer(asked: Asked) -> Answer:
        body: Mapping[str, object] = (
            {"keys": [jwk]}
            if asked.path.startswith("/jwks")
            else {"access_token": made[0].token(), "expires_in": 600}
        )
        return Answer(body=json.dumps(body).encode())

    with http_server(answer) as url:
        made.append(IdentityProvider(url=url, key=key))
        yield made[0]


def _number(value: int) -> str:
    return _segment(value.to_bytes((value.bit_length() + 7) // 8, "big"))


def _json(content: object) -> str:
    return _segment(json.dumps(content).encode())


def _segment(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")
