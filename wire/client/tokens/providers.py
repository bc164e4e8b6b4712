"""Tokens returned by a function: kohort.token.provider, called with the bootstrap servers and its options. Those of
Amazon, Azure and Google are built in; packages register more as entry points of the group ``kohort.tokens``."""

from __future__ import annotations

import base64
import json
import logging
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, TypeAlias

from wire.client.commands import clipped, in_time, masked
from wire.client.errors import AuthenticationFailed, Unreachable, UnsupportedMechanism, WireError
from wire.client.logins import require
from wire.client.security import TokenProvider
from wire.client.steps import Deadline
from wire.client.tokens.token import Token, token_of

if TYPE_CHECKING:
    from boto3 import Session
    from botocore.credentials import Credentials

GROUP = "kohort.tokens"
MSK_IAM, AWS_STS, AZURE, GOOGLE = "aws-msk-iam", "aws-sts", "azure", "gcp"

Provide: TypeAlias = Callable[[Sequence[str], Mapping[str, str]], tuple[str, float]]

_LONGEST_REASON = 400
_MSK_HOST = re.compile(r"\.kafka(?:-serverless)?\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?(?::\d+)?$")
_LIFE_S = 300  # the lifetime of an STS token, as in Confluent's clients
_EVENT_HUBS = re.compile(r"^([\w-]+\.servicebus\.[\w.]+?)(?::\d+)?$")
_GOOGLE_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_GOOGLE_PRINCIPAL = "GOOGLE_MANAGED_KAFKA_AUTH_PRINCIPAL"  # the variable that Google's own handler reads too


def provided_token(provider: TokenProvider, servers: Sequence[str], deadline: Deadline) -> Token:
    """Call the provider. Raises UnsupportedMechanism: it is unknown, or not installed. Raises AuthenticationFailed: it
    raises, or does not return a token and its expiry. Raises Unreachable: it does not return before the deadline."""
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
    secrets = [text for key, text in options.items() if "secret" in key.lower() or "password" in key.lower()]
    text = masked(str(error), secrets)
    return clipped(f"{type(error).__name__}: {text}" if text else type(error).__name__, _LONGEST_REASON)


def msk_token(servers: Sequence[str], options: Mapping[str, str]) -> tuple[str, float]:
    """A signed request to `kafka-cluster:Connect` that is never sent, valid for 15 minutes. The options are those of
    Amazon's IAMLoginModule, and `region` if the servers' names do not contain it. Without a profile or a role,
    credentials are found as by all of Amazon's tools."""
    import boto3
    from aws_msk_iam_sasl_signer.MSKAuthTokenProvider import generate_auth_token_from_credentials_provider
    from botocore.credentials import CredentialProvider

    class StaticCredentials(CredentialProvider):  # type: ignore[misc]
        def load(self) -> Credentials:
            return credentials

    session = boto3.Session(profile_name=options.get("awsProfileName"))
    region = (
        options.get("region")
        or _part_of(servers, _MSK_HOST)
        or os.environ.get("AWS_REGION")
        or session.region_name
    )
    if not region:
        raise AuthenticationFailed(
            f"the region is not known from {', '.join(servers)}. Set AWS_REGION, or region=NAME in "
            "sasl.oauthbearer.config."
        )
    credentials = _aws_credentials(session, options, region)
    token, expires_ms = generate_auth_token_from_credentials_provider(region, StaticCredentials())
    return token, expires_ms / 1000


def web_identity_token(_servers: Sequence[str], options: Mapping[str, str]) -> tuple[str, float]:
    """A JSON web token that AWS has signed (GetWebIdentityToken of STS), with Confluent's options."""
    import boto3

    if not options.get("audience"):
        raise AuthenticationFailed("the audience is missing: set audience=URL in sasl.oauthbearer.config.")
    sts = boto3.Session(region_name=options.get("region")).client(
        "sts", endpoint_url=options.get("sts_endpoint")
    )
    answer = sts.get_web_identity_token(
        Audience=[options["audience"]],
        SigningAlgorithm=options.get("signing_algorithm", "ES384"),
        DurationSeconds=int(options.get("duration_seconds", _LIFE_S)),
    )
    return answer["WebIdentityToken"], answer["Expiration"].timestamp()


