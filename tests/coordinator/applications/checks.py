"""What must hold of an application of every client, on every server. Where it does not, there is an exception."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from confluent_kafka import Consumer
from confluent_kafka.admin import AdminClient

from tests.cli.command import Kohort
from tests.coordinator.applications.clients import Client
from tests.coordinator.applications.stage import LONG_SESSION_MS, Stage
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until
from tests.migration.end_to_end.journal import Partition

STATIC_QUIET_S = 2.0
HOUR_MS = 3_600_000
EVENT_PATIENCE_S = 90.0


def consumes_once(stage: Stage) -> None:
    """One, three, two members: every record once; what is written while the group rebalances, at least once."""
    stage.start()
    stage.consume()
    for _ in range(2):
        stage.start()
        stage.write(restless=True)
    stage.wait_rest()
    stage.wait_consumed()
    stage.write()
    stage.wait_consumed()
    stage.applications[1].stop()
    stage.write(restless=True)
    stage.consume()
    stage.finish()


def resumes_after_a_crash(stage: Stage) -> None:
    """SIGKILL of the only member: the next one continues from the commit."""
    first = stage.start(own_process=True)
    stage.consume()
    stage.write(restless=True)
    first.crash()
    committed = stage.committed()
    second = stage.start()
    stage.consume()
    began: dict[Partition, int] = {}
    for entry in second.journals()[0].entries:
        if entry.offset is not None:
            began.setdefault(entry.partition, entry.offset)
    assert began == committed
    stage.finish()


def static_restart(stage: Stage) -> None:
    """A static member that restarts returns to its partitions; the other one notices nothing."""
    session = {"session.timeout.ms": LONG_SESSION_MS} if stage.client.is_classic else {}
    places = [{**session, "group.instance.id": f"{stage.group}-{name}"} for name in ("a", "b")]
    # The first one leads. A leader of franz-go that is restarted has the group rebalance, on every server.
    first = stage.start(own_process=True, settings=places[0])
    stage.wait_rest()
    second = stage.start(own_process=True, settings=places[1])
    stage.consume()
    # What the last generation has of a cooperative member may be nothing new, and it is reasons that a little later.
    time.sleep(STATIC_QUIET_S)
    before = stage.view()
    assert second.running is not None
    assert first.running is not None
    held, calls = second.running.assignment(), len(first.running.events())
    # Under the consumer protocol a static member that closes leaves temporarily; a classic one leaves for good.
    second.crash() if stage.client.is_classic else second.stop()
    stage.write(restless=True)
    second.start()
    assert second.running is not None
    second.running.wait_assignment(held)
    stage.wait_consumed()
    time.sleep(STATIC_QUIET_S)
    heard = first.running.events()[calls:]
    assert not heard, heard
    after, held_before = [
        {one.instance: one.assignment for one in view.members} for view in (stage.view(), before)
    ]
    assert after == held_before
    stage.finish()


def regex_gains_a_topic(stage: Stage) -> None:
    """A subscription by a regex gets a topic that is created later."""
    for _ in range(2):
        stage.start(subscription=stage.client.matching(stage.prefix))
    stage.consume()
    later = {f"{stage.prefix}-us": 2}
    create_topics(stage.server, later)
    stage.topics |= later
    stage.consume()
    stage.finish()


def described(stage: Stage) -> None:
    """`kohort describe` and confluent-kafka's AdminClient show what the members hold, and no lag."""
    for _ in range(2):
        stage.start()
    stage.consume()
    expected = {one.name: one.running.assignment() for one in stage.applications if one.running is not None}
    group = _as_kohort_shows(stage, "--members")
    assert (group["state"], group["type"]) == ("Stable", "classic" if stage.client.is_classic else "consumer")
    assert {one["client_id"]: one["owned"] for one in group["members"]} == expected
    ends = {partition: len(offsets) for partition, offsets in stage.producer.written.items()}
    group = _as_kohort_shows(stage)
    assert {(one["topic"], one["partition"]): one["committed"] for one in group["offsets"]} == ends
    assert {one["lag"] for one in group["offsets"]} == {0}
    admin = AdminClient({"bootstrap.servers": stage.server.bootstrap})
    shown = admin.describe_consumer_groups([stage.group])[stage.group].result()
    assert shown.state.name == "STABLE"
    held: dict[str, dict[str, list[int]]] = {}
    for member in shown.members:
        for one in member.assignment.topic_partitions:
            held.setdefault(member.client_id, {}).setdefault(one.topic, []).append(one.partition)
    assert {name: {topic: sorted(one[topic]) for topic in one} for name, one in held.items()} == expected
    stage.finish()


