"""`__consumer_offsets` and `__transaction_state` of a server that keeps them, as clients read them."""

from __future__ import annotations

from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition

from cli.sources.offsets_topic import LeaderRecord, read_leaders
from coordinator.store.partition_files import OFFSETS_TOPIC, TRANSACTIONS_TOPIC, partition_for
from tests.cli.command import Kohort
from tests.cli.served_data import Served, serving
from tests.kafka.wait import wait_until

GROUP = "the-group"
PARTITIONS = 5
PLACE = TopicPartition(OFFSETS_TOPIC, partition_for(GROUP, PARTITIONS))


def consumer(served: Served, group: str = "reader", **settings: str) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": served.bootstrap,
            "group.id": group,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            **{name.replace("_", "."): value for name, value in settings.items()},
        }
    )


def joined(served: Served) -> Consumer:
    member = consumer(served, GROUP)
    member.subscribe(["orders"])

    def is_assigned() -> bool:
        member.poll(0.1)
        return bool(member.assignment())

    wait_until(is_assigned, "the member has its partition")
    return member


def commit(member: Consumer, offset: int) -> None:
    member.commit(offsets=[TopicPartition("orders", 0, offset)], asynchronous=False)


def test_who_leads_a_group_is_read_from_it(tmp_path: Path, kohort: Kohort) -> None:
    with serving(tmp_path, "--topic", "orders:1") as served:
        member = joined(served)
        (record,) = read_leaders({"bootstrap.servers": served.bootstrap}, [GROUP], 20).values()
        assert isinstance(record, LeaderRecord)
        assert record.leader == member.memberid()
        reported = kohort.quick("describe", GROUP, "--migration", "-b", served.bootstrap)
        assert reported.status == 0, reported.stderr
        assert "Leader: not known" not in reported.stdout
        member.close()


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
            message = reader.poll(30)
            assert message is not None
            assert message.error() is None
            assert (message.offset(), GROUP.encode() in (message.key() or b"")) == (end + offset, True)
        reader.close()
    with serving(tmp_path) as served:
        reader = consumer(served)
        assert reader.get_watermark_offsets(PLACE, timeout=20) == (0, end + 3)
        reader.assign([TopicPartition(PLACE.topic, PLACE.partition, 0)])
        offsets: list[int] = []
        while not offsets or offsets[-1] < end + 2:
            message = reader.poll(30)
            assert message is not None
            assert message.error() is None
            offsets.append(message.offset() or 0)
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
            message = None
            while message is None or GROUP.encode() not in (message.key() or b""):
                message = reader.poll(30)
                assert message is not None
                assert message.error() is None
            assert message.leader_epoch() == epoch
        reader.close()
        member.close()


def test_offsets_of_a_transaction_are_read_when_it_is_committed(tmp_path: Path) -> None:
    with serving(tmp_path, "--topic", "orders:1", transaction_state_log_num_partitions="1") as served:
        member = joined(served)
        committed, uncommitted = (
            consumer(served, isolation_level=f"read_{which}") for which in ("committed", "uncommitted")
        )
        _, begin = committed.get_watermark_offsets(PLACE, timeout=20)
        producer = Producer({"bootstrap.servers": served.bootstrap, "transactional.id": "the-producer"})
        producer.init_transactions(20)

        def send(offset: int) -> None:
            producer.begin_transaction()
            position = TopicPartition("orders", 0, offset)
            producer.send_offsets_to_transaction([position], member.consumer_group_metadata(), 20)

        send(1)
        assert committed.get_watermark_offsets(PLACE, timeout=20) == (0, begin)
        assert uncommitted.get_watermark_offsets(PLACE, timeout=20) == (0, begin + 1)
        producer.abort_transaction(20)
        send(2)
        producer.commit_transaction(20)
        committed.assign([TopicPartition(PLACE.topic, PLACE.partition, begin)])
        message = committed.poll(30)
        assert message is not None
        # The aborted record, and the mark that ended it, lie before it.
        assert (message.error(), message.offset()) == (None, begin + 2)
        _, states = committed.get_watermark_offsets(TopicPartition(TRANSACTIONS_TOPIC, 0), timeout=20)
        assert states >= 4
        for client in (committed, uncommitted, member):
            client.close()
