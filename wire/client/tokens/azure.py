"""Tokens of Azure, for Event Hubs and other clusters. Needs the extra ``azure``."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence

from azure.identity import DefaultAzureCredential

from wire.client.errors import AuthenticationFailed

_EVENT_HUBS = re.compile(r"^([\w-]+\.servicebus\.[\w.]+?)(?::\d+)?$")


def azure_token(servers: Sequence[str], options: Mapping[str, str]) -> tuple[str, float]:
    """The token of `DefaultAzureCredential`: environment, workload, managed identity, `az login`.

    The options: `scope`, by default the scope of the bootstrap server if it is an Event Hubs namespace; `clientId` of
    a user-assigned managed identity.
    :raises AuthenticationFailed: there is no scope
    """
    scope = options.get("scope") or options.get("oauth.scope") or _scope(servers)
    if not scope:
        raise AuthenticationFailed(
            f"the scope is missing: {', '.join(servers)} is not an Event Hubs namespace. Set sasl.oauthbearer.scope."
        )
    # The library logs every credential that it tries, with tracebacks; its exception has the reason.
    logging.getLogger("azure").setLevel(logging.CRITICAL)
    with DefaultAzureCredential(managed_identity_client_id=options.get("clientId")) as credential:
        token = credential.get_token(scope)
    return token.token, float(token.expires_on)


def _scope(servers: Sequence[str]) -> str | None:
    found = (_EVENT_HUBS.match(server) for server in servers)
    return next((f"https://{match[1]}/.default" for match in found if match), None)
