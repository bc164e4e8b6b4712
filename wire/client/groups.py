"""Groups of a cluster, of any type: listed, described and deleted, and their members removed.
A described group is a part of the broker's response. A group of another type, or one that does not exist, fails with
GROUP_ID_NOT_FOUND; brokers before 4.0 describe a classic group that does not exist as Dead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, TypeVar

from wire.client.cluster import KafkaClient
from wire.client.connection import Connection
from wire.client.errors import Answers, batches, raise_if_silent, refused
from wire.client.metadata import ClusterMetadata, brokers_with_failures, offline_coordinators
from wire.client.steps import Deadline, Replies, Steps
from wire.errors import Failure, HasErrorCode, outcome
from wire.messages.definition import Api
from wire.messages.schemas import groups as schemas
from wire.messages.schemas.admin import DESCRIBE_LOG_DIRS
from wire.messages.schemas.classic_groups import DESCRIBE_GROUPS, LEAVE_GROUP
from wire.messages.schemas.groups import DELETE_GROUPS, LIST_GROUPS


class DescribedGroup(HasErrorCode, Protocol):
    """A group in the answer to the describe request of any type."""

    group_id: str


G_co = TypeVar("G_co", bound=DescribedGroup, covariant=True)


class DescribedGroups(Protocol[G_co]):
    @property
    def groups(self) -> tuple[G_co, ...]: ...


MOST_OF_REASON = 255
"""The longest reason in characters, as in Java's clients (JoinGroupRequest.maybeTruncateReason)."""
_FIRST_REMOVING_SEVERAL = 3
_LEAVING = -1  # the member epoch of a member that leaves for good
_DIRECTORIES_TIMEOUT_MS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedGroups:
    """The groups of all brokers, by id. `failed`: silent brokers, and partitions without a leader."""

    groups: tuple[schemas.ListGroupsResponseGroup, ...]
    failed: dict[str, Failure]


def list_groups(
    client: KafkaClient, *, states: Sequence[str] = (), types: Sequence[str] = ()
) -> ListedGroups:
    """The groups of every broker; state from Kafka 2.6, type from 3.8 on. Raises WireError: no broker answers."""

    def ask(broker: Connection, deadline: Deadline) -> Steps[tuple[schemas.ListGroupsResponseGroup, ...]]:
        request = {"states_filter": states, "types_filter": types}
        (response,) = yield from broker.ask(LIST_GROUPS, [request], deadline)
        if response.error_code:
            raise refused(broker.address, LIST_GROUPS.name, response.error_code)
        return response.groups

    answers = client.ask_every_broker(ask)
    raise_if_silent(answers)
    groups = {group.group_id: group for listed in answers.found.values() for group in listed}
    # A broker lists the groups that it coordinates; a moved group is then looked up.
    client.remember_coordinators(
        {group.group_id: address for address, listed in answers.found.items() for group in listed}
    )
    silent = {str(address): failure for address, failure in answers.failed.items()}
    metadata = client.brokers()
    return ListedGroups(
        groups=tuple(groups[name] for name in sorted(groups)),
        failed=silent | offline_coordinators(metadata, _failed_directories(client, metadata)),
    )


def _failed_directories(client: KafkaClient, metadata: ClusterMetadata) -> dict[int, tuple[str, ...]]:
    """The failed log directories of running brokers, if partitions without a leader were in them."""

    def ask(broker: Connection, nodes: Sequence[str], deadline: Deadline) -> Replies[str, tuple[str, ...]]:
        (response,) = yield from broker.ask(DESCRIBE_LOG_DIRS, [{"topics": []}], deadline)
        return dict.fromkeys(nodes, tuple(entry.log_dir for entry in response.results if entry.error_code))

    nodes = brokers_with_failures(metadata)
    if not nodes:
        return {}
    answers = client.ask_nodes(map(str, nodes), ask, Deadline(_DIRECTORIES_TIMEOUT_MS))
    return {int(node): directories for node, directories in answers.found.items()}


