"""What operators open `kohort top` for takes at most eight keys from its start, on a running broker."""

import time
from collections.abc import Callable, Coroutine
from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer

from cli.options import SourceOptions
from cli.verbs.top.options import TopOptions, TopSelection
from tests.cli.offset_rig import OffsetRig, join
from tests.cli.verbs.top.driving import MIDDLE, Driven, drive
from tests.kafka.members import fresh_name
from tests.kafka.topics import create_topics

MOST_KEYS = 8


class Journey(Driven):
    """Counts its keys."""

    keys = 0

    async def press(self, *keys: str) -> "Driven":
        self.keys += len(keys)
        assert self.keys <= MOST_KEYS
        return await super().press(*keys)


def travel(
    rig: OffsetRig, course: Callable[[Journey], Coroutine[None, None, None]], *groups: str, read_only: bool
) -> None:
    """From the list of these groups, or from the one that the command line names."""

    async def counted(driven: Driven) -> None:
        await course(Journey(driven.app, driven.pilot))

    source = SourceOptions(bootstrap_server=rig.broker.bootstrap)
    options = TopOptions(every=0.5, selection=TopSelection(groups=list(groups)), read_only=read_only)
    drive(counted, source, options, size=MIDDLE)


def test_a_group_is_reset_to_an_hour_ago(rig: OffsetRig) -> None:
    topic, now_ms = fresh_name("orders"), time.time_ns() // 1_000_000
    create_topics(rig.broker, {topic: 1})
    producer = Producer({"bootstrap.servers": rig.broker.bootstrap, "log_level": 0})
    for minutes in (150, 90, 30, 10):
        producer.produce(topic, b"", partition=0, timestamp=now_ms - minutes * 60_000)
    assert producer.flush(30) == 0
    group = rig.group({(topic, 0): 4})

    async def course(journey: Journey) -> None:
        await journey.press("R", "enter")
        await journey.wait_for("Nothing is changed yet")
        assert rig.committed(group) == {(topic, 0): 4}
        await journey.press("x", *"yes", "enter")
        await journey.wait_for("set 1 offset of")

    travel(rig, course, group, read_only=False)
    assert rig.committed(group) == {(topic, 0): 2}


def test_the_last_change_is_undone(rig: OffsetRig) -> None:
    topic = rig.topic([5])
    group = rig.group({(topic, 0): 4})
    rig.ours("offsets reset", group, "--all-topics", "--to-earliest", "--execute", "--yes").succeeded()

    async def course(journey: Journey) -> None:
        await journey.press("Z")
        await journey.wait_for("Nothing is changed yet")
        assert rig.committed(group) == {(topic, 0): 0}
        await journey.press("x", *"yes", "enter")
        await journey.wait_for(lambda: rig.committed(group) == {(topic, 0): 4})
        await journey.press("z")
        await journey.wait_for("kohort journal")
        await journey.wait_for(group)  # in the last lines, however many changes there were before

    travel(rig, course, group, read_only=False)


def test_who_is_stuck_and_why(rig: OffsetRig) -> None:
    topic = rig.topic([1, 1])
    group, fine = fresh_name("payments"), rig.group({(topic, 0): 1})
    settings = {"bootstrap.servers": rig.broker.bootstrap, "group.id": group, "group.protocol": "consumer"}
    with closing(Consumer({**settings, "client.id": "busy"})) as busy, closing(Consumer(settings)) as other:
        join(busy, topic)  # It has both partitions, and does not poll again
        other.subscribe([topic])
        other.poll(0)

        async def course(journey: Journey) -> None:
            await journey.press("e")
            await journey.wait_for("1 of 2 groups")
            await journey.press("enter")
            await journey.wait_for("It waits for busy to revoke")
            await journey.wait_for(f"{topic}:1, which busy still has")

        travel(rig, course, group, fine, read_only=True)


def test_the_record_that_a_group_reads_next(rig: OffsetRig) -> None:
    topic = rig.topic([3, 1])
    group = rig.group({(topic, 0): 2, (topic, 1): 0})

    async def course(journey: Journey) -> None:
        await journey.press("enter", "o")
        await journey.wait_for(topic)
        await journey.press("enter", "n")
        await journey.wait_for(f"{topic}-0 at 2: the next record of {group}")

    travel(rig, course, group, read_only=True)


def test_what_happened_at_a_time(rig: OffsetRig) -> None:
    topic = rig.topic([1, 1])
    group = fresh_name("payments")
    with rig.joined(group, topic):
        pass
    clock = time.strftime("%H%M", time.gmtime())

    async def course(journey: Journey) -> None:
        await journey.press("t", *clock, "enter")
        await journey.wait_for("THE PAST")
        await journey.press("w")
        await journey.wait_for("left; it has had no members since")

    travel(rig, course, group, read_only=True)


def test_whether_the_gate_of_a_migration_is_open(
    rig: OffsetRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    topic = rig.topic([1, 1])
    group = fresh_name("payments")
    with rig.joined(group, topic):
        plan = rig.ours("plan", group, "--to", "cooperative", "--client", "librdkafka:2.5.0", output="yaml")
        (tmp_path / f"{group}.plan.yaml").write_text(plan.stdout)

        async def course(journey: Journey) -> None:
            await journey.press("P")
            await journey.wait_for("Open: continue with step 1: Stop all members.")

        travel(rig, course, group, read_only=True)