def _part_of(servers: Sequence[str], pattern: re.Pattern[str]) -> str | None:
    """The first match's group; None: another name, such as a proxy's."""
    matches = (pattern.search(server) for server in servers)
    return next((match[1] for match in matches if match), None)


def _aws_credentials(session: Session, options: Mapping[str, str], region: str) -> Credentials:
    from botocore.credentials import Credentials

    role = options.get("awsRoleArn")
    if not role:
        credentials = session.get_credentials()
        if credentials is None:
            raise AuthenticationFailed(
                "there are no AWS credentials. Run `aws configure` or `aws sso login`, or set AWS_PROFILE, or "
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
            )
        return credentials.get_frozen_credentials()
    request = {"RoleArn": role, "RoleSessionName": options.get("awsRoleSessionName", "kohort")}
    if options.get("awsRoleExternalId"):
        request["ExternalId"] = options["awsRoleExternalId"]
    sts = session.client("sts", region_name=options.get("awsStsRegion", region))
    role_keys = sts.assume_role(**request)["Credentials"]
    return Credentials(role_keys["AccessKeyId"], role_keys["SecretAccessKey"], role_keys["SessionToken"])


def azure_token(servers: Sequence[str], options: Mapping[str, str]) -> tuple[str, float]:
    """The token of `DefaultAzureCredential`. Options: `scope` (the Event Hubs namespace), `clientId`."""
    from azure.identity import DefaultAzureCredential

    scope, namespace = options.get("scope") or options.get("oauth.scope"), _part_of(servers, _EVENT_HUBS)
    scope = scope or (namespace and f"https://{namespace}/.default")
    if not scope:
        raise AuthenticationFailed(
            f"the scope is missing: {', '.join(servers)} is not an Event Hubs namespace. Set sasl.oauthbearer.scope."
        )
    # The library logs every credential that it tries, with tracebacks; its exception has the reason.
    logging.getLogger("azure").setLevel(logging.CRITICAL)
    with DefaultAzureCredential(managed_identity_client_id=options.get("clientId")) as credential:
        token = credential.get_token(scope)
    return token.token, float(token.expires_on)


def google_token(_servers: Sequence[str], options: Mapping[str, str]) -> tuple[str, float]:
    """The application's default credentials as Google's brokers accept them; `principal` is the account."""
    import google.auth
    import google.auth.transport.requests

    credentials, _ = google.auth.default(scopes=[_GOOGLE_SCOPE])
    credentials.refresh(google.auth.transport.requests.Request())
    accounts = (getattr(credentials, name, None) for name in ("service_account_email", "account"))
    account = next((account for account in accounts if account), None)
    principal = options.get("principal") or os.environ.get(_GOOGLE_PRINCIPAL)
    if not principal and isinstance(account, str) and account != "default":
        principal = account
    if not principal:
        raise AuthenticationFailed(
            "Google's credentials do not name their account. Set principal=EMAIL in sasl.oauthbearer.config, or "
            f"{_GOOGLE_PRINCIPAL}."
        )
    expires_s = credentials.expiry.replace(tzinfo=UTC).timestamp()
    claims = {"exp": int(expires_s), "iat": int(time.time()), "scope": "kafka", "sub": principal}
    parts = (json.dumps({"typ": "JWT", "alg": "GOOG_OAUTH2_TOKEN"}), json.dumps(claims), credentials.token)
    return ".".join(base64.urlsafe_b64encode(p.encode()).decode().rstrip("=") for p in parts), expires_s


_BUILT_IN: Mapping[str, tuple[str, Provide]] = {
    MSK_IAM: ("aws", msk_token),
    AWS_STS: ("aws", web_identity_token),
    AZURE: ("azure", azure_token),
    GOOGLE: ("gcp", google_token),
}
