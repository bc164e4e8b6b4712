"""Assignors by name, side and leader: the built-in ones, and custom ones that installed packages offer.

A package offers its assignors through the entry-point group `kohort.assignors`; each entry point names an
`Assignor` (or a function without arguments that returns one). They are imported when they are first looked
up, and everything they answer is checked against the rules (`assignors.rules`).
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from difflib import get_close_matches
from functools import cache
from importlib.metadata import entry_points

from assignors.assignor import Assignor, Leader, RebalanceProtocol, Side
from assignors.errors import AssignorError
from assignors.rules import checked

__all__ = [
    "ENTRY_POINT_GROUP",
    "Assignor",
    "Leader",
    "RebalanceProtocol",
    "Side",
    "UnknownAssignorError",
    "built_in",
    "find",
    "known",
]

ENTRY_POINT_GROUP = "kohort.assignors"

_MODULES = (
    "assignors.java.range",
    "assignors.java.roundrobin",
    "assignors.java.sticky",
    "assignors.java.cooperative",
    "assignors.broker.uniform",
    "assignors.broker.range",
    "assignors.librdkafka.range",
    "assignors.librdkafka.roundrobin",
    "assignors.librdkafka.cooperative",
)
"""Each has `ASSIGNORS`. Imported at the first look-up: `assignors.registry` itself stays cheap to import."""


class UnknownAssignorError(AssignorError, LookupError):
    """There is no such assignor; the message lists those there are and names the nearest."""


@cache
def built_in() -> tuple[Assignor, ...]:
    """Kafka's and librdkafka's own assignors."""
    modules = [importlib.import_module(module) for module in _MODULES]
    return tuple(assignor for module in modules for assignor in module.ASSIGNORS)


def known(side: Side, leader: Leader | None = None) -> tuple[str, ...]:
    """Names of the assignors of a side and leader (client side: Java unless told), custom ones included."""
    own = {assignor.name for assignor in built_in() if _fits(assignor, side, leader)}
    return tuple(sorted(own | {point.name for point in entry_points(group=ENTRY_POINT_GROUP)}))


def find(name: str, side: Side, leader: Leader | None = None) -> Assignor:
    """The assignor of that name.

    `leader` counts on the client side only, where None means Java. Raises UnknownAssignorError.
    """
    for assignor in built_in():
        if assignor.name == name and _fits(assignor, side, leader):
            return assignor
    for point in entry_points(group=ENTRY_POINT_GROUP, name=name):
        custom = _load(point.load())
        if _fits(custom, side, leader):
            return checked(custom)
    raise UnknownAssignorError(_message(name, side, leader))


def _load(offered: object) -> Assignor:
    assignor = offered() if callable(offered) and not isinstance(offered, Assignor) else offered
    if not isinstance(assignor, Assignor):
        raise UnknownAssignorError(
            f"an entry point of {ENTRY_POINT_GROUP} offers {assignor!r}, not an Assignor"
        )
    return assignor


def _fits(assignor: Assignor, side: Side, leader: Leader | None) -> bool:
    if assignor.side is not side:
        return False
    return side is Side.BROKER or assignor.leader in (None, leader or Leader.JAVA)


def _message(name: str, side: Side, leader: Leader | None) -> str:
    names = known(side, leader)
    where = "the broker" if side is Side.BROKER else f"a {(leader or Leader.JAVA).value} leader"
    message = f"{where} has no assignor {name!r}; it has {', '.join(names)}"
    nearest = _nearest(name, names)
    if nearest is not None:
        return f"{message}. Did you mean {nearest!r}?"
    elsewhere = sorted({_place(a) for a in built_in() if a.name == name})
    return f"{message}. {name!r} exists for {' and '.join(elsewhere)}." if elsewhere else message


def _nearest(name: str, names: Sequence[str]) -> str | None:
    matches = get_close_matches(name.lower().replace("_", "-"), names, n=1)
    return matches[0] if matches else None


def _place(assignor: Assignor) -> str:
    if assignor.side is Side.BROKER:
        return "the broker"
    return f"a {assignor.leader.value} leader" if assignor.leader else "a client"
