"""A short incident of real clients: one crashes and returns, then leaves. Live and from the log it is the same."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from threading import Event, Thread
from typing import Any
from unittest.mock import patch

import pytest
from confluent_kafka import Producer

import cli.sources.history.journal
import cli.sources.history.live
from cli.sources.history.live import HistoryRefused
from tests.cli.command import Answer, Kohort
from tests.cli.offset_rig import OffsetRig
from tests.kafka.broker import Broker
from tests.kafka.groups import wait_group
from tests.kafka.members import Members, fresh_name
from tests.kafka.topics import fresh_topic
from tests.kafka.wait import wait_until

PARTITIONS = 4


@contextmanager
def _written(broker: Broker, topic: str) -> Iterator[None]:
    """Write into each partition, ten times a second."""
    producer, stopped = Producer({"bootstrap.servers": broker.bootstrap, "log_level": 0}), Event()

    def write() -> None:
        while not stopped.wait(0.1):
            for number in range(PARTITIONS):
                producer.produce(topic, b"", partition=number)
            producer.flush(5)

    thread = Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def _progress(rig: OffsetRig, group: str, times: int = 4) -> None:
    """Wait until every partition's commit has moved this often."""
    for _ in range(times):
        before = rig.committed(group)

        def all_moved(before: dict[tuple[str, int], int] = before) -> bool:
            now = rig.committed(group)
            return len(now) == PARTITIONS and all(now[place] > before.get(place, -1) for place in now)

        wait_until(all_moved, "commits moved")


@pytest.mark.kafka
def test_a_crash_and_a_departure_are_the_same_live_and_in_the_log(
    kafka_broker: Broker, kafka_rig: OffsetRig, members: Members, kohort: Kohort
) -> None:
    topic, group = fresh_topic(kafka_broker, PARTITIONS), fresh_name("payments")
    everything = {topic: list(range(PARTITIONS))}
    start = partial(
        members.confluent,
        kafka_broker,
        group,
        [topic],
        session_timeout_ms="6000",
        auto_commit_interval_ms="500",
    )
    with _written(kafka_broker, topic):
        stays = start("stays")
        stays.wait_assignment(everything)
        crashing = start("crashing")
        wait_group(kafka_broker, group, members=2)
        _progress(kafka_rig, group)
        crashing.crash()
        stays.wait_assignment(everything)
        again = start("crashing")
        wait_group(kafka_broker, group, members=2)
        _progress(kafka_rig, group)
        again.stop()
        stays.wait_assignment(everything)
        _progress(kafka_rig, group, times=2)
    cluster, since = ["-b", kafka_broker.bootstrap], ["--since", "10m", "--output", "json"]
    live, logged = (
        kohort("why", group, *since, *words).succeeded(stderr="")
        for words in (cluster, ["--log-dir", kafka_broker.data])
    )
    assert _answers(live) == _answers(logged)
    kohort("record", "--once", *cluster).succeeded()
    (journal,) = (kohort.data / "journals").glob("*.db")
    recorded = kohort("why", group, *since, "--journal", journal).succeeded(stderr="")
    assert _answers(recorded) == _answers(live)
    question = ["what-if", group, "--static", "--jobs", "1", "--seeds", "2", *since, "--until"]
    question.append(live.document["groups"][0]["rebalances"][-1]["end"])
    played, *others = (
        kohort.quick(*question, *words).document["groups"]
        for words in (cluster, ["--log-dir", kafka_broker.data], ["--journal", journal])
    )
    assert others == [played, played]
    refused = HistoryRefused("TOPIC_AUTHORIZATION_FAILED")
    here = {"XDG_DATA_HOME": str(kohort.data.parent)}
    by_itself = kohort.quick("why", group, *since, *cluster, **here).succeeded(
        stderr=f"kohort: read from the journal {journal}\n"
    )
    assert _answers(by_itself) == _answers(live)
    with (
        patch.object(cli.sources.history.live, "read_live_history", side_effect=refused),
        patch.object(cli.sources.history.journal, "running_journal", return_value=None),
    ):
        fallback = kohort.quick("why", group, *since, *cluster, **here)
    assert "READ and DESCRIBE on the topic __consumer_offsets" in fallback.stderr
    assert _answers(fallback) == _answers(live)
    (answer,) = live.document["groups"]
    changes = [[(one["change"], one["client_id"]) for one in row["changes"]] for row in answer["rebalances"]]
    assert [row[0][1] for row in changes] == ["stays", *["crashing"] * 4]
    # On a busy machine, where commits are late, the records may prove neither.
    kinds = [row[0][0] for row in changes]
    assert [kinds[0], kinds[1], kinds[3]] == ["joined"] * 3
    assert (kinds[2] in ("expiry", "unknown"), kinds[4] in ("leave", "unknown")) == (True, True)
    assert f"{group} rebalanced 5 times between" in answer["headline"]
    assert "crashing on 127.0.0.1 joined, " in answer["headline"]
    expired = answer["rebalances"][2]
    unread = {(one["topic"], one["partition"]): one["unread_s"] for one in expired["unread"]}
    assert all(unread[topic, number] > 5 for number in (0, 1))
    at = kohort("why", group, "-b", kafka_broker.bootstrap, "--at", expired["end"], "--output", "json")
    (state,) = [one["at"] for one in at.document["groups"]]
    assert {one["client_id"] for one in state["owners"]} == {"stays"}


def _answers(answer: Answer) -> Any:
    return [{**group, "complete_since": None} for group in answer.document["groups"]]
