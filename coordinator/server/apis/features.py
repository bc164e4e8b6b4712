"""Feature levels: the fields of ApiVersions, and UpdateFeatures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.configs.features import FEATURES, Features, FeatureUpdate, UpgradeType
from coordinator.errors import RequestRefused
from coordinator.server.exchange import Exchange
from wire.errors import ErrorCode

SHOWS_MINIMUM_0 = 4
WITH_TYPES = 1
WITHOUT_RESULTS = 2


def feature_fields(features: Features, version: int) -> Mapping[str, Any]:
    """The feature fields of ApiVersions: features of minimum 0 are listed since v4; level 0 means not finalized."""
    return {
        "supported_features": [
            {"name": name, "min_version": one.lowest, "max_version": one.highest}
            for name, one in FEATURES.items()
            if one.lowest > 0 or version >= SHOWS_MINIMUM_0
        ],
        "finalized_features_epoch": features.epoch,
        "finalized_features": [
            {"name": name, "max_version_level": level, "min_version_level": level}
            for name, level in features.levels.items()
            if level > 0
        ],
    }


async def update_features(exchange: Exchange) -> Mapping[str, Any]:
    """UpdateFeatures v0–v2 (KIP-584): update types and dry runs since v1; all updates or none."""
    request, configs = exchange.request, exchange.cluster.configs
    updates = [
        FeatureUpdate(name=one.feature, level=one.max_version_level, type=_type(one, exchange.version))
        for one in request.feature_updates
    ]
    error, message = ErrorCode.NONE, None
    try:
        levels = configs.features.check(updates)
        if not (exchange.version >= WITH_TYPES and request.validate_only):
            configs.set_levels(levels)
    except RequestRefused as refused:
        error, message = refused.code, refused.message
    return {
        "error_code": error,
        "error_message": message,
        "results": [
            {"feature": each.name, "error_code": ErrorCode.NONE, "error_message": "NONE"}
            for each in (updates if not error and exchange.version < WITHOUT_RESULTS else ())
        ],
    }


def _type(one: Any, version: int) -> int:
    if version >= WITH_TYPES:
        return int(one.upgrade_type)
    return UpgradeType.SAFE_DOWNGRADE if one.allow_downgrade else UpgradeType.UPGRADE
