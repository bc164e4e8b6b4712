"""The state of a small group: the coordinator, the members, the messages between them, and the effect of a change.
FindCoordinator, commits and offset fetches are answered at once: they are not explored."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias
from uuid import UUID

from coordinator.configs.settings import Config
from coordinator.consumer.consumer_member import AsyncConsumer
from coordinator.consumer.member import ClientMember
from coordinator.consumer.outputs import Callback, Closed, FindCoordinator, Partitions, Raised, Send
from coordinator.engine.calls import AnyRequest, Call, CoordinatorResult
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.context import Group
from coordinator.engine.engine import Engine
from coordinator.engine.offsets.commit import OffsetCommit
from coordinator.engine.offsets.fetch import OffsetFetch
from coordinator.engine.records import Record
from coordinator.engine.topics import TopicImage, TopicInfo
from coordinator.simulation.consumers import GROUP
from coordinator.simulation.exploration import worlds
from coordinator.simulation.exploration.canonical import ATOMS, canonical
from coordinator.simulation.exploration.fork import fork


class ExploredState:
    """See the module. A fork shares the coordinator and the members with its origin until a step changes them."""

    rule_was_needed: ClassVar[bool] = False
    """Whether a switched-off rule (`rules`) would have refused something in the current step."""

    def __init__(self, spec: worlds.WorldSpec) -> None:
        topics = [
            TopicInfo(name=name, id=UUID(int=number + 1), partitions=partitions)
            for number, (name, partitions) in enumerate(spec.topics.items())
        ]
        self.image = TopicImage.of(topics, version=1)
        self.config = Config.parse({**_SETTINGS, **spec.settings})
        self.engine = Engine(self.config, self.image)
        self.engine.loaded(worlds.START_MS)
        self.records: list[Record] = []  # The whole log; kept only if the coordinator can fail over
        self.last_append = 0  # The number of records before the last append
        self.keeps_log = worlds.Verb.FAIL_OVER in spec.perturb
        names = tuple(spec.topics)
        self.scripts = {name: replace(script, topics=names) for name, script in spec.members.items()}
        self.rolled = {name: replace(script, topics=names) for name, script in spec.rolled.items()}
        """The configurations of members that are still to be restarted with them."""
        self.members: dict[str, ClientMember | None] = dict.fromkeys(spec.members)
        self.calling: dict[str, Callback] = {}
        self.idle: set[str] = set()  # Members whose application left `poll` with an exception
        self.processes = dict.fromkeys(spec.members, 0)
        self.is_over: set[str] = set()  # Members that have closed, or were killed, for good
        self.network: list[worlds.MessageInFlight] = []
        self.parked: dict[int, tuple[str, int, int]] = {}
        """Member, process and request number by the ticket of a parked request."""
        self.left = spec.perturbations
        self.perturb = spec.perturb
        self.clocks = dict.fromkeys(spec.members, worlds.START_MS)
        """In ms: a member's time advances when the member does what is due. The coordinator's does not advance."""
        self.tickets = 0
        self.callbacks: list[tuple[str, Callback]] = []  # The callbacks of the last step
        self.has_broken_rule = False
        """Whether a switched-off rule would have applied on the path to this state."""
        self.prints: dict[str, int] = {}
        """Fingerprints of members, and of the coordinator as "", that have not changed since they were computed."""
        self._own = {"", *spec.members}
        """The members, and the coordinator as "", that are not shared with another state."""
        self._memory = Memory()

    def fork(self) -> Self:
        """A copy of the state, to take another step in."""
        other = object.__new__(type(self))
        vars(other).update(
            {name: _COPIES.get(type(value), _identity)(value) for name, value in vars(self).items()}
        )
        other._own = set()
        self._own = set()
        return other

    def _touch(self, name: str) -> None:
        """Prepare a change of a member (or of "", the coordinator)."""
        self.prints.pop(name, None)
        if name not in self._own:
            self._own.add(name)
            if name:
                self.members[name] = fork(self.members[name])
            else:
                self.engine = fork(self.engine)

    def fingerprint(self) -> int:
        """64 bits, equal for states with the same future: without times and without numbers that only match answers
        with requests. Two states of a million collide in one of 40 million runs."""
        for name, member in self.members.items():
            if name not in self.prints:
                self.prints[name] = hash(None if member is None else _member_form(member))
        in_flight: dict[tuple[str, int, bool], tuple[object, ...]] = {}
        for message in self.network:
            connection = message.member, message.process, message.is_answer
            in_flight[connection] = (*in_flight.get(connection, ()), self._message_form(message))
        state = (
            self.coordinator_fingerprint(),
            tuple([self.prints[name] for name in self.members]),
            frozenset(in_flight.items()),
            frozenset([(name, call.kind, call.partitions) for name, call in self.calling.items()]),
            frozenset(self.idle),
            frozenset(self.is_over),
            tuple(self.rolled),
            tuple(self.processes.items()),
            self.left,
            self.has_broken_rule,
            self.keeps_log and self.last_append == len(self.records),
        )
        return hash(state)

    def coordinator_fingerprint(self) -> int:
        if "" not in self.prints:
            timers = frozenset((key.kind, key.member) for key in self.engine.timers() if key.group == GROUP)
            self.prints[""] = hash((canonical(self.group), timers))
        return self.prints[""]

    def _message_form(self, message: worlds.MessageInFlight) -> tuple[object, ...]:
        member = self.members[message.member]
        is_current = member is not None and message.process == self.processes[message.member]
        handler = canonical(member._waiting.get(message.number)) if is_current and member else None
        return message.member, is_current, handler, message.is_answer, message.print

    @property
    def group(self) -> Group | None:
        return self.engine.state.groups.get(GROUP)

    # The effect of a change.

    def _member(self, name: str) -> ClientMember:
        self._touch(name)
        member = self.members[name]
        if member is None:
            raise AssertionError(f"{name} does not run")
        return member

    def _is_current(self, message: worlds.MessageInFlight) -> bool:
        runs = self.members[message.member] is not None
        return runs and message.process == self.processes[message.member]

    def _call(self, member: str, request: AnyRequest) -> Call:
        # There are as many ids as processes: a member that rejoins with a new id does not repeat an earlier one.
        return Call(
            ticket=self.tickets,
            request=request,
            now_ms=worlds.START_MS,
            client_id=member,
            host="/127.0.0.1",
            fresh_id=UUID(int=self._joins()),
        )

    def _joins(self) -> int:
        group = self.group
        known = 0 if group is None else len(group.members) + len(getattr(group, "pending", ()))
        return 100 * sum(self.processes.values()) + known

    def _handle(self, member: str, request: AnyRequest, print_: int) -> Answers:
        """Have the coordinator answer a request, with the last ticket."""
        return self._memoized(
            (member, print_, self._joins()), lambda: self.engine.handle(self._call(member, request))
        )

    def _memoized(self, what: Hashable, act: Callable[[], CoordinatorResult]) -> Answers:
        """Have the coordinator take a step, or use the memoized result of an equal step."""
        if self._parks():
            self._touch("")
            return self._append(self._done(act))
        members = () if self.group is None else tuple(self.group.members)
        key = self.coordinator_fingerprint(), self.engine.timers(), members, what
        known = self._memory.get(key)
        if known is None:
            self._touch("")
            known = self._done(act)
            if not self._parks():
                self._memory[key] = known
                self._own.discard("")
            return self._append(known)
        self.engine, self.prints[""] = known.engine, known.print
        self._own.discard("")
        return [(self.tickets, answer, print_) for _, answer, print_ in self._append(known)]

    def _done(self, act: Callable[[], CoordinatorResult]) -> MemoizedStep:
        """The coordinator's step, together with its timers that are due immediately."""
        was_needed, ExploredState.rule_was_needed = ExploredState.rule_was_needed, False
        results = [act()]
        while (deadline := self.engine.next_deadline()) is not None and deadline <= worlds.START_MS:
            results.append(self.engine.expire(worlds.START_MS))
        is_needed, ExploredState.rule_was_needed = ExploredState.rule_was_needed, was_needed
        return MemoizedStep(
            engine=self.engine,
            print=self.coordinator_fingerprint(),
            appended=tuple(result.records for result in results if result.records),
            answers=[
                (ticket, answer, hash(canonical(answer)))
                for result in results
                for ticket, answer in result.answers
            ],
            rule_was_needed=is_needed,
        )

    def _append(self, done: MemoizedStep) -> Answers:
        """Append the coordinator's records, and return its answers."""
        ExploredState.rule_was_needed |= done.rule_was_needed
        for records in done.appended if self.keeps_log else ():
            self.last_append = len(self.records)
            self.records += records
        return done.answers

    def _parks(self) -> bool:
        """Whether the coordinator has parked requests."""
        group = self.group
        return isinstance(group, ClassicGroup) and bool(group.joining or group.syncing)

    def _respond(self, answers: Answers) -> None:
        for ticket, answer, print_ in answers:
            parked = self.parked.pop(ticket, None)
            if parked is not None:
                name, process, number = parked
                if self.members[name] is not None and process == self.processes[name]:
                    self.network.append(worlds.MessageInFlight(name, process, number, True, answer, print_))

    def _handle_outputs(self) -> None:
        for name, member in list(self.members.items()):
            if member is None or not member.outputs:
                continue
            while outputs := member.take():
                for output in outputs:
                    self._handle_output(name, member, output)
            if member.is_closed:
                self.members[name] = None
                self.prints.pop(name, None)
                self.is_over.add(name)

    def _handle_output(self, name: str, member: ClientMember, output: object) -> None:
        if isinstance(output, Send):
            self._send(name, member, output)
        elif isinstance(output, Callback):
            self.calling[name] = output
            self.callbacks.append((name, output))
        elif isinstance(output, Raised) and not member.is_closing:
            self.idle.add(name)
        elif isinstance(output, Closed):
            self.calling.pop(name, None)
            self.idle.discard(name)

    def _send(self, name: str, member: ClientMember, send: Send) -> None:
        if isinstance(send.request, FindCoordinator):
            member.answered(send.number, worlds.NODE, self.clocks[name])
        elif isinstance(send.request, OffsetFetch | OffsetCommit):
            self.tickets += 1
            for ticket, answer, _ in self._handle(name, send.request, hash(canonical(send.request))):
                if ticket == self.tickets:
                    member.answered(send.number, answer, self.clocks[name])
        else:
            print_ = hash(canonical(send.request))
            message = worlds.MessageInFlight(
                name, self.processes[name], send.number, False, send.request, print_
            )
            self.network.append(message)

    def owners(self) -> dict[str, Partitions]:
        return {name: partitions for name, _, partitions in self.owned()}

    def owned(self) -> Iterator[tuple[str, ClientMember, Partitions]]:
        """Each running member, with the partitions that it considers its own."""
        for name, member in self.members.items():
            if member is not None:
                yield name, member, member.owned


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
    plain, deadlines = _names(member)
    values = vars(member)
    facts = [value if type(value := values[name]) in ATOMS else canonical(value) for name in plain]
    facts += [None if (value := values[name]) is None else value >= worlds.LONG_MS for name in deadlines]
    if isinstance(member, AsyncConsumer):
        facts.append(_heartbeats_form(member))
    return tuple(facts)


