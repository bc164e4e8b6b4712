"""Plays members of either protocol against the real engine, on a clock that is set by the test. An application polls
all the time, and polls again after an exception, unless a test says otherwise. Requests are answered at once, unless
they are held, refused or lost."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID

from coordinator.configs.settings import Config
from coordinator.consumer import outputs
from coordinator.consumer.library import MemberSettings, library_named
from coordinator.consumer.member import ClientMember, Identity
from coordinator.engine.calls import Call, CoordinatorResult, Request
from coordinator.engine.engine import Engine
from coordinator.engine.topics import TopicImage
from coordinator.errors import RequestRefused
from tests.coordinator.engine.driver import START_MS, TOPICS
from wire.errors import ErrorCode

M = TypeVar("M", bound=ClientMember)
GROUP = "g"
POLL_AGAIN_MS = 100
"""How long after an exception an application polls again."""
_TOO_MANY = 10_000
"""Steps at one moment, after which it is a loop."""


@dataclass
class Listener:
    takes_ms: int = 0
    throws: bool = False


class Application:
    """A member with its application: what it polls, reads, and is called with."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.member: ClientMember
        self.callbacks: list[tuple[str, list[str]]] = []
        """Each call of the listener with its partitions as `topic-number`, since it was last asked."""
        self.raised: list[str] = []
        self.messages: list[str] = []
        self.committed: list[outputs.Committed] = []
        self.sent: list[Request[Any] | outputs.FindCoordinator] = []
        self.is_closed = False
        self.polls = True
        self.polls_again = True
        self.listener = {kind.value: Listener() for kind in outputs.CallbackKind}
        self.positions: dict[outputs.TopicPartition, int] = {}
        self.holds: Callable[[outputs.Send], bool] = lambda _send: False
        self.held: list[outputs.Send] = []
        self._poll_at_ms: int | None = 0
        self._return_at_ms: int | None = None
        self._called = ""

    def known_positions(
        self, partitions: Iterable[outputs.TopicPartition]
    ) -> dict[outputs.TopicPartition, int]:
        return {
            partition: self.positions[partition] for partition in partitions if partition in self.positions
        }

    def hold(self, *kinds: type[Any]) -> None:
        """Keep requests of these types back; all without any."""
        self.holds = lambda send: not kinds or isinstance(send.request, kinds)

    def calls(self) -> list[tuple[str, list[str]]]:
        calls, self.callbacks = self.callbacks, []
        return calls

    def requests(self, kind: type[Any]) -> list[Any]:
        return [request for request in self.sent if isinstance(request, kind)]

    @property
    def owns(self) -> list[str]:
        return named(self.member.owned)

    @property
    def fetches(self) -> list[str]:
        return named(self.member.fetching)


