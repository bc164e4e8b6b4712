"""Tokens for sasl.mechanism OAUTHBEARER: from a token endpoint (RFC 6749, section 4.4), or from a file.

Imported only when the settings ask for it. A token is asked for when it is first needed and again when little of its
life is left, and never shown: no message holds a token or a client's secret.
"""

from __future__ import annotations

import base64
import binascii
import json
import ssl
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NoReturn

from wire.client.errors import AuthenticationFailed, Unreachable, WireError
from wire.client.security import OAuthSettings, Secret
from wire.client.steps import Deadline

_LEAST_LIFE_S = 30.0
"""A token with less left is not used for another login."""
_LIFE_UNKNOWN_S = 300.0
"""How long a token is used whose end nobody tells."""
_LONGEST_ANSWER = 1 << 20
_PAUSES_S = (0.1, 0.5)
"""Before an endpoint that is busy or out of reach is asked again."""
_BUSY = frozenset({408, 429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A bearer token, the end of its life in seconds since 1970, and whose it is as far as it says so."""

    value: Secret
    expires_s: float
    subject: str


class TokenSource:
    """The current token of one client; safe to ask from several threads."""

    def __init__(self, settings: OAuthSettings) -> None:
        self._settings = settings
        self._token: Token | None = None
        self._lock = threading.Lock()

    def token(self, deadline: Deadline) -> Token:
        """A token that still lives for a while.

        :raises AuthenticationFailed: the endpoint refuses the client, or answers without a token
        :raises Unreachable: the endpoint does not answer before the deadline, or the file cannot be read
        """
        with self._lock:
            if self._token is None or self._token.expires_s - time.time() < _LEAST_LIFE_S:
                self._token = _obtain(self._settings, deadline)
            return self._token

    def forget(self, token: Token) -> None:
        """Ask for another one next time: the broker has refused this one."""
        with self._lock:
            if self._token is token:
                self._token = None


@cache
def token_source(settings: OAuthSettings) -> TokenSource:
    """The one source for equal settings: both clients of a process share its token."""
    return TokenSource(settings)


def _obtain(settings: OAuthSettings, deadline: Deadline) -> Token:
    scheme = settings.token_endpoint.partition(":")[0].lower()
    if scheme == "file":
        return _read(settings.token_endpoint)
    if scheme not in ("http", "https"):
        raise _unreachable(settings, "it is no http or https URL")
    outcome: list[Token | WireError] = []

    def ask() -> None:
        try:
            outcome.append(_ask_patiently(settings, deadline))
        except WireError as error:
            outcome.append(error)
        except Exception as error:  # what an endpoint may yet think of: nobody else would hear of it
            outcome.append(_unreachable(settings, f"its answer cannot be read: {type(error).__name__}"))

    # In a thread: neither the name service nor an endpoint that answers byte by byte heeds a time limit.
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(deadline.remaining_ms() / 1000)
    if not outcome:
        raise _unreachable(settings, "timed out")
    if isinstance(outcome[0], WireError):
        raise outcome[0]
    return outcome[0]


def _read(url: str) -> Token:
    try:
        path = urllib.request.url2pathname(urllib.parse.urlsplit(url).path)
        with open(path, encoding="utf-8") as file:
            text = file.read(_LONGEST_ANSWER).strip()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise Unreachable(url, f"the token cannot be read ({reason})") from None
    return _made(text, None, url)


def _ask_patiently(settings: OAuthSettings, deadline: Deadline) -> Token:
    for pause_s in _PAUSES_S:
        try:
            return _ask(settings, deadline)
        except Unreachable:
            if deadline.remaining_ms() <= pause_s * 1000:
                raise
            time.sleep(pause_s)
    return _ask(settings, deadline)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The client's secret goes to the endpoint that was named, and nowhere else."""

    def redirect_request(self, *_args: Any, **_named: Any) -> None:
        return None


def _ask(settings: OAuthSettings, deadline: Deadline) -> Token:
    context = _context(settings) if settings.token_endpoint.lower().startswith("https:") else None
    opener = urllib.request.build_opener(_NoRedirect, urllib.request.HTTPSHandler(context=context))
    try:
        with opener.open(_request(settings), timeout=max(deadline.remaining_ms() / 1000, 0.001)) as answer:
            body = answer.read(_LONGEST_ANSWER)
    except urllib.error.HTTPError as error:
        with error:
            _refused(settings, error)
    except (OSError, urllib.error.URLError, ValueError) as error:
        raise _unreachable(settings, _reason(error)) from None
    except Exception as error:  # http.client's own tree: the peer speaks no HTTP
        raise _unreachable(settings, f"no HTTP server answers there: {type(error).__name__}") from None
    return _parsed(settings, body)


def _request(settings: OAuthSettings) -> urllib.request.Request:
    """The client's name in the header, as Java and librdkafka send it."""
    name, secret = settings.client_id, settings.client_secret.reveal()
    if settings.url_encode_header:
        name, secret = urllib.parse.quote_plus(name), urllib.parse.quote_plus(secret)
    login = base64.b64encode(f"{name}:{secret}".encode()).decode()
    form = {"grant_type": "client_credentials"}
    if settings.scope:
        form["scope"] = settings.scope
    headers = {
        "Authorization": f"Basic {login}",
        "Accept": "application/json",
        "Content-Type": "application/x-www-form-urlencoded",
    }
    data = urllib.parse.urlencode(form).encode()
    url = settings.token_endpoint  # http or https: a file's was read elsewhere
    return urllib.request.Request(url, data=data, headers=headers, method="POST")  # noqa: S310


def _context(settings: OAuthSettings) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=settings.ca_path, cadata=settings.ca_pem)
    except (OSError, ValueError) as error:
        where = settings.ca_path or "https.ca.pem"
        raise Unreachable(where, f"no PEM certificates can be read ({_reason(error)})") from None


def _refused(settings: OAuthSettings, error: urllib.error.HTTPError) -> NoReturn:
    """An answer that is no success. :raises Unreachable: it may be one later"""
    url = settings.token_endpoint
    if error.code in _BUSY:
        raise _unreachable(settings, f"HTTP status {error.code}")
    if 300 <= error.code < 400:
        place = error.headers.get("Location", "another place")
        raise AuthenticationFailed(
            f"the token endpoint {url} redirects to {place}: set sasl.oauthbearer.token.endpoint.url to that"
        )
    try:
        reason = _told(json.loads(error.read(_LONGEST_ANSWER)))
    except (OSError, ValueError, RecursionError):
        reason = ""
    raise AuthenticationFailed(
        _without_secret(
            settings,
            f"the token endpoint {url} refuses client {settings.client_id!r} "
            f"({reason or f'HTTP status {error.code}'}). {_next_step(error.code, reason)}",
        )
    )


def _next_step(status: int, reason: str) -> str:
    if "scope" in reason:
        return "Check sasl.oauthbearer.scope."
    if status in (404, 405):
        return "Check sasl.oauthbearer.token.endpoint.url."
    return (
        "Check the client's id and secret (sasl.oauthbearer.client.credentials.client.id and …client.secret)."
    )


def _told(answer: Any) -> str:
    """The error of RFC 6749, section 5.2; empty where it is none."""
    if not isinstance(answer, Mapping) or not isinstance(answer.get("error"), str):
        return ""
    description = answer.get("error_description")
    error: str = answer["error"]
    return f"{error}: {description}" if isinstance(description, str) and description else error


def _parsed(settings: OAuthSettings, body: bytes) -> Token:
    url = settings.token_endpoint
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        raise AuthenticationFailed(
            f"the token endpoint {url} answers something that is no JSON. Check sasl.oauthbearer.token.endpoint.url."
        ) from None
    fields = answer if isinstance(answer, Mapping) else {}
    if reason := _told(fields):
        raise AuthenticationFailed(
            _without_secret(
                settings, f"the token endpoint {url} refuses client {settings.client_id!r} ({reason})"
            )
        )
    text = fields.get("access_token") or fields.get("id_token")
    if not isinstance(text, str) or not text:
        raise AuthenticationFailed(
            f"the token endpoint {url} answers without an access_token. Check sasl.oauthbearer.token.endpoint.url."
        )
    return _made(text, fields.get("expires_in"), f"the token endpoint {url}", settings.client_id)


def _made(text: str, expires_in: Any, where: str, client_id: str = "") -> Token:
    """A token with the end that it tells itself, or else the endpoint."""
    if not text or any(not 0x21 <= ord(character) <= 0x7E for character in text):
        raise AuthenticationFailed(f"{where}: that is no token: it is empty, or holds blanks or other signs")
    claims = _claims(text)
    now = time.time()
    end = _number(claims.get("exp"))
    if end is None:
        life = _number(expires_in)
        end = now + (_LIFE_UNKNOWN_S if life is None else life)
    if end <= now:
        raise AuthenticationFailed(
            f"{where}: the token has expired already. Check the clocks of both machines."
        )
    subject = claims.get("sub")
    return Token(
        value=Secret(text), expires_s=end, subject=subject if isinstance(subject, str) else client_id
    )


def _claims(text: str) -> Mapping[str, Any]:
    """What a JSON web token says of itself; nothing of a token that is none (RFC 6749 leaves its form open)."""
    parts = text.split(".")
    if len(parts) != 3:
        return {}
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return {}
    return claims if isinstance(claims, Mapping) else {}


def _number(value: Any) -> float | None:
    """A finite number, which some endpoints write as a text."""
    try:
        number = (
            float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else None
        )
    except (ValueError, OverflowError):
        return None
    return number if number is not None and abs(number) < 1e12 else None


def _unreachable(settings: OAuthSettings, reason: str) -> Unreachable:
    return Unreachable(
        f"the token endpoint {settings.token_endpoint}",
        f"{reason}. Without a token there is no login: check sasl.oauthbearer.token.endpoint.url and the network"
        + (
            "; a private authority's certificates go to https.ca.location."
            if "CERTIFICATE_VERIFY_FAILED" in reason
            else "."
        ),
    )


def _reason(error: BaseException) -> str:
    cause = getattr(error, "reason", error)
    if isinstance(cause, TimeoutError):
        return "timed out"
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"CERTIFICATE_VERIFY_FAILED: {cause.verify_message}"
    return str(getattr(cause, "strerror", None) or cause)


def _without_secret(settings: OAuthSettings, message: str) -> str:
    """Some endpoints repeat what they were sent."""
    secret = settings.client_secret.reveal()
    return message.replace(secret, "***") if secret else message
