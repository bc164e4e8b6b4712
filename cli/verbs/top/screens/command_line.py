"""The line that `:` opens: the name of a screen and what it is about, or a command of Kohort with its options."""

import shlex
from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.suggester import Suggester
from textual.widgets import Input, Static

from cli.render.cells import safe_text
from cli.verbs.top.completions import SUBJECTS, Known, completions
from cli.verbs.top.words import KohortCommand, command_of

HINT = "a screen such as topics, or a command such as why --since 1h"
SHOWN = 6  # Completions above the line

Opened = tuple[str, ...]  # A screen and what it is about


class CommandLine(ModalScreen[Opened | KohortCommand | None]):
    """Returns a screen, a command, or None if it was left."""

    CSS = """
    CommandLine { align: center bottom; }
    #line { border: round $primary; height: 3; }
    #problem { color: $text-error; height: auto; padding: 0 2; background: $panel; }
    #choices { color: $text-muted; height: auto; padding: 0 2; background: $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Back", show=False),
        Binding("tab", "complete", "Complete", show=False, priority=True),
    ]

    def __init__(self, known: Known, text: str = "", *, is_read_only: bool = False) -> None:
        super().__init__()
        self._known, self._text, self._is_read_only = known, text, is_read_only

    def compose(self) -> ComposeResult:
        yield Static(id="problem", markup=False)
        yield Static(id="choices", markup=False)
        line = Input(
            self._text,
            placeholder=HINT,
            suggester=_Completions(self._known),
            select_on_focus=False,
            id="line",
            compact=True,
        )
        line.border_title = "Go to a screen, or run a command"
        line.border_subtitle = "Tab completes, Enter goes there, Esc leaves"
        yield line

    def on_mount(self) -> None:
        self.query_one("#problem").display = False
        self.query_one("#line").focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self.query_one("#problem").display = False
        lines = completions(event.value, self._known)
        words = [safe_text(line[event.value.rstrip().rfind(" ") + 1 :].strip()) for line in lines[:SHOWN]]
        more = f" and {len(lines) - SHOWN} more" if len(lines) > SHOWN else ""
        choices = self.query_one("#choices", Static)
        choices.display = bool(lines) and bool(event.value)
        choices.update("  ".join(words) + more)

    def action_complete(self) -> None:
        """As a shell: as far as the completions agree, then the first of them."""
        line = self.query_one("#line", Input)
        if lines := completions(line.value, self._known):
            common = _common(lines)
            line.value = common if len(common) > len(line.value) else lines[0]
            line.cursor_position = len(line.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        try:
            words = shlex.split(event.value)
            self.dismiss(self._meant(words) if words else None)
        except ValueError as error:
            problem = self.query_one("#problem", Static)
            problem.display = True
            problem.update(safe_text(str(error)))

    def _meant(self, words: Sequence[str]) -> Opened | KohortCommand:
        """ValueError: it is neither, or a screen lacks what it is about."""
        name, subject = words[0], words[1:]
        kinds = SUBJECTS.get(name)
        if kinds is None:
            return command_of(words, self._known.group, is_read_only=self._is_read_only)
        is_omitted = not subject or subject[0].startswith("-")
        if is_omitted and kinds[:1] == ("GROUP",) and self._known.group is not None:
            subject = [self._known.group, *subject]
        least = len(kinds) - ("FILE" in kinds)
        if len(subject) < least or (len(subject) > len(kinds) and name != "plan"):
            raise ValueError(f"the screen needs: {' '.join([name, *kinds[:least]])}")
        return (name, *subject)


class _Completions(Suggester):
    def __init__(self, known: Known) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._known = known

    async def get_suggestion(self, value: str) -> str | None:
        return next((line for line in completions(value, self._known) if line.startswith(value)), None)


def _common(lines: Sequence[str]) -> str:
    """What all of them begin with."""
    first, last = min(lines), max(lines)
    size = next((n for n, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), None)
    return first[:size] if size is not None else min(first, last, key=len)
