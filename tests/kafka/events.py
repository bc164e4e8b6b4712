"""The events a member's process prints, as they come."""

import json
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, Any

Partitions = dict[str, list[int]]
_WARNING = re.compile(
    r"\[([^\]]+)\] WARN \S+\.(?:Async|Classic)KafkaConsumer - (?:\[Consumer [^\]]*\] )?(.*)"
)
"""What a Java consumer itself logs, in the thread that has the member's name; its inner classes warn of much more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event of one member. `partitions`: what the listener was called with. `assignment`: what the member holds
    after it, or None. `reason`: the text of an error or an exception, or the number of answers. `assignor`: a call of
    WeightedAssignor. `heard_at`: when it was read, on the monotonic clock in seconds."""

    member: str
    kind: str
    partitions: Partitions
    assignment: Partitions | None
    member_id: str | None
    reason: str | None
    assignor: dict[str, Any] | None = None
    heard_at: float = field(default_factory=time.monotonic, compare=False)

    @classmethod
    def parse(cls, line: str) -> "Event":
        fields: dict[str, Any] = json.loads(line)
        return cls(
            member=fields["member"],
            kind=fields["event"],
            partitions=fields.get("partitions", {}),
            assignment=fields.get("assignment"),
            member_id=fields.get("member_id"),
            reason=fields.get("reason"),
            assignor=fields.get("assignor"),
        )


class EventLog:
    """Everything a process printed, read by a separate thread until the process closes its stdout."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._events: list[Event] = []
        self._other: list[str] = []
        self._ended = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def of(self, member: str) -> list[Event]:
        with self._changed:
            return [event for event in self._events if event.member == member]

    def wait(self, holds: Callable[[], bool], what: str, timeout_s: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: holds() or self._ended, timeout_s)
            if not holds():
                why = "the process has ended" if self._ended else f"not within {timeout_s:g} s"
                raise TimeoutError(f"{why}: {what}; it said:\n{self.tail()}")

    @property
    def ended(self) -> bool:
        with self._changed:
            return self._ended

    def tail(self) -> str:
        with self._changed:
            return "\n".join([*(str(event) for event in self._events[-5:]), *self._other[-20:]])

    def join(self) -> None:
        self._thread.join()

    def _read(self) -> None:
        with self._stream:
            for line in self._stream:
                self._add(line)
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _add(self, line: str) -> None:
        with self._changed:
            try:
                self._events.append(Event.parse(line))
            except (ValueError, KeyError):
                warning = _WARNING.match(line.rstrip())
                if warning is not None:
                    self._events.append(_warned(*warning.groups()))
                # Not an event: a log line or a stack trace, shown when something goes wrong.
                self._other.append(line.rstrip())
            self._changed.notify_all()


def _warned(member: str, message: str) -> Event:
    return Event(member=member, kind="warned", partitions={}, assignment=None, member_id=None, reason=message)
