"""What a group's type and assignor are after each step of a plan, as far as its gates say it."""

from __future__ import annotations

from dataclasses import dataclass

from groups.model import GroupType
from migration.conditions import ProtocolIs, TypeIs
from migration.model import Plan, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """None is anything."""

    type: GroupType | None
    protocol: str | None

    def __str__(self) -> str:
        kind = self.type.value if self.type else "any type"
        return f"{kind} ({self.protocol})" if self.protocol else kind


def outcomes(plan: Plan) -> tuple[Outcome, ...]:
    """Before the first step, and after each."""
    baseline = plan.baseline
    found = [
        Outcome(type=baseline.type, protocol=baseline.protocol or None)
        if baseline
        else Outcome(type=None, protocol=None)
    ]
    for step in plan.steps:
        found.append(_after(step, found[-1]))
    return tuple(found)


def _after(step: Step, before: Outcome) -> Outcome:
    kinds = [one.type for one in step.gate if isinstance(one, TypeIs)]
    protocols = [one.protocol for one in step.gate if isinstance(one, ProtocolIs)]
    kind = kinds[-1] if kinds else before.type
    if protocols:
        return Outcome(type=kind, protocol=protocols[-1])
    return Outcome(type=kind, protocol=before.protocol if kind is before.type else None)
