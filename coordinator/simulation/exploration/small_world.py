"""The steps of a small group: those that a state allows, and the effect of each.
Messages, in order on each connection, wait until a step delivers them; a listener returns in a separate step."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from coordinator.engine.engine import Engine
from coordinator.engine.timers import TimerKey, TimerKind
from coordinator.simulation.exploration.parts import ClientPart
from coordinator.simulation.exploration.state import ExploredState
from coordinator.simulation.exploration.worlds import (
    NO_PROCESS,
    START_MS,
    ExplorationStep,
    MessageInFlight,
    Verb,
)


class SmallWorld(ExploredState):
    """See the module."""

    # Listing steps.

    def steps(self) -> list[ExplorationStep]:
        """All possible next steps, in a fixed order."""
        steps = [step for client in self.clients.values() for step in client.possible[self.left > 0]]
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

    def _first_messages(self) -> list[tuple[int, MessageInFlight]]:
        """The first message of each connection, with its index in the network."""
        first: dict[tuple[str, int, bool], tuple[int, MessageInFlight]] = {}
        for index, message in enumerate(self.network):
            first.setdefault((message.member, message.process, message.is_answer), (index, message))
        return list(first.values())

    def _expiries(self) -> list[ExplorationStep]:
        """Expiries of timers: of members whose process has exited at any time, of others as a perturbation."""
        expiries = self.coordinator.expiries
        if self.left and Verb.EXPIRE in self.perturb:
            return expiries
        return [step for step in expiries if self._is_of_ended_process(step.which)]

    def _is_of_ended_process(self, key: TimerKey) -> bool:
        """Whether the timer is for a member whose process has exited: the member will be removed eventually."""
        if key.kind not in (TimerKind.SESSION, TimerKind.PENDING_MEMBER):
            return False
        if key.member in [member.member_id for _, member, _ in self.owned()]:
            return False
        return not any(
            self._is_current(message) and getattr(message.content, "member", "") == key.member
            for message in self.network
        )

    # Taking one.

    def take(self, step: ExplorationStep) -> None:
        """Take a step returned by `steps`."""
        self.taken = []
        # An expiry that removes a member whose process has exited is no perturbation.
        is_free = step.verb is Verb.EXPIRE and self._is_of_ended_process(step.which)
        # Nor is the second half of an application's change of its subscription.
        is_free |= step.verb is Verb.SUBSCRIBE and self.clients[step.who].running.subscription.is_empty
        if step.verb in _PERTURBATIONS and not is_free:
            self.left -= 1
        _TAKE[step.verb](self, step)

    def _of_client(self, step: ExplorationStep) -> None:
        """A step of a client alone."""
        self._step(step.who, _OF_CLIENTS[step.verb], step.verb)

    def _start(self, step: ExplorationStep) -> None:
        self._step(step.who, lambda client: client.start(self.image), step.verb)

    def _request(self, step: ExplorationStep) -> None:
        message = self.network.pop(step.which)
        ticket = self._ticket()
        self.parked[ticket] = message
        self._respond(self._handle(ticket, message))

    def _answer(self, step: ExplorationStep) -> None:
        message = self.network.pop(step.which)
        if self._is_current(message):
            number, answer = message.number, message.content
            self._step(message.member, lambda client: client.answered(number, answer), number, message.print)

    def _lose(self, step: ExplorationStep) -> None:
        message = self.network.pop(step.which)
        if self._is_current(message):
            self._fail(message)

    def _fail(self, message: MessageInFlight) -> None:
        """The client loses the connection on which it waits for an answer."""
        self._step(message.member, lambda client: client.answered(message.number, None), message.number)

    def _duplicate(self, step: ExplorationStep) -> None:
        """Let the request stay in a buffer and arrive again, when no client waits for its answer."""
        message = self.network[step.which]
        self.network.append(message._replace(process=NO_PROCESS))

    def _subscribe(self, step: ExplorationStep) -> None:
        self._step(step.who, lambda client: client.subscribe(step.which), step.verb, step.which)

    def _crash(self, step: ExplorationStep) -> None:
        self._disconnect(step.who)
        self._step(step.who, lambda client: client.crash(self.image), step.verb)

    def _kill(self, step: ExplorationStep) -> None:
        self._disconnect(step.who)
        self._of_client(step)

    def _roll(self, step: ExplorationStep) -> None:
        self._disconnect(step.who)
        self._step(step.who, lambda client: client.roll(self.image), step.verb)

    def _disconnect(self, name: str) -> None:
        """Close the connection of a process; messages that it has sent may still arrive."""
        self.network = [
            message for message in self.network if message.member != name or not message.is_answer
        ]

    def _expire(self, step: ExplorationStep) -> None:
        key: TimerKey = step.which
        self._respond(self._coordinate(lambda engine: engine.fire(key, START_MS), key))

    def fail_over(self, _step: ExplorationStep) -> None:
        """Let another node replay the log; members that wait for an answer lose their connections."""
        engine = Engine(self.config, self.image)
        for record in self.records:
            engine.replay(record)
        parked, self.parked = self.parked, {}
        self._respond(self._apply(self._coordinated(engine, lambda engine: engine.loaded(START_MS))))
        for message in parked.values():
            if self._is_current(message):
                self._fail(message)


_Take: TypeAlias = Callable[[SmallWorld, ExplorationStep], None]
_OF_CLIENTS: Mapping[Verb, Callable[[ClientPart], None]] = {
    Verb.WAKE: ClientPart.wake,
    Verb.POLL: ClientPart.poll,
    Verb.CALLED_BACK: ClientPart.called_back,
    Verb.LEAVE: ClientPart.close,
    Verb.KILL: ClientPart.kill,
    Verb.ENFORCE_REBALANCE: ClientPart.enforce_rebalance,
    Verb.UNSUBSCRIBE: ClientPart.unsubscribe,
}
_TAKE: Mapping[Verb, _Take] = {
    **dict.fromkeys(_OF_CLIENTS, SmallWorld._of_client),
    Verb.START: SmallWorld._start,
    Verb.REQUEST: SmallWorld._request,
    Verb.ANSWER: SmallWorld._answer,
    Verb.LOSE: SmallWorld._lose,
    Verb.DUPLICATE: SmallWorld._duplicate,
    Verb.CRASH: SmallWorld._crash,
    Verb.KILL: SmallWorld._kill,
    Verb.ROLL: SmallWorld._roll,
    Verb.EXPIRE: SmallWorld._expire,
    Verb.SUBSCRIBE: SmallWorld._subscribe,
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
