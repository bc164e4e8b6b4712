"""Judges groups, each for one destination, with the rules of `kohort plan` and `kohort dry-run`, as rows."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache

from pyspark.sql import DataFrame
from pyspark.sql.types import StructField, StructType

from groups.dry_run import DryRun, DryRunRequest, dry_run_all
from groups.findings import Level
from groups.group_spec import WhatIf, current_of, wanted_topics
from groups.model import Cluster, Group, GroupType, Topic
from migration.client_config import ClientConfig, configs_of_group
from migration.clients import DeclaredClients
from migration.expectation import destinations_assignor, library_of_all, restart_now_s, restart_then_s
from migration.model import Destination, Plan
from migration.paths.choose import has_arrived
from migration.plan import case_of, make_plan
from migration.rules.case import DEFAULT_BOUNCE_S, Case, PlanRequest
from migration.rules.catalog import nothing_to_migrate
from migration.rules.regexes import ComparedRegex, compared_regexes
from pipeline.audit.java_regexes import why_unasked
from pipeline.audit.schemas import AUDIT, AUDIT_REGEXES
from pipeline.audit.work import GroupChunk, each_row, unpacked
from pipeline.errors import PipelineError
from pipeline.tables.schemas import QUARANTINE, STRINGS, TableRow, table

ROUNDS_WALKED = 1  # rounds of a step: its costs are those of the middle round, times their number


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings:
    """Settings of all groups; `kohort plan` has the same as options for one group."""

    destinations: tuple[Destination, ...] = (Destination.COOPERATIVE, Destination.CONSUMER)
    declared: DeclaredClients = field(default_factory=DeclaredClients)
    configs: tuple[ClientConfig, ...] = ()
    regexes: tuple[str, ...] = ()
    concurrency: int = 1
    bounce_s: float = DEFAULT_BOUNCE_S
    with_costs: bool = True  # the cost and gain of a migration; without them nothing is ranked


def judged(
    group: Group, cluster: Cluster, topics: tuple[Topic, ...], settings: AuditSettings
) -> Iterator[TableRow]:
    """For every destination, the columns of AUDIT that depend on one group: all but source, risk, score and rank."""
    cases = [case_in(group, cluster, topics, destination, settings) for destination in settings.destinations]

    @cache
    def now_s() -> float | None:  # the same for every destination
        return restart_now_s(cases[0], topics=cases[0].topics or {}, bounce_s=settings.bounce_s)

    for case in cases:
        yield _judged(case, now_s, settings)


def _judged(case: Case, restart_now: Callable[[], float | None], settings: AuditSettings) -> TableRow:
    plan = make_plan(case)
    known = {**_about(case), **_of_plan(case, plan)}
    never = nothing_to_migrate(case)
    if never is not None:
        return known | {"dry_run_problem": never.message}
    topics = case.topics or {}
    run, problem = _dry_run_of(case, topics)
    known |= {"dry_run": _of_run(run), "dry_run_problem": problem}
    if settings.with_costs:
        now_s, then_s = restart_now(), None
        if not known["arrived"]:
            then_s = restart_then_s(case, run, topics=topics, bounce_s=settings.bounce_s)
        gain_s = None if now_s is None or then_s is None else round(now_s - then_s, 1)
        restart = {"restart_now_s": now_s, "restart_then_s": then_s, "gain_s": gain_s}
        known |= {**_of_steps(plan), **restart}
    return known


def case_in(
    group: Group,
    cluster: Cluster,
    topics: tuple[Topic, ...],
    destination: Destination,
    settings: AuditSettings,
) -> Case:
    request = PlanRequest(
        destination=destination,
        declared=settings.declared,
        regexes=settings.regexes,
        configs=configs_of_group(settings.configs, group.id),
        concurrency=settings.concurrency,
        bounce_s=settings.bounce_s,
        with_costs=settings.with_costs,
        most_rounds=ROUNDS_WALKED,
    )
    return case_of(request, group, cluster, topics=topics, settings=group.settings)


def _about(case: Case) -> TableRow:
    group = case.group
    named: set[str] = set()
    partitions: set[tuple[str, int]] = set()
    for member in group.members:
        current = current_of(group, member)
        partitions |= {(topic, number) for topic, numbers in current.items() for number in numbers}
        named |= {topic for topic, numbers in current.items() if numbers}
        named.update(member.subscription.topics if member.subscription else ())
    libraries = {client.library.name for client in case.clients.values() if client.library}
    return {
        "cluster": case.cluster.id,
        "group": group.id,
        "destination": case.destination.value,
        "type": group.type.value,
        "state": group.state.value,
        "protocol_type": group.protocol_type,
        "protocol": group.protocol,
        "epoch": group.generation if group.type is GroupType.CLASSIC else group.group_epoch,
        "members": len(group.members),
        "topics": len(named),
        "partitions": len(partitions),
        "libraries": sorted(libraries),
    }


def _of_plan(case: Case, plan: Plan) -> TableRow:
    return {
        "arrived": has_arrived(case),
        "verdict": plan.verdict.value,
        "blocked_by": _rules(plan, Level.BLOCKER),
        "warned_by": _rules(plan, Level.WARNING),
        "findings": [
            asdict(finding) | {"level": finding.level.value, "members": list(finding.members)}
            for finding in plan.findings
        ],
        "path": plan.path or None,
    }


def _rules(plan: Plan, level: Level) -> list[str]:
    return sorted({finding.rule for finding in plan.findings if finding.level is level})


def _of_steps(plan: Plan) -> TableRow:
    """The sums over the steps; sums of costs are missing if the costs of a step could not be computed."""
    if not plan.steps:
        return {}
    restarts = sum(len(members) for step in plan.steps for members in step.rounds)
    moving = [step for step in plan.steps if step.rollout is not None]
    costs = [step.expectation for step in moving if step.expectation is not None]
    if len(costs) < len(moving):
        return {"restarts": restarts}
    return {
        "restarts": restarts,
        "rebalances": sum(cost.rebalances for cost in costs),
        "moved": sum(cost.moved for cost in costs),
        "without_owner_s": round(sum(cost.without_owner_s for cost in costs), 1),
    }


def _dry_run_of(case: Case, topics: Mapping[str, Topic]) -> tuple[DryRun | None, str | None]:
    """The dry run of the destination's assignor, and the reason why there is none, or the failure in it."""
    assignor, side = destinations_assignor(case)
    request = DryRunRequest(assignor=assignor, side=side, leader=library_of_all(case))
    runs, problems = dry_run_all([case.group], topics, request)
    return (runs[0] if runs else None), (problems[0].message if problems else None)


