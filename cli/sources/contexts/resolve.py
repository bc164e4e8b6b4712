"""Complete a command line: it overrides the environment, this the current context, and this the default source. The
first level that names a source names all of it; only KOHORT_COMMAND_CONFIG completes a cluster of another level."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.errors import UsageError
from cli.options import (
    OF_CLUSTERS,
    ClustersOptions,
    ComparedOptions,
    OutputOptions,
    SourceOptions,
    TargetClusterOptions,
)
from cli.render.output_format import FOR_PROGRAMS, OutputFormat
from cli.sources.contexts.location import check_variable
from cli.sources.contexts.origin import SourceOrigin

if TYPE_CHECKING:
    from cli.sources.contexts.model import Context, Contexts
CONTEXT_VARIABLE = "KOHORT_CONTEXT"
SERVER_VARIABLE = "KOHORT_BOOTSTRAP_SERVER"
CONFIG_VARIABLE = "KOHORT_COMMAND_CONFIG"
SNAPSHOT_VARIABLE = "KOHORT_SNAPSHOT"
TIMEOUT_VARIABLE = "KOHORT_TIMEOUT"
OUTPUT_VARIABLE = "KOHORT_OUTPUT"

Typed = Callable[[str], bool]  # Whether the command line itself set a parameter, by name


def resolve(arguments: Mapping[str, Any], typed: Typed) -> dict[str, object]:
    """A command's arguments, its options dataclasses completed. Raises UsageError. Raises ConfigFileError."""
    from cli.consent import ConsentOptions, check_consent

    resolved = dict(arguments)
    source = next(key for key, value in arguments.items() if isinstance(value, SourceOptions))
    options = _of_clusters(arguments[source], timeout_is_typed=typed("timeout_ms"))
    resolved[source] = changed = options
    for key, value in arguments.items():
        if isinstance(value, TargetClusterOptions) and value.is_given:
            changed = _target_cluster(value, options)
            resolved[key] = replace(value, source=changed)
    for key, value in arguments.items():
        if isinstance(value, OutputOptions):
            resolved[key] = _output(value, options, typed)
        elif isinstance(value, ConsentOptions):
            resolved[key] = replace(value, place=_spelled_out(changed), target=changed)
    for value in resolved.values():
        if isinstance(value, ConsentOptions):
            check_consent(value)
    return resolved


def _target_cluster(target: TargetClusterOptions, source: SourceOptions) -> SourceOptions:
    """The target cluster as the command line names it, without the environment, and with the source's timeout."""
    base = SourceOptions(timeout_ms=source.timeout_ms, timeout_is_chosen=source.timeout_is_chosen)
    if target.to_context is None:
        return replace(
            base, bootstrap_server=target.to_bootstrap_server, command_config=target.to_command_config
        )
    if target.to_bootstrap_server or target.to_command_config:
        raise UsageError("--to-context and --to-bootstrap-server name different clusters; give one")
    context = _named(target.to_context, "--to-context")
    options, timeout_ms = _in_context(base, context, "--to-context", is_typed=True), context.timeout_ms
    if timeout_ms is None or source.timeout_is_chosen:
        return options
    return replace(options, timeout_ms=timeout_ms, timeout_is_chosen=True)


def _spelled_out(options: SourceOptions) -> SourceOrigin | None:
    """The place; if only a properties file contains the bootstrap servers, the place contains them."""
    origin = options.place
    if origin is None or options.bootstrap_server or options.command_config is None:
        return origin
    from wire.client.config.properties import load_properties

    servers = load_properties(options.command_config).bootstrap_servers
    return replace(origin, where=",".join(servers)) if servers else origin


def _of_clusters(options: SourceOptions, *, timeout_is_typed: bool) -> SourceOptions:
    """The options, completed with a source, or with the names of several contexts that exist."""
    option, names = _named_contexts(options)
    if option == "--context" and len(names) < 2:
        context = None if options.context is None else names[0]  # which may have been repeated
        return resolve_source(replace(options, context=context), timeout_is_typed=timeout_is_typed)
    given = [other for other, value in options.sources.items() if value]
    given += ["--context"] if option != "--context" and options.context is not None else []
    if given:
        raise UsageError(f"{option} and {given[0]} name different sources; give one")
    if not isinstance(options, ClustersOptions):
        raise UsageError(
            f"--context {options.context}: this command reads one cluster: name one context. Several are for "
            f"{', '.join(OF_CLUSTERS)}; mcp has --contexts"
        )
    if option == "--compare" and len(names) < 2:
        raise UsageError(f"--compare {names[0]} {names[0]}: name two contexts")
    from cli.sources.contexts.read import load_contexts

    contexts = load_contexts()
    if option == "--all-contexts":
        names = [] if contexts is None else list(contexts.by_name)
        if not names:
            raise UsageError("--all-contexts: there are no contexts; `kohort context add` creates them")
    for name in names:
        check_name(contexts, name, option)
    return replace(options, clusters=tuple(names), timeout_is_chosen=timeout_is_typed)


