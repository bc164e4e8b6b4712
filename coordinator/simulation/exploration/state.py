"""The state of a small group: the coordinator, the clients, the messages between them, and the effect of a change.
FindCoordinator, commits and offset fetches are answered at once: they are not explored."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from operator import itemgetter
from typing import ClassVar, Self
from uuid import UUID

from coordinator.configs.settings import Config
from coordinator.consumer.member import ClientMember
from coordinator.consumer.outputs import Callback, Partitions
from coordinator.engine.calls import Call, CoordinatorResult
from coordinator.engine.context import Group
from coordinator.engine.engine import Engine
from coordinator.engine.offsets.commit import OffsetCommit
from coordinator.engine.offsets.fetch import OffsetFetch
from coordinator.engine.records import Record
from coordinator.engine.topics import TopicImage, TopicInfo
from coordinator.simulation.exploration import worlds
from coordinator.simulation.exploration.canonical import canonical
from coordinator.simulation.exploration.fork import fork
from coordinator.simulation.exploration.parts import (
    Answers,
    ClientPart,
    ClientStep,
    CoordinatorPart,
    CoordinatorStep,
)


class ExploredState:
    """See the module. A state is small: it refers to its parts, which a step replaces."""

    rule_was_needed: ClassVar[bool] = False
    """Whether a switched-off rule (`rules`) would have refused something in the coordinator's last computed step."""

    def __init__(self, spec: worlds.WorldSpec) -> None:
        topics = [
            TopicInfo(name=name, id=UUID(int=number + 1), partitions=partitions)
            for number, (name, partitions) in enumerate(spec.topics.items())
        ]
        self.image = TopicImage.of(topics, version=1)
        self.config = Config.parse({**_SETTINGS, **spec.settings})
        self.perturb = spec.perturb
        self.keeps_log = worlds.Verb.FAIL_OVER in spec.perturb
        self.coordinators: dict[Hashable, CoordinatorPart] = {}
        """By form: those of all states. Not copied by `fork`, like all that is the same for all states."""
        self.every_client: dict[Hashable, ClientPart] = {}
        engine = Engine(self.config, self.image)
        engine.loaded(worlds.START_MS)
        self.coordinator = CoordinatorPart(engine).shared(self.coordinators)
        names = tuple(spec.topics)
        rolled = {name: replace(script, topics=names) for name, script in spec.rolled.items()}
        self.clients: dict[str, ClientPart] = {}
        for name, script in spec.members.items():
            client = ClientPart(name, replace(script, topics=names), rolled.get(name))
            client.seal(self.perturb)
            self.clients[name] = client.shared(self.every_client)
        self.network: list[worlds.MessageInFlight] = []
        self.parked: dict[int, worlds.MessageInFlight] = {}  # Requests that wait for an answer, by ticket
        self.records: tuple[Record, ...] = ()  # The whole log; kept only if the coordinator can fail over
        self.last_append = 0  # The number of records before the last append
        self.left = spec.perturbations
        self.taken: list[ClientStep | CoordinatorStep] = []  # The steps of parts in the last step
        self.has_broken_rule = False
        """Whether a switched-off rule would have applied on the path to this state."""

    def fork(self) -> Self:
        """A copy of the state, to take another step in."""
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        other.clients, other.network, other.parked = (
            self.clients.copy(),
            self.network.copy(),
            self.parked.copy(),
        )
        return other

    def fingerprint(self) -> int:
        """64 bits, equal for states with the same future: without times and without numbers that only match answers
        with requests. Two states of a million collide in one of 40 million runs."""
        clients, network = self.clients, self.network
        if len(network) > 1:
            network = sorted(network, key=_CONNECTION)  # which keeps the order on each
        in_flight = []
        for message in network:
            client = clients[message.member]
            is_current = message.process == client.process  # or the process has ended: it has no handlers
            handler = client.handlers.get(message.number) if is_current else None
            in_flight.append((message.member, message.process, message.is_answer, message.print, handler))
        return hash(
            (
                *self.prints(),
                self.left,
                self.has_broken_rule,
                self.keeps_log and self.last_append == len(self.records),
                *in_flight,
            )
        )

    def prints(self) -> tuple[int, ...]:
        """The fingerprints of its parts."""
        return self.coordinator.print, *[client.print for client in self.clients.values()]

    @property
    def callbacks(self) -> list[tuple[str, Callback]]:
        """The callbacks of the last step."""
        return [call for step in self.taken if isinstance(step, ClientStep) for call in step.callbacks]

    @property
    def group(self) -> Group | None:
        return self.coordinator.group

    # The effect of a change.

    def _step(self, name: str, step: Callable[[ClientPart], None], *key: Hashable) -> None:
        """Have a client take the step that `key` names. What it sends is in flight, or answered at once."""
        sent = self._sent(name, step, key).copy()
        for message in sent:  # answers add to it
            if type(message.content) not in _ANSWERED_AT_ONCE:
                self.network.append(message)
                continue
            own = self._ticket()
            for ticket, answer, print_ in self._handle(own, message):
                if ticket == own:
                    handle = partial(ClientPart.answered, number=message.number, answer=answer)
                    sent += self._sent(name, handle, (message.number, print_))

    def _sent(
        self, name: str, step: Callable[[ClientPart], None], key: Hashable
    ) -> list[worlds.MessageInFlight]:
        """Have a client take a step, and return what it sends."""
        client = self.clients[name]

        def take() -> ClientStep:
            draft = client.draft()
            step(draft)
            sent, callbacks = draft.outputs()
            draft.seal(self.perturb)
            return ClientStep(draft.shared(self.every_client), sent, callbacks)

        taken = client.step(key, take)
        self.clients[name] = taken.client
        self.taken.append(taken)
        return taken.sent

    def _ticket(self) -> int:
        """The lowest ticket that no request in the coordinator has."""
        return next(ticket for ticket in count(1) if ticket not in self.parked) if self.parked else 1

    def _handle(self, ticket: int, message: worlds.MessageInFlight) -> Answers:
        """Have the coordinator handle a request."""
        # There are as many ids as processes: a member that rejoins with a new id does not repeat an earlier one.
        joins = 100 * sum([client.process for client in self.clients.values()]) + self.coordinator.known
        return self._coordinate(
            lambda engine: engine.handle(
                Call(
                    ticket=ticket,
                    request=message.content,
                    now_ms=worlds.START_MS,
                    client_id=message.member,
                    host="/127.0.0.1",
                    fresh_id=UUID(int=joins),
                )
            ),
            (ticket, message.member, message.print, joins),
        )

    def _coordinate(self, act: Callable[[Engine], CoordinatorResult], key: Hashable) -> Answers:
        """Have the coordinator take a step."""
        engine = self.coordinator.engine
        return self._apply(self.coordinator.step(key, lambda: self._coordinated(fork(engine), act)))

    def _coordinated(self, engine: Engine, act: Callable[[Engine], CoordinatorResult]) -> CoordinatorStep:
        """A step, together with the timers that are due immediately."""
        ExploredState.rule_was_needed = False
        results = [act(engine)]
        while (deadline := engine.next_deadline()) is not None and deadline <= worlds.START_MS:
            results.append(engine.expire(worlds.START_MS))
        return CoordinatorStep(
            coordinator=CoordinatorPart(engine).shared(self.coordinators),
            appended=tuple(result.records for result in results if result.records),
            answers=tuple(
                (ticket, answer, hash(canonical(answer)))
                for result in results
                for ticket, answer in result.answers
            ),
            rule_was_needed=ExploredState.rule_was_needed,
        )

    def _apply(self, step: CoordinatorStep) -> Answers:
        """Replace the coordinator, append its records, and return its answers."""
        self.coordinator = step.coordinator
        self.taken.append(step)
        self.has_broken_rule |= step.rule_was_needed
        for records in step.appended if self.keeps_log else ():
            self.last_append = len(self.records)
            self.records += records
        return step.answers

    def _respond(self, answers: Answers) -> None:
        for ticket, answer, print_ in answers:
            request = self.parked.pop(ticket, None)
            if request is not None and self._is_current(request):
                self.network.append(request._replace(is_answer=True, content=answer, print=print_))

    def _is_current(self, message: worlds.MessageInFlight) -> bool:
        client = self.clients[message.member]
        return client.member is not None and message.process == client.process

    def owners(self) -> dict[str, Partitions]:
        return {name: partitions for name, _, partitions in self.owned()}

    def owned(self) -> Iterator[tuple[str, ClientMember, Partitions]]:
        """Each running member, with the partitions that it considers its own."""
        for name, client in self.clients.items():
            if client.member is not None:
                yield name, client.member, client.member.owned


_ANSWERED_AT_ONCE = frozenset({OffsetFetch, OffsetCommit})
_CONNECTION = itemgetter(0, 1, 3)
_SETTINGS = {
    "group.initial.rebalance.delay.ms": "0",
    "group.max.session.timeout.ms": str(worlds.LONG_MS),
    "group.consumer.session.timeout.ms": str(worlds.LONG_MS),
    "group.consumer.max.session.timeout.ms": str(worlds.LONG_MS),
    "group.consumer.assignment.interval.ms": "0",
    "offsets.retention.check.interval.ms": str(2**40),
}