@dataclass
class Play:
    topics: TopicImage = TOPICS
    settings: dict[str, str] = field(default_factory=dict)
    now_ms: int = START_MS
    applications: list[Application] = field(default_factory=list)
    node: int | None = 1  # The coordinator; None while there is none
    refuses: Callable[[Request[Any]], ErrorCode | None] = lambda _request: None

    def __post_init__(self) -> None:
        delays = {"group.initial.rebalance.delay.ms": "0", "group.consumer.assignment.interval.ms": "0"}
        self.engine = Engine(Config.parse({**delays, **self.settings}), self.topics)
        self._tickets = 0
        self._asked: dict[int, tuple[Application, int]] = {}
        self._answer(self.engine.loaded(self.now_ms))

    def start(
        self,
        name: str,
        make: Callable[[Identity, Application], ClientMember],
        *,
        library: str = "java",
        instance: str | None = None,
        rack: str | None = None,
        **config: object,
    ) -> Application:
        """Start an application that polls; `make` makes its member."""
        settings = {key.replace("_", "."): str(value).lower() for key, value in config.items()}
        identity = Identity(
            group=GROUP,
            client_id=name,
            instance=instance,
            rack=rack,
            library=library_named(library),
            settings=MemberSettings.parse(settings),
        )
        application = Application(name)
        application.member = make(identity, application)
        self.applications.append(application)
        self.run()
        return application

    def refuse(self, kind: type[Any], code: ErrorCode, times: int = 2**31, member: str | None = None) -> None:
        """Refuse requests of a type, of one member if it is named."""
        left = [times]

        def refuses(request: Any) -> ErrorCode | None:
            if not isinstance(request, kind) or not left[0] or (member and request.member != member):
                return None
            left[0] -= 1
            return code

        self.refuses = refuses

    def accept(self) -> None:
        self.refuses = lambda _request: None

    def run(self) -> None:
        for _ in range(_TOO_MANY):
            if not self._step():
                return
        raise AssertionError("it never settles")

    def advance(self, ms: int) -> None:
        end = self.now_ms + ms
        self.run()
        while (at_ms := self._next()) is not None and at_ms <= end:
            self.now_ms = max(self.now_ms, at_ms)
            self.run()
        self.now_ms = end
        self.run()

    def rest(self) -> None:
        """Long enough for a group to reconcile, as short as no session ends."""
        self.advance(20_000)

    def _next(self) -> int | None:
        times = [self.engine.next_deadline()]
        for application in self.applications:
            if not application.is_closed:
                times += [application.member.next_deadline(), application._return_at_ms]
                times.append(application._poll_at_ms if application.polls else None)
        known = [time for time in times if time is not None]
        return min(known) if known else None

    def _step(self) -> bool:
        moved = False
        deadline = self.engine.next_deadline()
        if deadline is not None and deadline <= self.now_ms:
            self._answer(self.engine.expire(self.now_ms))
            moved = True
        for application in [one for one in self.applications if not one.is_closed]:
            moved = self._step_of(application) or moved
        return moved

    def _step_of(self, application: Application) -> bool:
        member, now_ms = application.member, self.now_ms
        outputs = member.take()
        for output in outputs:
            self._carry_out(application, output)
        if outputs or application.is_closed:
            return True
        if application._return_at_ms is not None and application._return_at_ms <= now_ms:
            application._return_at_ms = None
            member.called_back(now_ms, threw=application.listener[application._called].throws)
            return True
        if application.polls and application._poll_at_ms is not None and application._poll_at_ms <= now_ms:
            application._poll_at_ms = None
            member.enter_poll(now_ms)
            return True
        deadline = member.next_deadline()
        if deadline is not None and deadline <= now_ms:
            member.wake(now_ms)
            assert member.outputs or member.next_deadline() != deadline, "woken for nothing"
            return True
        return False

    def _carry_out(self, application: Application, output: outputs.Output) -> None:
        match output:
            case outputs.Send():
                application.sent.append(output.request)
                if application.holds(output):
                    application.held.append(output)
                else:
                    self.deliver(application, output)
            case outputs.Callback():
                application._called = output.kind.value
                application.callbacks.append((output.kind.value, named(output.partitions)))
                application._return_at_ms = self.now_ms + application.listener[application._called].takes_ms
            case outputs.Raised():
                application.raised.append(output.error)
                application.messages.append(output.message)
                application._poll_at_ms = self.now_ms + POLL_AGAIN_MS if application.polls_again else None
            case outputs.Committed():
                application.committed.append(output)
            case outputs.Positioned():
                for partition, offset in output.offsets.items():
                    application.positions[partition] = max(offset, 0)
            case outputs.Closed():
                application.is_closed = True

    def deliver(self, application: Application, send: outputs.Send) -> None:
        request = send.request
        if isinstance(request, outputs.FindCoordinator):
            application.member.answered(send.number, self.node, self.now_ms)
            return
        code = self.refuses(request)
        if send.node != self.node:
            code = ErrorCode.NOT_COORDINATOR
        if code is not None:
            application.member.answered(
                send.number, request.refused(RequestRefused(code, "why")), self.now_ms
            )
            return
        self._tickets += 1
        self._asked[self._tickets] = (application, send.number)
        call = Call(
            ticket=self._tickets,
            request=request,
            now_ms=self.now_ms,
            client_id=application.name,
            host="/127.0.0.1",
            fresh_id=UUID(int=self._tickets),
        )
        self._answer(self.engine.handle(call))

    def _answer(self, result: CoordinatorResult) -> None:
        for ticket, answer in result.answers:
            application, number = self._asked.pop(ticket)
            if not application.is_closed and number:
                application.member.answered(number, answer, self.now_ms)

    def release(self, application: Application) -> None:
        """Deliver what was held, and hold no more."""
        application.holds = _never
        held, application.held = application.held, []
        for send in held:
            self.deliver(application, send)
        self.run()

    def lose(self, application: Application, *, answered: bool) -> None:
        """The connection breaks before the requests that are held arrive, or before their answers do; hold no more."""
        application.holds = _never
        held, application.held = application.held, []
        for send in held:
            if answered:
                self.deliver(application, outputs.Send(0, send.node, send.request, send.timeout_ms))
            application.member.failed(send.number, self.now_ms)
        self.run()

    def pause(self, application: Application) -> None:
        application.polls = False
        application._poll_at_ms = 0
        application.member.leave_poll(self.now_ms)

    def resume(self, application: Application) -> None:
        application.polls = True
        self.run()

    def close(self, application: Application) -> None:
        application.polls = False
        application.member.close(self.now_ms)
        self.run()

    def kill(self, application: Application) -> None:
        application.is_closed = True

    def change_topics(self, image: TopicImage, *, seen: bool = True) -> None:
        """Topics are created, changed, deleted; `seen`: the members' metadata show it."""
        self.topics = image
        self._answer(self.engine.update_topics(image, self.now_ms))
        if seen:
            self.show_topics()

    def show_topics(self) -> None:
        for application in self.applications:
            application.member.refresh_topics(self.topics, self.now_ms)
        self.run()


def named(partitions: outputs.Partitions) -> list[str]:
    return [f"{topic}-{partition}" for topic, partition in sorted(partitions)]


def _never(_send: outputs.Send) -> bool:
    return False
