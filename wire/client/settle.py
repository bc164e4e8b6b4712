"""Ask many brokers for many things at once, and again what moved meanwhile."""

import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from wire.client.address import Address
from wire.client.answers import Answers, Failure, K, failure_of
from wire.client.connection import Connection
from wire.client.errors import Unreachable, WireError
from wire.client.steps import Deadline, Steps, run_all

T = TypeVar("T")

Locate = Callable[[list[K], bool], dict[K, Address | Failure]]
"""Where every key is served; True asks for a fresh look-up."""

Ask = Callable[[Connection, list[K], Deadline], Steps[dict[K, T | Failure]]]
"""What one broker says of some keys."""

_FIRST_PAUSE_MS = 50
_LONGEST_PAUSE_MS = 1000
_ATTEMPTS_AT_A_DEAD_BROKER = 3


def settle(
    keys: Iterable[K],
    locate: Locate[K],
    ask: Ask[K, T],
    connection: Callable[[Address], Connection],
    deadline: Deadline,
    attempts: int | None = None,
) -> Answers[K, T]:
    """Locate every key, ask all brokers side by side, and repeat for what may work later.

    A retriable error code is repeated until the deadline (or `attempts` times in all), a dead broker a few times
    (its keys may move to another), anything else not at all.
    :raises WireError: when the first look-up fails; what a later one fails to find keeps the failure it had
    """
    order = list(dict.fromkeys(keys))
    outcomes: dict[K, T | Failure] = {}
    pending, pause_ms, attempt = order, _FIRST_PAUSE_MS, 1
    while pending:
        try:
            places = locate(pending, attempt > 1)
        except WireError:
            if attempt == 1:
                raise
            break
        dead = _round(pending, places, ask, connection, deadline, outcomes)
        if attempt >= _ATTEMPTS_AT_A_DEAD_BROKER:
            dead = set()
        pending = [key for key in pending if key in dead or _retriable(outcomes[key])]
        if not pending or attempt == attempts or deadline.remaining_ms() <= pause_ms:
            break
        time.sleep(pause_ms / 1000)
        pause_ms, attempt = min(2 * pause_ms, _LONGEST_PAUSE_MS), attempt + 1
    found: dict[K, T] = {}
    failed: dict[K, Failure] = {}
    for key in order:
        outcome = outcomes[key]
        if isinstance(outcome, Failure):
            failed[key] = outcome
        else:
            found[key] = outcome
    return Answers(found=found, failed=failed)


def _retriable(outcome: object) -> bool:
    return isinstance(outcome, Failure) and outcome.retriable


def _round(
    pending: list[K],
    places: dict[K, Address | Failure],
    ask: Ask[K, T],
    connection: Callable[[Address], Connection],
    deadline: Deadline,
    outcomes: dict[K, T | Failure],
) -> set[K]:
    """One round of questions, its answers put into `outcomes`. Returns the keys of brokers that are dead."""
    at: dict[Address, list[K]] = {}
    for key in pending:
        place = places[key]
        if isinstance(place, Failure):
            outcomes[key] = place
        else:
            at.setdefault(place, []).append(key)
    dead: set[K] = set()
    replies = run_all({place: ask(connection(place), keys, deadline) for place, keys in at.items()})
    for place, reply in replies.items():
        if isinstance(reply, WireError):
            outcomes |= dict.fromkeys(at[place], failure_of(reply))
            dead |= set(at[place]) if isinstance(reply, Unreachable) else set()
        else:
            left_out = Failure(message=f"{place} left it out of its answer")
            outcomes |= {key: reply.get(key, left_out) for key in at[place]}
    return dead
