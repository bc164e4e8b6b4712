"""Plays calls to an engine on a clock that is set by the test, and keeps the answers by ticket."""

from copy import deepcopy
from dataclasses import asdict
from typing import Any, TypeVar
from uuid import UUID

from coordinator.configs.settings import Config
from coordinator.engine.calls import Call, CoordinatorResult, Repeat, Request
from coordinator.engine.classic.heartbeat import Heartbeat
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat
from coordinator.engine.consumer.member import ConsumerMember
from coordinator.engine.engine import Engine
from coordinator.engine.records import Record
from coordinator.engine.topics import TopicImage, TopicInfo

A = TypeVar("A")

START_MS = 1_700_000_000_000


class Driver:
    """An engine that rebalances and assigns without delay, unless the settings say otherwise; with TOPICS."""

    def __init__(self, topics: TopicImage | None = None, **settings: str) -> None:
        named = {name.replace("_", "."): value for name, value in settings.items()}
        for delay in ("group.initial.rebalance.delay.ms", "group.consumer.assignment.interval.ms"):
            named.setdefault(delay, "0")
        self.engine = Engine(Config.parse(named), TOPICS if topics is None else topics)
        self.now_ms = START_MS
        self.records: list[Record] = []
        self.made = 0  # How many of the records came from the engine
        self.answers: dict[int, Any] = {}
        self.tickets = 0
        self.take(self.engine.loaded(self.now_ms))

    def send(self, request: Request[Any]) -> int:
        """Play a call, and everything that is due at once; the ticket, answered or not."""
        self.tickets += 1
        call = Call(
            ticket=self.tickets,
            request=request,
            now_ms=self.now_ms,
            client_id="c",
            host="/127.0.0.1",
            fresh_id=UUID(int=self.tickets),
        )
        check_repeats(self.engine, call)
        self.take(self.engine.handle(call))
        self.run_due()
        return call.ticket

    def ask(self, request: Request[Any], kind: type[A]) -> A:
        return self.answer(self.send(request), kind)

    def answer(self, ticket: int, kind: type[A]) -> A:
        answer = self.answers[ticket]
        assert isinstance(answer, kind)
        return answer

    def waits(self, ticket: int) -> bool:
        return ticket not in self.answers

    def advance(self, ms: int) -> None:
        end = self.now_ms + ms
        while (deadline := self.engine.next_deadline()) is not None and deadline <= end:
            self.now_ms = max(self.now_ms, deadline)
            self.take(self.engine.expire(self.now_ms))
        self.now_ms = end

    def run_due(self) -> None:
        self.advance(0)

    def take(self, result: CoordinatorResult) -> None:
        self.records += result.records
        self.made += len(result.records)
        for ticket, answer in result.answers:
            assert ticket not in self.answers, f"ticket {ticket} was answered twice"
            self.answers[ticket] = answer

    def move(self, *groups: str) -> None:
        """Another broker coordinates these groups from now on; all of them where none is named."""
        belongs = (lambda group: group in groups) if groups else (lambda _: True)
        self.take(self.engine.unload(belongs, self.now_ms))
        self.take(self.engine.load(belongs, self.now_ms))
        self.run_due()

    def restart(self) -> None:
        """Replay all records into a new engine, as after a crash. The old one's groups, unloaded and loaded, are the
        same, unless a test has added records that it never saw."""
        old, self.engine = self.engine, Engine(self.engine.config, self.engine.topics)
        for record in self.records:
            self.engine.replay(record)
        self.take(self.engine.loaded(self.now_ms))
        old.unload(lambda _: True, self.now_ms)
        old.load(lambda _: True, self.now_ms)
        if len(self.records) == self.made:
            assert whole(old) == whole(self.engine)
            assert set(old.timers()) == set(self.engine.timers())


def check_repeats(engine: Engine, call: Call) -> None:
    """Play a call on a copy: heartbeats before it that can be repeated after it are still answered the same."""
    engine = deepcopy(engine)
    beats: list[tuple[Any, object, Repeat]] = []
    for group in [*engine.state.groups.values()]:
        for member in [*group.members.values()]:
            of = {"group": group.id, "member": member.id, "instance": member.instance}
            request: Any = Heartbeat(**of, generation=getattr(group, "generation", 0))
            if isinstance(member, ConsumerMember):
                request = ConsumerGroupHeartbeat(**of, epoch=max(1, member.epoch))
            answer = dict(engine.handle(call._replace(ticket=0, request=request)).answers)[0]
            repeat = engine.steady(request, answer, (call.client_id, call.host))
            if repeat is not None:
                beats.append((request, answer, repeat))
    engine.handle(call)
    for request, answer, repeat in beats:
        if repeat(call.now_ms + 1):
            timers = engine.timers(), engine.session_deadline(request.group, request.member)
            again = engine.handle(call._replace(ticket=0, request=request, now_ms=call.now_ms + 1))
            assert again == CoordinatorResult(answers=((0, answer),))
            assert timers == (engine.timers(), engine.session_deadline(request.group, request.member))


def whole(engine: Engine) -> dict[str, dict[str, Any]]:
    """All there is of each group but what a log need not say: since when, and how large a broker's map was once."""
    groups = engine.state.groups.values()
    shown = {group.id: vars(group) if isinstance(group, ConsumerGroup) else asdict(group) for group in groups}
    left_out = ("capacity", "_capacity", "client", "state_since_ms")
    return {
        group: {name: value for name, value in fields.items() if name not in left_out}
        for group, fields in shown.items()
    }


def topic(name: str, partitions: int = 4) -> TopicInfo:
    return TopicInfo(name=name, id=UUID(bytes=name.encode().rjust(16, b"\1")), partitions=partitions)


TOPICS = TopicImage.of([topic("t1"), topic("t2"), topic("foo", 6), topic("bar", 3)], version=1)
