"""Why the transactions of pending offsets are not known, for groups in different logs."""

from types import SimpleNamespace
from typing import cast

from cli.sources.transactions import pending_offsets
from wire.client.cluster import KafkaClient
from wire.client.errors import Answers
from wire.client.metadata import OFFSETS_TOPIC, partition_of
from wire.errors import Failure


def test_the_reason_of_a_group_is_that_of_its_log() -> None:
    failed = {(OFFSETS_TOPIC, number): Failure(message=f"of {number}") for number in range(50)}
    client = SimpleNamespace(
        metadata=lambda _: SimpleNamespace(topics={OFFSETS_TOPIC: SimpleNamespace(partitions=range(50))}),
        ask_leaders=lambda places, _: Answers(found={}, failed={pair: failed[pair] for pair in places}),
    )
    offsets = pending_offsets(cast(KafkaClient, client), {name: [("orders", 0)] for name in "abc"})
    assert {name: pending.problem for name, pending in offsets.items()} == {
        name: f"open transactions are not known: of {partition_of(name, 50)}" for name in "abc"
    }
