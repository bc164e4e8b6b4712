"""`kohort diagnose` of groups of real clients that stall, restart and fence each other, and of healthy ones."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.cli.command import Kohort
from tests.kafka.broker import Broker
from tests.kafka.groups import describe
from tests.kafka.members import Members, fresh_name
from tests.kafka.topics import fresh_topic
from tests.kafka.wait import wait_until
from tests.support.long import LONG

pytestmark = [pytest.mark.kafka, LONG]

PARTITIONS = 4
CONSUMER: dict[str, Any] = {"group_protocol": "consumer"}
CLASSIC: dict[str, Any] = {"partition_assignment_strategy": "range", "session_timeout_ms": 6_000}
KINDS = {"classic": CLASSIC, "consumer": CONSUMER}


class Clients:
    """Groups of clients of one broker, whose names begin alike."""

    def __init__(self, broker: Broker, members: Members) -> None:
        self.broker, self.members = broker, members
        self.prefix = fresh_name("clients")
        self.topic = fresh_topic(broker, PARTITIONS)

    def start(self, of: str, name: str, **settings: Any) -> Any:
        """A member, whose client id is its name."""
        return self.members.confluent(
            self.broker, f"{self.prefix}.{of}", [self.topic], f"{of}.{name}", **settings
        )

    def pair(self, of: str, **settings: Any) -> list[Any]:
        """Two settled members."""
        pair = [self.start(of, name, **settings) for name in "ab"]
        for member in pair:
            member.log.wait(lambda member=member: sum(map(len, member.assignment().values())) == 2, of, 60)
        return pair


def _restart(clients: Clients, of: str, settings: dict[str, Any], ended: Event) -> None:
    """A process that starts again and again."""
    while not ended.is_set():
        member = clients.start(of, "crashing", **settings)
        ended.wait(2.5)
        member.stop()


@pytest.mark.parametrize("kind", KINDS)
def test_what_real_clients_do_is_found(broker: Broker, members: Members, kohort: Kohort, kind: str) -> None:
    clients, settings = Clients(broker, members), KINDS[kind]
    clients.pair("healthy", **settings)
    paused = clients.pair("paused", **settings)
    clients.pair("storm", **settings)
    for each in paused:
        each.act("pause", ms=60_000)
    clients.start("paused", "c", **settings)
    wait_until(lambda: _rebalances(broker, f"{clients.prefix}.paused"), "the third member waits")
    kohort("--version")  # what it is forked from takes seconds to start, once
    ended = Event()
    with ThreadPoolExecutor(1) as pool:
        restarting = pool.submit(_restart, clients, "storm", settings, ended)
        try:
            answer = kohort(
                f"diagnose --match ^{clients.prefix} --for 20s --rebalance-time 8s --output json -b",
                broker.bootstrap,
            )
        finally:
            ended.set()
        restarting.result()
    assert answer.status == 1, answer
    found: dict[str, dict[str, Any]] = {
        group["group"].rpartition(".")[2]: {each["rule"]: each for each in group["findings"]}
        for group in answer.document["groups"]
    }
    assert found["healthy"] == {}
    assert {*_about(found["paused"]["rebalance-stuck"])} & {each.member_id() for each in paused}
    assert "rebalance-storm" in found["storm"]
    assert "127.0.0.1" in found["storm"]["rebalance-storm"]["evidence"]["hosts"][0]


def _rebalances(broker: Broker, group: str) -> bool:
    seen = describe(broker, group)
    return seen is not None and seen.state != "Stable"


def _about(finding: dict[str, Any]) -> list[str]:
    return [finding["member"]] if finding["member"] else list(finding["members"])


def test_java_member_that_polls_too_late(broker: Broker, members: Members, kohort: Kohort) -> None:
    """Java's members of the consumer protocol leave when their poll interval is over, and rejoin with their id."""
    group, topic = fresh_name("clients"), fresh_topic(broker, PARTITIONS)
    late = members.java(broker, group, [topic], group_protocol="consumer", max_poll_interval_ms=4_000)
    late.wait_assignment({topic: list(range(PARTITIONS))})
    member_id = late.member_id()
    kohort("--version")
    late.act("pause", ms=12_000)
    answer = kohort(f"diagnose {group} --for 20s --output json -b", broker.bootstrap)
    (found,) = answer.document["groups"]
    assert (
        answer.status,
        [each["member"] for each in found["findings"] if each["rule"] == "poll-interval"],
    ) == (
        1,
        [member_id],
    )


def test_coordinator_that_cannot_be_had(kafka_jars: Path, tmp_path: Path, kohort: Kohort) -> None:
    """The topic of offsets cannot be made with more replicas than there are brokers."""
    broker = Broker(kafka_jars, tmp_path, {"offsets.topic.replication.factor": "3"})
    try:
        broker.start()
        answer = kohort("diagnose payments --timeout 3000 --output json -b", broker.bootstrap)
    finally:
        broker.crash()
    (group,) = answer.document["groups"]
    (finding,) = group["findings"]
    assert (answer.status, finding["rule"], answer.document["errors"]) == (1, "coordinator-unavailable", [])
