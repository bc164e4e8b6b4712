"""`kohort top` on a real broker: groups that rebalance, wait and fall behind, and a broker that is away for a while."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pytest
from confluent_kafka import Producer

from cli.options import SourceOptions
from cli.verbs.top.options import TopOptions
from tests.cli.command import Kohort
from tests.cli.served_data import Served, serving
from tests.cli.verbs.top.driving import ONCE, Driven, drive
from tests.cli.verbs.watch.running import in_pipe
from tests.cli.verbs.watch.running import on_terminal as running_on_terminal
from tests.kafka.broker import Broker, RunningBroker
from tests.kafka.commits import make_classic_groups
from tests.kafka.coordinator import wait_for_coordinator
from tests.kafka.members import fresh_name
from tests.kafka.ports import HOST, free_ports
from tests.kafka.topics import create_topics, fresh_topic
from tests.kafka.wire import ask
from tests.migration.raw_consumer import RawConsumer
from tests.support.long import LONG
from tests.support.terminals import on_terminal

Stoppable: TypeAlias = tuple[RunningBroker, Callable[[], None], Callable[[], None]]
LATER_MS = 65_000  # All groups are read again then, also those that are not in sight


def make_groups(broker: RunningBroker, *groups: str) -> None:
    wait_for_coordinator(broker)
    create_topics(broker, {"orders": 1})
    make_classic_groups(broker, groups, "orders", 1)


def produce(broker: Broker, topic: str, count: int) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for number in range(count):
        producer.produce(topic, str(number).encode(), partition=0)
    producer.flush(60)


def commit(member: RawConsumer, topic: str, offset: int) -> None:
    partition = {"partition_index": 0, "committed_offset": offset, "committed_metadata": ""}
    answer = ask(
        member.broker.port,
        "OffsetCommit",
        9,
        group_id=member.group,
        generation_id_or_member_epoch=member.epoch,
        member_id=member.id,
        topics=[{"name": topic, "partitions": [partition]}],
    )
    assert {one.error_code for of in answer.topics for one in of.partitions} == {0}


@pytest.mark.kafka
def test_groups_that_rebalance_wait_and_fall_behind(broker: Broker) -> None:
    topic, prefix = fresh_topic(broker, 2), fresh_name("top")
    names = {kind: f"{prefix}.{kind}" for kind in ("moves", "stuck", "slow")}
    first = {kind: RawConsumer(broker=broker, group=name, topics=(topic,)) for kind, name in names.items()}
    for member in first.values():
        member.join()
        member.accept()
    produce(broker, topic, 100)
    commit(first["slow"], topic, 90)

    async def course(top: Driven) -> None:
        await top.read()
        await top.press("e")  # No group has a problem yet, so that none is on screen
        second = {
            kind: RawConsumer(broker=broker, group=names[kind], topics=(topic,))
            for kind in ("moves", "stuck")
        }
        for member in second.values():
            member.join()
        await top.later(LATER_MS)
        first["moves"].accept()
        second["moves"].accept()
        produce(broker, topic, 5_000)
        commit(first["slow"], topic, 100)
        await top.later(LATER_MS)
        assert names["moves"] not in top.text
        await top.press("e")
        moved, stuck, slow = (top.line_of(names[kind]).split() for kind in ("moves", "stuck", "slow"))
        assert (moved[1], stuck[1], slow[1]) == ("Stable", "Reconciling", "Stable")
        assert "≥1" in moved
        assert "error" in stuck
        assert (slow[3], "warning" in slow) == ("5000", True)

    source = SourceOptions(bootstrap_server=broker.bootstrap)
    options = replace(ONCE, selection=replace(ONCE.selection, match=f"^{prefix}"))
    drive(course, source, options, size=(160, 40))


@contextmanager
def real_or_served(kind: str, request: pytest.FixtureRequest, directory: Path) -> Iterator[Stoppable]:
    """A broker, what kills it, and what starts it again."""
    if kind == "real":
        broker = request.getfixturevalue("start_broker")({})
        yield broker, broker.crash, broker.start
        return
    served = [Served(directory)]
    port = served[0].port
    try:
        yield (
            served[0],
            lambda: served[-1].kill(),  # noqa: PLW0108  (the last one then)
            lambda: served.append(Served(directory, port=port)),
        )
    finally:
        served[-1].kill()


@pytest.mark.parametrize("kind", ["served", pytest.param("real", marks=[LONG, pytest.mark.kafka])])
def test_a_broker_that_is_away_for_a_while(request: pytest.FixtureRequest, tmp_path: Path, kind: str) -> None:
    with real_or_served(kind, request, tmp_path) as (broker, stop, start):
        make_groups(broker, "billing", "audit")

        async def course(top: Driven) -> None:
            await top.read()
            await top.press("down", "enter")
            await top.wait_for("group billing")
            stop()
            await top.wait_for("NO ANSWER since")
            assert top.app.screen.has_class("stale")
            assert "Empty" in top.text
            await top.press("escape")
            assert "audit" in top.text
            failed_ms = top.app.sight.failing_ms or 0
            start()
            wait_for_coordinator(broker)
            await top.press("r")
            await top.wait_for(lambda: not top.app.sight.failure, "it answers again")
            await top.wait_for(
                lambda: min(seen.at_ms for seen in top.app.sight.groups.values()) > failed_ms, "it reads"
            )
            assert not top.app.screen.has_class("stale")

        drive(
            course, SourceOptions(bootstrap_server=broker.bootstrap, timeout_ms=5_000), TopOptions(every=0.2)
        )


def test_a_cluster_that_never_answered_ends_it_as_other_commands(kohort: Kohort) -> None:
    words = ["-b", f"{HOST}:{free_ports(1)[0]}", "--timeout", "1000"]
    listed = kohort.quick("list", *words)
    shown = on_terminal([kohort.executable, "top", *words], {**kohort.env, "TERM": "xterm"})
    assert shown.status == listed.status == 3
    assert listed.stderr.strip() in shown.terminal


def test_it_ends_at_once_while_a_broker_does_not_answer(kohort: Kohort, tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        make_groups(served, "billing")
        words = ["top", "-b", served.bootstrap, "--every", "0.2"]
        with running_on_terminal(kohort, tmp_path, *words, is_whole=True) as top:
            top.wait_for(lambda run: "billing" in run.stdout, "the list")
            served.freeze()
            time.sleep(1)
            os.write(top.controller, b"q")
            began = time.monotonic()
            assert top.process.wait(60) == 0
            assert time.monotonic() - began < 5


@LONG
def test_a_running_recorder_knows_the_rebalances_of_the_hour(
    kohort: Kohort, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", kohort.env["XDG_DATA_HOME"])

    async def course(top: Driven) -> None:
        await top.read()
        await top.wait_for(lambda: top.line_of("billing").split()[8] == "2", "both rebalances")
        await top.press("enter", "left_square_bracket")
        await top.wait_for("THE PAST")

    with serving(tmp_path) as served:
        wait_for_coordinator(served)
        create_topics(served, {"orders": 2})
        with in_pipe(kohort, tmp_path, f"record -b {served.bootstrap} --every 1", name="record") as recorder:
            first, second = (RawConsumer(broker=served, group="billing", topics=("orders",)) for _ in "ab")
            for joining in (first, second):
                joining.join()
                first.accept()
                joining.accept()
            recorder.wait_for(lambda run: run.stdout.count("billing") >= 2, "both rebalances")
            drive(course, SourceOptions(bootstrap_server=served.bootstrap), size=(140, 24))
