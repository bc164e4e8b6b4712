"""Transactional producers of librdkafka and of Java: the same checks on a real broker and on `kohort serve`."""

from collections.abc import Iterator

import pytest
from confluent_kafka import TopicPartition

from tests.conformance.servers import kohort_serve
from tests.conformance.transactional_stage import TIMEOUT_S, Stage
from tests.kafka.broker import Broker
from tests.kafka.members import fresh_name
from tests.kafka.ports import HOST
from tests.kafka.tool_host import ToolHost

pytestmark = pytest.mark.kafka

COPIER = "org.apache.kafka.tools.TransactionalMessageCopier"
TRANSACTIONS = "org.apache.kafka.tools.TransactionsCommand"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with kohort_serve(tmp_path_factory.mktemp("transactions") / "log", {}) as port:
        yield port


@pytest.fixture(params=["kafka", "kohort"])
def stage(request: pytest.FixtureRequest) -> Stage:
    server = "broker" if request.param == "kafka" else "served"
    target: Broker | int = request.getfixturevalue(server)
    port = target.port if isinstance(target, Broker) else target
    made = Stage(bootstrap=f"{HOST}:{port}", topic=fresh_name("payments"))
    made.create(made.topic)
    return made


def test_records_are_taken_and_passed_on_exactly_once(stage: Stage) -> None:
    records = [str(number) for number in range(20)]
    stage.transact(stage.producer(f"{stage.topic}.source"), *records)
    results = f"{stage.topic}.results"
    stage.create(results)
    group = f"{stage.topic}.group"
    producer = stage.producer(stage.topic)
    attempts = 0
    while (done := max(stage.committed(group), 0)) < len(records):
        consumer = stage.consumer(group)
        consumer.subscribe([stage.topic])
        batch = [message for message in consumer.consume(5, TIMEOUT_S) if message.error() is None]
        producer.begin_transaction()
        for message in batch:
            producer.produce(results, message.value())
        producer.send_offsets_to_transaction(
            [TopicPartition(stage.topic, 0, done + len(batch))], consumer.consumer_group_metadata(), TIMEOUT_S
        )
        attempts += 1
        if attempts % 2:
            producer.abort_transaction(TIMEOUT_S)
        else:
            producer.commit_transaction(TIMEOUT_S)
        consumer.close()
    assert stage.values("read_committed", results) == records


def test_javas_copier_passes_records_on_exactly_once(stage: Stage, tools: ToolHost) -> None:
    records = [str(number) for number in range(30)]
    stage.transact(stage.producer(f"{stage.topic}.source"), *records)
    results, copier = f"{stage.topic}.results", f"{stage.topic}.copier"
    stage.create(results)
    options = {
        "broker-list": stage.bootstrap,
        "input-topic": stage.topic,
        "input-partition": 0,
        "output-topic": results,
        "max-messages": len(records),
        "transaction-size": 7,
        "transactional-id": copier,
        "consumer-group": f"{stage.topic}.group",
    }
    words = [str(word) for name, value in options.items() for word in (f"--{name}", value)]
    copied = tools.run(COPIER, *words, "--enable-random-aborts")
    assert copied.returncode == 0, copied.stderr
    assert stage.values("read_committed", results) == records
    assert stage.committed(f"{stage.topic}.group") == len(records) + 1  # behind the marker
    shown = tools.run(TRANSACTIONS, "--bootstrap-server", stage.bootstrap, "list")
    states = {words[0]: words[-1] for words in map(str.split, shown.stdout.splitlines())}
    assert states[copier] == "CompleteCommit"
