"""A call of the coordinator, and what comes out of it.

Each API has a file of its own with its request, its answer and what handles it; `engine.HANDLERS` lists them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, NamedTuple, TypeVar
from uuid import UUID

from coordinator.engine.records import Record, Written
from coordinator.errors import RequestRefused
from wire.errors import ErrorCode
from wire.log.batch_header import ProducerIdentity

A = TypeVar("A")


class Request(ABC, Generic[A]):
    """What the wire carries, without its encoding; A is the type of its answer.

    A version is there only where Kafka's answer depends on it; None stands for a null of the wire. Reasons, which a
    broker writes to its log, are left out.
    """

    __slots__ = ()

    @abstractmethod
    def refused(self, error: RequestRefused) -> A:
        """The answer that refuses the request as a whole; a message only where the wire has room for one."""


class Call(NamedTuple):
    """A request, who sent it, when, and what to answer it by."""

    ticket: int
    """Names the call in `Result.answers`; the caller chooses it and never uses it twice."""
    request: Request[Any]
    now_ms: int
    client_id: str
    """Empty where the wire says null."""
    host: str
    """As Kafka shows it: `/127.0.0.1`."""
    fresh_id: UUID
    """A random id for a member that this call may create."""
    refusal: ErrorCode = ErrorCode.NONE
    """Why the broker that was asked does not answer for the group: NOT_COORDINATOR, or it loads it."""


class CoordinatorResult(NamedTuple):
    """Records to append, in order, and answers to send after they were appended.

    `answers` name the calls by their tickets: of this call, unless it has to wait, and of earlier ones that
    waited until now. Deadlines may have changed: ask `next_deadline` again.
    """

    records: tuple[Record, ...] = ()
    written: tuple[Written, ...] = ()
    """The same as the log is to hold them, where the engine has what writes them."""
    answers: tuple[tuple[int, object], ...] = ()
    producer: ProducerIdentity | None = None
    """Whose transaction the records belong to, where they are of one."""
