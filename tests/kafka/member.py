"""A running consumer, as a test sees it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.kafka.events import Event, EventLog, Partitions
from tests.kafka.wait import PATIENCE_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A running consumer.

    Attributes:
        name: the test's name for it, also its client id unless another was configured.
        log: where its events come in.
        stop: leave the group as a clean shutdown does, and wait for that.
        act: have it do something before its next poll; its program says what there is.
        crash: end it without a word to the broker, and wait for that.
    """

    name: str
    log: EventLog
    stop: Callable[[], None]
    act: Callable[..., None]
    crash: Callable[[], None]

    def subscribe(self, topics: Sequence[str]) -> None:
        """Have it want these topics instead, at its next poll; only consumers can."""
        self.act("subscribe", topics=list(topics))

    def events(self) -> list[Event]:
        return self.log.of(self.name)

    def assignment(self) -> Partitions:
        """Return the partitions it holds now, as its client library says."""
        known = [event.assignment for event in self.events() if event.assignment is not None]
        return known[-1] if known else {}

    def member_id(self) -> str:
        """Return its id in the group, once it has said it: the broker may show the member before that."""
        self.log.wait(lambda: bool(self._ids()), f"{self.name} has a member id", PATIENCE_S)
        return self._ids()[-1]

    def _ids(self) -> list[str]:
        return [event.member_id for event in self.events() if event.member_id]

    def wait_event(self, kind: str, timeout_s: float = PATIENCE_S) -> Event:
        """Return the first event of `kind`, waiting for it; TimeoutError when it does not come."""
        self.log.wait(
            lambda: any(event.kind == kind for event in self.events()), f"{self.name} {kind}", timeout_s
        )
        return next(event for event in self.events() if event.kind == kind)

    def wait_assignment(self, partitions: Partitions, timeout_s: float = PATIENCE_S) -> None:
        """Wait until it holds `partitions`; TimeoutError when that does not come."""
        self.log.wait(lambda: self.assignment() == partitions, f"{self.name} holds {partitions}", timeout_s)
