"""Make plans from the options of `kohort plan`, and documents from plans."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperOption

from cli.clusters import Answer
from cli.errors import ExitStatus, UsageError
from cli.options import OutputOptions, SelectionOptions, SourceOptions
from cli.progress import each_shown
from cli.render.document import Document
from cli.render.output_format import PAGES
from cli.selection import describe_chosen, opened
from cli.sources.permissions import ending
from cli.sources.source import SettingsOfGroups, Source
from cli.verbs.plan.directory import WrittenPlan, check_directory, write_plans
from cli.verbs.plan.files import read_client_config, read_clients
from cli.verbs.plan.options import ClientOptions
from groups.group_spec import WhatIf, wanted_topics
from groups.model import Group, Problem
from migration.client_config import HEARTBEAT_INTERVAL, SESSION_TIMEOUT, ClientConfig, configs_of_group
from migration.clients import DeclaredClients, parse_clients, unknown_members
from migration.commands import ClusterOptions
from migration.frameworks import framework_named
from migration.model import Destination, Plan
from migration.paths.choose import leader_matters
from migration.paths.path import EAGER
from migration.plan import case_of, make_plan
from migration.rules.case import PlanRequest

if TYPE_CHECKING:
    from cli.verbs.rehearse.action import Rehearsal


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsedPlan:
    plan: Plan
    rehearsal: Rehearsal | None = None


def connection_of(source: SourceOptions) -> ClusterOptions:
    """The cluster options for the commands in a plan; empty if the plan was made from a file."""
    is_live = source.bootstrap_server is not None or source.command_config is not None
    context = source.place.context if source.place is not None and is_live else None
    if source.bootstrap_server is None and context is None:
        return ClusterOptions()
    return ClusterOptions(
        bootstrap_server=source.bootstrap_server,
        command_config=str(source.command_config) if source.command_config else None,
        context=None if context is None else context.name,
        has_own_properties=bool(context and context.properties),
    )


def check_clusters(source: SourceOptions, selection: SelectionOptions, svg: Path | None) -> None:
    """UsageError for options of one plan with several clusters."""
    if source.clusters and (svg is not None or is_single(selection)):
        what = "a runbook is" if svg is None else "--svg draws"
        raise UsageError(
            f"{what} one plan: name one context; --all-groups and --match plan groups of several clusters"
        )


def answer_about(
    source: SourceOptions,
    *,
    selection: SelectionOptions,
    request: PlanRequest,
    seeds: int,
    output_dir: Path | None,
    is_one: bool,
    svg: Path | None,
    write: str,
    output: OutputOptions,
    verbose: bool,
) -> Answer:
    """Plans of the groups of a source, the only one or of one of several clusters; parameters as of the functions
    below."""
    directory = directory_of(output_dir, source, is_one=is_one)
    request = replace(request, connection=connection_of(source))
    with opened(source) as groups:
        plans, problems = plan_groups(groups, selection, request, seeds, directory)
        written = None if directory is None else write_plans(directory, [planned.plan for planned in plans])
    draw(svg, plans)
    document = document_of(plans, problems, selection, write, output, written, verbose=verbose)
    return document, status_of(plans)


def directory_of(directory: Path | None, source: SourceOptions, *, is_one: bool) -> Path | None:
    """Where plans of a cluster are written: of one of several clusters, in the directory with its name."""
    name = None if source.place is None else source.place.name
    return directory if directory is None or is_one or name is None else directory / name


def assignor_of(name: str | None, to: str) -> str | None:
    """The assignor of a rollback. UsageError if `to` allows none, or if it is not an assignor of Kafka."""
    if name is None:
        return None
    classic = (*EAGER, "cooperative-sticky")
    choices = {"eager": EAGER, "classic": classic, "generic": classic}.get(to)
    if choices is None:
        raise UsageError(f"--assignor is invalid with --to {to}")
    if name not in choices:
        raise UsageError(f"--assignor: {name!r} is not one of {', '.join(choices)}")
    return name


def frameworks_of(names: Sequence[str]) -> tuple[str, ...]:
    try:
        return tuple(dict.fromkeys(framework_named(name).name for name in names))
    except ValueError as error:
        raise UsageError(f"--framework: {error}") from None


def declared_clients(values: Sequence[str], file: Path | None) -> DeclaredClients:
    """The clients of `--client` and `--clients`; the command line overrides the file."""
    listed = parse_clients(read_clients(file)) if file is not None else DeclaredClients()
    try:
        declared = parse_clients(values)
        return replace(declared, single={**listed.single, **declared.single})
    except ValueError as error:
        raise UsageError(f"--client: {error}") from None


def configs_of(values: Sequence[str]) -> tuple[ClientConfig, ...]:
    configs = tuple(map(read_client_config, values))
    places = [(config.name, config.member, config.is_for_library) for config in configs]
    if len(set(places)) < len(places):
        raise UsageError("--client-config names the same file twice")
    return configs


def client_settings(options: ClientOptions) -> dict[str, Any]:
    """The options about members, as fields of a `PlanRequest` and of the settings of an audit."""
    return {
        "declared": declared_clients(options.client or (), options.clients),
        "configs": configs_of(options.client_config or ()),
        "regexes": tuple(options.regex or ()),
        "concurrency": options.concurrency,
        "bounce_s": options.bounce_seconds,
    }


def plan_groups(
    source: Source,
    selection: SelectionOptions,
    request: PlanRequest,
    seeds: int,
    output_dir: Path | None = None,
) -> tuple[tuple[RehearsedPlan, ...], tuple[Problem, ...]]:
    """A plan for every selected group that could be read, rehearsed with that many seeds; problems of the others.
    Raises UsageError, before anything is planned, if `output_dir` cannot have them."""
    described = describe_chosen(source, selection, offsets=False)
    single = is_single(selection)
    if not described.items and single:
        raise ending(described.problems[0])
    _refuse_unknown_members(described.items, request)
    if output_dir is not None:
        check_directory(output_dir, [group.id for group in described.items])
    cluster = source.cluster()
    to_consumer = request.destination is Destination.CONSUMER
    access = source.access() if to_consumer else None
    timeouts = (SESSION_TIMEOUT, HEARTBEAT_INTERVAL)
    # Timeouts of the members' files become settings of the group, which may already have them.
    moves = to_consumer and any(config.setting(key) for config in request.configs for key in timeouts)
    ids = [group.id for group in described.items]
    settings = source.group_settings(ids) if moves and ids else SettingsOfGroups()
    # A live source reads a topic to find leaders.
    matters = any(leader_matters(group, request.destination) for group in described.items)
    groups = source.with_pending_offsets(source.with_leaders(described.items) if matters else described.items)
    # Regexes may match any topic.
    topics_asked = None if request.regexes else wanted_topics(groups, WhatIf())
    topics = source.topics(topics_asked, end_offsets=False)

    def planned(group: Group) -> RehearsedPlan:
        # If there are several groups, a file that names a group is for that one.
        configs = request.configs if single else configs_of_group(request.configs, group.id)
        of_group = settings.by_group.get(group.id, {}).items()
        values = {name: config.value for name, config in of_group if config.value is not None}
        asked = replace(request, configs=configs, with_costs=request.with_costs or single)
        plan = make_plan(case_of(asked, group, cluster, topics=topics.items, access=access, settings=values))
        if not seeds:
            return RehearsedPlan(plan=plan)
        from cli.verbs.rehearse.action import found_of, rehearsed  # imports the simulation, needed only here

        plan, rehearsal = rehearsed(plan, found_of(source, group, cluster, topics.items), configs, seeds)
        return RehearsedPlan(plan=plan, rehearsal=rehearsal)

    plans = tuple(map(planned, each_shown(groups, "planning group")))
    # A rule reports member metadata that cannot be read.
    judged = {member.unreadable for group in described.items for member in group.members}
    problems = [problem for problem in described.problems if problem.message not in judged]
    return plans, (*problems, *topics.problems, *settings.problems)


def _refuse_unknown_members(groups: Sequence[Group], request: PlanRequest) -> None:
    """UsageError for a name that is not a member of any group: a misspelled member would have no declared library."""
    named = dict.fromkeys(request.declared.single, "--client")
    named |= {config.member: "--client-config" for config in request.configs if config.member is not None}
    declared = DeclaredClients(single=dict.fromkeys(named, ("", None)))
    strangers = [set(unknown_members(group, declared)) for group in groups]
    unknown = sorted(set.intersection(*strangers)) if strangers else []
    if unknown:
        whose = groups[0].id if len(groups) == 1 else "any of these groups"
        raise UsageError(f"{named[unknown[0]]} names {unknown[0]!r}, which is not a member of {whose}")


def is_single(selection: SelectionOptions) -> bool:
    """Whether exactly one group was named: it gets a runbook; other selections get a table of verdicts."""
    return len(set(selection.groups or ())) == 1 and selection.match is None and not selection.all_groups


def draw(file: Path | None, planned: Sequence[RehearsedPlan]) -> None:
    if file is not None:
        from cli.verbs.plan.timeline import write_timeline

        write_timeline(file, [rehearsed.plan for rehearsed in planned])


def document_of(
    planned: Sequence[RehearsedPlan],
    problems: tuple[Problem, ...],
    selection: SelectionOptions,
    write: str,
    output: OutputOptions,
    written: Sequence[WrittenPlan] | None,
    *,
    verbose: bool,
) -> Document:
    """A runbook, with `write` as the command that writes its plan as data; or a table of verdicts, with the files if
    any were `written`."""
    from cli.times import time_of_writing
    from cli.verbs.plan.view import plan_document, readiness_document, written_document

    if written is not None:
        return written_document(written, problems, verbose=verbose)
    if not is_single(selection):
        return readiness_document([group_plan.plan for group_plan in planned], problems, verbose=verbose)
    (one,) = planned
    at = time_of_writing() if output.output in PAGES and output.shape is None else None
    return plan_document(one.plan, problems, write, one.rehearsal, written=at, verbose=verbose)


def status_of(planned: Sequence[RehearsedPlan]) -> ExitStatus:
    return ExitStatus.FALSE if any(group_plan.plan.has_blocker for group_plan in planned) else ExitStatus.DONE


def repeated_command(
    context: typer.Context, *, without: Collection[str], with_options: tuple[str, ...]
) -> str:
    """The running command with other options; arguments that look like options follow them and `--`."""
    options: list[str] = []
    arguments: list[str] = []
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if source is None or source.name != "COMMANDLINE" or name in without or name == "color":
            continue
        value = context.params[name]
        values = map(str, value if isinstance(value, list | tuple) else (value,))
        if isinstance(parameter, TyperOption):
            written = max(parameter.opts, key=len)
            options += [written] if parameter.is_flag else chain(*((written, value) for value in values))
        else:
            arguments += values
    options += with_options
    if any(word.startswith("-") for word in arguments):
        return shlex.join(["kohort", *_names(context), *options, "--", *arguments])
    return shlex.join(["kohort", *_names(context), *arguments, *options])


def _names(context: typer.Context) -> list[str]:
    """The names of the command, without the name of the program, which may differ between calls."""
    parent = context.parent
    return [*_names(parent), context.info_name or ""] if isinstance(parent, type(context)) else []
