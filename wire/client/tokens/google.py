"""Tokens of Google, for Managed Service for Apache Kafka. Needs the extra ``gcp``."""

from __future__ import annotations

import base64
import json
import os
import time
from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Any

import google.auth
import google.auth.transport.requests

from wire.client.errors import AuthenticationFailed

_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_PRINCIPAL = "GOOGLE_MANAGED_KAFKA_AUTH_PRINCIPAL"
"""The variable that Google's own handler reads too."""


def google_token(_servers: Sequence[str], options: Mapping[str, str]) -> tuple[str, float]:
    """The access token of the application's default credentials, in the form that Google's brokers accept.

    It has the three segments of a JSON web token: a header, claims, and the access token instead of a signature. The
    option `principal` is the account, if the credentials do not contain one.
    :raises AuthenticationFailed: there is no account
    """
    credentials, _ = google.auth.default(scopes=[_SCOPE])
    credentials.refresh(google.auth.transport.requests.Request())
    principal = options.get("principal") or os.environ.get(_PRINCIPAL) or _account(credentials)
    if not principal:
        raise AuthenticationFailed(
            "Google's credentials do not name their account. Set principal=EMAIL in sasl.oauthbearer.config, or "
            f"{_PRINCIPAL}."
        )
    expires_s = credentials.expiry.replace(tzinfo=UTC).timestamp()
    claims = {"exp": int(expires_s), "iat": int(time.time()), "scope": "kafka", "sub": principal}
    parts = (json.dumps({"typ": "JWT", "alg": "GOOG_OAUTH2_TOKEN"}), json.dumps(claims), credentials.token)
    return ".".join(map(_segment, parts)), expires_s


def _account(credentials: Any) -> str | None:
    """The e-mail address of a service account or, if the credentials contain it, of a user."""
    found = getattr(credentials, "service_account_email", None) or getattr(credentials, "account", None)
    return found if isinstance(found, str) and found != "default" else None


def _segment(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