def _as_kohort_shows(stage: Stage, *options: str) -> dict[str, Any]:
    kohort = Kohort(home=stage.directory)
    answer = kohort("describe", stage.group, "-b", stage.server.bootstrap, "--output", "json", *options)
    (group,) = answer.document["groups"]
    description: dict[str, Any] = group
    return description


def offsets_by_time(stage: Stage) -> None:
    """The first offset that is not older than a time: between records, of a record, before all, after all."""
    began_ms = int(time.time() * 1000) - HOUR_MS
    (topic,) = stage.topics
    partitions = [number for _, number in stage.partitions()]
    stage.producer.write(stage.partitions(), 10, began_ms)
    stage.producer.write(stage.partitions(), 10, began_ms + 1000)
    member = stage.start().running
    assert member is not None
    stage.wait_rest()
    offsets = {}
    for after_ms in (-HOUR_MS, 0, 7, 500, 1009, 2 * HOUR_MS):
        asked = len([one for one in member.events() if one.kind == "offsets"])
        member.act("offsets_for_times", topic=topic, partitions=partitions, at_ms=began_ms + after_ms)

        def answers(asked: int = asked) -> str | None:
            reasons = [one.reason for one in member.events() if one.kind == "offsets"]
            return reasons[asked] if len(reasons) > asked else None

        offsets[after_ms] = wait_until(answers, "offsets").split(" ")
    none = "20" if stage.client.gives_the_end else "-1"
    expected = {-HOUR_MS: "0", 0: "0", 7: "7", 500: "10", 1009: "19", 2 * HOUR_MS: none}
    assert offsets == {after_ms: [offset] * len(partitions) for after_ms, offset in expected.items()}
    stage.wait_consumed()
    stage.finish()


def migrates_and_returns(stage: Stage) -> None:
    """Members change to the consumer protocol one by one, and back, the group at work."""
    assert stage.client.consumer is not None
    classic = stage.start(), stage.start()
    stage.consume()
    assert stage.view().kind == "classic"
    for settings, kind in ((stage.client.consumer, "consumer"), (stage.client.settings, "classic")):
        for one in classic:
            one.stop()
            one.config = stage.config(settings)
            one.start()
            stage.write(restless=True)
            stage.consume()
        assert stage.view().kind == kind
    stage.finish()


def compresses(stage: Stage) -> None:
    """It writes records with every compression that it knows; it reads them, and librdkafka does."""
    (topic,) = stage.topics
    member = stage.start().running
    assert member is not None
    stage.wait_rest()
    for partition, compression in enumerate(stage.client.compressions):
        records = [(f"key-{number}", f"{compression}-{number}-" + "x" * 100) for number in range(100)]
        member.act("produce", topic=topic, partition=partition, compression=compression, records=records)
        for offset, (key, value) in enumerate(records):
            stage.producer.written[topic, partition][offset] = f"{key}:{value}"
    stage.wait_consumed()
    produced = [one.reason for one in member.events() if one.kind == "produced"]
    assert [one or "" for one in produced] == [""] * len(stage.client.compressions)
    assert _read(stage) == stage.producer.written
    stage.finish()


def _read(stage: Stage) -> Mapping[Partition, Mapping[int, str]]:
    contents: dict[Partition, dict[int, str]] = {}
    total = sum(map(len, stage.producer.written.values()))
    config = {"bootstrap.servers": stage.server.bootstrap, "group.id": "stranger"}
    with Consumer({**config, "auto.offset.reset": "earliest"}) as consumer:
        consumer.assign(stage.topic_partitions())

        def complete() -> bool:
            for one in consumer.consume(total, 1.0):
                partition = (one.topic() or "", one.partition() or 0)
                content = f"{(one.key() or b'').decode()}:{(one.value() or b'').decode()}"
                contents.setdefault(partition, {})[one.offset() or 0] = content
            return sum(map(len, contents.values())) == total

        wait_until(complete, lambda: f"{total} records: {contents}")
    return contents


Check = Callable[[Stage], None]
CHECKS: Mapping[str, tuple[Check, Callable[[Client], bool]]] = {
    "consumes once": (consumes_once, lambda _: True),
    "crash": (resumes_after_a_crash, lambda _: True),
    "static restart": (static_restart, lambda client: client.static),
    "regex": (regex_gains_a_topic, lambda client: client.regex is not None),
    "describe": (described, lambda _: True),
    "offsets by time": (offsets_by_time, lambda _: True),
    "migration": (migrates_and_returns, lambda client: client.consumer is not None),
    "compression": (compresses, lambda _: True),
}
"""By the name of the column: the check, and which clients can do what it checks."""
