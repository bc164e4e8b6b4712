"""Tokens of an endpoint: an identity provider's (RFC 6749, section 4.4), or Azure's metadata service."""

import base64
import json
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Collection, Mapping
from typing import NoReturn, TypeAlias

from wire.client.commands import clipped, excerpt, in_time, masked
from wire.client.errors import AuthenticationFailed, Unreachable, WireError
from wire.client.security import MetadataEndpoint, TokenEndpoint
from wire.client.steps import Deadline
from wire.client.tokens.token import Token, token_in

Endpoint: TypeAlias = TokenEndpoint | MetadataEndpoint

_LONGEST_ANSWER = 1 << 20
_LONGEST_REASON = 400
_PAUSES_S = (0.1, 0.5)  # the pause before a busy or unreachable endpoint is asked again
_BUSY = frozenset({408, 429, 500, 502, 503, 504})
_CHECK_NETWORK = (
    "Without a token there is no login: check sasl.oauthbearer.token.endpoint.url and the network"
)
_CHECK_URL = "Check sasl.oauthbearer.token.endpoint.url."


def issued_token(endpoint: Endpoint, deadline: Deadline) -> Token:
    """Ask an http or https endpoint for a token. Raises AuthenticationFailed: it refuses. Raises Unreachable."""

    def ask() -> Token:
        for pause_s in _PAUSES_S:
            try:
                return _ask(endpoint, deadline)
            except Unreachable:
                if deadline.remaining_ms() <= pause_s * 1000:
                    raise
                time.sleep(pause_s)
        return _ask(endpoint, deadline)

    try:
        # A timeout limits neither the name service nor an endpoint that answers byte by byte.
        return in_time(ask, deadline)
    except WireError:
        raise
    except TimeoutError:
        raise _unreachable(endpoint, "timed out") from None
    except Exception as error:  # any other fault of an endpoint
        raise _unreachable(endpoint, f"its answer cannot be read: {type(error).__name__}") from None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The client's secret goes to the configured endpoint only."""

    def redirect_request(self, *_args: object, **_named: object) -> None:
        return None


def _ask(endpoint: Endpoint, deadline: Deadline) -> Token:
    request, opener = _request_and_opener(endpoint)
    try:
        with opener.open(request, timeout=max(deadline.remaining_ms() / 1000, 0.001)) as answer:
            body = answer.read(_LONGEST_ANSWER)
    except urllib.error.HTTPError as error:
        with error:
            _refused(endpoint, error)
    except (OSError, urllib.error.URLError, ValueError) as error:
        raise _unreachable(endpoint, _reason(error)) from None
    except Exception as error:  # http.client's own exceptions: the peer does not speak HTTP
        raise _unreachable(endpoint, f"no HTTP server answers there: {type(error).__name__}") from None
    return _parse_token(endpoint, body)


def _request_and_opener(endpoint: Endpoint) -> tuple[urllib.request.Request, urllib.request.OpenerDirector]:
    if isinstance(endpoint, MetadataEndpoint):
        # The service is on the machine itself: no proxy reaches it.
        opener = urllib.request.build_opener(_NoRedirect, urllib.request.ProxyHandler({}))
        return urllib.request.Request(endpoint.url, headers={"Metadata": "true"}), opener  # noqa: S310
    context = None
    if endpoint.url.lower().startswith("https:"):
        try:
            context = ssl.create_default_context(cafile=endpoint.ca_path, cadata=endpoint.ca_pem)
        except (OSError, ValueError) as error:
            where = endpoint.ca_path or "https.ca.pem"
            raise Unreachable(where, f"no PEM certificates can be read ({_reason(error)})") from None
    opener = urllib.request.build_opener(_NoRedirect, urllib.request.HTTPSHandler(context=context))
    form = {"grant_type": "client_credentials"} | ({"scope": endpoint.scope} if endpoint.scope else {})
    headers = {
        # The client's name in the header, as Java and librdkafka send it.
        "Authorization": f"Basic {_login(endpoint)}",
        "Accept": "application/json",
        "Content-Type": "application/x-www-form-urlencoded",
    }
    data = urllib.parse.urlencode(form).encode()
    return urllib.request.Request(endpoint.url, data=data, headers=headers, method="POST"), opener  # noqa: S310


def _login(endpoint: TokenEndpoint) -> str:
    name, secret = endpoint.client_id, endpoint.client_secret.reveal()
    if endpoint.url_encode_header:
        name, secret = urllib.parse.quote_plus(name), urllib.parse.quote_plus(secret)
    return base64.b64encode(f"{name}:{secret}".encode()).decode()


