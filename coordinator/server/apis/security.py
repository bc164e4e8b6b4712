"""SASL requests on connections that are already authenticated, and ACLs."""

from __future__ import annotations

from typing import Any

from coordinator.errors import RequestRefused
from coordinator.server.apis.fields import by_topic
from coordinator.server.exchange import AnswerFields, Exchange, PeerFault
from wire import acls as kafka_acls
from wire.errors import ErrorCode
from wire.messages.schemas import security as schemas

LOGGED_IN = "SaslAuthenticate request received after successful authentication"


async def sasl_handshake(_: Exchange) -> AnswerFields:
    """SaslHandshake v0–v1 of clients that are authenticated or need not be: `security.sasl` answers all others."""
    return {"error_code": ErrorCode.ILLEGAL_SASL_STATE, "mechanisms": ()}


async def sasl_authenticate(_: Exchange) -> AnswerFields:
    """SaslAuthenticate v0–v2; see `sasl_handshake`."""
    return {"error_code": ErrorCode.ILLEGAL_SASL_STATE, "error_message": LOGGED_IN, "auth_bytes": b""}


NO_AUTHORIZER = "No Authorizer is configured."


def _refusal(exchange: Exchange, operation: kafka_acls.Operation, message: str) -> tuple[int, str] | None:
    """The error if ACLs cannot be shown or changed; `message` is used if there is no authorizer."""
    if not exchange.allows_cluster(operation):
        return ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "Cluster authorization failed."
    if exchange.cluster.security.authorizer is None:
        return ErrorCode.SECURITY_DISABLED, message
    return None


async def describe_acls(exchange: Exchange[schemas.DescribeAclsRequest]) -> AnswerFields:
    """DescribeAcls v1–v3: ACLs grouped by resource."""
    acl_filter = _filter(exchange.request)
    authorizer = exchange.cluster.security.authorizer
    refusal = _refusal(exchange, kafka_acls.Operation.DESCRIBE, "No Authorizer is configured on the broker")
    matching = [] if refusal is not None or authorizer is None else authorizer.matching(acl_filter)
    by_pattern = by_topic(((acl.resource_type, acl.name, acl.pattern), acl) for acl in matching)
    resources = [{**_resource(acls[0]), "acls": [_entry(acl) for acl in acls]} for _, acls in by_pattern]
    return {**_judged(refusal), "resources": resources}


async def create_acls(exchange: Exchange[schemas.CreateAclsRequest]) -> AnswerFields:
    """CreateAcls v1–v3: creates the valid ACLs of the request; existing ones stay."""
    refusal = _refusal(exchange, kafka_acls.Operation.ALTER, NO_AUTHORIZER)
    acls = [_created(requested) for requested in exchange.request.creations]
    errors = [refusal or _fault(acl) for acl in acls]
    failure: tuple[int, str] | None = None
    try:
        exchange.cluster.acls.create([acl for acl, error in zip(acls, errors, strict=True) if error is None])
    except RequestRefused as error:
        failure = error.code, str(error)
    return {"results": [_judged(error or failure) for error in errors]}


async def delete_acls(exchange: Exchange[schemas.DeleteAclsRequest]) -> AnswerFields:
    """DeleteAcls v1–v3: deletes the ACLs that match each filter."""
    authorizer = exchange.cluster.security.authorizer
    refusal = _refusal(exchange, kafka_acls.Operation.ALTER, NO_AUTHORIZER)
    filters = [_filter(requested) for requested in exchange.request.filters]
    matching = [[] if authorizer is None or refusal else authorizer.matching(one) for one in filters]
    try:
        exchange.cluster.acls.delete([acl for acls in matching for acl in acls])
    except RequestRefused as error:
        refusal, matching = (error.code, str(error)), [[] for _ in filters]
    results = [
        {
            **_judged(refusal or _unknown_filter(acl_filter)),
            "matching_acls": [{**_judged(None), **_resource(acl), **_entry(acl)} for acl in acls],
        }
        for acl_filter, acls in zip(filters, matching, strict=True)
    ]
    return {"filter_results": results}


