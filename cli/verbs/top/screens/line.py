"""A line that asks for something, at the bottom of the screen."""

from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Input

from cli.render.cells import safe_text


class LineScreen(ModalScreen[str | None]):
    """Returns what was typed; None if it was left. `check` raises ValueError with what is wrong, and why."""

    CSS = """
    LineScreen { align: center bottom; }
    #line { border: round $primary; height: 3; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Back", show=False)]

    def __init__(self, title: str, text: str, check: Callable[[str], object]) -> None:
        super().__init__()
        self._title, self._text, self._check = title, text, check

    def compose(self) -> ComposeResult:
        line = Input(self._text, id="line", compact=True)
        line.border_title = Text(self._title)
        yield line

    def on_mount(self) -> None:
        self.query_one("#line").focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        try:
            self._check(event.value)
        except ValueError as error:
            self.query_one("#line", Input).border_title = Text(safe_text(str(error)))
        else:
            self.dismiss(event.value)
