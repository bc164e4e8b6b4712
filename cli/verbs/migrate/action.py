"""Show what carrying plans out would do; with consent, do it."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import fields
from pathlib import Path

import typer

from cli import stopping
from cli.consent import PREVIEW, ConsentOptions, ask
from cli.errors import ExitStatus, UsageError
from cli.journal.recording import open_journal
from cli.journal.reversible import irreversible
from cli.options import OutputOptions, SourceOptions
from cli.output import arranged, emit, notice, render, write_out
from cli.progress import Spinner
from cli.render.document import Document
from cli.render.output_format import OutputFormat
from cli.render.redraw import can_draw
from cli.selection import ReusableSource, is_live
from cli.verbs.migrate.fleet_plans import (
    fleet_of,
    fleet_preview,
    prepare_fleet,
    prepare_one,
    wave_options,
)
from cli.verbs.migrate.fleet_run import FleetRun, check_free, journal_of
from cli.verbs.migrate.journal_entry import MigrationEntry, plan_items
from cli.verbs.migrate.lines import Lines
from cli.verbs.migrate.options import FleetOptions, RunOptions
from cli.verbs.migrate.preview import preview_document, question
from cli.verbs.migrate.settings import NextCommands, settings_of
from cli.verbs.migrate.telling import JsonLines, Telling
from cli.verbs.migrate.view import LiveView
from cli.verbs.plan.action import connection_of, repeated_command
from migration.execution.fleet import GroupPhase

_NOT_OF_ONE = ("plans", "back", "on_stop", *(field.name for field in fields(FleetOptions)))
"""What is not repeated to roll a single group back."""


def migrate_groups(
    named: Sequence[Path],
    options: RunOptions,
    fleet: FleetOptions,
    consent: ConsentOptions,
    source: SourceOptions,
    output: OutputOptions,
    invocation: typer.Context,
) -> None:
    settings, waves = settings_of(options, source, *_next_commands(invocation, source)), wave_options(fleet)
    if consent.execute:
        _refuse_execution(source, output)
    files = files_of(named)
    is_fleet = len(files) > 1 or any(path.is_dir() for path in named)
    with stopping.stoppable(), ReusableSource(source) as opened, Spinner(f"reading {opened.name}"):
        prepare = prepare_fleet if is_fleet else prepare_one
        plans = prepare(files, opened, settings, executes=consent.execute)
    machine = fleet_of(plans, waves)
    if consent.place is not None:
        notice(f"the target is {consent.place}")
    prepared = list(plans.prepared.values())
    for text in irreversible(plan_items(prepared)):
        notice(text)
    preview = fleet_preview(plans, settings, waves) if is_fleet else preview_document(prepared, settings)
    if not consent.execute or not plans.groups:
        notice(PREVIEW if plans.groups else stopping.NOTHING_DONE)
        emit(preview, output, ExitStatus.FALSE if consent.execute and plans.has_blocked else ExitStatus.DONE)
        return
    with ExitStack() as stack:
        journal = stack.enter_context(journal_of(named[0])) if is_fleet else None
        check_free(plans)
        journal_file = open_journal(consent)
        if not consent.is_given:
            waiting = [plans.prepared[one.name] for one in plans.groups if one.phase is GroupPhase.WAITING]
            with stopping.stoppable():
                _ask(preview, question(waiting), consent, output)
        run = FleetRun(
            plans=plans,
            settings=settings,
            fleet=machine,
            options=waves,
            journal=journal,
            entry=MigrationEntry(journal_file, prepared, settings),
            telling=_telling(output, stack, several=is_fleet),
        )
        status = run.carry_out()
    raise typer.Exit(int(status))


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
                invocation, without=(*_NOT_OF_ONE, *without), with_options=(*restart, "--back")
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
