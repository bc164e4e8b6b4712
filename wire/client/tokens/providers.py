"""Tokens returned by a function: kohort.token.provider.

A provider is called with the cluster's bootstrap servers and its options, and returns a token and its expiry in
seconds since 1970. Kohort has some built in; packages register more as entry points of the group
``kohort.tokens``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import entry_points
from typing import TypeAlias

from wire.client.commands import clipped, in_time, masked
from wire.client.errors import AuthenticationFailed, Unreachable, UnsupportedMechanism, WireError
from wire.client.logins import require
from wire.client.security import TokenProvider
from wire.client.steps import Deadline
from wire.client.tokens import clouds
from wire.client.tokens.token import Token, token_of

GROUP = "kohort.tokens"
MSK_IAM, AWS_STS, AZURE, GOOGLE = "aws-msk-iam", "aws-sts", "azure", "gcp"

Provide: TypeAlias = Callable[[Sequence[str], Mapping[str, str]], tuple[str, float]]

_LONGEST_REASON = 400


_BUILT_IN: Mapping[str, tuple[str, Provide]] = {
    MSK_IAM: ("aws", clouds.msk_token),
    AWS_STS: ("aws", clouds.web_identity_token),
    AZURE: ("azure", clouds.azure_token),
    GOOGLE: ("gcp", clouds.google_token),
}
"""Providers, and the extras that they need."""


def provided_token(provider: TokenProvider, servers: Sequence[str], deadline: Deadline) -> Token:
    """Call the provider.

    :raises UnsupportedMechanism: it is unknown, or its packages are not installed
    :raises AuthenticationFailed: it raises, or does not return a token and its expiry
    :raises Unreachable: it does not return before the deadline
    """
    where = f"the token provider {provider.name}"
    options = {name: value.reveal() for name, value in provider.options}
    provide = _provider(provider.name)
    try:
        made = in_time(lambda: provide(servers, options), deadline)
    except TimeoutError:
        raise Unreachable(where, "timed out. Without a token there is no login.") from None
    except WireError:
        raise
    except Exception as error:  # a library's own exceptions
        raise AuthenticationFailed(f"{where} failed: {_reason(error, options)}") from None
    match made:
        case (str(text), int(end) | float(end)):
            return token_of(text, where, expires_s=float(end))
    raise AuthenticationFailed(
        f"{where} must return a token and its expiry in seconds since 1970, and returned a {type(made).__name__}."
    )


def _provider(name: str) -> Provide:
    if name in _BUILT_IN:
        extra, provide = _BUILT_IN[name]
        require(extra, f"the token provider {name}")
        return provide
    registered = {point.name: point for point in entry_points(group=GROUP)}
    if name not in registered:
        known = ", ".join([*_BUILT_IN, *sorted(registered)])
        raise UnsupportedMechanism(
            f"kohort.token.provider: there is no provider {name!r}, only {known}. Packages register one as an entry "
            f"point of the group {GROUP}."
        )
    try:
        loaded: Provide = registered[name].load()
    except Exception as error:  # anything that the package's import raises
        raise UnsupportedMechanism(
            f"the token provider {name} ({registered[name].value}) cannot be loaded: {_reason(error, {})}"
        ) from None
    return loaded


def _reason(error: Exception, options: Mapping[str, str]) -> str:
    """A library's error, without the options' secrets, and shortened."""
    secrets = [
        value for name, value in options.items() if "secret" in name.lower() or "password" in name.lower()
    ]
    text = masked(str(error), secrets)
    return clipped(f"{type(error).__name__}: {text}" if text else type(error).__name__, _LONGEST_REASON)
