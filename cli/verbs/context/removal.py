"""Taking a context out of the configuration file (`cli.changing.Change`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from cli.errors import CommandError
from cli.render.document import Document, Table, columns
from cli.sources.contexts.file import load_with_text
from cli.sources.contexts.lookup import context_named
from cli.sources.contexts.model import Context, Contexts
from cli.sources.contexts.place import Place
from cli.verbs.context.edit import Editor
from cli.verbs.context.secret_store import drop, own_files
from cli.verbs.context.write import change_file


@dataclass(slots=True, kw_only=True)
class Removal:
    """A context that is to go, and what goes with it."""

    contexts: Contexts
    context: Context
    comments: int
    """Lines of comments inside of the entry."""
    executed: bool = field(default=False, init=False)

    is_empty = False
    refused = False

    @property
    def place(self) -> Place:
        """What is changed: its own protection guards the context too."""
        return Place(
            where=self.context.place,
            named_by=f"of {self.contexts.path}",
            is_typed=True,
            context=self.context,
            file=self.contexts.path,
        )

    @property
    def secret_files(self) -> tuple[Path, ...]:
        """Secrets that Kohort keeps for it alone."""
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

    def apply(self) -> None:
        """Write the file without it, as long as it is the one that was shown."""

        def change(editor: Editor, contexts: Contexts) -> str:
            if contexts.by_name.get(self.context.name) != self.context:
                raise CommandError(
                    f"{contexts.path}: the context {self.context.name} has been changed meanwhile; "
                    "nothing was removed. Look at it again"
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
            rows.append(("current", "no context is the current one after that"))
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
            blocks=[Table(columns=columns("GOES", "VALUE"), rows=rows)],
        )


def plan_removal(name: str) -> Removal:
    """What would go. UsageError where there is no such context."""
    loaded = load_with_text()
    found, context = context_named(None if loaded is None else loaded[0], name)
    text = "" if loaded is None else loaded[1]
    return Removal(contexts=found, context=context, comments=Editor(text).comments_in(name))
