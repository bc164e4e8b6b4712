"""A line that asks for something, at the bottom of the screen."""

from collections.abc import Callable
from typing import ClassVar, Generic, TypeVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Input

from cli.render.cells import safe_text

T = TypeVar("T")


class LineScreen(ModalScreen[T | None], Generic[T]):
    """Returns what `read` makes of the text; None if it was left. ValueError of `read` says what is wrong."""

    CSS = """
    LineScreen { align: center bottom; }
    #line { border: round $primary; height: 3; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Back", show=False)]

    def __init__(
        self, title: str, keys: str, read: Callable[[str], T], *, text: str = "", example: str = ""
    ) -> None:
        super().__init__()
        self._line = Input(text, placeholder=example, id="line", compact=True)
        self._line.border_title, self._line.border_subtitle = title, keys
        self._read_text = read

    def compose(self) -> ComposeResult:
        yield self._line

    def on_mount(self) -> None:
        self._line.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        try:
            self.dismiss(self._read_text(event.value.strip()))
        except ValueError as error:
            self._line.border_title = Text(safe_text(str(error)))
