"""Requests of users to a server with ACLs; none of them changes the answer to a later one."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from tests.coordinator.server.security.acl_world import ANY, World, commit_of, consumer_of, metadata_of
from wire.acls import PatternType, ResourceType
from wire.log.batch_writer import encode_batch

Call: TypeAlias = tuple[str, str, int, Mapping[str, Any]]
"""The name of a request, and the request: API, version and fields."""


def record_calls(made: World) -> Iterator[Call]:
    topics = [(made.name(short), made.ids.get(short)) for short in ("seen", "hidden", "none")]
    batch = encode_batch([(None, b"x")], base_offset=0, timestamp=1)
    data = [{"index": 0, "records": batch}]
    for version in (9, 13):
        known = topics if version < 13 else topics[:2]
        written = [{"name": name, "topic_id": id_, "partition_data": data} for name, id_ in known]
        produced = {"transactional_id": None, "acks": 1, "timeout_ms": 10_000, "topic_data": written}
        yield f"produce {version}", "Produce", version, produced
        partition = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1_000}
        read = [{"topic": name, "topic_id": id_, "partitions": [partition]} for name, id_ in known]
        fields = {"max_wait_ms": 0, "min_bytes": 0, "max_bytes": 1_000, "forgotten_topics_data": ()}
        yield f"fetch {version}", "Fetch", version, {**fields, "topics": read}
    latest = {"partition_index": 0, "current_leader_epoch": -1, "timestamp": -1}
    listed = [{"name": name, "partitions": [latest]} for name, _ in topics]
    for version in (1, 10):
        asked = {"replica_id": -1, "isolation_level": 0, "topics": listed, "timeout_ms": 10_000}
        yield f"list offsets {version}", "ListOffsets", version, asked
    first = {"partition": 0, "current_leader_epoch": -1, "leader_epoch": 0}
    epochs = [{"topic": name, "partitions": [first]} for name, _ in topics]
    yield "epochs", "OffsetForLeaderEpoch", 4, {"replica_id": -1, "topics": epochs}
    deleted = [{"name": name, "partitions": [{"partition_index": 0, "offset": 0}]} for name, _ in topics]
    yield "delete records", "DeleteRecords", 2, {"topics": deleted, "timeout_ms": 10_000}


def admin_calls(made: World, user: str) -> Iterator[Call]:
    """Requests of tools about topics, settings and the cluster; a user that may do everything deletes nothing."""
    seen, hidden, none, new = (made.name(topic) for topic in ("seen", "hidden", "none", "new"))
    named = [{"name": name, "topic_id": None} for name in (seen, hidden, none)]
    by_id = [{"name": None, "topic_id": id_} for id_ in made.ids.values()]
    for version in (1, 4, 9, 12):
        for asked in (named, None):
            fields = metadata_of(asked, operations=True)
            yield f"metadata {version} {asked is None}", "Metadata", version, fields
    yield "metadata by id", "Metadata", 12, metadata_of(by_id, operations=True)
    yield "cluster", "DescribeCluster", 1, {"include_cluster_authorized_operations": True, "endpoint_type": 1}
    settings = {"num_partitions": 1, "replication_factor": 1, "assignments": (), "configs": ()}
    created = [{"name": name, **settings} for name in (new, seen, none)]
    yield "create", "CreateTopics", 7, {"topics": created, "timeout_ms": 10_000, "validate_only": True}
    deleted = [none] if user == "kohort" else [none, seen, hidden]
    yield "delete by name", "DeleteTopics", 5, {"topic_names": deleted, "timeout_ms": 10_000}
    topics = [{"name": name, "topic_id": None} for name in deleted]
    yield "delete", "DeleteTopics", 6, {"topics": topics, "timeout_ms": 10_000}
    if user != "kohort":
        yield "delete by id", "DeleteTopics", 6, {"topics": by_id, "timeout_ms": 10_000}
    grown = [{"name": name, "count": 2, "assignments": None} for name in (seen, hidden, none)]
    yield "grow", "CreatePartitions", 3, {"topics": grown, "timeout_ms": 10_000, "validate_only": True}
    things = [(2, seen), (2, hidden), (2, none), (4, "1"), (32, made.name("g")), (32, made.name("other"))]
    resources = [{"resource_type": kind, "resource_name": name} for kind, name in things]
    shown = [{**resource, "configuration_keys": ("none.of.them",)} for resource in resources]
    of = {"resources": shown, "include_synonyms": False, "include_documentation": False}
    yield "settings", "DescribeConfigs", 4, of
    changed = [{**resource, "configs": ()} for resource in resources]
    yield "change settings", "IncrementalAlterConfigs", 1, {"resources": changed, "validate_only": True}
    yield "replace settings", "AlterConfigs", 2, {"resources": changed[:2], "validate_only": True}
    yield "features", "UpdateFeatures", 1, {"timeout_ms": 1_000, "feature_updates": (), "validate_only": True}
    producing = [{"name": name, "partition_indexes": [0]} for name in (seen, hidden, none)]
    yield "producers", "DescribeProducers", 0, {"topics": producing}
    paged = {"topics": [{"name": name} for name in (seen, hidden, none)], "cursor": None}
    yield "partitions", "DescribeTopicPartitions", 0, paged
    yield "all partitions", "DescribeTopicPartitions", 0, {**paged, "topics": ()}
    yield "log directories", "DescribeLogDirs", 4, {"topics": [{"topic": none, "partitions": [0]}]}
    elected = [{"topic": seen, "partitions": [0]}]
    yield "elect", "ElectLeaders", 2, {"election_type": 0, "topic_partitions": elected, "timeout_ms": 10_000}
    yield "move", "AlterPartitionReassignments", 0, {"timeout_ms": 10_000, "topics": ()}
    yield "moves", "ListPartitionReassignments", 0, {"timeout_ms": 10_000, "topics": ()}
    quota = {"entity_type": "user", "match_type": 0, "match": "no-such-user"}
    yield "quotas", "DescribeClientQuotas", 1, {"components": [quota], "strict": True}
    yield "SCRAM", "DescribeUserScramCredentials", 0, {"users": [{"name": "no-such-user"}]}
    yield "what has settings", "ListConfigResources", 1, {"resource_types": (16,)}
    yield "no ACLs", "CreateAcls", 3, {"creations": ()}
    filter_ = {**ANY, "resource_type_filter": ResourceType.GROUP, "resource_name_filter": made.name("no")}
    filter_["pattern_type_filter"] = PatternType.LITERAL
    yield "ACLs", "DescribeAcls", 3, filter_
    yield "delete ACLs", "DeleteAcls", 3, {"filters": [filter_]}


UNKNOWN_PRODUCER = 1 << 40  # a broker counts from 0


def transaction_calls(made: World) -> Iterator[Call]:
    """Requests of producers about transactions; the producers are unknown, so that no transaction starts."""
    seen, hidden, none = (made.name(topic) for topic in ("seen", "hidden", "none"))
    yield "a producer", "InitProducerId", 4, {
        "transactional_id": None, "transaction_timeout_ms": 1_000, "producer_id": -1, "producer_epoch": -1,
    }  # fmt: skip
    for transaction in ("t", "u"):
        name = made.name(transaction)
        of = {"transactional_id": name, "producer_id": UNKNOWN_PRODUCER, "producer_epoch": 0}
        # A broker has the coordinator's log by then.
        yield f"begin {transaction}", "InitProducerId", 4, {**of, "transaction_timeout_ms": 0}
        for names in ((seen,), (hidden,), (seen, hidden, none)):
            topics = [{"name": name, "partitions": [0]} for name in names]
            added = {f"v3_and_below_{field}": value for field, value in {**of, "topics": topics}.items()}
            yield f"add {transaction} {names}", "AddPartitionsToTxn", 3, added
        verified = [{**of, "verify_only": True, "topics": topics}]
        yield f"verify {transaction}", "AddPartitionsToTxn", 5, {"transactions": verified}
        for group in ("g", "other"):
            fields = {**of, "group_id": made.name(group)}
            yield f"offsets of {transaction} {group}", "AddOffsetsToTxn", 4, fields
            committed = {**of, **commit_of(made, group, 9), "generation_id": -1}
            yield f"commit in {transaction} {group}", "TxnOffsetCommit", 3, committed
        yield f"end {transaction}", "EndTxn", 4, {**of, "committed": False}
    topics = [{"name": made.name("none"), "partition_indexes": [0]}]
    marker = {"producer_id": UNKNOWN_PRODUCER, "producer_epoch": 0, "topics": topics}
    marker |= {"transaction_result": True, "coordinator_epoch": 0}
    yield "markers", "WriteTxnMarkers", 1, {"markers": [marker]}
    ids = [made.name(id_) for id_ in ("t", "u")]
    yield "transactions", "DescribeTransactions", 0, {"transactional_ids": ids}
    yield "all transactions", "ListTransactions", 1, {
        "state_filters": (), "producer_id_filters": (), "duration_filter": -1,
    }  # fmt: skip


def group_calls(made: World) -> Iterator[Call]:
    g, other, c = (made.name(name) for name in ("g", "other", "c"))
    seen, hidden = (made.name(topic) for topic in ("seen", "hidden"))
    member = {"group_id": g, "generation_id": 1, "member_id": "m", "group_instance_id": None}
    for kind in (0, 1):
        yield f"find {kind}", "FindCoordinator", 3, {"key": other, "key_type": kind}
    yield "find several", "FindCoordinator", 4, {"coordinator_keys": [g, other, c], "key_type": 0}
    join = {
        "session_timeout_ms": 10_000, "rebalance_timeout_ms": 10_000, "member_id": "", "group_instance_id": None,
        "protocol_type": "consumer", "protocols": [{"name": "range", "metadata": b""}], "reason": None,
    }  # fmt: skip
    for group in (g, other):
        yield f"join {group}", "JoinGroup", 9, {**join, "group_id": group}
        protocol = {"protocol_type": "consumer", "protocol_name": "range"}
        sync = {**member, "group_id": group, **protocol, "assignments": ()}
        yield f"sync {group}", "SyncGroup", 5, sync
        yield f"heartbeat {group}", "Heartbeat", 4, {**member, "group_id": group}
        leaving = [{"member_id": "m", "group_instance_id": None, "reason": None}]
        yield f"leave {group}", "LeaveGroup", 5, {"group_id": group, "members": leaving}
        yield f"leave {group}, alone", "LeaveGroup", 2, {"group_id": group, "member_id": "m"}
    for version in (0, 3, 6):
        described = {"groups": [g, other], "include_authorized_operations": True}
        yield f"describe {version}", "DescribeGroups", version, described
    yield "list", "ListGroups", 5, {"states_filter": (), "types_filter": ()}
    yield "delete", "DeleteGroups", 2, {"groups_names": [made.name("gone"), f"{g}one"]}
    for group in ("g", "other"):
        for version in (2, 8, 9, 10):
            yield f"commit {group} {version}", "OffsetCommit", version, commit_of(made, group, version)
    topics = [
        {"name": made.name(short), "topic_id": made.ids[short], "partition_indexes": [0]}
        for short in ("seen", "hidden")
    ]
    for version in (1, 2, 7):
        for group in (g, other):
            fetched = {"group_id": group, "topics": topics, "require_stable": False}
            yield f"fetch {group} {version}", "OffsetFetch", version, fetched
    for version in (8, 9, 10):
        for asked in (topics, None):
            groups = [{"group_id": group, "topics": asked} for group in (g, other)]
            fetched = {"groups": groups, "require_stable": False}
            yield f"fetch {version} {asked is None}", "OffsetFetch", version, fetched
    partitions = [{"partition_index": 9}]
    deleted = [{"name": name, "partitions": partitions} for name in (seen, hidden)]
    for group in (g, other):
        yield f"delete offsets {group}", "OffsetDelete", 0, {"group_id": group, "topics": deleted}
    for names in (("seen",), ("seen", "hidden")):
        yield f"heartbeat of {names}", "ConsumerGroupHeartbeat", 1, consumer_of("c", made, *names)
        yield f"heartbeat of {names}, other", "ConsumerGroupHeartbeat", 1, consumer_of("other", made, *names)
    described_ids = {"group_ids": [c, g, other], "include_authorized_operations": True}
    yield "describe consumers", "ConsumerGroupDescribe", 1, described_ids
