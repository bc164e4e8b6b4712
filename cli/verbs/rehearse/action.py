"""Rehearse a plan with the group of a source, once per seed."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from assignors.errors import AssignorFailedError, NoCommonProtocolError, UnknownAssignorError
from cli.errors import ExitStatus, UsageError
from cli.progress import Progress
from cli.sources.permissions import ending
from cli.sources.source import Source
from cli.verbs.dry_run.tasks import topics_of
from coordinator.errors import InvalidSetting
from groups.classic_streams import changelog_names, is_classic_streams
from groups.group_spec import WhatIf, wanted_topics
from groups.model import Cluster, Group, Topic
from groups.streams_tasks import StreamsRequest
from groups.times import format_moment
from groups.yaml_files import TreeError
from migration.client_config import ClientConfig
from migration.gate.notes import Notes
from migration.model import Plan
from migration.rehearsal.faults import NO_FAULTS, PlanFaults, read_faults
from migration.rehearsal.mistakes import Inapplicable, mistakes_in
from migration.rehearsal.plan_run import is_of_group, places, rehearse, simulated_for_plan
from migration.rehearsal.rehearsed import Rehearsed, not_rehearsed, with_rehearsal
from migration.rehearsal.simulated_members import (
    CannotRehearseError,
    FoundGroup,
    SimulatedMembers,
    with_settings,
)
from migration.rehearsal.symptoms import GateOutcome, MistakeResult, play_mistake, worst_of
from migration.walk import sampled

FIRST_SEED = 1
MOST_ROLLBACKS = 12
"""Most rounds from which a rollback is rehearsed: all rounds of a short plan, evenly spread rounds of a long one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsalRequest:
    plan: Plan
    found: FoundGroup
    simulated: SimulatedMembers
    seeds: range
    stop_at: tuple[int, int] | None
    mistakes: bool = False
    faults: PlanFaults = NO_FAULTS
    faults_file: Path | None = None
    config_files: tuple[str, ...] = ()
    notes: Notes | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    """Settings that override those of the brokers and members; `found` and `simulated` already contain them."""


@dataclass(slots=True, kw_only=True)
class Rehearsal:
    request: RehearsalRequest
    played: list[Rehearsed] = field(default_factory=list)
    back: list[Rehearsed] = field(default_factory=list)  # Rollbacks from single rounds, with the first seed
    mistakes: list[MistakeResult | Inapplicable] = field(default_factory=list)
    """The worst result of each mistake; empty if the plan itself is not safe."""
    detailed: Rehearsed | None = None
    """The first unsafe run, else the first run if a story or picture is requested; with story and picture."""

    @property
    def is_safe(self) -> bool:
        return all(run.is_safe for run in (*self.played, *self.back))

    @property
    def undetected(self) -> list[MistakeResult]:
        played = [mistake for mistake in self.mistakes if isinstance(mistake, MistakeResult)]
        return [mistake for mistake in played if mistake.outcome is GateOutcome.OPENED]


def find(plan: Plan, source: Source) -> FoundGroup:
    described = source.describe([plan.group], offsets=False)
    if not described.items:
        raise ending(described.problems[0])
    leader_matters = any(step.rollout and step.rollout.temporary_members for step in plan.steps)
    (group,) = source.with_leaders(described.items) if leader_matters else described.items
    facts = found_of(source, group, source.cluster(), topics_of(source, [group], WhatIf()).items)
    differences = is_of_group(plan, facts).differences
    if differences:
        changes = "; ".join(
            f"{change.what}: {change.plan} in the plan, now {change.now}" for change in differences
        )
        unlike = f"the group {plan.group} does not match this plan, or no longer does"
        raise UsageError(f"{unlike}: {changes}. Make a new plan")
    return facts


def found_of(source: Source, group: Group, cluster: Cluster, topics: Iterable[Topic]) -> FoundGroup:
    """The group with its effective settings, and those of the topics that it subscribes to, or that are changelogs of
    its application."""
    topics = tuple(topics)
    names = wanted_topics([group], WhatIf())
    if names is not None and is_classic_streams(group):
        names = {*names, *changelog_names(group, (topic.name for topic in topics))}
    known = source.group_settings([group.id]).by_group.get(group.id, {})
    settings = {name: setting.value for name, setting in known.items() if setting.value is not None}
    return FoundGroup(
        group=replace(group, settings=settings) if settings else group,
        cluster=cluster,
        topics={topic.name: topic for topic in topics if names is None or topic.name in names},
    )


