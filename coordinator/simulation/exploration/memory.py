"""What coordinators have done in an exploration, which those in other states would do once more.

A step changes the coordinator or a member, so among a million states there are only some thousand coordinators.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple, TypeAlias

from coordinator.engine.engine import Engine
from coordinator.engine.records import Record

Answers: TypeAlias = list[tuple[int, object, int]]
"""Tickets, what they are answered, and what the answers have in common with equal ones."""


class Done(NamedTuple):
    """What a coordinator has done, and what has come of it."""

    engine: Engine
    """As it is afterwards, for all states: none of them touches it, but a copy."""
    print: int
    appended: tuple[tuple[Record, ...], ...]
    answers: Answers
    rule_was_needed: bool


class Memory(dict[Hashable, Done]):
    """What coordinators have done: by their fingerprint, the order of what is in them, and what they were to do.

    States of the same fingerprint are one, so coordinators that have the same do the same. Not kept is what parks
    requests, or answers those that were: their tickets are each state's own. One for all states of an exploration: a
    fork shares it, as it is no plain dict.
    """