def _named_contexts(options: SourceOptions) -> tuple[str, list[str]]:
    """The option that names contexts, and their names; those of `--all-contexts` are not known yet."""
    if isinstance(options, ComparedOptions) and options.compare is not None:
        return "--compare", list(dict.fromkeys(options.compare))
    if isinstance(options, ClustersOptions) and options.all_contexts:
        return "--all-contexts", []
    return "--context", list(dict.fromkeys(name.strip() for name in (options.context or "").split(",")))


def of_cluster(options: SourceOptions, name: str) -> SourceOptions:
    """The source of one of several contexts. Raises UsageError. Raises ConfigFileError."""
    shared = {field.name: getattr(options, field.name) for field in fields(SourceOptions)}
    return resolve_source(
        SourceOptions(**shared | {"context": name, "clusters": ()}),
        timeout_is_typed=options.timeout_is_chosen,
    )


def resolve_source(options: SourceOptions, *, timeout_is_typed: bool = False) -> SourceOptions:
    """The options, completed with a source from the environment or a context; see `resolve`."""
    options = _sourced(options)
    if timeout_is_typed:
        return replace(options, timeout_is_chosen=True)
    value = _variable(TIMEOUT_VARIABLE)
    if value is not None:
        from cli.times import read_timeout

        try:
            return replace(options, timeout_ms=read_timeout(value), timeout_is_chosen=True)
        except ValueError as error:
            raise UsageError(f"{TIMEOUT_VARIABLE}: {error}") from None
    context = None if options.place is None else options.place.context
    if context is not None and context.timeout_ms is not None:
        return replace(options, timeout_ms=context.timeout_ms, timeout_is_chosen=True)
    return options


def _sourced(options: SourceOptions) -> SourceOptions:
    if options.place is not None:
        return options
    typed = [option for option, value in options.sources.items() if value]
    if options.context is not None:
        if typed:
            raise UsageError(f"--context and {typed[0]} name different sources; give one")
        return _in_context(options, _named(options.context, "--context"), "--context", is_typed=True)
    if typed:
        return _with_environment(options)
    variables = source_variables()
    clashing = [name for name in variables if not (name == CONFIG_VARIABLE and SERVER_VARIABLE in variables)]
    if len(clashing) > 1:
        raise UsageError(
            f"{' and '.join(clashing)} are both set, and name different sources; unset one, or name a source "
            "on the command line"
        )
    if CONTEXT_VARIABLE in variables:
        context = _named(variables[CONTEXT_VARIABLE], CONTEXT_VARIABLE)
        return _in_context(options, context, CONTEXT_VARIABLE, is_typed=False)
    if variables:
        return _from_environment(options, variables)
    return _current(options)


def source_variables() -> dict[str, str]:
    """The environment variables that are set and name a source, with their values."""
    return {
        name: value
        for name in (CONTEXT_VARIABLE, SERVER_VARIABLE, CONFIG_VARIABLE, SNAPSHOT_VARIABLE)
        if (value := _variable(name)) is not None
    }


def _with_environment(options: SourceOptions) -> SourceOptions:
    """The source that the command line names; the environment may complete a live one."""
    if options.snapshot or options.embedded or options.log_dirs:
        return options
    if options.command_config is None:
        config = _variable(CONFIG_VARIABLE)
        return options if config is None else replace(options, command_config=Path(config))
    server = _variable(SERVER_VARIABLE)
    if options.bootstrap_server is not None or server is None:
        return options
    from wire.client.config.properties import load_properties

    servers = load_properties(options.command_config).bootstrap_servers
    if servers and set(servers) != {address.strip() for address in server.split(",")}:
        raise UsageError(
            f"--command-config names {','.join(servers)} and {SERVER_VARIABLE} names {server}; "
            "choose one with --bootstrap-server"
        )
    return _from_environment(options, {SERVER_VARIABLE: server})


