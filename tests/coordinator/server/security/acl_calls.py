"""Requests of users to a server with ACLs; none of them changes the answer to a later one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from tests.coordinator.server.security.acl_world import World, commit_of, consumer_of, metadata_of
from wire.acls import ResourceType
from wire.log.batch_writer import encode_batch
from wire.messages.definition import Api
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
    DESCRIBE_CLUSTER,
    DESCRIBE_CONFIGS,
    INCREMENTAL_ALTER_CONFIGS,
    METADATA,
    UPDATE_FEATURES,
)
from wire.messages.schemas.consumer_groups import CONSUMER_GROUP_DESCRIBE, CONSUMER_GROUP_HEARTBEAT
from wire.messages.schemas.groups import DELETE_GROUPS, FIND_COORDINATOR, LIST_GROUPS
from wire.messages.schemas.log_records import (
    DELETE_RECORDS,
    FETCH,
    INIT_PRODUCER_ID,
    OFFSET_FOR_LEADER_EPOCH,
    PRODUCE,
)
from wire.messages.schemas.offsets import LIST_OFFSETS, OFFSET_COMMIT, OFFSET_DELETE, OFFSET_FETCH
from wire.messages.schemas.security import CREATE_ACLS, DELETE_ACLS, DESCRIBE_ACLS
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

Call: TypeAlias = tuple[str, Api, int, Mapping[str, Any]]
"""The name of a request, and the request."""


def record_calls(made: World) -> Iterator[Call]:
    """Requests of producers and consumers about topics."""
    topics = [(made.name(short), made.ids[short]) for short in ("seen", "hidden")] + [
        (made.name("none"), None)
    ]
    batch = encode_batch([(None, b"x")], base_offset=0, timestamp=1)
    data = [{"index": 0, "records": batch}]
    for version in (9, 13):
        known = topics if version < 13 else topics[:2]
        written = [{"name": name, "topic_id": id_, "partition_data": data} for name, id_ in known]
        produced = {"transactional_id": None, "acks": 1, "timeout_ms": 10_000, "topic_data": written}
        yield f"produce {version}", PRODUCE, version, produced
        partition = {
            "partition": 0, "current_leader_epoch": -1, "fetch_offset": 0, "last_fetched_epoch": -1,
            "log_start_offset": -1, "partition_max_bytes": 1_000,
        }  # fmt: skip
        read = [{"topic": name, "topic_id": id_, "partitions": [partition]} for name, id_ in known]
        fetched: dict[str, Any] = {
            "cluster_id": None, "replica_id": -1, "replica_state": {}, "max_wait_ms": 0, "min_bytes": 0,
            "max_bytes": 1_000, "isolation_level": 0, "session_id": 0, "session_epoch": -1, "topics": read,
            "forgotten_topics_data": (), "rack_id": "",
        }  # fmt: skip
        yield f"fetch {version}", FETCH, version, fetched
    listed = [
        {"name": name, "partitions": [{"partition_index": 0, "current_leader_epoch": -1, "timestamp": -1}]}
        for name, _ in topics
    ]
    for version in (1, 10):
        asked = {"replica_id": -1, "isolation_level": 0, "topics": listed, "timeout_ms": 10_000}
        yield f"list offsets {version}", LIST_OFFSETS, version, asked
    epochs = [
        {"topic": name, "partitions": [{"partition": 0, "current_leader_epoch": -1, "leader_epoch": 0}]}
        for name, _ in topics
    ]
    yield "epochs", OFFSET_FOR_LEADER_EPOCH, 4, {"replica_id": -1, "topics": epochs}
    deleted = [{"name": name, "partitions": [{"partition_index": 0, "offset": 0}]} for name, _ in topics]
    yield "delete records", DELETE_RECORDS, 2, {"topics": deleted, "timeout_ms": 10_000}


def admin_calls(made: World, user: str) -> Iterator[Call]:
    """Requests of tools about topics, settings and the cluster; a user that may do everything deletes nothing."""
    seen, hidden, none, new = (made.name(topic) for topic in ("seen", "hidden", "none", "new"))
    named = [{"name": name, "topic_id": None} for name in (seen, hidden, none)]
    by_id = [{"name": None, "topic_id": id_} for id_ in made.ids.values()]
    for version in (1, 4, 9, 12):
        for asked in (named, None):
            yield (
                f"metadata {version} {asked is None}",
                METADATA,
                version,
                metadata_of(asked, operations=True),
            )
    yield "metadata by id", METADATA, 12, metadata_of(by_id, operations=True)
    described = {
        "include_cluster_authorized_operations": True,
        "endpoint_type": 1,
        "include_fenced_brokers": False,
    }
    yield "cluster", DESCRIBE_CLUSTER, 1, described
    settings = {"num_partitions": 1, "replication_factor": 1, "assignments": (), "configs": ()}
    created = [{"name": name, **settings} for name in (new, seen, none)]
    yield "create", CREATE_TOPICS, 7, {"topics": created, "timeout_ms": 10_000, "validate_only": True}
    deleted = [none] if user == "kohort" else [none, seen, hidden]
    yield "delete by name", DELETE_TOPICS, 5, {"topic_names": deleted, "timeout_ms": 10_000}
    topics = [{"name": name, "topic_id": None} for name in deleted]
    yield "delete", DELETE_TOPICS, 6, {"topics": topics, "timeout_ms": 10_000}
    if user != "kohort":
        yield "delete by id", DELETE_TOPICS, 6, {"topics": by_id, "timeout_ms": 10_000}
    grown = [{"name": name, "count": 2, "assignments": None} for name in (seen, hidden, none)]
    yield "grow", CREATE_PARTITIONS, 3, {"topics": grown, "timeout_ms": 10_000, "validate_only": True}
    things = [(2, seen), (2, hidden), (2, none), (4, "1"), (32, made.name("g")), (32, made.name("other"))]
    resources = [{"resource_type": kind, "resource_name": name} for kind, name in things]
    shown = [{**resource, "configuration_keys": ("none.of.them",)} for resource in resources]
    of = {"resources": shown, "include_synonyms": False, "include_documentation": False}
    yield "settings", DESCRIBE_CONFIGS, 4, of
    changed = [{**resource, "configs": ()} for resource in resources]
    yield "change settings", INCREMENTAL_ALTER_CONFIGS, 1, {"resources": changed, "validate_only": True}
    yield "replace settings", ALTER_CONFIGS, 2, {"resources": changed[:2], "validate_only": True}
    yield "features", UPDATE_FEATURES, 1, {"timeout_ms": 1_000, "feature_updates": (), "validate_only": True}
    producing = [{"name": name, "partition_indexes": [0]} for name in (seen, hidden, none)]
    yield "producers", DESCRIBE_PRODUCERS, 0, {"topics": producing}
    paged = {
        "topics": [{"name": name} for name in (seen, hidden, none)],
        "response_partition_limit": 2_000,
        "cursor": None,
    }
    yield "partitions", DESCRIBE_TOPIC_PARTITIONS, 0, paged
    yield "all partitions", DESCRIBE_TOPIC_PARTITIONS, 0, {**paged, "topics": ()}
    yield "log directories", DESCRIBE_LOG_DIRS, 4, {"topics": [{"topic": none, "partitions": [0]}]}
    elected = [{"topic": seen, "partitions": [0]}]
    yield "elect", ELECT_LEADERS, 2, {"election_type": 0, "topic_partitions": elected, "timeout_ms": 10_000}
    yield "move", ALTER_PARTITION_REASSIGNMENTS, 0, {"timeout_ms": 10_000, "topics": ()}
    yield "moves", LIST_PARTITION_REASSIGNMENTS, 0, {"timeout_ms": 10_000, "topics": ()}
    quota = {"entity_type": "user", "match_type": 0, "match": "no-such-user"}
    yield "quotas", DESCRIBE_CLIENT_QUOTAS, 1, {"components": [quota], "strict": True}
    yield "SCRAM", DESCRIBE_USER_SCRAM_CREDENTIALS, 0, {"users": [{"name": "no-such-user"}]}
    yield "what has settings", LIST_CONFIG_RESOURCES, 1, {"resource_types": (16,)}
    yield "no ACLs", CREATE_ACLS, 3, {"creations": ()}
    filter_ = {
        "resource_type_filter": ResourceType.GROUP, "resource_name_filter": made.name("no"), "pattern_type_filter": 3,
        "principal_filter": None, "host_filter": None, "operation": 1, "permission_type": 1,
    }  # fmt: skip
    yield "ACLs", DESCRIBE_ACLS, 3, filter_
    yield "delete ACLs", DELETE_ACLS, 3, {"filters": [filter_]}


UNKNOWN_PRODUCER = 1 << 40
"""A broker counts from 0."""


def transaction_calls(made: World) -> Iterator[Call]:
    """Requests of producers about transactions; the producers are unknown, so that no transaction starts."""
    seen, hidden, none = (made.name(topic) for topic in ("seen", "hidden", "none"))
    yield "a producer", INIT_PRODUCER_ID, 4, {
        "transactional_id": None, "transaction_timeout_ms": 1_000, "producer_id": -1, "producer_epoch": -1,
    }  # fmt: skip
    for transaction in ("t", "u"):
        of = {
            "transactional_id": made.name(transaction),
            "producer_id": UNKNOWN_PRODUCER,
            "producer_epoch": 0,
        }
        # A broker has the coordinator's log by then.
        yield f"begin {transaction}", INIT_PRODUCER_ID, 4, {**of, "transaction_timeout_ms": 0}
        for names in ((seen,), (hidden,), (seen, hidden, none)):
            topics = [{"name": name, "partitions": [0]} for name in names]
            added = {
                "v3_and_below_transactional_id": made.name(transaction), "v3_and_below_producer_id": UNKNOWN_PRODUCER,
                "v3_and_below_producer_epoch": 0, "v3_and_below_topics": topics,
            }  # fmt: skip
            yield f"add {transaction} {names}", ADD_PARTITIONS_TO_TXN, 3, added
        verified = [{**of, "verify_only": True, "topics": topics}]
        yield f"verify {transaction}", ADD_PARTITIONS_TO_TXN, 5, {"transactions": verified}
        for group in ("g", "other"):
            yield (
                f"offsets of {transaction} {group}",
                ADD_OFFSETS_TO_TXN,
                4,
                {**of, "group_id": made.name(group)},
            )
            commit = commit_of(made, group, 9)
            committed = {**of, **commit, "generation_id": -1, "topics": commit["topics"]}
            yield f"commit in {transaction} {group}", TXN_OFFSET_COMMIT, 3, committed
        yield f"end {transaction}", END_TXN, 4, {**of, "committed": False}
    marker = {
        "producer_id": UNKNOWN_PRODUCER, "producer_epoch": 0, "transaction_result": True, "coordinator_epoch": 0,
        "topics": [{"name": made.name("none"), "partition_indexes": [0]}],
    }  # fmt: skip
    yield "markers", WRITE_TXN_MARKERS, 1, {"markers": [marker]}
    ids = [made.name(id_) for id_ in ("t", "u")]
    yield "transactions", DESCRIBE_TRANSACTIONS, 0, {"transactional_ids": ids}
    yield "all transactions", LIST_TRANSACTIONS, 1, {
        "state_filters": (), "producer_id_filters": (), "duration_filter": -1,
    }  # fmt: skip


def group_calls(made: World) -> Iterator[Call]:
    """Requests of members and tools about groups."""
    g, other, c = (made.name(name) for name in ("g", "other", "c"))
    seen, hidden = (made.name(topic) for topic in ("seen", "hidden"))
    member = {"group_id": g, "generation_id": 1, "member_id": "m", "group_instance_id": None}
    for kind in (0, 1):
        yield f"find {kind}", FIND_COORDINATOR, 3, {"key": other, "key_type": kind}
    yield "find several", FIND_COORDINATOR, 4, {"coordinator_keys": [g, other, c], "key_type": 0}
    join = {
        "session_timeout_ms": 10_000, "rebalance_timeout_ms": 10_000, "member_id": "", "group_instance_id": None,
        "protocol_type": "consumer", "protocols": [{"name": "range", "metadata": b""}], "reason": None,
    }  # fmt: skip
    for group in (g, other):
        yield f"join {group}", JOIN_GROUP, 9, {**join, "group_id": group}
        sync = {
            **member,
            "group_id": group,
            "protocol_type": "consumer",
            "protocol_name": "range",
            "assignments": (),
        }
        yield f"sync {group}", SYNC_GROUP, 5, sync
        yield f"heartbeat {group}", HEARTBEAT, 4, {**member, "group_id": group}
        leaving = [{"member_id": "m", "group_instance_id": None, "reason": None}]
        yield f"leave {group}", LEAVE_GROUP, 5, {"group_id": group, "members": leaving}
        yield f"leave {group}, alone", LEAVE_GROUP, 2, {"group_id": group, "member_id": "m"}
    for version in (0, 3, 6):
        described = {"groups": [g, other], "include_authorized_operations": True}
        yield f"describe {version}", DESCRIBE_GROUPS, version, described
    yield "list", LIST_GROUPS, 5, {"states_filter": (), "types_filter": ()}
    yield "delete", DELETE_GROUPS, 2, {"groups_names": [made.name("gone"), f"{g}one"]}
    for group in ("g", "other"):
        for version in (2, 8, 9, 10):
            yield f"commit {group} {version}", OFFSET_COMMIT, version, commit_of(made, group, version)
    topics = [
        {"name": name, "topic_id": made.ids[short], "partition_indexes": [0]}
        for name, short in ((seen, "seen"), (hidden, "hidden"))
    ]
    for version in (1, 2, 7):
        for group in (g, other):
            fetched = {"group_id": group, "topics": topics, "require_stable": False}
            yield f"fetch {group} {version}", OFFSET_FETCH, version, fetched
    for version in (8, 9, 10):
        for asked in (topics, None):
            groups = [
                {"group_id": group, "member_id": None, "member_epoch": -1, "topics": asked} for group in (g, other)
            ]  # fmt: skip
            fetched = {"groups": groups, "require_stable": False}
            yield f"fetch {version} {asked is None}", OFFSET_FETCH, version, fetched
    partitions = [{"partition_index": 9}]
    deleted = [{"name": name, "partitions": partitions} for name in (seen, hidden)]
    for group in (g, other):
        yield f"delete offsets {group}", OFFSET_DELETE, 0, {"group_id": group, "topics": deleted}
    for names in (("seen",), ("seen", "hidden")):
        yield f"heartbeat of {names}", CONSUMER_GROUP_HEARTBEAT, 1, consumer_of("c", made, *names)
        yield f"heartbeat of {names}, other", CONSUMER_GROUP_HEARTBEAT, 1, consumer_of("other", made, *names)
    described_ids = {"group_ids": [c, g, other], "include_authorized_operations": True}
    yield "describe consumers", CONSUMER_GROUP_DESCRIBE, 1, described_ids
