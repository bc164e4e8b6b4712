"""Open transactions: the producers with one on a partition, and the state at their coordinators (KIP-664)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from wire.client.connection import Connection
from wire.client.errors import batches, refused
from wire.client.offsets import TopicPartition
from wire.client.steps import Deadline, Steps
from wire.errors import Failure, refusal
from wire.messages.schemas.transactions import (
    DESCRIBE_PRODUCERS,
    DESCRIBE_TRANSACTIONS,
    LIST_TRANSACTIONS,
)

NO_TRANSACTION = -1


def open_transactions(
    connection: Connection, partitions: Sequence[TopicPartition], deadline: Deadline
) -> Steps[dict[TopicPartition, tuple[Any, ...] | Failure]]:
    """Ask one leader for the producers with an open transaction on each partition, by the transaction's first offset.

    :raises UnsupportedApi: the broker is older than 2.8
    """
    topics = [
        {"name": topic, "partition_indexes": [number for _, number in found]}
        for topic, found in groupby(sorted(set(partitions)), key=itemgetter(0))
    ]
    (response,) = yield from connection.ask(DESCRIBE_PRODUCERS, [{"topics": topics}], deadline)
    return {
        (topic.name, each.partition_index): refusal(each.error_code, each.error_message)
        if each.error_code
        else _open(each.active_producers)
        for topic in response.topics
        for each in topic.partitions
    }


def _open(producers: Iterable[Any]) -> tuple[Any, ...]:
    found = (each for each in producers if each.current_txn_start_offset != NO_TRANSACTION)
    return tuple(sorted(found, key=lambda each: each.current_txn_start_offset))


def known_transactions(
    producer_ids: Sequence[int], connection: Connection, deadline: Deadline
) -> Steps[Mapping[int, Any]]:
    """Ask one broker to describe the transactions of some producers that it coordinates, by producer id.

    :raises KafkaError: it is loading them, or this user is not authorized
    :raises UnsupportedApi: it is older than 3.0
    """
    request = {"state_filters": [], "producer_id_filters": sorted(producer_ids)}
    (listed,) = yield from connection.ask(LIST_TRANSACTIONS, [request], deadline)
    if listed.error_code:
        raise refused(connection.address, "ListTransactions", listed.error_code)
    names = [each.transactional_id for each in listed.transaction_states]
    requests = [{"transactional_ids": batch} for batch in batches(names)]
    described = yield from connection.ask(DESCRIBE_TRANSACTIONS, requests, deadline)
    return {
        each.producer_id: each
        for response in described
        for each in response.transaction_states
        if not each.error_code
    }
