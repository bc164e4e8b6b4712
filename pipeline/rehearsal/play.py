"""Groups of a snapshot planned, and each plan rehearsed: one row per seed, with the commands that repeat it."""

import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import reduce
from operator import add
from typing import TypeAlias

from assignors.errors import (
    AssignorFailedError,
    BrokenAssignorError,
    NoCommonProtocolError,
    UnknownAssignorError,
)
from coordinator.errors import InvalidSetting
from groups.findings import Level
from groups.group_spec import WhatIf, wanted_topics
from groups.model import Group
from groups.snapshot import Snapshot, snapshot_text
from migration.client_config import ClientConfig, configs_of_group
from migration.clients import DeclaredClients, unknown_members
from migration.commands import plan_into_file, rehearse_seed
from migration.execution.preflight import CannotCarryOutError, check_plan
from migration.model import Plan
from migration.paths.choose import has_arrived
from migration.plan import make_plan
from migration.rehearsal.as_migrate import migrate_seed
from migration.rehearsal.plan_run import rehearse, simulated_for_plan
from migration.rehearsal.simulated_members import (
    OF_PLANS,
    CannotRehearseError,
    FoundGroup,
    SimulatedMembers,
    with_settings,
)
from migration.rehearsal.simulation import RehearsalCosts
from migration.rules.case import DEFAULT_BOUNCE_S
from pipeline.audit.judge import AuditSettings, case_in, quarantined
from pipeline.audit.work import GroupChunk, unpacked
from pipeline.simulation.play import MOST_LINES, error_location
from pipeline.tables.schemas import BINARY, DOUBLE, INT, LONG, QUARANTINE, STRING, STRINGS, TableRow, table

CASE = (
    ("source", STRING, False),
    ("cluster", STRING, True),
    ("group", STRING, False),
    ("destination", STRING, False),
    ("settings", STRING, False),  # the varied settings: NAME=VALUE, separated by spaces; empty: none
)
"""The group, and the settings of its plan and rehearsal: these columns start every table."""
OF_PLAN = (
    ("members", INT, False),
    ("warnings", INT, True),  # null: there is no plan, because the code threw
    ("path", STRING, True),
    ("rounds", INT, True),  # null: there is nothing to play
)
FIGURES = (
    ("rebalances", INT),
    ("moved", LONG),
    ("without_owner_s", DOUBLE),  # partition-seconds
    ("read_twice", LONG),
    ("commits_refused", LONG),
    ("duration_s", DOUBLE),  # from the start of each round to its open gate, added up
)
"""Sums over all rounds of a plan."""
WHY = ("why", STRINGS, False)  # the events, the rules that block it, or why it cannot be played

RUNS = table(
    *CASE,
    *OF_PLAN,
    ("seed", LONG, False),
    ("verdict", STRING, False),  # safe, unsafe, unplayable or threw
    WHY,
    *((name, kind, True) for name, kind in FIGURES),  # null: the seed was not played to its end
    ("end", STRING, True),  # as migrate: finished, stopped or rolled-back
    ("rule", STRING, True),  # as migrate: that stopped the plan
)
FAILURES = table(
    *CASE,
    ("seed", LONG, False),
    ("verdict", STRING, False),
    WHY,
    ("story", STRINGS, False),  # one event per line: the last ones; for an exception, its origin
    ("commands", STRINGS, False),  # make the plan and play the seed again on one machine
    ("snapshot", STRING, False),  # the group as a file, for another machine
)
UNPLAYED = table(*CASE, *OF_PLAN, ("verdict", STRING, False), WHY)
SUMMED = table(
    *CASE,
    *OF_PLAN,
    ("verdict", STRING, False),  # safe, unsafe, blocked, unplayable, arrived or threw: the worst of the seeds
    WHY,  # of the first seed with the verdict
    ("seeds", LONG, False),  # number of played seeds
    ("unsafe", LONG, False),  # number of unsafe seeds
    ("unsafe_seed", LONG, True),  # the first unsafe seed
    *((name, kind, True) for name, kind in FIGURES),  # the worst of all seeds
    *((f"{name}_median", kind, True) for name, kind in FIGURES),
)
REHEARSALS = table(
    *((field.name, field.dataType, field.nullable) for field in SUMMED.fields),
    ("rank", INT, True),  # among groups with the same settings; null: not safe
)
TABLES = {"rehearsals": REHEARSALS, "runs": RUNS, "failures": FAILURES, "quarantine": QUARANTINE}
"""The tables, versioned with the others: columns may be added, never renamed. `runs` has a row for every
group, settings and seed that was played; `failures` has a row for each that is not safe. `rehearsals` sums up
the seeds of each group and settings, and lists the groups that cannot be played."""

