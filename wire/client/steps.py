"""Several conversations with brokers at once, without threads. A conversation is a generator that yields `SocketWait`
when it needs its socket; `run_all` resumes each when its socket is ready, so a silent broker delays no other."""

import math
import selectors
import time
from collections.abc import Callable, Generator, Hashable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeVar

from wire.client.errors import RequestTimedOut, WireError
from wire.errors import Failure

READ = selectors.EVENT_READ
WRITE = selectors.EVENT_WRITE
LONGEST_SLEEP_MS = 200  # the longest sleep: a Ctrl-C that arrives just before it is only noticed after it


class Deadline:
    """Counts down from `timeout_ms` milliseconds; the clock is `time.monotonic`."""

    __slots__ = ("_at",)
    _last: ClassVar[float] = math.inf  # the end of all deadlines, once the command was stopped

    def __init__(self, timeout_ms: float) -> None:
        self._at = time.monotonic() + timeout_ms / 1000

    def remaining_ms(self) -> float:
        return max(0.0, (min(self._at, Deadline._last) - time.monotonic()) * 1000)

    @classmethod
    def stop_all(cls, within_s: float | None) -> None:
        """Send no more requests, and wait at most this long for answers. Safe in a signal handler."""
        cls._last = math.inf if within_s is None else time.monotonic() + within_s

    @classmethod
    def is_stopping(cls) -> bool:
        return cls._last != math.inf

    def within(self, timeout_ms: float) -> "Deadline":
        """A deadline `timeout_ms` from now, or this one if that comes first."""
        return Deadline(min(timeout_ms, self.remaining_ms()))


class Stream(Protocol):
    """A non-blocking socket, plain or encrypted: a call that would have to wait raises BlockingIOError."""

    def fileno(self) -> int: ...

    def send(self, data: memoryview, /) -> int: ...

    def recv(self, size: int, /) -> bytes: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class SocketWait:
    """A wait until `sock` is ready for `events`; at the deadline `Expired` is thrown. `sock` None: a pause."""

    sock: Stream | None
    events: int
    deadline: Deadline


class Expired(Exception):
    """Thrown into a conversation whose wait reached its deadline."""


T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
Steps = Generator[SocketWait, None, T]
Replies = Steps[dict[K, T | Failure]]
"""One broker's results for some keys."""


def ready(sock: Stream, events: int, deadline: Deadline, address: object, activity: str) -> Steps[None]:
    """Pause until the socket is ready. Raises RequestTimedOut: the deadline passed, with the `activity`."""
    try:
        yield SocketWait(sock, events, deadline)
    except Expired:
        raise RequestTimedOut(address, activity) from None


def run(steps: Steps[T]) -> T:
    outcome = run_all({None: steps})[None]
    if isinstance(outcome, WireError):
        raise outcome
    return outcome


def run_all(
    conversations: Mapping[K, Steps[T]], enough: Callable[[T | WireError], bool] = lambda _: False
) -> dict[K, T | WireError]:
    """Run all conversations; a `WireError` replaces a result. When `enough` accepts one, the others are closed."""
    outcomes: dict[K, T | WireError] = {}
    waiting: dict[K, SocketWait] = {}
    with selectors.DefaultSelector() as selector:
        for key, steps in conversations.items():
            _advance(key, steps, outcomes, waiting, expired=False)
        while waiting and not any(map(enough, outcomes.values())):
            for key, wait in waiting.items():
                if wait.sock is not None:
                    selector.register(wait.sock, wait.events, key)
            timeout_ms = min(wait.deadline.remaining_ms() for wait in waiting.values())
            ready = {event.data for event, _ in selector.select(min(timeout_ms, LONGEST_SLEEP_MS) / 1000)}
            for wait in waiting.values():
                if wait.sock is not None:
                    selector.unregister(wait.sock)
            for key, wait in list(waiting.items()):
                expired = key not in ready and not wait.deadline.remaining_ms()
                if key in ready or expired:
                    del waiting[key]
                    _advance(key, conversations[key], outcomes, waiting, expired=expired)
    for key in waiting:
        conversations[key].close()
    return {key: outcomes[key] for key in conversations if key in outcomes}


def _advance(
    key: K, steps: Steps[T], outcomes: dict[K, T | WireError], waiting: dict[K, SocketWait], *, expired: bool
) -> None:
    try:
        waiting[key] = steps.throw(Expired()) if expired else next(steps)
    except StopIteration as stop:
        outcomes[key] = stop.value
    except WireError as error:
        outcomes[key] = error


def begun(steps: Steps[T]) -> Steps[T]:
    """A conversation whose first step is taken now, which sends a request: its answer can arrive while the caller does
    something else, before it continues with the result."""
    try:
        wait = next(steps)
    except StopIteration as stop:
        return _ended(stop.value)
    return _continued(steps, wait)


def _ended(value: T) -> Steps[T]:
    yield from ()
    return value


def _continued(steps: Steps[T], wait: SocketWait) -> Steps[T]:
    try:
        while True:
            try:
                yield wait
            except Expired as expired:
                wait = steps.throw(expired)
            else:
                wait = next(steps)
    except StopIteration as stop:
        value: T = stop.value
        return value
    finally:
        steps.close()
