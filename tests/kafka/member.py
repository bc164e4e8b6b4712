"""A running consumer, as a test sees it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.kafka.events import Event, EventLog, Partitions
from tests.kafka.wait import PATIENCE_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A running consumer. `stop` leaves the group as a clean shutdown does; `act` has it do something before its next
    poll; `crash` ends it without a word to the broker."""

    name: str
    log: EventLog
    stop: Callable[[], None]
    act: Callable[..., None]
    crash: Callable[[], None]

    def subscribe(self, topics: Sequence[str]) -> None:
        self.act("subscribe", topics=list(topics))

    def events(self) -> list[Event]:
        return self.log.of(self.name)

    def assignment(self) -> Partitions:
        known = [event.assignment for event in self.events() if event.assignment is not None]
        return known[-1] if known else {}

    def member_id(self) -> str:
        self.log.wait(lambda: bool(self._ids()), f"{self.name} has a member id", PATIENCE_S)
        return self._ids()[-1]

    def _ids(self) -> list[str]:
        return [event.member_id for event in self.events() if event.member_id]

    def wait_event(self, kind: str, timeout_s: float = PATIENCE_S) -> Event:
        self.log.wait(
            lambda: any(event.kind == kind for event in self.events()), f"{self.name} {kind}", timeout_s
        )
        return next(event for event in self.events() if event.kind == kind)

    def wait_assignment(self, partitions: Partitions, timeout_s: float = PATIENCE_S) -> None:
        self.log.wait(lambda: self.assignment() == partitions, f"{self.name} holds {partitions}", timeout_s)
