"""Users and their passwords, for SASL."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from wire.client.security import Secret

SCRAM_DIGESTS = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
ITERATIONS = 4096
"""Kafka's default for both mechanisms (ScramMechanism.minIterations)."""
SALT_BYTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class ScramCredential:
    """A server's credential for SCRAM (RFC 5802)."""

    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int


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
        wanted = "" if known is None else known.reveal()
        return hmac.compare_digest(wanted.encode(), password.encode()) and known is not None

    def scram_credential(self, user: str, mechanism: str) -> ScramCredential | None:
        """None: unknown user."""
        password = self._passwords.get(user)
        if password is None:
            return None
        found = self._credentials.get((user, mechanism))
        if found is None:
            found = _scram_credential(password.reveal(), SCRAM_DIGESTS[mechanism])
            self._credentials[user, mechanism] = found
        return found


def _scram_credential(password: str, digest: str) -> ScramCredential:
    """As in Kafka: from the password's bytes, which are not normalized (ScramFormatter.normalize)."""
    salt = secrets.token_bytes(SALT_BYTES)
    salted = hashlib.pbkdf2_hmac(digest, password.encode(), salt, ITERATIONS)
    client_key = hmac.digest(salted, b"Client Key", digest)
    return ScramCredential(
        salt=salt,
        stored_key=hashlib.new(digest, client_key).digest(),
        server_key=hmac.digest(salted, b"Server Key", digest),
        iterations=ITERATIONS,
    )
