"""What the verbs of `kohort context` do and say."""

from __future__ import annotations

from cli.errors import CommandError, UsageError
from cli.output import notice
from cli.render.document import Document
from cli.sources.contexts.file import config_path, load_contexts
from cli.sources.contexts.lookup import context_named, say_literal_secrets
from cli.sources.contexts.model import NAME_RULE, Contexts, is_name
from cli.sources.contexts.settle import CONTEXT_VARIABLE, source_variables
from cli.verbs.context.adding import Told, add_context
from cli.verbs.context.edit import Editor
from cli.verbs.context.view import list_document, problems_of, show_document
from cli.verbs.context.write import change_file


def listed() -> Document:
    """All contexts; without a file none."""
    contexts = load_contexts()
    if contexts is None:
        path = config_path()
        if path is None:
            raise CommandError(
                "there is no home directory for a configuration file; set KOHORT_CONFIG to a path"
            )
        notice(f"{path} does not exist; `kohort context add` writes it")
        contexts = Contexts(path=path, current=None, by_name={})
    for context in contexts.by_name.values():
        say_literal_secrets(contexts, context)
    name, named_by = _in_use(contexts)
    _say_overruled(contexts.current)
    return list_document(contexts, name, named_by)


def shown(name: str | None) -> Document:
    """One context; by default the one in use. UsageError where there is none."""
    loaded = load_contexts()
    if name is None:
        variables = source_variables()
        name = variables.get(CONTEXT_VARIABLE)
        if name is None and variables:
            raise UsageError(
                f"no context is in use: {next(iter(variables))} names the source; name a context"
            )
        name = name or (None if loaded is None else loaded.current)
    if name is None:
        raise UsageError(
            "no context is in use; name one, or make one the current one with `kohort context use NAME`"
        )
    contexts, context = context_named(loaded, name)
    say_literal_secrets(contexts, context)
    return show_document(contexts, context, problems_of(contexts, context))


def make_current(name: str | None) -> None:
    """Write which context is the current one, None for none, and say so."""

    def change(editor: Editor, contexts: Contexts) -> str:
        if name is not None:
            context_named(contexts, name)
        return editor.use(name)

    path = change_file(change)
    loaded = load_contexts()
    if name is None:
        notice(f"no context is the current one now ({path})")
    elif loaded is not None and name in loaded.by_name:
        context = loaded.by_name[name]
        protected = ", protected" if context.protected else ""
        notice(f"the current context is {name}{protected}: {context.place}")
        say_literal_secrets(loaded, context)
    _say_overruled(name)


def added(name: str, told: Told, *, use: bool) -> None:
    """Add a context and say where it went."""
    path, context = add_context(name, told, use=use)
    notice(f"added the context {name} to {path}: {context.place}")
    if use:
        _say_overruled(name)
    else:
        notice(f"--context {name} uses it; `kohort context use {name}` makes it the current one")


def renamed(name: str, new: str) -> None:
    """Rename a context and say so."""
    if not is_name(new):
        raise UsageError(f"{new!r} cannot name a context: {NAME_RULE}")

    def change(editor: Editor, contexts: Contexts) -> str:
        context_named(contexts, name)
        if new in contexts.by_name:
            raise UsageError(f"{contexts.path} has a context {new} already")
        return editor.rename(name, new)

    path = change_file(change)
    notice(f"the context {name} is called {new} now ({path})")


def _in_use(contexts: Contexts) -> tuple[str | None, str | None]:
    """The context that commands use when their command line names no source, and who says so."""
    variables = source_variables()
    if CONTEXT_VARIABLE in variables:
        name = variables[CONTEXT_VARIABLE]
        return (name if name in contexts.by_name else None), CONTEXT_VARIABLE
    if variables:
        return None, next(iter(variables))
    return contexts.current, None if contexts.current is None else "current"


def _say_overruled(current: str | None) -> None:
    """Say it where the environment has another say than the file."""
    variables = source_variables()
    if variables and variables.get(CONTEXT_VARIABLE) != current:
        name = next(iter(variables))
        whom = f"the current context {current}" if current is not None else "a current context"
        notice(f"{name}={variables[name]} is set in the environment, and wins over {whom}")
