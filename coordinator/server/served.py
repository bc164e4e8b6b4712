"""The APIs that the server answers, their handlers, and the versions that Kafka 4.3.1 lists for them."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

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
from coordinator.server.apis.permissions import (
    CHANGED_SETTINGS,
    CREATIONS,
    DELETIONS,
    DELETIONS_BY_NAME,
    GROWTHS,
    PRODUCERS,
    SHOWN_SETTINGS,
    hiding_configs,
    keeping,
    not_described,
    not_elected,
    requires_operation,
)
from coordinator.server.exchange import AnswerFields, Exchange
from wire.acls import Operation
from wire.errors import ErrorCode
from wire.messages.definition import API_VERSIONS_KEY, Api
from wire.messages.schemas.admin import (
    ALTER_PARTITION_REASSIGNMENTS,
    CREATE_PARTITIONS,
    CREATE_TOPICS,
    DELETE_TOPICS,
    DESCRIBE_CLIENT_QUOTAS,
    DESCRIBE_LOG_DIRS,
    DESCRIBE_TOPIC_PARTITIONS,
    DESCRIBE_USER_SCRAM_CREDENTIALS,
    ELECT_LEADERS,
    LIST_CONFIG_RESOURCES,
    LIST_PARTITION_REASSIGNMENTS,
)
from wire.messages.schemas.classic_groups import (
    DESCRIBE_GROUPS,
    HEARTBEAT,
    JOIN_GROUP,
    LEAVE_GROUP,
    SYNC_GROUP,
)
from wire.messages.schemas.cluster import (
    ALTER_CONFIGS,
    API_VERSIONS,
    DESCRIBE_CLUSTER,
    DESCRIBE_CONFIGS,
    INCREMENTAL_ALTER_CONFIGS,
    METADATA,
    UPDATE_FEATURES,
)
from wire.messages.schemas.consumer_groups import (
    CONSUMER_GROUP_DESCRIBE,
    CONSUMER_GROUP_HEARTBEAT,
    CONSUMER_GROUP_INSTALL_ASSIGNMENT,
    CONSUMER_GROUP_PREPARE_ASSIGNMENT,
)
from wire.messages.schemas.faults import FAULT_CLIENT, KOHORT_FAULT
from wire.messages.schemas.groups import DELETE_GROUPS, FIND_COORDINATOR, LIST_GROUPS
from wire.messages.schemas.log_records import (
    DELETE_RECORDS,
    FETCH,
    INIT_PRODUCER_ID,
    OFFSET_FOR_LEADER_EPOCH,
    PRODUCE,
)
from wire.messages.schemas.offsets import LIST_OFFSETS, OFFSET_COMMIT, OFFSET_DELETE, OFFSET_FETCH
from wire.messages.schemas.security import (
    CREATE_ACLS,
    DELETE_ACLS,
    DESCRIBE_ACLS,
    SASL_AUTHENTICATE,
    SASL_HANDSHAKE,
)
from wire.messages.schemas.transactions import (
    ADD_OFFSETS_TO_TXN,
    ADD_PARTITIONS_TO_TXN,
    DESCRIBE_PRODUCERS,
    DESCRIBE_TRANSACTIONS,
    END_TXN,
    LIST_TRANSACTIONS,
    TXN_OFFSET_COMMIT,
    WRITE_TXN_MARKERS,
)

if TYPE_CHECKING:
    from wire.messages.schemas.cluster import ApiVersionsRequest


WITH_SOFTWARE = 3
_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
R = TypeVar("R")
Handler: TypeAlias = Callable[[Exchange[R]], Awaitable[AnswerFields | None]]
"""Returns the fields of the newest response. None: the client wants none. PeerFault: its connection is closed.

It starts outside of a task: `asyncio.timeout` and `wait_for` do not work in it, `asyncio.wait` does.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedApi:
    """One API, its handler, and the versions it is listed with.

    `oldest` is the first listed version if that is not the first with a layout: Kafka lists Produce from 0 but serves
    it from 3. `newest` is the last one, if there are layouts of a later Kafka. If the answer `grows` with the
    server's state, it may be long however short the request is. If it `waits` for others, for a time that the client
    sets, it is canceled when the client is gone.
    """

    api: Api
    answer: Handler[Any]
    oldest: int
    newest: int
    grows: bool
    waits: bool

    @property
    def key(self) -> int:
        return self.api.key

    def serves(self, version: int) -> bool:
        return self.api.versions[0] <= version <= self.newest


