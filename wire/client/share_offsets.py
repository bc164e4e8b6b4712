"""Start offsets of share groups: reading, setting and deleting them (KIP-932)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from wire.client.connection import Connection
from wire.client.errors import batches
from wire.client.offsets import Outcomes, TopicPartition
from wire.client.steps import Deadline, Steps
from wire.errors import Failure, refusal
from wire.messages.schemas.share_groups import (
    ALTER_SHARE_GROUP_OFFSETS,
    DELETE_SHARE_GROUP_OFFSETS,
    DESCRIBE_SHARE_GROUP_OFFSETS,
)


def share_group_offsets(
    connection: Connection, groups: Sequence[str], deadline: Deadline
) -> Steps[dict[str, Any | Failure]]:
    """Ask one coordinator for every partition of share `groups`; a partition's lag is -1 before Kafka 4.2.

    :raises UnsupportedApi: the broker is older than share groups
    """
    requests = [
        {"groups": [{"group_id": group, "topics": None} for group in batch]} for batch in batches(groups)
    ]
    responses = yield from connection.ask(DESCRIBE_SHARE_GROUP_OFFSETS, requests, deadline)
    return {
        group.group_id: refusal(group.error_code, group.error_message) if group.error_code else group
        for response in responses
        for group in response.groups
    }


def alter_share_group_offsets(
    offsets: Mapping[str, Mapping[TopicPartition, int]],
    connection: Connection,
    groups: Sequence[str],
    deadline: Deadline,
) -> Steps[dict[str, Outcomes | Failure]]:
    """Ask one coordinator to set the start offsets of share `groups` to `offsets`, one request per group.

    The coordinator accepts this only for a group without members, and creates a missing group.
    """
    requests = [
        {
            "group_id": group,
            "topics": [
                {
                    "topic_name": topic,
                    "partitions": [
                        {"partition_index": place[1], "start_offset": offsets[group][place]}
                        for place in found
                    ],
                }
                for topic, found in groupby(sorted(offsets[group]), key=itemgetter(0))
            ],
        }
        for group in groups
    ]
    responses = yield from connection.ask(ALTER_SHARE_GROUP_OFFSETS, requests, deadline)
    return {
        group: _failure(response)
        or {
            (topic.topic_name, partition.partition_index): _failure(partition)
            for topic in response.responses
            for partition in topic.partitions
        }
        for group, response in zip(groups, responses, strict=True)
    }


def delete_share_group_offsets(
    topics: Mapping[str, Sequence[str]],
    connection: Connection,
    groups: Sequence[str],
    deadline: Deadline,
) -> Steps[dict[str, dict[str, Failure | None] | Failure]]:
    """Ask one coordinator to delete the start offsets of share `groups` in whole `topics`, one request per group."""
    requests = [
        {"group_id": group, "topics": [{"topic_name": topic} for topic in topics[group]]} for group in groups
    ]
    responses = yield from connection.ask(DELETE_SHARE_GROUP_OFFSETS, requests, deadline)
    return {
        group: _failure(response) or {topic.topic_name: _failure(topic) for topic in response.responses}
        for group, response in zip(groups, responses, strict=True)
    }


def _failure(answer: Any) -> Failure | None:
    return refusal(answer.error_code, answer.error_message) if answer.error_code else None
