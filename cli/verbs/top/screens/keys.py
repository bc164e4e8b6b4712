"""The keys: those of the screen before, and those that work everywhere."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from rich.console import Group
from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from cli.verbs.top.key_line import AnyScreen, Key, Place, keys_by_place

TWO_COLUMNS = 70  # Of the screen, at least


class KeysScreen(ModalScreen[None]):
    CSS = """
    KeysScreen { align: center middle; }
    #keys { width: 78; max-width: 100%; height: auto; max-height: 100%; border: round $primary; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark", "dismiss", "Back")]

    def compose(self) -> ComposeResult:
        stack = self.app.screen_stack
        with VerticalScroll(id="keys") as box:
            box.border_title = "Keys"
            box.border_subtitle = "↑ ↓ scroll, Esc closes this"
            yield Static(_table(stack[-2] if len(stack) > 1 else self, self.app.size.width), id="columns")


def _table(screen: AnyScreen, width: int) -> Table | Group:
    places = keys_by_place(screen)
    if width < TWO_COLUMNS:
        return _list(places, tuple(Place))
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(ratio=1)
    table.add_column(ratio=1)
    table.add_row(_list(places, (Place.SCREEN, Place.TABLE)), _list(places, (Place.EVERYWHERE,)))
    return table


def _list(places: Mapping[Place, Sequence[Key]], shown: Sequence[Place]) -> Group:
    return Group(*(part for place in shown if places[place] for part in _of_place(place, places[place])))


def _of_place(place: Place, keys: Sequence[Key]) -> tuple[Text, Table]:
    listed = Table.grid(padding=(0, 1))
    listed.add_column(no_wrap=True, style="bold", min_width=8)
    for key in keys:
        listed.add_row(f" {key.names}", key.sentence)
    if place is Place.TABLE:
        listed.add_row(" ↑ ↓ ← →", "or k j h; Page, Home, End")
    return Text(place.value, "bold underline"), listed
