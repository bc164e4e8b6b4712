"""Tokens of Amazon: of MSK's IAM, and of STS for other clusters. Needs the extra ``aws``."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import boto3
from aws_msk_iam_sasl_signer.MSKAuthTokenProvider import generate_auth_token_from_credentials_provider
from botocore.credentials import CredentialProvider, Credentials

from wire.client.errors import AuthenticationFailed

_MSK_HOST = re.compile(r"\.kafka(?:-serverless)?\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?(?::\d+)?$")
_LIFE_S = 300
"""The lifetime of an STS token, as in Confluent's clients."""


def msk_token(servers: Sequence[str], options: Mapping[str, str]) -> tuple[str, float]:
    """A signed request to `kafka-cluster:Connect` that is never sent, valid for 15 minutes.

    The options are those of Amazon's IAMLoginModule: awsProfileName, awsRoleArn, awsRoleSessionName,
    awsRoleExternalId, awsStsRegion; and `region` if the servers' names do not contain it. Without a profile or a
    role, credentials are found as by all of Amazon's tools.
    :raises AuthenticationFailed: there are no credentials, or no region
    """
    session = boto3.Session(profile_name=options.get("awsProfileName"))
    region = options.get("region") or _region(servers) or os.environ.get("AWS_REGION") or session.region_name
    if not region:
        raise AuthenticationFailed(
            f"the region is not known from {', '.join(servers)}. Set AWS_REGION, or region=NAME in "
            "sasl.oauthbearer.config."
        )
    token, expires_ms = generate_auth_token_from_credentials_provider(
        region, _StaticCredentials(_credentials(session, options, region))
    )
    return token, expires_ms / 1000


def web_identity_token(_servers: Sequence[str], options: Mapping[str, str]) -> tuple[str, float]:
    """A JSON web token that AWS has signed (GetWebIdentityToken of STS).

    The options are those of Confluent's clients: region, audience, signing_algorithm, duration_seconds, sts_endpoint.
    :raises AuthenticationFailed: there are no credentials, or the audience is missing
    """
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


def _region(servers: Sequence[str]) -> str | None:
    """The region in ``b-1.demo.abcde.c2.kafka.eu-west-1.amazonaws.com:9098``; None: another name, such as a proxy's."""
    found = (_MSK_HOST.search(server) for server in servers)
    return next((match[1] for match in found if match), None)


def _credentials(session: Any, options: Mapping[str, str], region: str) -> Any:
    role = options.get("awsRoleArn")
    if not role:
        found = session.get_credentials()
        if found is None:
            raise AuthenticationFailed(
                "there are no AWS credentials. Run `aws configure` or `aws sso login`, or set AWS_PROFILE, or "
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
            )
        return found.get_frozen_credentials()
    asked = {"RoleArn": role, "RoleSessionName": options.get("awsRoleSessionName", "kohort")}
    if options.get("awsRoleExternalId"):
        asked["ExternalId"] = options["awsRoleExternalId"]
    sts = session.client("sts", region_name=options.get("awsStsRegion", region))
    given = sts.assume_role(**asked)["Credentials"]
    return Credentials(given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"])


class _StaticCredentials(CredentialProvider):  # type: ignore[misc]
    """Existing credentials."""

    def __init__(self, credentials: Any) -> None:
        super().__init__()
        self._credentials = credentials

    def load(self) -> Any:
        return self._credentials
