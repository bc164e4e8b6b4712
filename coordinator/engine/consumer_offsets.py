"""Which offsets a member of a consumer group may commit and fetch.

A commit may come late: an older epoch will do for a partition that was assigned to the member at that epoch or before
(4.3, KIP-1251). A fetch has to name the member's epoch exactly.

Source: modern.consumer.ConsumerGroup.validateOffsetCommit, validateOffsetFetch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from coordinator.engine.calls import FetchedGroup, OffsetCommit
from coordinator.engine.consumer_member import ConsumerMember
from coordinator.engine.group import PartitionCheck
from wire.errors import CoordinatorError, ErrorCode

if TYPE_CHECKING:
    from coordinator.engine.consumer_group import ConsumerGroup

NEEDS_EPOCH = 9
"""The first version of OffsetCommit that a member of the consumer protocol may use."""


def commit_check(group: ConsumerGroup, commit: OffsetCommit) -> PartitionCheck | None:
    """Whether the request may commit; None where every partition is allowed. Raises CoordinatorError."""
    epoch = commit.generation_or_epoch
    if epoch < 0 and group.is_empty():
        return None
    member = group.member(commit.member)
    if member.classic is None and commit.version < NEEDS_EPOCH:
        raise CoordinatorError(
            ErrorCode.UNSUPPORTED_VERSION,
            "OffsetCommit version 9 or above must be used by members using the consumer group protocol",
        )
    if epoch == member.epoch:
        return None
    if epoch > member.epoch:
        raise _stale(member, f"epoch {epoch} is newer than current member epoch {member.epoch}.")

    def check(topic: str, topic_id: UUID | None, partition: int) -> None:
        since = None if topic_id is None else member.current.assigned_epochs.get((topic_id, partition))
        if since is None:
            raise _stale(
                member,
                f"epoch {epoch} is old, and partition {topic}-{partition} is not assigned to the member.",
            )
        if epoch < since:
            raise _stale(
                member,
                f"epoch {epoch} is older than assignment epoch {since} for partition {topic}-{partition}.",
            )

    return check


def check_fetch(group: ConsumerGroup, fetch: FetchedGroup) -> None:
    """Raises CoordinatorError when a member names itself and is not at the epoch it names.

    A null member id with an epoch crashes Kafka's handler (UNKNOWN_SERVER_ERROR); here it is an unknown member.
    """
    if fetch.member is None and fetch.epoch < 0:
        return
    member = group.member(fetch.member or "")
    if fetch.epoch != member.epoch:
        raise _stale(member, f"epoch {fetch.epoch} does not match the expected member epoch {member.epoch}.")


def _stale(member: ConsumerMember, what: str) -> CoordinatorError:
    code = ErrorCode.STALE_MEMBER_EPOCH if member.classic is None else ErrorCode.ILLEGAL_GENERATION
    return CoordinatorError(code, f"The received {what}")
