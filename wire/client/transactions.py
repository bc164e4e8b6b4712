"""Open transactions: the producers with one on a partition, and the state at their coordinators (KIP-664)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from wire.client.address import Address
from wire.client.cluster import KafkaClient
from wire.client.connection import Connection
from wire.client.errors import Answers, batches, refused
from wire.client.metadata import TopicPartition, by_topic
from wire.client.steps import Deadline, Replies, Steps
from wire.errors import outcome
from wire.messages.schemas.transactions import DESCRIBE_PRODUCERS, DESCRIBE_TRANSACTIONS, LIST_TRANSACTIONS

if TYPE_CHECKING:
    from wire.messages.schemas.transactions import (
        DescribeProducersResponseTopicPartitionActiveProducer,
        DescribeTransactionsResponseTransactionState,
    )

    OpenTransactions = tuple[DescribeProducersResponseTopicPartitionActiveProducer, ...]

NO_TRANSACTION = -1


def open_transactions(
    client: KafkaClient, partitions: Iterable[TopicPartition]
) -> Answers[TopicPartition, OpenTransactions]:
    """The producers with an open transaction on each partition, by its first offset. Brokers from 2.8 know them."""
    first = attrgetter("current_txn_start_offset")

    def is_open(producer: DescribeProducersResponseTopicPartitionActiveProducer) -> bool:
        return producer.current_txn_start_offset != NO_TRANSACTION

    def ask(
        broker: Connection, partitions: Sequence[TopicPartition], deadline: Deadline
    ) -> Replies[TopicPartition, OpenTransactions]:
        topics = [{"name": topic, "partition_indexes": numbers} for topic, numbers in by_topic(partitions)]
        (response,) = yield from broker.ask(DESCRIBE_PRODUCERS, [{"topics": topics}], deadline)
        return {
            (topic.name, partition.partition_index): outcome(partition)
            or tuple(sorted(filter(is_open, partition.active_producers), key=first))
            for topic in response.topics
            for partition in topic.partitions
        }

    return client.ask_leaders(partitions, ask)


def known_transactions(
    client: KafkaClient, producer_ids: Iterable[int]
) -> Answers[Address, Mapping[int, DescribeTransactionsResponseTransactionState]]:
    """The transactions of some producers, by coordinating broker (from Kafka 3.0) and by producer id."""
    request = {"state_filters": [], "producer_id_filters": sorted(producer_ids)}

    def ask(
        broker: Connection, deadline: Deadline
    ) -> Steps[Mapping[int, DescribeTransactionsResponseTransactionState]]:
        (listed,) = yield from broker.ask(LIST_TRANSACTIONS, [request], deadline)
        if listed.error_code:
            raise refused(broker.address, LIST_TRANSACTIONS.name, listed.error_code)
        names = [transaction.transactional_id for transaction in listed.transaction_states]
        requests = [{"transactional_ids": batch} for batch in batches(names)]
        answers = yield from broker.ask(DESCRIBE_TRANSACTIONS, requests, deadline)
        return {
            transaction.producer_id: transaction
            for answer in answers
            for transaction in answer.transaction_states
            if not transaction.error_code
        }

    return client.ask_every_broker(ask)
