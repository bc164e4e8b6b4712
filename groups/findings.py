"""Findings of checks: of a group for a plan (`migration`), or of a running group (`groups.diagnosis`)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from groups.trees import UNWRITTEN

Figure: TypeAlias = str | int | float | bool | None
Evidence: TypeAlias = Mapping[str, Figure | tuple[Figure, ...]]  # figures by name, unit last: `lag_ms`


class Level(Enum):
    """The severity, the worst first: blocker, warning, info in a plan; error, warning, note in a diagnosis."""

    BLOCKER = "blocker"
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something about the group that its operator must take into account."""

    rule: str
    level: Level
    message: str
    remedy: str
    source: str  # the source of the rule: a KIP, an issue, a trial on a running broker
    member: str | None = None  # the affected member; None if it is about the whole group or several members
    members: tuple[str, ...] = ()  # all affected, if several; the message names the first of them
    since_ms: int | None = field(default=None, metadata=UNWRITTEN)
    """In a diagnosis: the earliest moment (ms since 1970) at which the problem is known to have existed; else None."""
    evidence: Evidence = field(default_factory=dict, metadata=UNWRITTEN)  # a plan's is in its messages


def finding(
    level: Level,
    *,
    message: str,
    remedy: str,
    rule: str = "",
    source: str = "",
    members: Sequence[str] = (),
    since_ms: int | None = None,
    evidence: Evidence | None = None,
) -> Finding:
    return Finding(
        rule=rule,
        level=level,
        message=message,
        remedy=remedy,
        source=source,
        member=members[0] if len(members) == 1 else None,
        members=tuple(members) if len(members) > 1 else (),
        since_ms=since_ms,
        evidence=evidence or {},
    )


_BY_SEVERITY = tuple(Level)


def worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda finding: _BY_SEVERITY.index(finding.level)))
