"""The document of a change of committed offsets: before → after, a row per partition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cli.render.document import Document, Table, columns
from cli.sources.writer import Failed
from groups.model import Cause, Problem
from groups.offsets.model import GroupChange, OffsetChange, Place

Outcome = Mapping[str, Mapping[Place, Failed | None]]
"""By group and partition; None: done."""
_NAMED = 5


def change_document(
    command: str,
    plans: Sequence[GroupChange],
    problems: Iterable[Problem],
    outcome: Outcome | None,
    facts: Mapping[str, Any],
) -> Document:
    """`outcome` is None as long as nothing was sent; `facts` are fields of the command's own."""
    errors = [*problems]
    for plan in plans:
        errors += [*plan.refusals, *plan.problems]
    for group, failures in (outcome or {}).items():
        errors += [
            Problem(subject=f"{group}, {topic}-{partition}", message=failed.message)
            for (topic, partition), failed in failures.items()
            if failed is not None
        ]
    return Document(
        command=command,
        data={
            **facts,
            "executed": outcome is not None,
            "groups": [
                _group_data(plan, None if outcome is None else outcome.get(plan.group)) for plan in plans
            ],
        },
        blocks=[_table(plans)],
        errors=merged(errors),
    )


def _group_data(plan: GroupChange, outcome: Mapping[Place, Failed | None] | None) -> dict[str, Any]:
    return {
        "group": plan.group,
        "type": plan.type.value,
        "state": plan.state.value,
        "exists": plan.exists,
        "members": [member.id for member in plan.members],
        "applicable": plan.applicable,
        "offsets": [_change_data(change, outcome) for change in plan.changes],
    }


def _change_data(change: OffsetChange, outcome: Mapping[Place, Failed | None] | None) -> dict[str, Any]:
    return {
        "topic": change.topic,
        "partition": change.partition,
        "before": change.before,
        "after": change.after,
        "earliest": change.earliest,
        "end": change.end,
        "lag_before": change.lag_before,
        "lag_after": change.lag_after,
        "remark": change.remark,
        "applied": None if outcome is None else applied(outcome.get(change.place)),
    }


def applied(failed: Failed | None) -> bool | None:
    """Whether a change that was sent was made; None where no answer came."""
    if failed is None:
        return True
    return False if failed.refused else None


def _table(plans: Sequence[GroupChange]) -> Table:
    remarks = any(change.remark for plan in plans for change in plan.changes)
    names = [
        "GROUP",
        "TOPIC",
        "#PARTITION",
        "#CURRENT-OFFSET",
        "#NEW-OFFSET",
        "#LOG-END-OFFSET",
        "#LAG",
        "#NEW-LAG",
    ]
    rows = [
        (
            plan.group,
            change.topic,
            change.partition,
            change.before,
            change.after,
            change.end,
            change.lag_before,
            change.lag_after,
            *((change.remark or "",) if remarks else ()),
        )
        for plan in plans
        for change in plan.changes
    ]
    return Table(columns=columns(*names, *(["REMARK"] if remarks else [])), rows=rows)


def merged(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """One problem for the same message about many partitions of a group: `payments, orders-0, orders-1 and 7 more`."""
    places: dict[tuple[str, str, Cause], list[str]] = {}
    for problem in problems:
        group, comma, place = problem.subject.rpartition(", ")
        subject = group if comma else problem.subject
        places.setdefault((subject, problem.message, problem.cause), []).extend([place] if comma else [])
    return tuple(
        Problem(subject=", ".join([group, *_some(named)]), message=message, cause=cause)
        for (group, message, cause), named in places.items()
    )


def _some(places: list[str]) -> list[str]:
    unique = list(dict.fromkeys(places))
    if len(unique) <= _NAMED:
        return unique
    return [*unique[: _NAMED - 1], f"{unique[_NAMED - 1]} and {len(unique) - _NAMED} more"]
