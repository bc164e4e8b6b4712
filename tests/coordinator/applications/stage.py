"""An application on a server: its consumers come and go while records are written, and each must be consumed once."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

from tests.coordinator.applications.clients import OFTEN_MS, Client
from tests.coordinator.applications.numbered import NumberedProducer
from tests.kafka.broker import Broker
from tests.kafka.events import Partitions
from tests.kafka.groups import GroupView, describe
from tests.kafka.java_host import JavaHost
from tests.kafka.members import Members, fresh_name
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until
from tests.migration.end_to_end.application import Application, Subscription
from tests.migration.end_to_end.consumption import interleavings, lost, overlaps, records, repeated
from tests.migration.end_to_end.journal import Journal, Partition

PARTITIONS = 6
BATCH = 20
ANSWER_S = 60.0
SESSION_MS = "6000"  # the shortest that a broker allows
LONG_SESSION_MS = "60000"  # longer than any machine takes to start a member again


@dataclass(slots=True, kw_only=True)
class Stage:
    """What runs where. `topics` are numbers of partitions by name, which begins with `prefix`; `applications` are the
    consumers of the group, in the order of their first start."""

    server: Broker
    client: Client
    members: Members
    directory: Path
    producer: NumberedProducer
    topics: dict[str, int]
    group: str
    prefix: str
    applications: list[Application] = field(default_factory=list)
    _restless: set[tuple[Partition, int]] = field(default_factory=set)
    """Records that were written while the group was not settled."""

    def start(
        self,
        *,
        subscription: Subscription | None = None,
        own_process: bool = False,
        settings: Mapping[str, str] | None = None,
    ) -> Application:
        """Start one more consumer; with a process `own_process` it can be killed."""
        made = Application(
            name=f"{self.group}-m{len(self.applications)}",
            library=self.client.library,
            broker=self.server,
            group=self.group,
            subscription=subscription or self.client.subscription(self.prefix, sorted(self.topics)),
            config={**self.config(self.client.settings), **(settings or {})},
            members=self.members,
            directory=self.directory,
            own_process=own_process,
        )
        self.applications.append(made)
        made.start()
        return made

    def config(self, settings: Mapping[str, str]) -> dict[str, str]:
        """The configuration of a consumer of this client's library, with these settings."""
        is_classic = settings.get("group.protocol") != "consumer"
        session = {"session.timeout.ms": SESSION_MS} if is_classic else {}
        metadata = {self.client.metadata: OFTEN_MS} if self.client.metadata else {}
        return {"auto.commit.interval.ms": OFTEN_MS, **session, **metadata, **settings}

    def running(self) -> list[Application]:
        return [one for one in self.applications if one.running is not None]

    def partitions(self) -> list[Partition]:
        return [(topic, number) for topic, count in self.topics.items() for number in range(count)]

    def topic_partitions(self) -> list[TopicPartition]:
        """All partitions, as confluent-kafka has them; each from the beginning."""
        return [TopicPartition(topic, number, OFFSET_BEGINNING) for topic, number in self.partitions()]

    def held(self) -> list[Partitions]:
        """What each of those that run holds, as its library says. ChildProcessError: one has ended"""
        for one in self.applications:
            if one.running is not None and one.running.log.ended:
                raise ChildProcessError(f"{one.name} has ended: {one.running.log.tail()}")
        return [one.running.assignment() for one in self.applications if one.running is not None]

    def view(self) -> GroupView:
        """The group as the server shows it. LookupError: it does not list it"""
        view = describe(self.server, self.group)
        if view is None:
            raise LookupError(self.group)
        return view

    def wait_rest(self) -> GroupView:
        """Wait until those that run hold all partitions between them, and the server shows the same; its view."""
        seen: list[object] = []

        def rests() -> GroupView | None:
            held, view = self.held(), describe(self.server, self.group)
            seen[:] = held, view
            owned = sorted((topic, number) for one in held for topic in one for number in one[topic])
            if owned != sorted(self.partitions()) or not all(held) or view is None or view.state != "Stable":
                return None
            shown = sorted(map(repr, (one.assignment for one in view.members)))
            return view if shown == sorted(map(repr, held)) else None

        return wait_until(rests, lambda: f"{self.group} is settled: {seen}")

    def write(self, count: int = BATCH, *, restless: bool = False) -> None:
        """Write `count` records to every partition; `restless` ones may be consumed twice."""
        before = {partition: len(self.producer.written[partition]) for partition in self.partitions()}
        self.producer.write(self.partitions(), count)
        for partition, first in before.items() if restless else ():
            offsets = sorted(self.producer.written[partition])[first:]
            self._restless |= {(partition, offset) for offset in offsets}

    def consume(self) -> None:
        """Wait until the group is settled, write, and wait until all is consumed."""
        self.wait_rest()
        self.write()
        self.wait_consumed()

    def wait_consumed(self) -> None:
        wait_until(lambda: not self._lost(), lambda: f"consumed: {self._lost()[:10]}", every_s=0.1)
        ends = {place: max(offsets) + 1 for place, offsets in self.producer.written.items() if offsets}
        wait_until(lambda: self.committed() == ends, lambda: f"{self.committed()} is {ends}", every_s=0.1)

    def committed(self) -> dict[Partition, int]:
        """The offsets that the group has committed, but for 0, which some libraries commit of an empty partition."""
        with Consumer({"bootstrap.servers": self.server.bootstrap, "group.id": self.group}) as consumer:
            offsets = consumer.committed(self.topic_partitions(), ANSWER_S)
        return {(one.topic, one.partition): one.offset for one in offsets if one.offset > 0}

    def journals(self) -> list[Journal]:
        return [journal for one in self.applications for journal in one.journals()]

    def finish(self) -> None:
        """Stop all, and check that every record was consumed once, as it was written, by who held its partition."""
        for one in self.running():
            one.stop()
        journals = self.journals()
        twice = [one for one in repeated(journals) if one[:2] not in self._restless]
        written, entries = self.producer.written, [one for journal in journals for one in records(journal)]
        wrong: dict[str, Sequence[object]] = {
            "two held a partition at once": overlaps(journals),
            "two consumed a partition at once": interleavings(journals),
            "lost": self._lost(),
            "consumed twice": twice,
            "not as it was written": [
                one for one in entries if written[one.partition].get(one.offset or 0) != one.content
            ],
        }
        problems = {what: them[:10] for what, them in wrong.items() if them}
        assert not problems, problems

    def _lost(self) -> list[tuple[str, int, int]]:
        return lost(self.producer.written, self.journals())


@contextmanager
def staged(server: Broker, client: Client, host: JavaHost, jars: Path, directory: Path) -> Iterator[Stage]:
    """A stage with a topic and no consumer yet; all consumers end with the context."""
    prefix = fresh_name("orders")
    topics = {f"{prefix}-eu": PARTITIONS}
    create_topics(server, topics)
    members = Members(host, jars, directory)
    with ExitStack() as stack:
        stack.callback(members.end)
        yield Stage(
            server=server,
            client=client,
            members=members,
            directory=directory,
            producer=NumberedProducer(server),
            topics=topics,
            group=fresh_name("app"),
            prefix=prefix,
        )
