"""KIP-848's client-side assignors, if `group.consumer.client.assignors.enable` is set."""

from __future__ import annotations

from coordinator.engine.consumer.client_assignment import InstallAssignment, PrepareAssignment
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeatAnswer
from coordinator.engine.records import ClientAssignor, ClientMetadata
from coordinator.server.apis.fields import ZERO_ID
from coordinator.server.exchange import AnswerFields, Exchange, PeerFault
from wire.messages.schemas import consumer_groups as schemas


async def prepare_assignment(
    exchange: Exchange[schemas.ConsumerGroupPrepareAssignmentRequest],
) -> AnswerFields:
    """ConsumerGroupPrepareAssignment v0: the input of the assignor."""
    _check_served(exchange)
    request = exchange.request
    call = PrepareAssignment(group=request.group_id, member=request.member_id, epoch=request.member_epoch)
    prepared = await exchange.ask(call)
    return {
        "error_code": prepared.error,
        "error_message": prepared.message,
        "group_epoch": prepared.group_epoch,
        "assignor_name": prepared.assignor,
        "members": [
            {
                "member_id": member.id,
                "member_epoch": member.epoch,
                "instance_id": member.instance,
                "rack_id": member.metadata.rack,
                "subscribed_topic_ids": prepared.subscribed.get(member.id, ()),
                "assignor": {
                    "reason": (assignor := prepared.assignors[member.id]).reason,
                    "metadata_version": assignor.metadata.version,
                    "metadata_bytes": assignor.metadata.data,
                },
                "topic_partitions": [
                    {"topic_id": topic, "partitions": numbers}
                    for topic, numbers in prepared.targets.get(member.id, {}).items()
                ],
            }
            for member in prepared.members
        ],
        "topics": [
            {"topic_id": topic, "topic_name": name, "num_partitions": count}
            for topic, name, count in prepared.topics
        ],
    }


async def install_assignment(
    exchange: Exchange[schemas.ConsumerGroupInstallAssignmentRequest],
) -> AnswerFields:
    """ConsumerGroupInstallAssignment v0: the assignor's result."""
    _check_served(exchange)
    request = exchange.request
    call = InstallAssignment(
        group=request.group_id,
        member=request.member_id,
        epoch=request.member_epoch,
        group_epoch=request.group_epoch,
        assignments={
            one.member_id: {topic.topic_id or ZERO_ID: tuple(topic.partitions) for topic in one.partitions}
            for one in request.members
        },
        metadata={
            one.member_id: ClientMetadata(version=one.metadata_version, data=bytes(one.metadata_bytes))
            for one in request.members
            if one.metadata_bytes is not None
        },
        error=request.error,
    )
    installed = await exchange.ask(call)
    return {"error_code": installed.error, "error_message": installed.message}


def client_assignors(request: schemas.ConsumerGroupHeartbeatRequest) -> tuple[ClientAssignor, ...] | None:
    if request.client_assignors is None:
        return None
    return tuple(
        ClientAssignor(
            name=one.name,
            minimum_version=one.minimum_version,
            maximum_version=one.maximum_version,
            reason=one.reason,
            metadata=ClientMetadata(version=one.metadata_version, data=bytes(one.metadata_bytes)),
        )
        for one in request.client_assignors
    )


def payload_fields(answer: ConsumerGroupHeartbeatAnswer) -> AnswerFields:
    """The metadata and error of a client-side assignor, sent with an assignment; empty if the broker computed it."""
    metadata = answer.metadata
    fields: dict[str, object] = {"error": answer.assignment_error} if answer.assignment_error else {}
    if metadata is not None:
        fields |= {"metadata_version": metadata.version, "metadata_bytes": metadata.data}
    return fields


def _check_served(exchange: Exchange) -> None:
    if not exchange.cluster.config.group_consumer_client_assignors_enable:
        raise PeerFault("client-side assignors are not enabled")
