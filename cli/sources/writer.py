"""Change a live cluster. Settings are set through the AdminClient, all else over the wire client: confluent-kafka
2.16.1 cannot delete offsets and garbles metadata. If only it can log in, it deletes groups and commits offsets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cli.errors import UsageError
from cli.sources import permissions
from cli.sources.live import LiveSource
from cli.sources.source import Source
from cli.sources.wire_source import WireSource
from groups.model import Group, GroupType, Member, Offsets, Problem, TopicPartition
from groups.offsets.model import OffsetChange
from wire.client.errors import Answers
from wire.client.offsets import NewOffset
from wire.errors import ErrorCode, Failure

if TYPE_CHECKING:
    from uuid import UUID

    from confluent_kafka import KafkaException

    from wire.client.cluster import KafkaClient
    from wire.messages.definition import Api


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """Why a change was not made, or may not have been."""

    message: str
    refused: bool  # Whether a broker refused
    is_unknown: bool = False  # Whether it may have been made: no response decides it


def writer_of(source: Source) -> ClusterWriter:
    """The writer of a live cluster; UsageError for a source that can only be read."""
    if isinstance(source, LiveSource):
        return ClusterWriter(source)
    raise UsageError(
        f"{source.name} is read-only, so --execute cannot be used; name a live cluster (--bootstrap-server)"
    )


class ClusterWriter:
    """Changes of one cluster; UsageError for one that the AdminClient cannot make, if the wire client cannot log in."""

    def __init__(self, source: LiveSource) -> None:
        self._source = source

    def commit(
        self, changes: Mapping[str, Sequence[OffsetChange]], topic_ids: Mapping[str, UUID] | None = None
    ) -> dict[str, dict[TopicPartition, Failed | None]]:
        """Commit every group's new offsets. The requests name no member and no generation: the coordinator accepts
        them only for a group without members; topic ids, if known, make it refuse a topic that was replaced."""
        offsets = {
            group: {
                change.place: NewOffset(
                    offset=change.after,
                    leader_epoch=-1 if change.leader_epoch is None else change.leader_epoch,
                    metadata=change.metadata,
                )
                for change in group_changes
            }
            for group, group_changes in changes.items()
        }
        if not offsets:
            return {}
        answers = self._source.commit_offsets(offsets, topic_ids)
        return _results(offsets, answers, permissions.COMMITTING)

    def alter_share_offsets(
        self, changes: Mapping[str, Sequence[OffsetChange]]
    ) -> dict[str, dict[TopicPartition, Failed | None]]:
        """Set start offsets of share groups, one request per group, all groups concurrently."""
        from wire.client.offsets import alter_share_group_offsets

        if not changes:
            return {}
        client = self._client("offsets of share groups cannot be set")
        offsets = {group: {item.place: item.after for item in items} for group, items in changes.items()}
        answers = alter_share_group_offsets(client, offsets)
        return _results(offsets, answers, permissions.COMMITTING)

    def delete_offsets(
        self, places: Mapping[str, Sequence[TopicPartition]]
    ) -> dict[str, dict[TopicPartition, Failed | None]]:
        from wire.client.offsets import delete_offsets

        if not places:
            return {}
        answers = delete_offsets(self._client("offsets cannot be deleted"), places)
        return _results(places, answers, permissions.DELETING_OFFSETS)

    def delete_share_offsets(
        self, places: Mapping[str, Sequence[TopicPartition]]
    ) -> dict[str, dict[TopicPartition, Failed | None]]:
        """Delete start offsets of share groups for all partitions of the topics, one request per group."""
        from wire.client.offsets import delete_share_group_offsets

        if not places:
            return {}
        client = self._client("offsets of share groups cannot be deleted")
        topics = {group: sorted({topic for topic, _ in partitions}) for group, partitions in places.items()}
        answers = delete_share_group_offsets(client, topics)
        by_place = {
            group: {partition: results.get(partition[0], _LEFT_OUT) for partition in places[group]}
            for group, results in answers.found.items()
        }
        return _results(places, Answers(found=by_place, failed=answers.failed), permissions.DELETING_OFFSETS)

    def committed(self, groups: Sequence[Group]) -> tuple[dict[str, Offsets], tuple[Problem, ...]]:
        offsets, _, problems = self._source.committed(groups)
        return offsets, problems

    def replaced_topics(self, ids: Mapping[str, UUID]) -> dict[str, Failed]:
        """The topics that were deleted, or deleted and created again, since they had these ids."""
        read = self._source.topics(ids, end_offsets=False)
        now = {topic.name: topic.id for topic in read.items}
        unread = {name for problem in read.problems for name in problem.topics}
        replaced = [name for name, topic_id in ids.items() if now.get(name) not in (None, topic_id)]
        deleted = ids.keys() - now.keys() - unread
        return {name: Failed(message=f"UNKNOWN_TOPIC_ID{_REPLACED}", refused=True) for name in replaced} | {
            name: Failed(message=f"UNKNOWN_TOPIC_OR_PARTITION{_DELETED}", refused=True) for name in deleted
        }

    def delete_topics(self, topics: Mapping[str, UUID | None]) -> dict[str, Failed | None]:
        """Delete topics with their records, by their ids if all are known."""
        from wire.client.settings import delete_topics

        failed = delete_topics(self._client("topics cannot be deleted"), topics).failed
        return {topic: _failed(failed.get(topic), permissions.DELETING_TOPICS) for topic in topics}

    def _client(self, undone: str) -> KafkaClient:
        """The wire client, for changes that the AdminClient cannot make."""
        if isinstance(self._source, WireSource):
            return self._source.client
        raise UsageError(
            f"{undone} on {self._source.name}: only librdkafka supports its login "
            f"(sasl.mechanism={self._source.settings.sasl_mechanism}), and it cannot do this; use Kafka's own tools"
        )

    def check_features(self) -> None:
        """Raises UsageError: features cannot be changed over the only client that can log in."""
        self._client("features cannot be changed")

    def update_features(
        self, levels: Mapping[str, int], upgrade_type: int, *, validate_only: bool
    ) -> Failed | None:
        """Finalize levels of features, all or none; or only have the controller check them."""
        from wire.client.features import update_features

        client = self._client("features cannot be changed")
        failure = update_features(client, levels, upgrade_type, validate_only=validate_only)
        return _failed(failure, permissions.CHANGING_FEATURES, {})

    def delete_groups(self, groups: Sequence[str]) -> dict[str, Failed | None]:
        failed = self._source.delete_groups(groups).failed
        return {group: _failed(failed.get(group), permissions.DELETING_GROUPS) for group in groups}

    def remove_members(self, group: Group, members: Sequence[Member], why: str) -> dict[str, Failed | None]:
        """Remove members by member id; a static one only if it still has its instance id."""
        from wire.client.groups import LeavingMember, remove_members
        from wire.messages.schemas.share_groups import SHARE_GROUP_HEARTBEAT
        from wire.messages.schemas.streams_groups import STREAMS_GROUP_HEARTBEAT

        # LeaveGroup removes the members of the other types.
        heartbeats: Mapping[GroupType, Api] = {
            GroupType.SHARE: SHARE_GROUP_HEARTBEAT,
            GroupType.STREAMS: STREAMS_GROUP_HEARTBEAT,
        }
        client = self._client("members cannot be removed")
        leaving = [LeavingMember(member_id=member.id, instance_id=member.instance) for member in members]
        answers = remove_members(client, {group.id: leaving}, why, by=heartbeats.get(group.type))
        whole, parts = answers.failed.get(group.id), answers.found.get(group.id, {})
        return {
            member.id: _failed(
                whole or parts.get(member.id, _LEFT_OUT), permissions.REMOVING_MEMBERS, _OF_MEMBERS
            )
            for member in members
        }


_LEFT_OUT = Failure(message="the coordinator's answer does not contain it")


def _results(
    places: Mapping[str, Iterable[TopicPartition]],
    answers: Answers[str, dict[TopicPartition, Failure | None]],
    needs: permissions.Needs,
) -> dict[str, dict[TopicPartition, Failed | None]]:
    results: dict[str, dict[TopicPartition, Failed | None]] = {}
    for group, keys in places.items():
        whole = answers.failed.get(group)
        parts = answers.found.get(group, {})
        results[group] = {key: _failed(whole or parts.get(key, _LEFT_OUT), needs) for key in keys}
    return results


def failed_of(error: KafkaException, needs: permissions.Needs) -> Failed:
    """The failure for an AdminClient exception; `needs` are the operations that the request requires."""
    from cli.sources.admin import failure_of

    return _failed(failure_of(error.args[0]), needs) or Failed(message=str(error), refused=False)


def _failed(
    failure: Failure | None, needs: permissions.Needs, hints: Mapping[str, str] | None = None
) -> Failed | None:
    """The outcome for one partition, group or member. With a code, a broker refused; `hints` are by its name."""
    if failure is None:
        return None
    if failure.code is None:
        # The wire client reports what happened, librdkafka only the name of its error.
        why = f"no answer in time ({failure.name})." if failure.name else failure.message
        return Failed(message=why, refused=False, is_unknown=not failure.is_unsent)
    hint = (_HINTS if hints is None else hints).get(failure.name or "", "")
    message = permissions.with_missing_operations(failure.name, failure.message, needs)
    is_unknown = failure.code in _UNDECIDED
    return Failed(message=f"{message}{hint}", refused=not failure.retriable, is_unknown=is_unknown)


_UNDECIDED = (
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
)
"""Codes of changes that are written, but not yet by all replicas."""
_DELETED = ": the topic was deleted since the change was shown"
_REPLACED = ": the topic was deleted and created again since the change was shown; run the command again"
_JOINED = ": a member has joined since the change was shown; stop it, then try again"
_HINTS = {
    **dict.fromkeys(
        ("UNKNOWN_MEMBER_ID", "REBALANCE_IN_PROGRESS", "ILLEGAL_GENERATION", "NON_EMPTY_GROUP"), _JOINED
    ),
    "GROUP_SUBSCRIBED_TO_TOPIC": ": a member subscribes to the topic; stop it, then try again",
    "UNKNOWN_TOPIC_ID": _REPLACED,
}
_OF_MEMBERS = {
    "UNKNOWN_MEMBER_ID": ": it has left since the preview",
    "FENCED_INSTANCE_ID": ": it has restarted since the preview; run the command again",
    "GROUP_ID_NOT_FOUND": ": the group has changed its type or was deleted since the preview; run the command again",
}
