"""The parts of a small group, each shared by all states that have an equal one: its clients, and the coordinator.
A part never changes: a step of it results in another one, and is computed once (`Part.step`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Generic, Self, TypeAlias, TypeVar

from coordinator.consumer.consumer_member import AsyncConsumer
from coordinator.consumer.member import ClientMember, ClientSubscription
from coordinator.consumer.outputs import Callback, Closed, FindCoordinator, Raised, Send, TopicPartition
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.context import Group
from coordinator.engine.engine import Engine
from coordinator.engine.records import Record
from coordinator.engine.timers import TimerKind
from coordinator.engine.topics import TopicImage
from coordinator.simulation.consumers import GROUP, NewMember, make_member
from coordinator.simulation.exploration.canonical import ATOMS, canonical
from coordinator.simulation.exploration.fork import fork
from coordinator.simulation.exploration.worlds import (
    LONG_MS,
    NODE,
    START_MS,
    ExplorationStep,
    MessageInFlight,
    Verb,
)
from coordinator.simulation.scenario import MemberScript

S = TypeVar("S")


class Part(Generic[S]):
    """A part of a state, with the steps that it has taken in any state."""

    print: int  # Its fingerprint: equal for parts with the same future
    form: Hashable  # All that its steps depend on

    def __init__(self) -> None:
        self.results: dict[Hashable, S] = {}

    def step(self, key: Hashable, take: Callable[[], S]) -> S:
        """The result of a step, computed when a part takes it first; `key` is all that it depends on."""
        result = self.results.get(key)
        if result is None:
            result = self.results[key] = take()
        return result

    def shared(self, parts: dict[Hashable, Self]) -> Self:
        """The part with the same form, of those that states have or had."""
        return parts.setdefault(self.form, self)


@dataclass(frozen=True, slots=True, eq=False)
class ClientStep:
    """The client after a step, its requests, and the callbacks of its listener."""

    client: ClientPart
    sent: list[MessageInFlight]
    callbacks: list[tuple[str, Callback]]


class ClientPart(Part[ClientStep]):
    """A member's process, or None, and what is known of its application. The methods change a copy (`draft`)."""

    def __init__(self, name: str, script: MemberScript, rolled: MemberScript | None) -> None:
        super().__init__()
        self.name, self.script = name, script
        self.rolled = rolled  # Its configuration after a restart that is still to come
        self.process = 0  # The number of its process
        self.member: ClientMember | None = None
        self.calling: Callback | None = None
        self.is_idle = False  # Whether the application left `poll` with an exception
        self.is_over = False  # Whether it has closed, or was killed, for good
        self.clock_ms = START_MS
        """Advances when the member does what is due. The coordinator's time does not advance."""
        self.handlers: Mapping[int, int] = {}
        """By the number of a request: the fingerprint of what handles its answer."""
        self.possible: tuple[tuple[ExplorationStep, ...], ...] = ()
        """Its possible steps: without perturbations, and with them."""

    @property
    def running(self) -> ClientMember:
        if self.member is None:
            raise AssertionError(f"{self.name} does not run")
        return self.member

    def draft(self) -> ClientPart:
        """A copy to change, then to share."""
        other = copy(self)
        other.results, other.member = {}, fork(self.member)
        return other

    def start(self, image: TopicImage) -> None:
        self.process += 1
        self.member = make_member(
            NewMember(
                name=self.name,
                client_id=self.name,
                script=self.script,
                image=image,
                positions=no_positions,
                member_uuid=f"{self.name}-{self.process}",
            )
        )
        self.member.enter_poll(self.clock_ms)

    def end(self) -> None:
        """Stop the process."""
        self.member = self.calling = None
        self.is_idle = False

    def kill(self) -> None:
        self.end()
        self.is_over = True

    def crash(self, image: TopicImage) -> None:
        self.end()
        self.start(image)

    def roll(self, image: TopicImage) -> None:
        """Stop the process (without an instance id it leaves), then start it with its next settings."""
        if self.rolled is not None:
            self.script, self.rolled = self.rolled, None
        self.crash(image)

    def wake(self) -> None:
        self.clock_ms = max(self.clock_ms, self.running.next_deadline() or 0)
        self.running.wake(self.clock_ms)

    def poll(self) -> None:
        self.is_idle = False
        self.running.enter_poll(self.clock_ms)

    def called_back(self) -> None:
        self.calling = None
        self.running.called_back(self.clock_ms, threw=False)

    def answered(self, number: int, answer: object) -> None:
        """`answer` is None if the connection was lost."""
        if self.member is not None:
            self.member.answered(number, answer, self.clock_ms)

    def enforce_rebalance(self) -> None:
        self.running.enforce_rebalance(self.clock_ms)

    def subscribe(self, topics: tuple[str, ...]) -> None:
        self.running.subscribe(ClientSubscription(topics=topics), self.clock_ms)

    def unsubscribe(self) -> None:
        self.running.unsubscribe(self.clock_ms)

    def close(self) -> None:
        self.running.close(self.clock_ms)

    def outputs(self) -> tuple[list[MessageInFlight], list[tuple[str, Callback]]]:
        """Handle the outputs of the member: its requests and callbacks."""
        sent: list[MessageInFlight] = []
        callbacks: list[tuple[str, Callback]] = []
        member = self.member
        while member is not None and (outputs := member.take()):
            for output in outputs:
                if isinstance(output, Send) and isinstance(output.request, FindCoordinator):
                    member.answered(output.number, NODE, self.clock_ms)
                elif isinstance(output, Send):
                    print_ = hash(canonical(output.request))
                    sent.append(
                        MessageInFlight(self.name, self.process, output.number, False, output.request, print_)
                    )
                elif isinstance(output, Callback):
                    self.calling = output
                    callbacks.append((self.name, output))
                elif isinstance(output, Raised) and not member.is_closing:
                    self.is_idle = True
                elif isinstance(output, Closed):
                    self.calling, self.is_idle = None, False
        if member is not None and member.is_closed:
            self.member, self.is_over = None, True
        return sent, callbacks

    def seal(self, perturb: Collection[Verb]) -> None:
        """Compute what is derived from the rest."""
        member = self.member
        calling = None if self.calling is None else (self.calling.kind, self.calling.partitions)
        state = self.process, calling, self.is_idle, self.is_over, self.rolled is None
        form = None if member is None else _member_form(member), *state
        waiting = {} if member is None else member._waiting
        self.print = hash(form)
        self.handlers = {number: hash(canonical(handler)) for number, handler in waiting.items()}
        numbers = () if member is None else [value for value in vars(member).values() if type(value) is int]
        self.form = self.name, form, tuple(self.handlers.items()), tuple(numbers), self.clock_ms
        steps = tuple(self._steps())
        self.possible = steps, (*steps, *self._perturbations(perturb))

    def _steps(self) -> Iterator[ExplorationStep]:
        name, member = self.name, self.member
        if member is None:
            if not self.is_over:
                yield ExplorationStep(Verb.START, name)
            return
        if self.calling is not None:
            yield ExplorationStep(Verb.CALLED_BACK, name)
        if self._may_call(member) and member.subscription.is_empty:
            yield ExplorationStep(Verb.SUBSCRIBE, name, self.script.topics)
        if self.is_idle:
            yield ExplorationStep(Verb.POLL, name)
        deadline = member.next_deadline()
        if deadline is not None and deadline < self.clock_ms + LONG_MS // 2:
            yield ExplorationStep(Verb.WAKE, name)

    def _perturbations(self, perturb: Collection[Verb]) -> Iterator[ExplorationStep]:
        name, member = self.name, self.member
        if member is None:
            return
        is_in_group, is_staying = member.epoch > 0, not member.is_closing
        calls = self._may_call(member) and not member.subscription.is_empty
        for verb, is_possible in (
            (Verb.LEAVE, is_in_group and is_staying and self.calling is None),
            (Verb.CRASH, is_in_group),
            (Verb.KILL, is_in_group),
            (Verb.ROLL, is_staying and self.rolled is not None),
            (Verb.ENFORCE_REBALANCE, calls),
            (Verb.UNSUBSCRIBE, calls),
        ):
            if is_possible and verb in perturb:
                yield ExplorationStep(verb, name)
        if calls and Verb.SUBSCRIBE in perturb:
            yield ExplorationStep(Verb.SUBSCRIBE, name, self.script.topics[:1])

    def _may_call(self, member: ClientMember) -> bool:
        """Whether its application can call a method of the consumer in place of `poll`."""
        return not (self.calling is not None or member.is_closing or member.awaits_commit)