PLANNED = table(
    ("unplayed", UNPLAYED, True),
    ("part", BINARY, True),  # a Part, for `play_part`
    ("first_seed", LONG, True),  # of the part
    ("seeds", LONG, True),
    ("quarantined", QUARANTINE, True),
)
"""Each row has one of the three."""
PLAYED = table(("run", RUNS, False), ("failure", FAILURES, True))
UNPLAYABLE = (
    CannotRehearseError,
    CannotCarryOutError,
    InvalidSetting,
    UnknownAssignorError,
    NoCommonProtocolError,
    AssignorFailedError,
    BrokenAssignorError,
)
"""Errors caused by a group or its settings; other exceptions are faults of Kohort."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variation:
    """Settings that replace the common settings; none by default."""

    concurrency: int | None = None
    bounce_s: float | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    """Settings of the rehearsal. They do not affect the plan, which is made for the cluster in the snapshot."""

    @property
    def text(self) -> str:
        """The settings in one line; empty: no settings."""
        of_plan = zip(OF_PLANS, (self.concurrency, self.bounce_s), strict=True)
        of_plans = {name: f"{value:g}" for name, value in of_plan if value is not None}
        return " ".join(f"{name}={value}" for name, value in {**of_plans, **self.settings}.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsalSettings:
    """How plans to the first destination are made, the seeds to play; `groups`: only these, empty: all."""

    planned: AuditSettings
    seeds: range = range(1, 2)
    variations: tuple[Variation, ...] = (Variation(),)
    groups: frozenset[str] = frozenset()
    as_migrate: bool = False  # Whether plans are carried out by the state machine of `kohort migrate`


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayTask:
    """A plan that can be played, the values that its rows share, the group as in the snapshot, settings."""

    head: TableRow
    plan: Plan
    found: FoundGroup
    planned: AuditSettings
    settings: Mapping[str, str]
    as_migrate: bool


def plan_rows(work: TableRow, terms: RehearsalSettings, seeds_per_part: int) -> Iterator[TableRow]:
    """The rows of PLANNED for a row of WORK."""
    if work["chunk"] is None:
        yield quarantined(work["source"], work["file"], work["reason"])
        return
    chunk = unpacked(work["chunk"])
    for group in chunk.groups:
        for variation in terms.variations if not terms.groups or group.id in terms.groups else ():
            head: TableRow = {
                "source": chunk.source,
                "cluster": chunk.cluster.id,
                "group": group.id,
                "destination": terms.planned.destinations[0].value,
                "settings": variation.text,
                "members": len(group.members),
            }
            try:
                planned = _planned(chunk, group, terms, variation, head)
            except Exception as error:
                # An exception of Kohort's own code becomes a row: it must not end all other rehearsals.
                planned = head | {"verdict": "threw", "why": [_error_text(error)]}
            if isinstance(planned, PlayTask):
                part = pickle.dumps(planned, protocol=pickle.HIGHEST_PROTOCOL)
                for start in range(0, len(terms.seeds), seeds_per_part):
                    seeds = terms.seeds[start : start + seeds_per_part]
                    yield {"part": part, "first_seed": seeds.start, "seeds": len(seeds)}
            else:
                yield {"unplayed": planned}


def _planned(
    chunk: GroupChunk, group: Group, terms: RehearsalSettings, variation: Variation, head: TableRow
) -> PlayTask | TableRow:
    """A playable plan, or a row of UNPLAYED."""
    varied = {"concurrency": variation.concurrency, "bounce_s": variation.bounce_s}
    changes: TableRow = {name: value for name, value in varied.items() if value is not None}
    settings = replace(terms.planned, with_costs=False, **changes)
    wants_any = bool(settings.regexes) or wanted_topics([group], WhatIf()) is None
    topics = chunk.topics_of(group, all_of_them=wants_any)
    case = case_in(group, chunk.cluster, topics, settings.destinations[0], settings)
    plan = make_plan(case)
    row: TableRow = {
        **head,
        "warnings": sum(finding.level is Level.WARNING for finding in plan.findings),
        "path": plan.path or None,
    }
    if plan.has_blocker:
        rules = sorted({finding.rule for finding in plan.findings if finding.level is Level.BLOCKER})
        return row | {"verdict": "blocked", "why": rules}
    if has_arrived(case) or not plan.steps:
        return row | {"verdict": "arrived", "why": []}
    rounds = sum(len(step.rollout.rounds) for step in plan.steps if step.rollout is not None)
    facts = FoundGroup(group=replace(group, offsets=None), cluster=case.cluster, topics=case.topics or {})
    part = PlayTask(
        head=row | {"rounds": rounds},
        plan=plan,
        found=facts,
        planned=settings,
        settings=variation.settings,
        as_migrate=terms.as_migrate,
    )
    try:
        _simulated(part)
        if part.as_migrate:
            check_plan(plan)
    except UNPLAYABLE as error:
        return row | {"verdict": "unplayable", "why": [str(error)]}
    return part


def _simulated(part: PlayTask) -> tuple[FoundGroup, SimulatedMembers]:
    configs = configs_of(part.found.group, part.planned.configs)
    return with_settings(part.found, simulated_for_plan(part.plan, part.found, configs), part.settings)


def play_part(row: TableRow) -> Iterator[TableRow]:
    """Rows of PLAYED of a row of PLANNED that has a part: one for each seed."""
    part = pickle.loads(row["part"])  # noqa: S301
    if not isinstance(part, PlayTask):
        raise TypeError(f"expected a part of a rehearsal, found {type(part).__name__}")
    facts, simulated = _simulated(part)
    for seed in range(row["first_seed"], row["first_seed"] + row["seeds"]):
        yield _played(part, facts, simulated, seed)


def _played(part: PlayTask, facts: FoundGroup, simulated: SimulatedMembers, seed: int) -> TableRow:
    figures: TableRow = {}
    story: list[str] = []
    try:
        play = _migrated if part.as_migrate else _rehearsed
        figures, why, story = play(part.plan, facts, simulated, seed)
        verdict = "unsafe" if why else "safe"
    except UNPLAYABLE as error:
        verdict, why = "unplayable", [str(error)]
    except Exception as error:
        verdict, why, story = "threw", [_error_text(error)], error_location(error)
    run = {**part.head, "seed": seed, "verdict": verdict, "why": why, **figures}
    if verdict == "safe":
        return {"run": run, "failure": None}
    group = part.found.group
    snapshot = Snapshot(cluster=part.found.cluster, topics=part.found.topics, groups={group.id: group})
    failure = {name: run[name] for name in FAILURES.fieldNames() if name in run} | {
        "story": story[-MOST_LINES:],
        "commands": replay_commands(
            group, part.planned, part.head["source"], seed, part.settings, as_migrate=part.as_migrate
        ),
        "snapshot": snapshot_text(snapshot),
    }
    return {"run": run, "failure": failure}


_Outcome: TypeAlias = tuple[TableRow, list[str], list[str]]
"""Figures, why a run is not safe, and then its story."""


def _rehearsed(plan: Plan, facts: FoundGroup, simulated: SimulatedMembers, seed: int) -> _Outcome:
    played = rehearse(plan, facts, simulated, seed)
    costs = reduce(add, (round_.costs for round_ in played.rounds), RehearsalCosts())
    lasted = sum(round_.gate_open_after_s or 0.0 for round_ in played.rounds)
    figures = {**asdict(costs), "duration_s": round(lasted, 1)}
    if played.is_safe:
        return figures, [], []
    return figures, list(played.unsafe), list(rehearse(plan, facts, simulated, seed, with_story=True).story)


def _migrated(plan: Plan, facts: FoundGroup, simulated: SimulatedMembers, seed: int) -> _Outcome:
    run = migrate_seed(plan, facts, simulated, seed)
    rule = run.stop.rule.value if run.stop else None
    figures = {**asdict(run.costs), "duration_s": run.lasted_s, "end": run.end.value, "rule": rule}
    if not run.broken:
        return figures, [], []
    return figures, list(run.broken), list(migrate_seed(plan, facts, simulated, seed, with_story=True).story)


def _error_text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def replay_commands(
    group: Group,
    planned: AuditSettings,
    source: str,
    seed: int,
    settings: Mapping[str, str],
    *,
    as_migrate: bool = False,
) -> list[str]:
    """The commands for a shell. They contain only the group's clients: `kohort plan` refuses others."""
    strangers = set(unknown_members(group, planned.declared))
    options = ["--to", planned.destinations[0].value]
    if planned.declared.everybody is not None:
        options += ["--client", _client(planned.declared.everybody)]
    for member, client in planned.declared.single.items():
        if member not in strangers:
            options += ["--client", f"{member}={_client(client)}"]
    configs: list[str] = []
    for config in configs_of(group, planned.configs):
        owner = config.library if config.is_for_library else config.member
        configs += ["--client-config", config.name if owner is None else f"{owner}={config.name}"]
    options += configs
    for regex in planned.regexes:
        options += ["--regex", regex]
    if planned.concurrency != 1:
        options += ["--concurrency", str(planned.concurrency)]
    if planned.bounce_s != DEFAULT_BOUNCE_S:
        options += ["--bounce-seconds", str(planned.bounce_s)]
    return [
        plan_into_file(group.id, [*options, "--snapshot", source]),
        rehearse_seed(
            seed, ["--snapshot", source, *configs, *(["--as-migrate"] if as_migrate else [])], settings
        ),
    ]


def configs_of(group: Group, configs: Sequence[ClientConfig]) -> tuple[ClientConfig, ...]:
    """The files of this group's members."""
    members = {config.member: ("", None) for config in configs if config.member is not None}
    named = DeclaredClients(single=members)
    strangers = set(unknown_members(group, named))
    return tuple(config for config in configs_of_group(configs, group.id) if config.member not in strangers)


def _client(client: tuple[str, str | None]) -> str:
    return ":".join(filter(None, client))
