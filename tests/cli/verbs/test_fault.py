"""`kohort fault`: a running server fails on purpose, and nothing else takes faults."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.command import Answer, Kohort
from tests.cli.served_data import Served, serving
from tests.conformance.cluster import Cluster
from tests.kafka.broker import Broker
from tests.kafka.ports import HOST
from tests.kafka.wait import wait_until
from wire.errors import ErrorCode


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving(None, "--topic", "orders:3") as started:
        yield started


Faults = Callable[[str], Answer]


@pytest.fixture
def fault(kohort: Kohort, served: Served) -> Iterator[Faults]:
    def ask(line: str) -> Answer:
        return kohort.quick(f"fault {line}", "-b", f"{HOST}:{served.port}")

    yield ask
    ask("clear").succeeded()


async def heartbeat(cluster: Cluster) -> int:
    answer = await cluster.ask("Heartbeat", 4, group_id="billing", generation_id=1, member_id="m-1")
    return int(answer["error_code"])


def test_an_error_for_a_number_of_requests(fault: Faults, served: Served) -> None:
    assert "is in force\n" in fault("error not_coordinator --api Heartbeat --times 1").succeeded().stdout
    assert served.ask(heartbeat) == ErrorCode.NOT_COORDINATOR
    assert served.ask(heartbeat) == ErrorCode.UNKNOWN_MEMBER_ID


def test_faults_in_force_are_listed_and_cleared(fault: Faults) -> None:
    fault("delay 500ms-2s --api Heartbeat --api SyncGroup --client app-* --for 1m --chance 0.5").succeeded()
    fault("drop --close --group billing --topic orders --member m-1 --times 3").succeeded()
    delay, drop = fault("list --output json").succeeded(stderr="").document["faults"]
    assert 0 < delay.pop("ends_in_s") <= 60
    assert delay.pop("id") < drop.pop("id")
    assert delay == {
        "fault": "delay 500 ms-2 s",
        "api": "Heartbeat, SyncGroup",
        "client": "app-*",
        "group": None,
        "topic": None,
        "member": None,
        "applied": 0,
        "times_left": None,
        "chance": 0.5,
    }
    assert drop == {
        "fault": "drop connection",
        "api": None,
        "client": None,
        "group": "billing",
        "topic": "orders",
        "member": "m-1",
        "applied": 0,
        "times_left": 3,
        "ends_in_s": None,
        "chance": 1.0,
    }
    assert fault("clear").stdout == "2 cleared\n"
    assert fault("list --output json").document["faults"] == []


def test_a_coordinator_moves(fault: Faults) -> None:
    moved = fault("move billing --loading 10ms").succeeded()
    assert moved.stdout == "the coordinator of billing is now broker 1, which loads for 10 ms\n"


def test_a_broker_crashes_and_restarts(fault: Faults) -> None:
    assert fault("crash billing --for 10ms").succeeded().stdout == "broker 1 is down for 10 ms\n"
    wait_until(lambda: fault("list").status == 0, "the broker is back")


def test_a_topic_changes(fault: Faults) -> None:
    assert fault("topic grow orders 12").stdout == "orders has 12 partitions\n"
    assert fault("topic create payments 2").stdout.startswith("payments is created with 2 partitions")
    assert fault("topic recreate payments 3").stdout.startswith("payments is created with 3 partitions")
    assert fault("topic delete payments").stdout == "payments is deleted\n"


def test_what_cannot_be_done_is_refused(fault: Faults) -> None:
    for line, status, said in (
        ("error NOT_CORDINATOR", 4, "did you mean NOT_COORDINATOR?"),
        ("delay 2s --api Hartbeat", 4, "did you mean Heartbeat?"),
        ("delay soon", 2, "'soon' is not a duration"),
        ("delay 2s-1s", 4, "the shortest and the longest"),
        ("expire billing m-1", 4, "there is no group billing"),
        ("topic delete nowhere", 4, "there is no topic nowhere"),
        ("fence billing --instance one", 4, "there is no group billing"),
        ("fence billing", 2, "name the member, or its --instance"),
        ("topic grow orders", 2, "needs the number of partitions"),
        ("topic delete orders 3", 2, "has no number of partitions"),
    ):
        fault(line).assert_refused(said, status=status)


def test_only_a_live_server_has_faults(kohort: Kohort, sample: Path) -> None:
    kohort.quick("fault list --embedded", sample).assert_refused("faults need a running kohort serve")


@pytest.mark.kafka
def test_a_kafka_broker_takes_no_faults(kohort: Kohort, broker: Broker) -> None:
    answer = kohort.quick("fault delay 2s -b", broker.bootstrap)
    answer.assert_refused("only kohort serve accepts faults", status=3)
