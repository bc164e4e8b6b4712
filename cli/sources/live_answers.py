"""Convert brokers' responses about groups and topics to Kohort's model, and their failures to problems."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from cli.sources.permissions import READING, Needs, cause_of, with_missing_operations
from cli.sources.source import FoundRecords
from groups.counts import first_names
from groups.features import GROUPS_OF
from groups.listing import Cause, GroupListing, GroupState, GroupType, Problem, state_of, type_of
from wire.client.cluster import KafkaClient
from wire.client.errors import Answers
from wire.errors import ErrorCode, Failure
from wire.messages.definition import Api
from wire.messages.rows import columns_of
from wire.messages.schemas.classic_groups import DESCRIBE_GROUPS
from wire.messages.schemas.consumer_groups import CONSUMER_GROUP_DESCRIBE
from wire.messages.schemas.share_groups import SHARE_GROUP_DESCRIBE
from wire.messages.schemas.streams_groups import STREAMS_GROUP_DESCRIBE

if TYPE_CHECKING:
    from groups.model import Group, Node, Offsets, PendingOffsets, Topic
    from wire.client.metadata import TopicMetadata

    Position: TypeAlias = Callable[[Any], tuple[Offsets, dict[tuple[str, int], Failure]]]
    """Reads the offsets in a response about a group, and the partitions that could not be read."""

SHOWN = 5  # Maximum number of topic or group names in a message
READING_RECORDS = Needs(topic="READ")

_DESCRIBED_BY: Mapping[GroupType, Api] = {
    GroupType.CONSUMER: CONSUMER_GROUP_DESCRIBE,
    GroupType.SHARE: SHARE_GROUP_DESCRIBE,
    GroupType.STREAMS: STREAMS_GROUP_DESCRIBE,
}
"""The describe request of each type; groups of any other type are described as classic groups."""

_FEATURES = {kind: feature for feature, kind in GROUPS_OF.items()}


def with_offsets(
    topic: Topic, names: Sequence[str], answers: Mapping[tuple[str, int], tuple[int, ...]]
) -> Topic:
    unknown = (None,) * len(names)
    rows = [answers.get((topic.name, number), unknown) for number in range(topic.partitions)]
    offsets: dict[str, Any] = {
        name: {number: row[column] for number, row in enumerate(rows)} for column, name in enumerate(names)
    }
    return replace(topic, **offsets)


def listed_group(
    group: Any, state: str | None = None, protocol: str | None = None, members: int | None = None
) -> GroupListing:
    """A row of a broker's ListGroups response, with facts from a describe request; `state` if the list has none."""
    return GroupListing(
        id=group.group_id,
        type=type_of(group.group_type),
        state=state_of(group.group_state or state),
        protocol_type=group.protocol_type,
        protocol=protocol,
        members=members,
    )


