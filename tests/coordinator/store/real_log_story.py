"""The actions of the clients of `real_log`: groups of every kind are created, change, crash and are deleted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._resource import ResourceType
from kio.schema.errors import ErrorCode

from tests.coordinator.store.what_was_said import Document, Witness
from tests.kafka.broker import Broker
from tests.kafka.connect import join_connect_group
from tests.kafka.groups import wait_group
from tests.kafka.member import Member
from tests.kafka.members import Members, Setting
from tests.kafka.tool_host import CONSUMER_GROUPS
from tests.kafka.topics import create_topics, set_config
from tests.kafka.wait import wait_until
from tests.kafka.wire import ask

ORDERS, PAYMENTS, GONE, LATE = "orders", "payments", "gone", "orders-late"
TOPICS: Mapping[str, int] = {ORDERS: 6, PAYMENTS: 3, GONE: 2}
RECORDS = 10  # the number of records in each partition at first; as many are added later
JAVA = "org.apache.kafka.clients.consumer."
BUSY = "busy"  # a group that commits again and again until the broker is killed
UNICODE = "zahlungen-für-Łódź-😀"
METADATA = "Prüfsumme|ü😀"
SILENT = 0  # librdkafka's log level for clients whose broker is killed
STATIC_LEAVE_EPOCH = -2  # the epoch of a static member that has left temporarily
CRASH_SESSION_MS = 5000  # long enough for running members to send heartbeats, even on a busy machine
# Members that are in the log when the broker is killed must not expire while a test inspects another broker.
LONG_SESSION_MS = 300_000
BROKER_SETTINGS: Mapping[str, str] = {
    **{
        f"group.{kind}.{limit}session.timeout.ms": str(LONG_SESSION_MS)
        for kind in ("consumer", "share", "streams")
        for limit in ("", "max.")
    },
    "group.consumer.min.session.timeout.ms": str(CRASH_SESSION_MS),
    "group.min.session.timeout.ms": str(CRASH_SESSION_MS),
}


class Story:
    """Runs the clients. Call the chapters in order, and `end` once the broker is killed, or after an error."""

    def __init__(self, broker: Broker, members: Members, witness: Witness) -> None:
        self.broker, self.members, self.witness = broker, members, witness
        self.admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": SILENT})
        self.running: dict[str, list[Member]] = {}
        self.shop = self._transactional("shop")
        self.till = self._transactional("till")
        self.busy = BusyCommitter(broker)
        self.clients: list[Consumer] = []

    def begin(self) -> None:
        create_topics(self.broker, TOPICS)
        self._produce(ORDERS, TOPICS[ORDERS])
        self._set_session("crash-consumer", CRASH_SESSION_MS)
        for group, starters in _FIRST.items():
            for start in starters[:1] if group in _CONVERTED else starters:
                self._start(group, start)
        for group in _CONVERTED:
            wait_group(self.broker, group, members=1)
            for start in _FIRST[group][1:]:
                self._start(group, start)
        join_connect_group(self.broker, "connect")
        self._commits()
        self._transactions()
        self.busy.start()
        self._wait_rest({group: len(starters) for group, starters in _FIRST.items()}, ends=RECORDS)

    def continue_story(self) -> None:
        create_topics(self.broker, {LATE: 2})
        self._produce(ORDERS, TOPICS[ORDERS])
        for group in ("crash-classic", "crash-consumer"):
            self.running[group].pop().crash()
        for group, start in _JOINERS.items():
            self._start(group, start)
        emptied = ("emptied-classic", "emptied-consumer", "deleted-consumer")
        for group in ("roundrobin", "consumer", "consumer-static", "downgraded", *emptied):
            self._stop_last(group)
        self.running["topics-changed"][0].subscribe([ORDERS, PAYMENTS])
        self._stop_last("static")
        self._start("static", _static("seat-1"))
        for _ in _FIRST["upgraded"]:  # one after another, as in a rolling bounce
            self.running["upgraded"].pop(0).stop()
            self._start("upgraded", _java(group_protocol="consumer"))
            self._wait_members("upgraded", len(_FIRST["upgraded"]))
        self.witness.tool(
            CONSUMER_GROUPS, "--delete-offsets", "--group", "simple", "--topic", f"{PAYMENTS}:1"
        )
        self._wait_members("deleted-consumer", 0)
        for future in self.admin.delete_consumer_groups(["deleted-simple", "deleted-consumer"]).values():
            future.result()
        for future in self.admin.delete_topics([GONE]).values():
            future.result()
        self._more_transactions()
        counts = {group: len(running) for group, running in self.running.items()}
        # A static member of a consumer group that has left stays in the group.
        counts["consumer-static"] += 1
        del counts["deleted-consumer"]
        self._wait_rest(counts, ends=2 * RECORDS)
        self._set_session("crash-consumer", LONG_SESSION_MS)

    def crash_some(self) -> None:
        """Kill members without leaving the group; the broker does not notice for a long time."""
        for group in ("dying-classic", "dying-consumer"):
            self.running[group].pop().crash()

    def end(self) -> None:
        self.busy.stop()
        self.members.crash()

    def _start(self, group: str, start: Start) -> None:
        self.running.setdefault(group, []).append(start(self.members, self.broker, group))

    def _stop_last(self, group: str) -> None:
        self.running[group].pop().stop()

    def _wait_members(self, group: str, count: int) -> None:
        def reached() -> bool:
            document = self.witness.groups().get(group)
            return document is not None and len(document["members"]) == count

        wait_until(reached, f"{group} has {count} members")

    def _wait_rest(self, counts: Mapping[str, int], *, ends: int) -> None:
        """Wait until groups have this many members, own all of their partitions and have committed the end."""
        missing: list[str] = []

        def resting() -> bool:
            try:
                groups = self.witness.groups()
            except ChildProcessError as error:  # such as of a topic that is being deleted
                missing[:] = [str(error)]
                return False
            missing[:] = [
                f"{group}: {count} wanted; {groups.get(group)}"
                for group, count in counts.items()
                if not _rests(groups.get(group), count, ends, late=ends > RECORDS)
            ]
            return not missing

        wait_until(resting, lambda: f"groups rest: {missing}; {self._last_words(missing)}", every_s=0.3)

    def _last_words(self, missing: Iterable[str]) -> dict[str, str]:
        groups = [line.partition(":")[0] for line in missing]
        return {member.name: member.log.tail() for group in groups for member in self.running.get(group, ())}

    def _produce(self, topic: str, partitions: int) -> None:
        producer = Producer({"bootstrap.servers": self.broker.bootstrap})
        for number in range(RECORDS * partitions):
            producer.produce(topic, value=str(number).encode(), partition=number % partitions)
        producer.flush(30)

    def _set_session(self, group: str, session_ms: int) -> None:
        settings = {"consumer.session.timeout.ms": str(session_ms)}
        set_config(self.broker, ResourceType.GROUP, group, settings)

    def _commits(self) -> None:
        commit(self.broker, "simple", PAYMENTS, {0: 4, 1: 5, 2: 6})
        commit(self.broker, "simple", ORDERS, {3: 1})
        commit(self.broker, "simple", ORDERS, {3: 2})
        commit(self.broker, UNICODE, PAYMENTS, {0: 1})
        commit(self.broker, "deleted-simple", PAYMENTS, {0: 1, 1: 1})
        commit(self.broker, "of-a-deleted-topic", GONE, {0: 1, 1: 2})
        commit(self.broker, "of-a-deleted-topic", PAYMENTS, {1: 2})
        commit_plainly(self.broker, "with-retention", PAYMENTS, 2, 7, retention=timedelta(days=1))

    def _transactions(self) -> None:
        """Run transactions that are committed, aborted, and left open until the next chapter or forever."""
        commit(self.broker, "transactional", PAYMENTS, {1: 1, 2: 1})
        self._in_transaction(self.shop, {"transactional": {0: 3}, "transactional-only": {0: 1, 1: 1}})
        self.shop.commit_transaction(30)
        self._in_transaction(self.shop, {"transactional": {1: 99}, "aborted-only": {0: 99}})
        self.shop.abort_transaction(30)
        # Another commit of the same partition overtakes this one, which ends in the next chapter.
        self._in_transaction(self.shop, {"transactional": {1: 50, 2: 8}, "ends-later": {0: 8}})
        commit(self.broker, "transactional", PAYMENTS, {1: 60})
        self._member_of_a_transaction()

    def _member_of_a_transaction(self) -> None:
        """A member that commits its position with its generation, and stays."""
        consumer = Consumer(
            {
                "bootstrap.servers": self.broker.bootstrap,
                "group.id": "transactional-member",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "session.timeout.ms": LONG_SESSION_MS,
                "max.poll.interval.ms": LONG_SESSION_MS,
                "log_level": SILENT,
            }
        )
        consumer.subscribe([PAYMENTS])
        wait_until(lambda: consumer.poll(0.1) is None and consumer.assignment(), "a member has partitions")
        self.clients.append(consumer)
        self.till.begin_transaction()
        places = [TopicPartition(PAYMENTS, partition, partition, METADATA) for partition in range(3)]
        self.till.send_offsets_to_transaction(places, consumer.consumer_group_metadata(), 30)
        self.till.commit_transaction(30)

    def _more_transactions(self) -> None:
        self.shop.commit_transaction(30)
        # Never ended: the broker is killed first.
        self._in_transaction(self.shop, {"transactional": {0: 77}, "pending-only": {0: 77}})

    def _in_transaction(self, producer: Producer, offsets: Mapping[str, Mapping[int, int]]) -> None:
        producer.begin_transaction()
        producer.produce(PAYMENTS, value=b"paid", partition=0)
        for group, places in offsets.items():
            consumer = Consumer({"bootstrap.servers": self.broker.bootstrap, "group.id": group})
            producer.send_offsets_to_transaction(
                [TopicPartition(PAYMENTS, partition, offset) for partition, offset in places.items()],
                consumer.consumer_group_metadata(),
                30,
            )
            consumer.close()

    def _transactional(self, name: str) -> Producer:
        producer = Producer(
            {
                "bootstrap.servers": self.broker.bootstrap,
                "transactional.id": name,
                "transaction.timeout.ms": 900_000,
                "log_level": SILENT,
            }
        )
        producer.init_transactions(30)
        return producer


def _rests(group: Document | None, members: int, ends: int, *, late: bool) -> bool:
    if group is None or len(group["members"]) != members:
        return False
    # A static member that has left temporarily counts as one that has not reached its target.
    away = any(one["epoch"] == STATIC_LEAVE_EPOCH for one in group["members"])
    if group["state"] != ("Reconciling" if away else "Stable" if members else "Empty"):
        return False
    if not members:
        return True
    owned = [(topic, number) for one in group["members"] for topic, n in one["owned"].items() for number in n]
    expected = [(ORDERS, number) for number in range(TOPICS[ORDERS])]
    expected += [(PAYMENTS, number) for number in range(TOPICS[PAYMENTS])] if _has(group, PAYMENTS) else []
    expected += [(LATE, number) for number in range(2)] if late and "regex" in group["group"] else []
    if sorted(owned) != sorted(expected):
        return False
    java = all(one["client_id"].startswith("java-") for one in group["members"])
    if java and any(row["committed"] is None for row in group["offsets"]):
        return False  # Java commits its position in partitions without records, too
    committed = {row["partition"]: row["committed"] for row in group["offsets"] if row["topic"] == ORDERS}
    return group["type"] == "share" or committed == dict.fromkeys(range(TOPICS[ORDERS]), ends)


def _has(group: Document, topic: str) -> bool:
    return group["group"] == "topics-changed" and any(topic in one["owned"] for one in group["members"])


class BusyCommitter:
    """A thread that commits ever higher offsets, one after another, as long as the broker lives. `acknowledged` is the
    last one whose commit was answered; one more may have been sent."""

    PAUSE_S = 0.005

    def __init__(self, broker: Broker) -> None:
        self.broker, self.acknowledged = broker, 0
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()
        wait_until(lambda: self.acknowledged, "a busy group has committed")

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._stopping.wait(self.PAUSE_S):
            try:
                commit_plainly(self.broker, BUSY, PAYMENTS, 0, self.acknowledged + 1)
            except OSError:  # the broker was killed
                return
            self.acknowledged += 1


Start = Callable[[Members, Broker, str], Member]


def _confluent(*topics: str, **settings: Setting) -> Start:
    return lambda members, broker, group: members.confluent(
        broker, group, topics or (ORDERS,), **_quick(settings)
    )


def _java(*topics: str, re2: str | None = None, **settings: Setting) -> Start:
    return lambda members, broker, group: members.java(
        broker, group, topics or (ORDERS,), re2=re2, own_process=False, **_quick(settings)
    )


def _quick(settings: Mapping[str, Setting]) -> dict[str, Any]:
    """Commit often; in a classic group, stay for a long time without a heartbeat."""
    asked: dict[str, Any] = {"auto_commit_interval_ms": 200, **settings}
    if settings.get("group_protocol") != "consumer":
        asked.setdefault("session_timeout_ms", LONG_SESSION_MS)
    return asked


def _java_strategy(assignor: str, **settings: Any) -> Start:
    return _java(partition_assignment_strategy=f"{JAVA}{assignor}", **settings)


def _static(seat: str) -> Start:
    return _java_strategy("StickyAssignor", group_instance_id=seat)


def _share(members: Members, broker: Broker, group: str) -> Member:
    return members.share(broker, group, [ORDERS])


def _streams(members: Members, broker: Broker, group: str) -> Member:
    return members.streams(broker, group, [ORDERS], commit_interval_ms=200, auto_offset_reset="earliest")


_RANGE = _confluent(partition_assignment_strategy="range")
_COOPERATIVE = _confluent(partition_assignment_strategy="cooperative-sticky")
_CONSUMER = _confluent(group_protocol="consumer")
_JAVA_CONSUMER = _java(group_protocol="consumer", client_rack="a")
_REGEX = "^orders.*$"

_FIRST: Mapping[str, Sequence[Start]] = {
    "range": [_RANGE, _RANGE],
    "roundrobin": [_confluent(partition_assignment_strategy="roundrobin")] * 2,
    "cooperative": [_COOPERATIVE, _COOPERATIVE],
    "java-range": [_java_strategy("RangeAssignor")],
    "java-cooperative": [_java_strategy("CooperativeStickyAssignor")],
    "static": [_static("seat-0"), _static("seat-1")],
    "topics-changed": [_java_strategy("RangeAssignor")],
    "consumer": [_CONSUMER, _CONSUMER],
    "consumer-static": [
        _confluent(group_protocol="consumer", group_instance_id=f"seat-{number}") for number in range(2)
    ],
    "consumer-range": [_confluent(group_protocol="consumer", group_remote_assignor="range")],
    "java-consumer": [_JAVA_CONSUMER],
    "regex": [_confluent(_REGEX, group_protocol="consumer")],
    "java-regex": [_java(re2=_REGEX, group_protocol="consumer")],
    "upgraded": [_java(), _java()],
    "downgraded": [_java(), _JAVA_CONSUMER],
    "mixed": [_java(), _JAVA_CONSUMER],
    "crash-classic": [_RANGE, _confluent(session_timeout_ms=CRASH_SESSION_MS)],
    "crash-consumer": [_CONSUMER, _CONSUMER],
    "dying-classic": [_RANGE, _RANGE],
    "dying-consumer": [_CONSUMER, _CONSUMER],
    "emptied-classic": [_RANGE],
    "emptied-consumer": [_JAVA_CONSUMER],
    "deleted-consumer": [_JAVA_CONSUMER],
    "share": [_share],
    "streams": [_streams],
}
_CONVERTED = ("downgraded", "mixed")
"""Groups that a member of the consumer protocol converts. In the middle of their first rebalance Kafka 4.3.1 answers it
with UNKNOWN_SERVER_ERROR: no protocol is chosen yet (NoSuchElementException in ConsumerGroup.fromClassicGroup)."""
_JOINERS: Mapping[str, Start] = {
    "range": _RANGE,
    "cooperative": _COOPERATIVE,
    "java-cooperative": _java_strategy("CooperativeStickyAssignor"),
    "java-consumer": _JAVA_CONSUMER,
    "share": _share,
    "streams": _streams,
}


def commit(broker: Broker, group: str, topic: str, offsets: Mapping[int, int]) -> None:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group})
    places = [TopicPartition(topic, number, offset, METADATA) for number, offset in offsets.items()]
    answered: list[Any] = consumer.commit(offsets=places, asynchronous=False) or []
    consumer.close()
    if any(partition.error is not None for partition in answered):
        raise KafkaException(f"{group}: {answered}")


def commit_plainly(
    broker: Broker, group: str, topic: str, partition: int, offset: int, *, retention: timedelta | None = None
) -> None:
    """Commit an offset with a retention time, as only old clients can: its value then has version 1. OSError if the
    broker does not answer, KafkaException if it refuses."""
    entry = {"partition_index": partition, "committed_offset": offset, "committed_metadata": METADATA}
    answer = ask(
        broker.port,
        "OffsetCommit",
        2,
        group_id=group,
        retention_time=-1 if retention is None else retention // timedelta(milliseconds=1),
        topics=[{"name": topic, "partitions": [entry]}],
    )
    refused = [one for it in answer.topics for one in it.partitions if one.error_code is not ErrorCode.none]
    if refused:
        raise KafkaException(f"{group}: {refused}")
