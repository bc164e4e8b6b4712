"""The actions of the verbs of `kohort context`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cli.errors import CommandError, UsageError
from cli.journal.entry import ChangedItem, ItemResult
from cli.output import notice
from cli.render.document import Document, Table, columns
from cli.sources.contexts.inline import InlineProperties
from cli.sources.contexts.location import context_location, read_secret_file
from cli.sources.contexts.model import NAME_RULE, Context, ContextOrigin, Contexts, is_name, is_secret
from cli.sources.contexts.origin import SourceOrigin
from cli.sources.contexts.read import SUFFIX, load_contexts, read_context
from cli.sources.contexts.resolve import CONTEXT_VARIABLE, context_named, source_variables
from cli.verbs.context.options import ContextOptions
from cli.verbs.context.store import NO_HOME, ContextStore, ask_for, change_contexts, drop, keep, own_files
from cli.verbs.context.view import list_document, show_document
from wire.client.config.config_file import ConfigFileError


def listed() -> Document:
    contexts = load_contexts()
    if contexts is None:
        location = context_location()
        if location is None:
            raise CommandError(NO_HOME)
        notice(f"{location.path} does not exist; `kohort context add` creates it")
        contexts = Contexts(path=location.path, current=None, by_name={})
    for context in contexts.by_name.values():
        _warn_of_secrets(context)
    name, named_by = _in_use(contexts)
    _note_override(contexts.current)
    return list_document(contexts, name, named_by)


def _warn_of_secrets(context: Context) -> None:
    if context.warning is not None:
        notice(context.warning)


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
    _warn_of_secrets(context)
    return show_document(contexts, context)


def make_current(name: str | None, *, none: bool) -> None:
    """Make a context the current one, or `none`, and print a message."""
    if (name is None) is not none:
        raise UsageError("name a context or give --none")

    def change(store: ContextStore) -> None:
        context = None if name is None else context_named(store.contexts, name)[1]
        store.use(name)
        if context is None:
            notice(f"there is no current context now ({store.directory})")
            return
        protected = ", protected" if context.protected else ""
        notice(f"the current context is {name}{protected}: {context.place}")
        _warn_of_secrets(context)

    change_contexts(change)
    _note_override(name)


def renamed(name: str, new: str) -> None:
    if not is_name(new):
        raise UsageError(f"{new!r} is not a valid context name: {NAME_RULE}")

    def change(store: ContextStore) -> None:
        context_named(store.contexts, name)
        _refuse_taken(store.contexts, new)
        store.rename(name, new)

    directory = change_contexts(change)
    notice(f"the context {name} is now called {new} ({directory})")


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
    try:
        variables = source_variables()
    except UsageError as error:  # other commands refuse the variable; the file has been changed
        notice(str(error))
        return
    if variables and variables.get(CONTEXT_VARIABLE) != current:
        name = next(iter(variables))
        overridden = f"the current context {current}" if current is not None else "a current context"
        notice(f"{name}={variables[name]} is set in the environment and overrides {overridden}")


def added(name: str, options: ContextOptions, *, use: bool) -> None:
    """Add a context, with the entered secrets in separate files. Raises UsageError. Raises CommandError."""
    if not is_name(name):
        raise UsageError(f"{name!r} is not a valid context name: {NAME_RULE}")
    properties = _properties(options)
    context = _checked(name, _fragment(options, properties))
    _refuse_taken(load_contexts(may_be_missing=True), name)
    secrets = ask_for(options.secrets or ())
    kept: dict[str, Path] = {}

    def change(store: ContextStore) -> None:
        _refuse_taken(store.contexts, name)
        base = store.directory.parent
        kept.update(keep(base, name, secrets))
        # Relative to the directory that contains the directory of contexts, so that both can be moved together.
        references = {key: {"file": str(file.relative_to(base))} for key, file in kept.items()}
        store.add(name, _fragment(options, {**properties, **references}))
        if use:
            store.use(name)

    try:
        directory = change_contexts(change, may_create=True)
    except BaseException:
        drop(kept.values())
        raise
    notice(f"added the context {name} to {directory}: {context.place}")
    if use:
        _note_override(name)
    else:
        notice(f"--context {name} uses it; `kohort context use {name}` makes it the current one")


def _refuse_taken(contexts: Contexts | None, name: str) -> None:
    if contexts is not None and name in contexts.by_name:
        raise UsageError(
            f"{contexts.path} already has a context {name}; `kohort context remove {name} --execute` removes it"
        )


def _properties(options: ContextOptions) -> dict[str, Any]:
    values: dict[str, Any] = {}
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
                formats = {"--property": "KEY=VALUE", "--secret-env": "KEY=NAME", "--secret-file": "KEY=FILE"}
                raise UsageError(
                    f"{option} expects {formats.get(option, 'a KEY without a value, which is asked for')}"
                )
            if key in values:
                raise UsageError(f"{key} is given twice")
            values[key] = _value(option, key, value)
    return values


def _value(option: str, key: str, value: str) -> str | dict[str, str]:
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


def _fragment(options: ContextOptions, properties: dict[str, Any]) -> dict[str, Any]:
    fragments: dict[str, Any] = {
        "bootstrap_server": options.bootstrap_server,
        "command_config": _path(options.command_config),
        "cluster_id": options.cluster_id,
        "properties": properties or None,
        "snapshot": _path(options.snapshot),
        "embedded": _path(options.embedded),
        "log_dirs": [str(directory.absolute()) for directory in options.log_dirs or ()] or None,
        "as_of": options.as_of,
        "topics": _path(options.topics_file),
        "timeout_ms": options.timeout_ms,
        "output": None if options.output is None else options.output.value,
        "protected": options.protected or None,
    }
    return {key: value for key, value in fragments.items() if value is not None}


def _path(path: Path | None) -> str | None:
    return None if path is None else str(path.absolute())


def _checked(name: str, fragment: dict[str, Any]) -> Context:
    """The context that reading the file will give. UsageError if it would be refused."""
    location = context_location()
    file = (Path() if location is None else location.directory) / f"{name}{SUFFIX}"
    try:
        origin = ContextOrigin(file=file, text="", steps=())
        context = read_context(name, fragment, origin, file.parent)
        for text in InlineProperties(context).check():
            notice(text)
    except ConfigFileError as error:
        prefix = "" if error.path == file else f"{error.path}: "
        raise UsageError(f"{prefix}{error.message}") from None
    return context


@dataclass(slots=True, kw_only=True)
class Removal:
    contexts: Contexts
    context: Context
    executed: bool = field(default=False, init=False)

    is_empty = False
    refused = False

    @property
    def place(self) -> SourceOrigin:
        """The source to change: the context's own protection applies."""
        return SourceOrigin(
            where=self.context.place, named_by=f"of {self.contexts.path}", is_typed=True, context=self.context
        )

    @property
    def comments(self) -> int:
        origin = self.context.origin
        return 0 if origin.steps else sum(line.lstrip().startswith("#") for line in origin.text.splitlines())

    @property
    def secret_files(self) -> tuple[Path, ...]:
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
        """The context is compared when others are locked out."""

    def items(self) -> Sequence[ChangedItem]:
        return ()  # No cluster is changed

    def results(self) -> Sequence[ItemResult]:
        return ()

    def apply(self) -> None:
        """Remove the context, if it is still the one that was shown."""

        def change(store: ContextStore) -> None:
            if store.contexts.by_name.get(self.context.name) != self.context:
                raise CommandError(
                    f"{store.directory}: the context {self.context.name} was changed meanwhile; "
                    "nothing was removed. Run the command again"
                )
            store.remove(self.context.name)

        files = self.secret_files
        change_contexts(change)
        drop(files)
        self.executed = True

    def document(self) -> Document:
        files = [str(file) for file in self.secret_files]
        rows = [("context", self.context.name), (self.context.kind.value, self.context.place)]
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
    contexts, context = context_named(load_contexts(), name)
    return Removal(contexts=contexts, context=context)