def no_positions(_partitions: object) -> dict[TopicPartition, int]:
    """Nothing is read here."""
    return {}


_OMITTED = frozenset(
    {
        "identity",
        "settings",
        "_behavior",
        "image",
        "position",
        "metrics",
        "outputs",
        "_numbers",
        "_waiting",
        "_assignments",
        "_fields",
        "_beat",
        "_missing_since_ms",
    }
)
"""Attributes of a member that never change, do not matter, or are covered elsewhere (as by `_heartbeats_form`)."""


def _member_form(member: ClientMember) -> tuple[object, ...]:
    """The facts that count: without times and without numbers that only match answers with requests."""
    facts: list[object] = []
    for name, value in vars(member).items():
        if name in _OMITTED:
            continue
        if not name.endswith("_ms"):
            facts.append(value if type(value) in ATOMS else canonical(value))
        else:
            facts.append(None if value is None else value >= LONG_MS)
    if isinstance(member, AsyncConsumer):
        facts.append(_heartbeats_form(member))
    return tuple(facts)


def _heartbeats_form(member: AsyncConsumer) -> tuple[object, ...]:
    """The facts that the next heartbeat depends on; whether a heartbeat is in flight, but not its number."""
    assignments, sent = member._assignments, member._fields._sent
    return (
        member._beat is None,
        canonical((assignments.owned, assignments._target, assignments._number, assignments._target_number)),
        sent is not None and (canonical(sent[:-1]), sent.owned == assignments.version),
    )


