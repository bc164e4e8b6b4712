"""Show what carrying plans out would do; with consent, do it."""

import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

import typer

from cli import stopping
from cli.changing import PREVIEW
from cli.consent import ConsentOptions, ask
from cli.errors import CommandError, ExitStatus, UsageError
from cli.options import OutputOptions, SourceOptions
from cli.output import arranged, emit, notice, render, write_out
from cli.progress import Spinner
from cli.render.document import FORMAT_VERSION, Document
from cli.render.output_format import OutputFormat
from cli.selection import ReusableSource, is_live
from cli.verbs.migrate.event_documents import EventDocument
from cli.verbs.migrate.lines import Lines
from cli.verbs.migrate.next_commands import NextCommands
from cli.verbs.migrate.options import FleetOptions, RunOptions
from cli.verbs.migrate.prepare import PreparedPlan, prepare, read_runnable_plan
from cli.verbs.migrate.preview import preview_document, question
from cli.verbs.migrate.report import write_reports
from cli.verbs.migrate.run import GroupRun
from cli.verbs.migrate.run_directory import RunDirectory, read_former_runs
from cli.verbs.migrate.settings import RunSettings, settings_of
from cli.verbs.migrate.telling import JsonLines, Telling
from cli.verbs.migrate.view import LiveView
from cli.verbs.migrate.waves import Conductor
from cli.verbs.plan.action import connection_of, repeated_command
from cli.verbs.watch.redraw import can_draw
from groups.files import replace_file
from groups.yaml_files import yaml_lines
from migration.plan_file import plan_to_data


def migrate_groups(
    files: Sequence[Path],
    options: RunOptions,
    fleet: FleetOptions,
    consent: ConsentOptions,
    source: SourceOptions,
    output: OutputOptions,
    invocation: typer.Context,
) -> None:
    settings = settings_of(options, source, *_next_commands(invocation, source))
    if consent.execute:
        _refuse_execution(source, output)
    plans = {file: read_runnable_plan(file) for file in files_of(files)}
    _refuse_same_groups({file: plan.group for file, plan in plans.items()})
    with ReusableSource(source) as opened, Spinner(f"reading {opened.name}"):
        prepared = [
            prepare(file, plan, opened, settings, executes=consent.execute) for file, plan in plans.items()
        ]
    if consent.place is not None:
        notice(f"the target is {consent.place}")
    document = preview_document(prepared, settings)
    if not consent.execute:
        notice(PREVIEW)
        emit(document, output)
        return
    with ExitStack() as stack:
        directories = [stack.enter_context(RunDirectory(one.file, one.plan, one.cluster)) for one in prepared]
        if not consent.is_given:
            _ask(document, question(prepared), consent, output)
        telling = _telling(output, stack, several=len(prepared) > 1)
        _carry_out(prepared, settings, directories, telling, fleet)


def files_of(named: Sequence[Path]) -> list[Path]:
    """The plan files; of a directory, its YAML and JSON files. UsageError: there are none."""
    files: list[Path] = []
    for path in named:
        if not path.is_dir():
            files.append(path)
            continue
        inside = sorted(file for file in path.iterdir() if file.suffix in (".yaml", ".yml", ".json"))
        if not inside:
            raise UsageError(
                f"{path} contains no plans: `kohort plan --all-groups --output-dir {path}` writes them"
            )
        files += inside
    return files


def _next_commands(invocation: typer.Context, source: SourceOptions) -> tuple[NextCommands, NextCommands]:
    """Those that are shown, and those that are written down."""
    connection = connection_of(source).kohort
    shown, noted = (
        NextCommands(
            again=repeated_command(invocation, without=without, with_options=restart),
            back=repeated_command(
                invocation, without=("on_stop", *without), with_options=(*restart, "--back")
            ),
            connection=connection,
        )
        for without, restart in (((), ()), (("restart",), ("--restart", "COMMAND")))
    )
    return shown, noted


def _refuse_execution(source: SourceOptions, output: OutputOptions) -> None:
    if not is_live(source):
        raise UsageError(
            "--execute needs a live cluster: gates are checked while members restart. Add -b HOST:PORT"
        )
    if source.as_of is not None:
        raise UsageError("--as-of shows the past, which cannot be changed")
    if output.output not in (OutputFormat.TABLE, OutputFormat.JSON):
        raise UsageError(
            f"--execute prints lines or --output json, a document a line; not {output.output.value}"
        )


def _refuse_same_groups(groups: dict[Path, str]) -> None:
    files: dict[str, Path] = {}
    for file, group in groups.items():
        if group in files:
            raise UsageError(
                f"{files[group]} and {file} are both plans for the group {group}: give one of them"
            )
        files[group] = file


def _ask(document: Document, asked: str, consent: ConsentOptions, output: OutputOptions) -> None:
    """Ask below the preview: on stdout if a person reads it there, else above the question."""
    shown = arranged(document, output)
    if output.output is OutputFormat.TABLE and sys.stdout.isatty():
        write_out(lambda stream: render(shown, OutputFormat.TABLE, stream))
    else:
        render(shown, OutputFormat.TABLE, sys.stderr)
    if not ask(f"about to {asked}.", consent.place):
        notice(stopping.NOTHING_DONE)
        raise typer.Exit(int(ExitStatus.FALSE))


def _telling(output: OutputOptions, stack: ExitStack, *, several: bool) -> Telling:
    if output.output is OutputFormat.JSON:
        return JsonLines()
    return stack.enter_context(LiveView()) if can_draw(sys.stdout) else Lines(several=several)


def _carry_out(
    prepared: Sequence[PreparedPlan],
    settings: RunSettings,
    directories: Sequence[RunDirectory],
    telling: Telling,
    fleet: FleetOptions,
) -> None:
    conductor = Conductor(telling, fleet)
    runs = []
    for one, directory in zip(prepared, directories, strict=True):
        if not one.is_rollback:
            _keep_plan(one)
        runs.append(GroupRun(prepared=one, settings=settings, directory=directory, tell=conductor.told.put))
    conductor.conduct(runs)
    telling.end(
        {"kohort": FORMAT_VERSION, "command": "migrate", "plans": [run.data() for run in runs], "errors": []}
    )
    if len(runs) == 1:
        (run,), (directory,) = runs, directories
        _report(directory.path, read_former_runs(directory.path, run.prepared.plan).events)
    for run in runs:
        if run.error is not None:
            raise run.error
    raise typer.Exit(ExitStatus.DONE if all(run.is_finished for run in runs) else ExitStatus.FALSE)


def _report(directory: Path, events: Iterable[EventDocument]) -> None:
    try:
        notice(f"the report is {write_reports(directory, events)}")
    except CommandError as error:  # which does not change how the run ended
        notice(str(error))


def _keep_plan(prepared: PreparedPlan) -> None:
    """The plan as it is carried out, for a later run that continues."""
    try:
        replace_file(prepared.copy, yaml_lines(plan_to_data(prepared.plan)))
    except OSError as error:
        raise CommandError(
            f"{prepared.copy}: {error.strerror or error}: keep the plan in a writable directory"
        ) from None
