"""Consumers at work on a topic while a producer writes, and what must be true of them at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.kafka.broker import Broker
from tests.kafka.groups import GroupView, describe, wait_group
from tests.kafka.java_host import JavaHost
from tests.kafka.members import Members, fresh_name
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until
from tests.migration.end_to_end.application import Application, Subscription
from tests.migration.end_to_end.consumption import interleavings, lost, outside, overlaps, repeated
from tests.migration.end_to_end.journal import Journal, Partition
from tests.migration.end_to_end.producer import EVERY_S, SteadyProducer

PARTITIONS = 6
MEMBERS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """What to deploy; `subscribe` makes what each asks for of the common beginning of the topics' names."""

    library: str
    config: Mapping[str, str]
    static: bool = False
    polls_again: bool = False
    own_process: bool = False  # Each of Java in a JVM that ends with it
    every_s: float = EVERY_S  # How often a record is written to each partition
    subscribe: Callable[[str], Subscription] | None = None


@dataclass(slots=True, kw_only=True)
class Deployment:
    """Running consumers, and the producer whose records they consume."""

    broker: Broker
    group: str
    topics: Mapping[str, int]
    applications: Mapping[str, Application]
    """By the label that a plan calls them by: the instance id, else the client id."""
    producer: SteadyProducer
    stranger: Application
    """One that is not part of the deployment, not started: as its consumers were at the beginning."""

    def wait_stable(self, members: int | None = None) -> GroupView:
        return wait_group(self.broker, self.group, members=members or len(self.applications))

    def wait_rest(self) -> None:
        """Wait until no rebalance is in progress or about to start, with any members. Cooperative members rebalance
        once more when a Stable group leaves partitions without an owner."""

        def rests() -> bool:
            view = self.view()
            owned = sum(len(one.assignment.get(topic, ())) for one in view.members for topic in self.topics)
            return view.state == "Empty" or (view.state == "Stable" and owned == PARTITIONS)

        wait_until(rests, lambda: f"rest: {self.view()}")

    def view(self) -> GroupView:
        view = describe(self.broker, self.group)
        if view is None:
            raise LookupError(self.group)
        return view

    def journals(self) -> list[Journal]:
        everybody = [*self.applications.values(), self.stranger]
        return [journal for one in everybody for journal in one.journals()]

    def finish(self) -> Outcome:
        """End the producer, let the consumers reach the end, stop them, and judge what they wrote down. Raises:
        TimeoutError: a record was not consumed within 30 s."""
        produced = self.producer.stop()

        def missing() -> list[tuple[str, int, int]]:
            return lost(produced, self.journals())

        wait_until(lambda: not missing(), lambda: f"all is consumed but {missing()[:10]}", every_s=0.2)
        for one in [*self.applications.values(), self.stranger]:
            if one.running is not None:
                one.stop()
        return Outcome(produced=produced, journals=tuple(self.journals()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What was produced, and what the consumers wrote down to their end."""

    produced: Mapping[Partition, Sequence[int]]
    journals: tuple[Journal, ...]

    def check(self, *, repeats: bool = False) -> None:
        """Assert that no partition was consumed by two at once, that nothing is lost, and nothing consumed twice.
        With `repeats` records may be consumed twice, as after a process that was killed."""
        assert sum(map(len, self.produced.values())) > 0
        wrong: dict[str, Sequence[object]] = {
            "two held a partition at once": overlaps(self.journals),
            "consumed by one that did not hold the partition": outside(self.journals),
            "two consumed a partition at once": interleavings(self.journals),
            "lost": lost(self.produced, self.journals),
            "consumed twice": [] if repeats else repeated(self.journals),
        }
        problems = {what: them[:10] for what, them in wrong.items() if them}
        assert not problems, problems


@contextmanager
def deployed(
    fleet: Fleet, broker: Broker, jars: Path, hosts: Sequence[JavaHost], directory: Path
) -> Iterator[Deployment]:
    """Deploy `fleet` and wait until it has settled, with a producer at work; all ends with the context. Each consumer,
    and a stranger, has a separate JVM."""
    group, prefix = fresh_name("payments"), fresh_name("orders")
    topics = {f"{prefix}-eu": PARTITIONS // 2, f"{prefix}-us": PARTITIONS // 2}
    create_topics(broker, topics)
    subscription = fleet.subscribe(prefix) if fleet.subscribe else Subscription(topics=sorted(topics))
    producer = SteadyProducer(broker, topics, fleet.every_s)
    shared: dict[str, Any] = {"broker": broker, "group": group}
    with ExitStack() as stack:

        def application(number: int, host: JavaHost) -> Application:
            members = Members(host, jars, directory)
            stack.callback(members.end)
            name = f"{group}-m{number}"
            static = {"group.instance.id": f"{name}-place"} if fleet.static else {}
            return Application(
                name=name,
                library=fleet.library,
                **shared,
                subscription=subscription,
                config={"auto.commit.interval.ms": "1000", **fleet.config, **static},
                members=members,
                directory=directory,
                polls_again=fleet.polls_again,
                own_process=fleet.own_process,
            )

        *applications, stranger = [application(number, host) for number, host in enumerate(hosts, 1)]
        by_label = {one.config.get("group.instance.id", one.name): one for one in applications}
        parts: dict[str, Any] = {"applications": by_label, "producer": producer, "stranger": stranger}
        made = Deployment(topics=topics, **shared, **parts)
        producer.start()
        stack.callback(producer.stop)
        for number, one in enumerate(applications, 1):
            one.start()
            made.wait_stable(number)
        yield made
