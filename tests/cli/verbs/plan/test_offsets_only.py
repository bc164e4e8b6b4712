"""A group that only has committed offsets, on a real broker."""

from __future__ import annotations

from confluent_kafka import Consumer

from tests.cli.offset_rig import OffsetRig, join


def test_a_group_with_offsets_only_gets_the_type_of_its_first_member(rig: OffsetRig) -> None:
    topic = rig.topic([9])
    group = rig.group({(topic, 0): 4})
    planned = rig.ours("plan", group, "--to", "consumer", "--client", "librdkafka:2.16").succeeded().document
    levels = {finding["rule"]: finding["level"] for finding in planned["findings"]}
    assert levels["protocol-type"] == "info"
    assert planned["steps"]
    consumer = Consumer(
        {"bootstrap.servers": rig.broker.bootstrap, "group.id": group, "group.protocol": "consumer"}
    )
    try:
        join(consumer, topic)
        assert [partition.offset for partition in consumer.committed(consumer.assignment())] == [4]
        described = rig.ours("describe", group).document["groups"][0]
        assert described["type"] == "consumer"
    finally:
        consumer.close()
