"""Plays an incident with real consumers on a real broker, while records are written to its topics."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin._resource import ResourceType

from coordinator.faults import ChangeTopic
from coordinator.simulation.scenario import Event, Restart, Start
from tests.incidents.stories import Incident
from tests.kafka.broker import Broker
from tests.kafka.groups import describe
from tests.kafka.java_host import JavaHost
from tests.kafka.story_player import LateError, StoryPlayer
from tests.kafka.topics import set_config
from tests.kafka.wire import ask

WRITE_EVERY_S = 0.1
START_S = 3.0


def _start_s(event: Event) -> float | None:
    match event:
        case Start():
            return event.at
        case Restart():
            return event.at + event.after_s
    return None


class IncidentPlayer(StoryPlayer):
    """`gate`: all that wait at it begin together."""

    def __init__(
        self,
        broker: Broker,
        shared: JavaHost,
        jars: Path,
        incident: Incident,
        *,
        gate: threading.Barrier | None,
        attempt: int,
    ) -> None:
        super().__init__(broker, shared, jars, incident.scenario)
        self.incident = incident
        self.group = incident.group if attempt == 1 else f"{incident.group}.{attempt}"
        self.prefix = f"{self.group}."
        self.gate = gate
        self.topics = {self.prefix + topic: count for topic, count in incident.scenario.topics.items()}

    def play_incident(self) -> int:
        """When it began, in µs since 1970. Raises LateError: the machine is too busy."""
        if self.incident.settings:
            set_config(self.broker, ResourceType.GROUP, self.group, self.incident.settings)
        self.play()
        self._check_starts()
        return int(time.time_ns() / 1e3 - (time.monotonic() - self.began) * 1e6)

    def _check_starts(self) -> None:
        """Raise LateError if a process took so long to start that its story became another one."""
        for name, processes in self.processes.items():
            planned = [
                _start_s(event) for event in self.scenario.events if getattr(event, "member", "") == name
            ]
            starts = [at_s for at_s in planned if at_s is not None]
            for process, at_s in zip(processes, starts, strict=True):
                # The first member is alone: nothing but the machine delays its assignment.
                kind = "started" if at_s else "assigned"
                heard = [event.heard_at for event in process.snapshot() if event.kind == kind]
                if not heard or heard[0] - self.began - at_s > START_S:
                    raise LateError(f"{self.group}: {name} did not start in time at {at_s:g} s")

    def _wait_for_others(self) -> None:
        if self.gate is not None:
            self.gate.wait()

    def _acts(self) -> list[Callable[[], None]]:
        removals = [partial(self._remove, *removal) for removal in self.incident.removals]
        return [*super()._acts(), *removals, self._keep_writing]

    def _change(self, event: ChangeTopic) -> None:
        name = self.prefix + event.topic
        if event.count is None:
            del self.topics[name]
        super()._change(event)
        if event.count is not None:
            self.topics[name] = event.count

    def _keep_writing(self) -> None:
        """Write evenly, as many records a second to each partition as the scenario says."""
        producer = Producer({"bootstrap.servers": self.broker.bootstrap, "log_level": 0, "linger.ms": 20})
        written = 0
        while (elapsed_s := time.monotonic() - self.began) < self.scenario.until_s:
            due = int(elapsed_s * self.scenario.records_per_s)
            for topic, count in list(self.topics.items()):
                # The producer learns late of partitions that are new, or gone.
                with suppress(KafkaException):
                    for partition in list(range(count)) * (due - written):
                        producer.produce(topic, b"", partition=partition)
            written = due
            producer.poll(0)
            time.sleep(WRITE_EVERY_S)
        producer.purge()

    def _remove(self, at_s: float, name: str) -> None:
        """Remove a member as AdminClient.removeMembersFromConsumerGroup does."""
        self._sleep_until(at_s)
        view = describe(self.broker, self.group)
        (member,) = [one for one in view.members if one.client_id == name] if view else []
        named = {
            "member_id": "" if member.instance else member.member_id,
            "group_instance_id": member.instance,
        }
        leaving = [{**named, "reason": "removed by an administrator"}]
        answer = ask(self.broker.port, "LeaveGroup", 5, group_id=self.group, members=leaving)
        if (codes := [answer.error_code.name, *(one.error_code.name for one in answer.members)]) != [
            "none"
        ] * 2:
            self.errors.append(ValueError(f"{self.group}: {name} is not removed: {codes}"))
