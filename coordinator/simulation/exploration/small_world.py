"""A state of a small group, and the steps that lead on from it.

Messages wait in the network until a step delivers them, each connection in its order. The search for the coordinator,
commits and the fetching of offsets are answered at once: they take no part in what is explored. A listener returns when
a step says so.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, ClassVar, TypeAlias
from uuid import UUID

from coordinator.consumer.classic_member import ClassicMember
from coordinator.consumer.consumer_member import ConsumerMember
from coordinator.consumer.library import LIBRARIES
from coordinator.consumer.member import Identity, Member, Subscription
from coordinator.consumer.outputs import (
    Callback,
    Closed,
    FindCoordinator,
    Partitions,
    Raised,
    Send,
    TopicPartition,
)
from coordinator.consumer.settings import MemberSettings
from coordinator.engine.calls import Call, CoordinatorResult
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.config import Config
from coordinator.engine.context import Group
from coordinator.engine.engine import Engine
from coordinator.engine.offsets.commit import OffsetCommit
from coordinator.engine.offsets.fetch import OffsetFetch
from coordinator.engine.records import Record
from coordinator.engine.timers import TimerKey, TimerKind
from coordinator.engine.topics import TopicImage, TopicInfo
from coordinator.simulation.exploration.fork import fork
from coordinator.simulation.exploration.forms import canonical
from coordinator.simulation.exploration.memory import Answers, Done, Memory
from coordinator.simulation.exploration.steps import (
    GROUP,
    LONG_MS,
    NOBODY,
    NODE,
    START_MS,
    Message,
    Step,
    Verb,
    WorldSpec,
)


def no_position(_place: TopicPartition) -> int | None:
    """Nothing is read here."""
    return None


class SmallWorld:
    """See the module. A fork shares the coordinator and the members with its origin until a step touches them."""

    rule_was_needed: ClassVar[bool] = False
    """Set by a rule that is switched off (`rules`) where it would have refused something, in the step being taken."""

    def __init__(self, spec: WorldSpec) -> None:
        topics = [
            TopicInfo(name=name, id=UUID(int=number + 1), partitions=partitions)
            for number, (name, partitions) in enumerate(spec.topics.items())
        ]
        self.image = TopicImage.of(topics, version=1)
        self.config = Config.parse({**_SETTINGS, **spec.settings})
        self.engine = Engine(self.config, self.image)
        self.engine.loaded(START_MS)
        self.records: list[Record] = []
        """All that the log holds; kept only where the coordinator may fail over."""
        self.last_append = 0
        """How many records there were before the last append."""
        self.keeps_log = Verb.FAIL_OVER in spec.perturb
        self.scripts = dict(spec.members)
        self.members: dict[str, Member | None] = dict.fromkeys(spec.members)
        self.calling: dict[str, Callback] = {}
        self.idle: set[str] = set()
        """Members whose application is out of `poll` after an exception."""
        self.processes = dict.fromkeys(spec.members, 0)
        self.is_over: set[str] = set()
        """Members that have closed, or were killed, for good."""
        self.network: list[Message] = []
        self.parked: dict[int, tuple[str, int, int]] = {}
        """Process and number by the ticket of a request that is not answered yet."""
        self.left = spec.perturbations
        self.perturb = spec.perturb
        self.clocks = dict.fromkeys(spec.members, START_MS)
        """In ms: each member's time passes by itself, when it does what is due. The coordinator's stands still."""
        self.tickets = 0
        self.callbacks: list[tuple[str, Callback]] = []
        """Made in the last step."""
        self.has_broken_rule = False
        """Whether a rule that is switched off would have stepped in on the way here."""
        self.prints: dict[str, int] = {}
        """Fingerprints of members, and of the coordinator as "", that no step has touched since."""
        self._own = {"", *spec.members}
        """What is not shared with another state."""
        self._memory = Memory()

    def fork(self) -> SmallWorld:
        """The same state once more, to take another step in."""
        other = object.__new__(SmallWorld)
        vars(other).update(
            {name: _COPIES.get(type(value), _itself)(value) for name, value in vars(self).items()}
        )
        other._own = set()
        self._own = set()
        return other

    def _touch(self, name: str) -> None:
        """A member (or "", the coordinator) is about to change."""
        self.prints.pop(name, None)
        if name not in self._own:
            self._own.add(name)
            if name:
                self.members[name] = fork(self.members[name])
            else:
                self.engine = fork(self.engine)

    def print_of_coordinator(self) -> int:
        """What the coordinator has in common with an equal one."""
        if "" not in self.prints:
            timers = frozenset((key.kind, key.member) for key in self.engine.timers() if key.group == GROUP)
            self.prints[""] = hash((canonical(self.group), timers))
        return self.prints[""]

    @property
    def group(self) -> Group | None:
        return self.engine.state.groups.get(GROUP)

    # Which steps there are

    def steps(self) -> list[Step]:
        """All that can happen next, in a fixed order."""
        found = list(self._steps_of_members())
        found += [
            Step(Verb.ANSWER if message.is_answer else Verb.REQUEST, message.member, place)
            for place, message in self._first_messages()
        ]
        found += self._expiries()
        if self.left and Verb.LOSE in self.perturb:
            found += [Step(Verb.LOSE, each.member, place) for place, each in self._first_messages()]
        if self.left and Verb.DUPLICATE in self.perturb:
            found += [
                Step(Verb.DUPLICATE, each.member, place)
                for place, each in self._first_messages()
                if not each.is_answer
            ]
        if self.left and Verb.FAIL_OVER in self.perturb:
            found.append(Step(Verb.FAIL_OVER, "the coordinator"))
        return found

    def _first_messages(self) -> Iterator[tuple[int, Message]]:
        """Where in the network they are: a connection delivers in order, connections know nothing of each other."""
        seen = set()
        for place, message in enumerate(self.network):
            connection = message.member, message.process, message.is_answer
            if connection not in seen:
                seen.add(connection)
                yield place, message

    def _steps_of_members(self) -> Iterator[Step]:
        for name, member in self.members.items():
            if member is None:
                if name not in self.is_over:
                    yield Step(Verb.START, name)
                continue
            if name in self.calling:
                yield Step(Verb.CALLED_BACK, name)
            if name in self.idle:
                yield Step(Verb.POLL, name)
            deadline = member.next_deadline()
            if deadline is not None and deadline < self.clocks[name] + LONG_MS // 2:
                yield Step(Verb.WAKE, name)
            if self.left:
                yield from self._perturbations(name, member)

    def _perturbations(self, name: str, member: Member) -> Iterator[Step]:
        if (
            Verb.LEAVE in self.perturb
            and not member.is_closing
            and name not in self.calling
            and member.epoch > 0
        ):
            yield Step(Verb.LEAVE, name)
        if Verb.CRASH in self.perturb and member.epoch > 0:
            yield Step(Verb.CRASH, name)
        if Verb.KILL in self.perturb and member.epoch > 0:
            yield Step(Verb.KILL, name)
        if Verb.ROLL in self.perturb and self.scripts[name].next is not None and not member.is_closing:
            yield Step(Verb.ROLL, name)

    def _expiries(self) -> Iterator[Step]:
        """Timers of the coordinator: of members whose process is gone any time, of others as a perturbation."""
        for key in self.engine.timers():
            if key.group != GROUP or key.kind not in _EXPIRY:
                continue
            if self._is_of_nobody(key) or (self.left and Verb.EXPIRE in self.perturb):
                yield Step(Verb.EXPIRE, "the coordinator", key)

    def _is_of_nobody(self, key: TimerKey) -> bool:
        """Whether the timer is for a member whose process is gone: it will be removed some time."""
        if key.kind not in (TimerKind.SESSION, TimerKind.PENDING_MEMBER):
            return False
        if any(member is not None and member.member_id == key.member for member in self.members.values()):
            return False
        return not any(
            self._is_current(each) and getattr(each.content, "member", "") == key.member
            for each in self.network
        )

    # Taking one

    def take(self, step: Step) -> None:
        """Take a step that `steps` has given."""
        self.callbacks = []
        SmallWorld.rule_was_needed = False
        if step.verb in _PERTURBATIONS and not self._is_free(step):
            self.left -= 1
        _TAKE[step.verb](self, step)
        self._carry_outputs()
        self.has_broken_rule = self.has_broken_rule or SmallWorld.rule_was_needed

    def _is_free(self, step: Step) -> bool:
        """A member that is gone is removed some time: that is no perturbation."""
        return step.verb is Verb.EXPIRE and self._is_of_nobody(step.which)

    def _start(self, step: Step) -> None:
        name, script = step.who, self.scripts[step.who]
        self.processes[name] += 1
        identity = Identity(
            group=GROUP,
            client_id=name,
            instance=script.instance,
            rack=None,
            library=LIBRARIES["java"],
            settings=_MEMBER_SETTINGS,
        )
        subscription = Subscription(topics=script.topics or tuple(self.image.topics))
        member: Member
        if script.protocol == "consumer":
            uuid = f"{name}-{self.processes[name]}"
            member = ConsumerMember(identity, subscription, self.image, no_position, uuid=uuid)
        else:
            member = ClassicMember(
                identity,
                subscription,
                self.image,
                no_position,
                assignors=script.assignors,
                subscription_version=script.subscription_version,
            )
        self.members[name] = member
        self._own.add(name)
        self.prints.pop(name, None)
        member.enter_poll(self.clocks[name])

    def _wake(self, step: Step) -> None:
        member = self._member(step.who)
        clock_ms = self.clocks[step.who] = max(self.clocks[step.who], member.next_deadline() or 0)
        member.wake(clock_ms)

    def _poll(self, step: Step) -> None:
        self.idle.discard(step.who)
        self._member(step.who).enter_poll(self.clocks[step.who])

    def _called_back(self, step: Step) -> None:
        del self.calling[step.who]
        self._member(step.who).called_back(self.clocks[step.who], threw=False)

    def _request(self, step: Step) -> None:
        message = self.network.pop(step.which)
        self.tickets += 1
        if message.process != NOBODY:
            self.parked[self.tickets] = message.member, message.process, message.number
        self._respond(self._handle(message.member, message.content, message.print))

    def _answer(self, step: Step) -> None:
        message = self.network.pop(step.which)
        if self._is_current(message):
            self._member(message.member).answered(
                message.number, message.content, self.clocks[message.member]
            )

    def _lose(self, step: Step) -> None:
        message = self.network.pop(step.which)
        if self._is_current(message):
            self._member(message.member).failed(message.number, self.clocks[message.member])

    def _duplicate(self, step: Step) -> None:
        """The request stays in a buffer somewhere and arrives once more, when nobody waits for its answer."""
        message = self.network[step.which]
        self.network.append(message._replace(process=NOBODY))

    def _is_current(self, message: Message) -> bool:
        runs = self.members[message.member] is not None
        return runs and message.process == self.processes[message.member]

    def _leave(self, step: Step) -> None:
        self._member(step.who).close(self.clocks[step.who])

    def _crash(self, step: Step) -> None:
        self._end(step.who)
        self._start(step)

    def _kill(self, step: Step) -> None:
        self._end(step.who)
        self.is_over.add(step.who)

    def _roll(self, step: Step) -> None:
        """Stopped without a word or, where it has no instance id, after leaving; then started with what comes next."""
        script = self.scripts[step.who].next
        if script is None:
            raise AssertionError(f"{step.who} is not rolled")
        self.scripts[step.who] = script
        self._crash(step)

    def _end(self, name: str) -> None:
        """The process is gone, and its connection: what it has sent may still arrive."""
        self.members[name] = None
        self.prints.pop(name, None)
        self.calling.pop(name, None)
        self.idle.discard(name)
        self.network = [each for each in self.network if each.member != name or not each.is_answer]

    def _expire(self, step: Step) -> None:
        key: TimerKey = step.which
        self._respond(self._hear(key, lambda: self.engine.fire(key, START_MS)))

    def fail_over(self, _step: Step) -> None:
        """Step: another node replays the log; whoever waits for an answer loses its connection."""
        self._touch("")
        self.engine = Engine(self.config, self.image)
        for record in self.records:
            self.engine.replay(record)
        parked, self.parked = self.parked, {}
        self._respond(self._tell(self._done(lambda: self.engine.loaded(START_MS))))
        for name, process, number in parked.values():
            if self.members[name] is not None and process == self.processes[name]:
                self._member(name).failed(number, self.clocks[name])

    # What follows from it

    def _member(self, name: str) -> Member:
        self._touch(name)
        member = self.members[name]
        if member is None:
            raise AssertionError(f"{name} does not run")
        return member

    def _call(self, member: str, request: Any) -> Call:
        # As many ids as processes: those of a member that joins again under a new one do not repeat.
        return Call(
            ticket=self.tickets,
            request=request,
            now_ms=START_MS,
            client_id=member,
            host="/127.0.0.1",
            fresh_id=UUID(int=self._joins()),
        )

    def _joins(self) -> int:
        group = self.group
        known = 0 if group is None else len(group.members) + len(getattr(group, "pending", ()))
        return 100 * sum(self.processes.values()) + known

    def _handle(self, member: str, request: Any, print_: int) -> Answers:
        """Have the coordinator answer a request, under the last ticket."""
        return self._hear(
            (member, print_, self._joins()), lambda: self.engine.handle(self._call(member, request))
        )

    def _hear(self, what: Hashable, act: Callable[[], CoordinatorResult]) -> Answers:
        """Have the coordinator do something, unless an equal one has done it already."""
        if self._parks():
            self._touch("")
            return self._tell(self._done(act))
        members = () if self.group is None else tuple(self.group.members)
        key = self.print_of_coordinator(), self.engine.timers(), members, what
        known = self._memory.get(key)
        if known is None:
            self._touch("")
            known = self._done(act)
            if not self._parks():
                self._memory[key] = known
                self._own.discard("")
            return self._tell(known)
        self.engine, self.prints[""] = known.engine, known.print
        self._own.discard("")
        return [(self.tickets, answer, print_) for _, answer, print_ in self._tell(known)]

    def _done(self, act: Callable[[], CoordinatorResult]) -> Done:
        """What the coordinator does, and what it does at once afterwards."""
        was_needed, SmallWorld.rule_was_needed = SmallWorld.rule_was_needed, False
        results = [act()]
        while (deadline := self.engine.next_deadline()) is not None and deadline <= START_MS:
            results.append(self.engine.expire(START_MS))
        is_needed, SmallWorld.rule_was_needed = SmallWorld.rule_was_needed, was_needed
        return Done(
            engine=self.engine,
            print=self.print_of_coordinator(),
            appended=tuple(each.records for each in results if each.records),
            answers=[
                (ticket, answer, hash(canonical(answer)))
                for each in results
                for ticket, answer in each.answers
            ],
            rule_was_needed=is_needed,
        )

    def _tell(self, done: Done) -> Answers:
        """Append what the coordinator has written; its answers."""
        SmallWorld.rule_was_needed |= done.rule_was_needed
        if self.keeps_log:
            for records in done.appended:
                self.last_append = len(self.records)
                self.records += records
        return done.answers

    def _parks(self) -> bool:
        """Whether the coordinator holds requests that it has not answered."""
        group = self.group
        return isinstance(group, ClassicGroup) and bool(group.joining or group.syncing)

    def _respond(self, answers: Answers) -> None:
        for ticket, answer, print_ in answers:
            parked = self.parked.pop(ticket, None)
            if parked is not None:
                name, process, number = parked
                if self.members[name] is not None and process == self.processes[name]:
                    self.network.append(Message(name, process, number, True, answer, print_))

    def _carry_outputs(self) -> None:
        for name, member in list(self.members.items()):
            if member is None or not member.outputs:
                continue
            while outputs := member.take():
                for output in outputs:
                    self._carry(name, member, output)
            if member.is_closed:
                self.members[name] = None
                self.prints.pop(name, None)
                self.is_over.add(name)

    def _carry(self, name: str, member: Member, output: object) -> None:
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

    def _send(self, name: str, member: Member, send: Send) -> None:
        if isinstance(send.request, FindCoordinator):
            member.answered(send.number, NODE, self.clocks[name])
        elif isinstance(send.request, OffsetFetch | OffsetCommit):
            self.tickets += 1
            for ticket, answer, _ in self._handle(name, send.request, hash(canonical(send.request))):
                if ticket == self.tickets:
                    member.answered(send.number, answer, self.clocks[name])
        else:
            print_ = hash(canonical(send.request))
            message = Message(name, self.processes[name], send.number, False, send.request, print_)
            self.network.append(message)

    def owned(self) -> Iterator[tuple[str, Member, Partitions]]:
        """What each member that runs takes for its own."""
        for name, member in self.members.items():
            if member is not None:
                yield name, member, member.owned


def _itself(value: Any) -> Any:
    return value


_COPIES: Mapping[type, Callable[[Any], Any]] = {dict: dict, list: list, set: set}
"""Of what a state holds: shallow, since what is in it is copied when it is touched."""
_Take: TypeAlias = Callable[[SmallWorld, Step], None]
_TAKE: Mapping[Verb, _Take] = {
    Verb.START: SmallWorld._start,
    Verb.WAKE: SmallWorld._wake,
    Verb.POLL: SmallWorld._poll,
    Verb.CALLED_BACK: SmallWorld._called_back,
    Verb.REQUEST: SmallWorld._request,
    Verb.ANSWER: SmallWorld._answer,
    Verb.LOSE: SmallWorld._lose,
    Verb.DUPLICATE: SmallWorld._duplicate,
    Verb.LEAVE: SmallWorld._leave,
    Verb.CRASH: SmallWorld._crash,
    Verb.KILL: SmallWorld._kill,
    Verb.ROLL: SmallWorld._roll,
    Verb.EXPIRE: SmallWorld._expire,
    Verb.FAIL_OVER: lambda world, step: world.fail_over(step),
}
_PERTURBATIONS = frozenset(
    {Verb.LOSE, Verb.DUPLICATE, Verb.LEAVE, Verb.CRASH, Verb.KILL, Verb.ROLL, Verb.EXPIRE, Verb.FAIL_OVER}
)
_EXPIRY = frozenset(
    {TimerKind.SESSION, TimerKind.PENDING_MEMBER, TimerKind.REBALANCE, TimerKind.JOIN, TimerKind.SYNC}
)
_SETTINGS = {
    "group.initial.rebalance.delay.ms": "0",
    "group.max.session.timeout.ms": str(LONG_MS),
    "group.consumer.session.timeout.ms": str(LONG_MS),
    "group.consumer.max.session.timeout.ms": str(LONG_MS),
    "group.consumer.assignment.interval.ms": "0",
    "offsets.retention.check.interval.ms": str(2**40),
}
_MEMBER_SETTINGS = MemberSettings(
    session_timeout_ms=LONG_MS,
    max_poll_interval_ms=LONG_MS,
    request_timeout_ms=LONG_MS,
    enable_auto_commit=False,
)
