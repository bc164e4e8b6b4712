"""Many services, each with a few consumers of librdkafka, in this process; a command restarts them one by one."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer

from tests.kafka.broker import RunningBroker
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until
from tests.migration.end_to_end.supervisor import answering, ctl, settings_in

SESSION_S = 20
CONFIG = {
    "session.timeout.ms": str(SESSION_S * 1000), "heartbeat.interval.ms": "1000", "auto.offset.reset": "earliest",
    "partition.assignment.strategy": "range",
}  # fmt: skip
BROKER: Mapping[str, Any] = {
    "group_consumer_min_session_timeout_ms": "6000", "group_consumer_session_timeout_ms": str(SESSION_S * 1000),
    "group_consumer_min_heartbeat_interval_ms": "1000", "group_consumer_heartbeat_interval_ms": "1000",
}  # fmt: skip
PARTITIONS = 4


@dataclass(slots=True, kw_only=True)
class Service:
    """A consumer: a client of librdkafka with its threads, and one of Python's that polls it."""

    name: str
    group: str
    bootstrap: str
    config: dict[str, str]
    starts: list[dict[str, str]] = field(default_factory=list)  # With which configuration
    read: set[tuple[int, int]] = field(default_factory=set)  # Partition and offset
    owned: int = 0  # Partitions
    _thread: threading.Thread | None = None
    _ends: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        self.starts.append(dict(self.config))
        self._ends.clear()
        self._thread = threading.Thread(target=self._consume, name=self.name, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._ends.set()
        if self._thread is not None:
            self._thread.join()
        self._thread = None

    def _consume(self) -> None:
        where = {"bootstrap.servers": self.bootstrap, "group.id": self.group, "client.id": self.name}
        consumer = Consumer({**where, **self.config})
        consumer.subscribe([self.group])
        while not self._ends.is_set():
            message = consumer.poll(0.5)
            self.owned = len(consumer.assignment())
            if message is not None and message.error() is None:
                self.read.add((message.partition() or 0, message.offset() or 0))
        with suppress(KafkaException):
            consumer.close()


Answer = Callable[[Service, dict[str, str]], int]


def restart(service: Service, config: dict[str, str]) -> int:
    service.stop()
    service.config = config
    service.start()
    return 0


def fail(_: Service, __: dict[str, str]) -> int:
    return 3


def stay_away(service: Service, _: dict[str, str]) -> int:
    service.stop()
    return 0


def forget_lines(service: Service, _: dict[str, str]) -> int:
    return restart(service, dict(CONFIG))


@dataclass(slots=True, kw_only=True)
class Farm:
    bootstrap: str
    services: Mapping[str, Service]  # By client id
    faults: Mapping[str, Answer] = field(default_factory=dict)  # By group; instead of `restart`
    calls: list[tuple[str, int]] = field(default_factory=list)  # Client id and step
    in_hand: list[set[str]] = field(default_factory=list)
    """The groups of which a member was being restarted, when each call began."""
    port: int = 0
    _acting: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def command(self) -> str:
        return ctl(self.port)

    @property
    def groups(self) -> Sequence[str]:
        return sorted({service.group for service in self.services.values()})

    def is_settled(self, records: int) -> bool:
        """Whether every record was read, and every consumer has partitions."""
        read = {group: set[tuple[int, int]]() for group in self.groups}
        for service in self.services.values():
            read[service.group] |= service.read
        is_read = all(len(offsets) == records for offsets in read.values())
        return is_read and all(service.owned for service in self.services.values())

    def answer(self, asked: Mapping[str, Any]) -> tuple[int, str]:
        service = self.services[asked["client_id"]]
        removed = asked["remove"].split(",")
        config = {key: value for key, value in CONFIG.items() if key not in removed}
        config |= settings_in(Path(asked["config"]).read_text())
        with self._lock:
            self.calls.append((service.name, int(asked["step"])))
            self._acting[service.group] = self._acting.get(service.group, 0) + 1
            self.in_hand.append({group for group, count in self._acting.items() if count})
        try:
            status = self.faults.get(service.group, restart)(service, config)
            return status, f"{asked['action']} {service.name}"
        finally:
            with self._lock:
                self._acting[service.group] -= 1


@contextmanager
def running_farm(broker: RunningBroker, sizes: Mapping[str, int], records: int = 200) -> Iterator[Farm]:
    """Services by group, with that many consumers each; they read a topic with the name of the group."""
    create_topics(broker, dict.fromkeys(sizes, PARTITIONS))
    bootstrap = broker.bootstrap
    producer = Producer({"bootstrap.servers": bootstrap})
    for group in sizes:
        for number in range(records):
            producer.produce(group, b"x", partition=number % PARTITIONS)
        producer.poll(0)
    assert producer.flush(60) == 0
    groups = {f"{group}-{number}": group for group, size in sizes.items() for number in range(1, size + 1)}
    services = {
        name: Service(name=name, group=group, bootstrap=bootstrap, config=dict(CONFIG))
        for name, group in groups.items()
    }
    farm = Farm(bootstrap=bootstrap, services=services)

    with answering(farm.answer) as farm.port:
        try:
            for service in services.values():
                service.start()
            wait_until(lambda: farm.is_settled(records), "all services read", timeout_s=120)
            yield farm
        finally:
            for service in services.values():
                service._ends.set()
            for service in services.values():
                service.stop()
