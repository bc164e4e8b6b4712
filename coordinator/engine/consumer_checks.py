"""What ConsumerGroupHeartbeat may say, checked in the broker's order and answered in its words.

Source: GroupCoordinatorService.throwIfConsumerGroupHeartbeatRequestIsInvalid, GroupMetadataManager.throwIf….
"""

from __future__ import annotations

from coordinator.engine.calls import ConsumerGroupHeartbeat, TopicPartitions
from coordinator.engine.config import Config
from coordinator.engine.consumer_group import ConsumerGroup
from coordinator.engine.consumer_member import AWAY, LEFT, ConsumerMember
from coordinator.engine.java_string import trim
from wire.errors import CoordinatorError, ErrorCode


def check_request(request: ConsumerGroupHeartbeat, config: Config) -> None:
    """Whether the request makes sense by itself. Raises CoordinatorError."""
    if request.version >= 1 or request.epoch > 0 or request.epoch == LEFT:
        _not_blank(request.member, "MemberId")
    _not_blank(request.group, "GroupId")
    _not_blank(request.instance, "InstanceId")
    _not_blank(request.rack, "RackId")
    if request.epoch == 0:
        _check_join(request)
    elif request.epoch == AWAY:
        if request.instance is None:
            raise _invalid("InstanceId can't be null.")
    elif request.epoch < AWAY:
        raise _invalid("MemberEpoch is invalid.")
    known = config.group_consumer_assignors
    if request.assignor is not None and request.assignor not in known:
        raise CoordinatorError(
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            f"ServerAssignor {request.assignor} is not supported. Supported assignors: {', '.join(known)}.",
        )
    if request.client_assignors:
        _check_client_assignors(request, config)


def _check_client_assignors(request: ConsumerGroupHeartbeat, config: Config) -> None:
    """KIP-848, "Request Validation" of ConsumerGroupHeartbeat."""
    if not config.group_consumer_client_assignors_enable:
        raise _invalid("ClientAssignors are not enabled (group.consumer.client.assignors.enable).")
    if request.assignor is not None:
        raise _invalid("ServerAssignor and ClientAssignors cannot be used together.")
    for assignor in request.client_assignors or ():
        _not_blank(assignor.name, "Assignor.Name")
        lowest, highest = assignor.minimum_version, assignor.maximum_version
        if lowest < -1 or highest < max(lowest, 0) or not lowest <= assignor.metadata.version <= highest:
            raise _invalid(f"The versions of the assignor {assignor.name} are invalid.")


def _check_join(request: ConsumerGroupHeartbeat) -> None:
    if request.rebalance_timeout_ms == -1:
        raise _invalid("RebalanceTimeoutMs must be provided in first request.")
    if request.owned is None or request.owned:
        raise _invalid("TopicPartitions must be empty when (re-)joining.")
    if request.topics is None and request.regex is None:
        raise _invalid(
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining."
        )


def check_room(group: ConsumerGroup, member: str, config: Config) -> None:
    """Whether the group has room for the member, known or not. Raises GROUP_MAX_SIZE_REACHED."""
    limit = config.group_consumer_max_size
    if len(group.members) >= limit and not (member and group.has_member(member)):
        raise CoordinatorError(
            ErrorCode.GROUP_MAX_SIZE_REACHED,
            f"The consumer group has reached its maximum capacity of {limit} members.",
        )


def check_epoch(member: ConsumerMember, epoch: int, owned: TopicPartitions | None) -> None:
    """Whether the member may speak with this epoch. Raises FENCED_MEMBER_EPOCH.

    The previous epoch will do when the answer that told the new one may have been lost: then the member reports
    nothing that it was not assigned.
    """
    if epoch in (0, member.epoch):
        return
    if epoch > member.epoch:
        raise _fenced("greater", epoch, member)
    if epoch != member.current.previous_epoch or not _is_subset(owned, member.assigned):
        raise _fenced("smaller", epoch, member)


def _is_subset(owned: TopicPartitions | None, assigned: TopicPartitions) -> bool:
    if owned is None:
        return False
    return all(topic in assigned and set(numbers) <= set(assigned[topic]) for topic, numbers in owned.items())


def check_instance_released(holder: ConsumerMember, member: str, instance: str) -> None:
    """Whether a static member's place may be taken. Raises UNRELEASED_INSTANCE_ID unless it is away."""
    if holder.epoch != AWAY:
        raise CoordinatorError(
            ErrorCode.UNRELEASED_INSTANCE_ID,
            f"Static member {member} with instance id {instance} cannot join the group because the instance id "
            f"is owned by {holder.id} member.",
        )


def static_member(group: ConsumerGroup, member: str, instance: str) -> ConsumerMember:
    """The member with that instance id. Raises UNKNOWN_MEMBER_ID, or FENCED_INSTANCE_ID when it is another one."""
    holder = group.static_member(instance)
    if holder is None:
        raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance} is unknown.")
    if holder.id != member:
        raise CoordinatorError(
            ErrorCode.FENCED_INSTANCE_ID,
            f"Static member {member} with instance id {instance} was fenced by member {holder.id}.",
        )
    return holder


def _not_blank(value: str | None, name: str) -> None:
    if value is not None and not trim(value):
        raise _invalid(f"{name} can't be empty.")


def _invalid(message: str) -> CoordinatorError:
    return CoordinatorError(ErrorCode.INVALID_REQUEST, message)


def _fenced(how: str, epoch: int, member: ConsumerMember) -> CoordinatorError:
    return CoordinatorError(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"The consumer group member has a {how} member epoch ({epoch}) than the one known by the group coordinator "
        f"({member.epoch}). The member must abandon all its partitions and rejoin.",
    )
