"""What ACLs forbid: the same users send the same requests to a real broker, and are answered the same errors."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest

from tests.coordinator.server.security.conversation import CLOSED, Conversation, plain
from tests.coordinator.server.security.test_login import served
from tests.kafka.members import fresh_name
from tests.kafka.secure import PASSWORDS, SecureBroker
from tests.kafka.wait import wait_until
from wire.acls import CLUSTER_NAME, Operation, PatternType, Permission, ResourceType
from wire.errors import ErrorCode
from wire.messages.definition import Api
from wire.messages.reader import Fields
from wire.messages.schemas.classic_groups import (
    DESCRIBE_GROUPS,
    HEARTBEAT,
    JOIN_GROUP,
    LEAVE_GROUP,
    SYNC_GROUP,
)
from wire.messages.schemas.cluster import METADATA
from wire.messages.schemas.consumer_groups import CONSUMER_GROUP_DESCRIBE, CONSUMER_GROUP_HEARTBEAT
from wire.messages.schemas.groups import DELETE_GROUPS, FIND_COORDINATOR, LIST_GROUPS
from wire.messages.schemas.offsets import OFFSET_COMMIT, OFFSET_DELETE, OFFSET_FETCH
from wire.messages.schemas.security import CREATE_ACLS, DELETE_ACLS, DESCRIBE_ACLS
from wire.messages.schemas.topics import CREATE_TOPICS, DELETE_TOPICS

pytestmark = pytest.mark.kafka

ALLOWED: Mapping[str, tuple[tuple[ResourceType, str, Operation], ...]] = {
    "reader": (
        (ResourceType.GROUP, "g", Operation.READ),
        (ResourceType.GROUP, "c", Operation.READ),
        (ResourceType.GROUP, "r", Operation.READ),
        (ResourceType.TOPIC, "seen", Operation.READ),
    ),
    "worker": (
        (ResourceType.GROUP, "g", Operation.DELETE),
        (ResourceType.GROUP, "c", Operation.DESCRIBE),
        (ResourceType.TOPIC, "seen", Operation.DESCRIBE),
        (ResourceType.TOPIC, "hidden", Operation.WRITE),
    ),
    "stranger": ((ResourceType.CLUSTER, CLUSTER_NAME, Operation.DESCRIBE),),
}
"""By user; `kohort` is a super user. Names are below a prefix of the test's own."""
SHOWN = frozenset(
    {
        "error_code", "name", "topic", "topic_name", "group_id", "key", "partition_index", "index", "partition",
        "authorized_operations", "topic_authorized_operations", "cluster_authorized_operations",
    }
)  # fmt: skip
NAMES = ("name", "topic", "topic_name", "group_id", "key", "resource_name")
Answers = dict[tuple[str, str], Any]


class World:
    """One of the two servers, with topics, groups and ACLs; names are without the prefix outside."""

    def __init__(self, port: int, authority: str) -> None:
        self._port, self._authority, self._prefix = port, authority, fresh_name("acls-")
        self._talks: dict[str, Conversation] = {}
        self.ids: dict[str, UUID] = {}

    def name(self, name: str) -> str:
        """A name as the server knows it."""
        return self._prefix + name

    def ask(self, user: str, api: Api, version: int, fields: Mapping[str, Any]) -> Any:
        """An answer, or CLOSED; then the user begins another connection."""
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
        """End all connections."""
        for talk in self._talks.values():
            talk.close()

    def shown(self, value: Any) -> Any:
        """Errors and names of an answer; what other tests have made is left out."""
        if isinstance(value, Fields):
            found = {
                name: self.shown(each)
                for name, each in zip(value.names, value, strict=True)
                if name in SHOWN or (isinstance(each, Fields | tuple) and each)
            }
            if "topic_id" in value.names and not found.get("name"):
                found["name"] = {id_: name for name, id_ in self.ids.items()}.get(value.topic_id)  # type: ignore[attr-defined]
            return found
        if isinstance(value, tuple):
            shown = [self.shown(each) for each in value if self._is_ours(each)]
            return sorted(shown, key=repr)
        if value == ErrorCode.COORDINATOR_NOT_AVAILABLE:  # it is looked for for the first time
            return ErrorCode.NONE
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
        anything = {
            "resource_name_filter": None, "principal_filter": None, "host_filter": None,
            "operation": Operation.ANY, "permission_type": Permission.ANY, "resource_type_filter": ResourceType.ANY,
            "pattern_type_filter": PatternType.ANY,
        }  # fmt: skip
        filters = [{**anything, "principal_filter": f"User:{user}"} for user in ALLOWED]
        made.ask("kohort", DELETE_ACLS, 3, {"filters": filters})
        topics = [{"name": made.name(each), "topic_id": None} for each in ("seen", "hidden")]
        made.ask("kohort", DELETE_TOPICS, 6, {"topics": topics, "timeout_ms": 10_000})
        made.close()