def _refused(endpoint: Endpoint, error: urllib.error.HTTPError) -> NoReturn:
    """An unsuccessful response. Raises Unreachable: a retry may succeed."""
    where, secrets = _name(endpoint), _secrets(endpoint)
    if 300 <= error.code < 400:
        target = masked(error.headers.get("Location", "another place").partition("?")[0], secrets)
        message = f"{where} redirects to {target}: set sasl.oauthbearer.token.endpoint.url to that"
        raise AuthenticationFailed(message)
    try:
        body = error.read(_LONGEST_ANSWER)
    except OSError:
        body = b""
    reason = _oauth_error(_parse_json(body), secrets)
    answered = f"HTTP status {error.code}" + (f": {excerpt(body, secrets)}" if body.strip() else "")
    if error.code in _BUSY:
        raise _unreachable(endpoint, reason or answered)
    raise AuthenticationFailed(
        f"{where} refuses {_client(endpoint)} ({reason or answered}). "
        f"{_next_step(endpoint, error.code, reason)}"
    )


def _next_step(endpoint: Endpoint, status: int, reason: str) -> str:
    if isinstance(endpoint, MetadataEndpoint):
        return "Check that the machine has an identity, and the query of sasl.oauthbearer.config."
    if "scope" in reason:
        return "Check sasl.oauthbearer.scope."
    if status in (404, 405):
        return _CHECK_URL
    return (
        "Check the client's id and secret (sasl.oauthbearer.client.credentials.client.id and …client.secret)."
    )


def _parse_json(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _oauth_error(answer: object, secrets: Collection[str]) -> str:
    """The error of RFC 6749, section 5.2, without the secrets that it repeats; empty without one."""
    if not isinstance(answer, Mapping) or not isinstance(answer.get("error"), str):
        return ""
    description = answer.get("error_description")
    error: str = answer["error"]
    text = f"{error}: {description}" if isinstance(description, str) and description else error
    return clipped(masked(text, secrets), _LONGEST_REASON)


def _parse_token(endpoint: Endpoint, body: bytes) -> Token:
    where, secrets = _name(endpoint), _secrets(endpoint)
    answer = _parse_json(body)
    if answer is None:
        message = f"{where} answered something that is not JSON: {excerpt(body, secrets)}. {_CHECK_URL}"
        raise AuthenticationFailed(message)
    fields = answer if isinstance(answer, Mapping) else {}
    if reason := _oauth_error(fields, secrets):
        raise AuthenticationFailed(f"{where} refuses {_client(endpoint)} ({reason})")
    client_id = endpoint.client_id if isinstance(endpoint, TokenEndpoint) else ""
    token = token_in(fields, where, client_id=client_id)
    if token is None:
        # The message has only the names of fields: a value may be a token under another name.
        names = masked(", ".join(map(str, fields))[:200], secrets)
        raise AuthenticationFailed(
            f"{where} answers without an access_token ({f'it has {names}' if names else 'it is not an object'}). "
            f"{_CHECK_URL}"
        )
    return token


def _name(endpoint: Endpoint) -> str:
    if isinstance(endpoint, MetadataEndpoint):
        return f"Azure's metadata service {endpoint.url.partition('?')[0]}"
    return f"the token endpoint {endpoint.url}"


def _client(endpoint: Endpoint) -> str:
    return f"client {endpoint.client_id!r}" if isinstance(endpoint, TokenEndpoint) else "a token"


def _secrets(endpoint: Endpoint) -> Collection[str]:
    """The client's secret in the forms in which it is sent: some endpoints repeat it."""
    if isinstance(endpoint, MetadataEndpoint):
        return ()
    secret = endpoint.client_secret.reveal()
    return {_login(endpoint), secret, urllib.parse.quote_plus(secret)} if secret else ()


def _unreachable(endpoint: Endpoint, reason: str) -> Unreachable:
    if isinstance(endpoint, MetadataEndpoint):
        step = "This works on Azure machines only. Elsewhere use kohort.token.provider=azure."
    elif "CERTIFICATE_VERIFY_FAILED" in reason:
        step = f"{_CHECK_NETWORK}; a private authority's certificates go to https.ca.location."
    else:
        step = f"{_CHECK_NETWORK}."
    return Unreachable(_name(endpoint), f"{reason}. {step}")


def _reason(error: BaseException) -> str:
    cause = getattr(error, "reason", error)
    if isinstance(cause, TimeoutError):
        return "timed out"
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"CERTIFICATE_VERIFY_FAILED: {cause.verify_message}"
    return str(getattr(cause, "strerror", None) or cause)
