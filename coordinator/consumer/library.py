"""What client libraries do differently, each with its source."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from assignors.assignor import Leader
from coordinator.errors import InvalidSetting


class AfterError(Enum):
    """What an application does with an exception out of `poll`."""

    POLL_AGAIN = "poll-again"
    DIE = "die"
    """It closes the consumer and ends."""
    RESTART = "restart"
    """It closes the consumer, ends, and is started again, as a container is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """A client library: what its classic and its new consumer do where libraries differ."""

    name: str
    leader: Leader
    """Whose assignors run when a member of it leads."""
    assignors: tuple[str, ...]
    """Those of a consumer that names none, preferred first."""
    empty_callbacks: bool
    """Whether the listener is called for nothing: the end of a rebalance (KIP-429 Semantics 7)."""
    after_error: AfterError = AfterError.POLL_AGAIN
    source: str


LIBRARIES = {
    library.name: library
    for library in (
        Library(
            name="java",
            leader=Leader.JAVA,
            assignors=("range", "cooperative-sticky"),
            empty_callbacks=True,
            source="kafka-clients 4.3.1, ConsumerCoordinator and ConsumerMembershipManager",
        ),
        Library(
            name="librdkafka",
            leader=Leader.LIBRDKAFKA,
            assignors=("range", "roundrobin"),
            empty_callbacks=True,
            source="librdkafka 2.15, rdkafka_cgrp.c",
        ),
    )
}
"""By the name that a scenario gives them."""


def library_named(name: str) -> Library:
    """:raises InvalidSetting: there is none of that name"""
    try:
        return LIBRARIES[name]
    except KeyError:
        raise InvalidSetting(f"there is no client library {name!r}, only {', '.join(LIBRARIES)}") from None
