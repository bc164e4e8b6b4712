"""The APIs that the server answers, their handlers, and the versions that Kafka lists for them."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypeVar

from coordinator.configs.release import Release
from coordinator.server.apis import (
    admin,
    classic_groups,
    client_assignment,
    cluster,
    configs,
    consumer_groups,
    faults,
    fetch,
    groups,
    leadership,
    logs,
    offsets,
    produce,
    security,
    topics,
    transactions,
)
from coordinator.server.exchange import AnswerFields, Exchange
from wire.errors import ErrorCode
from wire.messages.definition import API_VERSIONS_KEY, Api
from wire.messages.schemas import admin as admin_apis
from wire.messages.schemas import classic_groups as classic_groups_apis
from wire.messages.schemas import cluster as cluster_apis
from wire.messages.schemas import cluster as schemas
from wire.messages.schemas import consumer_groups as consumer_groups_apis
from wire.messages.schemas import groups as groups_apis
from wire.messages.schemas import log_records as log_records_apis
from wire.messages.schemas import offsets as offsets_apis
from wire.messages.schemas import security as security_apis
from wire.messages.schemas import transactions as transactions_apis
from wire.messages.schemas.faults import FAULT_CLIENT, KOHORT_FAULT

WITH_SOFTWARE = 3
WITH_EXPECTED_BROKER = 5
UNKNOWN_NODE = -1
_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
R = TypeVar("R")
Handler: TypeAlias = Callable[[Exchange[R]], Awaitable[AnswerFields | None]]
"""Returns the newest response's fields, or None. It starts outside of a task: `asyncio.timeout` does not work in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedApi:
    """An API. If the answer `grows`, it may be long for a short request; if it `waits`, it can be canceled."""

    api: Api
    answer: Handler[Any]
    oldest: int
    newest: int
    grows: bool
    waits: bool

    @property
    def key(self) -> int:
        return self.api.key

    def newest_of(self, release: Release) -> int:
        return release.newest(self.api.name, self.newest)

    def serves(self, version: int, release: Release) -> bool:
        return self.api.versions[0] <= version <= self.newest_of(release)


async def api_versions(exchange: Exchange[schemas.ApiVersionsRequest | None]) -> AnswerFields:
    """ApiVersions v0–v5: client software v3 (KIP-511), minimum 0 since v4 (KIP-1022), the expected broker v5
    (KIP-1242); v0 answers unknown versions."""
    request, release = exchange.request, exchange.cluster.config.kohort_release
    if request is None:
        known = _versions(SERVED[API_VERSIONS_KEY], release)
        return {"error_code": ErrorCode.UNSUPPORTED_VERSION, "api_keys": [known]}
    software = (request.client_software_name, request.client_software_version)
    if exchange.version >= WITH_SOFTWARE and not all(map(_SOFTWARE.fullmatch, software)):
        return {"error_code": ErrorCode.INVALID_REQUEST, "api_keys": ()}
    if exchange.version >= WITH_EXPECTED_BROKER:
        expected, node = request.cluster_id, request.node_id
        if (expected is None) != (node == UNKNOWN_NODE):
            return {"error_code": ErrorCode.INVALID_REQUEST, "api_keys": ()}
        if expected is not None and (expected, node) != (
            exchange.cluster.cluster_id,
            exchange.broker.node_id,
        ):
            return {"error_code": ErrorCode.REBOOTSTRAP_REQUIRED, "api_keys": ()}
    return {
        "error_code": ErrorCode.NONE,
        "api_keys": [_versions(api, release) for api in (*SERVED.values(), *_own(exchange))],
        **admin.feature_fields(exchange.cluster.configs.features, exchange.version),
    }


def _own(exchange: Exchange) -> Iterator[ServedApi]:
    if exchange.caller.client_id == FAULT_CLIENT:
        yield OWN[KOHORT_FAULT.key]
    if exchange.cluster.config.group_consumer_client_assignors_enable:
        yield OWN[consumer_groups_apis.CONSUMER_GROUP_PREPARE_ASSIGNMENT.key]
        yield OWN[consumer_groups_apis.CONSUMER_GROUP_INSTALL_ASSIGNMENT.key]


def _versions(api: ServedApi, release: Release) -> AnswerFields:
    return {"api_key": api.key, "min_version": api.oldest, "max_version": api.newest_of(release)}


def _served(
    api: Api[R], answer: Handler[R], *, grows: bool = False, waits: bool = False, **versions: int
) -> ServedApi:
    """`versions`: `oldest` or `newest`, if it is not of the layouts."""
    listed = {**dict(zip(("oldest", "newest"), api.versions, strict=True)), **versions}
    return ServedApi(api=api, answer=answer, **listed, grows=grows, waits=waits)


def apis_with_faults() -> frozenset[str]:
    return frozenset(served.api.name for served in SERVED.values())


