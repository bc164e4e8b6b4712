"""Tokens returned by a function: kohort.token.provider.

A provider is called with the cluster's bootstrap servers and its options, and returns a token and its expiry in
seconds since 1970. Kohort has some built in; packages register more as entry points of the group
``kohort.tokens``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from typing import TypeAlias

from wire.client.errors import AuthenticationFailed, Unreachable, UnsupportedMechanism, WireError
from wire.client.excerpts import clipped, masked
from wire.client.in_time import in_time
from wire.client.logins import require
from wire.client.security import TokenProvider
from wire.client.steps import Deadline
from wire.client.tokens.token import Token, token_of

GROUP = "kohort.tokens"
MSK_IAM, AWS_STS, AZURE, GOOGLE = "aws-msk-iam", "aws-sts", "azure", "gcp"

Provide: TypeAlias = Callable[[Sequence[str], Mapping[str, str]], tuple[str, float]]

_LONGEST_REASON = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class _BuiltIn:
    extra: str
    module: str
    function: str


_BUILT_IN = {
    MSK_IAM: _BuiltIn(extra="aws", module="wire.client.tokens.aws", function="msk_token"),
    AWS_STS: _BuiltIn(extra="aws", module="wire.client.tokens.aws", function="web_identity_token"),
    AZURE: _BuiltIn(extra="azure", module="wire.client.tokens.azure", function="azure_token"),
    GOOGLE: _BuiltIn(extra="gcp", module="wire.client.tokens.google", function="google_token"),
}


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
    own = _BUILT_IN.get(name)
    if own is not None:
        require(own.extra, f"the token provider {name}")
        provide: Provide = getattr(import_module(own.module), own.function)
        return provide
    registered = {each.name: each for each in entry_points(group=GROUP)}
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
