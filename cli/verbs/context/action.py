"""The actions of the verbs of `kohort context`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from cli.errors import CommandError, UsageError
from cli.output import notice
from cli.render.document import Document, Table, columns
from cli.sources.contexts.file import config_path, load_contexts, load_with_text, read_secret_file
from cli.sources.contexts.inline import InlineProperties
from cli.sources.contexts.model import NAME_RULE, Context, Contexts, is_name, is_secret
from cli.sources.contexts.place import SourceOrigin
from cli.sources.contexts.read import read_contexts
from cli.sources.contexts.resolve import (
    CONTEXT_VARIABLE,
    context_named,
    source_variables,
)
from cli.verbs.context.edit import Editor, Fragment
from cli.verbs.context.files import ask_for, change_file, drop, keep, own_files
from cli.verbs.context.options import ContextOptions
from cli.verbs.context.view import list_document, problems_of, show_document
from wire.client.config.config_file import ConfigFileError


def listed() -> Document:
    """All contexts; empty without a file."""
    contexts = load_contexts()
    if contexts is None:
        path = config_path()
        if path is None:
            raise CommandError(
                "there is no home directory for a configuration file; set KOHORT_CONFIG to a path"
            )
        notice(f"{path} does not exist; `kohort context add` creates it")
        contexts = Contexts(path=path, current=None, by_name={})
    for context in contexts.by_name.values():
        _warn_of_secrets(contexts, context)
    name, named_by = _in_use(contexts)
    _note_override(contexts.current)
    return list_document(contexts, name, named_by)


def _warn_of_secrets(contexts: Contexts, context: Context) -> None:
    warning = context.warning(contexts.path)
    if warning is not None:
        notice(warning)


def shown(name: str | None) -> Document:
    """One context; by default the one in use. UsageError if it does not exist."""
    loaded = load_contexts()
    if name is None:
        variables = source_variables()
        name = variables.get(CONTEXT_VARIABLE)
        if name is None and variables:
            raise UsageError(
                f"no context is in use: the variable {next(iter(variables))} selects the source. "
                "Name a context to show it"
            )
        name = name or (None if loaded is None else loaded.current)
    if name is None:
        raise UsageError(
            "no context is in use; name one, or set the current one with `kohort context use NAME`"
        )
    contexts, context = context_named(loaded, name)
    _warn_of_secrets(contexts, context)
    return show_document(contexts, context, problems_of(contexts, context))


def make_current(name: str | None) -> None:
    """Make a context the current one, or none with None, and print a message."""

    def change(editor: Editor, contexts: Contexts) -> str:
        if name is not None:
            context_named(contexts, name)
        return editor.use(name)

    path = change_file(change)
    loaded = load_contexts()
    if name is None:
        notice(f"there is no current context now ({path})")
    elif loaded is not None and name in loaded.by_name:
        context = loaded.by_name[name]
        protected = ", protected" if context.protected else ""
        notice(f"the current context is {name}{protected}: {context.place}")
        _warn_of_secrets(loaded, context)
    _note_override(name)


def added(name: str, options: ContextOptions, *, use: bool) -> None:
    """Add a context and print its file."""
    path, context = add_context(name, options, use=use)
    notice(f"added the context {name} to {path}: {context.place}")
    if use:
        _note_override(name)
    else:
        notice(f"--context {name} uses it; `kohort context use {name}` makes it the current one")


def renamed(name: str, new: str) -> None:
    """Rename a context and print a message."""
    if not is_name(new):
        raise UsageError(f"{new!r} is not a valid context name: {NAME_RULE}")

    def change(editor: Editor, contexts: Contexts) -> str:
        context_named(contexts, name)
        if new in contexts.by_name:
            raise UsageError(f"{contexts.path} already has a context {new}")
        return editor.rename(name, new)

    path = change_file(change)
    notice(f"the context {name} is now called {new} ({path})")


def _in_use(contexts: Contexts) -> tuple[str | None, str | None]:
    """The context that commands use if their command line names no source, and what selects it."""
    variables = source_variables()
    if CONTEXT_VARIABLE in variables:
        name = variables[CONTEXT_VARIABLE]
        return (name if name in contexts.by_name else None), CONTEXT_VARIABLE
    if variables:
        return None, next(iter(variables))
    return contexts.current, None if contexts.current is None else "current"


def _note_override(current: str | None) -> None:
    """Print a notice if the environment overrides the file."""
    try:
        variables = source_variables()
    except UsageError as error:  # other commands refuse the variable; the file has been changed
        notice(str(error))
        return
    if variables and variables.get(CONTEXT_VARIABLE) != current:
        name = next(iter(variables))
        overridden = f"the current context {current}" if current is not None else "a current context"
        notice(f"{name}={variables[name]} is set in the environment and overrides {overridden}")


def add_context(name: str, options: ContextOptions, *, use: bool) -> tuple[Path, Context]:
    """Add a context, with the entered secrets in separate files. Returns the configuration file and the context.

    :raises UsageError: the name exists or is invalid; the options are invalid, or contain a secret
    :raises CommandError: the file cannot be changed; nothing is changed then
    """
    if not is_name(name):
        raise UsageError(f"{name!r} is not a valid context name: {NAME_RULE}")
    properties = _properties(options)
    fragment = _fragment(options, properties)
    context = _checked(name, fragment)
    _refuse_taken(load_contexts(may_be_missing=True), name)
    secrets = ask_for(options.secrets or ())
    kept: dict[str, Path] = {}

    def change(editor: Editor, contexts: Contexts) -> str:
        _refuse_taken(contexts, name)
        kept.update(keep(contexts.path, name, secrets))
        references: dict[str, Fragment] = {
            # Relative to the configuration file's directory, so that it can be moved with its secrets.
            key: {"file": str(file.relative_to(contexts.path.parent))}
            for key, file in kept.items()
        }
        return editor.add(name, _fragment(options, {**properties, **references}), current=use)

    try:
        return change_file(change, may_create=True), context
    except BaseException:
        drop(kept.values())
        raise


def _refuse_taken(contexts: Contexts | None, name: str) -> None:
    if contexts is not None and name in contexts.by_name:
        raise UsageError(
            f"{contexts.path} already has a context {name}; `kohort context remove {name} --execute` removes it"
        )


def _properties(options: ContextOptions) -> dict[str, Fragment]:
    values: dict[str, Fragment] = {}
    for option, pairs in (
        ("--property", options.properties or ()),
        ("--secret-env", options.secrets_in_environment or ()),
        ("--secret-file", options.secrets_in_files or ()),
        ("--secret", [f"{key}=" for key in options.secrets or ()]),
    ):
        for pair in pairs:
            key, equals, value = pair.partition("=")
            key = key.strip()
            if not equals or not key or (option == "--secret" and pair.count("=") > 1):
                wanted = {"--property": "KEY=VALUE", "--secret-env": "KEY=NAME", "--secret-file": "KEY=FILE"}
                raise UsageError(
                    f"{option} expects {wanted.get(option, 'a KEY without a value, which is asked for')}"
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
    # The value of --secret is entered later.
    return {"env": value or "-"}


def _fragment(options: ContextOptions, properties: dict[str, Fragment]) -> dict[str, Fragment]:
    """The entry of the file, with absolute paths."""
    fragments: dict[str, Fragment | None] = {
        "bootstrap_server": options.bootstrap_server,
        "command_config": _path(options.command_config),
        "cluster_id": options.cluster_id,
        "properties": properties or None,
        "snapshot": _path(options.snapshot),
        "embedded": _path(options.embedded),
        "log_dirs": [str(directory.absolute()) for directory in options.log_dirs or ()] or None,
        "as_of": options.as_of,
        "topics": _path(options.topics_file),
        "timeout_ms": None if options.timeout_ms is None else str(options.timeout_ms),
        "output": None if options.output is None else options.output.value,
        "protected": "true" if options.protected else None,
    }
    return {key: value for key, value in fragments.items() if value is not None}


def _path(path: Path | None) -> str | None:
    return None if path is None else str(path.absolute())


def _checked(name: str, fragment: dict[str, Fragment]) -> Context:
    """The context that reading the file will give. UsageError if it would be refused."""
    path = config_path() or Path("config.yaml")
    try:
        context = read_contexts(path, Editor("").add(name, fragment, current=False)).by_name[name]
        for text in InlineProperties(path=path, context=context).check():
            notice(text)
    except ConfigFileError as error:
        place = "" if error.path == path else f"{error.path}: "
        raise UsageError(f"{place}{error.message}") from None
    return context


@dataclass(slots=True, kw_only=True)
class Removal:
    """The removal of a context, and of its secret files."""

    contexts: Contexts
    context: Context
    comments: int
    """Number of comment lines in the entry."""
    executed: bool = field(default=False, init=False)

    is_empty = False
    refused = False

    @property
    def place(self) -> SourceOrigin:
        """The source to change: the context's own protection applies."""
        return SourceOrigin(
            where=self.context.place,
            named_by=f"of {self.contexts.path}",
            is_typed=True,
            context=self.context,
            file=self.contexts.path,
        )

    @property
    def secret_files(self) -> tuple[Path, ...]:
        """The secret files that Kohort wrote and that no other context uses."""
        return own_files(self.contexts, self.context)

    @property
    def is_current(self) -> bool:
        return self.contexts.current == self.context.name

    @property
    def question(self) -> str:
        also = []
        if self.secret_files:
            also.append(f"{len(self.secret_files)} files with its secrets")
        if self.comments:
            also.append(f"{self.comments} lines of comments in it")
        with_what = f", with {' and '.join(also)}" if also else ""
        return f"remove the context {self.context.name} from {self.contexts.path}{with_what}"

    @property
    def done(self) -> str | None:
        return f"removed the context {self.context.name} from {self.contexts.path}" if self.executed else None

    def check_again(self, *, was_asked: bool) -> None:
        """The file is compared when it is locked."""

    def apply(self) -> None:
        """Write the file without the context, if the context is still the one that was shown."""

        def change(editor: Editor, contexts: Contexts) -> str:
            if contexts.by_name.get(self.context.name) != self.context:
                raise CommandError(
                    f"{contexts.path}: the context {self.context.name} was changed meanwhile; "
                    "nothing was removed. Run the command again"
                )
            return editor.remove(self.context.name)

        files = self.secret_files
        change_file(change)
        drop(files)
        self.executed = True

    def document(self) -> Document:
        files = [str(file) for file in self.secret_files]
        rows: list[tuple[str, str]] = [
            ("context", self.context.name),
            (self.context.kind.value, self.context.place),
        ]
        rows += [("property", value.key) for value in self.context.properties]
        rows += [("secret file", file) for file in files]
        if self.is_current:
            rows.append(("current", "no context is current afterwards"))
        return Document(
            command="context remove",
            data={
                "file": str(self.contexts.path),
                "context": self.context.name,
                "current": self.is_current,
                "secret_files": files,
                "comments": self.comments,
                "executed": self.executed,
            },
            blocks=[Table(columns=columns("REMOVED", "VALUE"), rows=rows)],
        )


def plan_removal(name: str) -> Removal:
    """Plan the removal. UsageError if there is no such context."""
    loaded = load_with_text()
    found, context = context_named(None if loaded is None else loaded[0], name)
    text = "" if loaded is None else loaded[1]
    return Removal(contexts=found, context=context, comments=Editor(text).comments_in(name))