def _fill(made: World) -> None:
    topics = [
        {
            "name": made.name(name),
            "num_partitions": 2,
            "replication_factor": 1,
            "assignments": (),
            "configs": (),
        }
        for name in ("seen", "hidden")
    ]
    created = made.ask("kohort", CREATE_TOPICS, 7, {"topics": topics, "timeout_ms": 10_000})
    made.ids = {one.name.removeprefix(made.name("")): one.topic_id for one in created.topics}

    def led() -> bool:
        asked = [{"name": topic["name"], "topic_id": None} for topic in topics]
        answer = made.ask("kohort", METADATA, 12, _metadata(asked))
        return all(
            not each.error_code and all(one.leader_id >= 0 for one in each.partitions)
            for each in answer.topics
        )

    wait_until(led, "the topics have leaders", every_s=0.05)
    for group in ("g", "other"):
        committed = _commit(made, group, 9)

        def commits(committed: Mapping[str, Any] = committed) -> bool:
            answer = made.ask("kohort", OFFSET_COMMIT, 9, committed)
            return not any(one.error_code for topic in answer.topics for one in topic.partitions)

        wait_until(commits, "offsets are committed", every_s=0.05)
    _assigned(made, "kohort", _consumer("c", made, "seen", "hidden"))
    creations = [
        {
            "resource_type": kind,
            "resource_name": name if kind is ResourceType.CLUSTER else made.name(name),
            "resource_pattern_type": PatternType.LITERAL,
            "principal": f"User:{user}",
            "host": "*",
            "operation": operation,
            "permission_type": Permission.ALLOW,
        }
        for user, entries in ALLOWED.items()
        for kind, name, operation in entries
    ]
    made.ask("kohort", CREATE_ACLS, 3, {"creations": creations})
    wait_until(lambda: _acls(made) == len(creations), "the ACLs are there", every_s=0.05)


def _acls(made: World) -> int:
    wanted = {
        "resource_type_filter": ResourceType.ANY, "resource_name_filter": None, "pattern_type_filter": PatternType.ANY,
        "principal_filter": None, "host_filter": None, "operation": Operation.ANY, "permission_type": Permission.ANY,
    }  # fmt: skip
    answer = made.ask("kohort", DESCRIBE_ACLS, 3, wanted)
    users = {f"User:{user}" for user in ALLOWED}
    return sum(one.principal in users for each in answer.resources for one in each.acls)


def _metadata(topics: Any, *, operations: bool = False) -> dict[str, Any]:
    return {
        "topics": topics, "allow_auto_topic_creation": False, "include_cluster_authorized_operations": operations,
        "include_topic_authorized_operations": operations,
    }  # fmt: skip


def _commit(made: World, group: str, version: int) -> dict[str, Any]:
    partition = {
        "partition_index": 0,
        "committed_offset": 3,
        "committed_leader_epoch": -1,
        "committed_metadata": "",
    }
    topics = [
        {"name": made.name(topic), "topic_id": made.ids[topic], "partitions": [partition]}
        for topic in ("seen", "hidden")
    ]  # fmt: skip
    return {
        "group_id": made.name(group), "generation_id_or_member_epoch": -1, "member_id": "", "group_instance_id": None,
        "retention_time_ms": -1, "topics": topics,
    }  # fmt: skip


def _consumer(group: str, made: World, *topics: str) -> dict[str, Any]:
    return {
        "group_id": made.name(group), "member_id": "member-of-the-test", "member_epoch": 7, "instance_id": None,
        "rack_id": None, "rebalance_timeout_ms": 60_000,
        "subscribed_topic_names": [made.name(topic) for topic in topics], "subscribed_topic_regex": None,
        "server_assignor": None, "topic_partitions": [],
    }  # fmt: skip


def _assigned(made: World, user: str, beat: Mapping[str, Any]) -> set[UUID]:
    """Have a member join, and wait for its first partitions."""
    epoch = 0

    def topics() -> set[UUID]:
        nonlocal epoch
        answer = made.ask(user, CONSUMER_GROUP_HEARTBEAT, 1, {**beat, "member_epoch": epoch})
        epoch = answer.member_epoch
        return {each.topic_id for each in answer.assignment.topic_partitions} if answer.assignment else set()

    return wait_until(topics, "partitions are assigned", every_s=0.05)


def calls(made: World) -> Iterator[tuple[str, Api, int, Mapping[str, Any]]]:
    """What every user asks: a name, and the request. None changes what a later one is answered."""
    g, other, c = (made.name(each) for each in ("g", "other", "c"))
    seen, hidden = (made.name(each) for each in ("seen", "hidden"))
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
            yield f"commit {group} {version}", OFFSET_COMMIT, version, _commit(made, group, version)
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
        yield f"heartbeat of {names}", CONSUMER_GROUP_HEARTBEAT, 1, _consumer("c", made, *names)
        yield f"heartbeat of {names}, other", CONSUMER_GROUP_HEARTBEAT, 1, _consumer("other", made, *names)
    described_ids = {"group_ids": [c, g, other], "include_authorized_operations": True}
    yield "describe consumers", CONSUMER_GROUP_DESCRIBE, 1, described_ids


USERS = ("kohort", *ALLOWED)


def answers(port: int, authority: str) -> Answers:
    """What the users are answered."""
    with world(port, authority) as made:
        found: Answers = {
            (user, name.replace(made.name(""), "")): made.shown(made.ask(user, api, version, fields))
            for user in USERS
            for name, api, version, fields in calls(made)
        }
        found["reader", "regex"] = matched(made, "reader")
        return found


def matched(made: World, user: str) -> list[str]:
    """The topics that a member is assigned whose regex matches all of them."""
    beat = {**_consumer("r", made), "subscribed_topic_names": None, "subscribed_topic_regex": made.name(".*")}
    names = {id_: name for name, id_ in made.ids.items()}
    return sorted(names[each] for each in _assigned(made, user, beat))


def test_what_is_forbidden_is_refused_as_by_a_broker(secure: SecureBroker) -> None:
    authority = str(secure.files / "ca.pem")

    async def ours() -> Answers:
        settings = {
            "authorizer_class_name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super_users": "User:kohort",
        }
        async with served(secure.files, **settings) as broker:
            return await asyncio.to_thread(answers, broker.port, authority)

    mine, theirs = asyncio.run(ours()), answers(secure.ports["SASL_SSL"], authority)
    wrong = {key: (mine[key], theirs[key]) for key in theirs if mine[key] != theirs[key]}
    assert not wrong, "\n".join(f"{key}:\n  {one}\n  {other}" for key, (one, other) in wrong.items())
