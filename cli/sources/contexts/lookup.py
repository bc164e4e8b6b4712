"""Finding a context by its name."""

from __future__ import annotations

from cli.errors import UsageError
from cli.output import notice
from cli.sources.contexts.file import config_path
from cli.sources.contexts.model import Context, Contexts


def context_named(contexts: Contexts | None, name: str, named_by: str = "") -> tuple[Contexts, Context]:
    """The context of a name; UsageError with the nearest one where there is none."""
    said = f"{named_by}: " if named_by else ""
    if contexts is None:
        raise UsageError(
            f"{said}there is no context {name!r}: {config_path() or 'a configuration file'} does not exist; "
            "`kohort context add` writes it"
        )
    if name not in contexts.by_name:
        from cli.sources.contexts.read import listed_names, nearest

        hint = nearest(name, contexts.by_name) or f"It has {listed_names(contexts.by_name)}."
        raise UsageError(f"{said}there is no context {name!r} in {contexts.path}. {hint}")
    return contexts, contexts.by_name[name]


def say_literal_secrets(contexts: Contexts, context: Context) -> None:
    """Warn of secrets in the configuration file itself."""
    keys = context.literal_secrets
    if keys:
        notice(
            f"{contexts.path} itself holds secrets of the context {context.name} ({', '.join(keys)}); "
            f"better keep them in files or variables: {keys[0]}: {{file: PATH}} or {{env: NAME}}"
        )