SERVED: Mapping[int, ServedApi] = {
    served.key: served
    for served in (
        _served(log_records_apis.PRODUCE, produce.produce, oldest=0),
        _served(log_records_apis.FETCH, fetch.fetch, waits=True),
        _served(offsets_apis.LIST_OFFSETS, logs.list_offsets),
        _served(cluster_apis.METADATA, cluster.metadata, grows=True),
        _served(offsets_apis.OFFSET_COMMIT, offsets.offset_commit),
        _served(offsets_apis.OFFSET_FETCH, offsets.offset_fetch, grows=True),
        _served(groups_apis.FIND_COORDINATOR, groups.find_coordinator),
        _served(classic_groups_apis.JOIN_GROUP, classic_groups.join_group, waits=True),
        _served(classic_groups_apis.HEARTBEAT, classic_groups.heartbeat),
        _served(classic_groups_apis.LEAVE_GROUP, classic_groups.leave_group),
        _served(classic_groups_apis.SYNC_GROUP, classic_groups.sync_group, waits=True),
        _served(classic_groups_apis.DESCRIBE_GROUPS, classic_groups.describe_groups, grows=True),
        _served(groups_apis.LIST_GROUPS, groups.list_groups, grows=True),
        _served(security_apis.SASL_HANDSHAKE, security.sasl_handshake),
        _served(cluster_apis.API_VERSIONS, api_versions),
        _served(admin_apis.CREATE_TOPICS, topics.create_topics, grows=True),
        _served(admin_apis.DELETE_TOPICS, topics.delete_topics),
        _served(security_apis.DESCRIBE_ACLS, security.describe_acls, grows=True),
        _served(security_apis.CREATE_ACLS, security.create_acls),
        _served(security_apis.DELETE_ACLS, security.delete_acls, grows=True),
        _served(log_records_apis.DELETE_RECORDS, logs.delete_records),
        _served(log_records_apis.INIT_PRODUCER_ID, transactions.init_producer_id),
        _served(transactions_apis.ADD_PARTITIONS_TO_TXN, transactions.add_partitions_to_txn),
        _served(transactions_apis.ADD_OFFSETS_TO_TXN, transactions.add_offsets_to_txn),
        _served(transactions_apis.END_TXN, transactions.end_txn),
        _served(transactions_apis.WRITE_TXN_MARKERS, transactions.write_txn_markers),
        _served(transactions_apis.TXN_OFFSET_COMMIT, transactions.txn_offset_commit),
        _served(transactions_apis.DESCRIBE_PRODUCERS, transactions.describe_producers, grows=True),
        _served(transactions_apis.DESCRIBE_TRANSACTIONS, transactions.describe_transactions, grows=True),
        _served(transactions_apis.LIST_TRANSACTIONS, transactions.list_transactions, grows=True),
        _served(log_records_apis.OFFSET_FOR_LEADER_EPOCH, logs.offset_for_leader_epoch),
        _served(cluster_apis.DESCRIBE_CONFIGS, configs.describe_configs, grows=True),
        _served(security_apis.SASL_AUTHENTICATE, security.sasl_authenticate),
        _served(cluster_apis.ALTER_CONFIGS, configs.alter_configs),
        _served(admin_apis.DESCRIBE_LOG_DIRS, admin.describe_log_dirs, grows=True),
        _served(admin_apis.CREATE_PARTITIONS, topics.create_partitions),
        _served(groups_apis.DELETE_GROUPS, groups.delete_groups),
        _served(admin_apis.ELECT_LEADERS, leadership.elect_leaders, grows=True),
        _served(cluster_apis.INCREMENTAL_ALTER_CONFIGS, configs.incremental_alter_configs),
        _served(admin_apis.ALTER_PARTITION_REASSIGNMENTS, leadership.alter_partition_reassignments),
        _served(admin_apis.LIST_PARTITION_REASSIGNMENTS, leadership.list_partition_reassignments),
        _served(offsets_apis.OFFSET_DELETE, offsets.offset_delete),
        _served(admin_apis.DESCRIBE_CLIENT_QUOTAS, admin.describe_client_quotas),
        _served(admin_apis.DESCRIBE_USER_SCRAM_CREDENTIALS, admin.describe_user_scram_credentials),
        _served(cluster_apis.UPDATE_FEATURES, admin.update_features),
        _served(cluster_apis.DESCRIBE_CLUSTER, cluster.describe_cluster),
        _served(consumer_groups_apis.CONSUMER_GROUP_HEARTBEAT, consumer_groups.consumer_group_heartbeat),
        _served(
            consumer_groups_apis.CONSUMER_GROUP_DESCRIBE, consumer_groups.consumer_group_describe, grows=True
        ),
        _served(admin_apis.LIST_CONFIG_RESOURCES, admin.list_config_resources, grows=True),
        _served(admin_apis.DESCRIBE_TOPIC_PARTITIONS, admin.describe_topic_partitions, grows=True),
    )
}
OWN: Mapping[int, ServedApi] = {
    api.key: api
    for api in (
        _served(KOHORT_FAULT, partial(faults.kohort_fault, apis_with_faults)),
        _served(
            consumer_groups_apis.CONSUMER_GROUP_PREPARE_ASSIGNMENT,
            client_assignment.prepare_assignment,
            grows=True,
        ),
        _served(consumer_groups_apis.CONSUMER_GROUP_INSTALL_ASSIGNMENT, client_assignment.install_assignment),
    )
}  # Kohort's own APIs, by key: listed only to the clients that they are for
