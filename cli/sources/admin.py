"""A live cluster if only librdkafka can log in: over confluent-kafka's AdminClient. It reports topics, committed
offsets, end offsets, and classic and consumer groups."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from confluent_kafka import (
    ConsumerGroupTopicPartitions,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, ConfigResource, OffsetSpec  # type: ignore[attr-defined]

from cli.errors import CommandError
from cli.sources.librdkafka import librdkafka_config
from cli.sources.live import LiveSource
from cli.sources.permissions import READING, Needs, cause_of, with_missing_operations
from cli.sources.source import AuthorizedOperations, ReadResult
from groups import model
from groups.listing import GroupFilter
from groups.settings import with_settings
from wire.client import offsets as wire_offsets
from wire.client.errors import Answers
from wire.client.offsets import EARLIEST, LATEST, Outcomes
from wire.client.security import ConnectionSettings
from wire.errors import Failure

if TYPE_CHECKING:
    from cli.sources.live import Committed, LogOffsets, NewOffsets, Places

K = TypeVar("K")
_SILENCE = (KafkaError._TIMED_OUT, KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN)
_LEADER_MOVED = (KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE)
_PAUSES_S = (0.1, 0.3, 0.9)  # Pauses before partitions whose leader has moved are requested again
_NO_OFFSET = -1001  # librdkafka's OFFSET_INVALID: nothing is committed, or the offset is not known
_NO_ANSWER = (
    "no answer in time from the partition's leader. Check that broker, or allow more time (--timeout)."
)
# confluent-kafka's OffsetSpec has no annotations.
_SPECS: Mapping[int, OffsetSpec] = {
    EARLIEST.timestamp: OffsetSpec.earliest(),  # type: ignore[no-untyped-call]
    LATEST.timestamp: OffsetSpec.latest(),  # type: ignore[no-untyped-call]
}


def admin_client(settings: ConnectionSettings) -> AdminClient:
    """The AdminClient. Raises CommandError: librdkafka cannot be used with these settings, such as GSSAPI in its
    wheels. Raises WireError: there is no token to log in with."""
    if settings.oauth is not None:
        from wire.client.steps import Deadline
        from wire.client.tokens.source import token_source

        # Otherwise, librdkafka would wait ten seconds for a missing token, and not report why.
        token_source(settings.oauth, settings.bootstrap_servers).token(Deadline(settings.api_timeout_ms))
    try:
        # librdkafka's own log would repeat the problems; it must not write to stdout or stderr.
        return AdminClient({**librdkafka_config(settings), "log_level": 0})
    except KafkaException as error:
        reason = error.args[0].str().removeprefix("Failed to create admin client: ")
        login = f" with sasl.mechanism={settings.sasl_mechanism}" if settings.sasl_mechanism else ""
        raise CommandError(f"this needs librdkafka, which cannot log in{login} here: {reason}") from None


class AdminSource(LiveSource):
    """A cluster over the AdminClient, for logins that only librdkafka supports (Kerberos)."""

    def __init__(self, settings: ConnectionSettings) -> None:
        """Raises CommandError: librdkafka cannot log in either. Raises WireError: there is no token to log in with."""
        super().__init__(settings)
        self.admin = admin_client(settings)
        self.timeout_s = self.timeout_ms / 1000
        login = f"only the AdminClient can log in with sasl.mechanism={settings.sasl_mechanism}"
        self.why_no_records = f"{login}, which reads no records"
        self.notices.add(
            f"epochs, subscriptions and share, streams and connect groups are not shown: {login}"
        )

    def cluster(self) -> model.Cluster:
        """The cluster's id and the brokers' settings of groups; features and version are not available here."""
        metadata = self._metadata()
        settings, failures = brokers_settings(self.admin, metadata.brokers, self.timeout_s)
        failed = {broker: failure_reason(error) for broker, error in failures.items()}
        brokers = tuple(
            model.Node(id=broker.id, host=broker.host, port=broker.port)
            for _, broker in sorted(metadata.brokers.items())
        )
        return with_settings(model.Cluster(id=metadata.cluster_id, brokers=brokers), settings, failed)

    def cluster_id(self) -> str | None:
        reported: str | None = self._metadata().cluster_id
        return reported

    def _metadata(self) -> Any:
        with self._asking():
            return self.admin.list_topics(timeout=self.timeout_s)

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Stop the command if a whole request fails; the message contains the bootstrap servers."""
        try:
            yield
        except KafkaException as error:
            raise CommandError(f"{self.name}: {failure_reason(error)}") from None

    def _bare_topics(self, names: Collection[str] | None) -> tuple[ReadResult[model.Topic], None]:
        """The named topics that exist, or all, by name, with ids and racks."""
        if names is None:
            names = self._metadata().topics.keys()
        if not names:
            return ReadResult(()), None
        asked = self.admin.describe_topics(TopicCollection(sorted(names)), request_timeout=self.timeout_s)
        topics, failed = _results(asked)
        unread = tuple(
            replace(_problem(name, error), topics=(name,))
            for name, error in failed.items()
            if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART
        )
        return ReadResult(tuple(_topic(topics[name]) for name in sorted(topics)), unread), None

    def offsets_at(
        self, places: Places, specs: Sequence[wire_offsets.OffsetSpec], _leaders: object = None, /
    ) -> LogOffsets:
        """Like the wire client's `offsets_at`, one spec after another."""
        answers = [self._offsets_at(places, spec) for spec in specs]
        failed = {partition: why for answer in reversed(answers) for partition, why in answer.failed.items()}
        return Answers(
            found={
                partition: tuple(answer.found[partition] for answer in answers)
                for partition in places
                if all(partition in answer.found for answer in answers)
            },
            failed=failed,
        )

    def _offsets_at(self, places: Places, sought: wire_offsets.OffsetSpec) -> Answers[tuple[str, int], int]:
        """One request per leader; partitions whose leader has just moved are requested again."""
        spec = _SPECS.get(sought.timestamp) or OffsetSpec.for_timestamp(sought.timestamp)
        level = IsolationLevel(sought.isolation_level)
        log_offsets: dict[tuple[str, int], int] = {}
        failed: dict[tuple[str, int], Failure] = {}
        pending = list(places)
        for pause_s in (*_PAUSES_S, None):
            asked = {TopicPartition(*key): spec for key in pending}
            pending = []
            if not asked:
                break
            listed = self.admin.list_offsets(asked, isolation_level=level, request_timeout=self.timeout_s)
            for partition, future in listed.items():
                key = partition.topic, partition.partition
                try:
                    log = future.result()
                    if log.offset == _NO_OFFSET:
                        # librdkafka's answer for a leader that did not answer, while others did.
                        failed[key] = Failure(message=_NO_ANSWER)
                        continue
                    log_offsets[key] = log.offset
                    failed.pop(key, None)
                except KafkaException as error:
                    failed[key] = Failure(message=failure_reason(error))
                    if error.args[0].code() in _LEADER_MOVED:
                        pending.append(key)
            if pending and pause_s is not None:
                time.sleep(pause_s)
        return Answers(found=log_offsets, failed=failed)

    def committed(self, groups: Sequence[model.Group]) -> Committed:
        """Committed offsets by group, without the metadata: confluent-kafka 2.16.1 reads beyond the end of it."""
        asked: dict[str, Future[object]] = {}
        for group in groups:
            request = [ConsumerGroupTopicPartitions(group.id)]
            asked |= self.admin.list_consumer_group_offsets(request, request_timeout=self.timeout_s)
        results, failed = _results(asked)
        problems = [replace(_problem(name, error), group=name) for name, error in failed.items()]
        for name, result in results.items():
            problems += [
                replace(_problem(f"{name}, {entry.topic}-{entry.partition}", entry.error), group=name)
                for entry in result.topic_partitions
                if entry.error is not None
            ]
        return {name: _offsets(result) for name, result in results.items()}, {}, tuple(problems)

    def commit_offsets(self, offsets: NewOffsets, _topic_ids: object = None, /) -> Answers[str, Outcomes]:
        """Like the wire client's `commit_offsets`, one request per group, but without metadata."""
        asked: dict[str, Future[object]] = {}
        for group, new_offsets in offsets.items():
            places = [
                TopicPartition(*partition, new.offset, leader_epoch=new.leader_epoch)
                for partition, new in new_offsets.items()
            ]
            request = [ConsumerGroupTopicPartitions(group, places)]
            asked |= self.admin.alter_consumer_group_offsets(request, request_timeout=self.timeout_s)
        results, failed = _results(asked)
        return Answers(
            found={
                group: {
                    (topic_partition.topic, topic_partition.partition): topic_partition.error
                    and failure_of(topic_partition.error)
                    for topic_partition in result.topic_partitions
                }
                for group, result in results.items()
            },
            failed={group: failure_of(error.args[0]) for group, error in failed.items()},
        )

    def delete_groups(self, groups: Sequence[str]) -> Answers[str, bool]:
        if not groups:
            return Answers(found={}, failed={})
        asked = self.admin.delete_consumer_groups(list(groups), request_timeout=self.timeout_s)
        results, errors = _results(asked)
        failed = {group: failure_of(error.args[0]) for group, error in errors.items()}
        return Answers(found=dict.fromkeys(results, True), failed=failed)

    def _listed(self, _filter: GroupFilter, /, **_: bool) -> ReadResult[model.GroupListing]:
        """Classic and consumer groups; librdkafka silently omits the other types."""
        with self._asking():
            result = self.admin.list_consumer_groups(request_timeout=self.timeout_s).result()
        listings = [
            model.GroupListing(
                id=group.group_id,
                type=model.GroupType.parse(group.type.name) if group.type else model.GroupType.UNKNOWN,
                state=_state(group.state),
                protocol_type="consumer",
            )
            for group in result.valid
        ]
        problems = [
            model.Problem(subject=self.name, message=failure_reason(error)) for error in result.errors
        ]
        return ReadResult(tuple(sorted(listings, key=lambda listing: listing.id)), tuple(problems))

    def _described(self, groups: Sequence[str], _types: object) -> ReadResult[model.Group]:
        """Classic and consumer groups, without epochs, subscriptions and user data."""
        if not groups:
            return ReadResult(())
        asked = self.admin.describe_consumer_groups(list(groups), request_timeout=self.timeout_s)
        results, failed = _results(asked)
        problems = [replace(_problem(group, error), group=group) for group, error in failed.items()]
        dead = [
            model.Problem(subject=name, message="no such group", cause=model.Cause.ABSENT, group=name)
            for name, group in results.items()
            if _state(group.state) is model.GroupState.DEAD
        ]
        alive = [_group(results[name]) for name in groups if name in results]
        described = tuple(group for group in alive if group.state is not model.GroupState.DEAD)
        return ReadResult(described, (*problems, *dead))

    def authorized_operations(self, groups: Sequence[model.Group], /) -> AuthorizedOperations:
        if not groups:
            return AuthorizedOperations()
        options = {"include_authorized_operations": True, "request_timeout": self.timeout_s}
        names = [group.id for group in groups]
        results, failed = _results(self.admin.describe_consumer_groups(names, **options))
        allowed = {name: group.authorized_operations for name, group in results.items()}
        return AuthorizedOperations(
            by_group={
                name: tuple(entry.name for entry in sorted(operations, key=lambda entry: entry.value))
                for name, operations in allowed.items()
                if operations is not None
            },
            problems=tuple(replace(_problem(group, error), group=group) for group, error in failed.items()),
        )


