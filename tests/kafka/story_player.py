"""Plays a story (`tests/coordinator/simulation/stories`) in real time with real consumers on a real broker."""

import json
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions

from coordinator.faults import ChangeTopic, FailCoordinator
from coordinator.simulation.scenario import (
    Assign,
    ChangeState,
    Close,
    Commit,
    EnforceRebalance,
    Event,
    Freeze,
    Kill,
    MemberScript,
    Pause,
    Restart,
    Scenario,
    Start,
    Subscribe,
    Unsubscribe,
)
from tests.coordinator.simulation.recordings import (
    Call,
    Course,
    MemberCourse,
    Topics,
    with_ranked_generations,
    without_repetitions,
)
from tests.kafka.broker import Broker
from tests.kafka.child import Child
from tests.kafka.coordinator import wait_topics_known
from tests.kafka.events import Event as Said
from tests.kafka.java_host import JavaHost
from tests.kafka.members import fresh_name
from tests.kafka.settings import DEFAULTS
from tests.kafka.topics import create_topics, delete_topic
from tests.kafka.wait import PATIENCE_S

JAVA_CLASSES = {
    "range": "org.apache.kafka.clients.consumer.RangeAssignor",
    "roundrobin": "org.apache.kafka.clients.consumer.RoundRobinAssignor",
    "sticky": "org.apache.kafka.clients.consumer.StickyAssignor",
    "cooperative-sticky": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
    "weighted": "WeightedAssignor",
    "weighted-cooperative": "WeightedAssignor$Cooperative",
}
OF_LIBRDKAFKA = {"metadata.max.age.ms": "topic.metadata.refresh.interval.ms"}
"""Settings that mean the same and have another name."""
UUID_SUFFIX = 37  # the end of a member id, after its client or instance id, which is the member's name here
LATE_S = 1.0  # an event so late makes another story of it


class LateError(Exception):
    """The machine was too busy to play the story as it is written."""


@dataclass(slots=True)
class Process:
    name: str  # in the events: no other process of any story has it
    host: JavaHost | None  # where a Java consumer lives; None is a consumer of librdkafka
    own: bool  # whether it has a separate JVM
    child: Child | None = None
    runs: bool = False
    events: list[Said] = field(default_factory=list)

    def start(self, asked: Mapping[str, object]) -> None:
        described = {**asked, "member": self.name, "kind": "consumer", "pollAgain": True}
        if self.host is not None:
            self.child = self.host.child
            self.host.start(described)
        else:
            self.child = Child([sys.executable, "-m", "tests.kafka.confluent_member", json.dumps(described)])
        self.runs = True

    def act(self, action: str, **fields: object) -> None:
        self._child.send(json.dumps({"do": action, "member": self.name, **fields}))

    def wait(self, kind: str) -> None:
        self._child.log.wait(
            lambda: any(one.kind == kind for one in self._said()), f"{self.name} {kind}", PATIENCE_S
        )

    def close(self) -> None:
        self.act("stop")
        self.runs = False
        self.wait("stopped")

    def kill(self) -> None:
        self._child.crash()
        self.runs = False

    def signal(self, number: int) -> None:
        self._child.process.send_signal(number)

    def snapshot(self) -> list[Said]:
        if self.child is not None:
            self.events = self._said()
        return self.events

    def end(self) -> None:
        if self.child is None:
            return
        if self.host is not None and not self.own:
            self.act("stop")
        else:
            self._child.crash()

    def _said(self) -> list[Said]:
        return self._child.log.of(self.name)

    @property
    def _child(self) -> Child:
        if self.child is None:
            raise ValueError(f"{self.name} was not started")
        return self.child