def _from_environment(options: SourceOptions, values: Mapping[str, str]) -> SourceOptions:
    if SNAPSHOT_VARIABLE in values:
        file = Path(values[SNAPSHOT_VARIABLE])
        place = SourceOrigin(where=str(file), named_by=SNAPSHOT_VARIABLE, is_typed=False)
        return replace(options, snapshot=file, place=place)
    config = options.command_config or (Path(values[CONFIG_VARIABLE]) if CONFIG_VARIABLE in values else None)
    server = values.get(SERVER_VARIABLE)
    where = server or f"the bootstrap.servers of {config}"
    by = SERVER_VARIABLE if server else CONFIG_VARIABLE
    origin = SourceOrigin(where=where, named_by=by, is_typed=False)
    return replace(options, bootstrap_server=server, command_config=config, place=origin)


def _current(options: SourceOptions) -> SourceOptions:
    from cli.sources.contexts.location import VARIABLE, context_location

    location = context_location()
    if location is None or not (os.path.lexists(location.path) or os.environ.get(VARIABLE)):
        return options
    from cli.sources.contexts.read import load_contexts

    contexts = load_contexts()
    if contexts is None or contexts.current is None:
        return options
    named_by = f"the current one of {contexts.path}"
    _, context = context_named(contexts, contexts.current, named_by)
    return _in_context(options, context, named_by, is_typed=False)


def _named(name: str, named_by: str) -> Context:
    from cli.sources.contexts.read import load_contexts

    return context_named(load_contexts(), name, named_by)[1]


def context_named(contexts: Contexts | None, name: str, named_by: str = "") -> tuple[Contexts, Context]:
    """The context of this name; UsageError with the closest name if it does not exist."""
    contexts = check_name(contexts, name, named_by)
    return contexts, contexts.by_name[name]


def check_name(contexts: Contexts | None, name: str, named_by: str = "") -> Contexts:
    """The contexts; UsageError with the closest name if none has this name. No context's file is read."""
    prefix = f"{named_by}: " if named_by else ""
    if contexts is None:
        from cli.sources.contexts.location import context_location

        location = context_location()
        path = "a directory of contexts" if location is None else location.path
        raise UsageError(
            f"{prefix}there is no context {name!r}: {path} does not exist; `kohort context add` creates it"
        )
    if name not in tuple(contexts.by_name):
        from cli.sources.contexts.read import listed_names, suggestion

        hint = suggestion(name, contexts.by_name) or f". It contains {listed_names(contexts.by_name)}."
        raise UsageError(f"{prefix}there is no context {name!r} in {contexts.path}{hint}")
    return contexts


def _in_context(options: SourceOptions, context: Context, named_by: str, *, is_typed: bool) -> SourceOptions:
    return replace(
        options,
        bootstrap_server=context.bootstrap_server,
        command_config=context.command_config,
        snapshot=context.snapshot,
        embedded=context.embedded,
        log_dirs=list(context.log_dirs) or None,
        as_of=options.as_of or context.as_of,
        topics_file=options.topics_file or context.topics,
        place=SourceOrigin(where=context.place, named_by=named_by, is_typed=is_typed, context=context),
    )


def _output(output: OutputOptions, source: SourceOptions, typed: Typed) -> OutputOptions:
    """The output in the format of the environment or context, unless the command line sets it or arranges tables."""
    if typed("output"):
        return output
    chosen = None if source.place is None or source.place.context is None else source.place.context.output
    value = _variable(OUTPUT_VARIABLE)
    if value is not None:
        try:
            chosen = OutputFormat(value)
        except ValueError:
            names = ", ".join(choice.value for choice in OutputFormat)
            raise UsageError(f"{OUTPUT_VARIABLE}: {value!r} is not one of {names}") from None
    arranged = any(typed(name) for name in ("columns", "sort", "no_header"))
    if chosen is None or (arranged and chosen in FOR_PROGRAMS):
        return output
    return replace(output, output=chosen)


def _variable(name: str) -> str | None:
    """A variable of the environment. UsageError for a blank one: it would silently select another source."""
    value = os.environ.get(name)
    if value is not None:
        check_variable(name, value)
        if name == SERVER_VARIABLE and not all(map(str.strip, value.split(","))):
            raise UsageError(f"{name}: {value!r} has an empty part; remove the comma, or add the server")
    return value
