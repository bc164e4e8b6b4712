"""What a plan is made of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Destination(Enum):
    """Where a migration ends."""

    COOPERATIVE = "cooperative"
    """The classic protocol with cooperative rebalancing (KIP-429)."""
    CONSUMER = "consumer"
    """The consumer protocol (KIP-848)."""


class Level(Enum):
    """How much a finding weighs."""

    BLOCKER = "blocker"
    WARNING = "warning"
    INFO = "info"


class Verdict(Enum):
    """May the plan be carried out?"""

    READY = "ready"
    WARNINGS = "warnings"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something about the group that a plan must take into account."""

    rule: str
    level: Level
    message: str
    remedy: str
    source: str
    """Where the rule comes from: a KIP, an issue, a trial on a running broker."""
    member: str | None = None
    """The member it is about; None for the whole group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Something to do, and how to know that it is done."""

    title: str
    actions: tuple[str, ...]
    config: tuple[str, ...] = ()
    """Lines of client configuration as they must read after the step."""
    expect: str = ""
    """What the group looks like while the step runs."""
    commands: tuple[str, ...] = ()
    """Commands that show whether the step is complete."""
    complete_when: str = ""
    danger: str = ""
    way_back: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a group gets from one protocol to another."""

    group: str
    origin: str
    destination: Destination
    clients: tuple[str, ...]
    """Libraries that the plan was made for."""
    findings: tuple[Finding, ...]
    steps: tuple[Step, ...]

    @property
    def verdict(self) -> Verdict:
        levels = {finding.level for finding in self.findings}
        if Level.BLOCKER in levels:
            return Verdict.BLOCKED
        return Verdict.WARNINGS if Level.WARNING in levels else Verdict.READY