def in_lines(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """Problems, with one line for the same problem of many partitions or topics."""
    places: dict[tuple[str, Cause], list[str]] = {}
    topics: dict[tuple[str, Cause], tuple[str, ...]] = {}
    for problem in problems:
        alike = problem.message, problem.cause
        places.setdefault(alike, []).append(problem.subject)
        topics[alike] = topics.get(alike, ()) + problem.topics
    return tuple(
        Problem(
            subject=first_names(subjects, SHOWN), message=message, cause=cause, topics=topics[message, cause]
        )
        for (message, cause), subjects in places.items()
    )


def listed_facts(
    client: KafkaClient, listed: Iterable[Any]
) -> tuple[dict[str, tuple[str, str | None, int]], list[Problem]]:
    """State, assignor and number of members of groups of ListGroups responses. A classic group that is empty is not
    described: it has no members, and no protocol without them."""
    facts: dict[str, tuple[str, str | None, int]] = {}
    kinds: dict[str, GroupType] = {}
    for group in listed:
        kind = type_of(group.group_type)
        if kind is GroupType.CLASSIC and group.group_state == GroupState.EMPTY.value:
            facts[group.group_id] = group.group_state, None, 0
        else:
            kinds[group.group_id] = kind
    problems: list[Problem] = []
    for _, answers in described_by_kind(client, kinds, kinds):
        for name, group in answers.found.items():
            # A streams group has neither field.
            protocol = getattr(group, "protocol_data", None) or getattr(group, "assignor_name", None)
            facts[name] = group.group_state, protocol, len(group.members)
        # A group that was deleted since it was listed is not a problem of the list.
        problems += [
            group_problem(name, failure)
            for name, failure in answers.failed.items()
            if failure.code != ErrorCode.GROUP_ID_NOT_FOUND
        ]
    return facts, problems


def described_by_kind(
    client: KafkaClient, groups: Iterable[str], kinds: Mapping[str, GroupType], *, operations: bool = False
) -> Iterator[tuple[GroupType, Answers[str, Any]]]:
    """Describe groups with the request of their type. A group that no broker lists is described as classic."""
    from wire.client.groups import describe_groups

    by_kind: dict[GroupType, list[str]] = {}
    for name in groups:
        by_kind.setdefault(kinds.get(name, GroupType.CLASSIC), []).append(name)
    for kind, names in by_kind.items():
        api = _DESCRIBED_BY.get(kind, DESCRIBE_GROUPS)
        answers = describe_groups(client, api, names, operations=operations)
        failed = {name: _with_feature(client, kind, failure) for name, failure in answers.failed.items()}
        yield kind, replace(answers, failed=failed)


def _with_feature(client: KafkaClient, kind: GroupType, failure: Failure) -> Failure:
    """The failure, with the remedy if groups of this type are turned off: brokers list them, but describe none."""
    feature = _FEATURES.get(kind)
    if (
        failure.code != ErrorCode.UNSUPPORTED_VERSION
        or feature is None
        or client.home().features.levels.get(feature)
    ):
        return failure
    message = (
        f"{failure.name}: {feature} is 0, so brokers describe no {kind.value.lower()} group; "
        f"`kohort features set {feature}=1` turns them on"
    )
    return replace(failure, message=message)


def problems_of(failed: Mapping[str, Failure]) -> tuple[Problem, ...]:
    return tuple(
        problem_of(name, replace(failure, message=failure.message.removeprefix(f"{name}: ")))
        for name, failure in failed.items()
    )


def group_problem(group: str, failure: Failure) -> Problem:
    if failure.code == ErrorCode.GROUP_ID_NOT_FOUND:
        return Problem(subject=group, message="no such group", cause=Cause.ABSENT, group=group)
    return problem_of(group, failure, group=group)


def problem_of(
    subject: str, failure: Failure, *, group: str | None = None, topics: tuple[str, ...] = ()
) -> Problem:
    """The failure as a problem; an authorization error names the operation that is not allowed."""
    message = with_missing_operations(failure.name, failure.message, READING)
    return Problem(
        subject=subject,
        message=message,
        cause=cause_of(failure.name),
        group=group,
        topics=topics,
        error=failure.name,
    )


def nodes_of(client: KafkaClient) -> dict[str, Node]:
    """Brokers by `host:port`."""
    from groups.model import Node

    nodes: dict[str, Node] = {}
    for broker in client.brokers().brokers:
        at = broker.address
        nodes[str(at)] = Node(id=broker.node_id, host=at.host, port=at.port, rack=broker.rack)
    return nodes


def topic_of(described: TopicMetadata, racks: Mapping[int, str | None]) -> Topic:
    """A topic without end offsets. Racks are unknown unless a broker has one."""
    from groups.model import Topic

    of_replicas = {
        partition.partition_index: tuple(
            rack for node in partition.replica_nodes if (rack := racks.get(node))
        )
        for partition in described.partitions
    }
    return Topic(
        name=described.name,
        partitions=len(described.partitions),
        id=described.topic_id,
        racks=of_replicas if any(of_replicas.values()) else None,
    )


def offsets_of(
    answers: Answers[str, object], position: Position
) -> tuple[dict[str, Offsets], tuple[Problem, ...]]:
    """Offsets by group, None where a partition could not be read, and problems of these partitions and other groups."""
    problems = [group_problem(name, failure) for name, failure in answers.failed.items()]
    from groups.model import CommittedOffset

    offsets: dict[str, Offsets] = {}
    for name, group in answers.found.items():
        read, failed = position(group)
        unread: dict[str, dict[int, CommittedOffset]] = {}
        for topic, partition in failed:
            unread.setdefault(topic, {})[partition] = CommittedOffset(offset=None)
        partly = {topic: {**read.get(topic, {}), **partitions} for topic, partitions in unread.items()}
        offsets[name] = {**read, **partly}
        problems += [
            problem_of(f"{name}, {topic}-{partition}", failure, group=name)
            for (topic, partition), failure in failed.items()
        ]
    return offsets, tuple(problems)


def fetched_offsets(
    client: KafkaClient, groups: Sequence[Group], places: Mapping[str, Collection[tuple[str, int]]]
) -> tuple[Answers[str, object], dict[str, PendingOffsets]]:
    """The responses with committed offsets, and offsets in open transactions. Only a request that names a partition
    shows a pending offset if none was committed before: it is sent for owned partitions, and for `places`."""
    from groups.described import pending_places
    from groups.model import PendingOffsets
    from wire.client.offsets import fetch_offsets

    answers = fetch_offsets(client, [group.id for group in groups], require_stable=True)
    pending = {name: pending_places(group) for name, group in answers.found.items()}
    unstable = [name for name, places in pending.items() if places]
    facts, failed = dict(answers.found), dict(answers.failed)
    if unstable:
        again = fetch_offsets(client, unstable)
        facts |= again.found
        failed |= again.failed
    wanted = {group.id: {*_owned(group), *places.get(group.id, ())} for group in groups if group.id in facts}
    bare = {name: sorted(places - _answered(facts[name])) for name, places in wanted.items() if places}
    bare = {name: places for name, places in bare.items() if places}
    unknown: set[str] = set()
    if bare:
        named = fetch_offsets(client, bare, only=bare, require_stable=True)
        unknown = set(named.failed)
        for name, group in named.found.items():
            pending[name] |= pending_places(group)
    opened = {name: PendingOffsets() for name in facts if name not in unknown}
    held = {name: places for name, places in pending.items() if places}
    if held:
        from cli.sources.transactions import pending_offsets

        opened |= pending_offsets(client, held)
    return Answers(found={name: facts[name] for name in facts if name not in failed}, failed=failed), opened


def _owned(group: Group) -> Iterator[tuple[str, int]]:
    for member in group.members:
        for owned in (member.owned or {}, member.target or {}):
            for topic, numbers in owned.items():
                for number in numbers:
                    yield topic, number


def _answered(answer: Any) -> set[tuple[str, int]]:
    return {
        (topic.name, number)
        for topic in answer.topics
        for (numbers,) in (columns_of(topic.partitions, "partition_index"),)
        for number in numbers
    }


def next_records(client: KafkaClient, requested: Mapping[tuple[str, int], Collection[int]]) -> FoundRecords:
    """The first records at or after the offsets; offsets that could not be read are problems."""
    from groups.lag import NextRecord
    from wire.client.first_records import first_records

    answers = first_records(client, requested)
    failed = [(key, failure) for key, failure in answers.failed.items()]
    by_partition: dict[tuple[str, int], dict[int, NextRecord]] = {}
    for key, records in answers.found.items():
        known = by_partition[key] = {}
        for offset, record in records.items():
            if isinstance(record, Failure):
                failed.append((key, record))
            else:
                known[offset] = NextRecord(*record)
    problems = (_time_problem(topic, partition, failure) for (topic, partition), failure in failed)
    return FoundRecords(records=by_partition, problems=tuple(dict.fromkeys(problems)))


def _time_problem(topic: str, partition: int, failure: Failure) -> Problem:
    # A refusal concerns a whole topic, a failure one partition.
    cause = cause_of(failure.name)
    subject = topic if failure.name == "TOPIC_AUTHORIZATION_FAILED" else f"{topic}-{partition}"
    why = with_missing_operations(failure.name, failure.message, READING_RECORDS)
    return Problem(subject=subject, message=f"lag time is not known: {why}", cause=cause)
