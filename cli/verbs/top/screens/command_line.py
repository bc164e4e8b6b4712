"""The line that `:` opens: the name of a screen, or a command of Kohort with its options."""

import shlex
from collections.abc import Iterable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Input, Static

from cli.verbs.top.words import Command, command_of

HINT = (
    "a screen, or a command: describe, why --since 1h, offsets reset --to-latest; Tab completes, Esc leaves"
)


class CommandLine(ModalScreen[str | Command | None]):
    """Returns the name of a screen, a command, or None if it was left."""

    CSS = """
    CommandLine { align: center bottom; background: $background 40%; }
    #line { border: round $primary; height: 3; }
    #problem { color: $text-error; height: auto; padding: 0 2; background: $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", show=False),
        Binding("tab", "complete", "Complete", show=False, priority=True),
    ]

    def __init__(self, screens: Iterable[str], group: str | None, text: str = "") -> None:
        """`group`: the one on screen, which a command is about if it names none."""
        super().__init__()
        self.names = sorted(screens)
        self.group = group
        self.text = text

    def compose(self) -> ComposeResult:
        yield Static(id="problem", markup=False)
        suggestions = SuggestFromList([*self.names, *COMMON], case_sensitive=False)
        line = Input(self.text, placeholder=HINT, suggester=suggestions, id="line", compact=True)
        line.border_title = ":"
        yield line

    def on_mount(self) -> None:
        self.query_one("#line").focus()
        self.query_one("#problem").display = False

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_complete(self) -> None:
        self.query_one("#line", Input).action_cursor_right()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        text = event.value.strip()
        if not text or text in self.names:
            self.dismiss(text or None)
            return
        try:
            self.dismiss(command_of(shlex.split(text), self.group))
        except ValueError as error:
            problem = self.query_one("#problem", Static)
            problem.display = True
            problem.update(str(error))


COMMON = (
    "describe",
    "describe --members",
    "describe --migration",
    "diagnose --verbose",
    "why --since 1h",
    "why --at",
    "plan --to consumer",
    "rehearse",
    "gate",
    "config get",
    "config set",
    "dry-run",
    "what-if",
    "validate-regex",
    "offsets reset --to-latest",
    "offsets reset --to-earliest",
    "members remove",
    "delete",
)
