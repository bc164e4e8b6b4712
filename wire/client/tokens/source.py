"""The current token of a client, for sasl.mechanism OAUTHBEARER; imported only if the settings require it. A token is
requested on first use, and again shortly before it expires. No message contains a token or a client's secret."""

import json
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Mapping
from functools import cache

from wire.client.errors import AuthenticationFailed, Unreachable
from wire.client.security import OAuthSettings, TokenCommand, TokenFile, TokenProvider
from wire.client.steps import Deadline
from wire.client.tokens.token import Token, token_in, token_of

_LEAST_LIFE_S = 30.0  # A token with less time left is not used for another login
_LONGEST_FILE = 1 << 20


class TokenSource:
    """The current token of one client; safe to ask from several threads."""

    def __init__(self, settings: OAuthSettings, servers: tuple[str, ...] = ()) -> None:
        self._settings, self._servers = settings, servers
        self._token: Token | None = None
        self._lock = threading.Lock()

    def token(self, deadline: Deadline) -> Token:
        """A token that is still valid for a while. Raises AuthenticationFailed or Unreachable or
        UnsupportedMechanism."""
        with self._lock:
            if self._token is None or self._token.expires_s - time.time() < _LEAST_LIFE_S:
                self._token = _obtain(self._settings, self._servers, deadline)
            return self._token

    def forget(self, token: Token) -> None:
        """Request another token next time: the broker refused this one."""
        with self._lock:
            if self._token is token:
                self._token = None


@cache
def token_source(settings: OAuthSettings, servers: tuple[str, ...]) -> TokenSource:
    """The one source for equal settings: both clients of a process share its token."""
    return TokenSource(settings, servers)


def _obtain(settings: OAuthSettings, servers: tuple[str, ...], deadline: Deadline) -> Token:
    source = settings.source
    if isinstance(source, TokenFile):
        return _read(source.url)
    if isinstance(source, TokenCommand):
        return _printed(source, deadline)
    if isinstance(source, TokenProvider):
        from wire.client.tokens.providers import provided_token

        return provided_token(source, servers, deadline)
    from wire.client.tokens.endpoint import issued_token

    return issued_token(source, deadline)


def _read(url: str) -> Token:
    try:
        path = urllib.request.url2pathname(urllib.parse.urlsplit(url).path)
        with open(path, encoding="utf-8") as file:
            text = file.read(_LONGEST_FILE).strip()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise Unreachable(url, f"the token cannot be read ({reason})") from None
    return token_of(text, url)


def _printed(command: TokenCommand, deadline: Deadline) -> Token:
    """The token that a command prints: alone, or in a JSON object. Raises AuthenticationFailed or Unreachable."""
    from wire.client.commands import CommandFailed, CommandLate, printed_by

    where = f"the token command {command.arguments[0]}"
    try:
        text = printed_by(command.arguments, deadline.within(command.timeout_ms))
    except CommandLate as error:
        raise Unreachable(where, f"it {error} Allow more with kohort.token.timeout.ms.") from None
    except CommandFailed as error:
        raise AuthenticationFailed(f"{where} {error}") from None
    if not text.startswith("{"):
        return token_of(text, where)
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        raise AuthenticationFailed(f"{where} printed something that is neither a token nor JSON.") from None
    token = token_in(answer, where) if isinstance(answer, Mapping) else None
    if token is None:
        raise AuthenticationFailed(f"{where} printed JSON without an access_token.")
    return token
