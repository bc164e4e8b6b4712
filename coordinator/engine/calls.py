"""Calls of the coordinator, and their results. Each API has its own file with its request, its answer and its
handler; `engine.HANDLERS` lists them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar
from uuid import UUID

from coordinator.engine.records import Record, Written
from coordinator.engine.topics import TopicImage
from coordinator.errors import RequestRefused
from groups.regex.broker import judge
from wire.errors import ErrorCode
from wire.log.batch_header import ProducerIdentity

A = TypeVar("A")
SOME_NAMES = 256
"""How many names are matched before the time is looked at."""


class Request(ABC, Generic[A]):
    """A decoded request; A is the type of its answer. The version is in it only if Kafka's answer depends on it."""

    __slots__ = ()

    @abstractmethod
    def refused(self, error: RequestRefused) -> A:
        """The answer that refuses the whole request; with a message only if the answer has a field for it."""


AnyRequest: TypeAlias = Request[Any]
"""A request whose type of answer does not matter."""


Repeat: TypeAlias = Callable[[int], bool]
"""Repeats a heartbeat at a time in ms: extends the member's session. False, and nothing changes: it must be handled,
since the answer may be another one now."""


class Call(NamedTuple):
    """A request, its sender, its time, and the ticket of its answer."""

    ticket: int
    """Identifies the call in `CoordinatorResult.answers`; the caller chooses it and never reuses it."""
    request: AnyRequest
    now_ms: int
    client_id: str  # Empty for a null in the message
    host: str  # In Kafka's notation: `/127.0.0.1`
    fresh_id: UUID  # A random id for a member that this call may create
    refusal: ErrorCode = ErrorCode.NONE
    """Why the broker does not serve the group: NOT_COORDINATOR, or COORDINATOR_LOAD_IN_PROGRESS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegexRefresh:
    """A group's regexes, to be matched against all topics that may be described."""

    group: str
    regexes: tuple[str, ...]
    topics: TopicImage
    may_describe: Callable[[str], bool] | None

    def match(self, is_over: Callable[[], bool] = lambda: False) -> Mapping[str, tuple[str, ...]] | None:
        """The topics of each regex; None if time `is_over` before. In any thread, while the coordinator continues."""
        allows = self.may_describe
        names = [name for name in self.topics.topics if allows is None or allows(name)]
        matched = {}
        for regex in self.regexes:
            compiled, topics = judge(regex).regex, list[str]()
            for start in range(0, len(names) if compiled is not None else 0, SOME_NAMES):
                if is_over():
                    return None
                topics += compiled.matches(names[start : start + SOME_NAMES]) if compiled is not None else ()
            matched[regex] = tuple(sorted(topics))
        return matched


class CoordinatorResult(NamedTuple):
    """Records to append, then answers to send, by ticket, also to earlier calls that waited until now."""

    records: tuple[Record, ...] = ()
    written: tuple[Written, ...] = ()  # The records encoded for the log, if the engine has an encoder
    answers: tuple[tuple[int, object], ...] = ()
    producer: ProducerIdentity | None = None  # The producer whose transaction the records belong to, if any
    refreshes: tuple[RegexRefresh, ...] = ()
    """To be matched by the caller, and then passed to `Engine.regexes_matched`, if the caller has asked for it."""
