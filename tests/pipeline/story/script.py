"""The script: real consumers join, leave, crash and migrate in groups of all kinds, and it notes what it causes.

In the first half groups live whose traces are compacted; in the second nothing is compacted any more, so that every
rebalance of it must be found. Then the broker is killed.

`python -m tests.pipeline.story.script DIRECTORY` makes a log to try things on by hand; with `KOHORT_STORY=DIRECTORY`
the tests take it instead of making their own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._resource import ResourceType

from tests.coordinator.store.real_log import OFFSETS_TOPIC, copy_directory
from tests.coordinator.store.real_log_story import BROKER_SETTINGS, commit_plainly
from tests.kafka.broker import Broker
from tests.kafka.coordinator import wait_for_coordinator
from tests.kafka.groups import GroupView, describe
from tests.kafka.jars import fetch
from tests.kafka.java_host import JavaHost
from tests.kafka.member import Member
from tests.kafka.members import Members, Setting
from tests.kafka.tool_host import CONSUMER_GROUPS, ToolHost
from tests.kafka.topics import create_topics, set_config
from tests.kafka.wait import wait_until
from tests.pipeline.story.notes import Caused, Committed, Notes

ORDERS, PAYMENTS, LATE = "orders", "payments", "orders-late"
TOPICS: Mapping[str, int] = {ORDERS: 6, PAYMENTS: 3}
LATE_PARTITIONS = 2
REGEX = "^orders.*"
SHORT_SESSION_MS = 8_000  # of those that crash; long enough for a busy machine not to lose those that do not
LONG_SESSION_MS = 300_000
PRODUCE_EVERY_S = 0.1
COMMIT_EVERY_MS = 200  # members commit again and again: who crashes falls silent, who leaves does not
DAY_MS = 24 * 3600 * 1000
SETTINGS: Mapping[str, str] = {
    **BROKER_SETTINGS,
    "group.consumer.min.session.timeout.ms": str(SHORT_SESSION_MS),
    "log.cleaner.backoff.ms": "100",
    "log.initial.task.delay.ms": "100",
    "log.cleaner.min.cleanable.ratio": "0.01",
    "log.cleaner.delete.retention.ms": "0",
    "offsets.topic.num.partitions": "3",
}
CHECKPOINT = "cleaner-offset-checkpoint"

Start = Callable[[Members, Broker, str, str], Member]


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    do: Callable[[Scene], None]
    joined: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    rows: tuple[tuple[str, str], ...] = ()
    """Protocol and cause of each row; who joined and left is in the first that is no conversion."""
    wants: Mapping[str, int] | None = None  # topics that the group is subscribed to from here on


@dataclass(slots=True)
class Scene:
    script: Script
    group: str
    members: dict[str, Member] = field(default_factory=dict)
    wants: Mapping[str, int] = field(default_factory=lambda: {ORDERS: TOPICS[ORDERS]})
    is_share: bool = False

    def named(self, members: Sequence[str]) -> tuple[str, ...]:
        return tuple(f"{self.group}.{name}" for name in members)

    def come(self, name: str, start: Start) -> None:
        (client_id,) = self.named([name])
        self.members[name] = start(self.script.members, self.script.broker, self.group, client_id)

    def rests(self) -> bool:
        """Whether the broker and all clients agree that nothing is left to be done; notes who is who."""
        view = describe(self.script.broker, self.group)
        if not self.members:
            return view is None or (view.state in ("Empty", "Dead") and not view.members)
        if view is None or view.state != "Stable" or len(view.members) != len(self.members):
            return False
        if self.is_share:
            return True
        for member in view.members:
            self.script.notes.ids[member.member_id] = member.client_id
        said = {member.client_id: dict(member.assignment) for member in view.members}
        return said == self.held() and self._whole(view)

    def held(self) -> dict[str, dict[str, list[int]]]:
        return {it.name: dict(it.assignment()) for it in self.members.values()}

    def _whole(self, view: GroupView) -> bool:
        held = sorted(
            (topic, number)
            for member in view.members
            for topic, numbers in member.assignment.items()
            for number in numbers
        )
        return held == sorted(
            (topic, number) for topic, count in self.wants.items() for number in range(count)
        )


class Script:
    """Runs the acts. `end` when the broker is dead, or when something went wrong."""

    def __init__(self, broker: Broker, members: Members, tools: ToolHost) -> None:
        self.broker, self.members, self.tools = broker, members, tools
        self.notes = Notes()
        self.admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})
        self._scenes: dict[str, Scene] = {}
        self._stopping = threading.Event()
        self._producing = threading.Thread(target=self._produce, daemon=True)

    def run(self) -> None:
        create_topics(self.broker, TOPICS)
        self._producing.start()
        for group in ("consumer", "consumer-veteran"):
            self._set(ResourceType.GROUP, group, {"consumer.session.timeout.ms": str(SHORT_SESSION_MS)})
        self._play(FIRST_HALF, noted=False)
        for number in range(5):
            commit_plainly(self.broker, "compacted-commits", PAYMENTS, 0, number)
        self._compact()
        self._forget()
        self._play(SECOND_HALF, noted=True)
        self._commits()
        self._transactions()
        self._close()

    def end(self) -> None:
        self._stopping.set()
        if self._producing.ident is not None:
            self._producing.join()

    # Acts.

    def _play(self, half: Mapping[str, Sequence[Act]], *, noted: bool) -> None:
        for group in half:
            self._scenes.setdefault(group, Scene(self, group))
        for step in range(max(len(acts) for acts in half.values())):
            playing = {group: acts[step] for group, acts in half.items() if step < len(acts)}
            began, before = {}, {}
            for group, act in playing.items():
                scene = self._scenes[group]
                began[group], before[group] = now_ms(), len(scene.members)
                scene.wants = act.wants or scene.wants
                act.do(scene)
            for group, act in playing.items():
                scene = self._scenes[group]
                wait_until(
                    scene.rests,
                    lambda scene=scene, step=step: (  # type: ignore[misc]
                        f"{scene.group} rests after step {step}: {describe(self.broker, scene.group)} "
                        f"{scene.held()}"
                    ),
                )
                if noted:
                    self._note(scene, act, began[group], before[group])

    def _note(self, scene: Scene, act: Act, began_ms: int, before: int) -> None:
        rows = self.notes.rebalances.setdefault(scene.group, [])
        telling = next((n for n, (_, cause) in enumerate(act.rows) if cause != "conversion"), 0)
        for number, (protocol, cause) in enumerate(act.rows):
            tells = number == telling
            after = before + (len(act.joined) - len(act.left) if tells else 0)
            rows.append(
                Caused(
                    protocol=protocol,
                    cause=cause,
                    members_before=before,
                    members=after,
                    joined=scene.named(act.joined if tells else ()),
                    left=scene.named(act.left if tells else ()),
                    began_ms=began_ms,
                    rested_ms=now_ms(),
                )
            )
            before = after

    # What is done to the log.

    def _compact(self) -> None:
        """Close all segments, have the cleaner go through them, and keep it off what comes."""
        self._set(ResourceType.TOPIC, OFFSETS_TOPIC, {"segment.ms": "1"})
        partitions = {path.name: path for path in self.broker.data.glob(f"{OFFSETS_TOPIC}-*")}

        def active(partition: str) -> int:
            return max(int(log.stem) for log in partitions[partition].glob("*.log"))

        before = {partition: active(partition) for partition in partitions}
        numbers = iter(range(10_000))

        def rolled() -> bool:
            # Which partition a group is in the broker knows: names until all have got something.
            commit_plainly(self.broker, f"roller-{next(numbers)}", PAYMENTS, 0, 1)
            return all(active(partition) > base for partition, base in before.items())

        wait_until(rolled, "all segments are closed")
        self._set(ResourceType.TOPIC, OFFSETS_TOPIC, {"segment.ms": str(DAY_MS)})
        closed = {partition: active(partition) for partition in partitions}

        def cleaned() -> bool:
            return all(self._cleaned().get(partition, 0) >= base for partition, base in closed.items())

        wait_until(cleaned, lambda: f"the cleaner has reached {closed}: {self._cleaned()}")
        self._set(ResourceType.TOPIC, OFFSETS_TOPIC, {"min.compaction.lag.ms": str(DAY_MS)})
        self.notes.compacted = dict(closed)

    def _cleaned(self) -> dict[str, int]:
        checkpoint = self.broker.data / CHECKPOINT
        if not checkpoint.exists():
            return {}
        lines = checkpoint.read_text().splitlines()[2:]  # behind a version and a count; it is made empty
        return {f"{topic}-{number}": int(offset) for topic, number, offset in map(str.split, lines)}

    def _forget(self) -> None:
        """What compaction leaves of the first half: of groups that are there their last state, of others nothing."""
        at = now_ms()
        for group, scene in self._scenes.items():
            if not scene.members:
                self.notes.erased.append(group)
                continue
            protocol = "consumer" if group.startswith("consumer") else "classic"
            count = len(scene.members)
            first = Caused(
                protocol=protocol,
                cause="unknown",
                members_before=count,
                members=count,
                began_ms=0,
                rested_ms=at,
            )
            self.notes.rebalances[group] = [first]

    # Offsets.

    def _commits(self) -> None:
        """Ten forward, one back, three forward; another partition committed and deleted."""
        offsets = [*range(1, 11), 4, *range(5, 8)]
        for offset in offsets:
            commit_plainly(self.broker, "counted", PAYMENTS, 0, offset)
        commit_plainly(self.broker, "counted", PAYMENTS, 1, 3)
        said = self.tools.run(
            CONSUMER_GROUPS,
            *("--bootstrap-server", self.broker.bootstrap, "--delete-offsets", "--group", "counted"),
            *("--topic", f"{PAYMENTS}:1"),
        )
        if said.returncode:
            raise AssertionError(said.stderr)
        self._count("counted", 0, offsets, resets=1)
        self._count("counted", 1, [3], deleted=1)

    def _transactions(self) -> None:
        producer = Producer(
            {"bootstrap.servers": self.broker.bootstrap, "transactional.id": "shop", "log_level": 0}
        )
        producer.init_transactions(30)
        for offset, group, ends in (
            (1, "transactional", producer.commit_transaction),
            (9, "transactional", producer.abort_transaction),
            (2, "transactional", producer.commit_transaction),
            (1, "aborted", producer.abort_transaction),
        ):
            producer.begin_transaction()
            consumer = Consumer({"bootstrap.servers": self.broker.bootstrap, "group.id": group})
            producer.send_offsets_to_transaction(
                [TopicPartition(PAYMENTS, 0, offset)], consumer.consumer_group_metadata(), 30
            )
            consumer.close()
            ends(30)
        self._count("transactional", 0, [1, 2])
        self.notes.aborted.append("aborted")

    def _count(
        self, group: str, partition: int, offsets: Sequence[int], *, resets: int = 0, deleted: int = 0
    ) -> None:
        self.notes.committed.append(
            Committed(
                group=group,
                topic=PAYMENTS,
                partition=partition,
                commits=len(offsets),
                resets=resets,
                deleted=deleted,
                first=offsets[0],
                last=offsets[-1],
            )
        )

    def _produce(self) -> None:
        producer = Producer({"bootstrap.servers": self.broker.bootstrap, "log_level": 0})
        while not self._stopping.wait(PRODUCE_EVERY_S):
            for topic, count in TOPICS.items():
                for partition in range(count):
                    producer.produce(topic, value=b"", partition=partition)
            producer.poll(0)
        producer.purge()

    def _close(self) -> None:
        for group, scene in self._scenes.items():
            if group in self.notes.erased and group not in SECOND_HALF:
                continue
            view = describe(self.broker, group)
            self.notes.types[group] = None if view is None or view.state == "Dead" else view.kind
            if scene.members and not scene.is_share:
                self.notes.owned[group] = scene.held()

    def _set(self, kind: ResourceType, name: str, settings: Mapping[str, str]) -> None:
        set_config(self.broker, kind, name, settings)


def now_ms() -> int:
    return time.time_ns() // 1_000_000


# What may be done in a group.


def join(name: str, start: Start, *rows: tuple[str, str], wants: Mapping[str, int] | None = None) -> Act:
    return Act(do=lambda scene: scene.come(name, start), joined=(name,), rows=rows, wants=wants)


def leave(name: str, *rows: tuple[str, str]) -> Act:
    return Act(do=lambda scene: scene.members.pop(name).stop(), left=(name,), rows=rows)


def crash(name: str, *rows: tuple[str, str]) -> Act:
    return Act(do=lambda scene: scene.members.pop(name).crash(), left=(name,), rows=rows)


def bounce(name: str, start: Start) -> Act:
    """A static member is exchanged for one with the same seat: no rebalance."""

    def do(scene: Scene) -> None:
        scene.members.pop(name).stop()
        scene.come(name, start)

    return Act(do=do)


def subscribe(name: str, wants: Mapping[str, int], *rows: tuple[str, str]) -> Act:
    return Act(do=lambda scene: scene.members[name].subscribe(list(wants)), rows=rows, wants=wants)


def new_topic(wants: Mapping[str, int], *rows: tuple[str, str]) -> Act:
    return Act(
        do=lambda scene: create_topics(scene.script.broker, {LATE: LATE_PARTITIONS}), rows=rows, wants=wants
    )


def delete() -> Act:
    def do(scene: Scene) -> None:
        for future in scene.script.admin.delete_consumer_groups([scene.group]).values():
            future.result()

    return Act(do=do)


def _confluent(*topics: str, **settings: Setting) -> Start:
    return lambda members, broker, group, name: members.confluent(
        broker, group, topics or (ORDERS,), name, **_busy(settings)
    )


def _java(*topics: str, re2: str | None = None, **settings: Setting) -> Start:
    return lambda members, broker, group, name: members.java(
        broker, group, () if re2 else topics or (ORDERS,), name, re2=re2, **_busy(settings)
    )


def _share(members: Members, broker: Broker, group: str, name: str) -> Member:
    return members.share(broker, group, [ORDERS], name)


def _shared(name: str) -> Act:
    def do(scene: Scene) -> None:
        scene.is_share = True
        scene.come(name, _share)

    return Act(do=do, joined=(name,))


def _busy(settings: Mapping[str, Setting]) -> dict[str, Any]:
    asked: dict[str, Any] = {"auto_commit_interval_ms": COMMIT_EVERY_MS, **settings}
    if settings.get("group_protocol") != "consumer":
        asked.setdefault("session_timeout_ms", LONG_SESSION_MS)
    return asked


_RANGE = _confluent(partition_assignment_strategy="range")
_SHORT_RANGE = _confluent(partition_assignment_strategy="range", session_timeout_ms=SHORT_SESSION_MS)
_COOPERATIVE = _confluent(partition_assignment_strategy="cooperative-sticky")
_CONSUMER = _confluent(group_protocol="consumer")
_JAVA_RANGE = _java(partition_assignment_strategy="org.apache.kafka.clients.consumer.RangeAssignor")
_JAVA_CONSUMER = _java(group_protocol="consumer")
_SEAT = _java(
    partition_assignment_strategy="org.apache.kafka.clients.consumer.RangeAssignor", group_instance_id="seat"
)
_CONSUMER_SEAT = _confluent(group_protocol="consumer", group_instance_id="seat")
_BOTH = {ORDERS: TOPICS[ORDERS], PAYMENTS: TOPICS[PAYMENTS]}
_WITH_LATE = {ORDERS: TOPICS[ORDERS], LATE: LATE_PARTITIONS}


def _row(protocol: str) -> Callable[[str], tuple[str, str]]:
    return lambda cause: (protocol, cause)


_classic, _consumer = _row("classic"), _row("consumer")

FIRST_HALF: Mapping[str, Sequence[Act]] = {
    "erased": [join("a", _RANGE), leave("a"), delete()],
    "classic-veteran": [join("a", _RANGE), join("b", _RANGE)],
    "consumer-veteran": [join("a", _CONSUMER), join("b", _CONSUMER)],
}
SECOND_HALF: Mapping[str, Sequence[Act]] = {
    "classic-veteran": [leave("b", _classic("leave"))],
    "consumer-veteran": [crash("b", _consumer("expiry"))],
    "eager": [
        join("a", _RANGE, _classic("join")),
        join("b", _RANGE, _classic("join")),
        leave("b", _classic("leave")),
        join("c", _SHORT_RANGE, _classic("join")),
        crash("c", _classic("expiry")),
    ],
    "cooperative": [
        join("a", _COOPERATIVE, _classic("join")),
        # What it gets is taken from the other in one generation, and handed out in the next.
        join("b", _COOPERATIVE, _classic("join"), _classic("join")),
        leave("b", _classic("leave")),
    ],
    "static": [join("a", _SEAT, _classic("join")), bounce("a", _SEAT)],
    "topics-changed": [
        join("a", _JAVA_RANGE, _classic("join")),
        subscribe("a", _BOTH, _classic("subscription")),
    ],
    "reborn": [
        join("a", _RANGE, _classic("join")),
        leave("a", _classic("leave")),
        delete(),
        join("b", _RANGE, _classic("join")),
    ],
    "consumer": [
        join("a", _CONSUMER, _consumer("join")),
        join("b", _JAVA_CONSUMER, _consumer("join")),
        leave("b", _consumer("leave")),
        join("c", _CONSUMER, _consumer("join")),
        crash("c", _consumer("expiry")),
    ],
    "consumer-static": [join("a", _CONSUMER_SEAT, _consumer("join")), bounce("a", _CONSUMER_SEAT)],
    "consumer-topics-changed": [
        join("a", _JAVA_CONSUMER, _consumer("join")),
        subscribe("a", _BOTH, _consumer("subscription")),
    ],
    "consumer-deleted": [
        join("a", _JAVA_CONSUMER, _consumer("join")),
        leave("a", _consumer("leave")),
        delete(),
    ],
    "regex": [
        join("a", _java(re2=REGEX, group_protocol="consumer"), _consumer("join")),
        new_topic(_WITH_LATE, _consumer("metadata")),
    ],
    "migrated": [
        join("a", _JAVA_RANGE, _classic("join")),
        join("b", _JAVA_RANGE, _classic("join")),
        leave("a", _classic("leave")),
        join("c", _JAVA_CONSUMER, _consumer("conversion"), _consumer("join")),
        leave("b", _consumer("leave")),
        join("d", _JAVA_CONSUMER, _consumer("join")),
    ],
    "share": [_shared("a")],
}


def make_story(jars: Path, scratch: Path, tools: ToolHost, directory: Path) -> None:
    """Run the script; `directory` gets `data`, a copy of the broker's `log.dirs`, and the notes."""
    with ExitStack() as stack:
        broker = Broker(jars, scratch / "broker", SETTINGS)
        stack.callback(broker.stop)
        broker.start()
        wait_for_coordinator(broker)
        host = JavaHost(jars)
        stack.callback(host.crash)
        members = Members(host, jars, scratch)
        script = Script(broker, members, tools)
        try:
            script.run()
            broker.crash()
            copy_directory(broker.data, directory / "data")
        finally:
            # Closed by force: without a broker they would wait long to say goodbye.
            broker.crash()
            members.crash()
            host.crash()
            script.end()
        script.notes.save(directory)


def main() -> None:
    import sys
    import tempfile

    jars = fetch()
    tools = ToolHost(jars)
    with tempfile.TemporaryDirectory() as scratch:
        try:
            make_story(jars, Path(scratch), tools, Path(sys.argv[1]))
        finally:
            tools.close()


if __name__ == "__main__":
    main()
