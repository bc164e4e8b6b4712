"""Start the server of agents' tools, or say why it cannot be started."""

import gc
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from cli.errors import UsageError
from cli.options import SourceOptions
from cli.verbs.mcp.options import McpGuard, McpOptions
from cli.verbs.mcp.tools import ALLOWABLE
from cli.verbs.top.words import source_words
from cli.web_guard_options import refuse_guard
from wire.extras import install_command, is_installed

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from cli.verbs.mcp.server import AllowedChanges
    from cli.web_guard import Guard

EXTRA = "mcp"
LOGINS = "--token-file or --access"


def serve_agents(options: McpOptions, access: McpGuard, source: SourceOptions) -> None:
    """Serve until the agent's program hangs up, or a signal. Raises CannotListen. UsageError: the SDK is not installed,
    options contradict, or the address needs a login."""
    if not is_installed(EXTRA):
        raise UsageError(f"kohort mcp needs packages that are not installed. Run: `{install_command(EXTRA)}`")
    guard = guard_of_http(options.http, access)
    # The SDK builds a thousand classes, which take most of the time until the first answer; none of them is garbage.
    gc.disable()
    import anyio

    from cli.verbs.mcp.stdio import log_faults, serve_stdio

    gc.freeze()
    gc.enable()
    log_faults()
    with TemporaryDirectory(prefix="kohort-mcp-") as directory:
        server = agent_server(options, source, Path(directory))
        if guard is None:
            anyio.run(serve_stdio, server)
        else:
            from cli.verbs.mcp.http import serve_http

            anyio.run(serve_http, server, guard)


def agent_server(options: McpOptions, source: SourceOptions, directory: Path) -> "Server":
    """The server, which keeps plans in this directory. UsageError: options contradict."""
    from cli.verbs.mcp.child import CommandRunner
    from cli.verbs.mcp.server import AgentServer

    sources = _sources(options.contexts, source)
    return AgentServer(
        sources={name: source_words(named) for name, named in sources.items()},
        runner=CommandRunner(options.time_limit),
        plans=directory,
        changes=_changes(options, sources.values()),
    ).as_server()


def _sources(contexts: str | None, source: SourceOptions) -> Mapping[str, SourceOptions]:
    """The sources by context; the only one has no name."""
    if contexts is None:
        return {"": source}
    from cli.sources.contexts.resolve import resolve_source

    if any(source.sources.values()) and (source.place is None or source.place.is_typed):
        raise UsageError("--contexts and the option of another source cannot be used together")
    names = dict.fromkeys(name.strip() for name in contexts.split(","))
    plain = SourceOptions(timeout_ms=source.timeout_ms)
    return {name: resolve_source(replace(plain, context=name)) for name in names}


def guard_of_http(http: str | None, access: McpGuard) -> "Guard | None":
    """Who may connect to the address; None without --http. UsageError: there is no login, or too little for others."""
    if http is None:
        refuse_guard(access, "--http")
        return None
    from cli.web_guard import guard_of

    listen = f"127.0.0.1:{http}" if http.isdecimal() else http
    guard = guard_of(replace(access, listen=listen), listen, "--http", LOGINS)
    if not guard.login.is_asked_for:
        raise UsageError(f"--http needs {LOGINS}: every user of this machine could connect")
    return guard


def _changes(options: McpOptions, sources: Collection[SourceOptions]) -> "AllowedChanges":
    """UsageError: only one of --allow and --groups is given, or they name nothing that can be changed."""
    from cli.journal.directory import OFF, VARIABLE, journal_directory
    from cli.selection import name_filter
    from cli.verbs.mcp.server import AllowedChanges

    if options.allow is None and options.groups is None:
        return AllowedChanges()
    if options.allow is None or options.groups is None:
        raise UsageError(
            "--allow NAME,… and --groups REGEX need each other: which changes, and to which groups"
        )
    if all(source.place is not None and source.place.is_protected for source in sources):
        raise UsageError("the context is protected: an agent never changes it; leave --allow out")
    if journal_directory() is None:
        raise UsageError(
            f"{VARIABLE}={OFF}: an agent makes no change without an entry in the journal; name its directory"
        )
    names = [verb.strip().replace(" ", "-").replace("_", "-") for verb in options.allow.split(",")]
    for name in names:
        if name not in ALLOWABLE:
            raise UsageError(f"--allow {name}: expected {', '.join(ALLOWABLE)}")
    matches = name_filter(options.groups, "--groups", whole=True)
    return AllowedChanges(tools=[ALLOWABLE[name] for name in names], pattern=options.groups, matches=matches)
