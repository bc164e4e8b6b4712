"""Share groups (KIP-932) as their records tell: key types 10 to 15.

What their consumers have acknowledged is not in `__consumer_offsets` but in `__share_group_state`; which assignor they
use is a setting of the broker. Neither is known here.

Source: GroupMetadataManager.replay, modern.share.ShareGroup, ShareGroupMember.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from uuid import UUID

from coordinator.engine.consumer.member import normal_partitions, normal_topics
from coordinator.engine.records import TopicPartitions
from coordinator.store.group_drafts import DELETED_EPOCH, Fields, GroupDraft, GroupDrafts, target_metadata
from wire.messages.schemas.share_groups import (
    SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT,
    SHARE_GROUP_MEMBER_METADATA,
    SHARE_GROUP_METADATA,
    SHARE_GROUP_STATE_PARTITION_METADATA,
    SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER,
    SHARE_GROUP_TARGET_ASSIGNMENT_METADATA,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareMember:
    """A member; a partition may be assigned to several. `epoch` -1: its current assignment was deleted."""

    id: str
    client_id: str = ""
    host: str = ""
    rack: str | None = None
    topics: tuple[str, ...] = ()
    epoch: int = 0
    previous_epoch: int = -1
    assigned: TopicPartitions = field(default_factory=dict)
    target: TopicPartitions = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareGroup:
    """A share group; members in the broker's order.

    `initialized`: partitions of which the group keeps a state, by topic id; `initializing`: of which it begins to.
    """

    id: str
    group_epoch: int
    assignment_epoch: int
    members: tuple[ShareMember, ...]
    initialized: TopicPartitions
    initializing: TopicPartitions

    @property
    def state(self) -> str:
        """As a broker shows it."""
        return "Stable" if self.members else "Empty"


@dataclass(slots=True, kw_only=True)
class _Draft(GroupDraft[ShareMember, TopicPartitions]):
    initialized: TopicPartitions = field(default_factory=dict)
    initializing: TopicPartitions = field(default_factory=dict)

    def finished(self) -> ShareGroup:
        return ShareGroup(
            id=self.id,
            group_epoch=self.epoch,
            assignment_epoch=self.assignment_epoch,
            members=tuple(replace(each, target=self.targets.get(name, {})) for name, each in self.in_order()),
            initialized=self.initialized,
            initializing=self.initializing,
        )


class ShareGroups(GroupDrafts[_Draft]):
    """The share groups that some records make."""

    def __init__(self) -> None:
        super().__init__(lambda group_id: _Draft(id=group_id), _STEPS, SHARE_GROUP_METADATA.id)
        self.topic_names: dict[UUID, str] = {}
        """Names of topic ids that records gave."""

    def replay(self, key_type: int, key: Fields, value: Fields | None) -> None:
        """Make a record true, and remember the names in it."""
        super().replay(key_type, key, value)
        if value is not None and key_type == SHARE_GROUP_STATE_PARTITION_METADATA.id:
            self.topic_names.update(topic_names_in(value))

    def finished(self) -> dict[str, ShareGroup]:
        """The groups as they are now, by id."""
        return {group_id: draft.finished() for group_id, draft in self._by_id.items()}


def topic_names_in(value: Fields) -> Iterable[tuple[UUID, str]]:
    """Topic ids and names in the value of a record of type 15."""
    for kind in ("initializingTopics", "initializedTopics", "deletingTopics"):
        for topic in value[kind]:
            # A broker that does not know the name any more writes this instead.
            if topic["topicName"] != "<UNKNOWN>":
                yield topic["topicId"], topic["topicName"]


def _partitions(topics: Iterable[Fields]) -> TopicPartitions:
    return normal_partitions({each["topicId"]: each["partitions"] for each in topics})


def _metadata(draft: _Draft, _: Fields, value: Fields | None) -> None:
    if value is not None:
        draft.epoch = value["epoch"]


def _member(draft: _Draft, key: Fields, value: Fields | None) -> None:
    member_id = key["memberId"]
    if value is None:
        draft.members.pop(member_id, None)
        return
    draft.put(
        member_id,
        replace(
            draft.members.get(member_id) or ShareMember(id=member_id),
            client_id=value["clientId"],
            host=value["clientHost"],
            rack=value["rackId"],
            topics=normal_topics(value["subscribedTopicNames"]),
        ),
    )


def _target(draft: _Draft, key: Fields, value: Fields | None) -> None:
    draft.set_target(key["memberId"], None if value is None else _partitions(value["topicPartitions"]))


def _current(draft: _Draft, key: Fields, value: Fields | None) -> None:
    member_id = key["memberId"]
    old = draft.members.get(member_id)
    if value is not None:
        draft.put(
            member_id,
            replace(
                old or ShareMember(id=member_id),
                epoch=value["memberEpoch"],
                previous_epoch=value["previousMemberEpoch"],
                assigned=_partitions(value["assignedPartitions"]),
            ),
        )
    elif old is not None:
        draft.put(member_id, replace(old, epoch=DELETED_EPOCH, previous_epoch=DELETED_EPOCH, assigned={}))


def _state_partitions(draft: _Draft, _: Fields, value: Fields | None) -> None:
    draft.initialized = {} if value is None else _partitions(value["initializedTopics"])
    draft.initializing = {} if value is None else _partitions(value["initializingTopics"])


_STEPS = {
    SHARE_GROUP_MEMBER_METADATA.id: _member,
    SHARE_GROUP_METADATA.id: _metadata,
    SHARE_GROUP_TARGET_ASSIGNMENT_METADATA.id: target_metadata,
    SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER.id: _target,
    SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT.id: _current,
    SHARE_GROUP_STATE_PARTITION_METADATA.id: _state_partitions,
}

KEY_TYPES = frozenset(_STEPS)
