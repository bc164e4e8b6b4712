"""What members of both protocols have in common: requests and their answers, the coordinator, callbacks, commits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from coordinator.consumer.library import Library
from coordinator.consumer.outputs import Output, Partitions, TopicPartition
from coordinator.consumer.settings import MemberSettings
from coordinator.engine.topics import TopicImage


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who a member is, and how it is configured."""

    group: str
    client_id: str
    instance: str | None
    rack: str | None
    library: Library
    settings: MemberSettings


class Member(ABC):
    """A consumer. See the package: inputs are the methods, what they lead to is fetched with `take`.

    `position` gives the offset up to which the application has got the records of a partition that it owns; None
    where it reads none of it yet.
    """

    def __init__(
        self, identity: Identity, image: TopicImage, position: Callable[[TopicPartition], int | None]
    ) -> None:
        self.identity = identity
        self.image = image
        self.position = position
        self.owned: Partitions = frozenset()
        """What the client takes for its own (`Consumer.assignment`)."""
        self.in_poll = False
        self.outputs: list[Output] = []

    def take(self) -> list[Output]:
        """The outputs since the last time, in order."""
        outputs, self.outputs = self.outputs, []
        return outputs

    @property
    @abstractmethod
    def fetching(self) -> Partitions:
        """What of `owned` it reads: not what it is giving up, nor what it does not know the position of."""

    @property
    @abstractmethod
    def member_id(self) -> str:
        """Its id in the group; empty while it has none."""

    @property
    @abstractmethod
    def epoch(self) -> int:
        """Its generation or member epoch; -1 or 0 while it has none."""

    @property
    @abstractmethod
    def is_settled(self) -> bool:
        """Whether it is a member, waits for nothing and has nothing to do but to heartbeat."""

    @abstractmethod
    def enter_poll(self, now_ms: int) -> None:
        """The application calls `poll`, and stays there (calls it again and again) until `leave_poll`, a callback or
        an exception (`Raised`)."""

    @abstractmethod
    def leave_poll(self, now_ms: int) -> None:
        """The application is busy elsewhere; max.poll.interval.ms begins to run."""

    @abstractmethod
    def called_back(self, now_ms: int, *, threw: bool) -> None:
        """The listener has returned from the last Callback, or thrown. The member is in `poll` again, or in `close`."""

    @abstractmethod
    def answered(self, number: int, answer: object, now_ms: int) -> None:
        """An answer to a request that was sent; one that is not waited for any more is ignored."""

    @abstractmethod
    def failed(self, number: int, now_ms: int) -> None:
        """The connection broke before the answer, or the request's time is up."""

    @abstractmethod
    def wake(self, now_ms: int) -> None:
        """Do what is due, as soon as `next_deadline` has come."""

    @abstractmethod
    def next_deadline(self) -> int | None:
        """When to call `wake` next, in ms; may change with every input."""

    @abstractmethod
    def subscribe(self, topics: tuple[str, ...], now_ms: int) -> None:
        """`Consumer.subscribe` with other topics."""

    @abstractmethod
    def see_topics(self, image: TopicImage, now_ms: int) -> None:
        """The client's metadata are refreshed."""

    @abstractmethod
    def enforce_rebalance(self, now_ms: int) -> None:
        """KIP-568: rejoin in the next `poll`."""

    @abstractmethod
    def commit(self, now_ms: int) -> None:
        """`commitSync` of the positions of all that is owned; ends with `Committed`, and `Raised` where it fails."""

    @abstractmethod
    def close(self, now_ms: int) -> None:
        """`Consumer.close`: commit, give up, leave; ends with `Closed`."""
