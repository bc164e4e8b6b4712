"""The keys: those of the screen before, and those that work everywhere."""

from typing import Any

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import ModalScreen, Screen
from textual.widgets import Static


class KeysScreen(ModalScreen[None]):
    CSS = """
    KeysScreen { align: center middle; }
    #keys { width: 64; max-height: 90%; height: auto; border: round $accent; background: $surface; padding: 0 2; }
    """
    BINDINGS = [Binding("escape,q,question_mark", "dismiss", "Back")]  # noqa: RUF012  (Textual's form)

    def compose(self) -> ComposeResult:
        screen = self.app.screen_stack[-2] if len(self.app.screen_stack) > 1 else self
        with VerticalScroll(id="keys"):
            yield Static("\n".join(key_lines(screen)), markup=False)


def key_lines(screen: "Screen[Any]") -> list[str]:
    lines = []
    seen: set[str] = set()
    for binding in screen.active_bindings.values():
        key, what = binding.binding.key_display or binding.binding.key, binding.binding.description
        if what and what not in seen:
            seen.add(what)
            lines.append(f"{key:<12} {what}")
    return lines
