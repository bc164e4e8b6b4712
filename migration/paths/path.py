"""A way from one protocol to another."""

from __future__ import annotations

from dataclasses import dataclass

from migration.model import Alternative, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """The steps, what the way is called, and the ways not taken."""

    name: str
    steps: tuple[Step, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
