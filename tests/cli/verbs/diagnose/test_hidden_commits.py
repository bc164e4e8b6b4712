"""`kohort diagnose` on a cluster that does not show when groups committed: `kohort serve` in memory."""

from contextlib import closing

from confluent_kafka import Consumer, Producer, TopicPartition

from tests.cli.command import Kohort
from tests.cli.served_data import serving
from tests.kafka.wait import wait_until


def test_stall_is_observed_until_it_is_certain(kohort: Kohort) -> None:
    with serving(None, "--topic", "orders:1") as served:
        consumer = Consumer({"bootstrap.servers": served.bootstrap, "group.id": "payments of eu"})
        with closing(consumer):
            consumer.subscribe(["orders"])
            wait_until(lambda: consumer.poll(0.1) or consumer.assignment(), "an assignment")
            consumer.commit(offsets=[TopicPartition("orders", 0, 0)], asynchronous=False)
            producer = Producer({"bootstrap.servers": served.bootstrap})
            producer.produce("orders", b"unread")
            assert producer.flush(30) == 0
            line = "diagnose --all-groups --commit-interval 3s --output json -b"
            answer = kohort.quick(line, served.bootstrap)
    (group,) = answer.document["groups"]
    (finding,) = group["findings"]
    assert (answer.status, finding["rule"], finding["level"]) == (0, "stalled-member", "warning")
    assert finding["evidence"]["still_for_s"] >= 9
