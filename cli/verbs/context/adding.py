"""What `kohort context add` was told, as an entry of the configuration file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cli.errors import UsageError
from cli.render.output_format import OutputFormat
from cli.sources.contexts.file import config_path, load_contexts, read_secret_file
from cli.sources.contexts.inline import InlineProperties
from cli.sources.contexts.model import NAME_RULE, Context, Contexts, is_name, is_secret
from cli.sources.contexts.read import read_contexts
from cli.verbs.context.edit import Editor, Fragment
from cli.verbs.context.secret_store import ask_for, drop, keep
from cli.verbs.context.write import change_file
from wire.client.config.config_file import ConfigFileError


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The options; lists of `KEY=VALUE`, `KEY=NAME`, `KEY=FILE` and `KEY`."""

    bootstrap_server: str | None = None
    command_config: Path | None = None
    properties: Sequence[str] = ()
    secrets: Sequence[str] = ()
    secrets_in_environment: Sequence[str] = ()
    secrets_in_files: Sequence[str] = ()
    snapshot: Path | None = None
    embedded: Path | None = None
    log_dirs: Sequence[Path] = ()
    as_of: str | None = None
    topics: Path | None = None
    timeout_ms: int | None = None
    output: OutputFormat | None = None
    protected: bool = False


def add_context(name: str, told: Told, *, use: bool) -> tuple[Path, Context]:
    """Add a context, with the secrets that are asked for in files of their own; the configuration file, and it.

    :raises UsageError: the name is taken or none; the options make no sense, or hold a secret
    :raises CommandError: the file cannot be changed; everything is then as it was
    """
    if not is_name(name):
        raise UsageError(f"{name!r} cannot name a context: {NAME_RULE}")
    properties = _properties(told)
    fragment = _fragment(told, properties)
    context = _checked(name, fragment)
    _refuse_taken(load_contexts(may_be_missing=True), name)
    secrets = ask_for(told.secrets)
    kept: dict[str, Path] = {}

    def change(editor: Editor, contexts: Contexts) -> str:
        _refuse_taken(contexts, name)
        kept.update(keep(contexts.path, name, secrets))
        references: dict[str, Fragment] = {
            # From the configuration file's directory, so that it can be moved with its secrets.
            key: {"file": str(file.relative_to(contexts.path.parent))}
            for key, file in kept.items()
        }
        return editor.add(name, _fragment(told, {**properties, **references}), current=use)

    try:
        return change_file(change, may_create=True), context
    except BaseException:
        drop(kept.values())
        raise


def _refuse_taken(contexts: Contexts | None, name: str) -> None:
    if contexts is not None and name in contexts.by_name:
        raise UsageError(
            f"{contexts.path} has a context {name} already; `kohort context remove {name} --execute` makes room for it"
        )


def _properties(told: Told) -> dict[str, Fragment]:
    values: dict[str, Fragment] = {}
    for option, pairs in (
        ("--property", told.properties),
        ("--secret-env", told.secrets_in_environment),
        ("--secret-file", told.secrets_in_files),
        ("--secret", [f"{key}=" for key in told.secrets]),
    ):
        for pair in pairs:
            key, equals, value = pair.partition("=")
            key = key.strip()
            if not equals or not key or (option == "--secret" and pair.count("=") > 1):
                wanted = {"--property": "KEY=VALUE", "--secret-env": "KEY=NAME", "--secret-file": "KEY=FILE"}
                raise UsageError(
                    f"{option} wants {wanted.get(option, 'a KEY alone: the value is asked for')}"
                )
            if key in values:
                raise UsageError(f"{key} is given twice")
            values[key] = _value(option, key, value)
    return values


def _value(option: str, key: str, value: str) -> Fragment:
    if option == "--property":
        if is_secret(key, value):
            raise UsageError(
                f"--property {key}=… is a secret, which would stay in the shell's history and the list of processes: "
                f"--secret {key} asks for it, --secret-env {key}=NAME and --secret-file {key}=FILE refer to it"
            )
        return value
    if option == "--secret-file":
        file = Path(value).absolute()
        read_secret_file(file)
        return {"file": str(file)}
    # What --secret asks for is not there yet.
    return {"env": value or "-"}


def _fragment(told: Told, properties: dict[str, Fragment]) -> dict[str, Fragment]:
    """The entry; paths as they are from anywhere."""
    said: dict[str, Fragment | None] = {
        "bootstrap_server": told.bootstrap_server,
        "command_config": _path(told.command_config),
        "properties": properties or None,
        "snapshot": _path(told.snapshot),
        "embedded": _path(told.embedded),
        "log_dirs": [str(directory.absolute()) for directory in told.log_dirs] or None,
        "as_of": told.as_of,
        "topics": _path(told.topics),
        "timeout_ms": None if told.timeout_ms is None else str(told.timeout_ms),
        "output": None if told.output is None else told.output.value,
        "protected": "true" if told.protected else None,
    }
    return {key: value for key, value in said.items() if value is not None}


def _path(path: Path | None) -> str | None:
    return None if path is None else str(path.absolute())


def _checked(name: str, fragment: dict[str, Fragment]) -> Context:
    """The context as it will be read. UsageError for what would be refused then."""
    path = config_path() or Path("config.yaml")
    try:
        context = read_contexts(path, Editor("").add(name, fragment, current=False)).by_name[name]
        InlineProperties(path=path, context=context).check()
        if context.command_config is not None:
            from wire.client.config.properties import load_properties

            load_properties(context.command_config)
    except ConfigFileError as error:
        place = "" if error.path == path else f"{error.path}: "
        raise UsageError(f"{place}{error.message}") from None
    return context
