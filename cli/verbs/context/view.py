"""The documents of `kohort context list` and `show`. They contain the locations of secrets, never the secrets."""

import os
from pathlib import Path

from cli.render.cells import Cell
from cli.render.document import Document, Table, columns
from cli.sources.contexts.inline import InlineProperties
from cli.sources.contexts.location import read_secret_file
from cli.sources.contexts.model import Context, Contexts, PropertyValue, ValueStore
from groups.model import Problem
from wire.client.config.config_file import ConfigFileError


def list_document(contexts: Contexts, in_force: str | None, named_by: str | None) -> Document:
    """All contexts. `in_force` is the context that commands use now; None if they use none or another source."""
    rows = [
        (
            "*" if context.name == in_force else "",
            context.name,
            context.kind.value,
            context.place,
            "yes" if context.protected else "",
        )
        for context in contexts.by_name.values()
    ]
    return Document(
        command="context list",
        data={
            "file": str(contexts.path),
            "current": contexts.current,
            "in_force": in_force,
            "named_by": named_by,
            "contexts": [_brief(contexts, context) for context in contexts.by_name.values()],
        },
        blocks=[Table(columns=columns("USED", "CONTEXT", "SOURCE", "WHERE", "PROTECTED"), rows=rows)],
    )


def show_document(contexts: Contexts, context: Context) -> Document:
    """One context, with the errors that a client would report, as far as they are known without the secrets."""
    settings: list[tuple[str, Cell]] = [
        ("bootstrap_server", context.bootstrap_server),
        ("command_config", _text(context.command_config)),
        ("cluster_id", context.cluster_id),
        ("snapshot", _text(context.snapshot)),
        ("embedded", _text(context.embedded)),
        *(("log_dirs", str(directory)) for directory in context.log_dirs),
        ("as_of", context.as_of),
        ("topics", _text(context.topics)),
        ("timeout_ms", context.timeout_ms),
        ("output", None if context.output is None else context.output.value),
        ("protected", context.protected or None),
    ]
    rows: list[tuple[Cell, ...]] = [("context", context.name, str(context.origin.file))]
    rows += [(key, value, "") for key, value in settings if value is not None]
    rows += [(value.key, _shown(value), _origin(value)) for value in context.properties]
    problems: tuple[Problem, ...] = ()
    try:
        InlineProperties(context).check()
    except ConfigFileError as error:
        problems = (Problem(subject=context.name, message=str(error)),)
    return Document(
        command="context show",
        data={
            "file": str(context.origin.file),
            **_brief(contexts, context),
            "cluster_id": context.cluster_id,
            "as_of": context.as_of,
            "topics": _text(context.topics),
            "timeout_ms": context.timeout_ms,
            "output": None if context.output is None else context.output.value,
            "properties": [_property(value) for value in context.properties],
        },
        blocks=[Table(columns=columns("NAME", "VALUE", "SOURCE"), rows=rows)],
        errors=problems,
    )


def _brief(contexts: Contexts, context: Context) -> dict[str, object]:
    servers = context.bootstrap_server
    return {
        "context": context.name,
        "current": context.name == contexts.current,
        "source": context.kind.value,
        "bootstrap_servers": None if servers is None else servers.split(","),
        "command_config": _text(context.command_config),
        "snapshot": _text(context.snapshot),
        "embedded": _text(context.embedded),
        "log_dirs": [str(directory) for directory in context.log_dirs],
        "protected": context.protected,
    }


def _property(value: PropertyValue) -> dict[str, object]:
    return {
        "name": value.key,
        "value": _shown(value),
        "secret": value.is_secret,
        "kept_in": value.store.value,
        "keeper": None if value.store is ValueStore.LITERAL else value.text,
        "available": _missing(value) is None,
    }


def _shown(value: PropertyValue) -> str | None:
    return None if value.is_secret else value.text


def _origin(value: PropertyValue) -> str:
    if value.store is ValueStore.LITERAL:
        return "a secret in the configuration file itself" if value.is_secret else ""
    kind = "environment variable" if value.store is ValueStore.ENVIRONMENT else value.store.value
    missing = _missing(value)
    return f"{kind} {value.text}{'' if missing is None else f' ({missing})'}"


def _missing(value: PropertyValue) -> str | None:
    """Why the value is not available now; None if it is. A command is not run just for this."""
    if value.store is ValueStore.ENVIRONMENT:
        return None if os.environ.get(value.text) else "not set"
    if value.store is ValueStore.FILE:
        try:
            read_secret_file(Path(value.text))
        except ConfigFileError as error:
            return error.message
    return None


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)
