"""DescribeCluster v0–v2 (KIP-700): one broker. Its controller has no endpoint of its own (v1, KIP-919)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.server.apis.fields import NO_OPERATIONS
from coordinator.server.apis.metadata import CLUSTER_OPERATIONS
from coordinator.server.exchange import Exchange
from wire.errors import ErrorCode

BROKERS, CONTROLLERS = 1, 2


async def answer(exchange: Exchange) -> Mapping[str, Any]:
    request, node = exchange.request, exchange.node
    endpoints = request.endpoint_type
    if endpoints != BROKERS:
        return _refused(endpoints)
    broker = {
        "broker_id": node.settings.node_id,
        "host": node.host,
        "port": node.port,
        "rack": node.settings.broker_rack,
        "is_fenced": False,
    }
    asked = request.include_cluster_authorized_operations
    return {
        "error_code": ErrorCode.NONE,
        "error_message": None,
        "endpoint_type": BROKERS,
        "cluster_id": node.cluster_id,
        "controller_id": node.settings.node_id,
        "brokers": [broker],
        "cluster_authorized_operations": CLUSTER_OPERATIONS if asked else NO_OPERATIONS,
    }


def _refused(endpoints: int) -> Mapping[str, Any]:
    if endpoints == CONTROLLERS:
        error = ErrorCode.MISMATCHED_ENDPOINT_TYPE
        why = (
            "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER"
        )
    else:
        error, why = ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, f"Unsupported endpoint type {endpoints}"
    return {
        "error_code": error,
        "error_message": why,
        "cluster_id": "",
        "brokers": (),
        "cluster_authorized_operations": NO_OPERATIONS,
    }
