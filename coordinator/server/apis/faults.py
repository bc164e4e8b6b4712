"""KohortFault: injects faults on request."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection

from coordinator.server.exchange import AnswerFields, Exchange
from coordinator.server.faults.rules import ActiveRule
from wire.acls import Operation
from wire.errors import ErrorCode
from wire.messages.schemas import faults as schemas
from wire.messages.schemas.faults import CLEAR, DO, LIST


async def kohort_fault(
    apis: Callable[[], Collection[str]], exchange: Exchange[schemas.KohortFaultRequest]
) -> AnswerFields:
    """KohortFault v0: list, add or clear rules, or inject a fault; `apis` returns the names that rules match."""
    if not exchange.allows_cluster(Operation.ALTER):
        return _refused("Cluster authorization failed.", ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    request, rules = exchange.request, exchange.cluster.faults
    match request.operation:
        case operation if operation == LIST:
            now_ms = exchange.cluster.now_ms()
            return _answer(rules=[_listed(rule, now_ms) for rule in rules.in_force(now_ms)])
        case operation if operation == CLEAR:
            return _answer(outcome=str(rules.clear(request.rules)))
        case operation if operation == DO:
            return await _do(exchange, apis())
    return _refused(f"unknown operation {request.operation}")


async def _do(exchange: Exchange[schemas.KohortFaultRequest], apis: Collection[str]) -> AnswerFields:
    from coordinator.server.fault_actions import FaultRefused, carry_out
    from coordinator.server.faults.reading import read_event
    from groups.trees import Malformed

    try:
        event = read_event(json.loads(exchange.request.event or "null"), apis)
        done = await carry_out(exchange.cluster, event)
    except (Malformed, FaultRefused, ValueError, RecursionError) as error:
        return _refused(str(error))
    return _answer(outcome=done) if isinstance(done, str) else _answer(rule=done)


def _listed(active: ActiveRule, now_ms: int) -> AnswerFields:
    from coordinator.server.faults.reading import tree_of

    left_ms, times_left = active.left_ms(now_ms), active.times_left
    return {
        "id": active.id,
        "event": json.dumps(tree_of(active.rule)),
        "applied": active.applied,
        "times_left": -1 if times_left is None else times_left,
        "left_ms": -1 if left_ms is None else left_ms,
    }


def _answer(**fields: object) -> AnswerFields:
    return {"error_code": ErrorCode.NONE, "rules": (), **fields}


def _refused(why: str, code: ErrorCode = ErrorCode.INVALID_REQUEST) -> AnswerFields:
    return {"error_code": code, "error_message": why, "rules": ()}
