"""ApiVersions v0–v4: client software v3 (KIP-511), features of minimum 0 shown since v4 (KIP-1022).

A client of the future asks in a version that is not known: it is told so in version 0, with those that are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from coordinator.server.exchange import Exchange
from coordinator.server.served import SERVED, ServedApi
from wire.errors import ErrorCode
from wire.messages.definition import API_VERSIONS_KEY

WITH_SOFTWARE = 3
SHOWS_MINIMUM_0 = 4
FEATURE_EPOCH = 1
_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request = exchange.request
    if request is None:
        return {
            "error_code": ErrorCode.UNSUPPORTED_VERSION,
            "api_keys": [_versions(SERVED[API_VERSIONS_KEY])],
        }
    if exchange.version >= WITH_SOFTWARE and not _is_valid(request):
        return {"error_code": ErrorCode.INVALID_REQUEST, "api_keys": ()}
    group_version = {"name": "group.version"}
    return {
        "error_code": ErrorCode.NONE,
        "api_keys": [_versions(api) for api in SERVED.values()],
        "supported_features": [{**group_version, "min_version": 0, "max_version": 1}]
        if exchange.version >= SHOWS_MINIMUM_0
        else (),
        "finalized_features_epoch": FEATURE_EPOCH,
        "finalized_features": [{**group_version, "max_version_level": 1, "min_version_level": 1}],
    }


def _versions(api: ServedApi) -> Mapping[str, Any]:
    return {"api_key": api.key, "min_version": api.oldest, "max_version": api.newest}


def _is_valid(request: Any) -> bool:
    return all(
        _SOFTWARE.fullmatch(text) for text in (request.client_software_name, request.client_software_version)
    )