def _of_run(run: DryRun | None) -> TableRow | None:
    if run is None:
        return None
    same = ("assignor", "rests", "owned", "moved", "minimum_moved")
    return {name: getattr(run, name) for name in same} | {
        "side": run.side.value,
        "procedure": run.procedure.value,
        "rebalances": len(run.rebalances),
        "revoked": sum(rebalance.revoked for rebalance in run.rebalances),
        "spread_before": run.before.spread,
        "spread_after": run.after.spread,
    }


def _of_regex(case: Case, compared: ComparedRegex) -> TableRow:
    """The columns of AUDIT_REGEXES that need no Java, and `broker_names`, to compare with Java's."""
    comparison = compared.comparison
    names = tuple(case.topics) if case.topics is not None else None
    return {
        "cluster": case.cluster.id,
        "group": case.group.id,
        "pattern": compared.pattern,
        "members": len(compared.members),
        "library": None if compared.engine is None else compared.engine.value,
        "valid": comparison.verdict.valid,
        "reason": comparison.verdict.reason,
        "danger": comparison.verdict.danger,
        "literal": comparison.is_literal,
        "client_reason": comparison.client_reason,
        "flagged": list(comparison.flagged),
        "stands": comparison.is_unchanged,
        "broker_topics": _count(comparison.matched.broker),
        "client_topics": _count(comparison.matched.client),
        "gained": _listed(comparison.matched.gained),
        "lost": _listed(comparison.matched.lost),
        "rewritten": comparison.rewritten,
        "broker_names": _listed(comparison.matched.broker) if comparison.verdict.valid else [],
        "java_unasked": why_unasked(compared, names),
    }


def _count(names: tuple[str, ...] | None) -> int | None:
    return None if names is None else len(names)


def _listed(names: tuple[str, ...] | None) -> list[str] | None:
    return None if names is None else list(names)


_OF_ORDER = ("risk", "score", "rank")
_OF_JAVA = ("java_valid", "java_topics", "java_gained", "java_lost")
UNRANKED = StructType([column for column in AUDIT.fields if column.name not in _OF_ORDER])
"""AUDIT without the columns that depend on the order of all groups."""
_ASKED = [column for column in AUDIT_REGEXES.fields if column.name not in _OF_JAVA]
COMPARED = StructType([*_ASKED, StructField("broker_names", STRINGS, True)])
"""AUDIT_REGEXES without Java's results, and with the topics that the broker matches."""
JUDGED = table(("audit", UNRANKED, True), ("regex", COMPARED, True), ("quarantined", QUARANTINE, True))
"""Each row has one of the three columns."""

MOST_PARTITIONS = 2_000_000
"""The limit of partitions of a group's topics: a file may claim any number, and an assignor lists all of them."""


class OversizedGroup(PipelineError):
    """A group has more partitions than MOST_PARTITIONS."""


def judge_all(work: DataFrame, settings: AuditSettings, tasks: int) -> DataFrame:
    """Rows of JUDGED for rows of WORK: groups by destination, regexes, and what could not be read or judged."""
    chunks = work.where("chunk is not null or reason is not null").select("source", "chunk", "file", "reason")
    return each_row(chunks.repartition(tasks), lambda row: judge_work(row, settings), JUDGED, small=True)


def judge_work(work: TableRow, settings: AuditSettings) -> Iterator[TableRow]:
    """Rows of JUDGED for a row of WORK."""
    if work.get("chunk") is None:
        yield quarantined(work["source"], work["file"], work["reason"])
        return
    chunk = unpacked(work["chunk"])
    for group in chunk.groups:
        try:
            yield from list(_of_group(chunk, group, settings))
        except Exception as error:
            # An unexpected group must not end the audit of all other groups.
            reason = f"the group {group.id} cannot be judged: {type(error).__name__}: {error}"
            yield quarantined(chunk.source, chunk.source, reason)


def _of_group(chunk: GroupChunk, group: Group, settings: AuditSettings) -> Iterator[TableRow]:
    wants_any = bool(settings.regexes) or wanted_topics([group], WhatIf()) is None
    topics = chunk.topics_of(group, all_of_them=wants_any)
    named = wanted_topics([group], WhatIf()) or set()
    partitions = sum(topic.partitions for topic in topics if not named or topic.name in named)
    if partitions > MOST_PARTITIONS:
        raise OversizedGroup(f"its topics have {partitions:,} partitions, more than any cluster's")
    for row in judged(group, chunk.cluster, topics, settings):
        yield {"audit": {"source": chunk.source, **row}}
    case = case_in(group, chunk.cluster, topics, Destination.CONSUMER, settings)
    for compared in compared_regexes(case):
        yield {"regex": {"source": chunk.source, **_of_regex(case, compared)}}


def quarantined(source: str, file: str, reason: str) -> TableRow:
    row = {"source": source, "file": file, "position": None, "offset": None, "reason": reason}
    return {"quarantined": row}
