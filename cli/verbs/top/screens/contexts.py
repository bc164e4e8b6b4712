"""The contexts of the user; Enter looks at another cluster."""

from cli.errors import CommandError
from cli.options import SourceOptions
from cli.sources.contexts.model import Contexts
from cli.sources.contexts.read import load_contexts
from cli.sources.contexts.resolve import resolve_source
from cli.verbs.top.grid import Grid
from cli.verbs.top.screens.base import TableScreen
from cli.verbs.top.sight import Focus, Sight
from cli.verbs.top.tables import GridColumn, GridRow, GridTable

CONTEXT_COLUMNS = (GridColumn("CONTEXT"), GridColumn("SOURCE"), GridColumn("PROTECTED"), GridColumn("IN-USE"))


class ContextsScreen(TableScreen):
    _contexts: Contexts | None = None
    _problem = "No context yet: kohort context add NAME makes one."

    def wanted(self) -> Focus:
        return Focus(others=False)

    @property
    def title_parts(self) -> list[str]:
        return ["contexts"]

    def on_mount(self) -> None:
        try:
            self._contexts = load_contexts(may_be_missing=True)
        except CommandError as error:
            self._problem = str(error)
        super().on_mount()

    def draw(self, sight: Sight) -> None:  # noqa: ARG002  (they are files of this machine)
        used = None if self.app.source.place is None else self.app.source.place.name
        rows = [
            GridRow(name, (name, context.place, context.protected, name == used))
            for name, context in sorted(self._contexts.by_name.items() if self._contexts else ())
            if name == used or not self.app.is_web
        ]
        self.grid.show(GridTable(columns=CONTEXT_COLUMNS, rows=rows))

    def empty_text(self, sight: Sight) -> str:  # noqa: ARG002
        return self._problem

    def on_grid_opened(self, event: Grid.Opened) -> None:
        try:
            self.app.switch_source(resolve_source(SourceOptions(context=event.key)))
        except CommandError as error:
            self.notify(str(error), severity="error", markup=False)