def describe_groups(
    client: KafkaClient,
    api: Api[object, DescribedGroups[G_co]],
    groups: Iterable[str],
    *,
    operations: bool = False,
    nodes: bool = False,
) -> Answers[str, G_co]:
    """Describe groups; `operations`: what this user may do; `nodes`: a streams topology's graph (KIP-1331)."""
    key = "groups" if api.key == DESCRIBE_GROUPS.key else "group_ids"
    more = {"include_authorized_operations": operations, "include_topology_description": nodes}

    def ask(broker: Connection, groups: Sequence[str], deadline: Deadline) -> Replies[str, G_co]:
        requests = [{key: batch, **more} for batch in batches(groups)]
        responses = yield from broker.ask(api, requests, deadline)
        return {group.group_id: outcome(group) or group for answer in responses for group in answer.groups}

    return client.ask_coordinators(groups, ask)


def delete_groups(client: KafkaClient, groups: Iterable[str]) -> Answers[str, bool]:
    def ask(broker: Connection, groups: Sequence[str], deadline: Deadline) -> Replies[str, bool]:
        (response,) = yield from broker.ask(DELETE_GROUPS, [{"groups_names": groups}], deadline)
        return {result.group_id: outcome(result) or True for result in response.results}

    return client.ask_coordinators(groups, ask)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeavingMember:
    """A member to remove; with an instance id it is removed only while it has that instance id."""

    member_id: str
    instance_id: str | None = None


Departures: TypeAlias = dict[str, Failure | None]  # the outcome by member id: None for a member that has left


def remove_members(
    client: KafkaClient, members: Mapping[str, Sequence[LeavingMember]], reason: str, *, by: Api | None = None
) -> Answers[str, Departures]:
    """Remove members by LeaveGroup, whose reason the broker logs from version 5 on (KIP-800), or `by` the heartbeat of
    share or streams groups: their members leave with epoch -1, as LeaveGroup is refused (Kafka 4.3.1)."""

    def leave(broker: Connection, groups: Sequence[str], deadline: Deadline) -> Replies[str, Departures]:
        yield from broker.open(deadline)
        if broker.version(LEAVE_GROUP) < _FIRST_REMOVING_SEVERAL:
            pairs = [(group, member) for group in groups for member in members[group]]
            single = [{"group_id": group, "member_id": member.member_id} for group, member in pairs]
            responses = yield from broker.ask(LEAVE_GROUP, single, deadline)
            return _by_group(pairs, map(outcome, responses))

        def entry(member: LeavingMember) -> dict[str, object]:
            named = {"member_id": member.member_id, "group_instance_id": member.instance_id}
            return {**named, "reason": reason[:MOST_OF_REASON]}

        requests = [{"group_id": group, "members": [*map(entry, members[group])]} for group in groups]
        responses = yield from broker.ask(LEAVE_GROUP, requests, deadline)
        return {
            group: outcome(response) or {member.member_id: outcome(member) for member in response.members}
            for group, response in zip(groups, responses, strict=True)
        }

    def leave_by_heartbeat(
        broker: Connection, groups: Sequence[str], deadline: Deadline
    ) -> Replies[str, Departures]:
        pairs = [(group, member) for group in groups for member in members[group]]
        leaves = {"member_epoch": _LEAVING, "endpoint_information_epoch": 0}
        requests = [
            {"group_id": group, "member_id": one.member_id, "instance_id": one.instance_id, **leaves}
            for group, one in pairs
        ]
        responses = yield from broker.ask(by or LEAVE_GROUP, requests, deadline)
        return _by_group(pairs, map(outcome, responses))

    return client.ask_coordinators(members, leave if by is None else leave_by_heartbeat)


def _by_group(
    members: Sequence[tuple[str, LeavingMember]], failures: Iterable[Failure | None]
) -> dict[str, Departures | Failure]:
    """The outcome of every member; a group whose coordinator moved fails as a whole, and is retried."""
    departures: dict[str, Departures] = {}
    for (group, member), failure in zip(members, failures, strict=True):
        departures.setdefault(group, {})[member.member_id] = failure
    return {
        group: next((failure for failure in outcomes.values() if failure and failure.retriable), outcomes)
        for group, outcomes in departures.items()
    }
