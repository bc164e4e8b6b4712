"""KohortBroker, as the tests of a project with real consumers use it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from itertools import count
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from kohort_testing import KohortBroker, KohortBrokerError, NotInTime
from tests.docs.pages import ROOT
from tests.kafka.wait import wait_until

NUMBERS = count(1)
CALLS = {"assign": "assigned", "revoke": "revoked", "lost": "lost"}
PARTITIONS = 2


@pytest.fixture(scope="module")
def broker() -> Iterator[KohortBroker]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        with KohortBroker() as started:
            yield started


class Listening:
    """A consumer in a separate group, and the calls of its listener."""

    def __init__(self, broker: KohortBroker, config: dict[str, Any]) -> None:
        self.topic = f"topic-{next(NUMBERS)}"
        self.group = f"group of {self.topic}"
        broker.create_topic(self.topic, PARTITIONS)
        self.broker = broker
        self.owned: set[int] = set()
        self.calls: list[str] = []
        self.errors: list[KafkaError] = []
        self.values: list[bytes | None] = []
        self._consumer = Consumer(
            {
                "bootstrap.servers": broker.bootstrap_servers,
                "group.id": self.group,
                "client.id": f"client of {self.topic}",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "error_cb": self.errors.append,
                "log_level": 0,
                **config,
            }
        )
        calls = {f"on_{name}": partial(self._note, call) for name, call in CALLS.items()}
        self._consumer.subscribe([self.topic], **calls)
        broker.wait_until(lambda: len(self.owned) == PARTITIONS, polling=self.poll)

    def poll(self) -> None:
        message = self._consumer.poll(0.05)
        if message is None:
            return
        error = message.error()
        if error is None:
            self.values.append(message.value())
        else:
            self.errors.append(error)

    def commit(self) -> None:
        self._consumer.commit(offsets=[TopicPartition(self.topic, 0, 1)], asynchronous=False)

    def _note(self, call: str, _: Any, partitions: list[Any]) -> None:
        self.calls.append(call)
        numbers = {partition.partition for partition in partitions}
        self.owned = self.owned | numbers if call == "assigned" else self.owned - numbers

    def __enter__(self) -> Listening:
        return self

    def __exit__(self, *_: object) -> None:
        self._consumer.close()


CLASSIC = {"partition.assignment.strategy": "cooperative-sticky", "heartbeat.interval.ms": 300}
CONSUMER = {"group.protocol": "consumer"}
PROTOCOLS = pytest.mark.parametrize("config", [CLASSIC, CONSUMER], ids=["classic", "consumer"])


@PROTOCOLS
def test_another_member_joins_and_leaves(broker: KohortBroker, config: dict[str, Any]) -> None:
    with Listening(broker, config) as mine:
        with broker.rebalance(mine.group):
            group = broker.wait_until_stable(mine.group, members=2, polling=mine.poll)
            assert sorted(len(member.partitions) for member in group.members) == [1, 1]
            broker.wait_until(lambda: len(mine.owned) == 1, polling=mine.poll)
        broker.wait_until(lambda: len(mine.owned) == 2, polling=mine.poll)
        assert broker.group(mine.group).is_settled


@PROTOCOLS
def test_a_member_whose_session_expires_rejoins(broker: KohortBroker, config: dict[str, Any]) -> None:
    with Listening(broker, config) as mine:
        broker.fault.expire(mine.group, f"client of {mine.topic}")
        broker.wait_until(lambda: mine.calls == ["assigned", "lost", "assigned"], polling=mine.poll)


@PROTOCOLS
def test_a_static_member_is_fenced_for_good(broker: KohortBroker, config: dict[str, Any]) -> None:
    with Listening(broker, {**config, "group.instance.id": "one"}) as mine:
        assert [member.instance_id for member in broker.group(mine.group).members] == ["one"]
        broker.fault.fence(mine.group, "one")
        fatal = [KafkaError.FENCED_INSTANCE_ID, KafkaError._FATAL]
        broker.wait_until(lambda: any(error.code() in fatal for error in mine.errors), polling=mine.poll)


def test_a_fenced_member_of_the_consumer_protocol_joins_again(broker: KohortBroker) -> None:
    with Listening(broker, CONSUMER) as mine:
        (member,) = broker.group(mine.group).members
        broker.fault.fence(mine.group, member.id)
        broker.wait_until(lambda: mine.calls == ["assigned", "lost", "assigned"], polling=mine.poll)


def test_records_are_produced_read_and_committed(broker: KohortBroker) -> None:
    with Listening(broker, CLASSIC) as mine:
        broker.produce(mine.topic, "a", b"\xff", key="k", partition=1)
        broker.wait_until(lambda: mine.values == [b"a", b"\xff"], polling=mine.poll)
        assert broker.committed(mine.group) == {}
        mine.commit()
        assert broker.committed(mine.group) == {(mine.topic, 0): 1}


def test_a_commit_is_refused_as_often_as_it_is_wanted(broker: KohortBroker) -> None:
    with Listening(broker, CLASSIC) as mine:
        with broker.fault.error("GROUP_AUTHORIZATION_FAILED", api="OffsetCommit", group=mine.group):
            with pytest.raises(KafkaException) as raised:
                mine.commit()
            assert raised.value.args[0].code() == KafkaError.GROUP_AUTHORIZATION_FAILED
        mine.commit()
        # The client retries retriable errors.
        broker.fault.error("COORDINATOR_LOAD_IN_PROGRESS", api=["OffsetCommit"], group=mine.group, times=1)
        mine.commit()


def test_a_topic_that_grows_is_assigned(broker: KohortBroker) -> None:
    with Listening(broker, CONSUMER) as mine:
        broker.fault.grow(mine.topic, 3)
        broker.wait_until(lambda: len(mine.owned) == 3, polling=mine.poll)


def test_a_moved_coordinator_revokes_nothing(broker: KohortBroker) -> None:
    with Listening(broker, CLASSIC) as mine:
        broker.fault.move(mine.group, loading=0.3)
        broker.fault.disconnect(f"client of {mine.topic}")
        broker.wait_until_stable(mine.group, members=1, polling=mine.poll)
        mine.commit()
        assert mine.calls == ["assigned"]


def test_members_survive_the_loss_of_their_broker() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        with KohortBroker(brokers=3) as several:
            assert len(several.bootstrap_servers.split(",")) == 3
            with Listening(several, CLASSIC) as mine:
                several.fault.crash(mine.group, lasts=0.5)
                several.wait_until_stable(mine.group, members=1, polling=mine.poll)
                mine.commit()
                several.fault.crash(mine.group)
                several.wait_until_stable(mine.group, members=1, polling=mine.poll)
                assert mine.calls == ["assigned"]


def test_an_impossible_request_is_an_error_with_the_reason(broker: KohortBroker) -> None:
    with pytest.raises(KohortBrokerError, match="group absent has no members to join"):
        broker.rebalance("absent")
    with pytest.raises(KohortBrokerError, match="did you mean NOT_COORDINATOR"):
        broker.fault.error("NOT_CORDINATOR")
    with pytest.raises(KohortBrokerError, match="there is no group absent"):
        broker.fault.expire("absent", "m-1")
    assert broker.group("absent").state == "Dead"
    with pytest.raises(NotInTime, match=r"group absent is not settled: GroupState.*Dead"):
        broker.wait_until_stable("absent", timeout=0)


def test_the_broker_exits_with_its_parent() -> None:
    script = (
        "import os, kohort_testing\n"
        "broker = kohort_testing.KohortBroker()\n"
        "print(broker._process.pid, flush=True)\n"
        "input()\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    ) as started:
        assert started.stdout is not None
        pid = int(started.stdout.readline())
        os.kill(started.pid, signal.SIGKILL)
    wait_until(lambda: not os.path.exists(f"/proc/{pid}") or _is_over(pid), "the broker has ended")


def _is_over(pid: int) -> bool:
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rpartition(")")[2].split()[0] == "Z"