def _judged(error: tuple[int, str] | None) -> AnswerFields:
    code, message = error or (ErrorCode.NONE, "")
    return {"error_code": code, "error_message": message}


def _resource(acl: kafka_acls.Acl) -> AnswerFields:
    return {"resource_type": acl.resource_type, "resource_name": acl.name, "pattern_type": acl.pattern}


def _entry(acl: kafka_acls.Acl) -> AnswerFields:
    return {
        "principal": acl.principal,
        "host": acl.host,
        "operation": acl.operation,
        "permission_type": acl.permission,
    }


def _filter(requested: schemas.DescribeAclsRequest | schemas.DeleteAclsRequestFilter) -> kafka_acls.AclFilter:
    """Raises PeerFault: see `_known`."""
    return kafka_acls.AclFilter(
        name=requested.resource_name_filter,
        principal=requested.principal_filter,
        host=requested.host_filter,
        **_known(requested, requested.resource_type_filter, requested.pattern_type_filter),
    )


def _created(requested: schemas.CreateAclsRequestCreation) -> kafka_acls.Acl:
    """Raises PeerFault: see `_known`."""
    return kafka_acls.Acl(
        name=requested.resource_name,
        principal=requested.principal,
        host=requested.host,
        **_known(requested, requested.resource_type, requested.resource_pattern_type),
    )


def _known(requested: Any, resource_type: int, pattern: int) -> dict[str, Any]:
    """Raises PeerFault: a field is UNKNOWN; Kafka closes the connection too."""
    if kafka_acls.ResourceType.UNKNOWN in (
        resource_type,
        pattern,
        requested.operation,
        requested.permission_type,
    ):
        raise PeerFault("an ACL with an UNKNOWN field")  # 0 in each of these enums
    return {
        "resource_type": kafka_acls.ResourceType(resource_type),
        "pattern": kafka_acls.PatternType(pattern),
        "operation": kafka_acls.Operation(requested.operation),
        "permission": kafka_acls.Permission(requested.permission_type),
    }


def _unknown_filter(acl_filter: kafka_acls.AclFilter) -> tuple[int, str] | None:
    if kafka_acls.ResourceType.UNKNOWN in (acl_filter.resource_type, acl_filter.pattern):
        return ErrorCode.INVALID_REQUEST, "Unknown patternFilter."
    if kafka_acls.Operation.UNKNOWN in (acl_filter.operation, acl_filter.permission):
        return ErrorCode.INVALID_REQUEST, "Unknown entryFilter."
    return None


def _fault(acl: kafka_acls.Acl) -> tuple[int, str] | None:
    """The error of an invalid new ACL, None if valid (AclApis, AclControlManager.validateNewAcl)."""
    message = None
    if acl.resource_type is kafka_acls.ResourceType.CLUSTER and acl.name != kafka_acls.CLUSTER_NAME:
        message = f"The only valid name for the CLUSTER resource is {kafka_acls.CLUSTER_NAME}"
    elif not acl.name:
        message = "Invalid empty resource name"
    elif acl.resource_type not in kafka_acls.OPERATIONS:
        message = f"Invalid resourceType {acl.resource_type.name}"
    elif acl.pattern not in (kafka_acls.PatternType.LITERAL, kafka_acls.PatternType.PREFIXED):
        message = f"Invalid patternType {acl.pattern.name}"
    elif acl.operation in (kafka_acls.Operation.UNKNOWN, kafka_acls.Operation.ANY):
        message = f"Invalid operation {acl.operation.name}"
    elif acl.permission not in (kafka_acls.Permission.ALLOW, kafka_acls.Permission.DENY):
        message = f"Invalid permissionType {acl.permission.name}"
    elif ":" not in acl.principal:
        message = (
            f"Could not parse principal from `{acl.principal}` "
            "(no colon is present separating the principal type from the principal name)"
        )
    return None if message is None else (ErrorCode.INVALID_REQUEST, message)
