"""A group of a snapshot planned and rehearsed, from every seed: a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import reduce
from operator import add
from typing import Any

from assignors.errors import AssignorFailedError, NoCommonProtocolError, UnknownAssignorError
from coordinator.errors import InvalidSetting
from groups.group_spec import wanted_topics
from groups.model import Group
from groups.what_if import WhatIf
from migration.model import Level, Plan, Verdict
from migration.paths.choose import has_arrived
from migration.plan import make_plan
from migration.rehearsal.errors import CannotRehearseError
from migration.rehearsal.play import cast_for, rehearse
from migration.rehearsal.rehearsed import Rehearsed
from migration.rehearsal.stage import Costs, Found
from migration.rules.case import Case
from pipeline.audit.judge import AuditSettings, case_in, quarantined
from pipeline.audit.work import GroupChunk, opened
from pipeline.rehearsal.schemas import FIGURES, UNRANKED
from pipeline.tables.schemas import QUARANTINE, table

PLAYED = table(("rehearsed", UNRANKED, True), ("quarantined", QUARANTINE, True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What holds for every group: how plans to the first destination are made, and from which seeds played."""

    planned: AuditSettings
    seeds: range = range(1, 2)


def play_rows(work: dict[str, Any], terms: Terms) -> Iterator[dict[str, Any]]:
    """Rows of PLAYED of a row of WORK."""
    if work["chunk"] is None:
        yield quarantined(work["source"], work["file"], work["reason"])
        return
    chunk = opened(work["chunk"])
    for group in chunk.groups:
        yield {"rehearsed": _of_group(chunk, group, terms)}


def _of_group(chunk: GroupChunk, group: Group, terms: Terms) -> dict[str, Any]:
    head: dict[str, Any] = {
        "source": chunk.source,
        "cluster": chunk.cluster.id,
        "group": group.id,
        "destination": terms.planned.destinations[0].value,
        "members": len(group.members),
        "seeds": 0,
        "why": [],
    }
    try:
        return head | _planned_and_played(chunk, group, terms)
    except Exception as error:
        # What Kohort's own code throws is a row that says so: it is not to end the rehearsals of all others.
        return head | {"verdict": "threw", "why": [f"{type(error).__name__}: {error}"]}


def _planned_and_played(chunk: GroupChunk, group: Group, terms: Terms) -> dict[str, Any]:
    settings = terms.planned
    wants_any = bool(settings.regexes) or wanted_topics([group], WhatIf()) is None
    topics = chunk.topics_of(group, all_of_them=wants_any)
    case = case_in(group, chunk.cluster, topics, settings.destinations[0], settings)
    plan = make_plan(case, concurrency=settings.concurrency, bounce_s=settings.bounce_s, with_costs=False)
    row: dict[str, Any] = {
        "warnings": sum(finding.level is Level.WARNING for finding in plan.findings),
        "path": plan.path or None,
    }
    if plan.verdict is Verdict.BLOCKED:
        rules = sorted({finding.rule for finding in plan.findings if finding.level is Level.BLOCKER})
        return row | {"verdict": "blocked", "why": rules}
    if has_arrived(case) or not plan.steps:
        return row | {"verdict": "arrived"}
    return row | _played(plan, case, terms.seeds)


def _played(plan: Plan, case: Case, seeds: range) -> dict[str, Any]:
    found = Found(
        group=replace(case.group, offsets=None),
        cluster=case.cluster,
        topics=case.topics or {},
    )
    try:
        cast = cast_for(plan, found)
        played = [rehearse(plan, found, cast, seed) for seed in seeds]
    except (
        CannotRehearseError, InvalidSetting, UnknownAssignorError, NoCommonProtocolError, AssignorFailedError,
    ) as error:  # fmt: skip
        return {"verdict": "unplayable", "why": [str(error)]}
    unsafe = [each for each in played if not each.is_safe]
    return {
        "verdict": "unsafe" if unsafe else "safe",
        "why": list(unsafe[0].unsafe) if unsafe else [],
        "unsafe_seed": unsafe[0].seed if unsafe else None,
        "seeds": len(played),
        "rounds": sum(len(step.course.rounds) for step in plan.steps if step.course is not None),
        **_worst(played),
    }


def _worst(played: Sequence[Rehearsed]) -> dict[str, Any]:
    costs = [asdict(reduce(add, (each.costs for each in one.rounds), Costs())) for one in played]
    lasted = [sum(each.gate_open_after_s or 0.0 for each in one.rounds) for one in played]
    worst: dict[str, Any] = {name: max(each[name] for each in costs) for name in FIGURES}
    return worst | {"duration_s": round(max(lasted), 1)}
