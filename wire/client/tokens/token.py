"""A bearer token, and the parsers of the responses that contain it."""

import base64
import binascii
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass

from wire.client.errors import AuthenticationFailed
from wire.client.security import Secret

_LIFE_UNKNOWN_S = 300.0  # the time for which a token without a known expiry is used


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A bearer token, its expiry in seconds since 1970, and its owner as far as it is known."""

    value: Secret
    expires_s: float
    subject: str


def token_of(text: str, where: str, *, expires_s: float | None = None, client_id: str = "") -> Token:
    """A token with its own expiry, or else the given one. Raises AuthenticationFailed: invalid or expired."""
    if not text or any(not 0x21 <= ord(character) <= 0x7E for character in text):
        message = f"{where}: not a token: it is empty, or contains blanks or other invalid characters"
        raise AuthenticationFailed(message)
    claims = _claims(text)
    now = time.time()
    end = _number(claims.get("exp"))
    if end is None:
        end = now + _LIFE_UNKNOWN_S if expires_s is None else expires_s
    if end <= now:
        message = f"{where}: the token has expired already. Check the clocks of both machines."
        raise AuthenticationFailed(message)
    owner = claims.get("sub")
    return Token(value=Secret(text), expires_s=end, subject=owner if isinstance(owner, str) else client_id)


def token_in(fields: Mapping[str, object], where: str, *, client_id: str = "") -> Token | None:
    """The token of a JSON object: `access_token` with `expires_in` (RFC 6749), or Azure's format; or None."""
    text = fields.get("access_token") or fields.get("accessToken") or fields.get("id_token")
    if not isinstance(text, str) or not text:
        return None
    life_s, end_s = _number(fields.get("expires_in")), _number(fields.get("expires_on"))
    expires_s = end_s if life_s is None else time.time() + life_s
    return token_of(text, where, expires_s=expires_s, client_id=client_id)


def _claims(text: str) -> Mapping[str, object]:
    """The claims of a JSON web token; empty for another kind of token (RFC 6749 leaves the format open)."""
    parts = text.split(".")
    if len(parts) != 3:
        return {}
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return {}
    return claims if isinstance(claims, Mapping) else {}


def _number(value: object) -> float | None:
    """A finite number, which some endpoints write as text."""
    try:
        number = (
            float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else None
        )
    except (ValueError, OverflowError):
        return None
    return number if number is not None and abs(number) < 1e12 else None