def brokers_settings(
    admin: AdminClient, nodes: Iterable[int], timeout_s: float
) -> tuple[dict[str, dict[str, str | None]], dict[str, KafkaException]]:
    """The settings of each broker that reports them, and why the others do not, by node id as text."""
    asked: dict[str, Future[object]] = {}
    for node in nodes:  # librdkafka supports one broker per call; all calls run concurrently
        resource = ConfigResource(ConfigResource.Type.BROKER, str(node))
        asked[str(node)] = admin.describe_configs([resource], request_timeout=timeout_s)[resource]
    answered, failed = _results(asked)
    settings = {
        broker: {name: entry.value for name, entry in entries.items()} for broker, entries in answered.items()
    }
    return settings, failed


def _results(asked: Mapping[K, Future[object]]) -> tuple[dict[K, Any], dict[K, KafkaException]]:
    results: dict[K, object] = {}
    failed: dict[K, KafkaException] = {}
    for key, future in asked.items():
        try:
            results[key] = future.result()
        except KafkaException as error:
            failed[key] = error
    return results, failed


def failure_of(error: KafkaError) -> Failure:
    """The failure for an error; librdkafka's own codes are negative, the brokers' codes positive."""
    message = f"{error.str().removeprefix('Broker: ')} ({error.name()})"
    return Failure(message=message, code=error.code() if error.code() > 0 else None, name=error.name())


