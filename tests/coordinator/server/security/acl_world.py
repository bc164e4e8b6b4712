"""One of two servers to compare: with topics, groups and ACLs, and the answers to its users."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from tests.coordinator.server.security.conversation import CLOSED, Conversation, plain
from tests.kafka.members import fresh_name
from tests.kafka.secure import PASSWORDS
from tests.kafka.wait import wait_until
from wire.acls import CLUSTER_NAME, Operation, PatternType, Permission, ResourceType
from wire.messages.definition import Api
from wire.messages.reader import Fields
from wire.messages.schemas.admin import CREATE_TOPICS, DELETE_TOPICS
from wire.messages.schemas.cluster import METADATA
from wire.messages.schemas.consumer_groups import CONSUMER_GROUP_HEARTBEAT
from wire.messages.schemas.groups import FIND_COORDINATOR
from wire.messages.schemas.log_records import INIT_PRODUCER_ID
from wire.messages.schemas.offsets import OFFSET_COMMIT
from wire.messages.schemas.security import CREATE_ACLS, DELETE_ACLS, DESCRIBE_ACLS

ALLOWED: Mapping[str, tuple[tuple[ResourceType, str, Operation], ...]] = {
    "reader": (
        (ResourceType.GROUP, "g", Operation.READ), (ResourceType.GROUP, "c", Operation.READ),
        (ResourceType.GROUP, "r", Operation.READ), (ResourceType.TOPIC, "seen", Operation.READ),
        (ResourceType.TOPIC, "new", Operation.CREATE),
        (ResourceType.CLUSTER, CLUSTER_NAME, Operation.DESCRIBE_CONFIGS),
        (ResourceType.TRANSACTIONAL_ID, "t", Operation.WRITE),
    ),
    "worker": (
        (ResourceType.GROUP, "g", Operation.DELETE), (ResourceType.GROUP, "c", Operation.DESCRIBE),
        (ResourceType.TOPIC, "seen", Operation.DESCRIBE),
        (ResourceType.TOPIC, "seen", Operation.ALTER_CONFIGS),
        (ResourceType.TOPIC, "hidden", Operation.WRITE), (ResourceType.TOPIC, "hidden", Operation.ALTER),
        (ResourceType.GROUP, "g", Operation.DESCRIBE_CONFIGS),
        (ResourceType.TRANSACTIONAL_ID, "t", Operation.DESCRIBE),
    ),
    "stranger": ((ResourceType.CLUSTER, CLUSTER_NAME, Operation.DESCRIBE),),
}  # fmt: skip
"""The ACLs by user; `kohort` is a super user. Names start with the prefix of the test."""
SHOWN = frozenset(
    {
        "error_code", "name", "topic", "topic_name", "group_id", "key", "partition_index", "index", "partition",
        "resource_name", "resource_type", "topic_config_error_code", "transactional_id",
        "partition_error_code", "authorized_operations", "topic_authorized_operations", "cluster_authorized_operations",
    }
)  # fmt: skip
NAMES = ("name", "topic", "topic_name", "group_id", "key", "resource_name")
ANY: Mapping[str, Any] = {
    "resource_type_filter": ResourceType.ANY, "resource_name_filter": None, "pattern_type_filter": PatternType.ANY,
    "principal_filter": None, "host_filter": None, "operation": Operation.ANY, "permission_type": Permission.ANY,
}  # fmt: skip
"""The filter of all ACLs."""


class World:
    """One of the two servers, with topics, groups and ACLs; names are without the prefix outside."""

    def __init__(self, port: int, authority: str) -> None:
        self._port, self._authority, self._prefix = port, authority, fresh_name("acls-")
        self._talks: dict[str, Conversation] = {}
        self.ids: dict[str, UUID] = {}

    def name(self, name: str) -> str:
        return self._prefix + name

    def ask(self, user: str, api: Api, version: int, fields: Mapping[str, Any]) -> Any:
        """The answer, or CLOSED; after that the user opens another connection."""
        if user not in self._talks:
            talk = Conversation(self._port, self._authority)
            talk.handshake("PLAIN")
            assert talk.token(plain(user, PASSWORDS[user])) == (0, "")
            self._talks[user] = talk
        answer = self._talks[user].ask(api, version, fields)
        if answer == CLOSED:
            self._talks.pop(user).close()
        return answer

    def close(self) -> None:
        for talk in self._talks.values():
            talk.close()

    def shown(self, value: Any) -> Any:
        """Errors and names of an answer, without resources of other tests."""
        if isinstance(value, Fields):
            fields = {
                name: self.shown(field)
                for name, field in zip(value.names, value, strict=True)
                if name in SHOWN or (isinstance(field, Fields | tuple) and field)
            }
            if "topic_id" in value.names and not fields.get("name"):
                fields["name"] = {id_: name for name, id_ in self.ids.items()}.get(value.topic_id)  # type: ignore[attr-defined]
            return fields
        if isinstance(value, tuple):
            shown = [self.shown(element) for element in value if self._is_ours(element)]
            return sorted(shown, key=repr)
        return value.removeprefix(self._prefix) if isinstance(value, str) else value

    def _is_ours(self, value: Any) -> bool:
        names = [
            getattr(value, name)
            for name in NAMES
            if isinstance(value, Fields) and name in value.names and getattr(value, name)
        ]
        return all(name.startswith(self._prefix) for name in names)


@contextmanager
def world(port: int, authority: str) -> Iterator[World]:
    made = World(port, authority)
    try:
        _fill(made)
        yield made
    finally:
        filters = [{**ANY, "principal_filter": f"User:{user}"} for user in ALLOWED]
        made.ask("kohort", DELETE_ACLS, 3, {"filters": filters})
        topics = [{"name": made.name(topic), "topic_id": None} for topic in ("seen", "hidden")]
        made.ask("kohort", DELETE_TOPICS, 6, {"topics": topics, "timeout_ms": 10_000})
        made.close()


def _fill(made: World) -> None:
    sizes = {"num_partitions": 2, "replication_factor": 1, "assignments": (), "configs": ()}
    topics = [{"name": made.name(name), **sizes} for name in ("seen", "hidden")]
    created = made.ask("kohort", CREATE_TOPICS, 7, {"topics": topics, "timeout_ms": 10_000})
    made.ids = {one.name.removeprefix(made.name("")): one.topic_id for one in created.topics}

    def led() -> bool:
        asked = [{"name": topic["name"], "topic_id": None} for topic in topics]
        answer = made.ask("kohort", METADATA, 12, metadata_of(asked))
        return all(
            not one.error_code and all(p.leader_id >= 0 for p in one.partitions) for one in answer.topics
        )

    wait_until(led, "the topics have leaders", every_s=0.05)
    for group in ("g", "other"):
        committed = commit_of(made, group, 9)

        def commits(committed: Mapping[str, Any] = committed) -> bool:
            answer = made.ask("kohort", OFFSET_COMMIT, 9, committed)
            return not any(one.error_code for topic in answer.topics for one in topic.partitions)

        wait_until(commits, "offsets are committed", every_s=0.05)
    coordinator = {"key": made.name("v"), "key_type": 1}
    producer = {"transactional_id": made.name("v"), "producer_id": -1, "producer_epoch": -1}

    def produces() -> bool:
        found = made.ask("kohort", FIND_COORDINATOR, 3, coordinator)
        begun = made.ask("kohort", INIT_PRODUCER_ID, 4, {**producer, "transaction_timeout_ms": 60_000})
        return not (found.error_code or begun.error_code)

    wait_until(produces, "transactions have a coordinator", every_s=0.05)
    assigned(made, "kohort", consumer_of("c", made, "seen", "hidden"), topics=2)
    creations = [
        {
            "resource_type": kind, "resource_name": name if kind is ResourceType.CLUSTER else made.name(name),
            "resource_pattern_type": PatternType.LITERAL, "principal": f"User:{user}", "host": "*",
            "operation": operation, "permission_type": Permission.ALLOW,
        }
        for user, entries in ALLOWED.items()
        for kind, name, operation in entries
    ]  # fmt: skip
    made.ask("kohort", CREATE_ACLS, 3, {"creations": creations})
    wait_until(lambda: _acls(made) == len(creations), "the ACLs are there", every_s=0.05)


def _acls(made: World) -> int:
    answer = made.ask("kohort", DESCRIBE_ACLS, 3, ANY)
    users = {f"User:{user}" for user in ALLOWED}
    return sum(one.principal in users for resource in answer.resources for one in resource.acls)


def metadata_of(topics: Any, *, operations: bool = False) -> dict[str, Any]:
    return {
        "topics": topics, "allow_auto_topic_creation": False, "include_cluster_authorized_operations": operations,
        "include_topic_authorized_operations": operations,
    }  # fmt: skip


def commit_of(made: World, group: str, version: int) -> dict[str, Any]:
    partition = {"partition_index": 0, "committed_offset": 3, "committed_metadata": ""}
    topics = [
        {"name": made.name(topic), "topic_id": made.ids[topic], "partitions": [partition]}
        for topic in ("seen", "hidden")
    ]
    return {"group_id": made.name(group), "member_id": "", "topics": topics}


def consumer_of(group: str, made: World, *topics: str) -> dict[str, Any]:
    nulls = dict.fromkeys(("instance_id", "rack_id", "subscribed_topic_regex", "server_assignor"))
    fields = {"group_id": made.name(group), "member_id": "member-of-the-test", "member_epoch": 7, **nulls}
    names = [made.name(topic) for topic in topics]
    return {**fields, "rebalance_timeout_ms": 60_000, "subscribed_topic_names": names, "topic_partitions": []}


def assigned(made: World, user: str, beat: Mapping[str, Any], *, topics: int = 1) -> set[UUID]:
    """Have a member join, and wait until it is assigned partitions of this many topics."""
    epoch = 0
    topic_ids: set[UUID] = set()

    def has_all() -> bool:
        nonlocal epoch
        answer = made.ask(user, CONSUMER_GROUP_HEARTBEAT, 1, {**beat, "member_epoch": epoch})
        epoch = answer.member_epoch
        topic_ids.update(
            one.topic_id for one in (answer.assignment.topic_partitions if answer.assignment else ())
        )
        return len(topic_ids) >= topics

    wait_until(has_all, "partitions are assigned", every_s=0.05)
    return topic_ids
