"""The broker of a test: `kohort serve` in a process that answers lines of JSON, and exits at the end of its input."""

import json
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self


class _Ended(ABC):
    """Ends at the end of its `with` block, at the latest."""

    @abstractmethod
    def _end(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()


class Fault(_Ended):
    """An active fault, until it is cleared: at the latest at the end of its `with` block."""

    def __init__(self, faults: "Faults", number: int) -> None:
        self._faults = faults
        self.id = number

    def clear(self) -> None:
        """Remove the fault."""
        self._faults.clear(self.id)

    _end = clear


class Faults:
    """Injects faults. Times are in seconds. Conditions of `delay`, `error` and `drop`: `api` (names), `client`, `group`
    and `topic` (with * and ?), `member`, `times` (number of requests), `lasts` (seconds), `chance` and `seed`."""

    def __init__(self, ask: Callable[..., Any]) -> None:
        self._ask = ask

    def delay(self, seconds: float, most: float | None = None, **conditions: object) -> Fault:
        """Delay requests by `seconds`, or by a random time up to `most`."""
        return self._rule({"delay": seconds if most is None else [seconds, most]}, conditions)

    def error(self, code: str, **conditions: object) -> Fault:
        """Answer requests with an error of Kafka, by name."""
        return self._rule({"error": code}, conditions)

    def drop(self, *, connection: bool = False, **conditions: object) -> Fault:
        """Do not answer requests; or close their `connection`."""
        return self._rule({"drop": "connection" if connection else "answer"}, conditions)

    def expire(self, group: str, member: str) -> None:
        """Expire the session of a member: member id, instance id or client id."""
        self._do(expire=member, group=group)

    def fence(self, group: str, member: str) -> None:
        """Replace a static member with another process; a dynamic member is removed."""
        self._do(fence=member, group=group)

    def disconnect(self, client: str) -> None:
        """Close the connections of a client id."""
        self._do(disconnect=client)

    def move(self, group: str, *, to: int | None = None, loading: float = 0.0) -> None:
        """Move the coordinator of a group to the next broker, or to broker `to`; it loads for `loading` seconds."""
        target = {} if to is None else {"to": to}
        self._do(coordinator="move", group=group, **target, **{"for": loading})

    def crash(self, group: str, *, lasts: float = 0.0) -> None:
        """Stop the broker that coordinates a group; it restarts after `lasts` seconds."""
        self._do(coordinator="crash", group=group, **{"for": lasts})

    def create(self, topic: str, partitions: int = 1) -> None:
        """Create a topic."""
        self._do(topic=topic, create=partitions)

    def grow(self, topic: str, partitions: int) -> None:
        """Increase the number of partitions of a topic to `partitions`."""
        self._do(topic=topic, partitions=partitions)

    def recreate(self, topic: str, partitions: int) -> None:
        """Delete a topic and create it again, with another id."""
        self._do(topic=topic, recreate=partitions)

    def delete(self, topic: str) -> None:
        """Delete a topic."""
        self._do(topic=topic, delete=True)

    def clear(self, *ids: int) -> None:
        """Remove the active faults with these ids, or all."""
        self._ask("clear", ids=list(ids))

    def _rule(self, event: dict[str, object], conditions: dict[str, object]) -> Fault:
        lasts = conditions.pop("lasts", None)
        api = conditions.get("api")
        if isinstance(api, Sequence) and not isinstance(api, str):
            conditions["api"] = list(api)
        if lasts is not None:
            conditions["for"] = lasts
        return Fault(self, self._do(**event, **conditions))

    def _do(self, **event: object) -> int:
        number: int = self._ask("fault", event=event)
        return number


HOST = "127.0.0.1"
QUICK: Mapping[str, object] = {
    "group.initial.rebalance.delay.ms": 0,
    "group.min.session.timeout.ms": 1_000,
    "group.consumer.min.heartbeat.interval.ms": 100,
    "group.consumer.heartbeat.interval.ms": 300,
    "group.consumer.assignment.interval.ms": 0,
}
"""Settings with which groups settle quickly; a test's settings are added to them."""
PATIENCE_S = 30.0
PAUSE_S = 0.05
ENDING_S = 10.0


class KohortBrokerError(Exception):
    """The broker could not be started, or refuses a test's request."""


class NotInTime(AssertionError):
    """The condition that a test waits for was not met in time."""


@dataclass(frozen=True, kw_only=True)
class MemberState:
    """A member of a group, in the coordinator's view. `partitions` are (topic, number), in order."""

    id: str
    client_id: str
    instance_id: str | None
    partitions: tuple[tuple[str, int], ...]


@dataclass(frozen=True, kw_only=True)
class GroupState:
    """A group, in the coordinator's view. `type` is classic or consumer; `state` is Kafka's: Stable, Empty, ….
    `is_settled`: it is Stable, and every partition of its members' topics has one owner."""

    state: str
    type: str
    members: tuple[MemberState, ...]
    is_settled: bool


class AdditionalConsumer(_Ended):
    """An additional consumer in a group, until it leaves."""

    def __init__(self, ask: Callable[..., object], number: int) -> None:
        self._ask = ask
        self._number: int | None = number

    def leave(self) -> None:
        """Leave the group; does nothing if it has left."""
        if self._number is not None:
            self._ask("leave", number=self._number)
            self._number = None

    _end = leave


class KohortBroker(_Ended):
    """A broker, or several of one cluster, on loopback and in memory. Use it in a `with` block."""

    def __init__(
        self,
        *,
        brokers: int = 1,
        topics: Mapping[str, int] | None = None,
        config: Mapping[str, object] | None = None,
    ) -> None:
        """`topics`: partitions by name; `config`: the broker's settings. Raises KohortBrokerError: it does not
        start."""
        words = ["--listen", f"{HOST}:0"]
        if brokers != 1:
            words += ["--brokers", str(brokers)]
        for name, partitions in (topics or {}).items():
            words += ["--topic", f"{name}:{partitions}"]
        for name, value in {**QUICK, **(config or {})}.items():
            words += ["--config", f"{name}={_text(value)}"]
        self._output = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115  (closed by close)
        # -P: a folder of the project with the name of a package of Kohort must not be imported instead.
        # A new session: Ctrl-C ends the tests, and they stop the broker.
        self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-P", "-m", "kohort_testing.child", "serve", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._output,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )
        listening = self._read()
        if not listening.startswith("Listening on "):
            self.close()
            raise KohortBrokerError(f"kohort serve does not start: {self.output}")
        self.bootstrap_servers = listening.removeprefix("Listening on ").replace(" ", "").strip()
        """HOST:PORT, separated by commas."""
        self.fault = Faults(self._ask)

    def create_topic(self, name: str, partitions: int = 1) -> None:
        """Create a topic. Raises KohortBrokerError: it already exists."""
        self.fault.create(name, partitions)

    def produce(
        self, topic: str, *values: str | bytes, key: str | bytes | None = None, partition: int | None = None
    ) -> None:
        """Write records, and wait until the broker has stored them."""
        texts = [_latin(value) for value in values]
        self._ask("produce", topic=topic, values=texts, key=key and _latin(key), partition=partition)

    def group(self, group: str) -> GroupState:
        """The current state of a group; one that does not exist is Dead and has no members."""
        state = self._ask("group", group=group)
        members = [
            MemberState(**{**member, "partitions": tuple(map(tuple, member["partitions"]))})
            for member in state.pop("members")
        ]
        return GroupState(**state, members=tuple(members))

    def committed(self, group: str) -> dict[tuple[str, int], int]:
        """The committed offsets of a group, by (topic, partition)."""
        return {(topic, number): offset for topic, number, offset in self._ask("committed", group=group)}

    def rebalance(self, group: str) -> AdditionalConsumer:
        """Add a consumer to a group, similar to its members, which commits nothing and leaves at the end of the block.
        Raises KohortBrokerError: the group has no members."""
        return AdditionalConsumer(self._ask, self._ask("join", group=group))

    def wait_until(
        self,
        condition: Callable[[], object],
        *,
        timeout: float = PATIENCE_S,
        polling: Callable[[], object] | None = None,
        why: Callable[[], str] = lambda: "the condition is not met",
    ) -> None:
        """Wait until a condition is true; `polling` polls your consumers meanwhile. Raises NotInTime."""
        end = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > end:
                raise NotInTime(f"{why()}, after {timeout:g} s")
            if polling is None:
                time.sleep(PAUSE_S)
            else:
                polling()

    def wait_until_stable(
        self,
        group: str,
        *,
        members: int | None = None,
        timeout: float = PATIENCE_S,
        polling: Callable[[], object] | None = None,
    ) -> GroupState:
        """Wait until a group is settled with `members` members; returns it. A member may still be about to call its
        listener. Raises NotInTime: after `timeout` seconds, with the group's last state."""

        def is_settled() -> bool:
            state = self.group(group)
            return state.is_settled and members in (None, len(state.members))

        def why() -> str:
            return f"group {group} is not settled: {self.group(group)}"

        self.wait_until(is_settled, timeout=timeout, polling=polling, why=why)
        return self.group(group)

    @property
    def output(self) -> str:
        """The output of the broker so far."""
        self._output.seek(0)
        return self._output.read()

    def close(self) -> None:
        """Stop the broker."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(ENDING_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _end(self) -> None:
        self.close()
        self._output.close()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _ask(self, do: str, **what: object) -> Any:
        """The answer of the process. Raises KohortBrokerError: it refuses, or has exited."""
        if self._process.stdin is None:
            raise RuntimeError("the process has a standard input")
        request = json.dumps({"do": do, "bootstrap": self.bootstrap_servers, **what})
        try:
            self._process.stdin.write(request + "\n")
            self._process.stdin.flush()
            answer = self._read()
        except (OSError, ValueError):
            answer = ""
        if not answer:
            raise KohortBrokerError(f"the broker has exited: {self.output}")
        answered = json.loads(answer)
        if "error" in answered:
            raise KohortBrokerError(answered["error"])
        return answered["answer"]

    def _read(self) -> str:
        """A line of its standard output; empty when it has exited."""
        return "" if self._process.stdout is None else self._process.stdout.readline()


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _latin(value: str | bytes) -> str:
    """Bytes in JSON, as Latin-1."""
    return (value.encode() if isinstance(value, str) else value).decode("latin-1")