def _problem(subject: str, error: KafkaException | KafkaError) -> model.Problem:
    reason = error.args[0] if isinstance(error, KafkaException) else error
    return model.Problem(subject=subject, message=failure_reason(error), cause=cause_of(reason.name()))


def is_silence(error: KafkaException) -> bool:
    """Whether there was no answer, as opposed to a refusal."""
    return error.args[0].code() in _SILENCE


def failure_reason(error: KafkaException | KafkaError, needs: Needs = READING) -> str:
    reason = error.args[0] if isinstance(error, KafkaException) else error
    if reason.code() in _SILENCE:
        return f"no answer in time ({reason.name()}). Check host, port and login, or allow more time (--timeout)."
    return with_missing_operations(reason.name(), f"{reason.str()} ({reason.name()})", needs)


def _topic(described: Any) -> model.Topic:
    racks = {
        partition.id: tuple(node.rack for node in partition.replicas if node.rack)
        for partition in described.partitions
    }
    id_ = described.topic_id
    most, least = id_.get_most_significant_bits(), id_.get_least_significant_bits()
    number = (most & (2**64 - 1)) << 64 | (least & (2**64 - 1))
    return model.Topic(
        name=described.name,
        partitions=len(described.partitions),
        id=UUID(int=number) if number else None,
        racks=racks if any(racks.values()) else None,
    )