async def api_versions(exchange: Exchange[ApiVersionsRequest | None]) -> AnswerFields:
    """ApiVersions v0–v4: client software v3 (KIP-511), features of minimum 0 shown since v4 (KIP-1022).

    A newer client may ask in an unknown version: it is answered in version 0, with the known ones.
    """
    request = exchange.request
    if request is None:
        return {
            "error_code": ErrorCode.UNSUPPORTED_VERSION,
            "api_keys": [_versions(SERVED[API_VERSIONS_KEY])],
        }
    if exchange.version >= WITH_SOFTWARE and not _is_valid(request):
        return {"error_code": ErrorCode.INVALID_REQUEST, "api_keys": ()}
    return {
        "error_code": ErrorCode.NONE,
        "api_keys": [_versions(api) for api in (*SERVED.values(), *_own(exchange))],
        **admin.feature_fields(exchange.cluster.configs.features, exchange.version),
    }


def _own(exchange: Exchange) -> Iterator[ServedApi]:
    if exchange.caller.client_id == FAULT_CLIENT:
        yield OWN[KOHORT_FAULT.key]
    if exchange.cluster.config.group_consumer_client_assignors_enable:
        yield OWN[CONSUMER_GROUP_PREPARE_ASSIGNMENT.key]
        yield OWN[CONSUMER_GROUP_INSTALL_ASSIGNMENT.key]


def _versions(api: ServedApi) -> AnswerFields:
    return {"api_key": api.key, "min_version": api.oldest, "max_version": api.newest}


def _is_valid(request: ApiVersionsRequest) -> bool:
    return all(
        _SOFTWARE.fullmatch(text) for text in (request.client_software_name, request.client_software_version)
    )


def _served(
    api: Api[R],
    answer: Handler[R],
    *,
    oldest: int | None = None,
    newest: int | None = None,
    grows: bool = False,
    waits: bool = False,
) -> ServedApi:
    first, last = api.versions
    return ServedApi(
        api=api,
        answer=answer,
        oldest=first if oldest is None else oldest,
        newest=last if newest is None else newest,
        grows=grows,
        waits=waits,
    )


def apis_with_faults() -> frozenset[str]:
    """The names of the APIs that faults can match."""
    return frozenset(served.api.name for served in SERVED.values())


