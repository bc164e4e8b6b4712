"""DescribeCluster v0–v2 (KIP-700): one broker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.broker.errors import ErrorCode
from coordinator.wire.server.apis.fields import NO_OPERATIONS
from coordinator.wire.server.apis.metadata import CLUSTER_OPERATIONS
from coordinator.wire.server.exchange import Exchange


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request = exchange.request
    settings = exchange.node.settings
    broker = {
        "broker_id": settings.node_id,
        "host": exchange.node.host,
        "port": exchange.node.port,
        "rack": settings.broker_rack,
        "is_fenced": False,
    }
    asked = request.include_cluster_authorized_operations
    return {
        "error_code": ErrorCode.NONE,
        "error_message": None,
        "endpoint_type": getattr(request, "endpoint_type", 1),
        "cluster_id": exchange.node.cluster_id,
        "controller_id": settings.node_id,
        "brokers": [broker],
        "cluster_authorized_operations": CLUSTER_OPERATIONS if asked else NO_OPERATIONS,
    }