def _offsets(result: Any) -> model.Offsets:
    offsets: dict[str, dict[int, model.CommittedOffset]] = {}
    for entry in result.topic_partitions:
        if entry.error is not None:
            offsets.setdefault(entry.topic, {})[entry.partition] = model.CommittedOffset(offset=None)
        elif entry.offset != _NO_OFFSET:
            offsets.setdefault(entry.topic, {})[entry.partition] = model.CommittedOffset(
                offset=entry.offset,
                leader_epoch=None if entry.leader_epoch in (None, -1) else entry.leader_epoch,
            )
    return offsets


def _state(state: Any) -> model.GroupState:
    try:
        return model.GroupState.parse(state.name)
    except (ValueError, AttributeError):
        return model.GroupState.UNKNOWN


def _group(described: Any) -> model.Group:
    kind = model.GroupType.parse(described.type.name) if described.type else model.GroupType.UNKNOWN
    node = described.coordinator
    return model.Group(
        id=described.group_id,
        type=kind,
        state=_state(described.state),
        protocol_type="consumer",
        protocol=described.partition_assignor or None,
        coordinator=node and model.Node(id=node.id, host=node.host, port=node.port, rack=node.rack),
        members=tuple(_member(member, kind) for member in described.members),
    )


def _member(member: Any, kind: model.GroupType) -> model.Member:
    target = member.target_assignment
    return model.Member(
        id=member.member_id,
        instance=member.group_instance_id or None,
        client=model.Client(id=member.client_id, host=member.host),
        protocol=model.usual_protocol(kind) if kind is model.GroupType.CLASSIC else None,
        owned=_partitions(member.assignment),
        target=None if target is None else _partitions(target),
    )


def _partitions(assignment: Any) -> model.Partitions:
    partitions: dict[str, list[int]] = {}
    for entry in assignment.topic_partitions:
        partitions.setdefault(entry.topic, []).append(entry.partition)
    return {topic: tuple(sorted(partitions[topic])) for topic in sorted(partitions)}
