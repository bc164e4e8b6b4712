"""What the broker says of a group, of whatever type: asked for directly, to wait for and to compare with."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kio.schema.consumer_protocol_assignment.v0.data import ConsumerProtocolAssignment
from kio.serial import entity_reader

from tests.kafka.broker import RunningBroker
from tests.kafka.events import Partitions
from tests.kafka.wait import PATIENCE_S, wait_until
from tests.kafka.wire import ask

# A classic assignment begins with its version, whose first fields are the same in every version.
VERSION_BYTES = 2
GROUP_KEY = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberView:
    """A member as the broker shows it; `assignment` is empty for another protocol type than consumer."""

    member_id: str
    client_id: str
    host: str
    instance: str | None
    assignment: Partitions


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupView:
    """A group as the broker shows it, with Kafka's words for `kind` and `state`."""

    kind: str
    state: str
    protocol_type: str
    members: tuple[MemberView, ...]


def describe(broker: RunningBroker, group: str) -> GroupView | None:
    """Return `group`, or None if its coordinator does not list it, or there is none."""
    port = _coordinator(broker, group)
    for one in ask(port, "ListGroups", 5).groups if port else ():
        if one.group_id == group:
            state, members = _DESCRIBERS[one.group_type](port, group)
            return GroupView(
                kind=one.group_type, state=state, protocol_type=one.protocol_type, members=members
            )
    return None


def _coordinator(broker: RunningBroker, group: str) -> int:
    """The port of the broker that coordinates a group, or 0."""
    (coordinator,) = ask(
        broker.port, "FindCoordinator", 4, key_type=GROUP_KEY, coordinator_keys=[group]
    ).coordinators
    return max(0, int(coordinator.port))


def wait_group(
    broker: RunningBroker, group: str, *, members: int, state: str = "Stable", timeout_s: float = PATIENCE_S
) -> GroupView:
    last: list[GroupView | None] = [None]

    def reached() -> GroupView | None:
        last[0] = view = describe(broker, group)
        if view is not None and view.state == state and len(view.members) == members:
            return view
        return None

    return wait_until(
        reached, lambda: f"group {group} {state} with {members} members: {last[0]}", timeout_s=timeout_s
    )


_Members = tuple[MemberView, ...]


def _classic(port: int, group: str) -> tuple[str, _Members]:
    (description,) = ask(port, "DescribeGroups", 6, groups=[group]).groups
    is_consumer = description.protocol_type == "consumer"
    return description.group_state, tuple(
        MemberView(
            member_id=one.member_id,
            client_id=one.client_id,
            host=one.client_host,
            instance=one.group_instance_id,
            assignment=_assigned(one.member_assignment) if is_consumer else {},
        )
        for one in description.members
    )


def _assigned(assignment: bytes) -> Partitions:
    if not assignment:
        return {}
    decoded, _ = entity_reader(ConsumerProtocolAssignment)(assignment, VERSION_BYTES)
    return _partitions((one.topic, one.partitions) for one in decoded.assigned_partitions)


def _newer(
    api: str, version: int, assigned: Callable[[Any, Any], Iterable[tuple[str, Iterable[int]]]]
) -> Callable[[int, str], tuple[str, _Members]]:
    """What describes a group by an API of KIP-848 and after; `assigned` is what a member of a group was assigned."""

    def described(port: int, group: str) -> tuple[str, _Members]:
        (description,) = ask(port, api, version, group_ids=[group]).groups
        return description.group_state, tuple(
            MemberView(
                member_id=one.member_id,
                client_id=one.client_id,
                host=one.client_host,
                # Members of a share group have none.
                instance=getattr(one, "instance_id", None),
                assignment=_partitions(assigned(description, one.assignment)),
            )
            for one in description.members
        )

    return described


def _topics(_group: Any, assignment: Any) -> Iterable[tuple[str, Iterable[int]]]:
    return ((one.topic_name, one.partitions) for one in assignment.topic_partitions)


def _tasks(group: Any, assignment: Any) -> Iterable[tuple[str, Iterable[int]]]:
    subtopologies = (group.topology.subtopologies if group.topology else None) or ()
    sources = {one.subtopology_id: one.source_topics for one in subtopologies}
    return (
        (topic, task.partitions)
        for task in assignment.active_tasks
        for topic in sources.get(task.subtopology_id, ())
    )


def _partitions(pairs: Iterable[tuple[str, Iterable[int]]]) -> Partitions:
    """A topic may occur twice: librdkafka writes it again wherever another topic separates its partitions."""
    together: dict[str, list[int]] = {}
    for topic, partitions in pairs:
        together.setdefault(str(topic), []).extend(int(one) for one in partitions)
    return {topic: sorted(partitions) for topic, partitions in sorted(together.items())}


_DESCRIBERS: Mapping[str, Callable[[int, str], tuple[str, _Members]]] = {
    "classic": _classic,
    "consumer": _newer("ConsumerGroupDescribe", 1, _topics),
    "share": _newer("ShareGroupDescribe", 1, _topics),
    "streams": _newer("StreamsGroupDescribe", 0, _tasks),
}
