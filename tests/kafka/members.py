"""Consumers in separate processes, of every kind the tests need."""

import itertools
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from tests.kafka.broker import RunningBroker
from tests.kafka.child import Child
from tests.kafka.java_host import JavaHost
from tests.kafka.member import Member
from tests.kafka.other_programs import go_program, node_program
from tests.kafka.settings import HEARTBEAT_MS

Setting = str | int

POLL_MS = 100
OTHERS: Mapping[str, Callable[[], Sequence[str]]] = {
    "kafka-python": lambda: (sys.executable, "-m", "tests.kafka.kafka_python_member"),
    "aiokafka": lambda: (sys.executable, "-m", "tests.kafka.aiokafka_member"),
    "sarama": lambda: go_program("sarama"),
    "franz-go": lambda: go_program("franz"),
    "kafkajs": lambda: node_program("kafkajs_member.js"),
}
"""The command of a consumer's program, by its library."""
_numbers = itertools.count(1)


def fresh_name(prefix: str) -> str:
    return f"{prefix}-{os.getpid()}-{next(_numbers)}"


class Members:
    """Starts consumers and ends those that are left. Settings are keyword arguments with `_` for the `.` of Kafka's
    names. Consumers read from the beginning and, in a classic group, send a heartbeat every 0.5 s."""

    def __init__(self, shared: JavaHost, jars: Path, scratch: Path) -> None:
        self._shared = shared
        self._jars = jars
        self._scratch = scratch
        self._endings = ExitStack()
        self._kills: list[Callable[[], None]] = []
        self._hosted: list[str] = []

    def confluent(
        self,
        broker: RunningBroker,
        group: str,
        topics: Sequence[str],
        name: str = "",
        *,
        journal: Path | None = None,
        poll_again: bool = False,
        **settings: Setting,
    ) -> Member:
        """A consumer of librdkafka in a separate process; a topic that begins with `^` is a regex. With `journal` it
        writes down there what it consumes, with `poll_again` an exception does not end it (`confluent_member.py`)."""
        name = name or fresh_name("confluent")
        config = {"bootstrap.servers": broker.bootstrap, "group.id": group, "client.id": name}
        asked = {
            "member": name,
            "topics": list(topics),
            "config": {**config, **consuming(settings)},
            "journal": str(journal) if journal else None,
            "pollAgain": poll_again,
        }
        return self._own_process(name, [sys.executable, "-m", "tests.kafka.confluent_member"], asked)

    def other(
        self,
        library: str,
        broker: RunningBroker,
        group: str,
        topics: Sequence[str],
        name: str = "",
        *,
        journal: Path | None = None,
        **settings: Setting,
    ) -> Member:
        """A consumer of `library`, one of OTHERS, in a separate process. Its program has the settings that it takes."""
        name = name or fresh_name(library)
        config = {"bootstrap.servers": broker.bootstrap, "group.id": group, "client.id": name}
        asked = {
            "member": name,
            "topics": list(topics),
            "config": {**config, **consuming(settings)},
            "journal": str(journal) if journal else "",
        }
        return self._own_process(name, OTHERS[library](), asked)

    def _own_process(self, name: str, command: Sequence[str], asked: Mapping[str, object]) -> Member:
        child = Child([*command, json.dumps(asked)])
        self._endings.callback(child.crash)
        self._kills.append(child.crash)
        return Member(
            name=name,
            log=child.log,
            stop=lambda: child.stop(name),
            act=lambda action, **fields: child.send(json.dumps({"do": action, **fields})),
            crash=child.crash,
        )

    def java(
        self,
        broker: RunningBroker,
        group: str,
        topics: Sequence[str] = (),
        name: str = "",
        *,
        pattern: str | None = None,
        re2: str | None = None,
        own_process: bool = False,
        journal: Path | None = None,
        commit_when_revoked: bool = False,
        commit_when_consumed: bool = False,
        poll_again: bool = False,
        poll_ms: int = POLL_MS,
        **settings: Setting,
    ) -> Member:
        """Java's KafkaConsumer. `pattern` is matched by the client, `re2` by the broker; `own_process` (1 s more) alone
        can crash. `commit_when_revoked`: auto-commit of a cooperative member is done when a rebalance begins, and
        leaves what is consumed in it to be consumed again. `commit_when_consumed`: after each poll with records.
        `journal`, `poll_again`: as in `confluent_member.py`."""
        config = {"group.id": group, **consuming(settings)}
        asked = {
            "kind": "consumer",
            "topics": list(topics),
            "pattern": pattern,
            "re2": re2,
            "journal": str(journal) if journal else None,
            "commitWhenRevoked": commit_when_revoked,
            "commitWhenConsumed": commit_when_consumed,
            "pollAgain": poll_again,
            "pollMs": poll_ms,
        }
        return self._start_java(broker, name or fresh_name("java"), asked, config, own_process=own_process)

    def share(
        self,
        broker: RunningBroker,
        group: str,
        topics: Sequence[str],
        name: str = "",
        *,
        poll_ms: int = POLL_MS,
        **settings: Setting,
    ) -> Member:
        """Start Java's KafkaShareConsumer; what it holds only the broker knows (`groups.describe`)."""
        asked = {"kind": "share", "topics": list(topics), "pollMs": poll_ms}
        config = {"group.id": group, **dotted(settings)}
        return self._start_java(broker, name or fresh_name("share"), asked, config, own_process=False)

    def streams(
        self,
        broker: RunningBroker,
        group: str,
        topics: Sequence[str],
        name: str = "",
        *,
        counts: bool = False,
        **settings: Setting,
    ) -> Member:
        """A Kafka Streams application; `group` is its id. One that `counts` has two subtopologies."""
        name = name or fresh_name("streams")
        config = {
            "application.id": group,
            "group.protocol": "streams",
            "state.dir": str(self._scratch / name),
            **dotted(settings),
        }
        asked = {"kind": "streams", "topics": list(topics), "counts": counts}
        return self._start_java(broker, name, asked, config, own_process=False)

    def end(self) -> None:
        """Stop running consumers, kill separate processes. All are asked first: one that is left in a group with static
        members already gone waits for their sessions to end."""
        for name in self._hosted:
            self._shared.ask_to_stop(name)
        self._endings.close()

    def crash(self) -> None:
        """Kill all at once, the JVM they share too: for when the broker is gone, which a close would wait for."""
        for kill in self._kills:
            kill()

    def _start_java(
        self,
        broker: RunningBroker,
        name: str,
        asked: Mapping[str, object],
        settings: Mapping[str, Setting],
        *,
        own_process: bool,
    ) -> Member:
        host = JavaHost(self._jars) if own_process else self._shared
        config = {"bootstrap.servers": broker.bootstrap, "client.id": name, **settings}
        host.start({**asked, "member": name, "config": config})
        crash = host.crash if own_process else _cannot_crash
        if not own_process:
            self._hosted.append(name)
        self._endings.callback(host.crash if own_process else lambda: host.stop(name))
        self._kills.append(host.crash)
        return Member(
            name=name,
            log=host.log,
            stop=lambda: host.end(name) if own_process else host.stop(name),
            act=lambda action, **fields: host.act(name, action, **fields),
            crash=crash,
        )


def consuming(settings: Mapping[str, Setting]) -> dict[str, Setting]:
    asked = dotted(settings)
    quick: dict[str, Setting] = {"auto.offset.reset": "earliest"}
    if asked.get("group.protocol") != "consumer":
        # A classic member learns of a rebalance at a heartbeat. With the newer protocol the broker sets the
        # interval and the clients refuse their own.
        quick["heartbeat.interval.ms"] = HEARTBEAT_MS
    return {**quick, **asked}


def dotted(settings: Mapping[str, Setting]) -> dict[str, Setting]:
    return {key.replace("_", "."): value for key, value in settings.items()}


def _cannot_crash() -> None:
    raise ValueError("this consumer shares its JVM: start it with own_process=True to crash it")
