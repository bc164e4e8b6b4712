"""A token endpoint (RFC 6749) on loopback that hands out unsecured JSON web tokens, as a test broker takes them."""

import base64
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs

from tests.kafka.http_server import Answer, Asked, http_server

CLIENT, SECRET, SCOPE = "kohort", "kohort-secret", "kafka"


@dataclass(kw_only=True)
class TokenEndpoint:
    """What it hands out, and what it was asked. `answer`: status and body instead of a token: bytes, or what becomes
    JSON."""

    url: str
    subject: str = CLIENT
    life_s: float = 600.0
    answer: tuple[int, object] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    asked: list[dict[str, str]] = field(default_factory=list)

    def token(self, scope: str) -> str:
        now = time.time()
        claims = {"sub": self.subject, "iat": now, "exp": now + self.life_s, "scope": scope}
        return f"{_segment({'alg': 'none'})}.{_segment(claims)}."

    def respond(self, login: str, form: Mapping[str, str]) -> tuple[int, object]:
        self.asked.append(dict(form))
        if self.answer is not None:
            return self.answer
        if login != "Basic " + base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode():
            said = base64.b64decode(login.removeprefix("Basic ")).decode()
            return 401, {"error": "invalid_client", "error_description": f"who is {said}?"}
        grants = ("client_credentials", "urn:ietf:params:oauth:grant-type:jwt-bearer")
        if form.get("grant_type") not in grants:
            return 400, {"error": "unsupported_grant_type"}
        token = self.token(form.get("scope", ""))
        return 200, {"access_token": token, "token_type": "Bearer", "expires_in": int(self.life_s)}


@contextmanager
def token_endpoint(certificate: Path | None = None) -> Iterator[TokenEndpoint]:
    """Serve one; with a PEM file of key and chain over https."""
    held: list[TokenEndpoint] = []

    def answer(asked: Asked) -> Answer:
        form = {name: values[0] for name, values in parse_qs(asked.body.decode()).items()}
        status, body = held[0].respond(asked.headers.get("Authorization", ""), form)
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return Answer(status=status, body=data, headers=held[0].headers)

    with http_server(answer, certificate) as url:
        held.append(TokenEndpoint(url=f"{url}/token"))
        yield held[0]


def _segment(content: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")