def request_of(
    plan: Plan,
    facts: FoundGroup,
    *,
    first: int,
    count: int,
    stop_at: str | None,
    mistakes: bool = False,
    faults: Path | None = None,
    configs: Sequence[ClientConfig] = (),
    notes: Notes | None = None,
    settings: Mapping[str, str] | None = None,
    streams: StreamsRequest | None = None,
) -> RehearsalRequest:
    if mistakes and stop_at is not None:
        why = "mistakes are made in the migration, not in the rollback"
        raise UsageError(f"--stop-at is invalid with --mistakes: {why}")
    if plan.has_blocker and not plan.steps:
        raise UsageError(f"{plan.group}: the plan is blocked, and has no steps to rehearse")
    if not plan.steps:
        raise UsageError(f"{plan.group}: the plan has no steps: the group already uses the target protocol")
    _refuse_unknown_members(configs, facts.group)
    try:
        simulated = simulated_for_plan(plan, facts, configs, streams)
        facts, simulated = with_settings(facts, simulated, settings or {})
    except (CannotRehearseError, InvalidSetting) as error:
        raise UsageError(f"{plan.group}: {error}") from None
    names = [member.name for member in simulated.members.values()]
    try:
        planned_faults = NO_FAULTS if faults is None else read_faults(faults, names, places(plan))
    except TreeError as error:
        raise UsageError(str(error)) from None
    return RehearsalRequest(
        plan=plan,
        found=facts,
        simulated=simulated,
        seeds=range(first, first + count),
        stop_at=None if stop_at is None else _place(plan, stop_at),
        mistakes=mistakes,
        faults=planned_faults,
        faults_file=faults,
        config_files=tuple(config.description for config in configs),
        notes=notes,
        settings=settings or {},
    )


def _refuse_unknown_members(configs: Sequence[ClientConfig], group: Group) -> None:
    known = {name for member in group.members for name in (member.id, member.instance, member.client.id)}
    for config in configs:
        if config.member is not None and config.member not in known:
            raise UsageError(f"--client-config names {config.member!r}, which is not a member of {group.id}")


def _place(plan: Plan, text: str) -> tuple[int, int]:
    known = places(plan)
    for step, round_ in known:
        if text == f"{step}.{round_}":
            return step, round_
    first, last = ("{}.{}".format(*known[index]) for index in (0, -1))
    raise UsageError(f"--stop-at {text!r}: expected a step and a round of it, from {first} to {last}")


def carry_out(request: RehearsalRequest, *, shows: bool) -> Rehearsal:
    """Play every seed and, without --stop-at, rollbacks with the first; `shows`: keep the first run in detail."""
    rehearsal = Rehearsal(request=request)
    known = places(request.plan)
    ways = [known[index] for index in sorted(sampled(len(known), 0, MOST_ROLLBACKS))]
    ways = ways if request.stop_at is None else []
    wrong = mistakes_in(request.plan, request.simulated) if request.mistakes else ()
    total = len(request.seeds) + len(ways) + len(wrong)
    with Progress("rehearsing", total=total, before_data=True) as progress:
        for seed in request.seeds:
            rehearsal.played.append(_play(request, seed, request.stop_at))
            progress.advance(1)
        for way in ways:
            if rehearsal.played[0].is_safe:
                rehearsal.back.append(_play(request, request.seeds[0], way))
            progress.advance(1)
        if rehearsal.is_safe and wrong:
            right = [_play(request, seed, None, with_story=True) for seed in request.seeds]
            for mistake in wrong:
                if not isinstance(mistake, Inapplicable):
                    of_request = request.plan, request.found, request.simulated
                    results = [play_mistake(*of_request, mistake, run, request.faults) for run in right]
                    rehearsal.mistakes.append(worst_of(results))
                else:
                    rehearsal.mistakes.append(mistake)
                progress.advance(1)
        rehearsal.detailed = _detailed_run(rehearsal, shows=shows)
    return rehearsal


def _detailed_run(rehearsal: Rehearsal, *, shows: bool) -> Rehearsed | None:
    request, runs = rehearsal.request, (*rehearsal.played, *rehearsal.back)
    example = next((run for run in runs if not run.is_safe), runs[0] if shows else None)
    if example is None:
        return None
    stop = request.stop_at if example.back is None else (example.back.step, example.back.round)
    return _play(request, example.seed, stop, with_story=True)


def _play(
    request: RehearsalRequest, seed: int, stop_at: tuple[int, int] | None, *, with_story: bool = False
) -> Rehearsed:
    of_request = request.plan, request.found, request.simulated
    try:
        return rehearse(*of_request, seed, stop_at=stop_at, with_story=with_story, faults=request.faults)
    except (
        CannotRehearseError, InvalidSetting, UnknownAssignorError, NoCommonProtocolError, AssignorFailedError,
    ) as error:  # fmt: skip
        raise UsageError(f"{request.plan.group} cannot be rehearsed: {error}") from None


def rehearsed(
    plan: Plan, facts: FoundGroup, configs: Sequence[ClientConfig], seeds: int
) -> tuple[Plan, Rehearsal | None]:
    """The plan with the figures of its rehearsals, blocked if one is not safe; None if it cannot be rehearsed."""
    if not plan.steps:
        return plan, None
    try:
        request = request_of(plan, facts, first=FIRST_SEED, count=seeds, stop_at=None, configs=configs)
        rehearsal = carry_out(request, shows=True)
    except UsageError as error:
        return not_rehearsed(plan, str(error).removeprefix(f"{plan.group}: ")), None
    at = format_moment(int(time.time()) * 1000)
    return with_rehearsal(plan, at, rehearsal.played, rehearsal.back, rehearsal.detailed), rehearsal


def status_of(rehearsal: Rehearsal) -> ExitStatus:
    """FALSE if a seed is not safe, or a gate opens despite a mistake."""
    return ExitStatus.DONE if rehearsal.is_safe and not rehearsal.undetected else ExitStatus.FALSE
