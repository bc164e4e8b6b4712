"""The steps of a small group: those that a state allows, and the effect of each.
Messages, in order on each connection, wait until a step delivers them; a listener returns in a separate step."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from coordinator.consumer.member import ClientMember, ClientSubscription
from coordinator.consumer.outputs import TopicPartition
from coordinator.engine.engine import Engine
from coordinator.engine.timers import TimerKey, TimerKind
from coordinator.simulation.consumers import GROUP, NewMember, make_member
from coordinator.simulation.exploration.state import ExploredState
from coordinator.simulation.exploration.worlds import (
    LONG_MS,
    NO_PROCESS,
    START_MS,
    ExplorationStep,
    MessageInFlight,
    Verb,
)


def no_positions(_partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
    """Nothing is read here."""
    return {}


class SmallWorld(ExploredState):
    """See the module."""

    # Listing steps.

    def steps(self) -> list[ExplorationStep]:
        """All possible next steps, in a fixed order."""
        steps = list(self._steps_of_members())
        first = [(message.member, index, message.is_answer) for index, message in self._first_messages()]
        steps += [
            ExplorationStep(Verb.ANSWER if is_answer else Verb.REQUEST, who, at)
            for who, at, is_answer in first
        ]
        steps += self._expiries()
        if self.left and Verb.LOSE in self.perturb:
            steps += [ExplorationStep(Verb.LOSE, who, index) for who, index, _ in first]
        if self.left and Verb.DUPLICATE in self.perturb:
            steps += [
                ExplorationStep(Verb.DUPLICATE, who, at) for who, at, is_answer in first if not is_answer
            ]
        if self.left and Verb.FAIL_OVER in self.perturb:
            steps.append(ExplorationStep(Verb.FAIL_OVER, "the coordinator"))
        return steps

    def _first_messages(self) -> Iterator[tuple[int, MessageInFlight]]:
        """The first message of each connection, with its index in the network."""
        seen = set()
        for partition, message in enumerate(self.network):
            connection = message.member, message.process, message.is_answer
            if connection not in seen:
                seen.add(connection)
                yield partition, message

    def _steps_of_members(self) -> Iterator[ExplorationStep]:
        for name, member in self.members.items():
            if member is None:
                if name not in self.is_over:
                    yield ExplorationStep(Verb.START, name)
                continue
            if name in self.calling:
                yield ExplorationStep(Verb.CALLED_BACK, name)
            if self._may_call(name, member) and member.subscription.is_empty:
                yield ExplorationStep(Verb.SUBSCRIBE, name, self.scripts[name].topics)
            if name in self.idle:
                yield ExplorationStep(Verb.POLL, name)
            deadline = member.next_deadline()
            if deadline is not None and deadline < self.clocks[name] + LONG_MS // 2:
                yield ExplorationStep(Verb.WAKE, name)
            if self.left:
                yield from self._perturbations(name, member)

    def _perturbations(self, name: str, member: ClientMember) -> Iterator[ExplorationStep]:
        is_in_group, is_staying = member.epoch > 0, not member.is_closing
        calls = self._may_call(name, member) and not member.subscription.is_empty
        for verb, is_possible in (
            (Verb.LEAVE, is_in_group and is_staying and name not in self.calling),
            (Verb.CRASH, is_in_group),
            (Verb.KILL, is_in_group),
            (Verb.ROLL, is_staying and name in self.rolled),
            (Verb.ENFORCE_REBALANCE, calls),
            (Verb.UNSUBSCRIBE, calls),
        ):
            if is_possible and verb in self.perturb:
                yield ExplorationStep(verb, name)
        if calls and Verb.SUBSCRIBE in self.perturb:
            yield ExplorationStep(Verb.SUBSCRIBE, name, self.scripts[name].topics[:1])

    def _may_call(self, name: str, member: ClientMember) -> bool:
        """Whether its application can call a method of the consumer in place of `poll`."""
        return not (name in self.calling or member.is_closing or member.awaits_commit)

    def _expiries(self) -> Iterator[ExplorationStep]:
        """Expiries of timers: of members whose process has exited at any time, of others as a perturbation."""
        for key in self.engine.timers():
            if key.group != GROUP or key.kind not in _EXPIRY:
                continue
            if self._is_of_ended_process(key) or (self.left and Verb.EXPIRE in self.perturb):
                yield ExplorationStep(Verb.EXPIRE, "the coordinator", key)

    def _is_of_ended_process(self, key: TimerKey) -> bool:
        """Whether the timer is for a member whose process has exited: the member will be removed eventually."""
        if key.kind not in (TimerKind.SESSION, TimerKind.PENDING_MEMBER):
            return False
        if any(member is not None and member.member_id == key.member for member in self.members.values()):
            return False
        return not any(
            self._is_current(message) and getattr(message.content, "member", "") == key.member
            for message in self.network
        )

    # Taking one.

    def take(self, step: ExplorationStep) -> None:
        """Take a step returned by `steps`."""
        self.callbacks = []
        ExploredState.rule_was_needed = False
        # An expiry that removes a member whose process has exited is no perturbation.
        is_free = step.verb is Verb.EXPIRE and self._is_of_ended_process(step.which)
        # Nor is the second half of an application's change of its subscription.
        is_free |= step.verb is Verb.SUBSCRIBE and self._member(step.who).subscription.is_empty
        if step.verb in _PERTURBATIONS and not is_free:
            self.left -= 1
        _TAKE[step.verb](self, step)
        self._handle_outputs()
        self.has_broken_rule = self.has_broken_rule or ExploredState.rule_was_needed

    def _start(self, step: ExplorationStep) -> None:
        name = step.who
        self.processes[name] += 1
        script, uuid = self.scripts[name], f"{name}-{self.processes[name]}"
        self.members[name] = member = make_member(
            NewMember(
                name=name,
                client_id=name,
                script=script,
                image=self.image,
                positions=no_positions,
                member_uuid=uuid,
            )
        )
        self._own.add(name)
        self.prints.pop(name, None)
        member.enter_poll(self.clocks[name])

    def _wake(self, step: ExplorationStep) -> None:
        member = self._member(step.who)
        clock_ms = self.clocks[step.who] = max(self.clocks[step.who], member.next_deadline() or 0)
        member.wake(clock_ms)

    def _poll(self, step: ExplorationStep) -> None:
        self.idle.discard(step.who)
        self._member(step.who).enter_poll(self.clocks[step.who])

    def _called_back(self, step: ExplorationStep) -> None:
        del self.calling[step.who]
        self._member(step.who).called_back(self.clocks[step.who], threw=False)

    def _request(self, step: ExplorationStep) -> None:
        message = self.network.pop(step.which)
        self.tickets += 1
        if message.process != NO_PROCESS:
            self.parked[self.tickets] = message.member, message.process, message.number
        self._respond(self._handle(message.member, message.content, message.print))

    def _answer(self, step: ExplorationStep) -> None:
        message = self.network.pop(step.which)
        if self._is_current(message):
            self._member(message.member).answered(
                message.number, message.content, self.clocks[message.member]
            )

    def _lose(self, step: ExplorationStep) -> None:
        message = self.network.pop(step.which)
        if self._is_current(message):
            self._member(message.member).failed(message.number, self.clocks[message.member])

    def _duplicate(self, step: ExplorationStep) -> None:
        """Let the request stay in a buffer and arrive again, when no client waits for its answer."""
        message = self.network[step.which]
        self.network.append(message._replace(process=NO_PROCESS))

    def _enforce_rebalance(self, step: ExplorationStep) -> None:
        self._member(step.who).enforce_rebalance(self.clocks[step.who])

    def _subscribe(self, step: ExplorationStep) -> None:
        self._member(step.who).subscribe(ClientSubscription(topics=step.which), self.clocks[step.who])

    def _unsubscribe(self, step: ExplorationStep) -> None:
        self._member(step.who).unsubscribe(self.clocks[step.who])

    def _leave(self, step: ExplorationStep) -> None:
        self._member(step.who).close(self.clocks[step.who])

    def _crash(self, step: ExplorationStep) -> None:
        self._end(step.who)
        self._start(step)

    def _kill(self, step: ExplorationStep) -> None:
        self._end(step.who)
        self.is_over.add(step.who)

    def _roll(self, step: ExplorationStep) -> None:
        """Stop the process (without an instance id it leaves), then start it with its next settings."""
        self.scripts[step.who] = self.rolled.pop(step.who)
        self._crash(step)

    def _end(self, name: str) -> None:
        """Stop the process and close its connection; messages that it has sent may still arrive."""
        self.members[name] = None
        self.prints.pop(name, None)
        self.calling.pop(name, None)
        self.idle.discard(name)
        self.network = [
            message for message in self.network if message.member != name or not message.is_answer
        ]

    def _expire(self, step: ExplorationStep) -> None:
        key: TimerKey = step.which
        self._respond(self._memoized(key, lambda: self.engine.fire(key, START_MS)))

    def fail_over(self, _step: ExplorationStep) -> None:
        """Let another node replay the log; members that wait for an answer lose their connections."""
        self._touch("")
        self.engine = Engine(self.config, self.image)
        for record in self.records:
            self.engine.replay(record)
        parked, self.parked = self.parked, {}
        self._respond(self._append(self._done(lambda: self.engine.loaded(START_MS))))
        for name, process, number in parked.values():
            if self.members[name] is not None and process == self.processes[name]:
                self._member(name).failed(number, self.clocks[name])


_Take: TypeAlias = Callable[[SmallWorld, ExplorationStep], None]
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
    Verb.ENFORCE_REBALANCE: SmallWorld._enforce_rebalance,
    Verb.SUBSCRIBE: SmallWorld._subscribe,
    Verb.UNSUBSCRIBE: SmallWorld._unsubscribe,
    Verb.FAIL_OVER: lambda world, step: world.fail_over(step),
}
_PERTURBATIONS = frozenset(Verb) - {
    Verb.START,
    Verb.WAKE,
    Verb.POLL,
    Verb.CALLED_BACK,
    Verb.REQUEST,
    Verb.ANSWER,
}
_EXPIRY = frozenset(
    {TimerKind.SESSION, TimerKind.PENDING_MEMBER, TimerKind.REBALANCE, TimerKind.JOIN, TimerKind.SYNC}
)