Answers: TypeAlias = tuple[tuple[int, object, int], ...]
"""Tickets, their answers, and the fingerprints of the answers."""


@dataclass(frozen=True, slots=True, eq=False)
class CoordinatorStep:
    """The coordinator after a step, and its results."""

    coordinator: CoordinatorPart
    appended: tuple[tuple[Record, ...], ...]
    answers: Answers
    rule_was_needed: bool


class CoordinatorPart(Part[CoordinatorStep]):
    """The engine, whose tickets are reused: those of two requests differ only while both wait."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self.engine = engine
        self.group: Group | None = engine.state.groups.get(GROUP)
        timers = [key for key in engine.timers() if key.group == GROUP]
        self.expiries = [
            ExplorationStep(Verb.EXPIRE, "the coordinator", key) for key in timers if key.kind in _EXPIRY
        ]
        group = self.group
        self.known = 0 if group is None else len(group.members) + len(getattr(group, "pending", ()))
        """The number of its members, and of members that were assigned an id."""
        form = canonical(group)
        self.print = hash((form, frozenset([(key.kind, key.member) for key in timers])))
        parked = isinstance(group, ClassicGroup) and (*group.joining.items(), None, *group.syncing.items())
        self.form = (form, engine.timers(), () if group is None else tuple(group.members), parked)


_EXPIRY = frozenset(
    {TimerKind.SESSION, TimerKind.PENDING_MEMBER, TimerKind.REBALANCE, TimerKind.JOIN, TimerKind.SYNC}
)
