"""Carry out plans."""

import sys
from contextlib import ExitStack
from pathlib import Path

import typer

from cli.consent import ConsentOptions
from cli.errors import ExitStatus
from cli.options import SourceOptions
from cli.verbs.migrate.hook import command_of
from cli.verbs.migrate.lines import Lines
from cli.verbs.migrate.run import GroupRun, RunSettings
from cli.verbs.migrate.run_directory import RunDirectory
from cli.verbs.migrate.view import LiveView
from cli.verbs.migrate.waves import Conductor
from cli.verbs.plan.files import read_plan
from cli.verbs.watch.redraw import can_draw
from migration.gate.notes import fingerprint


def migrate_group(file: Path, restart: str, _consent: ConsentOptions, options: SourceOptions) -> None:
    plan = read_plan(file)
    settings = RunSettings(command=command_of(restart), source=options)
    with ExitStack() as stack:
        is_live = can_draw(sys.stdout)
        conductor = Conductor(stack.enter_context(LiveView()) if is_live else Lines(several=False))
        directory = stack.enter_context(RunDirectory(file, fingerprint(plan)))
        run = GroupRun(file=file, plan=plan, settings=settings, directory=directory, tell=conductor.told.put)
        conductor.conduct([run])
    if run.error is not None:
        raise run.error
    raise typer.Exit(ExitStatus.DONE if run.is_finished else ExitStatus.FALSE)
