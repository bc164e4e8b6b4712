"""Plays calls to an engine on a clock that is set by the test, and keeps the answers by ticket."""

from dataclasses import asdict
from typing import Any, TypeVar
from uuid import UUID

from coordinator.configs.settings import Config
from coordinator.engine.calls import Call, CoordinatorResult, Repeat, Request
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.classic.heartbeat import Heartbeat
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat
from coordinator.engine.engine import STEADY, Engine
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
        self.steady: list[tuple[Request[Any], Any, Repeat]] = []  # Heartbeats with their answers
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
        self.take(self.handle_steadily(call) if type(request) in STEADY else self.engine.handle(call))
        self.run_due()
        return call.ticket

    def handle_steadily(self, call: Call) -> CoordinatorResult:
        """Handle a heartbeat. If it could have been repeated instead, the result is the same."""
        request: Any = call.request
        known = [steady for steady in self.steady if steady[0] == request]
        answers = [answer for _, answer, repeat in known if repeat(self.now_ms)]
        timers = self.engine.timers(), self.engine.session_deadline(request.group, request.member)
        result = self.engine.handle(call)
        for answer in answers:
            assert result == CoordinatorResult(answers=((call.ticket, answer),))
            assert timers == (
                self.engine.timers(),
                self.engine.session_deadline(request.group, request.member),
            )
        self.steady = [steady for steady in self.steady if steady not in known]
        answer = dict(result.answers)[call.ticket]
        repeat = self.engine.steady(request, answer, (call.client_id, call.host))
        if repeat is not None:
            self.steady.append((request, answer, repeat))
        return result

    def all_beat(self) -> None:
        """Every member sends its usual heartbeat; those that have sent one before, also in another epoch, repeat it."""
        requests: list[Request[Any]] = [request for request, _, _ in self.steady]
        for group in self.engine.state.groups.values():
            for member in group.members.values():
                fields: Any = {"group": group.id, "member": member.id, "instance": member.instance}
                if isinstance(group, ClassicGroup):
                    requests.append(Heartbeat(**fields, generation=group.generation))
                else:
                    requests.append(ConsumerGroupHeartbeat(**fields, epoch=group.assignment_epoch))
        for request in requests:
            self.send(request)

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
        self.steady.clear()
        for record in self.records:
            self.engine.replay(record)
        self.take(self.engine.loaded(self.now_ms))
        old.unload(lambda _: True, self.now_ms)
        old.load(lambda _: True, self.now_ms)
        if len(self.records) == self.made:
            assert whole(old) == whole(self.engine)
            assert set(old.timers()) == set(self.engine.timers())


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