_NAMES: dict[type, tuple[tuple[str, ...], tuple[str, ...]]] = {}


def _names(member: ClientMember) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The attributes of a class of members that count: those that are no deadlines, and the deadlines."""
    kind = type(member)
    if kind not in _NAMES:
        facts = [name for name in vars(member) if name not in _OMITTED]
        _NAMES[kind] = (
            tuple(name for name in facts if not name.endswith("_ms")),
            tuple(name for name in facts if name.endswith("_ms")),
        )
    return _NAMES[kind]


def _heartbeats_form(member: AsyncConsumer) -> tuple[object, ...]:
    """The facts that the next heartbeat depends on; whether a heartbeat is in flight, but not its number."""
    assignments, sent = member._assignments, member._fields._sent
    return (
        member._beat is None,
        canonical((assignments.owned, assignments._target, assignments._number, assignments._target_number)),
        sent is not None and (canonical(sent[:-1]), sent.owned == assignments.version),
    )


def _identity(value: object) -> object:
    return value


_COPIES: Mapping[type, Callable[[Any], object]] = {dict: dict, list: list, set: set}
"""How the attributes of a state are copied: not their contents, which are copied when they change."""
_SETTINGS = {
    "group.initial.rebalance.delay.ms": "0",
    "group.max.session.timeout.ms": str(worlds.LONG_MS),
    "group.consumer.session.timeout.ms": str(worlds.LONG_MS),
    "group.consumer.max.session.timeout.ms": str(worlds.LONG_MS),
    "group.consumer.assignment.interval.ms": "0",
    "offsets.retention.check.interval.ms": str(2**40),
}


Answers: TypeAlias = list[tuple[int, object, int]]
"""Tickets, their answers, and the fingerprints of the answers."""


class MemoizedStep(NamedTuple):
    """A step of a coordinator, and its result."""

    engine: Engine  # The coordinator afterwards, shared by all states: a state changes only a copy of it
    print: int
    appended: tuple[tuple[Record, ...], ...]
    answers: Answers
    rule_was_needed: bool


class Memory(dict[Hashable, MemoizedStep]):
    """Coordinator steps by fingerprint, order of contents and action, shared by all states: not a plain dict, which is
    forked. Steps that park requests, or answer parked ones, are not memoized: their tickets differ in each state."""