SERVED: Mapping[int, ServedApi] = {
    served.key: served
    for served in (
        _served(PRODUCE, produce.produce, oldest=0),
        _served(FETCH, fetch.fetch, waits=True),
        _served(LIST_OFFSETS, logs.list_offsets),
        _served(METADATA, cluster.metadata, grows=True),
        _served(OFFSET_COMMIT, offsets.offset_commit),
        _served(OFFSET_FETCH, offsets.offset_fetch, grows=True),
        _served(FIND_COORDINATOR, groups.find_coordinator),
        _served(JOIN_GROUP, classic_groups.join_group, waits=True),
        _served(HEARTBEAT, classic_groups.heartbeat),
        _served(LEAVE_GROUP, classic_groups.leave_group),
        _served(SYNC_GROUP, classic_groups.sync_group, waits=True),
        _served(DESCRIBE_GROUPS, classic_groups.describe_groups, grows=True),
        _served(LIST_GROUPS, groups.list_groups, grows=True),
        _served(SASL_HANDSHAKE, security.sasl_handshake),
        _served(API_VERSIONS, api_versions, newest=4),
        _served(CREATE_TOPICS, keeping(CREATIONS, hiding_configs(topics.create_topics)), grows=True),
        _served(DELETE_TOPICS, keeping(DELETIONS, keeping(DELETIONS_BY_NAME, topics.delete_topics))),
        _served(DESCRIBE_ACLS, security.describe_acls, grows=True),
        _served(CREATE_ACLS, security.create_acls),
        _served(DELETE_ACLS, security.delete_acls, grows=True),
        _served(DELETE_RECORDS, logs.delete_records),
        _served(INIT_PRODUCER_ID, transactions.init_producer_id),
        _served(ADD_PARTITIONS_TO_TXN, transactions.add_partitions_to_txn),
        _served(ADD_OFFSETS_TO_TXN, transactions.add_offsets_to_txn),
        _served(END_TXN, transactions.end_txn),
        _served(WRITE_TXN_MARKERS, transactions.write_txn_markers),
        _served(TXN_OFFSET_COMMIT, transactions.txn_offset_commit),
        _served(DESCRIBE_PRODUCERS, keeping(PRODUCERS, transactions.describe_producers), grows=True),
        _served(DESCRIBE_TRANSACTIONS, transactions.describe_transactions, grows=True),
        _served(LIST_TRANSACTIONS, transactions.list_transactions, grows=True),
        _served(OFFSET_FOR_LEADER_EPOCH, logs.offset_for_leader_epoch),
        _served(DESCRIBE_CONFIGS, keeping(SHOWN_SETTINGS, configs.describe_configs), grows=True),
        _served(SASL_AUTHENTICATE, security.sasl_authenticate),
        _served(ALTER_CONFIGS, keeping(CHANGED_SETTINGS, configs.alter_configs)),
        _served(
            DESCRIBE_LOG_DIRS,
            requires_operation(Operation.DESCRIBE, admin.describe_log_dirs, results=()),
            grows=True,
        ),
        _served(CREATE_PARTITIONS, keeping(GROWTHS, topics.create_partitions)),
        _served(DELETE_GROUPS, groups.delete_groups, newest=2),
        _served(
            ELECT_LEADERS,
            requires_operation(
                Operation.ALTER, leadership.elect_leaders, replica_election_results=not_elected
            ),
            grows=True,
        ),
        _served(INCREMENTAL_ALTER_CONFIGS, keeping(CHANGED_SETTINGS, configs.incremental_alter_configs)),
        _served(
            ALTER_PARTITION_REASSIGNMENTS,
            requires_operation(Operation.ALTER, leadership.alter_partition_reassignments, responses=()),
        ),
        _served(
            LIST_PARTITION_REASSIGNMENTS,
            requires_operation(Operation.DESCRIBE, leadership.list_partition_reassignments, topics=()),
        ),
        _served(OFFSET_DELETE, offsets.offset_delete),
        _served(
            DESCRIBE_CLIENT_QUOTAS,
            requires_operation(Operation.DESCRIBE_CONFIGS, admin.describe_client_quotas, entries=None),
        ),
        _served(
            DESCRIBE_USER_SCRAM_CREDENTIALS,
            requires_operation(
                Operation.DESCRIBE, admin.describe_user_scram_credentials, results=not_described
            ),
        ),
        _served(UPDATE_FEATURES, requires_operation(Operation.ALTER, admin.update_features, results=())),
        _served(DESCRIBE_CLUSTER, cluster.describe_cluster),
        _served(CONSUMER_GROUP_HEARTBEAT, consumer_groups.consumer_group_heartbeat),
        _served(CONSUMER_GROUP_DESCRIBE, consumer_groups.consumer_group_describe, grows=True),
        _served(
            LIST_CONFIG_RESOURCES,
            requires_operation(Operation.DESCRIBE_CONFIGS, admin.list_config_resources, config_resources=()),
            grows=True,
        ),
        _served(DESCRIBE_TOPIC_PARTITIONS, admin.describe_topic_partitions, grows=True),
    )
}
"""Kafka's APIs, by key."""
OWN: Mapping[int, ServedApi] = {
    api.key: api
    for api in (
        _served(KOHORT_FAULT, partial(faults.kohort_fault, apis_with_faults)),
        _served(CONSUMER_GROUP_PREPARE_ASSIGNMENT, client_assignment.prepare_assignment, grows=True),
        _served(CONSUMER_GROUP_INSTALL_ASSIGNMENT, client_assignment.install_assignment),
    )
}
"""Kohort's own APIs, by key: listed only to the clients that they are for."""
