"""Transactions in a data directory: servers that are killed in the middle of one."""

import os
import random
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from confluent_kafka import Consumer, IsolationLevel, KafkaException, Producer, TopicPartition

from coordinator.store.log import SegmentLimits
from coordinator.transactions.log import TransactionsLog
from coordinator.transactions.transaction import TransactionState
from tests.conformance.servers import kohort_process
from tests.conformance.transactional_stage import TIMEOUT_S, Stage
from tests.kafka.broker import Broker
from tests.kafka.members import fresh_name
from tests.kafka.ports import HOST
from tests.kafka.tool_host import DUMP_LOG, ToolHost
from tests.kafka.wait import wait_until
from tests.support.long import LONG, cases

ROUNDS = cases("KOHORT_KILL_ROUNDS", 2, many=100)
QUICK = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "100"}
SMALL = {"offsets.topic.num.partitions": "3", "transaction.state.log.num.partitions": "3"}
GROUP = "the-group"


@dataclass(frozen=True, slots=True, kw_only=True)
class Server(Stage):
    """A stage of which the process is known."""

    pid: int


@contextmanager
def killed(scratch: Path, topic: str) -> Iterator[Server]:
    """A server on the data directory in `scratch`, which is killed at the end."""
    with (
        suppress(ChildProcessError),
        kohort_process(scratch / "log", {**SMALL, **QUICK}, "--data", str(scratch / "data")) as (port, pid),
    ):
        try:
            yield Server(bootstrap=f"{HOST}:{port}", topic=topic, pid=pid)
        finally:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def begin(stage: Stage, producer: Producer, value: str) -> None:
    producer.begin_transaction()
    producer.produce(stage.topic, value)
    consumer = Consumer({"bootstrap.servers": stage.bootstrap, "group.id": GROUP})
    producer.send_offsets_to_transaction(
        [TopicPartition(stage.topic, 0, 7)], consumer.consumer_group_metadata(), TIMEOUT_S
    )
    assert producer.flush(TIMEOUT_S) == 0
    consumer.close()


def is_stable(stage: Stage) -> bool:
    return stage.end(IsolationLevel.READ_COMMITTED) == stage.end(IsolationLevel.READ_UNCOMMITTED)


def test_the_next_producer_ends_what_a_kill_left_open(tmp_path: Path) -> None:
    topic = fresh_name("payments")
    with killed(tmp_path, topic) as stage:
        stage.create(topic)
        producer = stage.producer(topic)
        stage.transact(producer, "a")
        begin(stage, producer, "b")
    with killed(tmp_path, topic) as stage:
        assert stage.values("read_committed") == ["a"]
        assert stage.values("read_uncommitted") == ["a", "b"]
        stage.transact(stage.producer(topic), "c")
        assert stage.values("read_committed") == ["a", "c"]
        assert stage.committed(GROUP) < 0
        assert is_stable(stage)


def test_time_ends_what_a_kill_left_open(tmp_path: Path) -> None:
    topic = fresh_name("payments")
    with killed(tmp_path, topic) as stage:
        stage.create(topic)
        begin(stage, stage.producer(topic, **{"transaction.timeout.ms": 1_000}), "a")
    with killed(tmp_path, topic) as stage:
        wait_until(lambda: is_stable(stage), "the transaction is timed out")
        assert stage.values("read_committed") == []
        assert stage.committed(GROUP) < 0


def test_an_end_that_was_decided_before_a_kill_is_completed_after_it(tmp_path: Path) -> None:
    topic = fresh_name("payments")
    with killed(tmp_path, topic) as stage:
        stage.create(topic)
        begin(stage, stage.producer(topic), "a")
    log = TransactionsLog(tmp_path / "data", 3, SegmentLimits(), was_clean=False)
    (transaction,) = log.recovered.values()
    log.append(replace(transaction, state=TransactionState.PREPARE_COMMIT), transaction.updated_ms)
    log.close()
    with killed(tmp_path, topic) as stage:
        assert stage.values("read_committed") == ["a"]
        assert stage.committed(GROUP) == 7


def test_no_kill_shows_half_a_transaction_or_loses_one(tmp_path: Path) -> None:
    topic, chance = fresh_name("payments"), random.Random(1)
    known: list[str] = []
    uncertain: list[str] = []
    for number in range(ROUNDS):
        with killed(tmp_path, topic) as stage:
            if not number:
                stage.create(topic)
            producer = stage.producer(topic)
            visible = stage.values("read_committed")
            assert visible in (known, known + uncertain)
            known = visible
            for transaction in range(chance.randrange(2, 8)):
                values = [f"{number}.{transaction}.{index}" for index in range(3)]
                stage.transact(producer, *values)
                known += values
            uncertain = [f"{number}.last.{index}" for index in range(3)]
            if _is_committed(stage, producer, uncertain, chance.random() * 0.01):
                known += uncertain
                uncertain = []
    with killed(tmp_path, topic) as stage:
        stage.producer(topic)
        assert stage.values("read_committed") in (known, known + uncertain)


def _is_committed(stage: Server, producer: Producer, values: list[str], kill_after_s: float) -> bool:
    """Commit a transaction while the server is killed. Returns whether the commit was acknowledged."""
    producer.begin_transaction()
    for value in values:
        producer.produce(stage.topic, value)
    assert producer.flush(TIMEOUT_S) == 0
    killer = threading.Timer(kill_after_s, os.kill, (stage.pid, signal.SIGKILL))
    killer.start()
    try:
        producer.commit_transaction(1.0)
    except KafkaException:
        return False
    finally:
        killer.join()
    return True


@LONG
@pytest.mark.kafka
def test_a_broker_and_kohort_take_turns_in_transactions(
    kafka_jars: Path, tools: ToolHost, tmp_path: Path
) -> None:
    (tmp_path / "broker").mkdir()
    broker = Broker(kafka_jars, tmp_path / "broker")
    topic = fresh_name("payments")
    try:
        broker.start()
        stage = Stage(bootstrap=broker.bootstrap, topic=topic)
        stage.create(topic)
        producer = stage.producer(topic)
        stage.transact(producer, "a")
        begin(stage, producer, "x")
        broker.stop()
        with kohort_process(tmp_path / "log", {"node.id": "1"}, "--data", str(broker.data)) as (port, _):
            stage = Stage(bootstrap=f"{HOST}:{port}", topic=topic)
            assert stage.values("read_committed") == ["a"]
            producer = stage.producer(topic)
            stage.transact(producer, "b")
            begin(stage, producer, "y")
        written = [path for path in broker.data.glob("__transaction_state-*/*.log") if path.stat().st_size]
        dumped = tools.run(DUMP_LOG, "--transaction-log-decoder", "--files", ",".join(map(str, written)))
        assert '"transactionStatus":1' in dumped.stdout.splitlines()[-1]
        broker.start()
        stage = Stage(bootstrap=broker.bootstrap, topic=topic)
        stage.transact(stage.producer(topic), "c")
        assert stage.values("read_committed") == ["a", "b", "c"]
        assert stage.values("read_uncommitted") == ["a", "x", "b", "y", "c"]
        assert stage.committed(GROUP) < 0
    finally:
        broker.crash()
