"""Memoized coordinator steps: equal coordinators in other states would take the same steps again.

A step changes the coordinator or a member, so a million states have only some thousand coordinators.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple, TypeAlias

from coordinator.engine.engine import Engine
from coordinator.engine.records import Record

Answers: TypeAlias = list[tuple[int, object, int]]
"""Tickets, their answers, and the fingerprints of the answers."""


class MemoizedStep(NamedTuple):
    """A step of a coordinator, and its result."""

    engine: Engine
    """The coordinator afterwards, shared by all states: a state changes only a copy of it."""
    print: int
    appended: tuple[tuple[Record, ...], ...]
    answers: Answers
    rule_was_needed: bool


class Memory(dict[Hashable, MemoizedStep]):
    """Coordinator steps by fingerprint, order of contents and action.

    States with the same fingerprint are equal, so coordinators with the same fingerprint do the same. Steps that park
    requests, or answer parked ones, are not memoized: their tickets differ in each state. All states of an
    exploration share one memory: a fork does not copy it, as it is not a plain dict.
    """
