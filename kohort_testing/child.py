"""The process of a test's broker: `kohort serve`, and the requests of the test, a line of JSON each."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Unpack

from cli.app import main as kohort

if TYPE_CHECKING:
    from confluent_kafka import Consumer

    from cli.sources.wire_source import WireSource
    from groups.model import Group, Member
    from wire.messages.schemas.faults import KohortFaultRequestFields, KohortFaultResponse

TIMEOUT_MS = 30_000
POLL_S = 0.1
ANY_PARTITION = -1  # librdkafka's value: the partitioner chooses


class UnusableRequest(Exception):
    """A test's request cannot be executed."""


def main() -> None:
    """Serve until standard input ends."""
    threading.Thread(target=_control, name="control", daemon=True).start()
    kohort()


def _control() -> None:
    tests = Tests()
    for line in sys.stdin:
        request = json.loads(line)
        do, bootstrap = request.pop("do"), request.pop("bootstrap")
        try:
            answer = {"answer": ACTIONS[do](tests.of(bootstrap), **request)}
        except Exception as error:  # the test must get every error
            answer = {"error": str(error) or type(error).__name__}
        print(json.dumps(answer), flush=True)
    tests.end()
    os.kill(os.getpid(), signal.SIGTERM)


class Tests:
    """Clients of the server, which its faults do not affect, and the additional consumers of groups."""

    source: WireSource

    def __init__(self) -> None:
        self.bootstrap = ""
        self.joined: list[JoinedConsumer] = []

    def of(self, bootstrap: str) -> Tests:
        """This object, connected to the server."""
        if not self.bootstrap:
            from cli.sources.wire_source import WireSource
            from wire.client.security import ConnectionSettings
            from wire.messages.schemas.faults import FAULT_CLIENT

            self.bootstrap = bootstrap
            servers = tuple(bootstrap.split(","))
            settings = ConnectionSettings(
                bootstrap_servers=servers, client_id=FAULT_CLIENT, api_timeout_ms=TIMEOUT_MS
            )
            self.source = WireSource(settings)
        return self

    def asked(self, **request: Unpack[KohortFaultRequestFields]) -> KohortFaultResponse:
        from wire.client.faults import ask_for_fault

        return ask_for_fault(self.source.client, TIMEOUT_MS, **request)

    def described(self, group: str, *, offsets: bool = False) -> Group | None:
        """A group; None: it does not exist."""
        groups = self.source.describe([group], offsets=offsets).items
        return groups[0] if groups else None

    def end(self) -> None:
        for consumer in self.joined:
            consumer.ends.set()


def fault(tests: Tests, event: Mapping[str, object]) -> int:
    """Inject a fault. Returns the id of its rule, -1 for an immediate event."""
    from wire.messages.schemas.faults import DO

    return int(tests.asked(operation=DO, event=json.dumps(event)).rule)


def clear(tests: Tests, ids: list[int]) -> None:
    from wire.messages.schemas.faults import CLEAR

    tests.asked(operation=CLEAR, rules=ids or None)


def produce(tests: Tests, topic: str, values: list[str], key: str | None, partition: int | None) -> None:
    from confluent_kafka import KafkaError, Message, Producer

    failed: list[str] = []

    def written(error: KafkaError | None, _: Message) -> None:
        if error is not None:
            failed.append(str(error))

    producer = Producer({"bootstrap.servers": tests.bootstrap, "client.id": _client(), "linger.ms": 0})
    raw_key = None if key is None else key.encode("latin-1")
    where = ANY_PARTITION if partition is None else partition
    for value in values:
        producer.produce(topic, value.encode("latin-1"), raw_key, where, on_delivery=written)
    if producer.flush(TIMEOUT_MS / 1000):
        failed.append("the broker does not answer")
    if failed:
        raise UnusableRequest(f"{topic}: {failed[0]}")


def group(tests: Tests, group: str) -> dict[str, object]:
    description = tests.described(group)
    if description is None:
        return {"state": "Dead", "type": "", "members": [], "is_settled": False}
    members = [
        {
            "id": member.id,
            "client_id": member.client.id or "",
            "instance_id": member.instance,
            "partitions": _owned(member),
        }
        for member in description.members
    ]
    return {
        "state": description.state.value,
        "type": description.type.value,
        "members": members,
        "is_settled": description.state.value == "Stable" and _is_whole(tests, description),
    }


def _owned(member: Member) -> list[tuple[str, int]]:
    return [(topic, number) for topic, numbers in sorted((member.owned or {}).items()) for number in numbers]


def _is_whole(tests: Tests, group: Group) -> bool:
    """Whether all partitions of the members' topics have one owner (not between two cooperative rebalances)."""
    named = {topic for member in group.members if member.subscription for topic in member.subscription.topics}
    sizes = {topic.name: topic.partitions for topic in tests.source.topics(named, end_offsets=False).items}
    owned = [partition for member in group.members for partition in _owned(member)]
    expected = {(topic, number) for topic, size in sizes.items() for number in range(size)}
    return len(owned) == len(set(owned)) and expected <= set(owned)


def committed(tests: Tests, group: str) -> list[tuple[str, int, int]]:
    from groups.model import each_commit

    description = tests.described(group, offsets=True)
    return [
        (topic, number, commit.offset)
        for (topic, number), commit in each_commit(description.offsets if description else None)
        if commit.offset is not None
    ]


def join(tests: Tests, group: str) -> int:
    """Add a consumer to a group. Returns its number."""
    description = tests.described(group)
    if description is None or not description.members:
        raise UnusableRequest(f"group {group} has no members to join")
    tests.joined.append(JoinedConsumer(tests.bootstrap, description))
    return len(tests.joined) - 1


def leave(tests: Tests, number: int) -> None:
    tests.joined[number].end()


class JoinedConsumer:
    """An additional consumer in a group, polled by a thread."""

    def __init__(self, bootstrap: str, group: Group) -> None:
        from confluent_kafka import Consumer

        config: dict[str, object] = {
            "bootstrap.servers": bootstrap,
            "client.id": _client(),
            "group.id": group.id,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
        }
        if group.type.value == "consumer":
            config["group.protocol"] = "consumer"
        else:
            config["partition.assignment.strategy"] = group.protocol or "range"
            config["heartbeat.interval.ms"] = 300
        self.ends = threading.Event()
        self._consumer: Consumer = Consumer(config)
        self._consumer.subscribe(_subscription(group))
        self._thread = threading.Thread(target=self._poll, name="consumer", daemon=True)
        self._thread.start()

    def end(self) -> None:
        self.ends.set()
        self._thread.join()

    def _poll(self) -> None:
        while not self.ends.is_set():
            self._consumer.poll(POLL_S)
        self._consumer.close()


def _subscription(group: Group) -> list[str]:
    """The topics of the members, and their regexes in librdkafka's form."""
    topics: set[str] = set()
    for member in group.members:
        if member.subscription is not None:
            topics.update(member.subscription.topics)
            if member.subscription.regex:
                topics.add("^" + member.subscription.regex.removeprefix("^"))
    return sorted(topics)


def _client() -> str:
    """The client id that no fault affects."""
    from wire.messages.schemas.faults import FAULT_CLIENT

    return FAULT_CLIENT


ACTIONS: Mapping[str, Callable[..., object]] = {
    action.__name__: action for action in (fault, clear, produce, group, committed, join, leave)
}

if __name__ == "__main__":
    main()
