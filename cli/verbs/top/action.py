"""Open the screens on a terminal or serve them to a browser, or say what is missing."""

import os
import sys

import typer

from cli.errors import UsageError
from cli.options import OutputOptions, RepeatOptions, SourceOptions
from cli.output import notice
from cli.render.redraw import can_draw
from cli.verbs.top.options import TopOptions
from cli.verbs.why.reading import is_file
from cli.web_guard_options import GuardOptions, refuse_guard
from wire.extras import install_command, is_installed

EXTRA = "top"
DRIVER = "TEXTUAL_DRIVER"


def run_top(options: TopOptions, guard: GuardOptions, source: SourceOptions) -> None:
    """Run until the user quits. UsageError: Textual is not installed, there is no terminal, or options contradict."""
    if options.once and options.web:
        raise UsageError("--once prints the list, --web serves screens; give one")
    is_dumb = not options.web and sys.stdout.isatty() and not can_draw(sys.stdout)
    if options.once or is_dumb:
        from cli.verbs.list import show_list

        if not options.once:
            term = os.environ.get("TERM")
            what = f"TERM={term} is a terminal without screens" if term else "TERM is not set"
            notice(f"{what}: the list is printed once")
        show_list(options.selection, source, OutputOptions(), RepeatOptions(), lag=True)
        return
    if not is_installed(EXTRA):
        raise UsageError(f"kohort top needs packages that are not installed. Run: `{install_command(EXTRA)}`")
    if options.allow_changes and options.read_only:
        raise UsageError("--allow-changes and --read-only cannot be used together")
    if source.clusters and (options.web or is_file(options)):
        what = "--web serves" if options.web else "--journal and --replay show"
        raise UsageError(f"{what} one cluster: name one context")
    if options.web:
        from cli.verbs.top.web import serve_top

        serve_top(options, guard, source)
        return
    refuse_guard(guard, "--web")
    for name, value in (("--listen", guard.listen), ("--allow-changes", options.allow_changes)):
        if value:
            raise UsageError(f"{name} needs --web")
    if not has_terminal() and DRIVER not in os.environ:  # A page of --web has the driver that is named there
        raise UsageError("kohort top needs a terminal; kohort lag and kohort describe print the same facts")
    from cli.verbs.top.app import TopApp

    app = TopApp(source, options)
    status = app.run_to_end()
    if app.failure is not None:
        raise app.failure
    if status:
        raise typer.Exit(status)


def has_terminal() -> bool:
    return sys.stdin.isatty() and can_draw(sys.stdout)
