"""`__consumer_offsets` and `__transaction_state` of a server that keeps them, as clients read them."""

from pathlib import Path

from confluent_kafka import Consumer, Message, TopicPartition

from coordinator.store.partition_files import OFFSETS_TOPIC, partition_for
from tests.cli.command import Kohort
from tests.cli.offset_rig import join
from tests.cli.served_data import Served, serving

GROUP = "the-group"
PARTITIONS = 5
PLACE = TopicPartition(OFFSETS_TOPIC, partition_for(GROUP, PARTITIONS))


def consumer(served: Served, group: str = "reader", **settings: str) -> Consumer:
    reading = {"group.id": group, "enable.auto.commit": False, "auto.offset.reset": "earliest"}
    more = {name.replace("_", "."): value for name, value in settings.items()}
    return Consumer({"bootstrap.servers": served.bootstrap, **reading, **more})


def joined(served: Served) -> Consumer:
    member = consumer(served, GROUP)
    join(member, "orders")
    return member


def commit(member: Consumer, offset: int) -> None:
    member.commit(offsets=[TopicPartition("orders", 0, offset)], asynchronous=False)


def polled(reader: Consumer) -> Message:
    message = reader.poll(30)
    assert message is not None
    assert message.error() is None
    return message


def test_a_reader_gets_each_record_and_finds_them_after_a_kill(tmp_path: Path) -> None:
    with serving(tmp_path, "--topic", "orders:1") as served:
        member = joined(served)
        # A waiting reader is woken by a commit, not by the end of a fetch.
        reader = consumer(served, fetch_wait_max_ms="60000", socket_timeout_ms="90000")
        _, end = reader.get_watermark_offsets(PLACE, timeout=20)
        assert end > 0
        reader.assign([TopicPartition(PLACE.topic, PLACE.partition, end)])
        assert reader.poll(1) is None
        for offset in range(3):
            commit(member, offset)
            message = polled(reader)
            assert (message.offset(), GROUP.encode() in (message.key() or b"")) == (end + offset, True)
        reader.close()
    with serving(tmp_path) as served:
        reader = consumer(served)
        assert reader.get_watermark_offsets(PLACE, timeout=20) == (0, end + 3)
        reader.assign([TopicPartition(PLACE.topic, PLACE.partition, 0)])
        offsets: list[int] = []
        while not offsets or offsets[-1] < end + 2:
            offsets.append(polled(reader).offset() or 0)
        assert offsets == list(range(end + 3))
        reader.close()


def test_a_reader_continues_after_each_change_of_the_leader(tmp_path: Path, kohort: Kohort) -> None:
    with serving(tmp_path, "--topic", "orders:1", "--brokers", "2") as served:
        member = joined(served)
        reader = consumer(served)
        _, end = reader.get_watermark_offsets(PLACE, timeout=20)
        reader.assign([TopicPartition(PLACE.topic, PLACE.partition, end)])
        for epoch in range(1, 4):
            reported = kohort.quick("fault", "move", GROUP, "-b", served.bootstrap)
            assert reported.status == 0, reported.stderr
            commit(member, epoch)
            while GROUP.encode() not in ((message := polled(reader)).key() or b""):
                pass
            assert message.leader_epoch() == epoch
        reader.close()
        member.close()