class StoryPlayer:
    def __init__(self, broker: Broker, shared: JavaHost, jars: Path, scenario: Scenario) -> None:
        self.broker = broker
        self.shared = shared
        self.jars = jars
        self.scenario = scenario
        self.group = fresh_name(scenario.name)
        # Topics keep their order under a common prefix.
        self.prefix = f"{self.group}."
        self.processes: dict[str, list[Process]] = {name: [] for name in scenario.members}
        self.errors: list[Exception] = []
        self.began = 0.0
        other = {key: value for key, value in scenario.settings.items() if DEFAULTS.get(key) != value}
        if other:
            raise ValueError(f"{scenario.name}: the broker of the stories has other settings than {other}")

    def play(self) -> Course:
        topics = {self.prefix + topic: count for topic, count in self.scenario.topics.items()}
        create_topics(self.broker, topics)
        wait_topics_known(self.broker, self.group, topics)
        self._write(topics)
        with ExitStack() as endings:
            for name in self.scenario.members:
                self._prepare(name, endings)
            self._warm_up()
            self._wait_for_others()
            self.began = time.monotonic()
            threads = [threading.Thread(target=act) for act in self._acts()]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            if self.errors:
                raise self.errors[0]
            self._sleep_until(self.scenario.until_s)
            return self._course()

    def _wait_for_others(self) -> None:
        """Return when the story may begin."""

    def _acts(self) -> list[Callable[[], None]]:
        """What is done at the same time: the events of each actor."""
        return [
            partial(self._follow, those, self.processes.get(who, []))
            for who, those in self._by_actor().items()
        ]

    def _write(self, topics: Mapping[str, int]) -> None:
        """Put a record into each partition: librdkafka commits nothing of one that it has read nothing of."""
        producer = Producer({"bootstrap.servers": self.broker.bootstrap})
        for topic, count in topics.items():
            for partition in range(count):
                producer.produce(topic, b"", partition=partition)
        producer.flush()

    def _by_actor(self) -> dict[str, list[Event]]:
        """Events by who does them: members, and the world, which is called by no name."""
        events: dict[str, list[Event]] = {}
        for event in self.scenario.events:
            who = "" if isinstance(event, ChangeTopic | FailCoordinator) else event.member
            events.setdefault(who, []).append(event)
        return events

    def _prepare(self, name: str, endings: ExitStack) -> None:
        """Start the JVMs that the member needs for itself: those that die or stand still alone."""
        mine = [event for event in self.scenario.events if getattr(event, "member", None) == name]
        alone = [isinstance(one, Kill | Freeze) or (isinstance(one, Restart) and one.kill) for one in mine]
        starts = sum(isinstance(one, Start | Restart) for one in mine)
        is_java = self.scenario.members[name].library == "java"
        for number in range(starts):
            is_alone = is_java and any(alone)
            host = JavaHost(self.jars) if is_alone else self.shared if is_java else None
            process = Process(name=f"{self.group}.{name}.{number}", host=host, own=is_alone)
            endings.callback(process.end)
            if is_alone and host is not None:
                endings.callback(host.crash)
            self.processes[name].append(process)

    def _warm_up(self) -> None:
        """Have the JVMs of single members load their classes: in a cold one a join takes a second or more."""
        cold = [
            (name, one) for name, those in self.processes.items() for one in those if one.host and one.own
        ]
        warming = []
        for name, process in cold:
            asked = self._asked(name, self.scenario.members[name])
            group = {"group.id": f"{process.name}.warm-up"}
            config = {
                key: value for key, value in asked["config"].items() if key != "group.instance.id"
            } | group
            one = Process(name=f"{process.name}.warm-up", host=process.host, own=True)
            one.start({**asked, "config": config, "listener": {}})
            warming.append(one)
        for one in warming:
            one.wait("assigned")
            one.close()

    def _follow(self, those: Sequence[Event], processes: Sequence[Process]) -> None:
        """Do the events of one actor, in order."""
        waiting = list(processes)
        current: Process | None = None
        try:
            for event in those:
                self._sleep_until(event.at)
                match event:
                    case Start(member=name):
                        current = waiting.pop(0)
                        current.start(self._asked(name, self.scenario.members[name]))
                    case Restart(member=name):
                        if current is not None and current.runs:
                            current.kill() if event.kill else current.close()
                        self._sleep_until(event.at + event.after_s)
                        current = waiting.pop(0)
                        current.start(self._asked(name, event.script))
                    case ChangeTopic():
                        self._change(event)
                    case FailCoordinator():
                        raise ValueError("the broker of the stories does not fail")
                    case _ if current is None:
                        raise ValueError(f"{event}: {self.scenario.name} does not start the member before")
                    case Close():
                        current.close()
                    case Kill():
                        current.kill()
                    case Pause():
                        current.act("pause", ms=int(event.for_s * 1000))
                    case Freeze():
                        self._freeze(current, event)
                    case EnforceRebalance():
                        current.act("enforce_rebalance")
                    case ChangeState():
                        current.act("change_state", state=event.state)
                    case Subscribe(member=name):
                        script = self.scenario.members[name]
                        current.act("subscribe", **self._subscription(script, event.topics, event.regex))
                    case Unsubscribe():
                        current.act("unsubscribe")
                    case Assign():
                        numbers = {self.prefix + topic: those for topic, those in event.partitions.items()}
                        current.act("assign", partitions=numbers)
                    case Commit():
                        current.act("commit")
        except Exception as error:
            self.errors.append(error)

    def _freeze(self, process: Process, event: Freeze) -> None:
        process.signal(signal.SIGSTOP)
        try:
            self._sleep_until(event.at + event.for_s)
        finally:
            process.signal(signal.SIGCONT)

    def _sleep_until(self, at_s: float) -> None:
        left = self.began + at_s - time.monotonic()
        if left < -LATE_S:
            raise LateError(f"{self.scenario.name}: what is to happen at {at_s:g} s is {-left:.1f} s late")
        time.sleep(max(left, 0))

    def _change(self, event: ChangeTopic) -> None:
        name = self.prefix + event.topic
        admin = AdminClient({"bootstrap.servers": self.broker.bootstrap})
        there = name in admin.list_topics(timeout=10).topics
        if there and event.deletes:
            delete_topic(self.broker, name)
        if event.count is None:
            return
        if there and event.recreate is None:
            admin.create_partitions([NewPartitions(name, event.count)])[name].result()
        else:
            create_topics(self.broker, {name: event.count})

    def _asked(self, name: str, script: MemberScript) -> dict[str, Any]:
        """What a member's process is asked for, by `java/Member.java`."""
        config = {
            "bootstrap.servers": self.broker.bootstrap,
            "group.id": self.group,
            # Of a classic member this is the beginning of its id, which assignors sort by.
            "client.id": name,
            "auto.offset.reset": "earliest",
            "group.protocol": script.protocol,
            **script.config,
        }
        if script.library != "java":
            config = {OF_LIBRDKAFKA.get(key, key): value for key, value in config.items()}
        if script.assignors:
            names = (
                [JAVA_CLASSES[one] for one in script.assignors]
                if script.library == "java"
                else script.assignors
            )
            config["partition.assignment.strategy"] = ",".join(names)
        for key, value in (
            ("group.remote.assignor", script.remote_assignor),
            ("group.instance.id", script.instance),
            ("client.rack", script.rack),
        ):
            if value is not None:
                config[key] = value
        return {
            **self._subscription(script, script.topics, script.regex),
            "config": config,
            "state": dict(script.state) if "weighted" in " ".join(script.assignors) else None,
            "listener": {
                method: {
                    "takesMs": int((one.takes_s or 0) * 1000),
                    "throws": one.throws,
                    "commits": one.commits,
                    "unsubscribes": one.unsubscribes,
                }
                for method, one in script.listener.items()
            },
        }

    def _subscription(
        self, script: MemberScript, topics: Sequence[str], regex: str | None
    ) -> dict[str, object]:
        """The fields of a command that subscribes, or (no topics, no regex) does not."""
        named = [self.prefix + topic for topic in topics]
        if regex is None:
            return {"topics": named}
        below = "^" + self.prefix.replace(".", "[.]") + regex.removeprefix("^")
        if script.library != "java":
            return {"topics": [below]}
        return {"topics": [], "re2" if script.protocol == "consumer" else "pattern": below}

    def _course(self) -> Course:
        running = [one for those in self.processes.values() for one in those if one.runs]
        for process in running:
            process.act("hold")
        for process in running:
            process.wait("holds")
        members = {name: self._member(those) for name, those in self.processes.items() if those}
        return with_ranked_generations(Course(members=members))

    def _member(self, processes: Sequence[Process]) -> MemberCourse:
        calls: list[Call] = []
        ids: list[tuple[str, ...]] = []
        final: Topics | None = None
        for process in processes:
            said = process.snapshot()
            ids.append(tuple(dict.fromkeys(event.member_id for event in said if event.member_id)))
            calls += [call for event in said if (call := self._call(event)) is not None]
            final = next((self._plain(event.partitions) for event in said if event.kind == "holds"), None)
        return MemberCourse(calls=without_repetitions(calls), final=final, ids=tuple(ids))

    def _call(self, event: Said) -> Call | None:
        at_s = max(event.heard_at - self.began, 0.0)
        if at_s > self.scenario.until_s:
            return None
        if event.kind in ("assigned", "revoked", "lost"):
            return Call(what=event.kind, partitions=self._plain(event.partitions), at_s=at_s)
        if event.kind == "warned":
            return Call(what="warning", message=event.reason or "", at_s=at_s)
        if event.kind in ("thrown", "error"):
            error, _, message = (event.reason or "").partition(": ")
            message = message.replace(self.prefix, "").replace(self.group, "GROUP")
            return Call(what=error.rpartition(".")[2], message=message, at_s=at_s)
        if event.kind == "assignor" and event.assignor:
            return self._assignor_call(dict(event.assignor), at_s)
        return None

    def _assignor_call(self, fields: dict[str, Any], at_s: float) -> Call:
        """A call of WeightedAssignor, with the names of members and topics as in the story."""
        if "topics" in fields:
            fields["topics"] = [topic.removeprefix(self.prefix) for topic in fields["topics"]]
        shares = {id_[:-UUID_SUFFIX]: dict(share) for id_, share in fields.get("members", {}).items()}
        for share in (fields, *shares.values()):
            if "partitions" in share:
                share["partitions"] = self._plain(share["partitions"])
        fields |= {"members": shares} if shares else {}
        fields.pop("member", None)
        return Call(what=fields.pop("call"), assignor=fields, at_s=at_s)

    def _plain(self, partitions: Topics) -> Topics:
        return {topic.removeprefix(self.prefix): list(those) for topic, those in partitions.items()}


def warm_up(play: Callable[[Scenario], Course]) -> None:
    """Have the shared JVM load the classes of both protocols: the first consumer is two seconds late otherwise."""
    for protocol in ("classic", "consumer"):
        play(
            Scenario(
                name="warm-up",
                topics={"orders": 1},
                members={"a": MemberScript(protocol=protocol, topics=("orders",))},
                events=(Start(at=0, member="a"), Close(at=3, member="a")),
                until_s=8,
            )
        )
